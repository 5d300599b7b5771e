#include "lock.h"

#include <string.h>

#include <decode/packet.h>

#include "cut_setups.h"
#include "source_port.h"

enum { NEAR = 64, VOTES = 3 };

void ft_nccl_await_pair(struct ft_nccl_connections *connections,
			const struct ft_nccl_followed *followed, uint8_t lane)
{
	if (connections->unpaired_count == FT_NCCL_UNPAIRED)
		return;
	connections->unpaired[connections->unpaired_count++] = (struct ft_nccl_unpaired){
		.connection = followed->model.connection, .lane = lane, .qpn = FT_NCCL_NONE
	};
}

static bool is_back(const struct ft_nccl_followed *followed, uint8_t lane,
		    const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_party *sender = &followed->model.sender;
	const struct ft_nccl_party *receiver = &followed->model.receiver;

	return ft_nccl_is_in(followed, seen->ends.vni) &&
	       memcmp(seen->ends.src, receiver->places[receiver->qp_device[lane]].address, 16) ==
		       0 &&
	       memcmp(seen->ends.dst, sender->places[sender->qp_device[lane]].address, 16) == 0;
}

/* By the port both directions share; or by what it acknowledges, several times, alone among the lanes. */
static bool is_answer(struct ft_nccl_unpaired *unpaired, const struct ft_nccl_followed *followed,
		      const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_lane *lane = &followed->lanes[unpaired->lane];
	uint32_t qpn = followed->model.receiver.qpns[unpaired->lane];
	uint32_t next = ft_nccl_straight_next(followed, unpaired->lane);
	int32_t behind = ft_psn_distance(next, seen->psn);

	if (!is_back(followed, unpaired->lane, seen))
		return false;
	if ((seen->has & FT_HAS_UDP) != 0 && seen->udp_sport == lane->udp_sport &&
	    seen->udp_sport == ft_nccl_source_port(seen->dest_qp, qpn))
		return true;
	if (behind < 1 || behind > NEAR || seen->udp_sport != lane->udp_sport)
		return false;
	unpaired->votes = unpaired->qpn == seen->dest_qp ? unpaired->votes + 1 : 1;
	unpaired->qpn = seen->dest_qp;
	return unpaired->votes >= VOTES;
}

static void pair(struct ft_nccl_connections *connections, unsigned at,
		 const struct ft_nccl_seen *seen)
{
	struct ft_nccl_unpaired *unpaired = &connections->unpaired[at];
	struct ft_nccl_followed *followed = connections->all[unpaired->connection];
	struct ft_nccl_end end = { .qpn = seen->dest_qp,
				   .vni = seen->ends.vni,
				   .told_vni = seen->ends.vni,
				   .connection = unpaired->connection,
				   .lane = unpaired->lane,
				   .role = FT_NCCL_AT_SENDER,
				   .by_lid = seen->ends.by_lid != 0 };

	memcpy(end.address, seen->ends.dst, sizeof end.address);
	followed->model.sender.qpns[unpaired->lane] = seen->dest_qp;
	*unpaired = connections->unpaired[--connections->unpaired_count];
	if (ft_nccl_claim(connections, &end) == 0)
		ft_nccl_note(connections, followed, end.lane,
			     followed->blind ? FT_NCCL_N5 : FT_NCCL_N4);
	ft_nccl_cut_setup_find(connections, followed);
}

void ft_nccl_pair(struct ft_nccl_connections *connections, const struct ft_nccl_seen *seen)
{
	for (unsigned i = 0; i < connections->unpaired_count; i++) {
		struct ft_nccl_unpaired *unpaired = &connections->unpaired[i];

		if (is_answer(unpaired, connections->all[unpaired->connection], seen)) {
			pair(connections, i, seen);
			return;
		}
	}
}
