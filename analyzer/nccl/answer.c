#include "answer.h"

#include <decode/packet.h>

#include "answer_search.h"
#include "failover.h"
#include "numbered.h"
#include "order.h"
#include "sizes.h"
#include "split.h"
#include "turns.h"
#include "whose_end.h"

/* A number that no clear-to-send has while the message is under way. */
enum { BEYOND_ASKED = FT_NCCL_ASKED_AHEAD + 1 };

/* The message under way on the lane, if it lacks its immediate. */
static struct ft_nccl_transfer *open_of(const struct ft_nccl_moment *moment)
{
	if (!moment->lane->open)
		return NULL;
	return ft_nccl_ring_find(&moment->followed->ring, moment->lane->at);
}

/* Requests that cannot be read are told apart by their order alone: not behind a hole. */
static bool is_uncounted(const struct ft_nccl_moment *moment,
			 const struct ft_nccl_transfer *transfer)
{
	return moment->followed->blind && transfer->message.request_count > 1 && !moment->is_behind;
}

/* The write with immediate that follows goes to where the message does: as asked for, or as it began on its one queue pair. */
static bool is_at_start(const struct ft_nccl_moment *moment,
			const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;
	const struct ft_nccl_request *request = ft_nccl_ring_requests(ring, transfer);
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(ring, transfer) + moment->lane_index;

	if (request->va == 0)
		return true;
	if (request->by_data && (moment->followed->lane_count > 1 || !share->begun))
		return true;
	return moment->seen->va == request->va;
}

/*
 * Each queue pair has a part of each of several requests, in their order: where no hole came before it, an empty one is the next
 * request's, though it lies behind all that the queue pairs met so far may have.
 */
static bool is_next_part(const struct ft_nccl_moment *moment,
			 const struct ft_nccl_transfer *transfer, uint8_t request)
{
	const struct ft_nccl_followed *followed = moment->followed;

	return moment->is_behind && transfer->message.request_count > 1 &&
	       request < transfer->message.request_count &&
	       ft_nccl_is_empty_part(followed,
				     ft_nccl_ring_requests(&followed->ring, transfer) + request,
				     moment->seen);
}

/* Requests are written to in their order, once per lane; a zero-length write with immediate may follow to the same address. */
static bool goes_on(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer,
		    uint8_t *request)
{
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;
	const struct ft_nccl_seen *seen = moment->seen;

	uint8_t from = 0;

	if (is_uncounted(moment, transfer))
		return false;
	while (share->requests >> from != 0)
		from++;
	if (is_next_part(moment, transfer, from)) {
		*request = from;
		return true;
	}
	if (ft_nccl_answers_from(moment->followed, transfer, seen, from, request))
		return true;
	if (!ft_nccl_answers(moment->followed, transfer, seen, request))
		return false;
	return seen->opcode == 0x0b && seen->length == 0 && transfer->message.request_count == 1 &&
	       is_at_start(moment, transfer);
}

/* Where messages are counted, one may pass before its clear-to-send, which is known by now: it begins with its first request. */
static bool is_counted(const struct ft_nccl_moment *moment, uint64_t k, bool any_write)
{
	const struct ft_nccl_followed *followed = moment->followed;

	return followed->numbered &&
	       (any_write ||
		ft_nccl_may_begin(followed, ft_nccl_ring_find(&followed->ring, k), moment->seen));
}

/* Where nothing tells which message data is of, it is of none of those that were asked for. */
static struct ft_nccl_answer uncounted(const struct ft_nccl_followed *followed)
{
	return (struct ft_nccl_answer){ .kind = FT_NCCL_ANSWER_DATA,
					.k = followed->newest + BEYOND_ASKED };
}

/* What waits for its data is remembered, and no more messages are asked for by then; but those that are counted come. */
static bool is_long_over(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_followed *followed = moment->followed;
	uint64_t next = moment->lane->next;

	return !followed->numbered && followed->has_newest &&
	       next + FT_NCCL_RING_LEAST <= followed->newest &&
	       ft_nccl_ring_find(&followed->ring, next) == NULL;
}

/*
 * The next message in turn that the write can be of. Where lanes take turns in a known order and no hole came between it
 * can be of no other.
 */
static struct ft_nccl_answer next_in_turn(const struct ft_nccl_moment *moment, bool any_write)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_lane *lane = moment->lane;
	bool exact = lane->exact && moment->is_behind && !is_long_over(moment) &&
		     (lane->data.known || lane->anchored || moment->seen->psn == 0);
	struct ft_nccl_answer answer = { .kind = FT_NCCL_ANSWER_DATA,
					 .k = lane->next,
					 .sure = true };
	enum ft_nccl_fit fit;

	if (!ft_nccl_may_be_read(followed) && (!exact || !followed->numbered))
		return uncounted(followed);
	if (!exact || (!ft_nccl_split_is_known(followed) && !followed->numbered))
		return ft_nccl_answer_search(moment, any_write, exact);
	while ((fit = ft_nccl_fit_of(moment, answer.k, any_write, &answer.request)) ==
	       FT_NCCL_NOT_HERE)
		answer.k++;
	if (fit == FT_NCCL_NOT_YET && !is_counted(moment, answer.k, any_write))
		return ft_nccl_answer_search(moment, any_write, exact);
	if (fit == FT_NCCL_NO_CTS && ft_nccl_has_unmet_devices(followed)) {
		const struct ft_nccl_answer other = ft_nccl_answer_search(moment, any_write, exact);

		if (other.searched) /* queue pairs of those have the messages between */
			return other;
	}
	if (fit == FT_NCCL_NO_FIT && !ft_nccl_split_is_known(followed)) {
		ft_nccl_order_miscounted(moment->followed); /* it takes turns with others */
		return ft_nccl_answer_search(moment, any_write, exact);
	}
	if (fit == FT_NCCL_NO_FIT)
		answer.kind = FT_NCCL_ANSWER_NONE;
	return answer;
}

static struct ft_nccl_answer sizes_answer(struct ft_nccl_moment *moment, uint32_t slot)
{
	const struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_answer answer = { .kind = FT_NCCL_ANSWER_SIZES, .sure = true };
	uint32_t slots = followed->model.fifo.slots != 0 ? followed->model.fifo.slots : 256;
	uint64_t from;

	if (followed->failing) {
		answer.k =
			moment->lane->open ? moment->lane->at : ft_nccl_failover_answer(moment).k;
		answer.sure = false;
		return answer;
	}
	ft_nccl_turns_end_at(moment, slot, slots);
	from = moment->lane->open ? moment->lane->at : moment->lane->next;
	answer.k = from + (slot + slots - from % slots) % slots;
	if (answer.k > from + slots / 2 && answer.k >= slots)
		answer.k -= slots;
	return answer;
}

/* Nothing is written, but the immediate says that there was something. Split, others may have written it. */
static bool is_end(const struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	return ft_nccl_is_bare_end(seen) ||
	       (followed->lane_count == 1 && seen->opcode == 0x0b &&
		(seen->has & FT_HAS_RETH) != 0 && seen->length == 0 && seen->immdt != 0 &&
		followed->model.imm_content != FT_NCCL_IMM_ID);
}

static bool has_cts(const struct ft_nccl_followed *followed, uint64_t k)
{
	const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&followed->ring, k);

	return transfer != NULL && transfer->has_cts;
}

/* A write begins within another one: the transport resumes it, or it is somebody else's. */
static bool is_within_write(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_lane *lane = moment->lane;

	return lane->open && lane->writing && moment->turn == FT_NCCL_NEXT &&
	       ft_psn_distance(lane->write_end, moment->seen->psn) >= 0;
}

/* The next message on the lane, by the ways left in which lanes may take turns. */
static struct ft_nccl_answer by_turns(struct ft_nccl_moment *moment, bool any_write)
{
	struct ft_nccl_turn_fit fit = ft_nccl_turns_fit(moment, any_write);

	return (struct ft_nccl_answer){
		.kind = fit.fits || fit.unasked ? FT_NCCL_ANSWER_DATA : FT_NCCL_ANSWER_NONE,
		.k = fit.k,
		.sure = !fit.undecided,
		.undecided = fit.undecided,
	};
}

/* A packet in the middle of the write that is under way. */
static struct ft_nccl_answer within(const struct ft_nccl_moment *moment,
				    const struct ft_nccl_transfer *open)
{
	struct ft_nccl_answer answer = { .k = open->message.k, .sure = true };
	bool fits = ft_nccl_answers(moment->followed, open, moment->seen, &answer.request);

	answer.kind = fits ? FT_NCCL_ANSWER_RESUMED : FT_NCCL_ANSWER_NONE;
	return answer;
}

static struct ft_nccl_answer sizes_behind(const struct ft_nccl_transfer *open)
{
	return (struct ft_nccl_answer){
		.kind = FT_NCCL_ANSWER_SIZES,
		.k = open->message.k,
		.sure = open->message.has_k,
	};
}

/* Another write of the message under way, or its end. False: it is none, and of *answer only the request was looked for. */
static bool continues(const struct ft_nccl_moment *moment, struct ft_nccl_transfer *open,
		      struct ft_nccl_answer *answer)
{
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, open) + moment->lane_index;
	bool bare = ft_nccl_is_bare_end(moment->seen);

	if (!bare && !goes_on(moment, open, &answer->request))
		return false;
	answer->k = open->message.k;
	answer->sure = open->message.has_k;
	if (bare)
		ft_nccl_doubt_end(moment, open, answer);
	else
		ft_nccl_doubt_write(moment, open, answer);
	if (bare || (share->requests & 1u << answer->request) != 0)
		answer->kind = FT_NCCL_ANSWER_END;
	return true;
}

/* Of requests that cannot be read it had as many as it was taken to have, but no immediate: it is another one. */
static bool is_miscounted(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *open)
{
	return open->adrift && ft_nccl_shows_nothing(moment->followed, open);
}

/*
 * What goes on where a message is under way that nobody was seen to ask for, or that its lane alone counts: not behind packets
 * that another message may have ended with.
 */
static bool may_be_more(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *open)
{
	return moment->lane->open && moment->turn == FT_NCCL_NEXT &&
	       (open == NULL || !ft_nccl_is_apart(moment, open)) &&
	       (open == NULL || !open->has_cts || ft_nccl_turns_count(moment) ||
		is_miscounted(moment, open));
}

static void tell_more(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *open,
		      struct ft_nccl_answer *answer)
{
	bool asked = open != NULL && open->has_cts;

	answer->k = moment->lane->at;
	answer->sure = open == NULL || open->message.has_k;
	answer->kind = ft_nccl_is_lone_sizes(moment) && !asked ? FT_NCCL_ANSWER_SIZES
							       : FT_NCCL_ANSWER_MORE;
}

/* It begins another message, or is all that is seen of one. */
static struct ft_nccl_answer next_message(struct ft_nccl_moment *moment)
{
	bool bare = ft_nccl_is_bare_end(moment->seen);
	struct ft_nccl_answer answer;

	if (moment->followed->failing)
		answer = ft_nccl_failover_answer(moment);
	else if (ft_nccl_number_of(moment, &answer.k, &answer.request))
		answer = (struct ft_nccl_answer){ .kind = FT_NCCL_ANSWER_DATA,
						  .k = answer.k,
						  .request = answer.request,
						  .sure = true };
	else if (ft_nccl_turns_count(moment))
		answer = by_turns(moment, bare);
	else
		answer = next_in_turn(moment, bare);
	if (ft_nccl_is_lone_sizes(moment) && !has_cts(moment->followed, answer.k))
		answer.kind = FT_NCCL_ANSWER_SIZES;
	if (is_end(moment->followed, moment->seen) && answer.kind == FT_NCCL_ANSWER_DATA)
		answer.kind = FT_NCCL_ANSWER_END;
	answer.begins = answer.kind == FT_NCCL_ANSWER_DATA;
	return answer;
}

struct ft_nccl_answer ft_nccl_answer_of(struct ft_nccl_moment *moment)
{
	struct ft_nccl_transfer *open = open_of(moment);
	struct ft_nccl_answer answer = { .kind = FT_NCCL_ANSWER_DATA, .sure = true };
	bool is_other_end = open != NULL && ft_nccl_is_another_end(moment, open);
	int64_t slot = ft_nccl_sizes_slot(moment->followed, moment->seen);

	if (open != NULL && is_within_write(moment))
		return within(moment, open);
	if (slot >= 0)
		return sizes_answer(moment, (uint32_t)slot);
	if (open != NULL && ft_nccl_is_sizes(moment, open))
		return sizes_behind(open);
	if (open != NULL && !is_other_end && continues(moment, open, &answer))
		return answer;
	if (is_other_end || !may_be_more(moment, open))
		return next_message(moment);
	tell_more(moment, open, &answer);
	return answer;
}
