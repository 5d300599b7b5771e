"""A fabtap.nccl/1 document against the ground truth of a capture of NCCL: what the two say differently, in words."""

ADAPTIVE_ALWAYS = "2.16"  # before this release long data and its immediate are two writes, wherever the environment says nothing
BIG_ENDIAN, RECORDS = "2.29.2", "2.29.7"  # from these on: immediates; slots of the array of sizes have 160 bytes
ADAPTIVE_LENGTH = 8192  # bytes, if the environment says nothing


def address(text):
    return int(text, 16)


def release(text):
    return tuple(map(int, text.split(".")))


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


def settings(report, truth, document, differs, where):
    """What the release and the environment of the program say."""
    version, said = release(document["nccl_version"]), document["environment"]
    first, last = report["family"]["versions"]
    differs.equal(where + " versions", release(first) <= version <= release(last), True)
    differs.equal(where + " qps", report["qps_per_connection"], int(said.get("NCCL_IB_QPS_PER_CONNECTION", 1)))
    split = said.get("NCCL_IB_SPLIT_DATA_ON_QPS")
    differs.equal(where + " split", report["split_data_on_qps"], split and split == "1")
    sizes = [m["sends"][0]["size"] for m in document["messages"] if m["connection"] == truth["connection"] and m["n"] == 1]
    is_adaptive = version < release(ADAPTIVE_ALWAYS) or said.get("NCCL_IB_ADAPTIVE_ROUTING") == "1"
    is_long = max(sizes, default=0) > (int(said.get("NCCL_IB_AR_THRESHOLD", ADAPTIVE_LENGTH)) if is_adaptive else ADAPTIVE_LENGTH)
    differs.equal(where + " adaptive routing", report["adaptive_routing"], is_adaptive if is_long else None)
    order = "big" if version >= release(BIG_ENDIAN) else "little"
    differs.equal(where + " imm", report["imm"], {"order": order, "content": "length"})


def ranks(report, truth, document, differs, where):
    """Clear-to-sends name the sender by one rank, and by no other's; a receiver is named by what he sends himself."""
    tags = {tag for m in document["messages"] if m["connection"] == truth["connection"] for tag in m["receive"]["tags"]}
    tells = document["cts_family"] not in "AB" and tags == {truth["sender_rank"]}
    differs.equal(where + " sender rank", report["sender"]["rank"], truth["sender_rank"] if tells else None)
    sends = [c for c in document["connections"] if c["sender_rank"] == truth["receiver_rank"]]
    differs.equal(where + " receiver rank", report["receiver"]["rank"], truth["receiver_rank"] if tells and sends else None)


def group(report, document, differs):
    """The program's rings: all ranks, in their order."""
    if not document["schedule"].startswith("sched=ring"):
        return
    count = len(document["ranks"])
    told = report["communicators"][0]
    differs.equal("ranks", told["ranks"], [{"rank": rank["rank"], "addresses": [rank["ipv4"]]} for rank in document["ranks"]])
    differs.equal("ring", told["ring"], list(range(count)))
    differs.equal("channels", [c["channel"] for c in told["channels"]], sorted({c["channel"] for c in document["connections"]}))


def devices(report, document, differs, where):
    """Since 2.20 both sides say what theirs are called, of which the programs were to use these."""
    name = document["environment"]["NCCL_IB_HCA"].replace(",", "+") if release(document["nccl_version"]) >= release("2.20") else None
    for side in ("connecting_device", "listening_device"):
        if side in report or document["snaplen"] > 9000:
            differs.equal(where + " " + side, report.get(side), name)


def connection(report, truth, document, differs):
    where = "connection %d" % truth["connection"]
    differs.equal(where + " receiver", report["receiver"]["addresses"], truth["receiver_addresses"])
    if "sender_qp_device" in truth:
        differs.equal(where + " sender qp_device", report["sender"]["qp_device"], truth["sender_qp_device"])
        differs.equal(where + " receiver qp_device", report["receiver"]["qp_device"], truth["receiver_qp_device"])
    differs.equal(where + " devices", report["devices"], truth.get("devices", 1))
    differs.equal(where + " family", report["family"]["name"], document["cts_family"])
    fifo(report, truth, differs, where + " fifo")
    settings(report, truth, document, differs, where)
    ranks(report, truth, document, differs, where)
    if "metadata_tcp" in truth and report["metadata_tcp"] is not None:
        for side in ("connecting_side", "listening_side"):
            differs.equal(where + " " + side, report["metadata_tcp"][side], truth["metadata_tcp"][side])
        (tcp,) = [tcp for tcp in document["tcp"] if tcp["connection"] == truth["connection"]]
        differs.equal(where + " frames of the set-up", report["metadata_tcp"]["frames"],
                      [tcp["first_frame"], max(segment["frame"] for segment in tcp["segments"])])
        devices(report["metadata_tcp"], document, differs, where)
    sizes = truth.get("multi_receive_sizes_at_receiver")
    is_whole = document["snaplen"] > 9000  # else the end of the metadata is not in the capture, and nothing may be told
    told = report["sizes_array"]
    if sizes and report["found_by"] == "metadata" and (is_whole or told):
        differs.equal(where + " sizes array", told and address(told["addr"]), address(sizes["addr_as_sender_knows_it"]))
        stride = 160 if release(document["nccl_version"]) >= release(RECORDS) else 32
        differs.equal(where + " sizes array's slots", told and told["slot_stride_bytes"], stride)
        differs.equal(where + " sizes array's key", told and address(told["rkeys"][0]), address(sizes["rkey_as_sender_knows_it"]))
    if report["channel"] is not None:
        differs.equal(where + " channel", report["channel"], truth["channel"])
    counts = report["counts"]
    for told, true in (("cts", "cts_count"), ("messages", "messages_sent"), ("payload_bytes", "payload_bytes_sent")):
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
        differs.equal(where + " va", [r["va"] and address(r["va"]) for r in report["requests"]], [address(a) for a in posted["addrs"]])
        (mine,) = [c["receive_buffer"] for c in document["connections"] if c["connection"] == truth["connection"]]
        keys = [address(key) for key in mine.get("rkeys_per_device", [mine["rkey"]])]
        differs.equal(where + " rkeys", [[address(key) for key in r["rkeys"]] for r in report["requests"]], [keys] * truth["n"])
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
    group(report, truth, differs)
    differs.equal("classes of queue pairs", {row["class"] for row in report["queue_pairs"]}, {"nccl"})
    differs.equal("findings", [(f["rule"], f["frames"]) for f in report["findings"]], [])
    return differs.told
