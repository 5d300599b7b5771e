#include "lock.h"

#include <string.h>

#include <decode/packet.h>

#include "cut_setups.h"
#include "queue_pairs.h"
#include "source_port.h"

enum { NEAR = 64, VOTES = 3 };

/* The ends of a lane's answers. */
static const struct ft_nccl_place *from_of(const struct ft_nccl_followed *followed, uint8_t lane)
{
	const struct ft_nccl_party *receiver = &followed->model.receiver;

	return &receiver->places[receiver->qp_device[lane]];
}

static const struct ft_nccl_place *to_of(const struct ft_nccl_followed *followed, uint8_t lane)
{
	const struct ft_nccl_party *sender = &followed->model.sender;

	return &sender->places[sender->qp_device[lane]];
}

void ft_nccl_await_pair(struct ft_nccl_connections *connections,
			const struct ft_nccl_followed *followed, uint8_t lane)
{
	struct ft_nccl_unpaired_table *table = &connections->unpaired;
	uint32_t chain = ft_nccl_unpaired_chain(table, from_of(followed, lane)->address,
						to_of(followed, lane)->address,
						followed->lanes[lane].udp_sport);

	if (ft_nccl_unpaired_put(table, chain, followed->model.connection, lane) != 0)
		connections->dropped++;
}

static bool is_back(const struct ft_nccl_followed *followed, uint8_t lane,
		    const struct ft_nccl_seen *seen)
{
	return ft_nccl_is_in(followed, seen->ends.vni) &&
	       memcmp(seen->ends.src, from_of(followed, lane)->address, 16) == 0 &&
	       memcmp(seen->ends.dst, to_of(followed, lane)->address, 16) == 0;
}

/* Writes go to the queue pair: it has data of its own, or clear-to-sends. */
static bool is_written_to(const struct ft_nccl_connections *connections,
			  const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_stranger *stranger;
	uint32_t at = 0;

	while ((stranger = ft_nccl_stranger_logged(&connections->strangers, &at)) != NULL) {
		if (stranger->qpn == seen->dest_qp &&
		    memcmp(stranger->dst, seen->ends.dst, sizeof stranger->dst) == 0)
			return true;
	}
	return false;
}

/* By the port both directions share; or by what it acknowledges, several times, alone among the lanes. */
static bool is_answer(struct ft_nccl_unpaired *unpaired, struct ft_nccl_followed *followed,
		      const struct ft_nccl_seen *seen)
{
	struct ft_nccl_lane *lane = &followed->lanes[unpaired->lane];
	uint32_t qpn = followed->model.receiver.qpns[unpaired->lane];
	int32_t behind;

	if (seen->udp_sport != lane->udp_sport || !is_back(followed, unpaired->lane, seen))
		return false;
	if ((seen->has & FT_HAS_UDP) != 0 &&
	    seen->udp_sport == ft_nccl_source_port(seen->dest_qp, qpn))
		return true;
	behind = ft_psn_distance(ft_nccl_straight_next(followed, unpaired->lane), seen->psn);
	if (behind < 1 || behind > NEAR)
		return false;
	unpaired->votes = unpaired->qpn == seen->dest_qp ? (uint8_t)(unpaired->votes + 1) : 1;
	unpaired->qpn = seen->dest_qp;
	lane->voted = unpaired->votes >= VOTES;
	return lane->voted;
}

/* The lane's answers go to the queue pair of this one. */
static void pair(struct ft_nccl_connections *connections, struct ft_nccl_unpaired unpaired,
		 const struct ft_nccl_seen *seen)
{
	struct ft_nccl_followed *followed = connections->all[unpaired.connection];
	struct ft_nccl_end end = { .qpn = seen->dest_qp,
				   .vni = seen->ends.vni,
				   .told_vni = seen->ends.vni,
				   .connection = unpaired.connection,
				   .lane = unpaired.lane,
				   .role = FT_NCCL_AT_SENDER,
				   .by_lid = seen->ends.by_lid != 0 };

	memcpy(end.address, seen->ends.dst, sizeof end.address);
	followed->model.sender.qpns[unpaired.lane] = seen->dest_qp;
	ft_nccl_straight_pair(followed, unpaired.lane);
	if (ft_nccl_claim(connections, &end) == 0)
		ft_nccl_note(connections, followed, end.lane,
			     followed->blind ? FT_NCCL_N5 : FT_NCCL_N4);
	ft_nccl_cut_setup_find(connections, followed);
}

/* Nothing is to be told of it any more: its queue pairs are another one's, or a set-up has told them. */
static bool is_settled(const struct ft_nccl_followed *followed, uint8_t lane)
{
	return followed->retired || followed->model.sender.qpns[lane] != FT_NCCL_NONE;
}

void ft_nccl_pair(struct ft_nccl_connections *connections, const struct ft_nccl_seen *seen)
{
	struct ft_nccl_unpaired_table *table = &connections->unpaired;
	struct ft_nccl_unpaired_walk walk = ft_nccl_unpaired_begin(
		table,
		ft_nccl_unpaired_chain(table, seen->ends.src, seen->ends.dst, seen->udp_sport));

	while (walk.at != FT_NCCL_NONE) {
		struct ft_nccl_unpaired *unpaired = &table->all[walk.at];
		struct ft_nccl_followed *followed = connections->all[unpaired->connection];

		if (is_settled(followed, unpaired->lane)) {
			ft_nccl_unpaired_remove(table, &walk);
		} else if (is_answer(unpaired, followed, seen) &&
			   !(followed->lanes[unpaired->lane].voted &&
			     is_written_to(connections, seen))) {
			struct ft_nccl_unpaired found = *unpaired;

			ft_nccl_unpaired_remove(table, &walk);
			pair(connections, found, seen);
			return;
		} else {
			ft_nccl_unpaired_step(table, &walk);
		}
	}
}

bool ft_nccl_unpair(struct ft_nccl_connections *connections, struct ft_nccl_end *end,
		    const struct ft_nccl_seen *seen)
{
	struct ft_nccl_followed *followed = connections->all[end->connection];
	struct ft_nccl_lane *lane = &followed->lanes[end->lane];
	uint8_t at = end->lane;

	if (end->role != FT_NCCL_AT_SENDER || !lane->voted || followed->model.is_set_up ||
	    !ft_nccl_is_write(seen->opcode))
		return false;
	ft_nccl_qp_leave(ft_nccl_qps_of(connections->qps, to_of(followed, at), seen->dest_qp),
			 lane->noted);
	lane->voted = false;
	lane->noted = 0;
	followed->model.sender.qpns[at] = FT_NCCL_NONE;
	ft_nccl_ends_remove(&connections->ends, end);
	ft_nccl_await_pair(connections, followed, at);
	return true;
}
