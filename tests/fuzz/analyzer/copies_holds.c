/*
 * What the first look at a decoded packet and the search for copies promise, for any frames: every
 * member is set, from the packet alone; a frame twice at once is a copy the second time; no verdict
 * depends on the seed.
 */
#include "../holds.h"

#undef NDEBUG /* promises are kept in every build */
#include <assert.h>
#include <string.h>

#include <decode/decode.h>
#include <flow/copies.h>

#include "observe.h"

enum { STEP_NS = 300, FRAME_MAX = 200 };

static const uint16_t link_types[] = { FT_LINK_ETHERNET,   FT_LINK_ETHERNET,
				       FT_LINK_INFINIBAND, FT_LINK_ERF,
				       FT_LINK_SLL,        FT_LINK_SLL2,
				       FT_LINK_ETHERNET,   147 };

static struct ft_copies *copies_made(uint64_t seed)
{
	struct ft_copies_config config = { .window_ns = 5000, .entries = 256, .seed = seed };
	struct ft_copies *copies;

	assert(ft_copies_create(&copies, &config) == 0);
	return copies;
}

/* `stale`: what an earlier packet left in memory. */
static struct ft_observed observed_of(const struct ft_frame *frame, bool check_icrc, int stale)
{
	struct ft_decode_config config = FT_DECODE_DEFAULTS;
	struct ft_decode_input input = { frame->bytes,     frame->captured,  frame->original,
					 frame->link_type, frame->fcs_bytes, frame->ts_ns };
	struct ft_observed observed;
	struct ft_decode_rest rest;
	static struct ft_packet packet;

	config.check_icrc = check_icrc;
	memset(&packet, stale, sizeof packet);
	memset(&observed, stale, sizeof observed);
	ft_decode(&config, &input, &packet, &rest);
	ft_observe(&packet, frame, &observed);
	assert(((observed.has & FT_OBSERVED_BTH) != 0) == ((packet.has & FT_HAS_BTH) != 0));
	assert(observed.psn <= 0xffffff && observed.dest_qp <= 0xffffff);
	assert(observed.alike <= FT_ALIKE_FOREIGN);
	assert(observed.ts_ns == frame->ts_ns && observed.frame == frame->number);
	return observed;
}

struct run {
	struct ft_copies *copies, *other_seed;
	uint64_t frames;
};

static enum ft_copy_verdict check(struct run *run, const struct ft_observed *observed,
				  uint32_t rules)
{
	enum ft_copy_verdict verdict = ft_copies_check(run->copies, observed, rules);

	assert(ft_copies_check(run->other_seed, observed, rules) == verdict);
	return verdict;
}

static void take(struct run *run, const uint8_t *bytes, uint32_t size, const uint8_t choice[2])
{
	struct ft_frame frame = {
		.bytes = bytes,
		.captured = size,
		.original = size + choice[1] % 4 * 20u,
		.wire = size + 4,
		.link_type = link_types[choice[0] % 8],
		.ts_ns = 1000000 + STEP_NS * run->frames,
		.number = ++run->frames,
	};
	bool check_icrc = (choice[0] & 8) != 0;
	struct ft_observed first = observed_of(&frame, check_icrc, 0x5a);
	struct ft_observed again = observed_of(&frame, check_icrc, 0xa5);
	uint32_t rules = choice[0] >> 6;

	assert(memcmp(&first, &again, sizeof first) == 0);
	ft_copies_prefetch(run->copies, first.digest);
	if (check(run, &first, rules) != FT_COPY_YES)
		assert(check(run, &again, rules) == FT_COPY_YES);
	again.ts_ns = FT_TS_UNKNOWN;
	assert(check(run, &again, rules) == FT_COPY_NO);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct run run = { copies_made(1), copies_made(0x9e3779b97f4a7c15u), 0 };
	static const uint8_t usual[2] = { 8, 0 };

	take(&run, bytes, (uint32_t)size, usual);
	while (size > 3) {
		uint32_t length = bytes[2] % FRAME_MAX;

		if (length > size - 3)
			length = (uint32_t)size - 3;
		take(&run, bytes + 3, length, bytes);
		bytes += 3 + length;
		size -= 3 + length;
	}
	ft_copies_destroy(run.copies);
	ft_copies_destroy(run.other_seed);
}
