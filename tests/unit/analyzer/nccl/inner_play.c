#include "inner_play.h"

#include <stdlib.h>

static void note_found(void *context, const struct ft_nccl_found *found)
{
	struct inner *inner = context;

	assert_true(inner->found_count < INNER_FOUND);
	inner->found[inner->found_count++] = *found;
}

static void note_held(void *context, uint64_t frame)
{
	struct inner *inner = context;

	assert_true(inner->held_count < INNER_FOUND);
	inner->held[inner->held_count++] = frame;
}

struct ft_nccl_followed *inner_follow(struct inner *inner, uint8_t lanes)
{
	struct ft_nccl_followed *followed = ft_nccl_follow(inner->connections);

	assert_non_null(followed);
	assert_int_equal(ft_nccl_add_lanes(followed, lanes), 0);
	assert_int_equal(ft_nccl_ring_fit(&followed->ring, FT_NCCL_RING_LEAST, 4, lanes), 0);
	followed->model.qp_count = lanes;
	followed->model.devices = followed->model.qps_per_device = 1;
	followed->model.is_set_up = followed->model.has_tcp = true;
	followed->numbered = true;
	followed->readable = 1;
	for (uint8_t i = 0; i < lanes; i++) {
		followed->model.sender.qpns[i] = SENDER_QP + 2u * i;
		followed->model.receiver.qpns[i] = RECEIVER_QP + 2u * i;
	}
	return followed;
}

struct inner *inner_open(uint8_t lanes)
{
	const struct ft_nccl_config config = FT_NCCL_DEFAULTS;
	struct inner *inner = calloc(1, sizeof *inner);
	const struct ft_nccl_sink sink = { .found = note_found,
					   .hold = note_held,
					   .context = inner };

	assert_non_null(inner);
	assert_int_equal(ft_nccl_qps_create(&inner->qps, 64, 1), 0);
	assert_int_equal(
		ft_nccl_connections_create(&inner->connections, &config, inner->qps, &sink), 0);
	inner->followed = inner_follow(inner, lanes);
	return inner;
}

void inner_close(struct inner *inner)
{
	ft_nccl_connections_destroy(inner->connections);
	ft_nccl_qps_destroy(inner->qps);
	free(inner);
}

struct ft_nccl_moment inner_moment(struct inner *inner, uint8_t lane,
				   const struct ft_nccl_seen *seen)
{
	return (struct ft_nccl_moment){
		.connections = inner->connections,
		.followed = inner->followed,
		.lane = &inner->followed->lanes[lane],
		.lane_index = lane,
		.turn = FT_NCCL_NEXT,
		.seen = seen,
	};
}

struct ft_nccl_transfer *inner_asked(struct inner *inner, uint64_t k, uint64_t frame)
{
	struct ft_nccl_transfer *transfer = ft_nccl_ring_begin(&inner->followed->ring, k);

	transfer->has_cts = true;
	transfer->message.cts_frame = frame;
	transfer->message.request_count = 1;
	*inner_request(inner, transfer) = (struct ft_nccl_request){
		.has_offered = true,
		.offered = OFFERED,
		.va = buffer_of(k),
		.rkeys = { DATA_KEY },
		.rkey_count = 1,
	};
	return transfer;
}

struct ft_nccl_seen inner_write(uint8_t opcode, uint64_t k, uint32_t length, uint64_t frame)
{
	static const uint8_t none[1];
	const struct packet packet = {
		.from = SENDER,
		.to = RECEIVER,
		.opcode = opcode,
		.qpn = RECEIVER_QP,
		.va = buffer_of(k),
		.rkey = DATA_KEY,
		.length = length,
		.payload = length < MTU ? length : MTU,
	};
	struct ft_nccl_seen seen = seen_of(&packet, frame);

	seen.payload = none; /* nothing of it was captured */
	return seen;
}

struct ft_nccl_share *inner_share(struct inner *inner, const struct ft_nccl_transfer *transfer,
				  uint8_t lane)
{
	return ft_nccl_ring_shares(&inner->followed->ring, transfer) + lane;
}

struct ft_nccl_request *inner_request(struct inner *inner, const struct ft_nccl_transfer *transfer)
{
	return ft_nccl_ring_requests(&inner->followed->ring, transfer);
}

struct ft_nccl_transfer *inner_carried(struct inner *inner, uint64_t k, uint8_t lane, uint32_t from,
				       uint32_t to, bool ended)
{
	struct ft_nccl_transfer *transfer = inner_asked(inner, k, INNER_ASKED);

	*inner_share(inner, transfer, lane) = (struct ft_nccl_share){
		.first = { .va = buffer_of(k), .frame = INNER_CARRIED, .length = 64, .psn = from },
		.packets = to - from + 1,
		.from = from,
		.to = to,
		.used = true,
		.begun = true,
		.ended = ended,
		.requests = 1,
	};
	transfer->message.packets = to - from + 1;
	transfer->message.first_frame = transfer->message.last_frame = INNER_CARRIED;
	return transfer;
}

void inner_late(struct inner *inner, uint8_t lane, uint8_t opcode, uint64_t k, uint32_t psn)
{
	struct ft_nccl_seen seen = inner_write(opcode, k, 64, INNER_NOW);
	struct ft_nccl_moment moment = inner_moment(inner, lane, &seen);

	seen.psn = psn;
	seen.immdt = 64;
	if (opcode == 0x06) {
		seen.length = 3 * MTU;
		seen.payload_length = MTU;
	}
	moment.turn = FT_NCCL_LATE;
	ft_nccl_late_see(&moment);
}
