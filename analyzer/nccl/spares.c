#include "spares.h"

#include <string.h>

#include <decode/packet.h>

#include "failover.h"
#include "learn.h"

enum { READ_REQUEST = 0x0c, UC_SEND_ONLY_IMMEDIATE = 0x25 };

/* The lane of an end in the table of spares: its device, and what it is for. */
enum { RECOVERS = 1 << 7 };

static void claim(struct ft_nccl_connections *connections, const struct ft_nccl_followed *followed,
		  struct ft_nccl_end end, const struct ft_nccl_place *place, uint32_t qpn)
{
	struct ft_nccl_qp *qp;

	if (qpn == 0)
		return;
	end.qpn = qpn;
	end.by_lid = place->by_lid;
	memcpy(end.address, place->address, sizeof end.address);
	if (ft_nccl_ends_put(&connections->spares, &end) != 0 ||
	    connections->config.queue_pairs == 0)
		return;
	qp = ft_nccl_qps_of(connections->qps, place, qpn);
	ft_nccl_qp_note(qp, FT_NCCL_N1);
	ft_nccl_qp_join(qp, followed->model.connection);
}

static bool any_of(const uint32_t qpns[FT_NCCL_DEVICES_MAX])
{
	uint32_t all = 0;

	for (unsigned i = 0; i < FT_NCCL_DEVICES_MAX; i++)
		all |= qpns[i];
	return all != 0;
}

static void claim_side(struct ft_nccl_connections *connections,
		       const struct ft_nccl_followed *followed,
		       const struct ft_nccl_exchange *exchange, enum ft_nccl_role role)
{
	const bool sends = role == FT_NCCL_AT_SENDER;
	const struct ft_nccl_metadata *side = sends ? exchange->sender : exchange->receiver;
	const struct ft_nccl_party *party =
		sends ? &followed->model.sender : &followed->model.receiver;

	for (uint8_t device = 0; device < party->place_count; device++) {
		struct ft_nccl_end end = {
			.vni = exchange->vni,
			.told_vni = exchange->vni,
			.told_vlan = (uint16_t)(exchange->vlan + 1),
			.connection = followed->model.connection,
			.lane = device,
			.role = (uint8_t)role,
			.any_vni = true,
		};

		claim(connections, followed, end, &party->places[device], side->probe_qpns[device]);
		end.lane |= RECOVERS;
		claim(connections, followed, end, &party->places[device],
		      side->recovery_qpns[device]);
	}
}

void ft_nccl_spares_claim(struct ft_nccl_connections *connections,
			  struct ft_nccl_followed *followed,
			  const struct ft_nccl_exchange *exchange)
{
	followed->model.failover = (struct ft_nccl_failover){
		.probes_named = any_of(exchange->receiver->probe_qpns),
		.recovery_named = any_of(exchange->receiver->recovery_qpns),
	};
	claim_side(connections, followed, exchange, FT_NCCL_AT_SENDER);
	claim_side(connections, followed, exchange, FT_NCCL_AT_RECEIVER);
}

/* What a packet to such a queue pair is: whether anything, of which connection, and of which role. */
struct sighting {
	struct ft_nccl_followed *followed; /* NULL: nothing */
	enum ft_nccl_frame_role role;
	int32_t slot; /* PROBE: of the message asked about */
};

static struct sighting look(const struct ft_nccl_connections *connections,
			    const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_end *end = ft_nccl_ends_of(&connections->spares, seen, seen->ends.vni);
	struct sighting sighting = { NULL, FT_NCCL_FRAME_PROBE, 0 };
	struct ft_nccl_followed *followed;

	if (end == NULL)
		return sighting;
	followed = connections->all[end->connection];
	if (followed->retired || !ft_nccl_is_from_peer(followed, end, seen))
		return sighting;
	if ((end->lane & RECOVERS) == 0 && end->role == FT_NCCL_AT_RECEIVER &&
	    seen->opcode == READ_REQUEST && (seen->has & FT_HAS_RETH) != 0) {
		sighting.slot =
			ft_nccl_probed_slot(followed->model.sizes.addr, seen->va, seen->length);
		sighting.followed = sighting.slot >= 0 ? followed : NULL;
	} else if ((end->lane & RECOVERS) != 0 && seen->opcode == UC_SEND_ONLY_IMMEDIATE &&
		   (seen->has & FT_HAS_IMMDT) != 0) {
		sighting.followed = followed;
		sighting.role = FT_NCCL_FRAME_RECOVERY_ASKED;
		if (end->role == FT_NCCL_AT_SENDER)
			sighting.role = FT_NCCL_FRAME_RECOVERY_ANSWERED;
		else if (ft_nccl_is_recovery_answer(seen->immdt))
			sighting.role = FT_NCCL_FRAME_RECOVERY_CONFIRMED;
	}
	return sighting;
}

void ft_nccl_spares_see(struct ft_nccl_connections *connections, const struct ft_nccl_seen *seen)
{
	const struct sighting sighting = look(connections, seen);
	struct ft_nccl_failover *failover;

	if (sighting.followed == NULL)
		return;
	failover = &sighting.followed->model.failover;
	if (failover->first_frame == 0)
		failover->first_frame = seen->frame;
	failover->last_frame = seen->frame;
	ft_nccl_straight_leave(sighting.followed);
	ft_nccl_failover_begin(sighting.followed);
	switch (sighting.role) {
	case FT_NCCL_FRAME_PROBE:
		failover->probes++;
		break;
	case FT_NCCL_FRAME_RECOVERY_ASKED:
		failover->asked++;
		break;
	case FT_NCCL_FRAME_RECOVERY_ANSWERED:
		failover->answered++;
		break;
	default:
		failover->confirmed++;
		break;
	}
}

/* The newest message of the slot that is remembered. */
static void tell_probed(struct ft_nccl_shown *shown, const struct sighting *sighting)
{
	const struct ft_nccl_ring *ring = &sighting->followed->ring;
	const uint64_t slots = ft_nccl_fifo(FT_NCCL_F)->slots; /* records, too */

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];

		if (!transfer->used || !transfer->message.has_k || transfer->adrift ||
		    transfer->message.k % slots != (uint64_t)sighting->slot ||
		    (shown->has_k && transfer->message.k < shown->k))
			continue;
		shown->has_k = true;
		shown->k = transfer->message.k;
	}
}

bool ft_nccl_spares_shown(const struct ft_nccl_connections *connections,
			  const struct ft_nccl_seen *seen, struct ft_nccl_shown *shown)
{
	const struct sighting sighting = look(connections, seen);

	if (sighting.followed == NULL)
		return false;
	*shown = (struct ft_nccl_shown){ .role = sighting.role,
					 .connection = &sighting.followed->model };
	if (sighting.role == FT_NCCL_FRAME_PROBE)
		tell_probed(shown, &sighting);
	return true;
}
