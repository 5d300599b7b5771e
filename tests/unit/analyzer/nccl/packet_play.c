#include "packet_play.h"

#include <string.h>

#include <decode/brief.h>
#include <decode/opcode.h>
#include <decode/packet.h>

#include "followed.h"

enum {
	RETH = 16,
	HEADERS = FT_BRIEF_ETHERNET_LEN + FT_BRIEF_UDP + FT_BRIEF_UDP_LEN + FT_BRIEF_BTH_LEN,
	NATIVE_HEADERS = FT_BRIEF_LRH_LEN + FT_BRIEF_BTH_LEN,
};

static void put_address(uint8_t address[16], uint8_t host)
{
	static const uint8_t prefix[16] = { [10] = 0xff, 0xff, 10 };

	memcpy(address, prefix, sizeof prefix);
	address[15] = host;
}

static void put_le(uint8_t *bytes, uint64_t number, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		bytes[i] = (uint8_t)(number >> 8 * i);
}

uint64_t buffer_of(uint64_t k)
{
	return BUFFER_AT + k % BUFFERS * OFFERED;
}

/* Section 3.1: bytes of an entry, from slot to slot, slots, and where things are; 0: not there. */
struct layout {
	char family;
	uint8_t entry, size_bytes, rkey, requests, tag, sequence, first;
	uint16_t slot, slots;
};

static const struct layout layouts[] = {
	{ 'A', 24, 4, 16, 20, 0, 12, 0, 24, 128 },   { 'B', 32, 4, 16, 20, 0, 12, 0, 32, 8 },
	{ 'C', 32, 4, 12, 16, 20, 24, 1, 256, 64 },  { 'D', 64, 4, 12, 20, 24, 32, 1, 512, 256 },
	{ 'E', 64, 8, 16, 32, 36, 40, 1, 512, 256 }, { 'F', 64, 8, 16, 48, 52, 56, 1, 512, 256 },
};

struct packet clear_to_send(char family, uint64_t k, uint32_t psn)
{
	const struct layout *layout = &layouts[family - 'A'];
	struct packet packet = {
		.from = RECEIVER,
		.to = SENDER,
		.opcode = 0x0a,
		.qpn = SENDER_QP,
		.psn = psn,
		.va = FIFO_AT + k % layout->slots * layout->slot,
		.rkey = FIFO_KEY,
		.length = layout->entry,
		.captured = layout->entry,
		.payload = layout->entry,
	};

	put_le(packet.bytes, buffer_of(k), 8);
	put_le(packet.bytes + 8, OFFERED, layout->size_bytes);
	put_le(packet.bytes + layout->rkey, DATA_KEY, 4);
	put_le(packet.bytes + layout->requests, 1, 4);
	if (layout->tag != 0)
		put_le(packet.bytes + layout->tag, TAG, 4);
	put_le(packet.bytes + layout->sequence, k + layout->first, layout->first != 0 ? 8 : 4);
	return packet;
}

struct ft_nccl_seen seen_of(const struct packet *packet, uint64_t frame)
{
	struct ft_nccl_seen seen = {
		.frame = frame,
		.ts_ns = frame * 1000,
		.ends.vni = packet->in_overlay ? 7 : UINT32_MAX,
		.has = ft_opcode_shape(packet->opcode)->headers | FT_HAS_BTH | FT_HAS_UDP |
		       FT_HAS_PAYLOAD_LENGTH,
		.dest_qp = packet->qpn,
		.psn = packet->psn & 0xffffff,
		.opcode = packet->opcode,
		.udp_sport = packet->sport != 0 ? packet->sport : 50000,
		.pkey = 0xffff,
		.va = packet->va,
		.rkey = packet->rkey,
		.length = packet->length,
		.immdt = packet->immdt,
		.msn = packet->msn,
		.payload = packet->bytes,
		.captured = packet->captured,
		.payload_length = packet->payload,
	};

	if (packet->by_lid) {
		seen.ends.by_lid = 1;
		seen.ends.src[15] = packet->from;
		seen.ends.dst[15] = packet->to;
		seen.has &= ~(uint32_t)FT_HAS_UDP;
		seen.udp_sport = 0;
		return seen;
	}
	put_address(seen.ends.src, packet->from);
	put_address(seen.ends.dst, packet->to);
	return seen;
}

/* What lies behind the BTH, as far as the follower looks. */
static void put_body(uint8_t *body, const struct ft_nccl_seen *seen)
{
	uint32_t at = (seen->has & FT_HAS_RETH) != 0 ? RETH : 0;

	memcpy(body + RETH, seen->payload, seen->captured);
	if (ft_nccl_has_immediate(seen->opcode))
		for (unsigned i = 0; i < 4; i++)
			body[at + i] = (uint8_t)(seen->immdt >> (24 - 8 * i));
}

/* As flows have it: a number of the host. */
static void put_lid(uint8_t address[16], uint16_t lid)
{
	memcpy(address + 14, &lid, sizeof lid);
}

typedef bool glance_at(const struct ft_nccl_way *way, const struct ft_nccl_glimpse *glimpse);

static bool offer(const struct ft_nccl_way *way, const struct ft_nccl_seen *seen, uint32_t number,
		  uint32_t since, glance_at *glance)
{
	uint8_t bytes[HEADERS + RETH + sizeof((struct packet *)NULL)->bytes] = { 0 };
	struct ft_flow_key key = { .dest_qp = seen->dest_qp,
				   .vni = seen->ends.vni,
				   .by_lid = seen->ends.by_lid };
	const uint32_t headers = seen->ends.by_lid != 0 ? NATIVE_HEADERS : HEADERS;
	const struct ft_frame frame = { .bytes = bytes,
					.captured = headers + RETH + seen->captured };
	const struct ft_observed observed = {
		.has = seen->ends.by_lid != 0 ? 0 : FT_OBSERVED_IPV4,
		.frame = seen->frame,
		.ts_ns = seen->ts_ns,
		.psn = seen->psn,
		.opcode = seen->opcode,
		.pkey = seen->pkey,
		.va = seen->va,
		.rkey = seen->rkey,
		.length = seen->length,
		.payload = seen->payload_length,
	};
	const struct ft_nccl_glimpse glimpse = { &key,      number, since,
						 &observed, &frame, headers - FT_BRIEF_BTH_LEN };

	put_body(bytes + headers, seen);
	memcpy(key.src, seen->ends.src, sizeof key.src);
	memcpy(key.dst, seen->ends.dst, sizeof key.dst);
	if (seen->ends.by_lid != 0) {
		put_lid(key.src, seen->ends.src[15]);
		put_lid(key.dst, seen->ends.dst[15]);
	}
	return glance(way, &glimpse);
}

bool goes_again(struct ft_nccl_connections *connections, const struct ft_nccl_seen *seen,
		uint32_t number, uint32_t since)
{
	const struct ft_nccl_way way = ft_nccl_connections_way(connections);

	return since != 0 && way.straights != NULL &&
	       offer(&way, seen, number, since, ft_nccl_glance_again);
}

bool goes_straight(struct ft_nccl_connections *connections, const struct ft_nccl_seen *seen,
		   uint32_t number, uint32_t since)
{
	const struct ft_nccl_way way = ft_nccl_connections_way(connections);

	return goes_again(connections, seen, number, since) ||
	       offer(&way, seen, number, since, ft_nccl_glance);
}

static struct ft_nccl_metadata metadata_of(const struct set_up *set_up, uint8_t host, uint32_t qpn)
{
	struct ft_nccl_metadata metadata = {
		.form = ft_nccl_form_find(set_up->metadata_bytes),
		.addr = host == SENDER ? set_up->fifo : 0x1000,
		.device_count = 1,
		.qp_count = set_up->queue_pairs != 0 ? set_up->queue_pairs : 1,
	};

	for (uint32_t i = 0; i < metadata.qp_count; i++)
		metadata.qpns[i] = qpn + 2 * i;

	if (set_up->probe_qpn != 0)
		metadata.probe_qpns[0] = set_up->probe_qpn + (host == RECEIVER);
	if (set_up->recovery_qpn != 0)
		metadata.recovery_qpns[0] = set_up->recovery_qpn + (host == RECEIVER);
	put_address(metadata.devices[0].gid, host);
	metadata.devices[0].rkey = host == SENDER ? FIFO_KEY : 7;
	metadata.devices[0].mtu = MTU;
	return metadata;
}

void learn_set_up(struct ft_nccl_connections *connections, const struct set_up *set_up)
{
	struct ft_nccl_metadata sender = metadata_of(set_up, SENDER, SENDER_QP);
	struct ft_nccl_metadata receiver = metadata_of(set_up, RECEIVER, RECEIVER_QP);
	char stream[] = "mlx5_0mlx5_1";
	const struct ft_nccl_exchange exchange = {
		.vni = set_up->vni,
		.frames = { set_up->frames[0], set_up->frames[1] },
		.sender = &sender,
		.receiver = &receiver,
	};

	sender.name = stream;
	receiver.name = stream + 6;
	sender.name_length = receiver.name_length = 6;
	ft_nccl_connections_learn(connections, &exchange);
	memset(stream, 0, sizeof stream); /* it is somebody else's from here on */
}
