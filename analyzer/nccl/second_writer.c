#include "faults_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "anew.h"
#include "answer.h"
#include "fifo.h"
#include "misnamed.h"

/*
 * A message that waits for data, or has it just now. Without a set-up, and where it is a guess who shares it, only one that waits:
 * a buffer that had its data may be another connection's by now, which was not found yet.
 */
static bool is_current(const struct ft_nccl_followed *followed,
		       const struct ft_nccl_transfer *transfer, bool is_guessed)
{
	if (!transfer->used || !transfer->has_cts)
		return false;
	if (transfer->message.first_frame == 0)
		return true;
	if (is_guessed)
		return false;
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		if (followed->lanes[i].carried && followed->lanes[i].at == transfer->message.k)
			return true;
	}
	return false;
}

static bool is_in_target(const struct ft_nccl_target *target, uint64_t bytes,
			 const struct ft_nccl_seen *seen)
{
	if (!target->is_known || seen->va < target->addr || seen->va - target->addr >= bytes)
		return false;
	for (uint8_t i = 0; i < target->rkey_count; i++) {
		if (target->rkeys[i] == seen->rkey)
			return true;
	}
	return false;
}

static bool has_place(const struct ft_nccl_party *party, const uint8_t address[16])
{
	for (uint8_t i = 0; i < party->place_count; i++) {
		if (memcmp(party->places[i].address, address, sizeof party->places[i].address) == 0)
			return true;
	}
	return false;
}

static bool is_at(const struct ft_nccl_party *party, const struct ft_nccl_seen *seen)
{
	return has_place(party, seen->ends.dst);
}

static bool is_on(const struct ft_nccl_party *party, uint8_t lane, const struct ft_nccl_seen *seen)
{
	return party->qpns[lane] == seen->dest_qp && is_at(party, seen);
}

static bool is_to(const struct ft_nccl_followed *followed, const struct ft_nccl_party *party,
		  const struct ft_nccl_seen *seen)
{
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		if (is_on(party, i, seen))
			return true;
	}
	return false;
}

/* It has the connection's addresses and queue pair, in no overlay: another VLAN may be the other side of a router. */
static bool may_be_its_own(const struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_party *sender = &followed->model.sender;
	const struct ft_nccl_party *receiver = &followed->model.receiver;

	return (seen->ends.vni == UINT32_MAX || ft_nccl_is_vlan_apart(seen->ends.vni)) &&
	       ((is_to(followed, sender, seen) && has_place(receiver, seen->ends.src)) ||
		(is_to(followed, receiver, seen) && has_place(sender, seen->ends.src)));
}

/* Into the FIFO of clear-to-sends. */
static bool is_to_fifo(const struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_connection *model = &followed->model;
	uint64_t slots =
		model->fifo.slots != 0 ? model->fifo.slots : ft_nccl_fifo_slots_least(followed);

	return is_at(&model->sender, seen) &&
	       is_in_target(&model->fifo, slots * model->fifo.slot_bytes, seen);
}

/* What of the connection's a write goes to; NULL: nothing. */
static const char *what_is_at(const struct ft_nccl_followed *followed,
			      const struct ft_nccl_seen *seen, bool is_guessed)
{
	const struct ft_nccl_connection *model = &followed->model;
	const struct ft_nccl_ring *ring = &followed->ring;
	uint8_t request;

	if (is_to_fifo(followed, seen))
		return "the FIFO of clear-to-sends";
	if (!is_at(&model->receiver, seen))
		return NULL;
	if (is_in_target(&model->sizes, (uint64_t)256 * model->sizes.slot_bytes, seen))
		return "the array of sizes";
	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_request *requests =
			ft_nccl_ring_requests(ring, &ring->transfers[i]);

		if (is_current(followed, &ring->transfers[i], is_guessed) &&
		    requests[0].rkey_count != 0 && requests[0].rkeys[0] != 0 &&
		    ft_nccl_answers(followed, &ring->transfers[i], seen, &request))
			return "the buffer that was asked for";
	}
	return NULL;
}

/*
 * Since 2.20 a sender may have more devices than its receiver: without the set-up, a write from an address that is not known may
 * be of one of those, as long as no message came whole without them.
 */
static bool may_be_further_device(const struct ft_nccl_followed *followed,
				  const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_connection *model = &followed->model;

	return !model->is_set_up && !has_place(&model->sender, seen->ends.src) &&
	       (!model->has_family || model->family >= FT_NCCL_D) && !ft_nccl_had_all(followed) &&
	       !followed->sized_whole;
}

/* Of all devices that take turns the clear-to-sends were seen, none was missed: no further queue pair has some. */
static bool knows_who_asks(const struct ft_nccl_followed *followed)
{
	return followed->lanes[0].cts_step == followed->model.devices && followed->has_newest &&
	       ft_nccl_saw_all_before(followed, followed->newest + 1);
}

/*
 * Where it is a guess how queue pairs share the messages, only what none of them can have written; and the memory may be another
 * job's by now.
 */
static void tell_of_guessed(struct ft_nccl_connections *connections,
			    struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen,
			    const struct ft_nccl_found *found, bool has_all)
{
	bool is_foreign = !has_place(&followed->model.sender, seen->ends.src);

	if (is_to_fifo(followed, seen) ? knows_who_asks(followed)
				       : has_all || (is_foreign && ft_nccl_had_all(followed)))
		ft_nccl_tell_if_it_goes_on(connections, followed, found, false);
}

/* The set-up paired its two queue pairs: of those it names beyond one of each device some may be none. */
static bool is_paired(const struct ft_nccl_followed *followed, uint8_t lane)
{
	return followed->model.is_set_up && (!followed->unsure || lane < followed->model.devices);
}

/* The set-up tells the peer of a queue pair, or it was seen to write to it: nobody else writes to it, wherever. */
static bool has_its_peer(const struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_connection *model = &followed->model;

	for (uint8_t i = 0; i < followed->lane_count; i++) {
		const struct ft_nccl_lane *lane = &followed->lanes[i];

		if (((is_paired(followed, i) || lane->asked) && is_on(&model->sender, i, seen)) ||
		    ((is_paired(followed, i) || lane->carried) && is_on(&model->receiver, i, seen)))
			return true;
	}
	return false;
}

/* It goes to nothing that was announced. */
static void tell_of_place(struct ft_nccl_connections *connections,
			  struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	struct ft_nccl_found found = ft_nccl_found_in(followed, seen, FT_NCCL_SECOND_WRITER, 0.8);

	if (!has_its_peer(followed, seen) || may_be_its_own(followed, seen) ||
	    has_place(&followed->model.sender, seen->ends.src) ||
	    has_place(&followed->model.receiver, seen->ends.src))
		return;
	snprintf(found.text, sizeof found.text,
		 "%" PRIu32 " bytes to 0x%" PRIx64
		 ", which nobody asked for, come from another address than the queue pair's peer",
		 seen->length, seen->va);
	ft_nccl_tell_if_it_goes_on(connections, followed, &found, true);
}

/* Nothing came on a queue pair that the set-up names, and this may be what belongs there: data on all that it names tells. */
static void tell_of_misnamed(struct ft_nccl_connections *connections,
			     struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen,
			     const struct ft_nccl_found *found)
{
	if (followed->named && is_at(&followed->model.receiver, seen))
		ft_nccl_tell_once_answered(connections, followed, found);
}

/* Where a set-up names all queue pairs it is none of them, however they share the messages. */
static void tell_of_other(struct ft_nccl_connections *connections,
			  const struct ft_nccl_followed *followed,
			  const struct ft_nccl_found *found)
{
	if (followed->model.is_set_up && followed->named)
		ft_nccl_tell_of_sender(connections, found);
	else
		ft_nccl_tell(connections, found);
}

bool ft_nccl_fault_stranger(struct ft_nccl_connections *connections,
			    struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen,
			    bool has_all)
{
	/* a reliable queue pair has one peer */
	bool is_to_its_own = is_to(followed, &followed->model.sender, seen) ||
			     is_to(followed, &followed->model.receiver, seen);
	bool is_guessed =
		!is_to_its_own && !followed->model.is_set_up && ft_nccl_has_guessed_lanes(followed);
	const char *what = what_is_at(followed, seen, is_guessed);
	struct ft_nccl_found found = ft_nccl_found_in(followed, seen, FT_NCCL_SECOND_WRITER, 0.9);

	if (what == NULL && is_to_its_own)
		tell_of_place(connections, followed, seen);
	if (what == NULL)
		return false;
	if (may_be_its_own(followed, seen) ||
	    (is_at(&followed->model.receiver, seen) && !is_to_its_own &&
	     may_be_further_device(followed, seen)))
		return true;
	snprintf(found.text, sizeof found.text,
		 "%" PRIu32 " bytes to 0x%" PRIx64 ", %s, come from another %s", seen->length,
		 seen->va, what,
		 is_to_its_own ? "address than the queue pair's peer"
			       : "queue pair than the connection's");
	if (is_to_its_own)
		ft_nccl_tell_of_sender(connections, &found);
	else if (ft_nccl_may_be_misnamed(followed, seen))
		tell_of_misnamed(connections, followed, seen, &found);
	else if (is_guessed)
		tell_of_guessed(connections, followed, seen, &found, has_all);
	else
		tell_of_other(connections, followed, &found);
	return true;
}
