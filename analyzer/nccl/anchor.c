#include "anchor.h"

#include <decode/packet.h>

#include "answer.h"

const struct ft_nccl_transfer *ft_nccl_asked_by(const struct ft_nccl_followed *followed,
						const struct ft_nccl_seen *seen,
						struct ft_nccl_anchor *anchor)
{
	const struct ft_nccl_ring *ring = &followed->ring;
	const struct ft_nccl_transfer *found = NULL;
	uint64_t first = UINT64_MAX;
	uint8_t request;

	for (uint64_t left = ring->begun; left != 0; left &= left - 1) {
		const struct ft_nccl_transfer *transfer = ft_nccl_ring_first(ring, left);

		if (!transfer->used || !transfer->has_cts ||
		    transfer->message.cts_frame > seen->frame ||
		    !ft_nccl_answers_shown(followed, transfer, seen, &request))
			continue;
		first = transfer->message.k < first ? transfer->message.k : first;
		if (found != NULL && transfer->message.k < found->message.k)
			continue;
		found = transfer;
		anchor->k = transfer->message.k;
		anchor->spread = anchor->k - first;
		anchor->at_start = ft_nccl_ring_requests(ring, transfer)[request].va == seen->va;
	}
	return found;
}

/* How far a log has been read. */
struct reading {
	struct ft_nccl_anchor anchor;
	bool is_begun; /* at the beginning of a message, or within one that was begun */
	struct ft_nccl_psns psns;
	uint64_t from;   /* frame of the first message without a hole since */
	uint64_t before; /* so many messages since then, before the first that is known */
	uint64_t step;  /* from one that is known to the next on the queue pair; 0: not known yet */
	uint64_t last;  /* the last one that is known .. */
	bool is_next;   /* .. whether there was no hole since .. */
	uint64_t ended; /* .. and so many immediates */
	bool ends_only; /* packets in the middle of a write are not in the log */
};

/* All packets of the entry at this offset are in the log before. */
static bool is_copy(const struct ft_nccl_log *log, uint32_t offset,
		    const struct ft_nccl_logged *logged)
{
	struct ft_nccl_logged before;

	return ft_nccl_log_find(log, offset, &logged->seen, logged->seen.psn, &before) &&
	       ((logged->seen.psn - before.seen.psn) & 0xffffff) + logged->run <= before.run;
}

/* Copied, sent again, or late within a write: what passes behind it goes on where the reading is. */
static bool is_aside(struct reading *reading, const struct ft_nccl_log *log, uint32_t offset,
		     const struct ft_nccl_logged *logged)
{
	enum ft_nccl_turn turn = ft_nccl_psns_judge(&reading->psns, logged->seen.psn);

	if (turn == FT_NCCL_LATE)
		return !ft_nccl_begins(logged->seen.opcode);
	return turn == FT_NCCL_AGAIN && is_copy(log, offset, logged);
}

/*
 * A hole, or a beginning in the middle of a message: what cannot be told apart is left out. An end of its own that is the first
 * seen is one of those.
 */
static void align(struct reading *reading, const struct ft_nccl_logged *logged)
{
	struct ft_nccl_psns *psns = &reading->psns;
	enum ft_nccl_turn turn = ft_nccl_psns_judge(psns, logged->seen.psn);
	bool is_hole = turn != FT_NCCL_NEXT;

	if (is_hole && reading->anchor.frame == 0)
		reading->anchor.missed = true;
	if (turn == FT_NCCL_AGAIN || turn == FT_NCCL_LATE)
		turn = FT_NCCL_APART; /* it begins anew */
	ft_nccl_psns_take(psns, logged->seen.psn, turn);
	psns->next = ft_nccl_log_psn_behind(logged, reading->ends_only);
	reading->is_next = reading->is_next && !is_hole;
	if (reading->anchor.frame != 0)
		return;
	if (is_hole)
		reading->is_begun = false;
	if (!reading->is_begun && ft_nccl_begins(logged->seen.opcode) &&
	    !ft_nccl_is_bare_end(&logged->seen)) {
		reading->is_begun = true;
		reading->from = logged->seen.frame;
		reading->before = 0;
	}
}

/* Each message ends on the queue pair, whether it is known or not. */
static uint64_t step_of(const struct reading *reading, uint64_t k)
{
	uint64_t apart = k - reading->last;

	return reading->ended != 0 && apart % reading->ended == 0 ? apart / reading->ended : 0;
}

static void read_write(struct reading *reading, const struct ft_nccl_followed *followed,
		       const struct ft_nccl_seen *seen)
{
	struct ft_nccl_anchor anchor = { .frame = reading->from };
	const struct ft_nccl_transfer *transfer = ft_nccl_asked_by(followed, seen, &anchor);

	if (transfer == NULL)
		return;
	if (reading->anchor.frame == 0) {
		anchor.missed = reading->anchor.missed;
		reading->anchor = anchor;
		if (reading->anchor.frame == 0)
			reading->anchor.frame = seen->frame;
	} else if (reading->is_next && transfer->message.k > reading->last) {
		reading->step = step_of(reading, transfer->message.k);
	}
	reading->last = transfer->message.k;
	reading->is_next = true;
	reading->ended = 0;
}

struct ft_nccl_anchor ft_nccl_anchor_in(const struct ft_nccl_followed *followed,
					const struct ft_nccl_log *log, bool ends_only)
{
	struct ft_nccl_logged logged;
	struct reading reading = { .ends_only = ends_only };

	for (uint32_t at = 0, offset = 0; ft_nccl_log_next(log, &at, &logged) && reading.step == 0;
	     offset = at) {
		const struct ft_nccl_seen *seen = &logged.seen;

		if (is_aside(&reading, log, offset, &logged))
			continue;
		align(&reading, &logged);
		if (ft_nccl_begins(seen->opcode) && (seen->has & FT_HAS_RETH) != 0 &&
		    !ft_nccl_is_bare_end(seen))
			read_write(&reading, followed, seen);
		if (!ft_nccl_has_immediate(seen->opcode))
			continue;
		reading.ended++;
		if (reading.anchor.frame == 0)
			reading.before += reading.is_begun ? 1 : 0;
	}
	if (reading.before != 0 && reading.step == 0)
		return (struct ft_nccl_anchor){ 0 };
	if (reading.before * reading.step <= reading.anchor.k)
		reading.anchor.k -= reading.before * reading.step;
	reading.anchor.step = reading.step;
	return reading.anchor;
}

struct ft_nccl_anchor ft_nccl_anchor_at_write(const struct ft_nccl_log *log)
{
	struct ft_nccl_logged logged;

	for (uint32_t at = 0; ft_nccl_log_next(log, &at, &logged);) {
		if (ft_nccl_begins(logged.seen.opcode))
			return (struct ft_nccl_anchor){ .frame = logged.seen.frame };
	}
	return (struct ft_nccl_anchor){ 0 };
}

bool ft_nccl_is_anchored_at_first(const struct ft_nccl_followed *followed,
				  const struct ft_nccl_log *log, struct ft_nccl_anchor *anchor)
{
	const struct ft_nccl_transfer *first = ft_nccl_ring_find(&followed->ring, 0);
	struct ft_nccl_logged logged;
	uint32_t at = 0;

	if (log == NULL || log->restarts != 0 || !ft_nccl_log_next(log, &at, &logged) ||
	    logged.seen.psn != 0 || !ft_nccl_begins(logged.seen.opcode) || first == NULL ||
	    !first->has_cts || (followed->by_grid && !followed->blind) ||
	    !ft_nccl_answers_first(followed, first, &logged.seen))
		return false;
	*anchor = (struct ft_nccl_anchor){ .frame = logged.seen.frame };
	anchor->at_start = ft_nccl_ring_requests(&followed->ring, first)->va == logged.seen.va;
	return true;
}
