#include "whose_end.h"

#include "split.h"

/* Where nothing can be read, the connection was found by immediates that are lengths. */
static bool has_lengths(const struct ft_nccl_followed *followed)
{
	return followed->model.imm_content == FT_NCCL_IMM_LENGTH || followed->blind;
}

/* The immediate may be the length of the message under way, of which other queue pairs have parts, too. */
static bool may_be_length_of(const struct ft_nccl_transfer *open, uint32_t immdt)
{
	return open->message.has_imm ? immdt == open->immdt : immdt != 0 || open->written == 0;
}

static bool is_apart(const struct ft_nccl_moment *moment, const struct ft_nccl_share *share)
{
	return (moment->turn == FT_NCCL_AHEAD || moment->lane->orphans != 0) &&
	       moment->seen->psn != ft_psn_add(share->to, 1);
}

bool ft_nccl_is_apart(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *open)
{
	return is_apart(moment,
			ft_nccl_ring_shares(&moment->followed->ring, open) + moment->lane_index);
}

bool ft_nccl_is_another_end(const struct ft_nccl_moment *moment,
			    const struct ft_nccl_transfer *open)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_seen *seen = moment->seen;
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(&followed->ring, open) + moment->lane_index;

	if (!ft_nccl_has_immediate(seen->opcode) || seen->length != 0 ||
	    open->message.request_count != 1)
		return false;
	if (followed->lane_count == 1 || moment->lane->orphans != 0)
		return is_apart(moment, share);
	return moment->turn == FT_NCCL_AHEAD && has_lengths(followed) &&
	       !may_be_length_of(open, seen->immdt);
}

static void doubt(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *open,
		  struct ft_nccl_answer *answer)
{
	uint64_t newest = moment->followed->newest, k = open->message.k;

	answer->doubtful = true;
	answer->low = k;
	answer->high = newest > k ? newest : k + FT_NCCL_ASKED_AHEAD;
}

void ft_nccl_doubt_end(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *open,
		       struct ft_nccl_answer *answer)
{
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, open) + moment->lane_index;

	if (open->message.request_count > 1 && is_apart(moment, share))
		doubt(moment, open, answer);
}

/*
 * The rest of the message, its end, and as many writes of another one as come before the request that is written to now: so
 * many packets at least would be missing if it was that one's. Where the entry is not shown, that may be its first one.
 */
static uint32_t packets_to_another(const struct ft_nccl_followed *followed,
				   const struct ft_nccl_transfer *open,
				   const struct ft_nccl_share *share, uint8_t request)
{
	uint32_t written = (uint32_t)__builtin_popcount(share->requests);
	uint32_t before = ft_nccl_is_shown(followed, open, request) ? request : 0;

	return open->message.request_count - written + 1 + before;
}

/* Of the whole message: the writes that are not known of may have been missed before others that are. */
static uint32_t missing_before(const struct ft_nccl_moment *moment,
			       const struct ft_nccl_share *share)
{
	return ft_psn_since(moment->seen->psn, share->from) - share->packets;
}

void ft_nccl_doubt_write(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *open,
			 struct ft_nccl_answer *answer)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(&followed->ring, open) + moment->lane_index;

	if (!is_apart(moment, share))
		return;
	if (open->parted || (open->message.request_count > 1 &&
			     missing_before(moment, share) >=
				     packets_to_another(followed, open, share, answer->request)))
		doubt(moment, open, answer);
}
