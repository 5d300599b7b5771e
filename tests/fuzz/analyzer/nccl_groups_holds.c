#include "../holds.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <capture/frame.h>

#include "groups.h"
#include "protocol.h"

/*
 * Whatever connections and messages there are: every connection is in one communicator and on one channel of it, rings
 * lead through all members, operations have the bytes of the messages and bounds that hold what is exact, and a protocol
 * is told of any message. Five bytes make a connection, eleven a message.
 */

enum { CONNECTIONS_MAX = 40, MESSAGES_MAX = 300, CONNECTION = 5, MESSAGE = 11 };

struct world {
	struct ft_nccl_connection rows[CONNECTIONS_MAX], *connections[CONNECTIONS_MAX];
	struct ft_nccl_message messages[MESSAGES_MAX];
	struct ft_nccl_request requests[MESSAGES_MAX];
	size_t connection_count, message_count;
};

static void add_place(struct ft_nccl_party *party, uint8_t host)
{
	struct ft_nccl_place *place = &party->places[party->place_count++];

	place->address[15] = host;
}

static void read_connection(struct world *world, const uint8_t *bytes)
{
	const size_t at = world->connection_count++;
	struct ft_nccl_connection *row = &world->rows[at];

	*row = (struct ft_nccl_connection){ .connection = (uint32_t)(7 * at),
					    .first_frame = at + 1 };
	add_place(&row->sender, bytes[0] % 6);
	add_place(&row->receiver, bytes[1] % 6);
	if (bytes[2] & 1)
		add_place(&row->sender, bytes[2] >> 1 & 7);
	if (bytes[2] & 16)
		row->receiver.place_count = 0;
	row->qp_count = bytes[2] >> 5 & 1;
	row->sender.qpns[0] = bytes[3];
	row->receiver.qpns[0] = bytes[4];
	row->has_tcp = (bytes[2] & 64) != 0;
	row->tcp_frames[0] = bytes[3] >> 3;
	row->imm_content = bytes[4] & 1 ? FT_NCCL_IMM_LENGTH : FT_NCCL_IMM_UNKNOWN;
	row->imm_order = bytes[4] & 2 ? FT_NCCL_ORDER_BIG : FT_NCCL_ORDER_LITTLE;
	world->connections[at] = row;
}

static void read_message(struct world *world, const uint8_t *bytes)
{
	static const uint64_t offers[] = { 1048576, 524288, 131072, 65536, 614400, 57344, 4096, 0 };
	const size_t at = world->message_count++;
	struct ft_nccl_request *request = &world->requests[at];
	const uint64_t frame = 2 * at + 1;

	*request = (struct ft_nccl_request){
		.has_tag = (bytes[0] & 1) != 0,
		.has_offered = (bytes[0] & 2) != 0,
		.has_written = (bytes[0] & 4) != 0,
		.tag = bytes[1] > 250 ? 0x40000000 : (int32_t)(bytes[1] % 7) - 1,
		.offered = offers[bytes[2] % 8],
		.written = (uint64_t)bytes[3] << (bytes[4] % 24),
		.va = (uint64_t)bytes[5] << 16,
	};
	world->messages[at] = (struct ft_nccl_message){
		.connection = 7 * (bytes[6] % (uint32_t)(world->connection_count + 1)),
		.has_k = (bytes[0] & 8) != 0,
		.k = bytes[7] > 250 ? UINT64_MAX - bytes[8] : bytes[8],
		.cts_frame = bytes[0] & 16 ? frame - bytes[9] % frame : 0,
		.first_frame = bytes[0] & 32 ? frame : 0,
		.last_frame = bytes[0] & 32 ? frame + bytes[10] % 8 : 0,
		.cts_ts_ns = FT_TS_UNKNOWN,
		.first_ts_ns = frame,
		.last_ts_ns = frame + bytes[10],
		.has_imm = true,
		.imm = { bytes[3], bytes[4] },
		.completed = (bytes[0] & 64) != 0,
		.protocol = (enum ft_nccl_protocol)(bytes[10] % 4),
		.request_count = 1,
		.requests = request,
	};
}

static void read_world(struct world *world, const uint8_t *bytes, size_t size)
{
	size_t connections, at = 1;

	if (size == 0)
		return;
	connections = bytes[0] % CONNECTIONS_MAX;
	for (size_t i = 0; i < connections && at + CONNECTION <= size; i++, at += CONNECTION)
		read_connection(world, bytes + at);
	while (at + MESSAGE <= size && world->message_count < MESSAGES_MAX) {
		read_message(world, bytes + at);
		at += MESSAGE;
	}
}

static void channels_hold(const struct ft_nccl_communicator *row, size_t *seen)
{
	size_t sum = 0;

	for (size_t i = 0; i < row->channel_count; i++) {
		assert(row->channels[i].channel == i || row->channels[i].channel == FT_NCCL_NONE);
		sum += row->channels[i].connection_count;
	}
	assert(sum == row->connection_count && sum > 0);
	for (size_t i = 0; i < row->connection_count; i++)
		seen[row->connections[i] / 7]++;
}

static void ring_holds(const struct ft_nccl_communicator *row)
{
	bool met[2 * CONNECTIONS_MAX] = { false };

	for (size_t i = 0; row->ring != NULL && i < row->member_count; i++) {
		assert(row->ring[i] < row->member_count && !met[row->ring[i]]);
		met[row->ring[i]] = true;
	}
	for (size_t i = 1; i < row->member_count; i++) {
		const struct ft_nccl_member *before = &row->members[i - 1], *at = before + 1;

		assert(before->has_rank || !at->has_rank);
		assert(!at->has_rank || before->rank < at->rank);
	}
}

static void operation_holds(const struct ft_nccl_collective *row, uint64_t *bytes)
{
	assert(row->messages > 0 && row->first_frame > 0 && row->first_frame <= row->last_frame);
	assert(row->message_bytes_least <= row->message_bytes_most);
	assert(row->message_bytes == 0 || (row->message_bytes == row->message_bytes_least &&
					   row->message_bytes == row->message_bytes_most));
	*bytes += row->wire_bytes;
}

static void groups_hold(const struct world *world, const struct ft_nccl_groups *groups)
{
	size_t seen[CONNECTIONS_MAX + 1] = { 0 };
	uint64_t bytes = 0, all = 0;

	for (size_t i = 0; i < groups->communicator_count; i++) {
		channels_hold(&groups->communicators[i], seen);
		ring_holds(&groups->communicators[i]);
	}
	for (size_t i = 0; i < world->connection_count; i++)
		assert(seen[i] == 1);
	for (size_t i = 0; i < groups->collective_count; i++)
		operation_holds(&groups->collectives[i], &bytes);
	for (size_t i = 0; i < world->message_count; i++)
		all += world->requests[i].written;
	assert(bytes <= all);
}

static void protocol_holds(const uint8_t *bytes, size_t size)
{
	struct ft_nccl_message_signs signs = { 0 };
	enum ft_nccl_protocol protocol;
	uint64_t flag = 1;

	if (size < sizeof signs.offered + 4)
		return;
	signs.has_offered = (bytes[0] & 1) != 0;
	signs.has_written = (bytes[0] & 2) != 0;
	signs.offered = (uint64_t)(bytes[1] | bytes[2] << 8) << (bytes[0] >> 4);
	signs.written = (uint64_t)bytes[3] << (bytes[4] % 16);
	signs.va = (uint64_t)bytes[5] << (bytes[0] >> 2 & 3);
	signs.write = (struct ft_nccl_write){ bytes + 6, (uint32_t)size - 6, 16u << bytes[5] % 16 };
	protocol = ft_nccl_protocol_of(&signs, &flag);
	assert(protocol >= FT_NCCL_PROTOCOL_UNKNOWN && protocol <= FT_NCCL_LL128);
	assert(flag == 0 || protocol == FT_NCCL_LL || protocol == FT_NCCL_LL128);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct world *world = calloc(1, sizeof *world);
	struct ft_nccl_groups groups;

	assert(world != NULL);
	read_world(world, bytes, size);
	assert(ft_nccl_groups_make(&groups, world->connections, world->connection_count,
				   world->messages, world->message_count) == 0);
	groups_hold(world, &groups);
	ft_nccl_groups_free(&groups);
	protocol_holds(bytes, size);
	free(world);
}
