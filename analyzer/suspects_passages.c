/* What passed of late, under the PSN of a packet that comes now. */
#include <decode/brief.h>
#include <decode/icrc.h>
#include <decode/opcode.h>

#include "suspects_passages.h"

enum {
	ASKS = 0x8000,   /* the acknowledge-request bit, in its byte of the BTH and the next .. */
	BEHIND_ASKS = 2, /* .. and bytes of the BTH behind those */
	BEHIND_IP_ID = FT_BRIEF_UDP - 6 + FT_BRIEF_UDP_LEN + FT_BRIEF_BTH_LEN,
};

static unsigned chain_of(const struct ft_passage *passage)
{
	uint32_t half = passage->half & ~FT_PASSAGE_BEGINS;

	return (half * 0x9e3779b1u + (passage->psn & FT_PSN_MOST)) * 0x85ebca6bu >>
	       (32 - FT_PASSAGES_BITS);
}

/* All that was kept before this frame. */
static void chain_up(struct ft_passages *passages, uint64_t frame)
{
	uint64_t kept = passages->chained;

	if (frame - kept > FT_SUSPECTS_PASSAGES)
		kept = frame - FT_SUSPECTS_PASSAGES;
	for (; kept != frame; kept++) {
		unsigned place = kept % FT_SUSPECTS_PASSAGES, chain;

		if (passages->all[place].frame != (uint32_t)kept)
			continue;
		chain = chain_of(&passages->all[place]);
		passages->older[place] = passages->newest[chain];
		passages->newest[chain] = (uint16_t)place;
	}
	passages->chained = frame;
}

struct ft_passed ft_passages_find(struct ft_passages *passages, uint64_t frame,
				  const struct ft_passage *now)
{
	unsigned place;
	uint32_t nearest = 0;

	chain_up(passages, frame);
	place = passages->newest[chain_of(now)];
	for (;;) {
		const struct ft_passage *passage = &passages->all[place];
		uint32_t back = (uint32_t)frame - passage->frame;

		/* another one has its place, or it is too long ago */
		if (back <= nearest || back > FT_SUSPECTS_PASSAGES)
			return (struct ft_passed){ NULL, 0 };
		if (ft_passage_is_under(passage, now->half, now->psn))
			return (struct ft_passed){ passage, back };
		nearest = back;
		place = passages->older[place];
	}
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
	if (((before->psn ^ now->psn) & FT_PASSAGE_ASKS) != 0)
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
