#include "lock_parts.h"

#include <string.h>

#include <decode/packet.h>

#include "family.h"
#include "fifo.h"
#include "grid.h"
#include "replay.h"

enum {
	LOOKS = 16,       /* writes of a queue pair that are compared with the newest */
	RESTARTS_MOST = 4 /* of its log: by then it would have turned out to be NCCL's */
};

static void set_place(struct ft_nccl_party *party, const uint8_t address[16], bool by_lid,
		      uint32_t qpn)
{
	party->place_count = 1;
	memcpy(party->places[0].address, address, sizeof party->places[0].address);
	party->places[0].by_lid = by_lid;
	party->qpns[0] = qpn;
}

static struct ft_nccl_followed *follow(struct ft_nccl_connections *connections,
				       const struct ft_nccl_stranger *stranger, uint64_t frame)
{
	struct ft_nccl_followed *followed = ft_nccl_follow(connections);
	struct ft_nccl_end end = { .qpn = stranger->qpn,
				   .vni = stranger->vni,
				   .told_vni = stranger->vni,
				   .role = FT_NCCL_AT_SENDER,
				   .by_lid = stranger->by_lid };

	if (followed == NULL)
		return NULL;
	set_place(&followed->model.sender, stranger->dst, stranger->by_lid, stranger->qpn);
	set_place(&followed->model.receiver, stranger->src, stranger->by_lid, FT_NCCL_NONE);
	followed->model.first_frame = frame;
	followed->vni = stranger->vni;
	followed->model.devices = followed->model.qps_per_device = followed->model.qp_count = 1;
	end.connection = followed->model.connection;
	memcpy(end.address, stranger->dst, sizeof end.address);
	if (ft_nccl_add_lanes(followed, 1) != 0 || ft_nccl_claim(connections, &end) != 0)
		return NULL;
	followed->lanes[0].udp_sport = stranger->udp_sport;
	return followed;
}

/* Clear-to-sends since the first one that agrees are the connection's. */
static void catch_up(struct ft_nccl_connections *connections, struct ft_nccl_stranger *const *fifos,
		     unsigned count, uint64_t from)
{
	struct ft_nccl_replay replays[FT_NCCL_DEVICES_MAX];

	for (unsigned i = 0; i < count; i++)
		ft_nccl_replay_begin(&replays[i], fifos[i], from);
	ft_nccl_replay_all(connections, replays, count);
}

/* Packets kept of it and of the queue pairs that answer belong to the connection now. */
static void begin(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		  struct ft_nccl_stranger *const *fifos, unsigned count,
		  const struct ft_nccl_replies *replies, uint64_t ts_ns)
{
	followed->model.first_ts_ns = ts_ns;
	catch_up(connections, fifos, count, followed->model.first_frame);
	ft_nccl_announce_targets(connections, followed);
	ft_nccl_announce(connections, followed, followed->model.first_frame, ts_ns);
	ft_nccl_bind_all(connections, followed, replies);
}

static void set_device(struct ft_nccl_followed *followed, const struct ft_nccl_stranger *stranger,
		       uint32_t rkey)
{
	struct ft_nccl_connection *model = &followed->model;
	uint8_t device = model->devices++;

	memcpy(model->sender.places[device].address, stranger->dst, sizeof stranger->dst);
	memcpy(model->receiver.places[device].address, stranger->src, sizeof stranger->src);
	model->sender.places[device].by_lid = stranger->by_lid;
	model->receiver.places[device].by_lid = stranger->by_lid;
	model->sender.place_count = model->receiver.place_count = model->devices;
	model->sender.qpns[device] = stranger->qpn;
	model->receiver.qpns[device] = FT_NCCL_NONE;
	model->sender.qp_device[device] = model->receiver.qp_device[device] = device;
	model->fifo.rkeys[device] = rkey;
	model->fifo.rkey_count = model->devices;
	model->qp_count = model->devices;
	model->qps_per_device = 1;
	followed->lanes[device].udp_sport = stranger->udp_sport;
}

/* Two ends of a further device, with the key of the FIFO there. False: there is no room. */
static bool add_device(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		       const struct ft_nccl_stranger *stranger, uint32_t rkey)
{
	struct ft_nccl_end end = { .qpn = stranger->qpn,
				   .vni = stranger->vni,
				   .told_vni = stranger->vni,
				   .connection = followed->model.connection,
				   .lane = followed->model.devices,
				   .role = FT_NCCL_AT_SENDER,
				   .by_lid = stranger->by_lid };

	memcpy(end.address, stranger->dst, sizeof end.address);
	if (ft_nccl_add_lanes(followed, end.lane + 1u) != 0 ||
	    ft_nccl_ring_fit(&followed->ring, FT_NCCL_RING_LEAST, 1, end.lane + 1u) != 0 ||
	    ft_nccl_claim(connections, &end) != 0)
		return false;
	set_device(followed, stranger, rkey);
	return true;
}

/* Keys of the new device that clear-to-sends gave before its place was known. */
static void announce_keys(struct ft_nccl_connections *connections,
			  struct ft_nccl_followed *followed)
{
	const struct ft_nccl_ring *ring = &followed->ring;
	uint8_t device = (uint8_t)(followed->model.devices - 1);

	for (uint32_t i = 0; i < ring->slots; i++) {
		const struct ft_nccl_transfer *transfer = &ring->transfers[i];
		const struct ft_nccl_request *requests = ft_nccl_ring_requests(ring, transfer);

		if (!transfer->used || !transfer->has_cts)
			continue;
		for (uint8_t r = 0; r < transfer->message.request_count; r++) {
			if (device < requests[r].rkey_count && requests[r].rkeys[device] != 0)
				ft_nccl_announce_key(connections, followed, device,
						     requests[r].rkeys[device]);
		}
	}
}

/* Keys that were announced, by the device whose they are: its place has changed, or is to. */
static void move_keys(struct ft_nccl_connections *connections,
		      const struct ft_nccl_followed *followed, bool is_back)
{
	const struct ft_nccl_party *receiver = &followed->model.receiver;

	for (uint32_t i = 0; i < followed->key_count && i < FT_NCCL_KEYS; i++) {
		struct ft_nccl_key key = { .rkey = followed->keys[i],
					   .connection = followed->model.connection };

		memcpy(key.address, receiver->places[followed->key_devices[i]].address,
		       sizeof key.address);
		if (is_back)
			ft_nccl_keys_put(&connections->keys, &key);
		else
			ft_nccl_keys_remove(&connections->keys, &key);
	}
}

static void move_lane(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		      uint8_t from, uint8_t to, const struct ft_nccl_followed *before)
{
	const struct ft_nccl_connection *model = &before->model;
	struct ft_nccl_end *end = ft_nccl_ends_own(&connections->ends, &model->sender.places[from],
						   model->sender.qpns[from], model->connection);

	followed->model.sender.places[to] = model->sender.places[from];
	followed->model.receiver.places[to] = model->receiver.places[from];
	followed->model.sender.qpns[to] = model->sender.qpns[from];
	followed->model.fifo.rkeys[to] = model->fifo.rkeys[from];
	if (end != NULL)
		end->lane = to;
}

static void swap_devices(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
			 uint8_t a, uint8_t b)
{
	const struct ft_nccl_followed before = *followed;
	const struct ft_nccl_lane lane = followed->lanes[a];

	move_keys(connections, followed, false);
	move_lane(connections, followed, a, b, &before);
	move_lane(connections, followed, b, a, &before);
	followed->lanes[a] = followed->lanes[b];
	followed->lanes[b] = lane;
	move_keys(connections, followed, true);
}

/* Once all devices are met, and before their data is: message k is asked for on device k modulo their number. */
static void order_devices(struct ft_nccl_connections *connections,
			  struct ft_nccl_followed *followed)
{
	const uint8_t devices = followed->model.devices;

	for (uint8_t i = 0; i < devices; i++) {
		if (followed->lanes[i].cts_step != devices ||
		    followed->model.receiver.qpns[i] != FT_NCCL_NONE)
			return;
	}
	for (uint8_t i = 0; i < devices; i++) {
		uint8_t at = i;

		while (at < devices && followed->lanes[at].cts_k % devices != i)
			at++;
		if (at < devices && at != i)
			swap_devices(connections, followed, i, at);
	}
}

/* A connection with this FIFO that takes clear-to-sends in turn with devices that were not met yet. */
static struct ft_nccl_followed *with_fifo(const struct ft_nccl_connections *connections,
					  const struct ft_nccl_stranger *stranger,
					  const struct ft_nccl_agreement *agreement,
					  const struct ft_nccl_look *newest)
{
	uint32_t recent = ft_nccl_recent(connections);

	for (uint32_t i = connections->count; i > recent; i--) {
		struct ft_nccl_followed *followed = connections->all[i - 1];

		if (!followed->model.is_set_up && !followed->retired &&
		    followed->lane_count == followed->model.devices &&
		    ft_nccl_is_in(followed, stranger->vni) &&
		    followed->lanes[0].cts_step > followed->model.devices &&
		    (followed->families & agreement->families) != 0 &&
		    followed->slot_bytes == agreement->slot_bytes &&
		    followed->model.sender.places[0].by_lid == stranger->by_lid &&
		    followed->model.fifo.rkeys[0] != newest->seen.rkey &&
		    ft_nccl_fifo_has(followed, newest->seen.va))
			return followed;
	}
	return NULL;
}

/* The stranger is a further device of a connection. */
static bool join(struct ft_nccl_connections *connections, struct ft_nccl_stranger *stranger,
		 const struct ft_nccl_agreement *agreement, const struct ft_nccl_look *newest)
{
	struct ft_nccl_followed *followed = with_fifo(connections, stranger, agreement, newest);

	if (followed == NULL || followed->model.devices == FT_NCCL_DEVICES_MAX ||
	    !add_device(connections, followed, stranger, newest->seen.rkey))
		return false;
	announce_keys(connections, followed);
	catch_up(connections, &stranger, 1, agreement->frame);
	order_devices(connections, followed);
	ft_nccl_announce_targets(connections, followed);
	ft_nccl_bind_all(connections, followed, NULL);
	return true;
}

void ft_nccl_lock_content(struct ft_nccl_connections *connections,
			  struct ft_nccl_stranger *stranger,
			  const struct ft_nccl_agreement *agreement)
{
	struct ft_nccl_followed *followed = follow(connections, stranger, agreement->frame);

	if (followed == NULL)
		return;
	followed->model.found_by = FT_NCCL_BY_CTS;
	followed->families = agreement->families;
	followed->slot_bytes = agreement->slot_bytes;
	begin(connections, followed, &stranger, 1, NULL, agreement->ts_ns);
}

static void lock_by_content(struct ft_nccl_connections *connections,
			    struct ft_nccl_stranger *stranger, const struct ft_nccl_look *newest)
{
	struct ft_nccl_agreement agreement = ft_nccl_agreement_of(stranger->log, newest);

	if (agreement.families != 0 && !join(connections, stranger, &agreement, newest))
		ft_nccl_lock_content(connections, stranger, &agreement);
}

static void lock_by_grid(struct ft_nccl_connections *connections, struct ft_nccl_stranger *stranger)
{
	struct ft_nccl_grid grid;
	struct ft_nccl_followed *followed;

	if (!ft_nccl_grid_of(connections, stranger, &grid))
		return;
	followed = follow(connections, grid.fifos[0], grid.frame);
	if (followed == NULL)
		return;
	followed->model.found_by = grid.plain ? FT_NCCL_BY_CTS : FT_NCCL_BY_LENGTHS;
	followed->model.fifo.entry_bytes = grid.entry_bytes;
	followed->model.fifo.slot_bytes = grid.slot_bytes;
	followed->model.fifo.rkeys[0] = grid.rkeys[0];
	followed->model.fifo.rkey_count = 1;
	followed->by_grid = true;
	followed->blind = !grid.plain;
	connections->has_blind = connections->has_blind || followed->blind;
	followed->plain = grid.plain && grid.families == 0;
	followed->rkey_at = grid.rkey_at;
	followed->families = grid.families;
	for (unsigned i = 1; i < grid.devices; i++) {
		if (!add_device(connections, followed, grid.fifos[i], grid.rkeys[i]))
			return;
	}
	begin(connections, followed, grid.fifos, grid.devices, grid.plain ? NULL : &grid.replies,
	      grid.ts_ns);
}

static void lock(struct ft_nccl_connections *connections, struct ft_nccl_stranger *stranger,
		 const struct ft_nccl_seen *seen)
{
	struct ft_nccl_look newest;

	if (stranger->log == NULL || seen->opcode != 0x0a)
		return;
	if (ft_nccl_look_at(seen, &newest))
		lock_by_content(connections, stranger, &newest);
	if (stranger->log != NULL)
		lock_by_grid(connections, stranger);
}

/* SEND of any kind, atomics: no data queue pair of NCCL has them. */
static bool is_foreign(uint8_t opcode)
{
	return opcode <= 0x05 || opcode >= 0x13;
}

void ft_nccl_stranger_see(struct ft_nccl_connections *connections, const struct ft_nccl_seen *seen)
{
	struct ft_nccl_stranger_table *table = &connections->strangers;
	struct ft_nccl_stranger *stranger;

	if (seen->opcode > 0x17 || connections->is_replaying)
		return;
	if (seen->opcode == FT_NCCL_ACK) {
		ft_nccl_pair(connections, seen);
		return;
	}
	stranger = ft_nccl_stranger_of(table, seen);
	if (stranger == NULL)
		return;
	if (is_foreign(seen->opcode))
		ft_nccl_stranger_exclude(table, stranger);
	if (!ft_nccl_is_write(seen->opcode))
		return;
	if (!stranger->excluded) {
		ft_nccl_stranger_keep(table, stranger, seen);
		ft_nccl_replies_doubt(connections, stranger);
	}
	if ((seen->has & FT_HAS_RETH) != 0 && ft_nccl_bind_one(connections, stranger, seen))
		return;
	if (ft_nccl_lock_lone(connections, stranger, seen))
		return;
	if (!stranger->excluded && stranger->log != NULL && stranger->log->restarts > RESTARTS_MOST)
		ft_nccl_stranger_exclude(table, stranger);
	if (!stranger->excluded)
		lock(connections, stranger, seen);
}
