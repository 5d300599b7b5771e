"""
Nothing in the program can send: neither its objects nor the linked program ask for a function that does, and no
source names one that a header would make inline. Only what the program is made of counts, not the tests.
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDERS = ("capture", "decode", "firmware-config", "analyzer")
ROOT = Path(__file__).resolve().parents[2]
COMPILER = NM = BUILD = PROGRAM = None  # set by main

# sockets, files onto sockets, the packet libraries, RDMA, rings of system calls
SENDS = re.compile(r"""^_*(
    send | sendto | sendmsg | sendmmsg | sendfile(64)? | splice | vmsplice | tee
  | pcap_(sendpacket|inject|sendqueue_\w+)
  | rte_eth_tx_(burst|buffer\w*|prepare) | rte_eth_dev_tx_queue_start | rte_eth_call_tx_callbacks
  | ibv_post_send | ibv_wr_\w+ | ibv_exp_post_send | mlx5dv_wr_\w+ | rdma_post_\w+
  | xsk_ring_prod__submit_tx | io_uring_\w+ | aio_write(64)? | lio_listio(64)?
)$""", re.X)

# what headers make of these is a read through a table: only the source shows it
INLINE = re.compile(r"\b(rte_eth_tx_(burst|buffer\w*|prepare)|ibv_post_send|ibv_wr_\w+|post_send|tx_pkt_burst|"
                    r"pcap_inject|pcap_sendpacket|PACKET_TX_RING|io_uring_\w+|SYS_io_uring\w*)\b(?=\s*(\(|,|\)|;))")

# system calls by number are those of capabilities alone
BY_NUMBER = re.compile(r"\bsyscall\s*\(\s*(\w+)")
NUMBERS = {"SYS_capget", "SYS_capset"}


def wanted(paths, *options):
    """The symbols that objects or the program ask others for, as (file, name)."""
    done = subprocess.run([NM, *options, "--undefined-only", "--format=posix", "--print-file-name", *map(str, paths)],
                          capture_output=True, text=True, check=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    return {(words[0].rstrip(":"), words[1].split("@")[0]) for words in lines if len(words) > 1}


def names(paths, *options):
    return {name for _, name in wanted(paths, *options)}


def sending(paths, *options):
    return sorted(row for row in wanted(paths, *options) if SENDS.match(row[1]))


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


class Objects(unittest.TestCase):
    def objects(self):
        found = [path for folder in FOLDERS for path in (BUILD / folder).rglob("*.o")]
        self.assertGreater(len(found), 100, "these are not the program's objects: %s" % BUILD)
        return found

    def test_no_object_asks_for_a_function_that_sends(self):
        self.assertEqual(sending(self.objects()), [])

    def test_the_objects_can_be_read(self):
        """Link-time optimisation leaves nothing to read for a tool that does not know it."""
        self.assertFalse({"malloc", "memcpy", "prctl", "snprintf"} - names(self.objects()))

    def test_the_program_asks_for_no_function_that_sends(self):
        self.assertIn("prctl", names([PROGRAM], "--dynamic"))
        self.assertEqual(sending([PROGRAM], "--dynamic"), [])

    def test_no_driver_that_it_loads_asks_for_one(self):
        drivers = list((BUILD / "drivers").glob("*.so"))
        if not drivers:
            self.skipTest("this build has no drivers of its own to load")
        self.assertEqual(sending(drivers, "--dynamic"), [])

    def test_what_sends_would_be_found(self):
        calls = ("#include <sys/socket.h>", "long f(int s, void *p); long f(int s, void *p) { return %s; }")
        for call, name in (("send(s, p, 1, 0)", "send"), ("sendto(s, p, 1, 0, 0, 0)", "sendto"),
                           ("sendmsg(s, p, 0)", "sendmsg")):
            with tempfile.TemporaryDirectory() as folder:
                source, made = Path(folder) / "x.c", Path(folder) / "x.o"
                source.write_text("\n".join(calls) % call)
                subprocess.run([COMPILER, "-c", source, "-o", made], check=True)
                self.assertEqual([row[1] for row in sending([made])], [name])


class Sources(unittest.TestCase):
    def texts(self):
        paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.[ch]"))]
        self.assertGreater(len(paths), 200)
        return [(path, without_comments(path.read_text())) for path in paths]

    def test_no_source_calls_what_a_header_makes_inline(self):
        for path, text in self.texts():
            self.assertEqual([found.group() for found in INLINE.finditer(text)], [], path)

    def test_system_calls_by_number_are_known(self):
        for path, text in self.texts():
            self.assertFalse(set(BY_NUMBER.findall(text)) - NUMBERS, path)

    def test_queue_pairs_have_no_room_for_what_is_to_be_sent(self):
        queues = [text for path, text in self.texts() if "max_recv_wr" in text]
        self.assertTrue(queues)
        for text in queues:
            self.assertEqual(set(re.findall(r"max_send_wr\s*=\s*(\w+)", text)), {"0"})

    def test_what_a_header_makes_inline_would_be_found(self):
        for call in ("n = rte_eth_tx_burst(port, 0, frames, 1);", "error = ibv_post_send(qp, &work, &bad);",
                     "qp->context->ops.post_send(qp, work, bad);", "pcap_inject(handle, frame, 60);"):
            self.assertTrue(INLINE.search(without_comments(call)), call)
        self.assertFalse(INLINE.search(without_comments("/* never ibv_post_send() */ \"pcap_inject()\"")))


if __name__ == "__main__":
    COMPILER, NM, BUILD, PROGRAM = sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])
    unittest.main(argv=sys.argv[:1], verbosity=2)
