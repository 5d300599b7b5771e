#include "lock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <decode/packet.h>

#include "anew.h"
#include "cut_writes.h"
#include "faults.h"
#include "fork.h"
#include "later_setup.h"
#include "order.h"
#include "run.h"
#include "spares.h"
#include "successor.h"

#define HINTS_BYTES (FT_NCCL_HINTS * sizeof(struct ft_nccl_hint))

/* Where packets may go straight: in huge pages, as each packet asks for a few lines of these, of whichever connection. */
static int reserve_straights(struct ft_nccl_connections *connections)
{
	const struct ft_nccl_config *config = &connections->config;
	size_t bytes = HINTS_BYTES + config->connections * sizeof *connections->straights;

	if (!ft_nccl_may_go_straight(config) || config->connections > FT_NCCL_HINT_CONNECTIONS)
		return 0;
	if (ft_growth_reserve(&connections->straight_memory,
			      (bytes + FT_HUGE_PAGE - 1) & ~(FT_HUGE_PAGE - 1)) != 0)
		return -ENOMEM;
	ft_growth_be_huge(&connections->straight_memory);
	connections->hints = (struct ft_nccl_hint *)connections->straight_memory.memory;
	connections->straights =
		(struct ft_nccl_straight *)(connections->straight_memory.memory + HINTS_BYTES);
	return 0;
}

/* For one more connection, before its packets ask for them one page at a time. */
static void take_straight(struct ft_nccl_connections *connections,
			  struct ft_nccl_followed *followed)
{
	ft_growth_upto(&connections->straight_memory,
		       HINTS_BYTES + (connections->count + 1) * sizeof *connections->straights);
	followed->straight = &connections->straights[connections->count];
}

int ft_nccl_connections_create(struct ft_nccl_connections **connections,
			       const struct ft_nccl_config *config, struct ft_nccl_qps *qps,
			       const struct ft_nccl_sink *sink)
{
	struct ft_nccl_connections *made = calloc(1, sizeof *made);

	if (made == NULL)
		return -ENOMEM;
	made->pool = ft_pool_create();
	made->config = *config;
	made->qps = qps;
	made->sink = *sink;
	made->ends.seed = made->spares.seed = made->keys.seed = config->seed;
	made->strangers.seed = made->unpaired.seed = config->seed;
	made->strangers.most_logs =
		config->ends_only ? FT_NCCL_STRANGER_LOGS_BESIDE : FT_NCCL_STRANGER_LOGS;
	made->store.most = config->messages;
	if (made->pool == NULL || reserve_straights(made) != 0) {
		ft_growth_release(&made->straight_memory);
		ft_pool_destroy(made->pool);
		free(made);
		return -ENOMEM;
	}
	*connections = made;
	return 0;
}

static size_t lanes_bytes(uint32_t count)
{
	return count * sizeof(struct ft_nccl_lane);
}

static void free_followed(struct ft_pool *pool, struct ft_nccl_followed *followed)
{
	ft_nccl_ring_free(&followed->ring);
	ft_nccl_fork_drop(followed);
	ft_nccl_straight_drop_room(followed);
	free(followed->model.connecting_device);
	free(followed->model.listening_device);
	ft_pool_give(pool, followed->lanes, lanes_bytes(followed->lane_room));
	ft_pool_give(pool, followed, sizeof *followed);
}

void ft_nccl_connections_destroy(struct ft_nccl_connections *connections)
{
	if (connections == NULL)
		return;
	for (uint32_t i = 0; i < connections->count; i++)
		free_followed(connections->pool, connections->all[i]);
	free(connections->all);
	ft_growth_release(&connections->straight_memory);
	ft_nccl_ends_free(&connections->ends);
	ft_nccl_ends_free(&connections->spares);
	ft_nccl_keys_free(&connections->keys);
	ft_nccl_strangers_free(&connections->strangers);
	ft_nccl_unpaired_free(&connections->unpaired);
	ft_nccl_store_free(&connections->store);
	free(connections->cut_setups);
	ft_nccl_later_setups_free(connections);
	ft_nccl_drop_kept(connections);
	ft_pool_destroy(connections->pool);
	free(connections);
}

static bool make_room(struct ft_nccl_connections *connections)
{
	uint32_t room = connections->room != 0 ? 2 * connections->room : 64;
	struct ft_nccl_followed **all;

	if (connections->count < connections->room)
		return true;
	all = realloc(connections->all, room * sizeof(struct ft_nccl_followed *));
	if (all == NULL)
		return false;
	connections->all = all;
	connections->room = room;
	return true;
}

struct ft_nccl_followed *ft_nccl_follow(struct ft_nccl_connections *connections)
{
	struct ft_nccl_followed *followed = NULL;

	if (connections->count < connections->config.connections && make_room(connections))
		followed = ft_pool_take_zeroed(connections->pool, sizeof *followed);
	if (followed == NULL) {
		connections->dropped++;
		return NULL;
	}
	followed->ring.pool = connections->pool;
	followed->model.connection = connections->count;
	followed->model.channel = FT_NCCL_NONE;
	followed->vni = UINT32_MAX;
	followed->orders = 1u << FT_NCCL_LITTLE | 1u << FT_NCCL_BIG;
	if (connections->straights != NULL)
		take_straight(connections, followed);
	connections->all[connections->count++] = followed;
	return followed;
}

/* Room for twice as many each time. */
int ft_nccl_make_lanes(struct ft_nccl_followed *followed, uint32_t count)
{
	struct ft_pool *pool = followed->ring.pool;
	uint32_t room = followed->lane_room != 0 ? followed->lane_room : 1;
	struct ft_nccl_lane *lanes;
	bool is_zero;

	while (room < count)
		room *= 2;
	if (room == followed->lane_room)
		return 0;
	lanes = ft_pool_take_any(pool, lanes_bytes(room), &is_zero);
	if (lanes == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < followed->lane_count; i++)
		ft_nccl_lane_move(&lanes[i], &followed->lanes[i]);
	ft_pool_give(pool, followed->lanes, lanes_bytes(followed->lane_room));
	followed->lanes = lanes;
	followed->lane_room = (uint8_t)room;
	followed->lanes_zero = is_zero;
	return 0;
}

int ft_nccl_add_lanes(struct ft_nccl_followed *followed, uint32_t count)
{
	int error = ft_nccl_make_lanes(followed, count);

	for (; error == 0 && followed->lane_count < count; followed->lane_count++)
		ft_nccl_lane_begin(&followed->lanes[followed->lane_count], followed->lanes_zero);
	return error;
}

static void release(struct ft_nccl_connections *connections,
		    const struct ft_nccl_followed *followed, const struct ft_nccl_party *party,
		    uint8_t lane)
{
	struct ft_nccl_end *end;

	if (party->qpns[lane] == FT_NCCL_NONE)
		return;
	end = ft_nccl_ends_own(&connections->ends, &party->places[party->qp_device[lane]],
			       party->qpns[lane], followed->model.connection);
	if (end != NULL)
		ft_nccl_ends_remove(&connections->ends, end);
}

void ft_nccl_retire(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed)
{
	ft_nccl_straight_leave(followed);
	ft_nccl_anew_settle(connections, followed, true);
	for (uint8_t i = 0; i < followed->lane_count; i++) {
		release(connections, followed, &followed->model.sender, i);
		release(connections, followed, &followed->model.receiver, i);
	}
	for (uint32_t i = 0; i < followed->ring.slots; i++) {
		if (followed->ring.transfers[i].used)
			ft_nccl_keep(connections, followed, &followed->ring.transfers[i]);
	}
	ft_nccl_ring_free(&followed->ring);
	ft_nccl_fork_drop(followed);
	followed->retired = true;
}

int ft_nccl_claim(struct ft_nccl_connections *connections, const struct ft_nccl_end *end)
{
	const struct ft_nccl_end *old = ft_nccl_ends_rival(&connections->ends, end);

	if (old != NULL && old->connection != end->connection) {
		if (end->unsure)
			return 0;
		if (!old->unsure)
			ft_nccl_retire(connections, connections->all[old->connection]);
	}
	return ft_nccl_ends_put(&connections->ends, end);
}

bool ft_nccl_is_from_peer(const struct ft_nccl_followed *followed, const struct ft_nccl_end *end,
			  const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_party *peer = end->role == FT_NCCL_AT_SENDER
						   ? &followed->model.receiver
						   : &followed->model.sender;

	for (uint8_t i = 0; i < peer->place_count; i++) {
		if (memcmp(peer->places[i].address, seen->ends.src, sizeof seen->ends.src) == 0)
			return true;
	}
	return false;
}

/* A write begins, the first one of its direction. */
static void meet(const struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		 bool is_data)
{
	if (connections->is_replaying)
		return;
	followed->met[is_data] = true;
	if (connections->sink.met != NULL)
		connections->sink.met(connections->sink.context, followed->model.connection,
				      is_data);
}

/* A VLAN that is apart may be another one's than that of a set-up elsewhere. */
static bool tells_net(const struct ft_nccl_end *end, const struct ft_nccl_seen *seen)
{
	return !ft_nccl_is_vlan_apart(seen->ends.vni) || end->told_vlan == seen->vlan + 1;
}

static void follow_on(struct ft_nccl_connections *connections, struct ft_nccl_end *end,
		      const struct ft_nccl_seen *seen)
{
	struct ft_nccl_followed *followed = connections->all[end->connection];
	struct ft_nccl_moment moment = {
		.connections = connections,
		.followed = followed,
		.lane = &followed->lanes[end->lane],
		.lane_index = end->lane,
		.seen = seen,
	};

	bool is_data = end->role == FT_NCCL_AT_RECEIVER; /* the end may move from here on */

	if (end->any_vni && tells_net(end, seen)) {
		end->any_vni = false;
		end->vni = followed->vni = seen->ends.vni;
		followed->any_vni = false;
	}
	ft_nccl_note_net(&followed->model, seen);
	if (seen->opcode == FT_NCCL_ACK && seen->syndrome < FT_NCCL_NAKS)
		ft_nccl_order_acknowledge(&moment, is_data);
	if (!ft_nccl_is_write(seen->opcode))
		return;
	if (!followed->met[is_data] && ft_nccl_begins(seen->opcode))
		meet(connections, followed, is_data);
	if (!is_data) {
		ft_nccl_cts_see(&moment);
		return;
	}
	ft_nccl_data_see(&moment);
	if (seen->opcode == 0x06 && !connections->config.ends_only && !followed->retired)
		ft_nccl_run_note(connections, seen, followed->model.connection, moment.lane_index);
}

/* To an end of a connection, by its peer or by somebody else. */
static void see_followed(struct ft_nccl_connections *connections, struct ft_nccl_end *end,
			 const struct ft_nccl_seen *seen)
{
	struct ft_nccl_followed *followed = connections->all[end->connection];

	if (followed->given_up)
		return;
	ft_nccl_straight_leave(followed);
	if (ft_nccl_is_from_peer(followed, end, seen))
		follow_on(connections, end, seen);
	else
		ft_nccl_successor_see_other(connections, followed, seen);
	if (!followed->retired && followed->straight != NULL &&
	    !ft_nccl_is_vlan_apart(seen->ends.vni) && !ft_nccl_fault_waits(connections, followed))
		ft_nccl_straight_enter(followed);
}

struct ft_nccl_end *ft_nccl_earlier_end(const struct ft_nccl_connections *connections,
					const struct ft_nccl_seen *seen, struct ft_nccl_end *end)
{
	struct ft_nccl_end *earlier;

	if (end != NULL && !end->any_vni)
		return end;
	earlier = ft_nccl_ends_of(&connections->ends, seen, UINT32_MAX);
	if (earlier == NULL || earlier->any_vni ||
	    !ft_nccl_was_in_vlan(connections->all[earlier->connection], seen->ends.vni))
		return end;
	return earlier;
}

void ft_nccl_connections_see(struct ft_nccl_connections *connections,
			     const struct ft_nccl_seen *seen, struct ft_nccl_qp *qp)
{
	struct ft_nccl_end *end;

	(void)qp;
	if (ft_nccl_run_on(connections, seen) || ft_nccl_leave_out_cut(connections, seen))
		return;
	end = ft_nccl_end_of(connections, seen);
	if (ft_nccl_later_setup_see(connections, seen, end))
		end = ft_nccl_end_of(connections, seen);
	if (end != NULL && !ft_nccl_unpair(connections, end, seen)) {
		see_followed(connections, end, seen);
		return;
	}
	ft_nccl_spares_see(connections, seen);
	ft_nccl_stranger_see(connections, seen);
}

void ft_nccl_replay(struct ft_nccl_connections *connections, const struct ft_nccl_logged *logged)
{
	struct ft_nccl_seen seen = logged->seen;
	struct ft_nccl_end *end = ft_nccl_end_of(connections, &seen);

	connections->is_replaying = true;
	for (uint32_t i = 0; end != NULL && i < logged->run; i++) {
		if (i + 1 == logged->run) {
			seen.frame = logged->last_frame;
			seen.ts_ns = logged->last_ts_ns;
		}
		follow_on(connections, end, &seen);
		seen.psn = ft_psn_add(seen.psn, 1);
	}
	connections->is_replaying = false;
}

bool ft_nccl_connections_are_met(const struct ft_nccl_connections *connections)
{
	return connections->count != 0 || connections->cut_setups != NULL;
}

const struct ft_nccl_connection *ft_nccl_connections_get(
	const struct ft_nccl_connections *connections, uint32_t id)
{
	return id < connections->count ? &connections->all[id]->model : NULL;
}
