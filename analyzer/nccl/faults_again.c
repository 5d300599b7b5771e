#include "faults_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include <decode/packet.h>

#include "anew.h"
#include "answer.h"
#include "order.h"

/* Data under a PSN that passed before, and is not what went there. */

enum { UNDER_WAY = 8 /* messages of a connection, at most: NCCL_STEPS */ };

/* Of the writes known of a share the one that began with this PSN; NULL: none. */
static const struct ft_nccl_begun *begun_with(const struct ft_nccl_share *share, uint32_t psn)
{
	if (share->first.psn == psn && share->first.va != 0)
		return &share->first;
	return share->last.psn == psn && share->last.va != 0 ? &share->last : NULL;
}

/* The transport sends the same again .. */
static bool is_other(const struct ft_nccl_begun *begun, const struct ft_nccl_seen *seen)
{
	return seen->va != begun->va || seen->length != begun->length;
}

/* .. so it ends a message if that did .. */
static bool lacks_end(const struct ft_nccl_lane *lane, const struct ft_nccl_seen *seen)
{
	return lane->ended_to == ft_psn_add(seen->psn, 1) && !ft_nccl_has_immediate(seen->opcode);
}

/* .. or, from the middle of a write on, goes to where that packet went: of the last one .. */
static bool is_astray_in(const struct ft_nccl_followed *followed, const struct ft_nccl_begun *begun,
			 const struct ft_nccl_seen *seen)
{
	uint64_t ahead = (uint64_t)ft_psn_since(seen->psn, begun->psn) * followed->pmtu;

	return begun->va != 0 && seen->length != 0 && followed->pmtu != 0 &&
	       ahead < begun->length && seen->va != begun->va + ahead;
}

/* .. or of the one of a message of one request. */
static bool is_elsewhere(const struct ft_nccl_followed *followed,
			 const struct ft_nccl_transfer *owner, const struct ft_nccl_share *share,
			 const struct ft_nccl_seen *seen)
{
	uint64_t ahead = ft_psn_since(seen->psn, share->from);

	if (is_astray_in(followed, &share->last, seen))
		return true;
	return owner->message.request_count == 1 && share->first.va != 0 && seen->length != 0 &&
	       followed->pmtu != 0 && ahead * followed->pmtu < share->bytes &&
	       seen->va != share->first.va + ahead * followed->pmtu;
}

static void tell_misplaced(struct ft_nccl_moment *moment, const struct ft_nccl_transfer *again)
{
	struct ft_nccl_found found =
		ft_nccl_found_in(moment->followed, moment->seen, FT_NCCL_REPLAY, 0.8);

	ft_nccl_found_set_k(&found, again->message.k);
	snprintf(found.text, sizeof found.text,
		 "writes %" PRIu32 " bytes to 0x%" PRIx64 " with a PSN of message %" PRIu64
		 ", whose packet went elsewhere",
		 moment->seen->length, moment->seen->va, again->message.k);
	if (ft_nccl_has_guessed_lanes(moment->followed))
		ft_nccl_tell_whichever(moment, &found);
	else
		ft_nccl_tell_in_turn(moment, &found, false);
}

/* The first message of all, counted from the first packet on: however queue pairs take turns. */
static bool is_first(const struct ft_nccl_moment *moment, const struct ft_nccl_transfer *transfer)
{
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;

	return transfer->message.k == 0 && share->counted;
}

/* The other one came as it was asked for, and this one before: it is told alone. */
static void tell_too_early(struct ft_nccl_moment *moment, const struct ft_nccl_transfer *again,
			   const struct ft_nccl_begun *begun)
{
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_found found =
		ft_nccl_found_in(moment->followed, seen, FT_NCCL_WRITE_UNASKED, 0.8);

	ft_nccl_found_set_k(&found, again->message.k);
	snprintf(found.text, sizeof found.text,
		 "writes %" PRIu32 " bytes to 0x%" PRIx64 " before frame %" PRIu64
		 " asks for it; behind that, frame %" PRIu64 " has its PSN and writes %" PRIu32
		 " to 0x%" PRIx64,
		 begun->length, begun->va, again->message.cts_frame, seen->frame, seen->length,
		 seen->va);
	found.frame = begun->frame;
	found.ts_ns = begun->ts_ns;
	if (is_first(moment, again))
		ft_nccl_tell_of_known(moment->connections, &found);
	else
		ft_nccl_tell_of_data(moment->connections, &found);
}

/*
 * Which of the two is the connection's is not known: the receiver takes the first, whoever sent it. `is_asked`: what goes elsewhere
 * than the owner asked for was asked for by another message, which may be that of another job.
 */
static void tell_both(struct ft_nccl_moment *moment, const struct ft_nccl_transfer *again,
		      const struct ft_nccl_begun *begun, bool is_asked)
{
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_found found = ft_nccl_found_in(moment->followed, seen, FT_NCCL_REPLAY, 0.8);

	ft_nccl_found_set_k(&found, again->message.k);
	snprintf(found.text, sizeof found.text,
		 "frame %" PRIu64 " writes %" PRIu32 " bytes to 0x%" PRIx64 ", frame %" PRIu64
		 " %" PRIu32 " to 0x%" PRIx64 ", with one PSN: one of the two is forged",
		 begun->frame, begun->length, begun->va, seen->frame, seen->length, seen->va);
	for (unsigned i = 0; i < 2; i++) {
		found.frame = i == 0 ? begun->frame : seen->frame;
		found.ts_ns = i == 0 ? begun->ts_ns : seen->ts_ns;
		if (is_asked)
			ft_nccl_tell_in_turn(moment, &found, false);
		else
			ft_nccl_tell_of_data(moment->connections, &found);
	}
}

/* Two writes have one PSN, and differ. The first may be known to be the forged one. */
static void tell_twins(struct ft_nccl_moment *moment, const struct ft_nccl_transfer *owner,
		       const struct ft_nccl_begun *begun)
{
	const uint64_t asked = owner->message.cts_frame;

	if (ft_nccl_is_nowhere(moment->followed, begun->frame))
		return;
	if (begun->frame < asked && asked < moment->seen->frame)
		tell_too_early(moment, owner, begun);
	else
		tell_both(moment, owner, begun, false);
}

/* The message that has the PSN on the queue pair, as far as messages are remembered; NULL: none. */
static struct ft_nccl_transfer *owner_of(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;

	for (uint32_t i = 0; i < ring->slots; i++) {
		struct ft_nccl_transfer *transfer = &ring->transfers[i];
		const struct ft_nccl_share *share =
			ft_nccl_ring_shares(ring, transfer) + moment->lane_index;

		if (transfer->used && transfer->has_cts && transfer->message.has_k && share->used &&
		    share->begun &&
		    ft_psn_since(moment->seen->psn, share->from) <=
			    ft_psn_since(share->to, share->from))
			return transfer;
	}
	return NULL;
}

/* What it asked for is known, and this is no end that says how much of it there was. */
static bool is_readable(const struct ft_nccl_followed *followed,
			const struct ft_nccl_transfer *owner, const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_target *sizes = &followed->model.sizes;

	if (owner->message.request_count == 1)
		return true;
	if (owner->partial)
		return false;
	return seen->opcode != 0x0b ||
	       (sizes->is_known && seen->va - sizes->addr >= UINT64_C(256) * sizes->slot_bytes);
}

/*
 * The packet was before all that is remembered of its queue pair, so many messages ago that the sender has no more under way
 * at a time: the transport does not send it again. Nor did anything remembered ask for it.
 */
static bool is_long_over(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;
	unsigned begun = 0;

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];
		const struct ft_nccl_share *share =
			ft_nccl_ring_shares(ring, transfer) + moment->lane_index;
		uint8_t request;

		if (!transfer->used || !transfer->has_cts || !transfer->message.has_k ||
		    transfer->partial || ft_nccl_is_doubted(transfer) ||
		    ft_nccl_answers(moment->followed, transfer, moment->seen, &request) ||
		    !is_readable(moment->followed, transfer, moment->seen))
			return false;
		if (!share->used)
			continue;
		if (!share->begun || ft_psn_distance(share->from, moment->seen->psn) <= 0)
			return false;
		begun++;
	}
	return begun >= UNDER_WAY;
}

/* Which message had the PSN may be a guess, but that this went there is none. */
static bool may_go_nowhere(const struct ft_nccl_moment *moment, const struct ft_nccl_begun *twin)
{
	return !ft_nccl_may_be_anothers(moment->followed) &&
	       (twin == NULL || is_other(twin, moment->seen));
}

static void tell_long_over(struct ft_nccl_moment *moment)
{
	struct ft_nccl_found found =
		ft_nccl_found_in(moment->followed, moment->seen, FT_NCCL_WRITE_UNASKED, 0.8);

	snprintf(found.text, sizeof found.text,
		 "writes %" PRIu32 " bytes to 0x%" PRIx64
		 ", which no clear-to-send of late asked for, with the PSN of a message long over",
		 moment->seen->length, moment->seen->va);
	ft_nccl_tell_in_turn(moment, &found, false);
}

struct ft_nccl_transfer *ft_nccl_fault_again(struct ft_nccl_moment *moment,
					     const struct ft_nccl_begun **twin)
{
	const struct ft_nccl_ring *ring = &moment->followed->ring;
	const struct ft_nccl_seen *seen = moment->seen;
	struct ft_nccl_transfer *owner;
	const struct ft_nccl_share *share;
	uint8_t request;

	ft_nccl_anew_see(moment, false);
	owner = owner_of(moment);
	if ((seen->has & FT_HAS_RETH) == 0 || ft_nccl_is_bare_end(seen) ||
	    !ft_nccl_is_calm(moment->followed) || ft_nccl_order_is_anothers(moment))
		return NULL;
	if (owner == NULL) {
		if (seen->length != 0 && !ft_nccl_may_be_anothers(moment->followed) &&
		    is_long_over(moment))
			tell_long_over(moment);
		return NULL;
	}
	share = ft_nccl_ring_shares(ring, owner) + moment->lane_index;
	*twin = begun_with(share, seen->psn);
	if (may_go_nowhere(moment, *twin) && ft_nccl_fault_nowhere_again(moment))
		return NULL;
	if (is_readable(moment->followed, owner, seen) &&
	    !ft_nccl_answers(moment->followed, owner, seen, &request)) {
		if (*twin == NULL || ft_nccl_goes_nowhere(moment))
			ft_nccl_tell_outside(moment, owner);
		else if (!ft_nccl_is_nowhere(moment->followed, (*twin)->frame))
			tell_both(moment, owner, *twin, true);
	} else if (*twin != NULL && (is_other(*twin, seen) || lacks_end(moment->lane, seen))) {
		tell_twins(moment, owner, *twin);
		return owner;
	} else if (*twin == NULL && is_elsewhere(moment->followed, owner, share, seen)) {
		tell_misplaced(moment, owner);
	}
	return NULL;
}
