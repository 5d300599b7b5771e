#include "learn.h"

#include <string.h>

#include "cut_setups.h"
#include "lock.h"
#include "replay.h"
#include "spares.h"

/* Clear-to-sends showed it before its set-up was read, as it happens when ports are merged. */
static bool is_of(struct ft_nccl_followed *followed, const struct ft_nccl_metadata *sender)
{
	ft_nccl_straight_leave(followed);
	return !followed->model.is_set_up && followed->has_base &&
	       followed->model.fifo.addr == sender->addr;
}

/* In the overlay of its set-up, or else in any. NULL: it was not seen before. */
static struct ft_nccl_followed *known_already(const struct ft_nccl_connections *connections,
					      const struct ft_nccl_exchange *exchange)
{
	const uint32_t vnis[] = { exchange->vni, UINT32_MAX, ft_nccl_vlan_apart(exchange->vlan) };
	struct ft_nccl_place place =
		ft_nccl_place_of(&exchange->sender->devices[0], &exchange->receiver->devices[0]);
	struct ft_nccl_end own = {
		.qpn = exchange->sender->qpns[0],
		.by_lid = place.by_lid,
		.told_vlan = (uint16_t)(exchange->vlan + 1),
		.any_vni = true,
	};

	memcpy(own.address, place.address, sizeof own.address);
	for (unsigned i = 0; i < sizeof vnis / sizeof vnis[0]; i++) {
		const struct ft_nccl_end *end;

		own.vni = vnis[i];
		end = ft_nccl_ends_rival(&connections->ends, &own);
		if (end != NULL && is_of(connections->all[end->connection], exchange->sender))
			return connections->all[end->connection];
	}
	return NULL;
}

/* Nothing was seen of the queue pair, or what the metadata says. */
static bool is_as_told(uint32_t seen, uint32_t told)
{
	return seen == FT_NCCL_NONE || seen == told;
}

/* The queue pairs that were met are the first ones that the metadata names, in its order. */
static bool is_in_order(const struct ft_nccl_followed *followed,
			const struct ft_nccl_exchange *exchange, uint8_t count)
{
	const struct ft_nccl_connection *model = &followed->model;

	if (followed->by_grid || followed->lane_count > count)
		return false;
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		if (!is_as_told(model->sender.qpns[i], exchange->sender->qpns[i]) ||
		    !is_as_told(model->receiver.qpns[i], exchange->receiver->qpns[i]))
			return false;
	}
	return true;
}

void ft_nccl_setup_catch_up(struct ft_nccl_connections *connections,
			    const struct ft_nccl_followed *followed, uint64_t from)
{
	struct ft_nccl_replay replays[FT_NCCL_REPLAYS];
	struct ft_nccl_stranger *stranger;
	unsigned count = 0;
	uint32_t at = 0;

	while (count < FT_NCCL_REPLAYS &&
	       (stranger = ft_nccl_stranger_logged(&connections->strangers, &at)) != NULL) {
		const struct ft_nccl_end *end;

		if (!ft_nccl_replay_begin(&replays[count], stranger, from))
			continue;
		end = ft_nccl_end_of(connections, &replays[count].next.seen);
		if (end != NULL && end->connection == followed->model.connection &&
		    ft_nccl_is_from_peer(followed, end, &replays[count].next.seen))
			count++;
	}
	ft_nccl_replay_all(connections, replays, count);
}

/* Its data is seen from the first packet on: PSN 0. */
static void expect_data(struct ft_nccl_lane *lane)
{
	lane->data = (struct ft_nccl_psns){ .known = true };
	lane->counted = true;
}

/* The ends that were not met yet are its own, too. */
static int claim_others(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
			const struct ft_nccl_exchange *exchange, uint8_t count)
{
	const struct ft_nccl_connection before = followed->model;
	uint8_t met = followed->lane_count;
	int error = ft_nccl_add_lanes(followed, count);

	if (error == 0)
		error = ft_nccl_ring_fit(&followed->ring, FT_NCCL_RING_LEAST, 1, count);
	if (error != 0)
		return error;
	ft_nccl_setup_fill(followed, exchange, met);
	for (uint8_t i = 0; error == 0 && i < count; i++) {
		if (i >= met)
			followed->lanes[i].cts = (struct ft_nccl_psns){ .known = true };
		if (i >= met || before.sender.qpns[i] == FT_NCCL_NONE)
			error = ft_nccl_setup_claim(connections, followed, exchange->vlan, i,
						    FT_NCCL_AT_SENDER);
		if (error != 0 || (i < met && before.receiver.qpns[i] != FT_NCCL_NONE))
			continue;
		expect_data(&followed->lanes[i]);
		error = ft_nccl_setup_claim(connections, followed, exchange->vlan, i,
					    FT_NCCL_AT_RECEIVER);
	}
	return error;
}

static void complete(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		     const struct ft_nccl_exchange *exchange, uint8_t count)
{
	bool is_first = followed->model.messages == 0;

	if (claim_others(connections, followed, exchange, count) != 0) {
		connections->dropped++;
		return;
	}
	if (is_first)
		ft_nccl_setup_count(followed, exchange);
	for (uint8_t i = 0; i < followed->model.qp_count; i++)
		ft_nccl_note(connections, followed, i, FT_NCCL_N1);
	ft_nccl_announce_targets(connections, followed);
	ft_nccl_setup_catch_up(connections, followed, 0);
}

bool ft_nccl_setup_late(struct ft_nccl_connections *connections,
			const struct ft_nccl_exchange *exchange, uint8_t count)
{
	struct ft_nccl_followed *followed = known_already(connections, exchange);

	if (followed == NULL)
		return false;
	ft_nccl_tcp_tell(&followed->model, exchange);
	ft_nccl_setup_sizes(&followed->model, exchange->receiver);
	ft_nccl_setup_narrow(followed, exchange->sender->form);
	ft_nccl_spares_claim(connections, followed, exchange);
	if (is_in_order(followed, exchange, count)) {
		complete(connections, followed, exchange, count);
		return true;
	}
	followed->told = count;
	ft_nccl_note(connections, followed, 0, FT_NCCL_N1);
	return true;
}
