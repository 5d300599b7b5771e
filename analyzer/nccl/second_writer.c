#include "faults_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "fifo.h"

/* A message that waits for data, or has it just now. */
static bool is_current(const struct ft_nccl_followed *followed,
		       const struct ft_nccl_transfer *transfer)
{
	if (!transfer->used || !transfer->has_cts)
		return false;
	if (transfer->message.first_frame == 0)
		return true;
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

static bool is_to(const struct ft_nccl_followed *followed, const struct ft_nccl_party *party,
		  const struct ft_nccl_seen *seen)
{
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		if (party->qpns[i] == seen->dest_qp)
			return is_at(party, seen);
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

/* What of the connection's a write goes to; NULL: nothing. */
static const char *what_is_at(const struct ft_nccl_followed *followed,
			      const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_connection *model = &followed->model;
	const struct ft_nccl_ring *ring = &followed->ring;
	uint64_t slots =
		model->fifo.slots != 0 ? model->fifo.slots : ft_nccl_fifo_slots_least(followed);
	uint8_t request;

	if (is_at(&model->sender, seen) &&
	    is_in_target(&model->fifo, slots * model->fifo.slot_bytes, seen))
		return "the FIFO of clear-to-sends";
	if (!is_at(&model->receiver, seen))
		return NULL;
	if (is_in_target(&model->sizes, (uint64_t)256 * model->sizes.slot_bytes, seen))
		return "the array of sizes";
	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_request *requests =
			ft_nccl_ring_requests(ring, &ring->transfers[i]);

		if (is_current(followed, &ring->transfers[i]) && requests[0].rkey_count != 0 &&
		    requests[0].rkeys[0] != 0 &&
		    ft_nccl_answers(followed, &ring->transfers[i], seen, &request))
			return "the buffer that was asked for";
	}
	return NULL;
}

bool ft_nccl_fault_stranger(struct ft_nccl_connections *connections,
			    const struct ft_nccl_followed *followed,
			    const struct ft_nccl_seen *seen)
{
	const char *what = what_is_at(followed, seen);
	struct ft_nccl_found found = ft_nccl_found_in(followed, seen, FT_NCCL_SECOND_WRITER, 0.9);

	if (what == NULL)
		return false;
	if (may_be_its_own(followed, seen))
		return true;
	snprintf(found.text, sizeof found.text,
		 "%" PRIu32 " bytes to 0x%" PRIx64
		 ", %s, come from another queue pair than the connection's",
		 seen->length, seen->va, what);
	if (is_to(followed, &followed->model.sender, seen) ||
	    is_to(followed, &followed->model.receiver, seen))
		ft_nccl_tell_of_sender(connections, &found); /* a reliable one has one peer */
	else
		ft_nccl_tell(connections, &found);
	return true;
}
