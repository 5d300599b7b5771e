#include "item_seen.h"

#include <string.h>

#include <decode/brief.h>
#include <decode/lengths.h>

enum { RETH_LEN = 16 };

#define EXTENDED (FT_HAS_RETH | FT_HAS_ATOMICETH | FT_HAS_AETH | FT_HAS_IMMDT | FT_HAS_IETH)
#define ALWAYS   (FT_HAS_ETH | FT_HAS_UDP | FT_HAS_BTH | FT_HAS_PAYLOAD_LENGTH | FT_HAS_PAYLOAD)

/* The rule of CNPs asks for more than an item tells. */
static bool is_sized(uint8_t rule, uint32_t payload)
{
	return rule != FT_PAYLOAD_CNP && ft_payload_broken(rule, payload) == FT_OK;
}

/* Of what brings data along. */
static bool is_as_long(const struct ft_observed *observed)
{
	return (observed->opcode == 0x06 || (observed->opcode | 1) == 0x0b) &&
	       ft_reth_broken(observed->opcode, observed->length, observed->payload) == FT_OK;
}

/* Usual, over IP, and breaks no rule that makes a packet malformed; false: that is for the decoder to say. */
static bool is_plain(const struct ft_item *item)
{
	const struct ft_observed *observed = &item->observed;
	const struct ft_opcode_shape *shape = ft_opcode_shape(observed->opcode);

	return item->usual && (observed->has & FT_OBSERVED_IP) != 0 &&
	       (observed->pkey & 0x7fff) != 0 && observed->dest_qp != FT_MULTICAST_QP &&
	       observed->payload % 4 == 0 && is_sized(shape->payload, observed->payload) &&
	       ((shape->headers & (FT_HAS_RETH | FT_HAS_ATOMICETH)) == 0 || is_as_long(observed));
}

static bool is_ipv4(const struct ft_item *item)
{
	return (item->observed.has & FT_OBSERVED_IPV4) != 0;
}

/* As its IP header has it, whatever happened to its overlay on the way. */
static uint8_t traffic_class_of(const struct ft_item *item)
{
	const uint8_t *udp = item->frame->bytes + item->bth_at - FT_BRIEF_UDP_LEN;
	const uint8_t *ip = udp - (is_ipv4(item) ? FT_BRIEF_UDP : FT_BRIEF_UDP6);

	return is_ipv4(item) ? ip[1] : (uint8_t)(ft_be16(ip) >> 4);
}

/* Where its BTH ends. */
static uint32_t extension_of(const struct ft_item *item)
{
	return item->bth_at + FT_BRIEF_BTH_LEN;
}

/* What it brings, as far as it was captured. */
static struct ft_nccl_write payload_of(const struct ft_item *item)
{
	const struct ft_frame *frame = item->frame;
	uint32_t at = extension_of(item) + ft_opcode_shape(item->observed.opcode)->length;
	uint32_t held = frame->captured - at, length = item->observed.payload;

	return (struct ft_nccl_write){ frame->bytes + at, held < length ? held : length, length };
}

/* Behind the BTH. */
static void see_rest(const struct ft_item *item, struct ft_nccl_seen *seen)
{
	const struct ft_opcode_shape *shape = ft_opcode_shape(item->observed.opcode);
	const struct ft_nccl_write payload = payload_of(item);
	const uint8_t *extension = item->frame->bytes + extension_of(item);

	if ((shape->headers & FT_HAS_IMMDT) != 0)
		seen->immdt =
			ft_be32(extension + ((shape->headers & FT_HAS_RETH) != 0 ? RETH_LEN : 0));
	seen->has =
		ALWAYS | (is_ipv4(item) ? FT_HAS_IPV4 : FT_HAS_IPV6) | (shape->headers & EXTENDED);
	seen->payload = payload.bytes;
	seen->captured = payload.captured;
}

static void see_plain(const struct ft_item *item, struct ft_nccl_seen *seen)
{
	const struct ft_observed *observed = &item->observed;

	*seen = (struct ft_nccl_seen){
		.frame = observed->frame,
		.ts_ns = observed->ts_ns,
		.ends.vni = item->flow_key.vni,
		.dest_qp = observed->dest_qp,
		.psn = observed->psn,
		.opcode = observed->opcode,
		.traffic_class = traffic_class_of(item),
		.ack_request = (observed->has & FT_OBSERVED_ACK_REQUEST) != 0,
		.udp_sport = observed->sport,
		.pkey = observed->pkey,
		.vlan = observed->vlan,
		.payload_length = observed->payload,
	};
	if ((observed->has & FT_OBSERVED_AETH) != 0) {
		seen->syndrome = observed->syndrome;
		seen->msn = observed->msn;
	} else if ((observed->has & FT_OBSERVED_RETH) != 0) {
		seen->va = observed->va;
		seen->rkey = observed->rkey;
		seen->length = observed->length;
	}
	memcpy(seen->ends.src, item->flow_key.src, sizeof seen->ends.src);
	memcpy(seen->ends.dst, item->flow_key.dst, sizeof seen->ends.dst);
	see_rest(item, seen);
}

bool ft_item_seen(const struct ft_item *item, const struct ft_decode_config *config,
		  struct ft_packet *packet, struct ft_nccl_seen *seen)
{
	if (is_plain(item)) {
		see_plain(item, seen);
		return true;
	}
	ft_item_decode(item, config, packet);
	return ft_nccl_seen_of(packet, item->frame, seen);
}

__attribute__((noinline)) static bool decode_write(const struct ft_item *item,
						   const struct ft_decode_config *config,
						   struct ft_nccl_write *write)
{
	struct ft_packet packet;
	struct ft_nccl_seen seen;

	ft_item_decode(item, config, &packet);
	if (!ft_nccl_seen_of(&packet, item->frame, &seen))
		return false;
	*write = (struct ft_nccl_write){ seen.payload, seen.captured, seen.payload_length };
	return true;
}

bool ft_item_write(const struct ft_item *item, const struct ft_decode_config *config,
		   struct ft_nccl_write *write)
{
	if (!is_plain(item))
		return decode_write(item, config, write);
	*write = payload_of(item);
	return true;
}
