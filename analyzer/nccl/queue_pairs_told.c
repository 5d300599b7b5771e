#include <string.h>

#include <control/connection_setup.h>
#include <flow/hash.h>

#include "queue_pairs_parts.h"

/* What is told of queue pairs before they are used: by communication management, and over TCP by perftest and libibverbs' examples. */

enum { MAD_CLASS = 1, CLASS_CM = 7, PERFTEST_PORT = 18515 };

uint64_t ft_nccl_pair_of(const uint8_t a[16], const uint8_t b[16], uint64_t seed)
{
	const uint64_t one = ft_hash(a, 16, seed), other = ft_hash(b, 16, seed);

	return ft_mix(one + other, (one ^ other) | 1) | 1;
}

static bool is_same(const uint8_t a[16], const uint8_t b[16])
{
	return memcmp(a, b, 16) == 0;
}

static void remember(struct ft_nccl_qps *qps, const struct ft_nccl_seen *seen,
		     const struct ft_connection_setup *setup, uint16_t port)
{
	qps->newest_asked = (qps->newest_asked + 1) % FT_NCCL_ASKED;
	qps->asked[qps->newest_asked] = (struct ft_nccl_asked){
		.ends = seen->ends,
		.id = setup->local_id,
		.qpn = setup->qpn,
		.port = port,
	};
}

/* The newest REQ that the REP answers. */
static const struct ft_nccl_asked *recall(const struct ft_nccl_qps *qps,
					  const struct ft_nccl_seen *seen, uint32_t id)
{
	for (uint32_t back = 0; back < FT_NCCL_ASKED; back++) {
		const struct ft_nccl_asked *asked =
			&qps->asked[(qps->newest_asked + FT_NCCL_ASKED - back) % FT_NCCL_ASKED];

		if (asked->qpn == FT_NCCL_NONE)
			return NULL;
		if (asked->id == id && asked->ends.vni == seen->ends.vni &&
		    asked->ends.by_lid == seen->ends.by_lid &&
		    is_same(asked->ends.src, seen->ends.dst) &&
		    is_same(asked->ends.dst, seen->ends.src))
			return asked;
	}
	return NULL;
}

static struct ft_nccl_qp *name(struct ft_nccl_qps *qps, const uint8_t address[16], bool by_lid,
			       uint32_t qpn)
{
	struct ft_nccl_place place = { .by_lid = by_lid };
	struct ft_nccl_qp *qp;

	memcpy(place.address, address, sizeof place.address);
	qp = ft_nccl_qps_of(qps, &place, qpn);
	if (qp != NULL)
		qp->marks |= FT_NCCL_MARK_CM;
	return qp;
}

static void see_request(struct ft_nccl_qps *qps, const struct ft_nccl_seen *seen,
			const struct ft_connection_setup *setup)
{
	uint16_t port = (setup->service_id & ~UINT64_C(0xffff)) == FT_SERVICE_TCP
				? (uint16_t)setup->service_id
				: 0;
	struct ft_nccl_qp *qp;

	if (setup->elsewhere)
		return;
	remember(qps, seen, setup, port);
	qp = name(qps, seen->ends.src, seen->ends.by_lid != 0, setup->qpn);
	if (qp != NULL)
		qp->service_port = port;
}

static void see_reply(struct ft_nccl_qps *qps, const struct ft_nccl_seen *seen,
		      const struct ft_connection_setup *setup)
{
	const struct ft_nccl_asked *asked = recall(qps, seen, setup->remote_id);
	struct ft_nccl_qp *qp = name(qps, seen->ends.src, seen->ends.by_lid != 0, setup->qpn);
	struct ft_nccl_qp *other;

	if (asked == NULL || qp == NULL)
		return;
	qp->service_port = asked->port;
	qp->peer_qpn = asked->qpn;
	other = ft_nccl_qps_find(qps, seen->ends.dst,
				 ft_nccl_name(asked->qpn, seen->ends.by_lid != 0));
	if (other != NULL)
		other->peer_qpn = setup->qpn;
}

void ft_nccl_qps_see_mad(struct ft_nccl_qps *qps, struct ft_nccl_qp *qp,
			 const struct ft_nccl_seen *seen)
{
	const struct ft_setup_carrier carrier = { seen->ends.src, seen->ends.dst,
						  seen->ends.by_lid != 0 };
	struct ft_connection_setup setup;

	if (seen->captured <= MAD_CLASS || seen->payload[MAD_CLASS] != CLASS_CM)
		return;
	qp->marks |= FT_NCCL_MARK_CM_MADS;
	setup = ft_connection_setup_of(seen->payload, seen->captured, &carrier);
	if (setup.kind == FT_SETUP_REQUEST)
		see_request(qps, seen, &setup);
	else if (setup.kind == FT_SETUP_REPLY)
		see_reply(qps, seen, &setup);
}

/*
 * perftest's exchange, src/perftest_communication.c: LID, READs at a time, QPN, PSN, R_Key, address, in an older form
 * the SRQ; the newer one has the GID and the SRQ. Fields in hex, with colons between them.
 */
enum {
	EXCHANGE_LID = 59, /* bytes with the NUL in the end */
	EXCHANGE_GID = 108,
	QPN_AT = 10,
	QPN_DIGITS = 6,
	GID_AT = 50,
	GID_BYTES = 16,
	DIGITS_EACH = 3, /* of the GID: two, and a colon */
};

/* -1: not a hex digit */
static int digit(uint8_t character)
{
	if (character >= '0' && character <= '9')
		return character - '0';
	return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

/* So many digits and a colon; -1 if they are not. */
static int32_t number_at(const uint8_t *text, unsigned digits)
{
	int32_t number = 0;

	for (unsigned i = 0; i < digits; i++) {
		if (digit(text[i]) < 0)
			return -1;
		number = number << 4 | digit(text[i]);
	}
	return text[digits] == ':' ? number : -1;
}

/* The place that the exchange names, or else where the segment came from. False: it is no exchange. */
static bool read_place(const struct ft_nccl_segment *segment, int32_t lid,
		       struct ft_nccl_place *place)
{
	const uint8_t *text = segment->payload + GID_AT;
	uint8_t gid[GID_BYTES], any = 0;

	memcpy(place->address, segment->src, sizeof place->address);
	place->by_lid = false;
	if (segment->length == EXCHANGE_LID && lid != 0) {
		ft_nccl_put_lid(place->address, (uint16_t)lid);
		place->by_lid = true;
	}
	if (segment->length != EXCHANGE_GID || segment->captured < GID_AT + GID_BYTES * DIGITS_EACH)
		return true;
	for (unsigned i = 0; i < GID_BYTES; i++) {
		int32_t byte = number_at(text + (size_t)i * DIGITS_EACH, DIGITS_EACH - 1);

		if (byte < 0)
			return false;
		gid[i] = (uint8_t)byte;
		any |= gid[i];
	}
	if (any != 0)
		memcpy(place->address, gid, sizeof gid);
	return true;
}

static void see_exchange(struct ft_nccl_qps *qps, const struct ft_nccl_segment *segment)
{
	struct ft_nccl_place place;
	struct ft_nccl_qp *qp;
	int32_t lid, qpn;

	if (segment->captured <= QPN_AT + QPN_DIGITS)
		return;
	lid = number_at(segment->payload, 4);
	qpn = number_at(segment->payload + QPN_AT, QPN_DIGITS);
	if (lid < 0 || number_at(segment->payload + 5, 4) < 0 || qpn < 0 ||
	    !read_place(segment, lid, &place))
		return;
	qp = ft_nccl_qps_of(qps, &place, (uint32_t)qpn);
	if (qp != NULL)
		qp->marks |= FT_NCCL_MARK_EXCHANGE;
}

/*
 * The exchange of libibverbs' examples, libibverbs/examples/rc_pingpong.c and others: LID, QPN, PSN, GID, with a NUL in the
 * end; one of each queue pair, of which a segment may hold several. They use perftest's port, and end with "done".
 */
enum {
	PINGPONG = 52,
	PINGPONG_QPN_AT = 5,
	PINGPONG_PSN_AT = 12,
	PINGPONG_GID_AT = 19,
	PINGPONG_DONE = 5,
	DIGITS_OF_BYTE = 2,
};

/* Digits all; false: the place stays as it was. */
static bool read_gid(const uint8_t *text, struct ft_nccl_place *place)
{
	uint8_t gid[GID_BYTES];

	for (unsigned i = 0; i < GID_BYTES; i++) {
		int high = digit(text[DIGITS_OF_BYTE * i]),
		    low = digit(text[DIGITS_OF_BYTE * i + 1]);

		if (high < 0 || low < 0)
			return false;
		gid[i] = (uint8_t)(high << 4 | low);
	}
	memcpy(place->address, gid, sizeof gid);
	return true;
}

/* False: it is none. */
static bool see_pingpong(struct ft_nccl_qps *qps, const uint8_t *text)
{
	static const uint8_t none[GID_BYTES];
	struct ft_nccl_place place = { .by_lid = false };
	int32_t lid = number_at(text, 4), qpn = number_at(text + PINGPONG_QPN_AT, QPN_DIGITS);
	struct ft_nccl_qp *qp;

	if (lid < 0 || qpn < 0 || number_at(text + PINGPONG_PSN_AT, QPN_DIGITS) < 0 ||
	    !read_gid(text + PINGPONG_GID_AT, &place) || text[PINGPONG - 1] != 0)
		return false;
	if (memcmp(place.address, none, sizeof none) == 0) {
		ft_nccl_put_lid(place.address, (uint16_t)lid);
		place.by_lid = true;
	}
	qp = ft_nccl_qps_of(qps, &place, (uint32_t)qpn);
	if (qp != NULL)
		qp->marks |= FT_NCCL_MARK_PINGPONG;
	return true;
}

static void see_pingpongs(struct ft_nccl_qps *qps, const struct ft_nccl_segment *segment)
{
	uint32_t at = 0;

	while (at + PINGPONG <= segment->captured && see_pingpong(qps, segment->payload + at))
		at += PINGPONG;
}

static void see_meeting(struct ft_nccl_qps *qps, const struct ft_nccl_segment *segment)
{
	uint64_t pair = ft_nccl_pair_of(segment->src, segment->dst, qps->seed);
	struct ft_nccl_meeting *meeting;

	for (size_t i = 0; i < FT_NCCL_MEETINGS; i++) {
		meeting = &qps->meetings[i];
		if (meeting->pair == pair) {
			meeting->last_ns = segment->ts_ns;
			return;
		}
	}
	qps->newest_meeting = (qps->newest_meeting + 1) % FT_NCCL_MEETINGS;
	qps->meetings[qps->newest_meeting] = (struct ft_nccl_meeting){ pair, segment->ts_ns };
}

void ft_nccl_qps_see_tcp(struct ft_nccl_qps *qps, const struct ft_nccl_segment *segment)
{
	if (qps->most == 0 || segment->length == 0)
		return;
	if (segment->length == EXCHANGE_LID || segment->length == EXCHANGE_GID)
		see_exchange(qps, segment);
	see_pingpongs(qps, segment);
	if ((segment->sport == PERFTEST_PORT || segment->dport == PERFTEST_PORT) &&
	    segment->length != PINGPONG && segment->length != PINGPONG_DONE)
		see_meeting(qps, segment);
}

/* From the exchange to the first packet; the TCP connection is silent during the test. */
#define SOON_NS UINT64_C(5000000000)

bool ft_nccl_qps_met(const struct ft_nccl_qps *qps, const struct ft_nccl_seen *seen)
{
	uint64_t pair;

	if (qps->meetings[1].pair == 0) /* where the first one goes */
		return false;
	pair = ft_nccl_pair_of(seen->ends.src, seen->ends.dst, qps->seed);
	for (size_t i = 0; i < FT_NCCL_MEETINGS; i++)
		if (qps->meetings[i].pair == pair)
			return seen->ts_ns <= qps->meetings[i].last_ns + SOON_NS;
	return false;
}
