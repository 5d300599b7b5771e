#include "followed.h"

#include <string.h>

#include <decode/extremes.h>

/* What others are told of a connection: who keeps the ranks, the keys that strangers may use, the queue pairs. */

void ft_nccl_announce(const struct ft_nccl_connections *connections,
		      const struct ft_nccl_followed *followed, uint64_t frame, uint64_t ts_ns)
{
	const struct ft_nccl_contact contact = {
		.kind = FT_NCCL_CONTACT_CONNECTION,
		.frame = frame,
		.ts_ns = ts_ns,
		.from = followed->model.sender.places[0],
		.to = followed->model.receiver.places[0],
		.connection = followed->model.connection,
	};

	if (connections->sink.contact != NULL)
		connections->sink.contact(connections->sink.context, &contact);
}

void ft_nccl_hold(const struct ft_nccl_connections *connections, uint64_t frame)
{
	if (connections->sink.hold != NULL)
		connections->sink.hold(connections->sink.context, frame);
}

static struct ft_nccl_key key_of(const struct ft_nccl_followed *followed, uint8_t device,
				 uint32_t rkey)
{
	const struct ft_nccl_party *receiver = &followed->model.receiver;
	struct ft_nccl_key key = { .rkey = rkey, .connection = followed->model.connection };

	memcpy(key.address, receiver->places[device].address, sizeof key.address);
	return key;
}

void ft_nccl_announce_key(struct ft_nccl_connections *connections,
			  struct ft_nccl_followed *followed, uint8_t device, uint32_t rkey)
{
	uint32_t known = ft_smaller(followed->key_count, FT_NCCL_KEYS);
	uint32_t place = followed->key_count % FT_NCCL_KEYS;
	struct ft_nccl_key key;

	if (device >= followed->model.receiver.place_count)
		return;
	for (uint32_t i = 0; i < known; i++) {
		if (followed->keys[i] == rkey && followed->key_devices[i] == device)
			return;
	}
	if (known == FT_NCCL_KEYS) {
		key = key_of(followed, followed->key_devices[place], followed->keys[place]);
		ft_nccl_keys_remove(&connections->keys, &key);
	}
	key = key_of(followed, device, rkey);
	if (ft_nccl_keys_put(&connections->keys, &key) != 0)
		return;
	followed->keys[place] = rkey;
	followed->key_devices[place] = device;
	followed->key_count++;
}

bool ft_nccl_is_announced(const struct ft_nccl_followed *followed, uint32_t rkey)
{
	uint32_t known = ft_smaller(followed->key_count, FT_NCCL_KEYS);

	for (uint32_t i = 0; i < known; i++) {
		if (followed->keys[i] == rkey)
			return true;
	}
	return false;
}

static void announce_target(struct ft_nccl_connections *connections,
			    const struct ft_nccl_followed *followed,
			    const struct ft_nccl_party *party, const struct ft_nccl_target *target)
{
	for (uint8_t i = 0; i < target->rkey_count && i < party->place_count; i++) {
		struct ft_nccl_key key = { .rkey = target->rkeys[i],
					   .connection = followed->model.connection };

		memcpy(key.address, party->places[i].address, sizeof key.address);
		if (ft_nccl_keys_put(&connections->keys, &key) != 0)
			return;
	}
}

void ft_nccl_announce_targets(struct ft_nccl_connections *connections,
			      const struct ft_nccl_followed *followed)
{
	const struct ft_nccl_connection *model = &followed->model;

	announce_target(connections, followed, &model->sender, &model->fifo);
	announce_target(connections, followed, &model->receiver, &model->sizes);
}

static struct ft_nccl_qp *qp_of(struct ft_nccl_connections *connections,
				const struct ft_nccl_party *party, uint8_t lane)
{
	if (party->qpns[lane] == FT_NCCL_NONE || party->place_count == 0)
		return NULL;
	return ft_nccl_qps_of(connections->qps, &party->places[party->qp_device[lane]],
			      party->qpns[lane]);
}

void ft_nccl_note(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		  uint8_t lane, enum ft_nccl_evidence evidence)
{
	const struct ft_nccl_connection *model = &followed->model;
	struct ft_nccl_qp *ends[2];

	if (connections->config.queue_pairs == 0 ||
	    (followed->lanes[lane].noted & 1u << evidence) != 0)
		return;
	ends[0] = qp_of(connections, &model->sender, lane);
	ends[1] = qp_of(connections, &model->receiver, lane);
	if (ends[0] != NULL && ends[1] != NULL)
		followed->lanes[lane].noted |= (uint16_t)(1u << evidence);
	for (unsigned i = 0; i < 2; i++) {
		ft_nccl_qp_note(ends[i], evidence);
		ft_nccl_qp_join(ends[i], model->connection);
	}
}

void ft_nccl_give_up(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed)
{
	const struct ft_nccl_connection *model = &followed->model;

	followed->given_up = true;
	for (uint8_t lane = 0; lane < followed->lane_count; lane++) {
		uint16_t noted = followed->lanes[lane].noted;

		ft_nccl_qp_leave(qp_of(connections, &model->sender, lane), noted);
		ft_nccl_qp_leave(qp_of(connections, &model->receiver, lane), noted);
	}
}
