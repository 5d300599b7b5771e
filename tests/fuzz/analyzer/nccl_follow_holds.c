#include "../holds.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <capture/frame.h>
#include <decode/opcode.h>
#include <decode/packet.h>

#include "connections.h"

/*
 * Any packets between two hosts with two addresses each, likely ones among them: clear-to-sends of all families in order,
 * data that answers, set-ups. Nothing is kept beyond the configuration, and what is told of messages agrees with itself.
 */

enum { PACKET = 8, CONNECTIONS = 6, MESSAGES = 40, FINDINGS = 50, QPS = 32, LONGEST = 512 };

struct world {
	struct ft_nccl_qps *qps;
	struct ft_nccl_connections *connections;
	uint64_t frame, found, contacts;
	uint64_t k[4]; /* of the next clear-to-send, by queue pair */
	uint32_t psn[8];
	uint8_t payload[LONGEST];
};

static const uint8_t opcodes[] = { 0x0a, 0x0a, 0x0a, 0x06, 0x07, 0x08, 0x09, 0x0b,
				   0x0b, 0x0b, 0x11, 0x04, 0x0c, 0x14, 0x25, 0x0a };
static const uint32_t lengths[] = { 24, 32, 64, 0, 4, 256, 512, 1024, 5000, 65536, 1, UINT32_MAX };

static void found(void *context, const struct ft_nccl_found *what)
{
	struct world *world = context;

	assert(what->frame != 0 && what->frame <= world->frame);
	assert(what->certainty > 0 && what->certainty <= 1);
	assert(memchr(what->text, '\0', sizeof what->text) != NULL && what->text[0] != '\0');
	assert(ft_nccl_connections_get(world->connections, what->connection) != NULL);
	world->found++;
}

static void contact(void *context, const struct ft_nccl_contact *what)
{
	struct world *world = context;

	assert(what->connection < CONNECTIONS);
	world->contacts++;
}

static void put_le(uint8_t *bytes, uint64_t number, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		bytes[i] = (uint8_t)(number >> 8 * i);
}

/* Entries as family C has them if they are short, else family E. */
static void put_entries(struct world *world, uint32_t length, uint64_t k, uint8_t flavour)
{
	uint32_t bytes = length % 64 == 0 && (flavour & 1) != 0 ? 64 : 32;

	memset(world->payload, 0, sizeof world->payload);
	for (uint32_t at = 0; at + bytes <= length && at + bytes <= LONGEST; at += bytes) {
		uint8_t *entry = world->payload + at;

		put_le(entry, 0x7f0000000000 + k % 8 * 0x10000 + at * 0x100, 8);
		put_le(entry + 8, 0x10000, 4);
		put_le(entry + (bytes == 32 ? 12 : 16), 0x77, 4);
		put_le(entry + (bytes == 32 ? 16 : 32), length / bytes, 4);
		put_le(entry + (bytes == 32 ? 20 : 36), 3, 4);
		put_le(entry + (bytes == 32 ? 24 : 40), k + 1, 8);
	}
}

static void set_place(uint8_t address[16], uint8_t host)
{
	memset(address, 0, 16);
	address[15] = host;
}

/* A clear-to-send in order, or nearly. */
static void ask(struct world *world, struct ft_nccl_seen *seen, const uint8_t *bytes)
{
	uint8_t qp = bytes[1] & 3;
	uint64_t k = world->k[qp] += bytes[6] >> 6 == 3 ? 2 : 1;
	uint32_t slot_bytes = (bytes[3] & 1) != 0 ? 512 : 256;

	seen->length = (bytes[3] & 1) != 0 ? 64 : 32;
	if ((bytes[3] & 0xf0) == 0xf0)
		seen->length *= 1 + (bytes[4] & 7);
	put_entries(world, seen->length, k, bytes[3]);
	seen->va = 0x550000000000 + k % (bytes[5] < 200 ? 64 : 8) * slot_bytes;
	seen->rkey = 0x55;
	seen->payload = world->payload;
	seen->captured = (bytes[4] & 0x80) != 0 ? bytes[5] : seen->length;
	if (seen->captured > seen->length)
		seen->captured = seen->length;
	seen->payload_length = seen->length;
}

/* Data, likely to a place that was asked for. */
static void answer(struct world *world, struct ft_nccl_seen *seen, const uint8_t *bytes)
{
	seen->length = lengths[bytes[3] % (sizeof lengths / sizeof lengths[0])];
	seen->va = bytes[4] == 0xff ? 0
				    : 0x7f0000000000 + (bytes[4] & 7) * UINT64_C(0x10000) +
					      (bytes[4] >> 3) * UINT64_C(64);
	seen->rkey = bytes[5] < 220 ? 0x77 : bytes[5];
	seen->immdt = (bytes[6] & 1) != 0 ? seen->length : bytes[6];
	seen->payload = world->payload;
	seen->captured = 16;
	seen->payload_length = seen->length < 1024 ? seen->length : 1024;
}

/* Of a packet that was just seen. */
static void check_shown(const struct world *world, const struct ft_nccl_seen *seen)
{
	struct ft_nccl_shown shown;

	if (!ft_nccl_connections_shown(world->connections, seen, &shown))
		return;
	assert(shown.connection->connection < CONNECTIONS);
	assert(shown.request_count <= FT_NCCL_REQUESTS_MAX);
	assert(shown.request_count == 0 || shown.requests != NULL);
	assert(shown.role != FT_NCCL_FRAME_SIZES || shown.request_count > 1);
}

static void show(struct world *world, const uint8_t *bytes)
{
	uint8_t direction = bytes[1] >> 2 & 1, lane = (uint8_t)((bytes[1] & 3) + 4 * direction);
	struct ft_nccl_seen seen = {
		.frame = ++world->frame,
		.ts_ns = world->frame * 1000,
		.ends = { .by_lid = bytes[1] >> 7, .vni = (bytes[1] & 0x40) != 0 ? 7 : UINT32_MAX },
		.opcode = opcodes[bytes[0] & 15],
		.dest_qp = 17 + lane,
		.udp_sport = (uint16_t)(bytes[7] & 3),
	};

	seen.has = ft_opcode_shape(seen.opcode)->headers | FT_HAS_BTH | FT_HAS_UDP |
		   FT_HAS_PAYLOAD_LENGTH;
	set_place(seen.ends.src, (uint8_t)(1 + direction + (bytes[1] >> 3 & 2)));
	set_place(seen.ends.dst, (uint8_t)(2 - direction + (bytes[1] >> 3 & 2)));
	if (bytes[2] < 16)
		world->psn[lane] += bytes[2];
	else if (bytes[2] > 250)
		world->psn[lane] = bytes[7] * 0x10101u;
	seen.psn = world->psn[lane]++ & 0xffffff;
	if (seen.opcode == 0x0a && direction == 0)
		ask(world, &seen, bytes);
	else
		answer(world, &seen, bytes);
	ft_nccl_connections_see(world->connections, &seen, ft_nccl_qps_see(world->qps, &seen));
	check_shown(world, &seen);
}

static struct ft_nccl_metadata metadata_of(const uint8_t *bytes, uint32_t qpn, uint8_t host)
{
	struct ft_nccl_metadata metadata = {
		.form = ft_nccl_form_at(bytes[1] % 9),
		.addr = host == 2 ? 0x550000000000 : 0x660000000000,
		.device_count = 1,
		.qp_count = (uint8_t)(1 + bytes[2] % 4),
	};

	set_place(metadata.devices[0].gid, host);
	metadata.devices[0].rkey = host == 2 ? 0x55 : 0x66;
	metadata.devices[0].mtu = 1024;
	for (uint8_t i = 0; i < metadata.qp_count; i++)
		metadata.qpns[i] = qpn + i;
	return metadata;
}

static void learn(struct world *world, const uint8_t *bytes)
{
	struct ft_nccl_metadata sender = metadata_of(bytes, 17, 2),
				receiver = metadata_of(bytes, 21, 1);
	const struct ft_nccl_exchange exchange = {
		.vni = (bytes[1] & 0x40) != 0 ? 7 : UINT32_MAX,
		.frames = { world->frame, ++world->frame },
		.sender = &sender,
		.receiver = &receiver,
	};

	if (sender.form != NULL)
		ft_nccl_connections_learn(world->connections, &exchange);
}

static void check_message(const struct ft_nccl_message *message)
{
	uint64_t packets = 0;

	assert(message->connection < CONNECTIONS);
	assert(message->request_count <= FT_NCCL_REQUESTS_MAX);
	assert(message->cts_frame != 0 || message->first_frame != 0);
	assert(message->first_frame <= message->last_frame);
	assert(!message->completed || (message->has_imm && message->part_count != 0));
	for (uint8_t i = 0; i < message->part_count; i++)
		packets += message->parts[i].packets;
	assert(packets == message->packets);
}

static void check(struct world *world)
{
	struct ft_nccl_kept kept;

	assert(ft_nccl_connections_keep(world->connections, &kept) == 0);
	assert(kept.connection_count <= CONNECTIONS);
	for (size_t i = 0; i < kept.connection_count; i++) {
		const struct ft_nccl_connection *connection = kept.connections[i];

		assert(connection->missing_packets < UINT64_C(1) << 32);
		assert(connection->devices != 0 && connection->qp_count != 0);
		assert(!connection->has_family || connection->certainty > 0);
	}
	for (size_t i = 0; i < kept.message_count; i++)
		check_message(&kept.messages[i]);
	assert(kept.message_count <= MESSAGES + CONNECTIONS * 64);
	assert(world->found <= FINDINGS && world->contacts <= CONNECTIONS);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct world world = { 0 };
	const struct ft_nccl_config config = {
		.connections = CONNECTIONS, .messages = MESSAGES, .findings = FINDINGS, .seed = 4711
	};
	const struct ft_nccl_sink sink = { .found = found, .contact = contact, .context = &world };

	assert(ft_nccl_qps_create(&world.qps, QPS, 4711) == 0);
	assert(ft_nccl_connections_create(&world.connections, &config, world.qps, &sink) == 0);
	for (; size >= PACKET; bytes += PACKET, size -= PACKET) {
		if (bytes[0] == 0xfe)
			learn(&world, bytes);
		else if (bytes[0] == 0xff && bytes[1] == 0xff)
			check(&world);
		else
			show(&world, bytes);
	}
	check(&world);
	ft_nccl_connections_destroy(world.connections);
	ft_nccl_qps_destroy(world.qps);
}
