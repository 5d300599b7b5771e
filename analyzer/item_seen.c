#include "item_seen.h"

#include <string.h>

#include <decode/brief.h>

enum { RETH_LEN = 16 };

#define EXTENDED (FT_HAS_RETH | FT_HAS_ATOMICETH | FT_HAS_AETH | FT_HAS_IMMDT | FT_HAS_IETH)
#define ALWAYS   (FT_HAS_ETH | FT_HAS_UDP | FT_HAS_BTH | FT_HAS_PAYLOAD_LENGTH | FT_HAS_PAYLOAD)

/* Behind the BTH, as far as it was captured. */
static void see_rest(const struct ft_item *item, struct ft_nccl_seen *seen)
{
	const struct ft_opcode_shape *shape = ft_opcode_shape(item->observed.opcode);
	const struct ft_frame *frame = item->frame;
	bool ipv4 = (item->observed.has & FT_OBSERVED_IPV4) != 0;
	uint32_t at = ft_brief_network(frame->bytes) + (ipv4 ? FT_BRIEF_UDP : FT_BRIEF_UDP6) +
		      FT_BRIEF_UDP_LEN + FT_BRIEF_BTH_LEN;
	uint32_t held = frame->captured - (at + shape->length);

	if ((shape->headers & FT_HAS_IMMDT) != 0)
		seen->immdt = ft_be32(frame->bytes + at +
				      ((shape->headers & FT_HAS_RETH) != 0 ? RETH_LEN : 0));
	seen->has = ALWAYS | (ipv4 ? FT_HAS_IPV4 : FT_HAS_IPV6) | (shape->headers & EXTENDED);
	seen->payload = frame->bytes + at + shape->length;
	seen->captured = held < seen->payload_length ? held : seen->payload_length;
}

static void see_usual(const struct ft_item *item, struct ft_nccl_seen *seen)
{
	const struct ft_observed *observed = &item->observed;

	*seen = (struct ft_nccl_seen){
		.frame = observed->frame,
		.ts_ns = observed->ts_ns,
		.ends.vni = UINT32_MAX,
		.dest_qp = observed->dest_qp,
		.psn = observed->psn,
		.opcode = observed->opcode,
		.syndrome = observed->syndrome,
		.traffic_class = (uint8_t)(observed->dscp << 2 | observed->ecn),
		.ack_request = (observed->has & FT_OBSERVED_ACK_REQUEST) != 0,
		.udp_sport = observed->sport,
		.pkey = observed->pkey,
		.msn = observed->msn,
		.va = observed->va,
		.rkey = observed->rkey,
		.length = observed->length,
		.payload_length = observed->payload,
	};
	memcpy(seen->ends.src, item->flow_key.src, sizeof seen->ends.src);
	memcpy(seen->ends.dst, item->flow_key.dst, sizeof seen->ends.dst);
	see_rest(item, seen);
}

bool ft_item_seen(const struct ft_item *item, const struct ft_decode_config *config,
		  struct ft_packet *packet, struct ft_nccl_seen *seen)
{
	if (item->usual) {
		see_usual(item, seen);
		return true;
	}
	ft_item_decode(item, config, packet);
	return ft_nccl_seen_of(packet, item->frame, seen);
}
