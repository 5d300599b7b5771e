#undef NDEBUG
#include "wrapping.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	ETHERNET = 14,
	TAG = 4,
	TAGS_MAX = 3, /* one more than is usual */
	IPV4 = 20,
	IPV6 = 40,
	UDP = 8,
	OPTIONS_MAX = 63 * 4,
	TUNNEL_MAX = 28,
	LAYER_MAX = ETHERNET + TAGS_MAX * TAG + IPV6 + UDP + TUNNEL_MAX + OPTIONS_MAX,
	BEHIND_MAX = 8,
	PROTOCOL_UDP = 17,
	PROTOCOL_GRE = 47,
};

/* Behind IP: GRE, or UDP to a port. `odd`: it holds something else than Ethernet, or nothing that is read. */
static const struct kind {
	uint16_t port; /* 0: GRE */
	bool odd;
	uint8_t size, bytes[TUNNEL_MAX];
} kinds[] = {
	{ 0, false, 4, { 0, 0, 0x65, 0x58 } },
	{ 0, false, 8, { 0x20, 0, 0x65, 0x58, 0, 0, 0x12, 0x34 } }, /* NVGRE */
	{ 0, false, 8, { 0x20, 0, 0x65, 0x58, 0xff, 0xff, 0xff, 0x34 } },
	{ 0, false, 12, { 0x30, 0, 0x65, 0x58, 0, 0, 0x12, 0x34, 0, 0, 0, 9 } },
	{ 0, false, 4, { 0, 0, 0x88, 0xbe } },
	{ 0, false, 16, { 0x10, 0, 0x88, 0xbe, 0, 0, 1, 7, 0x10, 5, 0x60, 42, 0, 0, 0, 3 } },
	{ 0, false, 24, { 0xb0, 0, 0x88, 0xbe, 1, 2, 0,    0, 0,    0,
			  0,    5, 0xff, 0,    0, 1, 0x10, 5, 0x04, 42 } },
	{ 0,
	  false,
	  20,
	  { 0x10, 0, 0x22, 0xeb, 0, 0, 0, 8, 0x20, 5, 0, 43, 1, 2, 3, 4, 0, 0, 0, 0x10 } },
	{ 0,
	  false,
	  28,
	  { 0x10, 0, 0x22, 0xeb, 0, 0, 0, 8, 0x20, 5, 0, 43, 1, 2, 3, 4, 0, 0, 0, 1 } },
	{ 0, true, 16, { 0, 0, 0x22, 0xeb, 0x20, 5, 0, 43, 1, 2, 3, 4, 0, 0, 0x08, 0 } }, /* IP */
	{ 0, true, 4, { 0, 0, 0x08, 0 } },
	{ 0, true, 4, { 0, 1, 0x65, 0x58 } }, /* a later version */
	{ 0, true, 8, { 0x40, 0, 0x65, 0x58 } },
	{ 4789, false, 8, { 0x08, 0, 0, 0, 0, 0x13, 0x88, 0 } },
	{ 4789, false, 8, { 0x08 } },
	{ 8472, false, 8, { 0x08, 0, 0, 0, 0xff, 0xff, 0xff, 0 } },
	{ 4789,
	  false,
	  8,
	  { 0xff, 0x80, 0x12, 0x34, 0, 0, 1, 0xff } },    /* reserved, or a policy group */
	{ 4789, true, 8, { 0xf7, 0, 0, 0, 0, 0, 1, 0 } }, /* no VNI */
	{ 4790, false, 8, { 0x08, 0, 0, 7, 0, 0, 2, 0 } },
	{ 4790, false, 8, { 0x0c, 0, 0, 3, 0, 0, 2, 0 } },
	{ 4790, true, 8, { 0x0c, 0, 0, 1, 0, 0, 2, 0 } }, /* IPv4 */
	{ 4790, true, 8, { 0x0c, 0, 0, 4, 0, 0, 2, 0 } },
	{ 6081, false, 8, { 0, 0, 0x65, 0x58, 0, 0, 3, 0 } },
	{ 6081, false, 16, { 2, 0xc0, 0x65, 0x58, 0, 0, 3, 0xff, 1, 2, 0x80, 1, 0, 0, 0, 4 } },
	{ 6081,
	  false,
	  8,
	  { 0x3f, 0, 0x65, 0x58, 0xff, 0xff, 0xff, 0 } },       /* all options there may be */
	{ 6081, true, 8, { 0, 0, 0x08, 0, 0, 0, 3, 0 } },       /* IPv4 */
	{ 6081, true, 8, { 0x40, 0, 0x65, 0x58, 0, 0, 3, 0 } }, /* a later version */
	{ 4791, true, 8, { 0x08, 0, 0, 0, 0, 0, 1, 0 } },
	{ 4788, true, 8, { 0x08, 0, 0, 0, 0, 0, 1, 0 } },
};

struct dice dice_of(const uint8_t *bytes, size_t size)
{
	struct dice dice = { 0xcbf29ce484222325u };

	for (size_t i = 0; i < size; i++)
		dice.state = (dice.state ^ bytes[i]) * 0x100000001b3u;
	return dice;
}

uint32_t dice_roll(struct dice *dice, uint32_t sides)
{
	dice->state = dice->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(dice->state >> 33) % sides;
}

/* A frame that grows at its front. */
struct growing {
	uint8_t *buffer, *begin;
	uint32_t held;
	bool spoilt, cut;
};

static void put16(uint8_t *b, uint32_t value)
{
	b[0] = (uint8_t)(value >> 8);
	b[1] = (uint8_t)value;
}

static uint8_t *push(struct growing *frame, uint32_t size)
{
	frame->begin -= size;
	frame->held += size;
	memset(frame->begin, 0, size);
	return frame->begin;
}

/* Lengths are right nearly always. */
static uint32_t length_of(struct growing *frame, uint32_t length, struct dice *dice)
{
	if (dice_roll(dice, 32) != 0)
		return length;
	frame->spoilt = true;
	return length + dice_roll(dice, 61) - 30;
}

static void push_tunnel(struct growing *frame, struct dice *dice, uint8_t *protocol)
{
	const struct kind *kind = &kinds[dice_roll(dice, sizeof kinds / sizeof *kinds)];
	bool all_options = kind->port == 6081 && kind->bytes[0] == 0x3f;
	uint8_t *udp;

	frame->spoilt |= kind->odd;
	if (all_options)
		push(frame, OPTIONS_MAX);
	if (kind->port == 0 && dice_roll(dice, 4) == 0 && frame->held > 0) { /* a mirror cuts */
		frame->held -= dice_roll(dice, frame->held);
		frame->cut = true;
	}
	memcpy(push(frame, kind->size), kind->bytes, kind->size);
	*protocol = kind->port == 0 ? PROTOCOL_GRE : PROTOCOL_UDP;
	if (kind->port == 0)
		return;
	udp = push(frame, UDP);
	put16(udp, dice_roll(dice, 1 << 16));
	put16(udp + 2, kind->port);
	put16(udp + 4, length_of(frame, frame->held, dice));
	put16(udp + 6, dice_roll(dice, 2) * dice_roll(dice, 1 << 16));
}

/* Returns its EtherType. */
static uint16_t push_network(struct growing *frame, struct dice *dice, uint8_t protocol)
{
	bool ipv6 = dice_roll(dice, 3) == 0;
	uint8_t *ip = push(frame, ipv6 ? IPV6 : IPV4);

	for (int i = 0; i < IPV4; i++)
		ip[i] = (uint8_t)dice_roll(dice, 256);
	if (ipv6) {
		ip[0] = (uint8_t)(0x60 | (ip[0] & 0x0f));
		put16(ip + 4, length_of(frame, frame->held - IPV6, dice));
		ip[6] = protocol;
		return 0x86dd;
	}
	ip[0] = 0x45;
	put16(ip + 2, length_of(frame, frame->held, dice));
	put16(ip + 6, 0x4000);
	if (dice_roll(dice, 32) == 0) {
		put16(ip + 6, dice_roll(dice, 2) == 0 ? 0x2000 : 1);
		frame->spoilt = true;
	}
	ip[9] = protocol;
	return 0x0800;
}

static void push_link(struct growing *frame, struct dice *dice, uint16_t ethertype)
{
	static const uint16_t tpids[] = { 0x8100, 0x88a8, 0x9100, 0x9200 };
	static const uint8_t tag_counts[] = { 0, 0, 0, 1, 1, 2, 2, TAGS_MAX };
	unsigned tags = tag_counts[dice_roll(dice, sizeof tag_counts)];
	uint8_t *at;

	frame->spoilt |= tags == TAGS_MAX;
	for (unsigned i = 0; i < tags; i++) {
		at = push(frame, TAG);
		put16(at, dice_roll(dice, 1 << 16));
		put16(at + 2, ethertype);
		ethertype = tpids[dice_roll(dice, 4)];
	}
	at = push(frame, ETHERNET);
	at[0] = at[6] = 2;
	put16(at + 12, ethertype);
}

/* Something behind what the lengths of one header say. */
static void pad(struct growing *frame, struct dice *dice)
{
	if (dice_roll(dice, 32) != 0)
		return;
	frame->held += 1 + dice_roll(dice, BEHIND_MAX);
	frame->spoilt = true;
}

static void push_layer(struct growing *frame, struct dice *dice)
{
	uint8_t protocol;

	push_tunnel(frame, dice, &protocol);
	push_link(frame, dice, push_network(frame, dice, protocol));
	frame->spoilt |= frame->held > UINT16_MAX; /* more than lengths can say */
	pad(frame, dice);
}

/* What the capture does, and a bit that is wrong. */
static void spoil(struct growing *frame, struct dice *dice, uint32_t headers,
		  struct ft_decode_input *input)
{
	input->wire = input->captured = frame->held;
	if (dice_roll(dice, 4) == 0) {
		input->captured -= dice_roll(dice, frame->held);
		frame->cut |= input->captured != input->wire;
	}
	if (dice_roll(dice, 16) == 0) {
		input->wire += 1 + dice_roll(dice, BEHIND_MAX);
		frame->spoilt = true;
	}
	if (dice_roll(dice, 4) == 0 && headers != 0) {
		frame->begin[dice_roll(dice, headers)] ^= (uint8_t)(1u << dice_roll(dice, 8));
		frame->spoilt = true;
	}
}

struct wrapping wrap(const struct ft_decode_input *frame, unsigned depth, struct dice *dice)
{
	const uint32_t front = depth * LAYER_MAX, behind = depth * BEHIND_MAX;
	struct wrapping wrapping = { .input = *frame, .depth = depth };
	struct growing growing = { .held = frame->captured };

	assert(depth <= WRAPPING_DEEPEST);
	growing.buffer = calloc(1, front + frame->captured + behind + 1);
	assert(growing.buffer != NULL);
	growing.begin = growing.buffer + front;
	if (frame->captured != 0)
		memcpy(growing.begin, frame->bytes, frame->captured);
	for (unsigned i = 0; i < depth; i++)
		push_layer(&growing, dice);
	wrapping.headers = (uint32_t)(growing.buffer + front - growing.begin);
	spoil(&growing, dice, wrapping.headers, &wrapping.input);
	wrapping.bytes = malloc(wrapping.input.captured != 0 ? wrapping.input.captured : 1);
	assert(wrapping.bytes != NULL);
	memcpy(wrapping.bytes, growing.begin, wrapping.input.captured);
	free(growing.buffer);
	wrapping.input.bytes = wrapping.bytes;
	wrapping.input.link_type = FT_LINKTYPE_ETHERNET;
	wrapping.input.fcs_bytes = 0;
	wrapping.plain = !growing.spoilt && !growing.cut;
	wrapping.cut = !growing.spoilt && growing.cut;
	return wrapping;
}
