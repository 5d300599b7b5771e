#include "faults_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "asked.h"
#include "split.h"

/* Immediates that must have been right before one is wrong. */
enum { SURE_OF_CONTENT = 3 };

/* So many that were right leave no doubt that it will not be known what those before were. */
enum { LONG_KNOWN = 32 };

/* Messages next to each other until a queue pair is believed to be alone; and if it had all of one that is shared else. */
enum { IN_A_ROW = 8, IN_A_ROW_WHOLE = 2 };

bool ft_nccl_is_alone(const struct ft_nccl_followed *followed)
{
	return followed->model.is_set_up ||
	       followed->in_a_row >= (ft_nccl_had_all(followed) ? IN_A_ROW_WHOLE : IN_A_ROW);
}

/* Queue pairs that were not seen yet may have the rest. */
static bool is_longer(const struct ft_nccl_followed *followed, uint32_t immdt, uint64_t written)
{
	return ((followed->orders & 1u << FT_NCCL_LITTLE) != 0 &&
		ft_nccl_immediate(immdt, FT_NCCL_LITTLE) > written) ||
	       ((followed->orders & 1u << FT_NCCL_BIG) != 0 &&
		ft_nccl_immediate(immdt, FT_NCCL_BIG) > written);
}

static void say(struct ft_nccl_found *found, uint8_t orders, uint64_t written)
{
	snprintf(found->text, sizeof found->text,
		 orders != 0 ? "the immediate gives the length of %" PRIu64
			       " bytes in the other byte order"
			     : "the immediate is not the length of %" PRIu64 " bytes",
		 written);
}

static void tell_immediate(struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer,
			   const struct ft_nccl_share *share)
{
	struct ft_nccl_found found =
		ft_nccl_found_in(moment->followed, moment->seen, FT_NCCL_CONTRADICTION, 0.9);
	uint8_t orders = ft_nccl_immediate_orders(share->immdt, (uint32_t)transfer->written);

	if ((orders & moment->followed->orders) != 0 ||
	    (moment->followed->unsure &&
	     is_longer(moment->followed, share->immdt, transfer->written)))
		return;
	found.frame = share->imm_frame;
	found.has_k = true;
	found.k = transfer->message.k;
	say(&found, orders, transfer->written);
	ft_nccl_tell_of_data(moment->connections, &found);
}

/* Immediates are lengths, and no queue pair that is not known has data. */
static bool knows_lengths(const struct ft_nccl_followed *followed)
{
	return followed->model.imm_content == FT_NCCL_IMM_LENGTH && followed->by_id == 0 &&
	       followed->by_length >= SURE_OF_CONTENT && ft_nccl_is_alone(followed);
}

/* .. nor a part of what these have. */
static bool knows_all(const struct ft_nccl_followed *followed)
{
	return ft_nccl_split_is_known(followed) && knows_lengths(followed);
}

/* Of several queue pairs one that a hole came on may have been taken for being elsewhere. */
static bool is_counted(const struct ft_nccl_followed *followed, const struct ft_nccl_share *shares)
{
	bool counted = true;

	for (uint8_t i = 0; followed->ways != 0 && i < followed->lane_count; i++)
		counted = counted && (!shares[i].used || shares[i].counted);
	return counted;
}

/* Queue pairs end the message differently: one of these ends was forged, and which is not known by what there was of it. */
static bool disagree(const struct ft_nccl_followed *followed,
		     const struct ft_nccl_transfer *transfer, const struct ft_nccl_share *shares)
{
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		if (shares[i].used && shares[i].immdt != transfer->immdt)
			return true;
	}
	return false;
}

bool ft_nccl_ends_oddly(const struct ft_nccl_followed *followed,
			const struct ft_nccl_transfer *transfer)
{
	return followed->lane_count == 1 && transfer->has_cts && transfer->message.has_imm &&
	       transfer->message.request_count == 1 &&
	       followed->model.imm_content != FT_NCCL_IMM_ID &&
	       transfer->immdt != (uint32_t)transfer->message.k &&
	       (ft_nccl_immediate_orders(transfer->immdt, (uint32_t)transfer->written) &
		followed->orders) == 0;
}

/* It is not known yet what immediates are. */
static void remember(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_request *request = ft_nccl_ring_requests(&followed->ring, transfer);

	if (!ft_nccl_ends_oddly(followed, transfer) || followed->by_id != 0 ||
	    followed->first_end_count == FT_NCCL_FIRST_ENDS)
		return;
	followed->first_ends[followed->first_end_count++] = (struct ft_nccl_first_end){
		.k = transfer->message.k,
		.frame = moment->seen->frame,
		.ts_ns = moment->seen->ts_ns,
		.written = transfer->written,
		.offered = request->has_offered ? request->offered : UINT64_MAX,
		.immdt = transfer->immdt,
	};
	ft_nccl_hold(moment->connections, moment->seen->frame);
}

/* A queue pair that was never met may have had the rest. */
static bool may_have_rest(const struct ft_nccl_followed *followed,
			  const struct ft_nccl_first_end *end)
{
	uint32_t length;

	return !followed->model.is_set_up && !ft_nccl_had_all(followed) &&
	       ft_nccl_tells_length(followed, end->immdt, &length) && length > end->written &&
	       length <= end->offered;
}

static void tell_first_end(const struct ft_nccl_moment *moment, const struct ft_nccl_first_end *end)
{
	const struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_found found =
		ft_nccl_found_in(followed, moment->seen, FT_NCCL_CONTRADICTION, 0.85);
	uint8_t orders = ft_nccl_immediate_orders(end->immdt, (uint32_t)end->written);

	if ((orders & followed->orders) != 0 || may_have_rest(followed, end))
		return;
	found.frame = end->frame;
	found.ts_ns = end->ts_ns;
	ft_nccl_found_set_k(&found, end->k);
	say(&found, orders, end->written);
	ft_nccl_tell_of_data(moment->connections, &found);
}

void ft_nccl_fault_first_ends(const struct ft_nccl_moment *moment)
{
	struct ft_nccl_followed *followed = moment->followed;
	const bool is_known =
		knows_all(followed) && followed->model.imm_order != FT_NCCL_ORDER_UNKNOWN;

	for (uint8_t i = 0; is_known && i < followed->first_end_count; i++)
		tell_first_end(moment, &followed->first_ends[i]);
	if (is_known || followed->by_id != 0 || followed->lane_count > 1 ||
	    followed->by_length > LONG_KNOWN)
		followed->first_end_count = 0;
}

void ft_nccl_fault_immediate(struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_share *shares = ft_nccl_ring_shares(&followed->ring, transfer);

	if (!ft_nccl_is_calm(followed) || moment->turn == FT_NCCL_AHEAD ||
	    !is_counted(followed, shares) || disagree(followed, transfer, shares))
		return;
	if (!knows_all(followed)) {
		remember(moment, transfer);
		return;
	}
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		if (shares[i].used)
			tell_immediate(moment, transfer, &shares[i]);
	}
}

/* The end before this one was none: this is the message's own. */
static bool is_true_end(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;
	const struct ft_nccl_transfer *before = ft_nccl_ring_find(ring, moment->lane->at);
	const struct ft_nccl_share *share;

	if (before == NULL)
		return false;
	share = ft_nccl_ring_shares(ring, before) + moment->lane_index;
	return share->ended && share->immdt != moment->seen->immdt &&
	       ft_nccl_ended_early(before, share);
}

/* Ends come in empty writes here, and the one before this did not, and ended what nobody had asked for. False: no. */
static bool tell_second(const struct ft_nccl_moment *moment, const struct ft_nccl_found *found)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_transfer *before =
		ft_nccl_ring_find(&followed->ring, moment->lane->at);
	struct ft_nccl_found either = *found;
	const struct ft_nccl_share *share;

	if (before == NULL || before->has_cts || before->bare ||
	    followed->model.adaptive == FT_NCCL_NO)
		return false;
	share = ft_nccl_ring_shares(&followed->ring, before) + moment->lane_index;
	if (!share->ended || !share->begun)
		return false;
	either.certainty = FT_NCCL_CERTAINTY_OF_BOTH;
	snprintf(either.text, sizeof either.text,
		 "what frame %" PRIu64 " begins had ended, and frame %" PRIu64
		 " ends it once more: one of the two is forged",
		 share->first.frame, moment->seen->frame);
	ft_nccl_tell_either(moment->connections, &either, &share->first);
	return true;
}

bool ft_nccl_fault_end(struct ft_nccl_moment *moment)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_lane *lane = moment->lane;
	struct ft_nccl_found found =
		ft_nccl_found_in(followed, moment->seen, FT_NCCL_CONTRADICTION, 0.9);

	if (moment->turn != FT_NCCL_NEXT || lane->open || lane->orphans != 0 ||
	    lane->ended_to != moment->seen->psn || followed->failing ||
	    (!ft_nccl_is_bare_end(moment->seen) && !knows_lengths(followed)))
		return false;
	if (is_true_end(moment) || tell_second(moment, &found))
		return true;
	snprintf(found.text, sizeof found.text,
		 "an empty write with the immediate 0x%08" PRIx32
		 " ends a message of which nothing was written",
		 moment->seen->immdt);
	ft_nccl_tell_of_data(moment->connections, &found);
	return true;
}
