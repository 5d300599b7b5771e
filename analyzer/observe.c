#include "observe.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include <decode/brief.h>
#include <decode/decode.h>
#include <decode/opcode.h>
#include <flow/hash.h>

#include "observe_digest.h"
#include "observe_other.h"

enum { MAC_LEN = 6 };

#define SALT_IDS 0x589965cc75374cc3u

/* What both name alike is taken over as it is. */
#define SAME_BITS                                                                                  \
	(FT_OBSERVED_ETH | FT_OBSERVED_IPV4 | FT_OBSERVED_UDP | FT_OBSERVED_BTH |                  \
	 FT_OBSERVED_DETH | FT_OBSERVED_RETH | FT_OBSERVED_ATOMIC | FT_OBSERVED_AETH |             \
	 FT_OBSERVED_PAYLOAD)
static_assert(SAME_BITS == (FT_HAS_ETH | FT_HAS_IPV4 | FT_HAS_UDP | FT_HAS_BTH | FT_HAS_DETH |
			    FT_HAS_RETH | FT_HAS_ATOMICETH | FT_HAS_AETH | FT_HAS_PAYLOAD_LENGTH),
	      "copied with one mask");
static_assert(FT_OBSERVED_IP == (int)FT_HAS_IPV6 && FT_OBSERVED_IP == (int)FT_HAS_IPV4 << 1,
	      "one shift");

/* --- addresses --- */

struct ends {
	uint64_t src, dst; /* a digest of each; 0: not known */
	bool upward;
};

static uint64_t gid_digest(const uint8_t gid[16])
{
	return ft_gid_digest(ft_load64(gid), ft_load64(gid + 8));
}

static struct ends gids(const struct ft_packet *packet)
{
	uint64_t src[2], dst[2];

	memcpy(src, packet->src, sizeof src);
	memcpy(dst, packet->dst, sizeof dst);
	return (struct ends){ gid_digest(packet->src), gid_digest(packet->dst),
			      ft_gids_are_upward(src, dst) };
}

static struct ends shorter(uint64_t src, uint64_t dst)
{
	uint64_t src_digest = ft_short_digest(src), dst_digest = ft_short_digest(dst);

	return (struct ends){ src_digest, dst_digest, src_digest < dst_digest };
}

static uint64_t mac_of(const uint8_t mac[MAC_LEN])
{
	uint8_t padded[8] = { 0 };

	memcpy(padded, mac, MAC_LEN);
	return ft_load64(padded);
}

static struct ends ends_of(const struct ft_packet *packet)
{
	if ((packet->has & (FT_HAS_IPV4 | FT_HAS_IPV6 | FT_HAS_GRH)) != 0)
		return gids(packet);
	if ((packet->has & FT_HAS_LRH) != 0)
		return shorter(packet->lrh.slid, packet->lrh.dlid);
	if ((packet->has & FT_HAS_ETH) != 0)
		return shorter(mac_of(packet->smac), mac_of(packet->dmac));
	return (struct ends){ 0 };
}

/* --- layers --- */

static void observe_ethernet(const struct ft_packet *packet, struct ft_observed *observed)
{
	uint8_t macs[FT_MACS_LEN];

	if ((packet->has & (FT_HAS_ETH | FT_HAS_SLL)) == 0)
		return;
	memcpy(macs, packet->smac, MAC_LEN); /* if it has but one, that stands for both */
	memcpy(macs + MAC_LEN, packet->smac, MAC_LEN);
	if ((packet->has & FT_HAS_ETH) != 0) {
		memcpy(macs, packet->dmac, MAC_LEN);
		memcpy(observed->dmac, packet->dmac, MAC_LEN);
		memcpy(observed->smac, packet->smac, MAC_LEN);
	}
	observed->hop = ft_macs_digest(ft_load64(macs), ft_load32(macs + 8));
}

static bool is_overlay(const struct ft_tunnel *tunnel)
{
	return tunnel->kind == FT_TUNNEL_VXLAN || tunnel->kind == FT_TUNNEL_GENEVE ||
	       tunnel->kind == FT_TUNNEL_NVGRE;
}

/* As it will be where an overlay ends: a mark that the underlay made is taken over there (RFC 6040). */
static uint8_t ecn_of(const struct ft_packet *packet)
{
	for (unsigned i = 0; packet->ecn != FT_ECN_NOT_ECT && i < packet->tunnel_count; i++)
		if (is_overlay(&packet->tunnels[i]) && packet->tunnels[i].outer_ecn == FT_ECN_CE)
			return FT_ECN_CE;
	return packet->ecn;
}

static void observe_network(const struct ft_packet *packet, struct ft_observed *observed)
{
	if ((packet->has & (FT_HAS_IPV4 | FT_HAS_IPV6)) != 0) {
		observed->ttl = packet->ttl;
		observed->dscp = packet->dscp;
		observed->ecn = ecn_of(packet);
		observed->hop |= packet->ttl;
		if ((packet->has & FT_HAS_IPV4) != 0)
			observed->ip_id = packet->ip_id;
	} else if ((packet->has & FT_HAS_GRH) != 0) {
		observed->hop |= packet->grh.hop_limit;
		if ((packet->has & FT_HAS_ETH) != 0) /* RoCEv1, which no router changes */
			observed->ttl = packet->grh.hop_limit;
	}
	if ((packet->has & FT_HAS_UDP) != 0)
		observed->sport = packet->udp_sport;
}

/* A session counts its frames by itself: GRE and ERSPAN. */
static void observe_mirror(const struct ft_packet *packet, struct ft_observed *observed)
{
	const struct ft_tunnel *tunnel = &packet->tunnels[0];
	struct ft_mirror_session session = {
		.key = tunnel->key,
		.session = tunnel->session,
		.kind = tunnel->kind,
		.sequence = tunnel->sequence,
	};

	if (!tunnel->has_sequence)
		return;
	memcpy(session.src, tunnel->outer_src, sizeof session.src);
	memcpy(session.dst, tunnel->outer_dst, sizeof session.dst);
	ft_observe_number(observed, ft_mirror_digest(&session), session.sequence);
}

/* --- RDMA --- */

struct bytes {
	const uint8_t *at;
	uint32_t size;
};

/* Extended headers and payload as far as captured, without the AETH: its credits may change. */
static struct bytes content_of(const struct ft_packet *packet, const struct ft_frame *frame,
			       uint32_t bth_at)
{
	uint32_t at = bth_at + FT_BTH_LEN, end = at;

	if ((packet->has & FT_HAS_AETH) != 0)
		at += (packet->has & FT_HAS_RDETH) != 0 ? 8 : 4;
	if ((packet->has & FT_HAS_PAYLOAD) != 0)
		end = packet->payload_offset + packet->payload_captured;
	else if ((packet->has & FT_HAS_ICRC) == 0) /* cut, or not understood */
		end = frame->captured;
	if (end > frame->captured || end < at)
		return (struct bytes){ frame->bytes, 0 };
	return (struct bytes){ frame->bytes + at, end - at };
}

/* The last lane begins early enough to be whole. */
uint64_t ft_content_digest_short(uint64_t content, const uint8_t *bytes, uint32_t size)
{
	uint8_t padded[FT_LANE] = { 0 };

	content += size;
	if (size < FT_LANE) {
		memcpy(padded, bytes, size);
		return ft_content_lane(content, padded);
	}
	for (uint32_t at = 0; at + FT_LANE < size; at += FT_LANE)
		content = ft_content_lane(content, bytes + at);
	return ft_content_lane(content, bytes + size - FT_LANE);
}

static uint64_t content_digest(const struct ft_packet *packet, const struct ft_observed *observed,
			       struct bytes bytes)
{
	uint64_t content = ft_content_begin(packet->opcode, observed->payload);

	return bytes.size < FT_CONTENT_MAX ? ft_content_digest_short(content, bytes.at, bytes.size)
					   : ft_content_digest(content, bytes.at);
}

static struct ft_place place_of(const struct ft_packet *packet, const struct ft_observed *observed)
{
	struct ft_place place = {
		.ends = observed->digest,
		.ip_id = observed->ip_id,
		.overlay = (packet->has & FT_HAS_VNI) != 0 ? packet->vni + 1 : 0,
	};

	if ((packet->has & FT_HAS_UDP) != 0)
		place.ports = (uint32_t)packet->udp_dport << 16 | packet->udp_sport;
	if ((packet->has & FT_HAS_AETH) != 0)
		place.aeth = packet->aeth.msn << 8 | packet->aeth.syndrome;
	if ((packet->has & FT_HAS_LRH) != 0)
		place.ends += ft_native_digest(packet->lrh.slid, packet->lrh.dlid, packet->lrh.sl);
	return place;
}

static void observe_extensions(const struct ft_packet *packet, struct ft_observed *observed)
{
	if ((packet->has & FT_HAS_DETH) != 0) {
		observed->src_qp = packet->deth.src_qp;
		observed->qkey = packet->deth.qkey;
	}
	if ((packet->has & FT_HAS_AETH) != 0) {
		observed->syndrome = packet->aeth.syndrome;
		observed->msn = packet->aeth.msn;
	}
	if ((packet->has & FT_HAS_RETH) != 0) {
		observed->va = packet->reth.va;
		observed->rkey = packet->reth.rkey;
		observed->length = packet->reth.length;
	}
	if ((packet->has & FT_HAS_ATOMICETH) != 0) {
		observed->va = packet->atomiceth.va;
		observed->rkey = packet->atomiceth.rkey;
	}
}

static void observe_payload(const struct ft_packet *packet, struct ft_observed *observed)
{
	const uint32_t both = FT_HAS_PAYLOAD_LENGTH | FT_HAS_PAYLOAD;
	uint32_t length = packet->payload_length;

	if ((packet->has & FT_HAS_PAYLOAD_LENGTH) == 0)
		return;
	observed->payload = length;
	if ((packet->has & both) == both &&
	    packet->payload_captured >= (length < FT_CONTENT_TELLING ? length : FT_CONTENT_TELLING))
		observed->has |= FT_OBSERVED_CONTENT;
}

static void observe_bth(const struct ft_packet *packet, struct ft_observed *observed)
{
	observed->opcode = packet->opcode;
	observed->psn = packet->psn;
	observed->dest_qp = packet->dest_qp;
	observed->pkey = packet->pkey;
	observed->has |= (packet->ack_request ? FT_OBSERVED_ACK_REQUEST : 0u) |
			 (packet->becn ? FT_OBSERVED_BECN : 0u) |
			 (packet->fecn ? FT_OBSERVED_FECN : 0u);
	observed->alike = packet->opcode >> 5 == FT_CNP ? FT_ALIKE_PLAIN : FT_ALIKE_SEQUENCED;
}

/* In the innermost packet, where that is IPv4. */
static bool has_ip_options(const struct ft_packet *packet, uint32_t bth_at)
{
	const struct ft_layer *ip = &packet->layers[packet->layer_count - 1];

	while (ip > packet->layers && ip->kind != FT_LAYER_IPV4)
		ip--;
	return (packet->has & FT_HAS_IPV4) != 0 &&
	       bth_at - ip->offset != FT_BRIEF_UDP + FT_BRIEF_UDP_LEN;
}

/* Where the BTH begins: it is the last layer, but for a MAD. */
static uint32_t bth_offset(const struct ft_packet *packet)
{
	const struct ft_layer *layer = &packet->layers[packet->layer_count - 1];

	return layer->kind == FT_LAYER_BTH ? layer->offset : layer[-1].offset;
}

void ft_observe_damage(struct ft_observed *observed, const uint8_t *bytes, uint32_t size)
{
	observed->has |= FT_OBSERVED_BAD_ICRC;
	observed->digest = ft_hash(bytes, size, observed->digest ^ SALT_IDS);
}

static void observe_rdma(const struct ft_packet *packet, const struct ft_frame *frame,
			 struct ft_observed *observed)
{
	uint32_t bth_at = bth_offset(packet);
	uint32_t icrc = (packet->has & FT_HAS_ICRC) != 0 ? ft_load32(packet->icrc) : 0;
	struct bytes bytes = content_of(packet, frame, bth_at);
	struct ft_place place = place_of(packet, observed);
	uint64_t content, digest;

	observe_bth(packet, observed);
	observe_extensions(packet, observed);
	observe_payload(packet, observed);
	content = content_digest(packet, observed, bytes);
	digest = ft_digest_bth(content, frame->bytes + bth_at, icrc);
	observed->content = (uint32_t)(content >> 32);
	observed->icrc = has_ip_options(packet, bth_at) ? 0 : icrc;
	observed->digest = ft_digest_place(digest, &place);
	if (packet->icrc_check == FT_CHECK_BAD)
		ft_observe_damage(observed, bytes.at, bytes.size);
}

void ft_observe(const struct ft_packet *packet, const struct ft_frame *frame,
		struct ft_observed *observed)
{
	struct ends ends = ends_of(packet);
	bool whole = packet->truncated == FT_COMPLETE && frame->captured >= frame->original;

	memset(observed, 0, sizeof *observed);
	observed->ts_ns = frame->ts_ns;
	observed->frame = frame->number;
	observed->pair = ends.src + ends.dst;
	observed->digest = ends.upward ? ~observed->pair : observed->pair;
	observed->vlan = packet->vlan;
	observed->has = (packet->has & (SAME_BITS | FT_HAS_IPV6)) |
			(packet->has & FT_HAS_IPV4) << 1 | (whole ? FT_OBSERVED_WHOLE : 0u) |
			(ends.upward ? FT_OBSERVED_UPWARD : 0u);
	observe_ethernet(packet, observed);
	observe_network(packet, observed);
	if ((packet->has & FT_HAS_MIRROR) != 0)
		observe_mirror(packet, observed);
	if ((packet->has & FT_HAS_BTH) != 0)
		observe_rdma(packet, frame, observed);
	else
		ft_observe_other(packet, frame, observed);
}
