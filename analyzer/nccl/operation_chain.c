#include "operation_ring.h"
#include "operation_steps.h"

/* To its next border, and no further than the track. */
static size_t own_length(const struct ft_nccl_circle *ring, uint32_t member)
{
	const struct ft_nccl_track *track = ring->tracks[member];
	size_t length = track->count > ring->at[member] ? 1 : 0;

	while (ring->at[member] + length < track->count &&
	       ft_nccl_track_border(track, ring->at[member] + length) != FT_NCCL_BORDER)
		length++;
	return length;
}

struct chain {
	const struct ft_nccl_circle *ring;
	uint32_t out; /* who sends nothing */
	size_t length;
	struct ft_nccl_stretch sum;
};

static bool goes_on(const struct ft_nccl_stretch *before, const struct ft_nccl_stretch *own)
{
	return own->bytes == before->bytes && own->offered == before->offered &&
	       own->first_frame > before->first_frame && own->last_frame > before->last_frame;
}

static bool add_member(struct chain *chain, uint32_t member, struct ft_nccl_stretch *before)
{
	const struct ft_nccl_circle *ring = chain->ring;
	const size_t length = own_length(ring, member);
	const struct ft_nccl_stretch own =
		ft_nccl_stretch_of(ring->tracks[member], ring->at[member], length);
	const bool first = before->seen == 0;

	if (length == 0 || !own.sized || !ft_nccl_is_step(&own) ||
	    (!first && (length != chain->length || !goes_on(before, &own))))
		return false;
	chain->length = length;
	if (first)
		chain->sum = own;
	else
		ft_nccl_stretch_add(&chain->sum, &own);
	*before = own;
	return true;
}

/* All of it passed on connections that a tree has, too: it may be the beginning of what goes over that. */
static bool may_be_of_tree(const struct chain *chain)
{
	const bool *is_shared = chain->ring->is_shared;

	for (uint32_t i = 0; is_shared != NULL && i < chain->ring->ranks; i++)
		if (i != chain->out && !is_shared[i])
			return false;
	return is_shared != NULL;
}

static bool is_chain(struct chain *chain)
{
	const uint32_t ranks = chain->ring->ranks;
	struct ft_nccl_stretch before = { 0 };

	for (uint32_t i = 1; i < ranks; i++)
		if (!add_member(chain, (chain->out + i) % ranks, &before))
			return false;
	return true;
}

/* Its next message was not seen: that it sends nothing here is not known. */
static bool is_next_missing(const struct ft_nccl_circle *ring, uint32_t member)
{
	const struct ft_nccl_track *track = ring->tracks[member];
	const size_t at = ring->at[member];

	return at < track->count &&
	       (track->messages[at] == NULL || track->messages[at]->first_frame == 0);
}

/* Of two: who sends nothing has other things to send next, no steps that would be an answer. */
static bool is_unanswered(const struct chain *chain)
{
	const struct ft_nccl_circle *ring = chain->ring;
	const size_t length = own_length(ring, chain->out);
	const struct ft_nccl_stretch next =
		ft_nccl_stretch_of(ring->tracks[chain->out], ring->at[chain->out], length);

	return length > 0 && next.asked && next.offered != 0 && !ft_nccl_is_step(&next);
}

bool ft_nccl_circle_chain(struct ft_nccl_circle *ring, struct ft_nccl_collective *row)
{
	struct chain chain = { .ring = ring };

	for (chain.out = 0; chain.out < ring->ranks; chain.out++) {
		if (is_next_missing(ring, chain.out) || may_be_of_tree(&chain) ||
		    !is_chain(&chain) || (ring->ranks == 2 && !is_unanswered(&chain)))
			continue;
		*row = ft_nccl_stretch_row(&chain.sum);
		row->channels = 1;
		row->algorithm = "RING";
		ft_nccl_tell_bytes(row, &chain.sum, ring->ranks - 1, 1);
		for (uint32_t i = 0; i < ring->ranks; i++)
			ring->at[i] += i == chain.out ? 0 : chain.length;
		return true;
	}
	return false;
}
