"""DPDK's own way to the disk: a process that receives, testpmd, and dpdk-dumpcap beside it."""

import contextlib
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import measure
import wire

READY = b"File: "  # what dpdk-dumpcap says when it begins
COMPLAINTS = 8  # lines, the last that testpmd wrote before it failed
HUGE_PAGES = 300  # of 2 MiB: testpmd's memory, and what its mate takes of it


@contextlib.contextmanager
def huge_pages(bench):
    """A folder with enough of them: two DPDK processes share no other memory."""
    reserve = pathlib.Path("/proc/sys/vm/nr_hugepages")
    free = int(re.search(r"HugePages_Free:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())[1])
    # as the table of mounts names it, or DPDK does not find it
    before, folder = int(reserve.read_text()), bench.folder.with_name(bench.folder.name + "-huge").resolve()
    folder.mkdir()
    try:
        if free < HUGE_PAGES:
            reserve.write_text(str(before + HUGE_PAGES - free))
        if int(reserve.read_text()) < before + HUGE_PAGES - free:
            raise measure.Failure(f"no {HUGE_PAGES} huge pages to be had")
        subprocess.run(["mount", "-t", "hugetlbfs", "none", folder], check=True)
        yield folder
    finally:
        subprocess.run(["umount", folder], capture_output=True, check=False)
        reserve.write_text(str(before))
        folder.rmdir()


def pool_drivers():
    """
    Two processes call the driver of a shared pool by a number, which is the place at which it was loaded. testpmd is
    linked with some, dpdk-dumpcap with none: those have to be loaded first there too, or nothing is copied for it.
    """
    libraries = subprocess.run(["ldd", shutil.which("dpdk-testpmd")], capture_output=True, text=True, check=True)
    return re.findall(r"=> (\S*/librte_mempool_\S+)", libraries.stdout)


def await_statistics(process, complaints):
    """testpmd tells them once it receives, or says on standard error why it cannot."""
    with wire.impatient(process):
        if any("Port statistics" in line for line in process.stdout):
            return
    complaints.seek(0)
    said = complaints.read().decode(errors="replace").strip().splitlines()
    raise measure.Failure("\n".join(["dpdk-testpmd receives nothing:", *said[-COMPLAINTS:]]))


@contextlib.contextmanager
def testpmd(prefix, device, folder):
    """testpmd receives from the device, and lets dpdk-dumpcap look on."""
    command = [*prefix, "dpdk-testpmd", f"--huge-dir={folder}", "-m", "300", "--no-pci", "--file-prefix=ftbench",
               "--vdev", device, "-l", "0,1", "--", "--forward-mode=rxonly", "--total-num-mbufs=70000",
               "--stats-period=100"]
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, text=True)
        try:
            await_statistics(process, complaints)
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.stdin.close()
            with wire.impatient(process):
                process.stdout.read()
                process.wait()


def command(device):
    return ["dpdk-dumpcap", "--file-prefix=ftbench", "-i", device, "-q"]


def environment():
    return {"LD_PRELOAD": " ".join(pool_drivers())}
