#include "operation_pat_look.h"

#include "group_pat.h"

/* Whether messages came in the order in which an operation by PAT has them. */

enum { STEPS = 8 }; /* buffers of a connection */

/*
 * Of the blocks that come over the connection for bit `from` so many go on over that for bit `to`, as they are or in sums. Of
 * three ranks none does; but then a rank sends to one of the others only after the other one's data came.
 */
static size_t needed(const struct ft_nccl_pat_look *look, uint32_t to, uint32_t from)
{
	if (look->ranks == 3)
		return to < from ? 1 : 0;
	if (look->gathers)
		return to < from ? ft_nccl_pat_odd(from, look->ranks - 1 - (UINT32_C(1) << to)) : 0;
	return from < to ? ft_nccl_pat_odd(to, look->ranks - 1 - (UINT32_C(1) << from)) : 0;
}

/* Which message of a loop has so many blocks, with those before it. Which of them are there nobody knows of padded ones. */
static size_t message_of(const struct ft_nccl_pat_look *look, uint32_t dimension, size_t blocks)
{
	uint64_t sum = 0;
	size_t i = 0;

	if (look->loops > 1)
		return blocks - 1;
	while (!look->padded && (sum += ft_nccl_pat_bytes(look, dimension, 0, i)) <
					blocks * ft_nccl_pat_unit(look, 0))
		i++;
	return i;
}

static const struct ft_nccl_message *received(const struct ft_nccl_pat_look *look,
					      uint32_t dimension, uint32_t rank, size_t i)
{
	const uint32_t distance = ft_nccl_pat_distance(look->gathers, dimension, look->ranks);

	return ft_nccl_pat_message(look, dimension, (rank + look->ranks - distance) % look->ranks,
				   i);
}

/* When all has come in all dimensions but one. */
static uint64_t end_of_others(const struct ft_nccl_pat_look *look, uint32_t dimension,
			      uint32_t rank)
{
	uint64_t latest = 0;

	for (uint32_t i = 0; i < look->dimensions; i++) {
		const uint64_t frame = received(look, i, rank, look->length[i] - 1)->last_frame;

		if (i != dimension && frame > latest)
			latest = frame;
	}
	return latest;
}

/*
 * A member asks for messages of all dimensions when it begins, before those of one of them have all come; and for as many as
 * there are buffers for one after the other, before those of all others have.
 */
static bool is_asked_at_once(const struct ft_nccl_pat_look *look, uint32_t rank)
{
	uint64_t asked = 0, came = UINT64_MAX;

	for (uint32_t i = 0; i < look->dimensions; i++) {
		const size_t length = look->length[i], ahead = length < STEPS ? length : STEPS;
		const struct ft_nccl_message *last = received(look, i, rank, length - 1);
		const uint64_t first = received(look, i, rank, 0)->cts_frame;

		if (received(look, i, rank, ahead - 1)->cts_frame >= end_of_others(look, i, rank))
			return false;
		asked = first > asked ? first : asked;
		came = last->last_frame < came ? last->last_frame : came;
	}
	return asked < came;
}

/* When a member sent the last message of a loop, it had what that takes. */
static bool has_come(const struct ft_nccl_pat_look *look, uint32_t rank, uint32_t to, uint32_t from)
{
	const size_t blocks = needed(look, to, from);
	const uint32_t distance = ft_nccl_pat_distance(look->gathers, from, look->ranks);
	const uint32_t sender = (rank + look->ranks - distance) % look->ranks;
	const size_t sent = look->length[to] / look->loops;
	const size_t came = look->length[from] / look->loops;

	if (blocks == 0)
		return true;
	for (size_t loop = 0; loop < look->loops; loop++) {
		const struct ft_nccl_message *last =
			ft_nccl_pat_message(look, to, rank, (loop + 1) * sent - 1);
		const struct ft_nccl_message *before = ft_nccl_pat_message(
			look, from, sender, loop * came + message_of(look, from, blocks));

		if (last->first_frame <= before->last_frame)
			return false;
	}
	return true;
}

bool ft_nccl_pat_follows(const struct ft_nccl_pat_look *look)
{
	for (uint32_t rank = 0; rank < look->ranks; rank++) {
		if (!is_asked_at_once(look, rank))
			return false;
		for (uint32_t to = 0; to < look->dimensions; to++)
			for (uint32_t from = 0; from < look->dimensions; from++)
				if (!has_come(look, rank, to, from))
					return false;
	}
	return true;
}

/* Where the messages of this operation end on a track. */
static size_t end_on(const struct ft_nccl_pat_look *look, size_t place, size_t at)
{
	for (uint32_t i = 0; i < look->dimensions; i++)
		if (look->place[i] == place)
			return look->pat->at[at] + look->length[i];
	return look->pat->at[at];
}

bool ft_nccl_pat_is_undisturbed(const struct ft_nccl_pat_look *look, size_t places)
{
	for (uint32_t rank = 0; rank < look->ranks; rank++) {
		uint64_t latest = 0;

		for (uint32_t i = 0; i < look->dimensions; i++) {
			const struct ft_nccl_message *last =
				ft_nccl_pat_message(look, i, rank, look->length[i] - 1);

			if (last->first_frame > latest)
				latest = last->first_frame;
		}
		for (size_t place = 0; place < places; place++) {
			const size_t at = place * look->ranks + rank;

			if (ft_nccl_track_next(look->pat->tracks[at], end_on(look, place, at)) <
			    latest)
				return false;
		}
	}
	return true;
}
