#include "observe.h"

#include "observe_other.h"

#include <string.h>

#include <decode/decode.h>
#include <decode/opcode.h>
#include <flow/hash.h>

/*
 * Digests are multiply-mixes of what the decoder read and of the bytes behind the BTH; they have no
 * seed, since they are compared between engines. Tables mix in their own.
 */
enum { BTH_LEN = 12, CONTENT_MAX = 64, CONTENT_TELLING = 8, MAC_LEN = 6 };

static const uint64_t salts[] = {
	0x9e3779b97f4a7c15u, 0xa0761d6478bd642fu, 0xe7037ed1a0b428dbu, 0x8ebc6af09c88c6e3u,
	0x589965cc75374cc3u, 0x1d8e4e27c47d124fu, 0xeb44accab455d165u,
};

static uint32_t load32(const uint8_t *b)
{
	uint32_t word;

	memcpy(&word, b, sizeof word);
	return word;
}

static uint64_t load64(const uint8_t *b)
{
	uint64_t word;

	memcpy(&word, b, sizeof word);
	return word;
}

/* --- addresses --- */

struct ends {
	uint64_t src, dst; /* a digest of each; 0: not known */
};

static uint64_t gid_digest(const uint8_t gid[16])
{
	return ft_mix(load64(gid) ^ salts[0], load64(gid + 8) ^ salts[1]);
}

static uint64_t short_digest(uint64_t address)
{
	return ft_mix(address ^ salts[2], salts[3]);
}

static uint64_t mac_digest(const uint8_t mac[MAC_LEN])
{
	uint64_t word = 0;

	memcpy(&word, mac, MAC_LEN);
	return short_digest(word);
}

/* Without an IP header or GRH. */
__attribute__((noinline)) static struct ends other_ends(const struct ft_packet *packet)
{
	if ((packet->has & FT_HAS_LRH) != 0)
		return (struct ends){ short_digest(packet->lrh.slid),
				      short_digest(packet->lrh.dlid) };
	if ((packet->has & FT_HAS_ETH) != 0)
		return (struct ends){ mac_digest(packet->smac), mac_digest(packet->dmac) };
	return (struct ends){ 0, 0 };
}

static inline struct ends ends_of(const struct ft_packet *packet)
{
	if ((packet->has & (FT_HAS_IPV4 | FT_HAS_IPV6 | FT_HAS_GRH)) == 0)
		return other_ends(packet);
	return (struct ends){ gid_digest(packet->src), gid_digest(packet->dst) };
}

/* Both addresses, in 24 bits. */
static uint32_t macs_digest(const uint8_t smac[MAC_LEN], const uint8_t dmac[MAC_LEN])
{
	uint64_t tails = (uint64_t)load32(smac + 2) << 32 | load32(dmac + 2);
	uint64_t heads = (uint32_t)smac[0] << 24 | (uint32_t)smac[1] << 16 |
			 (uint32_t)dmac[0] << 8 | dmac[1];

	return (uint32_t)(ft_mix(tails ^ salts[2], heads ^ salts[3]) >> 40);
}

/* --- layers --- */

static void observe_ethernet(const struct ft_packet *packet, struct ft_observed *observed)
{
	if ((packet->has & FT_HAS_ETH) != 0) {
		observed->has |= FT_OBSERVED_ETH;
		memcpy(observed->smac, packet->smac, MAC_LEN);
		memcpy(observed->dmac, packet->dmac, MAC_LEN);
		observed->hop = macs_digest(packet->smac, packet->dmac) << 8;
	} else if ((packet->has & FT_HAS_SLL) != 0) { /* the one it has stands for both */
		observed->hop = macs_digest(packet->smac, packet->smac) << 8;
	}
}

static void observe_network(const struct ft_packet *packet, struct ft_observed *observed)
{
	if ((packet->has & (FT_HAS_IPV4 | FT_HAS_IPV6)) != 0) {
		observed->has |= FT_OBSERVED_IP;
		observed->ttl = packet->ttl;
		observed->dscp = packet->dscp;
		observed->ecn = packet->ecn;
		observed->hop |= packet->ttl;
		if ((packet->has & FT_HAS_IPV4) != 0) {
			observed->has |= FT_OBSERVED_IPV4;
			observed->ip_id = packet->ip_id;
		}
	} else if ((packet->has & FT_HAS_GRH) != 0) {
		observed->hop |= packet->grh.hop_limit;
	}
	if ((packet->has & FT_HAS_UDP) != 0) {
		observed->has |= FT_OBSERVED_UDP;
		observed->sport = packet->udp_sport;
	}
}

/* A session counts its frames by itself: GRE and ERSPAN, in 32 bits. */
__attribute__((noinline)) static void observe_mirror(const struct ft_packet *packet,
						     struct ft_observed *observed)
{
	const struct ft_tunnel *tunnel = &packet->tunnels[0];
	uint64_t id = (uint64_t)tunnel->key << 32 | (uint32_t)tunnel->session << 8 | tunnel->kind;
	uint64_t digest;

	if (!tunnel->has_sequence)
		return;
	digest = ft_mix(gid_digest(tunnel->outer_src) ^ salts[4],
			gid_digest(tunnel->outer_dst) ^ salts[5]);
	digest = ft_mix(digest ^ id, salts[6]);
	observed->has |= FT_OBSERVED_MIRROR;
	observed->mirror = (uint32_t)(digest >> 32);
	observed->mirror_sequence = tunnel->sequence;
	observed->mirror_sequence_bits = 32;
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
	uint32_t at = bth_at + BTH_LEN, end = at;

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

__attribute__((noinline)) static uint64_t short_bytes_digest(struct bytes bytes, uint64_t digest)
{
	uint8_t padded[CONTENT_MAX] = { 0 };

	memcpy(padded, bytes.at, bytes.size);
	for (uint32_t at = 0; at < bytes.size; at += 16)
		digest = ft_mix(load64(padded + at) ^ digest, load64(padded + at + 8) ^ salts[3]);
	return digest;
}

static uint64_t bytes_digest(struct bytes bytes, uint64_t digest)
{
	if (bytes.size == 0)
		return digest;
	if (bytes.size < CONTENT_MAX)
		return short_bytes_digest(bytes, digest);
	for (uint32_t at = 0; at < CONTENT_MAX; at += 16)
		digest = ft_mix(load64(bytes.at + at) ^ digest,
				load64(bytes.at + at + 8) ^ salts[3]);
	return digest;
}

/* A wrong ICRC vouches for nothing: all there is counts. */
__attribute__((noinline)) static uint64_t bad_digest(struct bytes bytes, uint64_t digest)
{
	return ft_hash(bytes.at, bytes.size, digest ^ salts[5]);
}

static uint64_t native_digest(const struct ft_packet *packet, uint64_t digest)
{
	uint64_t lids = (uint64_t)packet->lrh.slid << 32 | (uint32_t)packet->lrh.dlid << 16 |
			packet->lrh.sl;

	return ft_mix(digest ^ lids, salts[4]);
}

/* The BTH as it stands in the frame, without the byte that a switch may mark. */
static uint64_t bth_word(const uint8_t *bth)
{
	uint8_t word[8];

	memcpy(word, bth, sizeof word);
	word[4] = 0;
	return load64(word);
}

static uint64_t rdma_digest(const struct ft_packet *packet, const struct ft_observed *observed,
			    const uint8_t *bth, uint64_t digest)
{
	uint32_t icrc = (packet->has & FT_HAS_ICRC) != 0 ? load32(packet->icrc) : 0;
	uint32_t vni = (packet->has & FT_HAS_VNI) != 0 ? packet->vni : UINT32_MAX;
	uint32_t dport = (packet->has & FT_HAS_UDP) != 0 ? packet->udp_dport : 0;
	uint32_t ids = (uint32_t)observed->ip_id << 16 | observed->sport;

	digest =
		ft_mix(digest ^ bth_word(bth), ((uint64_t)load32(bth + 8) << 32 | icrc) ^ salts[4]);
	digest = ft_mix(
		digest ^ ((uint64_t)vni << 32 | ids),
		((uint64_t)observed->msn << 32 | (uint32_t)observed->syndrome << 16 | dport) ^
			salts[5]);
	return (packet->has & FT_HAS_LRH) != 0 ? native_digest(packet, digest) : digest;
}

static void observe_extensions(const struct ft_packet *packet, struct ft_observed *observed)
{
	if ((packet->has & FT_HAS_AETH) != 0) {
		observed->has |= FT_OBSERVED_AETH;
		observed->syndrome = packet->aeth.syndrome;
		observed->msn = packet->aeth.msn;
	}
	if ((packet->has & FT_HAS_RETH) != 0) {
		observed->has |= FT_OBSERVED_RETH;
		observed->va = packet->reth.va;
		observed->rkey = packet->reth.rkey;
		observed->length = packet->reth.length;
	}
	if ((packet->has & FT_HAS_ATOMICETH) != 0) {
		observed->has |= FT_OBSERVED_ATOMIC;
		observed->va = packet->atomiceth.va;
		observed->rkey = packet->atomiceth.rkey;
	}
	if ((packet->has & FT_HAS_DETH) != 0) {
		observed->has |= FT_OBSERVED_DETH;
		observed->src_qp = packet->deth.src_qp;
	}
}

static void observe_payload(const struct ft_packet *packet, struct ft_observed *observed)
{
	uint32_t telling;

	if ((packet->has & FT_HAS_PAYLOAD_LENGTH) == 0)
		return;
	observed->has |= FT_OBSERVED_PAYLOAD;
	observed->payload = packet->payload_length;
	if ((packet->has & FT_HAS_PAYLOAD) == 0)
		return;
	telling =
		packet->payload_length < CONTENT_TELLING ? packet->payload_length : CONTENT_TELLING;
	if (packet->payload_captured >= telling)
		observed->has |= FT_OBSERVED_CONTENT;
}

static void observe_bth(const struct ft_packet *packet, struct ft_observed *observed)
{
	observed->has |= FT_OBSERVED_BTH;
	observed->opcode = packet->opcode;
	observed->psn = packet->psn;
	observed->dest_qp = packet->dest_qp;
	observed->pkey = packet->pkey;
	if (packet->ack_request)
		observed->has |= FT_OBSERVED_ACK_REQUEST;
	if (packet->becn)
		observed->has |= FT_OBSERVED_BECN;
	if (packet->fecn)
		observed->has |= FT_OBSERVED_FECN;
	if (packet->icrc_check == FT_CHECK_BAD)
		observed->has |= FT_OBSERVED_BAD_ICRC;
	observed->alike =
		ft_opcode_service(packet->opcode) == FT_CNP ? FT_ALIKE_PLAIN : FT_ALIKE_SEQUENCED;
}

/* Where the BTH begins: it is the last layer, but for a MAD. */
static uint32_t bth_offset(const struct ft_packet *packet)
{
	const struct ft_layer *layer = &packet->layers[packet->layer_count - 1];

	return layer->kind == FT_LAYER_BTH ? layer->offset : layer[-1].offset;
}

static void observe_rdma(const struct ft_packet *packet, const struct ft_frame *frame,
			 struct ft_observed *observed, uint64_t digest)
{
	uint32_t bth_at = bth_offset(packet);
	struct bytes bytes = content_of(packet, frame, bth_at);
	uint64_t content;

	observe_bth(packet, observed);
	observe_extensions(packet, observed);
	observe_payload(packet, observed);
	content = bytes_digest(bytes, (uint64_t)observed->payload << 8 | observed->opcode);
	observed->content = (uint32_t)(content >> 32) ^ (uint32_t)content;
	digest = rdma_digest(packet, observed, frame->bytes + bth_at, digest ^ content);
	if (packet->icrc_check == FT_CHECK_BAD)
		digest = bad_digest(bytes, digest);
	observed->digest = digest;
}

void ft_observe(const struct ft_packet *packet, const struct ft_frame *frame,
		struct ft_observed *observed)
{
	struct ends ends = ends_of(packet);
	uint64_t digest = ft_mix(ends.src ^ salts[0], ends.dst ^ salts[1]);

	*observed = (struct ft_observed){
		.ts_ns = frame->ts_ns,
		.frame = frame->number,
		.pair = ends.src + ends.dst,
		.wire = frame->wire,
		.vlan = packet->vlan,
	};
	if (ends.src < ends.dst)
		observed->has |= FT_OBSERVED_UPWARD;
	if (packet->truncated == FT_COMPLETE && frame->captured >= frame->original)
		observed->has |= FT_OBSERVED_WHOLE;
	observe_ethernet(packet, observed);
	observe_network(packet, observed);
	if ((packet->has & FT_HAS_MIRROR) != 0)
		observe_mirror(packet, observed);
	if ((packet->has & FT_HAS_BTH) != 0)
		observe_rdma(packet, frame, observed, digest);
	else
		ft_observe_other(packet, frame, observed, digest);
}
