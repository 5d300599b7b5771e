"""Extended transport headers as dictionaries."""

CREDITS = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072,
           4096, 6144, 8192, 12288, 16384, 24576, 32768, None]
RNR_US = [655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10240,
          15360, 20480, 30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520]
NAKS = ["psn_sequence_error", "invalid_request", "remote_access_error", "remote_operational_error",
        "invalid_rd_request"]


def hex64(value):
    return "0x%016x" % value


def aeth(window):
    syndrome = window.u8(0)
    kind, value = syndrome >> 5 & 3, syndrome & 31
    fields = {"syndrome": syndrome, "msn": window.u24(1), "kind": ("ack", "rnr_nak", "reserved", "nak")[kind]}
    if kind == 0:
        fields["credits"] = CREDITS[value]
    elif kind == 1:
        fields["rnr_us"] = RNR_US[value]
    elif kind == 3:
        fields["nak"] = NAKS[value] if value < len(NAKS) else "reserved"
    return fields


def aeth_is_reserved(fields):
    return bool(fields["syndrome"] & 0x80) or fields["kind"] == "reserved" or fields.get("nak") == "reserved"


READERS = {
    "rdeth": lambda w: {"eecn": w.u24(1)},
    "deth": lambda w: {"qkey": w.u32(0), "src_qp": w.u24(5)},
    "xrceth": lambda w: {"srqn": w.u24(1)},
    "reth": lambda w: {"va": hex64(w.u64(0)), "rkey": w.u32(8), "len": w.u32(12)},
    "atomiceth": lambda w: {"va": hex64(w.u64(0)), "rkey": w.u32(8), "swap_add": hex64(w.u64(12)),
                            "compare": hex64(w.u64(20))},
    "aeth": aeth,
    "atomicack": lambda w: {"orig": hex64(w.u64(0))},
    "immdt": lambda w: w.u32(0),
    "ieth": lambda w: {"rkey": w.u32(0)},
    "feth": lambda w: {"plt": w.u32(0) & 15, "sel": w.u32(0) >> 4 & 3},
}


def mad(window):
    return {"base_version": window.u8(0), "mgmt_class": window.u8(1), "class_version": window.u8(2),
            "method": window.u8(3), "status": window.u16(4), "class_specific": window.u16(6),
            "tid": hex64(window.u64(8)), "attr_id": window.u16(16), "attr_mod": window.u32(20)}
