/*
 * Any packets between a few queue pairs, with the input's own bytes for payload, and any TCP segments between their hosts:
 * every packet is counted at one queue pair, rows are in order and within bounds, NCCL is only what was noted as that and
 * never SENDs, and another seed tells the same. Eight bytes make an event.
 */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <decode/opcode.h>

#include <queue_pairs.h>

#include "../holds.h"

enum {
	EVENT = 8,
	EVENTS_MAX = 2000,
	HOSTS = 3,
	QPNS = 5, /* 0, 1, and three others */
	ROOM = HOSTS * QPNS - 2,
	PERFTEST = 18515,
};

struct world {
	struct ft_nccl_qps *qps;
	uint64_t kept;
};

static void put_host(uint8_t address[16], uint8_t host)
{
	memset(address, 0, 16);
	address[15] = host % HOSTS;
}

static struct ft_nccl_seen packet_of(const uint8_t *event, const uint8_t *rest, size_t size,
				     uint64_t frame)
{
	static const uint8_t opcodes[] = { 0x00, 0x02, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09,
					   0x0a, 0x0b, 0x0c, 0x0d, 0x10, 0x11, 0x13, 0x14,
					   0x17, 0x2a, 0x64, 0x64, 0x81, 0xaa };
	const uint8_t opcode = event[2] < 0xf0 ? opcodes[event[2] % sizeof opcodes] : event[3];
	struct ft_nccl_seen seen = {
		.frame = frame,
		.ts_ns = frame * 1000 * (1 + event[4] % 8),
		.ends.vni = UINT32_MAX,
		.ends.by_lid = event[1] >> 7,
		.has = ft_opcode_shape(opcode)->headers | FT_HAS_BTH |
		       (event[1] & 0x40 ? FT_HAS_PAYLOAD_LENGTH : 0),
		.dest_qp = event[1] % QPNS,
		.psn = (uint32_t)event[4] << 16 | event[5],
		.opcode = opcode,
		.syndrome = event[6],
		.traffic_class = event[7] < 0x80 ? 0 : 106,
		.udp_sport = (uint16_t)(0xc000 | event[7] % 4),
		.immdt = (uint32_t)event[5] << 24,
		.va = (uint64_t)event[5] % 3 << 12,
		.rkey = event[6] % 2,
		.length = event[6] % 2 * 64,
		.qkey = event[6] % 2 == 0 ? 0x1ee7a330 : 0x01234567,
		.src_qp = event[7] % QPNS,
		.payload = rest,
		.captured = (uint32_t)(event[6] < size ? event[6] : size),
	};

	seen.payload_length = seen.captured + event[7] % 64;
	put_host(seen.ends.src, event[0]);
	put_host(seen.ends.dst, event[0] / HOSTS);
	return seen;
}

static struct ft_nccl_segment segment_of(const uint8_t *event, const uint8_t *rest, size_t size,
					 uint64_t frame)
{
	static const uint32_t lengths[] = { 59, 108, 16, 1 };
	struct ft_nccl_segment segment = {
		.frame = frame,
		.ts_ns = frame * 1000,
		.vni = UINT32_MAX,
		.sport = event[1] % 2 == 0 ? PERFTEST : 5,
		.dport = event[1] % 3 == 0 ? PERFTEST : 5,
		.payload = rest,
		.length = lengths[event[2] % 4],
	};

	segment.captured = (uint32_t)(segment.length < size ? segment.length : size);
	put_host(segment.src, event[0]);
	put_host(segment.dst, event[0] / HOSTS);
	return segment;
}

static bool show(struct world *world, const uint8_t *bytes, size_t size)
{
	bool noted = false;
	uint64_t frame = 0;

	for (size_t at = 0; at + EVENT <= size && frame < EVENTS_MAX; at += EVENT) {
		const uint8_t *event = bytes + at, *rest = event + EVENT;
		const size_t left = size - at - EVENT;

		frame++;
		if (event[3] % 16 == 0) {
			struct ft_nccl_segment segment = segment_of(event, rest, left, frame);

			ft_nccl_qps_see_tcp(world->qps, &segment);
		} else {
			struct ft_nccl_seen seen = packet_of(event, rest, left, frame);
			struct ft_nccl_qp *qp = ft_nccl_qps_see(world->qps, &seen);

			world->kept += qp != NULL;
			if (event[3] % 16 != 1)
				continue;
			noted = true;
			ft_nccl_qp_note(qp, event[4] % FT_NCCL_EVIDENCES);
			ft_nccl_qp_join(qp, event[5]);
		}
	}
	return noted;
}

static void check_row(const struct ft_nccl_queue_pair *row, bool noted)
{
	assert(row->packets > 0 && row->first_frame > 0 && row->first_frame <= EVENTS_MAX);
	assert(row->qpn < QPNS && row->class < FT_NCCL_CLASSES);
	assert(row->confidence >= 0 && row->confidence <= 1);
	assert((row->class == FT_NCCL_CLASS_UNKNOWN) == (row->confidence == 0));
	assert(row->class == FT_NCCL_CLASS_UNKNOWN || row->confidence >= 0.8);
	assert(row->class == FT_NCCL_CLASS_UNKNOWN || row->evidence_count > 0);
	assert(row->evidence_count <= FT_NCCL_EVIDENCE_MAX);
	assert(noted || row->class != FT_NCCL_CLASS_NCCL);
	for (size_t i = 0; i < row->evidence_count; i++) {
		assert(row->evidence[i] != NULL);
		assert(row->class != FT_NCCL_CLASS_NCCL || strcmp(row->evidence[i], "X1") != 0);
	}
}

static void check(const struct world *world, const struct ft_nccl_queue_pair *rows, size_t count,
		  bool noted)
{
	uint64_t packets = 0;

	assert(rows != NULL && count <= ROOM);
	for (size_t i = 0; i < count; i++) {
		check_row(&rows[i], noted);
		assert(i == 0 || rows[i - 1].first_frame <= rows[i].first_frame);
		packets += rows[i].packets;
	}
	assert(packets == world->kept);
}

static void check_same(const struct ft_nccl_queue_pair *one, const struct ft_nccl_queue_pair *other,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert(one[i].qpn == other[i].qpn && one[i].class == other[i].class &&
		       one[i].packets == other[i].packets &&
		       one[i].evidence_count == other[i].evidence_count &&
		       one[i].connection == other[i].connection &&
		       memcmp(&one[i].place, &other[i].place, sizeof one[i].place) == 0);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct world worlds[2] = { { NULL, 0 }, { NULL, 0 } };
	struct ft_nccl_queue_pair *rows[2];
	size_t counts[2];

	for (unsigned i = 0; i < 2; i++) {
		bool noted;

		if (ft_nccl_qps_create(&worlds[i].qps, ROOM, 77 + 1000003 * i) != 0)
			abort();
		noted = show(&worlds[i], bytes, size);
		rows[i] = ft_nccl_qps_report(worlds[i].qps, &counts[i]);
		check(&worlds[i], rows[i], counts[i], noted);
	}
	assert(counts[0] == counts[1] && worlds[0].kept == worlds[1].kept);
	check_same(rows[0], rows[1], counts[0]);
	for (unsigned i = 0; i < 2; i++) {
		free(rows[i]);
		ft_nccl_qps_destroy(worlds[i].qps);
	}
}
