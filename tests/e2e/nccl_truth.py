"""A fabtap.nccl/1 document against the ground truth of a capture of NCCL: what the two say differently, in words."""

FAMILY_FIRST = {"B": "2.8.3", "C": "2.12.7", "D": "2.20.3", "E": "2.24.3", "F": "2.30.3"}


def address(text):
    return int(text, 16)


def same_place(report, truth):
    return (report["sender"]["qpns"], report["receiver"]["qpns"]) == (truth["sender_qpns"], truth["receiver_qpns"]) and \
        report["sender"]["addresses"] == truth["sender_addresses"]


class Difference:
    """Collects what differs, each with where it is."""

    def __init__(self):
        self.told = []

    def equal(self, where, report, truth):
        if report != truth:
            self.told.append("%s: reported %r, true %r" % (where, report, truth))


def fifo(report, truth, differs, where):
    told, true = report["cts_fifo"], truth["cts_fifo_at_sender"]
    if told is None:
        differs.equal(where, None, true)
        return
    differs.equal(where + " addr", address(told["addr"]), address(true["addr"]))
    for field in ("slots", "entries_per_slot", "entry_bytes", "slot_stride_bytes"):
        differs.equal(where + " " + field, told[field], true[field])
    keys = true.get("rkeys_per_device", [true["rkey"]])
    if "rkeys" in told:
        differs.equal(where + " rkeys", [address(key) for key in told["rkeys"]], [address(key) for key in keys])


def connection(report, truth, document, differs):
    where = "connection %d" % truth["connection"]
    differs.equal(where + " receiver", report["receiver"]["addresses"], truth["receiver_addresses"])
    if "sender_qp_device" in truth:
        differs.equal(where + " sender qp_device", report["sender"]["qp_device"], truth["sender_qp_device"])
        differs.equal(where + " receiver qp_device", report["receiver"]["qp_device"], truth["receiver_qp_device"])
    differs.equal(where + " devices", report["devices"], truth.get("devices", 1))
    differs.equal(where + " family", report["family"]["name"], document["cts_family"])
    fifo(report, truth, differs, where + " fifo")
    if "metadata_tcp" in truth and report["metadata_tcp"] is not None:
        for side in ("connecting_side", "listening_side"):
            differs.equal(where + " " + side, report["metadata_tcp"][side], truth["metadata_tcp"][side])
    sizes = truth.get("multi_receive_sizes_at_receiver")
    is_whole = document["snaplen"] > 9000  # else the end of the metadata is not in the capture, and nothing may be told
    told = report["sizes_array"]
    if sizes and report["found_by"] == "metadata" and (is_whole or told):
        differs.equal(where + " sizes array", told and address(told["addr"]), address(sizes["addr_as_sender_knows_it"]))
    if report["channel"] is not None:
        differs.equal(where + " channel", report["channel"], truth["channel"])
    counts = report["counts"]
    for told, true in (("cts", "cts_count"), ("payload_bytes", "payload_bytes_sent")):
        if true in truth:
            differs.equal(where + " counts." + told, counts[told], truth[true])
    again = truth.get("retransmitted_packets_seen", {})
    differs.equal(where + " retransmitted", counts["retransmitted_packets"], {"data": again.get("data", 0), "cts": again.get("cts", 0)})


def requests(report, truth, document, differs, where):
    """Each request of the clear-to-send with what was sent to it; families A and B have no tags."""
    posted = truth["receive"]
    if truth["cts_frame"] is not None:
        differs.equal(where + " n", report["n"], truth["n"])
        differs.equal(where + " offered", [r["offered_size"] for r in report["requests"]], posted["posted_sizes"])
        differs.equal(where + " va", [address(r["va"]) for r in report["requests"]], [address(a) for a in posted["addrs"]])
        if document["cts_family"] not in "AB":
            differs.equal(where + " tags", [r["tag"] for r in report["requests"]], posted["tags"])
    written = [None] * truth["n"]
    for send in truth["sends"]:
        written[send.get("index_in_group", 0)] = send["size"]
    differs.equal(where + " written", [r["written_bytes"] for r in report["requests"]], written)


def parts(truth):
    """[qp_index, bytes, packets] of the writes, the one that carries sizes not among the bytes."""
    used = {}
    for write in truth["wire"]:
        sizes = truth["n"] > 1 and "imm_wire_bytes" in write
        part = used.setdefault(write["qp_index"], [0, 0])
        part[0] += 0 if sizes else write["dmalen"]
        part[1] += write["packets"]
    return [{"qp_index": index, "bytes": used[index][0], "packets": used[index][1]} for index in sorted(used)]


def message(report, truth, document, differs):
    where = "connection %d k %d" % (truth["connection"], truth["k"])
    differs.equal(where + " cts_frame", report["cts_frame"], truth["cts_frame"])
    differs.equal(where + " frames", [report["first_frame"], report["last_frame"]], truth["frames"])
    requests(report, truth, document, differs, where)
    differs.equal(where + " parts", sorted(report["qps"], key=lambda part: part["qp_index"]), parts(truth))
    differs.equal(where + " packets", report["packets"], sum(write["packets"] for write in truth["wire"]))
    imms = [write["imm_wire_bytes"] for write in truth["wire"] if "imm_wire_bytes" in write]
    differs.equal(where + " imm", report["imm"], imms[0] if imms else None)
    differs.equal(where + " completed", report["completed"], True)
    payload = {"simple": "SIMPLE", "ll": "LL", "ll128": "LL128"}.get(truth["sends"][0]["payload"] if "payload" in truth["sends"][0] else "")
    if payload:
        differs.equal(where + " protocol", report["protocol"], payload)


def compare(report, truth):
    """All that the document says otherwise than the truth, a line each; [] is agreement."""
    differs, found = Difference(), {}
    for true in truth["connections"]:
        told = [one for one in report["connections"] if same_place(one, true)]
        differs.equal("connection %d: found" % true["connection"], len(told), 1)
        if len(told) == 1:
            found[true["connection"]] = told[0]["connection"]
            connection(told[0], true, truth, differs)
    differs.equal("connections", len(report["connections"]), len(truth["connections"]))
    rows = {(row["connection"], row["k"]): row for row in report["messages"]}
    for true in truth["messages"]:
        row = rows.pop((found.get(true["connection"]), true["k"]), None)
        if row is None:
            differs.equal("connection %d k %d" % (true["connection"], true["k"]), None, "a message")
        else:
            message(row, true, truth, differs)
    for true in truth["receives_without_data"]:
        row = rows.pop((found.get(true["connection"]), true["k"]), None)
        differs.equal("connection %d k %d unanswered" % (true["connection"], true["k"]),
                      row and (row["cts_frame"], row["first_frame"]), (true["cts_frame"], None))
    cut = len(truth.get("cut_messages") or [])
    if len(rows) > cut:
        differs.equal("messages that are none", sorted(rows, key=str)[:5], [])
    differs.equal("findings", [(f["rule"], f["frames"]) for f in report["findings"]], [])
    return differs.told
