#include "answer_search.h"

#include "order.h"
#include "split.h"

/* No hole came before it on the queue pair, which begins each message with its first request. */
static bool is_first_write(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_lane *lane = moment->lane;

	return lane->exact && moment->is_behind && (lane->carried || moment->seen->psn == 0);
}

/* Whether the message was asked for by now, for this lane: FT_NCCL_FIT, or why not. */
static enum ft_nccl_fit is_asked(const struct ft_nccl_moment *moment, uint64_t k,
				 const struct ft_nccl_transfer *transfer)
{
	if (!ft_nccl_split_uses(moment->followed, moment->lane_index, k))
		return FT_NCCL_NOT_HERE;
	if (transfer == NULL || !transfer->has_cts)
		return FT_NCCL_NO_CTS;
	if (transfer->message.cts_frame > moment->seen->frame)
		return FT_NCCL_NOT_YET; /* packets that were kept come behind it */
	return FT_NCCL_FIT;
}

/* Whether the write goes to where it asked for data, or may. */
static enum ft_nccl_fit goes_there(const struct ft_nccl_moment *moment,
				   const struct ft_nccl_transfer *transfer, bool any_write,
				   uint8_t *request)
{
	const struct ft_nccl_followed *followed = moment->followed;

	if (any_write)
		return FT_NCCL_FIT;
	if (!ft_nccl_answers(followed, transfer, moment->seen, request) ||
	    (*request != 0 && is_first_write(moment)))
		return FT_NCCL_NO_FIT;
	return ft_nccl_is_shown(followed, transfer, *request) ? FT_NCCL_FIT : FT_NCCL_MAY_FIT;
}

static bool is_done(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer)
{
	return ft_nccl_split_is_done(moment->followed, transfer, moment->lane_index, moment->seen);
}

enum ft_nccl_fit ft_nccl_fit_of(const struct ft_nccl_moment *moment, uint64_t k, bool any_write,
				uint8_t *request)
{
	const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&moment->followed->ring, k);
	enum ft_nccl_fit fit = is_asked(moment, k, transfer);

	if (fit != FT_NCCL_FIT)
		return fit;
	return is_done(moment, transfer) ? FT_NCCL_NOT_HERE
					 : goes_there(moment, transfer, any_write, request);
}

/* Likewise, but where the write does not go there, nobody asks what lanes carried of it: FT_NCCL_NO_FIT, done or not. */
static enum ft_nccl_fit choosable(const struct ft_nccl_moment *moment, uint64_t k, bool any_write)
{
	const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(&moment->followed->ring, k);
	enum ft_nccl_fit fit = is_asked(moment, k, transfer);
	uint8_t request;

	if (fit != FT_NCCL_FIT)
		return fit;
	fit = goes_there(moment, transfer, any_write, &request);
	return fit != FT_NCCL_NO_FIT && is_done(moment, transfer) ? FT_NCCL_NOT_HERE : fit;
}

/* Messages from the lane's next one on that a write may be of, bits 1 << (k - next). */
struct choice {
	uint64_t fits, may_fit;
	bool is_shown; /* what one of those asks for that fit: it was not cut off */
	/* nobody was seen to ask for them: if the buffer recurs they may be meant */
	uint64_t unseen;
	/* the first one of those before the newest that was asked for; UINT64_MAX: none */
	uint64_t missed;
};

static bool is_read(const struct ft_nccl_followed *followed, uint64_t k)
{
	return !ft_nccl_shows_nothing(followed, ft_nccl_ring_find(&followed->ring, k));
}

static struct choice choice_of(const struct ft_nccl_moment *moment, uint64_t last, bool any_write)
{
	const uint64_t next = moment->lane->next;
	struct choice choice = { .missed = UINT64_MAX };

	for (uint64_t k = next; k <= last && k - next < FT_NCCL_RING_MOST; k++) {
		enum ft_nccl_fit fit = choosable(moment, k, any_write);

		if (fit == FT_NCCL_FIT && !ft_nccl_order_refutes(moment, k)) {
			choice.fits |= UINT64_C(1) << (k - next);
			choice.is_shown |= is_read(moment->followed, k);
		} else if (fit == FT_NCCL_MAY_FIT && !ft_nccl_order_refutes(moment, k))
			choice.may_fit |= UINT64_C(1) << (k - next);
		else if (fit == FT_NCCL_NO_CTS && !ft_nccl_order_refutes(moment, k))
			choice.unseen |= UINT64_C(1) << (k - next);
		if (fit == FT_NCCL_NO_CTS && choice.missed == UINT64_MAX &&
		    k <= moment->followed->newest)
			choice.missed = k;
	}
	if (choice.fits == 0)
		choice.fits = choice.may_fit;
	return choice;
}

/* Bits of messages that are as many apart from the chosen one as the buffer takes to recur. */
static uint64_t recurring(uint64_t chosen, uint64_t period)
{
	uint64_t bits = 0;

	for (uint64_t bit = chosen % period; bit < FT_NCCL_RING_MOST; bit += period)
		bits |= UINT64_C(1) << bit;
	return bits;
}

/* Bits of messages behind the chosen one that were asked for by now: a buffer is not offered anew before it was filled. */
static uint64_t beyond(const struct ft_nccl_moment *moment, uint64_t chosen)
{
	uint64_t newest = moment->followed->newest, next = moment->lane->next;
	uint64_t bits = chosen < 63 ? UINT64_MAX << (chosen + 1) : 0;

	if (newest < next)
		return 0;
	return newest - next < 63 ? bits & ((UINT64_C(2) << (newest - next)) - 1) : bits;
}

/* Bits of those that may have asked for the write, too, if nobody was seen to ask for them. */
static uint64_t may_be_meant(const struct ft_nccl_moment *moment, const struct choice *choice,
			     uint64_t chosen)
{
	uint64_t period;

	if (choice->unseen == 0 || !choice->is_shown)
		return UINT64_MAX;
	period = ft_nccl_ring_period(&moment->followed->ring);
	return period != 0 ? recurring(chosen, period) : beyond(moment, chosen);
}

static uint8_t lowest(uint64_t bits)
{
	return (uint8_t)__builtin_ctzll(bits);
}

static uint8_t highest(uint64_t bits)
{
	return (uint8_t)(63 - __builtin_clzll(bits));
}

/* An empty part may lie behind the end of the buffer, where the next one begins. */
static bool is_in_next_buffer(const struct ft_nccl_moment *moment, uint64_t k, uint8_t request)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;
	const struct ft_nccl_transfer *transfer = ft_nccl_ring_find(ring, k);
	uint64_t va = ft_nccl_ring_requests(ring, transfer)[request].va;

	return moment->seen->length == 0 && va != 0 && moment->seen->va != va &&
	       !ft_nccl_is_bare_end(moment->seen) &&
	       moment->seen->va - va >= ft_nccl_ring_spacing(ring);
}

/*
 * Of several that a write fits, the next one where no hole came between; else the last one, since a buffer is not offered
 * anew before it was filled. It is in doubt if another one fits, or may.
 */
static void choose(const struct ft_nccl_moment *moment, const struct choice *choice, bool exact,
		   struct ft_nccl_answer *answer)
{
	uint64_t next = moment->lane->next, bits = choice->fits;
	uint8_t chosen = exact ? lowest(bits) : highest(bits);

	bits |= choice->unseen & may_be_meant(moment, choice, chosen);
	ft_nccl_fit_of(moment, next + chosen, false, &answer->request);
	answer->k = next + chosen;
	answer->searched = true;
	answer->doubtful = (bits & (bits - 1)) != 0;
	answer->low = next + lowest(bits);
	answer->high = next + highest(bits);
	if (is_in_next_buffer(moment, answer->k, answer->request)) {
		answer->doubtful = true;
		answer->high += FT_NCCL_ASKED_AHEAD;
	}
}

/* Queue pairs that take turns in an order not known may be behind others. */
static uint64_t last_for(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_followed *followed = moment->followed;
	const struct ft_nccl_lane *lane = moment->lane;
	uint64_t last = ft_nccl_split_first(followed, moment->lane_index, lane->next) + lane->slack;

	if (ft_nccl_split_is_known(followed) && !moment->lane->exact)
		return last;
	return followed->has_newest && followed->newest > last ? followed->newest : last;
}

struct ft_nccl_answer ft_nccl_answer_search(const struct ft_nccl_moment *moment, bool any_write,
					    bool exact)
{
	const struct ft_nccl_followed *followed = moment->followed;
	struct ft_nccl_answer answer = { .kind = FT_NCCL_ANSWER_DATA, .k = moment->lane->next };
	struct choice choice = choice_of(moment, last_for(moment), any_write);

	if (choice.fits != 0) {
		choose(moment, &choice, exact, &answer);
		answer.sure = !any_write;
		return answer;
	}
	if (exact && followed->lane_count == 1 && answer.k < followed->oldest) {
		answer.sure = true; /* asked for before the capture began */
		return answer;
	}
	if (choice.missed != UINT64_MAX)
		answer.k = choice.missed;
	else if (followed->has_newest && followed->newest >= answer.k)
		answer.k = followed->newest + 1;
	answer.odd = choice.missed == UINT64_MAX && (!exact || answer.k > moment->lane->next);
	answer.k = ft_nccl_split_first(followed, moment->lane_index, answer.k);
	return answer;
}
