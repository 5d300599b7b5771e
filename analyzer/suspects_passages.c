/* What passed of late, under the PSN of a packet that comes now. */
#include <decode/brief.h>
#include <decode/icrc.h>
#include <decode/opcode.h>

#include "suspects_state.h"

enum {
	SEARCHED_TOGETHER = 32, /* passages */
	ASKS = 0x8000,   /* the acknowledge-request bit, in its byte of the BTH and the next .. */
	BEHIND_ASKS = 2, /* .. and bytes of the BTH behind those */
	BEHIND_IP_ID = FT_BRIEF_UDP - 6 + FT_BRIEF_UDP_LEN + FT_BRIEF_BTH_LEN,
};
static_assert(FT_SUSPECTS_PASSAGES % SEARCHED_TOGETHER == 0, "in whole rows");

/* Of some in a row those of this half and PSN: the newest, if it is newer than *before. */
static void look_among(const struct ft_passage *some, const struct ft_passage *now,
		       struct ft_passed *before)
{
	for (unsigned i = 0; i < SEARCHED_TOGETHER; i++) {
		uint32_t back = now->frame - some[i].frame;

		if ((some[i].half & ~FT_PASSAGE_BEGINS) == now->half && some[i].psn == now->psn &&
		    back != 0 && back <= FT_SUSPECTS_PASSAGES &&
		    (before->passage == NULL || back < before->back))
			*before = (struct ft_passed){ &some[i], back };
	}
}

struct ft_passed ft_passages_find(const struct ft_passages *passages, const struct ft_passage *now)
{
	struct ft_passed before = { NULL, 0 };
	uint32_t mark = ft_passage_mark(now);

	for (unsigned at = 0; at < FT_SUSPECTS_PASSAGES; at += SEARCHED_TOGETHER) {
		uint32_t found = 0;

		for (unsigned i = 0; i < SEARCHED_TOGETHER; i++)
			found |= passages->marks[at + i] == mark;
		if (found != 0)
			look_among(&passages->all[at], now, &before);
	}
	return before;
}

bool ft_passages_began_since(const struct ft_passages *passages, uint32_t half, uint64_t frame,
			     unsigned frames)
{
	for (unsigned back = 1; back < frames; back++) {
		const struct ft_passage *passage =
			&passages->all[(frame - back) % FT_SUSPECTS_PASSAGES];

		if (passage->half == (half | FT_PASSAGE_BEGINS) &&
		    passage->frame == (uint32_t)(frame - back))
			return true;
	}
	return false;
}

/* Bytes of the packet from the end of its BTH on, up to the ICRC. */
static uint32_t behind_bth(const struct ft_observed *observed)
{
	return ft_opcode_shape(observed->opcode)->length + ((observed->payload + 3) & ~3u);
}

/*
 * With all alike that was looked at: whether the ICRCs differ by more than what may change when the same is sent again, the IP
 * identification, the acknowledge-request bit and, of a response, its AETH.
 */
static bool is_tail_unlike(const struct ft_passage *before, const struct ft_passage *now,
			   const struct ft_observed *observed)
{
	uint32_t change = before->icrc ^ now->icrc, behind = behind_bth(observed);
	uint32_t aeth = before->word ^ now->word;

	if (before->icrc == 0 || now->icrc == 0 || before->sport != now->sport)
		return false;
	change ^= ft_icrc_change(before->ip_id ^ now->ip_id, BEHIND_IP_ID + behind);
	if (before->asks != now->asks)
		change ^= ft_icrc_change(ASKS, BEHIND_ASKS + behind);
	if ((now->half & FT_PASSAGE_RESPONSE) != 0)
		change ^= ft_icrc_change((uint16_t)(aeth >> 16), behind - 2) ^
			  ft_icrc_change((uint16_t)aeth, behind - 4);
	return change != 0;
}

bool ft_passage_is_unlike(const struct ft_passage *before, const struct ft_passage *now,
			  const struct ft_observed *observed)
{
	return before->content != now->content || is_tail_unlike(before, now, observed);
}
