#include "qp_play.h"

#include <stdlib.h>
#include <string.h>

#include <decode/opcode.h>

enum { MAD = 256, MAD_HEADER = 24, CM_REQ = 0x10, CM_REP = 0x13 };

static void put_address(uint8_t address[16], uint8_t host)
{
	static const uint8_t prefix[16] = { [10] = 0xff, 0xff, 10 };

	memcpy(address, prefix, sizeof prefix);
	address[15] = host;
}

struct play play_start(uint32_t most)
{
	struct play play = { .ts_ns = 1000000000, .step_ns = 1000, .udp_sport = 50000 };

	assert_int_equal(ft_nccl_qps_create(&play.qps, most, 4711), 0);
	return play;
}

struct ft_nccl_qp *play_packet(struct play *play, uint8_t from, uint8_t to, uint32_t qpn,
			       uint8_t opcode, uint32_t psn, struct words words)
{
	struct ft_nccl_seen seen = {
		.frame = ++play->frame,
		.ts_ns = play->ts_ns += play->step_ns,
		.ends.vni = UINT32_MAX,
		.has = ft_opcode_shape(opcode)->headers | FT_HAS_BTH | FT_HAS_UDP |
		       FT_HAS_PAYLOAD_LENGTH,
		.dest_qp = qpn,
		.psn = psn,
		.opcode = opcode,
		.traffic_class = play->traffic_class,
		.udp_sport = play->udp_sport,
		.va = words.va,
		.rkey = words.rkey,
		.length = words.length,
		.immdt = words.immdt,
		.qkey = words.qkey,
		.src_qp = words.src_qp,
		.syndrome = words.syndrome,
		.payload = words.bytes,
		.captured = words.captured,
		.payload_length = words.size > words.captured ? words.size : words.captured,
	};

	put_address(seen.ends.src, from);
	put_address(seen.ends.dst, to);
	return ft_nccl_qps_see(play->qps, &seen);
}

static void put32(uint8_t *b, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		b[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* IBA vol. 1, 13.4.2 */
static void start_mad(uint8_t mad[MAD], uint8_t attribute)
{
	memset(mad, 0, MAD);
	mad[0] = 1;
	mad[1] = 7;
	mad[3] = 3;
	mad[17] = attribute;
}

/* IBA vol. 1, 12.6.5 */
void play_req(struct play *play, uint8_t from, uint8_t to, uint32_t id, uint32_t qpn, uint16_t port)
{
	uint8_t mad[MAD], *req = mad + MAD_HEADER;

	start_mad(mad, CM_REQ);
	put32(req, id);
	put32(req + 12, 0x01060000u | port);
	put32(req + 32, qpn << 8);
	put_address(req + 56, from);
	put_address(req + 72, to);
	play_packet(play, from, to, 1, UD_SEND, 0, (struct words){ .bytes = mad, .captured = MAD });
}

/* IBA vol. 1, 12.6.8 */
void play_rep(struct play *play, uint8_t from, uint8_t to, uint32_t id, uint32_t qpn)
{
	uint8_t mad[MAD], *rep = mad + MAD_HEADER;

	start_mad(mad, CM_REP);
	put32(rep, 0x77);
	put32(rep + 4, id);
	put32(rep + 12, qpn << 8);
	play_packet(play, from, to, 1, UD_SEND, 0, (struct words){ .bytes = mad, .captured = MAD });
}

void play_segment(struct play *play, uint8_t from, uint8_t to, uint16_t dport, const char *text,
		  uint32_t length)
{
	play_segment_cut(play, from, to, dport, text, length, (uint32_t)strlen(text));
}

void play_segment_cut(struct play *play, uint8_t from, uint8_t to, uint16_t dport, const char *text,
		      uint32_t length, uint32_t captured)
{
	struct ft_nccl_segment segment = {
		.frame = ++play->frame,
		.ts_ns = play->ts_ns += play->step_ns,
		.vni = UINT32_MAX,
		.sport = 40000,
		.dport = dport,
		.payload = (const uint8_t *)text,
		.captured = captured,
		.length = length,
	};

	put_address(segment.src, from);
	put_address(segment.dst, to);
	ft_nccl_qps_see_tcp(play->qps, &segment);
}

struct ft_nccl_queue_pair play_end(const struct play *play, uint8_t host, uint32_t qpn)
{
	struct ft_nccl_queue_pair found = { .packets = 0 }, *rows;
	uint8_t address[16];
	size_t count;

	put_address(address, host);
	rows = ft_nccl_qps_report(play->qps, &count);
	assert_non_null(rows);
	for (size_t i = 0; i < count; i++)
		if (rows[i].qpn == qpn && memcmp(rows[i].place.address, address, 16) == 0)
			found = rows[i];
	free(rows);
	assert_true(found.packets > 0);
	return found;
}

bool play_has(const struct ft_nccl_queue_pair *row, const char *evidence)
{
	for (size_t i = 0; i < row->evidence_count; i++)
		if (strcmp(row->evidence[i], evidence) == 0)
			return true;
	return false;
}

static const struct words none;

struct ft_nccl_qp *play_there(struct play *play, uint8_t opcode, uint32_t psn, struct words words)
{
	return play_packet(play, 1, 2, ASKED, opcode, psn, words);
}

struct ft_nccl_qp *play_back(struct play *play, uint8_t opcode, uint32_t psn, struct words words)
{
	return play_packet(play, 2, 1, ASKING, opcode, psn, words);
}

void play_send(struct play *play, bool turned, uint32_t psn, const uint8_t *bytes,
	       uint32_t captured, uint32_t size)
{
	struct words words = { .bytes = bytes, .captured = captured, .size = size };

	(turned ? play_back : play_there)(play, SEND, psn, words);
	(turned ? play_there : play_back)(play, ACK, psn, none);
}

void play_set_up(struct play *play, uint16_t port)
{
	play_req(play, 1, 2, 9, ASKING, port);
	play_rep(play, 2, 1, 9, ASKED);
}

void assert_both(const struct play *play, enum ft_nccl_class class)
{
	assert_class(play, 2, ASKED, class);
	assert_class(play, 1, ASKING, class);
}
