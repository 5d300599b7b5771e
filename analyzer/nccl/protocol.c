#include "protocol.h"

#include <string.h>

/*
 * Every sign leaves some protocols possible. If one is left, it is that; if several are, lines decide that only one of
 * them has. A place in the receiver's buffers does not: where they begin is not known. The sizes are those of NCCL's
 * defaults (src/include/device.h, src/graph/tuning.cc, src/transport/net.cc) and, where they differ, RCCL's.
 */
enum {
	SIMPLE = 1u << FT_NCCL_SIMPLE,
	LL = 1u << FT_NCCL_LL,
	LL128 = 1u << FT_NCCL_LL128,
	ALL = SIMPLE | LL | LL128,
};

enum {
	STEP_LL128_RCCL = 57344,
	SEND_PIECE = 32768, /* of a send of less than a chunk */
};

enum { LINES_LL = 2, LINES_LL128 = 4 }; /* with one flag: no accident */

/* What a receive may hold: steps of the protocols' buffers, and what else it is if it has as much as a send's. */
static const struct {
	uint32_t offered;
	uint8_t possible, possible_of_send;
} offers[] = {
	{ 32768, LL, LL | SIMPLE },      /* a step of RCCL's; also a part of a send */
	{ STEP_LL128_RCCL, LL128, ALL }, /* the same */
	{ 65536, LL, LL | SIMPLE },      /* a step; the same */
	{ 131072, SIMPLE, SIMPLE },      /* a chunk of a send */
	{ 262144, SIMPLE, SIMPLE },      /* the same, on some hosts */
	{ 524288, SIMPLE, SIMPLE },      /* a step */
	{ 614400, LL128, LL128 },        /* a step */
	{ 1048576, SIMPLE, SIMPLE },     /* two steps: a slice of a ring */
};

/* As long as all that was asked for, or as a piece of it. */
static bool may_be_send(const struct ft_nccl_message_signs *signs)
{
	return !signs->has_written || signs->written == signs->offered ||
	       signs->written == SEND_PIECE ||
	       (signs->written != 0 && signs->written == signs->offered % SEND_PIECE);
}

static uint8_t by_offer(const struct ft_nccl_message_signs *signs)
{
	uint8_t possible = SIMPLE;

	if (!signs->has_offered)
		return ALL;
	if (signs->has_written && signs->written > signs->offered)
		return 0;
	for (size_t i = 0; i < sizeof offers / sizeof *offers; i++) {
		if (signs->offered == offers[i].offered)
			return may_be_send(signs) ? offers[i].possible_of_send : offers[i].possible;
	}
	if (signs->offered % FT_NCCL_LL_LINE == 0)
		possible |= LL;
	if (signs->offered % FT_NCCL_LL128_UNIT == 0)
		possible |= LL128;
	return possible;
}

static uint8_t by_length(const struct ft_nccl_message_signs *signs)
{
	uint8_t possible = SIMPLE;

	if (!signs->has_written)
		return ALL;
	if (signs->written % FT_NCCL_LL_LINE == 0 && signs->written <= FT_NCCL_LL_MAX)
		possible |= LL;
	if (signs->written % FT_NCCL_LL128_UNIT == 0 && signs->written <= FT_NCCL_LL128_MAX)
		possible |= LL128;
	return possible;
}

/* Lines do not cross what the GPU stores at once. */
static uint8_t by_alignment(const struct ft_nccl_message_signs *signs)
{
	uint8_t possible = SIMPLE;

	if (signs->va % FT_NCCL_LL_LINE == 0)
		possible |= LL;
	if (signs->va % FT_NCCL_LL128_LINE_RCCL == 0)
		possible |= LL128;
	return possible;
}

/* A tensor of ones is as regular as flags are: all words of `size` bytes are the same. */
static bool is_monotonous(const struct ft_nccl_write *write, uint32_t size, uint32_t bytes)
{
	return memcmp(write->bytes, write->bytes + size, bytes - size) == 0;
}

struct reading {
	enum ft_nccl_verdict verdict;
	struct ft_nccl_lines lines;
};

static struct reading read_ll(const struct ft_nccl_write *write)
{
	struct reading reading = { .verdict = FT_NCCL_CUT };

	reading.verdict = ft_nccl_ll_read(write, &reading.lines);
	if (reading.verdict == FT_NCCL_READ &&
	    is_monotonous(write, sizeof(uint32_t), reading.lines.lines * FT_NCCL_LL_LINE))
		reading.verdict = FT_NCCL_CUT;
	return reading;
}

/* Every second line of RCCL's ends where one of NCCL's would: the shorter ones are asked for only where it is RCCL. */
static struct reading read_ll128(const struct ft_nccl_write *write, bool rccl)
{
	const uint32_t line_bytes = rccl ? FT_NCCL_LL128_LINE_RCCL : FT_NCCL_LL128_LINE;
	struct reading reading = { .verdict = FT_NCCL_CUT };

	reading.verdict = ft_nccl_ll128_read(write, line_bytes, &reading.lines);
	if (reading.verdict == FT_NCCL_READ &&
	    is_monotonous(write, sizeof(uint64_t), reading.lines.lines * line_bytes))
		reading.verdict = FT_NCCL_CUT;
	return reading;
}

/* What stands in the data: of the whole message, though it may have been split, and a part's length tells nothing. */
static struct ft_nccl_write message_of(const struct ft_nccl_message_signs *signs)
{
	struct ft_nccl_write message = signs->write;

	if (message.captured > message.length)
		message.captured = message.length;
	if (signs->has_written)
		message.length =
			signs->written > UINT32_MAX ? UINT32_MAX : (uint32_t)signs->written;
	return message;
}

/* Queue pairs that share a message cut it behind a line of LL128, not behind a unit of its lines. */
static struct ft_nccl_write in_units(const struct ft_nccl_message_signs *signs,
				     struct ft_nccl_write message)
{
	const uint32_t unit = FT_NCCL_LL128_UNIT;

	if (!signs->has_written && message.length <= FT_NCCL_LL128_MAX &&
	    message.length % FT_NCCL_LL128_LINE == 0)
		message.length = (message.length + unit - 1) / unit * unit;
	return message;
}

struct evidence {
	uint8_t possible, shown;
	uint64_t flags[FT_NCCL_LL128 + 1]; /* by protocol */
};

static void weigh(struct evidence *evidence, const struct reading *reading,
		  enum ft_nccl_protocol protocol, uint32_t lines)
{
	if (reading->verdict == FT_NCCL_NOT)
		evidence->possible &= (uint8_t) ~(1u << protocol);
	if (reading->verdict != FT_NCCL_READ)
		return;
	evidence->flags[protocol] = reading->lines.flag;
	if (reading->lines.lines >= lines)
		evidence->shown |= (uint8_t)(1u << protocol);
}

static void weigh_lines(struct evidence *evidence, const struct ft_nccl_message_signs *signs)
{
	const struct ft_nccl_write message = message_of(signs), units = in_units(signs, message);
	struct reading ll, ll128;

	if (message.captured == 0 || message.length == 0)
		return;
	ll = read_ll(&message);
	ll128 = read_ll128(&units, signs->has_offered && signs->offered == STEP_LL128_RCCL);
	weigh(evidence, &ll, FT_NCCL_LL, LINES_LL);
	weigh(evidence, &ll128, FT_NCCL_LL128, LINES_LL128);
}

static enum ft_nccl_protocol only_one(uint8_t possible)
{
	switch (possible) {
	case SIMPLE:
		return FT_NCCL_SIMPLE;
	case LL:
		return FT_NCCL_LL;
	case LL128:
		return FT_NCCL_LL128;
	default:
		return FT_NCCL_PROTOCOL_UNKNOWN;
	}
}

enum ft_nccl_protocol ft_nccl_protocol_of(const struct ft_nccl_message_signs *signs, uint64_t *flag)
{
	struct evidence evidence = { .possible = ALL };
	enum ft_nccl_protocol protocol;

	evidence.possible &= by_offer(signs) & by_length(signs) & by_alignment(signs);
	weigh_lines(&evidence, signs);
	protocol = only_one(evidence.possible);
	if (protocol == FT_NCCL_PROTOCOL_UNKNOWN)
		protocol = only_one(evidence.possible & evidence.shown);
	*flag = evidence.flags[protocol];
	return protocol;
}
