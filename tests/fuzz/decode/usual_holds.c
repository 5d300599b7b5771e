/*
 * The short way through the usual headers says the same as the readers of each of them, bit for bit; for frames as
 * they come, and for the same made nearly usual.
 */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../holds.h"
#include "frame_input.h"
#include "pass.h"

enum {
	ETHERNET = 1,
	ETHERNET_LEN = 14,
	TAG_LEN = 4,
	UDP = 20,
	BTH = 28,
	SHORTEST = 60,
	FILL = 0xa5,
	LITTLE_CUT = 8,
	OPERATIONS = 32
};

static void put16(uint8_t *b, uint32_t value)
{
	b[0] = (uint8_t)(value >> 8);
	b[1] = (uint8_t)value;
}

static uint32_t sum_of(const uint8_t *b, uint32_t size)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < size; i += 2)
		sum += (uint32_t)(b[i] << 8 | b[i + 1]);
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/*
 * Lengths that agree or miss by a few bytes, IPv4, UDP and the port; the rest, and what the bits of `spared` name,
 * stays what it was.
 */
static void make_usual(struct frame_input *frame, unsigned spared, unsigned flags)
{
	uint32_t at = (spared & 1) != 0 ? ETHERNET_LEN + TAG_LEN : ETHERNET_LEN;
	uint8_t *ip = frame->bytes + at;
	uint32_t size = frame->input.wire - at + (flags >> 6);

	put16(frame->bytes + 12, 0x8100);
	if ((spared & 128) == 0)
		put16(ip - 2, 0x0800);
	ip[0] = 0x45;
	put16(ip + 2, size);
	put16(ip + 6, 0x4000);
	ip[9] = 17;
	put16(ip + UDP + 2, 4791);
	put16(ip + UDP + 4, size - UDP);
	if ((spared & 2) == 0)
		put16(ip + UDP + 6, 0);
	if ((spared & 12) == 0)
		ip[BTH] &= 0x1f;
	if ((spared & 48) != 0)
		ip[BTH + 1] &= 0xc0;
	if ((spared & 64) == 0) {
		put16(ip + 10, 0);
		put16(ip + 10, ~sum_of(ip, UDP) & 0xffff);
	}
}

static void both_ways_agree(const struct frame_input *frame)
{
	static struct ft_packet shortly, fully;
	struct ft_decode_rest rest = { 0 }, fully_rest = { 0 };
	bool more;

	memset(&shortly, FILL, sizeof shortly);
	memset(&fully, FILL, sizeof fully);
	more = ft_decode(&frame->config, &frame->input, &shortly, &rest);
	assert(ft_read_headers(&frame->config, &frame->input, &fully, &fully_rest) == more);
	assert(memcmp(&shortly, &fully, sizeof fully) == 0);
	assert(memcmp(&rest, &fully_rest, sizeof rest) == 0);
}

/* Of a frame made usual: every operation of RC, to a queue pair at the edge of what the rules tell apart. */
static void every_operation_agrees(struct frame_input *frame, unsigned spared, unsigned pick)
{
	static const uint32_t edges[] = { 0, 1, 2, 0xfffffe, 0xffffff };
	uint32_t at = (spared & 1) != 0 ? ETHERNET_LEN + TAG_LEN : ETHERNET_LEN;
	uint32_t queue_pair = edges[pick % (sizeof edges / sizeof *edges)];
	uint8_t *bth = frame->bytes + at + BTH;

	bth[5] = (uint8_t)(queue_pair >> 16);
	put16(bth + 6, queue_pair);
	for (bth[0] = 0; bth[0] < OPERATIONS; bth[0]++)
		both_ways_agree(frame);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct frame_input frame;

	if (!frame_input_read(bytes, size, &frame))
		return;
	frame.input.link_type = ETHERNET;
	both_ways_agree(&frame);
	if (frame.input.captured >= SHORTEST) {
		if ((bytes[1] & LITTLE_CUT) != 0)
			frame.input.wire = frame.input.captured + bytes[3] % 8;
		make_usual(&frame, bytes[0], bytes[1]);
		both_ways_agree(&frame);
		every_operation_agrees(&frame, bytes[0], bytes[2]);
	}
	free(frame.bytes);
}
