#include "operation_chunks.h"

#include "operation_steps.h"

/* --- the chunks --- */

struct ft_nccl_chunks ft_nccl_chunks_of(const struct ft_nccl_circle_part *part)
{
	const struct ft_nccl_stretch *sum = &part->sum;
	struct ft_nccl_chunks look = { part, 1, 0, 0, 1 };

	if (sum->protocol == FT_NCCL_LL || sum->protocol == FT_NCCL_LL128) {
		look.full_bytes = ft_nccl_step_of_lines(sum);
	} else if (sum->offered_most == FT_NCCL_SLICE_OFFERED && !sum->offers_differ &&
		   part->length % 2 == 0) {
		look.slices = 2;
		look.full_bytes = FT_NCCL_CHUNK;
	}
	return look;
}

/* False: some message of it was not seen, or not how long it is. */
static bool chunk_bytes(const struct ft_nccl_chunks *look, uint32_t member, size_t chunk,
			uint64_t *bytes)
{
	const struct ft_nccl_track *track = look->part->ring->tracks[member];

	*bytes = 0;
	for (size_t i = chunk * look->slices; i < (chunk + 1) * look->slices; i++) {
		if (!ft_nccl_chunks_have(look, member, i) ||
		    !ft_nccl_message_is_sized(track, ft_nccl_chunks_message(look, member, i)))
			return false;
		*bytes += ft_nccl_message_bytes(ft_nccl_chunks_message(look, member, i));
	}
	return true;
}

/*
 * Full chunks first, then those of the last loop; false if full ones follow others. Between the last one that is known to
 * be full and the first one that is not there may be some that were not seen: the tail has *least to *most chunks.
 */
static bool tail_of(const struct ft_nccl_chunks *look, uint32_t member, size_t *least, size_t *most)
{
	const size_t chunks = look->part->length / look->slices;
	size_t full = 0, other = chunks; /* behind the last full one; the first other one */
	uint64_t bytes;

	for (size_t i = 0; i < chunks; i++) {
		if (!chunk_bytes(look, member, i, &bytes))
			continue;
		if (bytes > look->full_bytes || (bytes == look->full_bytes && other < chunks))
			return false;
		if (bytes == look->full_bytes)
			full = i + 1;
		else if (other == chunks)
			other = i;
	}
	*least = chunks - other;
	*most = chunks - full;
	return true;
}

bool ft_nccl_chunks_find_loops(struct ft_nccl_chunks *look)
{
	size_t least = 0, most = look->part->length, own_least, own_most;

	if (look->full_bytes == 0)
		return false;
	for (uint32_t i = 0; i < look->part->ring->ranks; i++) {
		if (!tail_of(look, i, &own_least, &own_most))
			return false;
		least = own_least > least ? own_least : least;
		most = own_most < most ? own_most : most;
	}
	look->tail = least;
	return least == most;
}

/* --- who waits for whom --- */

bool ft_nccl_chunks_follow(const struct ft_nccl_chunks *look, size_t count, size_t lag)
{
	const uint32_t members = look->part->ring->ranks;
	const size_t length = look->part->length;
	size_t pairs = 0, seen = 0;

	for (uint32_t i = 0; i < members; i++)
		for (size_t j = length - count + lag; j < length; j++) {
			const uint32_t before = (i + members - 1) % members;

			pairs++;
			if (!ft_nccl_chunks_have(look, i, j) ||
			    !ft_nccl_chunks_have(look, before, j - lag))
				continue;
			if (ft_nccl_chunks_message(look, i, j)->first_frame <=
			    ft_nccl_chunks_message(look, before, j - lag)->last_frame)
				return false;
			seen++;
		}
	return pairs == 0 || 2 * seen > pairs;
}

bool ft_nccl_chunks_tail_follows(const struct ft_nccl_chunks *look)
{
	struct ft_nccl_doubt *doubt = look->part->ring->doubt;

	if (ft_nccl_chunks_follow(look, look->tail * look->slices, look->hops * look->slices))
		return true;
	if (doubt != NULL && look->part->undivided)
		*(look->hops > 1 ? &doubt->of_several : &doubt->of_one) += 1;
	return false;
}

bool ft_nccl_chunks_are_sent_on(const struct ft_nccl_chunks *look)
{
	const struct ft_nccl_circle *ring = look->part->ring;
	const size_t lag = look->hops * look->slices, length = look->part->length;

	for (uint32_t i = 0; i < ring->ranks; i++) {
		const uint32_t before = (i + ring->ranks - 1) % ring->ranks;

		for (size_t j = length - look->tail * look->slices + lag; j < length; j++)
			if (ft_nccl_chunks_have(look, i, j) &&
			    ft_nccl_chunks_have(look, before, j - lag) &&
			    ft_nccl_message_is_sized(ring->tracks[i],
						     ft_nccl_chunks_message(look, i, j)) &&
			    ft_nccl_message_is_sized(
				    ring->tracks[before],
				    ft_nccl_chunks_message(look, before, j - lag)) &&
			    ft_nccl_message_bytes(ft_nccl_chunks_message(look, i, j)) !=
				    ft_nccl_message_bytes(
					    ft_nccl_chunks_message(look, before, j - lag)))
				return false;
	}
	return true;
}

bool ft_nccl_chunks_begin_at_once(const struct ft_nccl_chunks *look)
{
	const struct ft_nccl_message *one = ft_nccl_chunks_message(look, 0, 0);
	const struct ft_nccl_message *other = ft_nccl_chunks_message(look, 1, 0);

	return ft_nccl_chunks_have(look, 0, 0) && ft_nccl_chunks_have(look, 1, 0) &&
	       one->first_frame < other->last_frame && other->first_frame < one->last_frame;
}

bool ft_nccl_chunks_are_answered(const struct ft_nccl_chunks *look)
{
	bool first = true, second = true; /* comes after the other */

	for (size_t i = 0; i < look->part->length; i++) {
		const struct ft_nccl_message *one = ft_nccl_chunks_message(look, 0, i);
		const struct ft_nccl_message *other = ft_nccl_chunks_message(look, 1, i);

		if (!ft_nccl_chunks_have(look, 0, i) || !ft_nccl_chunks_have(look, 1, i))
			continue;
		first &= one->first_frame > other->last_frame;
		second &= other->first_frame > one->last_frame;
	}
	return first || second;
}
