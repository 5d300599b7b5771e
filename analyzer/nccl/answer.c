#include "answer.h"

#include <decode/packet.h>

#include "split.h"

bool ft_nccl_is_bare_end(const struct ft_nccl_seen *seen)
{
	return seen->opcode == 0x0b && (seen->has & FT_HAS_RETH) != 0 && seen->va == 0 &&
	       seen->rkey == 0 && seen->length == 0;
}

/* Nothing of the entry was captured, or it was encrypted. */
static bool is_blank(const struct ft_nccl_request *request)
{
	return request->va == 0 && !request->has_offered && request->rkey_count == 0;
}

static bool has_key(const struct ft_nccl_request *request, uint32_t rkey)
{
	for (uint8_t i = 0; i < request->rkey_count; i++) {
		if (request->rkeys[i] == rkey && rkey != 0)
			return true;
	}
	return request->rkey_count == 0;
}

/*
 * A zero-length write goes to the start; of a message split over queue pairs, those that nothing is left for may be given
 * an address that goes on by a part's size each, even behind the end.
 */
static bool fits_empty(const struct ft_nccl_followed *followed,
		       const struct ft_nccl_request *request, uint64_t offset)
{
	uint64_t offered = request->has_offered ? request->offered : 0;

	if (followed->lane_count == 1)
		return offset == 0;
	return offset <= offered + (uint64_t)followed->lane_count * FT_NCCL_PART_BYTES;
}

static bool fits(const struct ft_nccl_followed *followed, const struct ft_nccl_request *request,
		 const struct ft_nccl_seen *seen)
{
	uint64_t offset = seen->va - request->va;

	if ((seen->has & FT_HAS_RETH) == 0 || is_blank(request))
		return true;
	if (!has_key(request, seen->rkey) || seen->va < request->va)
		return false;
	if (seen->length == 0)
		return fits_empty(followed, request, offset);
	return offset + seen->length <= (request->has_offered ? request->offered : UINT32_MAX);
}

/* One of the requests from number `from` on. */
static bool answers_from(const struct ft_nccl_followed *followed,
			 const struct ft_nccl_transfer *transfer, const struct ft_nccl_seen *seen,
			 uint8_t from, uint8_t *request)
{
	const struct ft_nccl_request *requests = ft_nccl_ring_requests(&followed->ring, transfer);

	for (uint8_t i = from; i < transfer->message.request_count; i++) {
		if (fits(followed, &requests[i], seen)) {
			*request = i;
			return true;
		}
	}
	return false;
}

bool ft_nccl_answers(const struct ft_nccl_followed *followed,
		     const struct ft_nccl_transfer *transfer, const struct ft_nccl_seen *seen,
		     uint8_t *request)
{
	return answers_from(followed, transfer, seen, 0, request);
}

/* The slot of the sizes array that is written to; -1: it is no write to it. */
static int64_t sizes_slot(const struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_target *sizes = &followed->model.sizes;
	uint64_t offset = seen->va - sizes->addr;

	if (seen->opcode != 0x0b || !sizes->is_known || (seen->has & FT_HAS_RETH) == 0 ||
	    seen->va < sizes->addr || offset % sizes->slot_bytes != 0 ||
	    offset / sizes->slot_bytes >= 256)
		return -1;
	return (int64_t)(offset / sizes->slot_bytes);
}

/* The message under way on the lane, if it lacks its immediate. */
static struct ft_nccl_transfer *open_of(const struct ft_nccl_moment *moment)
{
	if (!moment->lane->open)
		return NULL;
	return ft_nccl_ring_find(&moment->followed->ring, moment->lane->at);
}

/* Requests are written to in their order, once per lane; a zero-length write with immediate may follow to the same address. */
static bool goes_on(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer,
		    uint8_t *request)
{
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;
	const struct ft_nccl_seen *seen = moment->seen;

	uint8_t from = 0;

	while (share->requests >> from != 0)
		from++;
	if (answers_from(moment->followed, transfer, seen, from, request))
		return true;
	if (!ft_nccl_answers(moment->followed, transfer, seen, request))
		return false;
	return seen->opcode == 0x0b && seen->length == 0 && transfer->message.request_count == 1;
}

/* What the message in turn has to do with a write. */
enum fit { FIT, NO_CTS, NOT_YET, NO_FIT, NOT_HERE };

static enum fit fit_of(const struct ft_nccl_moment *moment, uint64_t k, bool any_write,
		       uint8_t *request)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&followed->ring, k);

	if (!ft_nccl_split_uses(followed, moment->lane_index, k))
		return NOT_HERE;
	if (transfer == NULL || !transfer->has_cts)
		return NO_CTS;
	if (transfer->message.cts_frame > moment->seen->frame)
		return NOT_YET; /* packets that were kept come behind it */
	if (ft_nccl_split_is_done(followed, transfer, moment->lane_index, moment->seen))
		return NOT_HERE;
	if (any_write || ft_nccl_answers(followed, transfer, moment->seen, request))
		return FIT;
	return NO_FIT;
}

/* After a hole: a message behind k fits, too, or may. */
static bool is_doubtful(const struct ft_nccl_moment *moment, uint64_t k)
{
	const struct ft_nccl_followed *followed = moment->followed;
	uint8_t request;

	for (uint64_t other = k + 1;
	     followed->has_newest && other <= followed->newest && other - k < FT_NCCL_RING_MOST;
	     other++) {
		enum fit fit = fit_of(moment, other, false, &request);

		if (fit == FIT || fit == NO_CTS)
			return true;
	}
	return false;
}

/*
 * The next message in turn that the write can be of. Where lanes take turns in a known order and no hole came between it
 * can be of no other; else of any whose clear-to-send fits, or of one whose clear-to-send was missed.
 */
static struct ft_nccl_answer next_in_turn(const struct ft_nccl_moment *moment, bool any_write)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_lane *lane = moment->lane;
	bool exact = lane->exact && moment->turn == FT_NCCL_NEXT &&
		     (lane->data.known || lane->anchored || moment->seen->psn == 0);
	bool strict = exact && ft_nccl_split_is_known(followed);
	struct ft_nccl_answer answer = { .kind = FT_NCCL_ANSWER_DATA, .k = lane->next };
	uint64_t missed = UINT64_MAX;
	bool is_early = false;

	for (; followed->has_newest && answer.k <= followed->newest &&
	       answer.k - lane->next < FT_NCCL_RING_MOST;
	     answer.k++) {
		enum fit fit = fit_of(moment, answer.k, any_write, &answer.request);

		answer.sure = strict || (fit == FIT && !any_write);
		if (fit == NO_CTS && exact && followed->lane_count == 1 &&
		    answer.k < followed->oldest)
			answer.sure = true; /* asked for before the capture began */
		if (fit == FIT || (fit == NO_CTS && answer.sure)) {
			answer.doubtful = !exact && is_doubtful(moment, answer.k);
			return answer;
		}
		if (fit == NO_FIT && strict) {
			answer.kind = FT_NCCL_ANSWER_NONE;
			return answer;
		}
		if (fit == NO_CTS && missed == UINT64_MAX)
			missed = answer.k;
		is_early = is_early || fit == NOT_YET;
	}
	answer.sure = strict && !is_early;
	answer.odd = missed == UINT64_MAX && !answer.sure && (!exact || answer.k > lane->next);
	if (missed != UINT64_MAX)
		answer.k = missed;
	return answer;
}

static struct ft_nccl_answer sizes_answer(const struct ft_nccl_moment *moment, uint32_t slot)
{
	const struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_answer answer = { .kind = FT_NCCL_ANSWER_SIZES, .sure = true };
	uint64_t from = moment->lane->open ? moment->lane->at : moment->lane->next;
	uint32_t slots = followed->model.fifo.slots != 0 ? followed->model.fifo.slots : 256;

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

/* The end of a message of several requests, to an array of sizes that no set-up told of. */
static bool is_sizes(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *open)
{
	const struct ft_nccl_seen *seen = moment->seen;
	const struct ft_nccl_request *first;

	if (open == NULL || moment->followed->model.sizes.is_known || seen->opcode != 0x0b ||
	    (seen->has & FT_HAS_RETH) == 0 || open->message.request_count < 2 ||
	    seen->length != 4u * open->message.request_count)
		return false;
	first = ft_nccl_ring_requests(&moment->followed->ring, open);
	return first->rkey_count != 0 && !has_key(first, seen->rkey);
}

/* A write begins within another one: the transport resumes it, or it is somebody else's. */
static bool is_within_write(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_lane *lane = moment->lane;

	return lane->open && lane->writing && moment->turn == FT_NCCL_NEXT &&
	       ft_nccl_psn_distance(lane->write_end, moment->seen->psn) >= 0;
}

struct ft_nccl_answer ft_nccl_answer_of(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_transfer *open = open_of(moment);
	struct ft_nccl_answer answer = { .kind = FT_NCCL_ANSWER_DATA, .sure = true };
	bool bare = ft_nccl_is_bare_end(seen);
	int64_t slot = sizes_slot(moment->followed, seen);

	if (open != NULL && is_within_write(moment)) {
		answer.k = open->message.k;
		answer.kind = ft_nccl_answers(moment->followed, open, seen, &answer.request)
				      ? FT_NCCL_ANSWER_RESUMED
				      : FT_NCCL_ANSWER_NONE;
		return answer;
	}
	if (slot >= 0)
		return sizes_answer(moment, (uint32_t)slot);
	if (is_sizes(moment, open)) {
		answer.kind = FT_NCCL_ANSWER_SIZES;
		answer.k = open->message.k;
		answer.sure = open->message.has_k;
		return answer;
	}
	if (open != NULL && (bare || goes_on(moment, open, &answer.request))) {
		const struct ft_nccl_share *share =
			ft_nccl_ring_shares(&moment->followed->ring, open) + moment->lane_index;

		answer.k = open->message.k;
		answer.sure = open->message.has_k;
		if (bare || (share->requests & 1u << answer.request) != 0)
			answer.kind = FT_NCCL_ANSWER_END;
		return answer;
	}
	answer = next_in_turn(moment, bare);
	if (is_end(moment->followed, seen) && answer.kind == FT_NCCL_ANSWER_DATA)
		answer.kind = FT_NCCL_ANSWER_END;
	return answer;
}
