"""The metadata of NCCL's set-ups, as another fabric would have it: NCCL's own structures, by release, in the TCP streams of a capture."""

import struct

IP, PORTS, INFINIBAND = 14, 4, 1
MAPPED = bytes(10) + b"\xff\xff"  # IPv4 addresses in IPv6
BEFORE = 49  # bytes of a hello and a list of devices, at most
READY = 4  # bytes behind metadata, of the side that connects
# of metadata: sizes, where its first device is, how far the next; of a device the LID, the link layer and the GID
FORMS = (
    ((552,), 0, 0, 0, 5, 520),     # 2.10 to 2.18, which has no link layer before 2.12
    ((2600,), 0, 0, 0, 5, 2568),   # 2.19
    ((3336, 3576, 3584, 3648), 3072, 56, 0, 12, 16),  # 2.20 to 2.29.3
    ((3744,), 3168, 56, 0, 12, 16),  # 2.29.7
    ((4576,), 3456, 56, 0, 12, 16),  # 2.30
)


def tcp_of(record):
    """(stream, sequence number, offset of the data), or None."""
    frame = record.bytes
    if frame[12:14] != b"\x08\x00" or frame[23] != 6:
        return None
    tcp = IP + 4 * (frame[IP] & 15)
    return frame[26:34] + frame[tcp:tcp + PORTS], struct.unpack_from(">I", frame, tcp + 4)[0], tcp + 4 * (frame[tcp + 12] >> 4)


def streams_of(records):
    """Of each stream: where it begins, and its bytes."""
    parts = {}
    for record in records:
        told = tcp_of(record)
        if told and len(record.bytes) > told[2]:
            parts.setdefault(told[0], {})[told[1]] = record.bytes[told[2]:]
    streams = {}
    for stream, segments in parts.items():
        first = min(segments)
        data = bytearray(max(at - first + len(part) for at, part in segments.items()))
        for at, part in segments.items():
            data[at - first:at - first + len(part)] = part
        streams[stream] = first, data
    return streams


def places_of(data):
    """Of devices: where the LID, the link layer and the GID are. What is not cleared may hold other GIDs."""
    for sizes, first, each, lid_at, layer_at, gid_at in FORMS:
        for begin in {len(data) - size - ready for size in sizes for ready in (0, READY)}:
            device = begin + first
            while 0 <= begin <= BEFORE and data[device + gid_at:][:len(MAPPED)] == MAPPED:
                yield device + lid_at, device + layer_at, device + gid_at
                device += each or len(data)


def rename_devices(data, lid_of, gid_of):
    """In the metadata of a stream: devices whose GIDs are IPv4 addresses get a LID, and another GID."""
    for lid_at, layer_at, gid_at in list(places_of(data)):
        address = bytes(data[gid_at + len(MAPPED):gid_at + 16])
        struct.pack_into("<I", data, lid_at, lid_of(address))
        data[layer_at] = INFINIBAND
        data[gid_at:gid_at + 16] = gid_of(address)


def on_infiniband(records, lid_of, gid_of):
    streams = streams_of(records)
    for _, data in streams.values():
        rename_devices(data, lid_of, gid_of)
    return [patched(record, streams) for record in records]


def patched(record, streams):
    told = tcp_of(record)
    if told is None or len(record.bytes) == told[2]:
        return record
    first, data = streams[told[0]]
    at = told[1] - first
    return record._replace(bytes=record.bytes[:told[2]] + bytes(data[at:at + len(record.bytes) - told[2]]))
