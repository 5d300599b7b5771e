#include <nccl/seen.h>

#include <string.h>

#define NETWORK (FT_HAS_IPV4 | FT_HAS_IPV6 | FT_HAS_GRH)

struct ft_nccl_ends ft_nccl_ends_by_lid(uint16_t slid, uint16_t dlid, uint32_t vni)
{
	struct ft_nccl_ends ends = { .by_lid = 1, .vni = vni };

	ft_nccl_put_lid(ends.src, slid);
	ft_nccl_put_lid(ends.dst, dlid);
	return ends;
}

static bool ends_of(const struct ft_packet *packet, struct ft_nccl_ends *ends)
{
	ends->vni = (packet->has & FT_HAS_VNI) != 0 ? packet->vni : UINT32_MAX;
	ends->by_lid = (packet->has & NETWORK) == 0;
	if (!ends->by_lid) {
		memcpy(ends->src, packet->src, sizeof ends->src);
		memcpy(ends->dst, packet->dst, sizeof ends->dst);
		return true;
	}
	*ends = ft_nccl_ends_by_lid(packet->lrh.slid, packet->lrh.dlid, ends->vni);
	return (packet->has & FT_HAS_LRH) != 0;
}

static uint8_t traffic_class_of(const struct ft_packet *packet)
{
	if ((packet->has & (FT_HAS_IPV4 | FT_HAS_IPV6)) != 0)
		return (uint8_t)(packet->dscp << 2 | packet->ecn);
	return (packet->has & FT_HAS_GRH) != 0 ? packet->grh.tclass : 0;
}

static void extend(const struct ft_packet *packet, struct ft_nccl_seen *seen)
{
	if ((packet->has & FT_HAS_DETH) != 0) {
		seen->qkey = packet->deth.qkey;
		seen->src_qp = packet->deth.src_qp;
	}
	if ((packet->has & FT_HAS_AETH) != 0) {
		seen->syndrome = packet->aeth.syndrome;
		seen->msn = packet->aeth.msn;
	}
	if ((packet->has & FT_HAS_IMMDT) != 0)
		seen->immdt = packet->immdt;
	if ((packet->has & FT_HAS_RETH) != 0) {
		seen->va = packet->reth.va;
		seen->rkey = packet->reth.rkey;
		seen->length = packet->reth.length;
	}
	if ((packet->has & FT_HAS_ATOMICETH) != 0) {
		seen->va = packet->atomiceth.va;
		seen->rkey = packet->atomiceth.rkey;
	}
}

static void load(const struct ft_packet *packet, const struct ft_frame *frame,
		 struct ft_nccl_seen *seen)
{
	if ((packet->has & FT_HAS_PAYLOAD_LENGTH) != 0)
		seen->payload_length = packet->payload_length;
	if ((packet->has & FT_HAS_PAYLOAD) == 0)
		return;
	seen->payload = frame->bytes + packet->payload_offset;
	seen->captured = packet->payload_captured;
}

bool ft_nccl_seen_of(const struct ft_packet *packet, const struct ft_frame *frame,
		     struct ft_nccl_seen *seen)
{
	*seen = (struct ft_nccl_seen){
		.frame = frame->number,
		.ts_ns = frame->ts_ns,
		.has = packet->has,
		.payload = frame->bytes,
	};
	if ((packet->has & FT_HAS_BTH) == 0 || packet->malformed != 0 ||
	    packet->icrc_check == FT_CHECK_BAD || !ends_of(packet, &seen->ends))
		return false;
	seen->dest_qp = packet->dest_qp;
	seen->psn = packet->psn;
	seen->opcode = packet->opcode;
	seen->pkey = packet->pkey;
	seen->vlan = packet->vlan;
	seen->ack_request = packet->ack_request;
	if ((packet->has & FT_HAS_LRH) != 0 && seen->ends.by_lid == 0) {
		seen->slid = packet->lrh.slid;
		seen->dlid = packet->lrh.dlid;
	}
	seen->traffic_class = traffic_class_of(packet);
	if ((packet->has & FT_HAS_UDP) != 0)
		seen->udp_sport = packet->udp_sport;
	extend(packet, seen);
	load(packet, frame, seen);
	return true;
}
