#include "observe.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include <decode/decode.h>
#include <decode/opcode.h>
#include <flow/hash.h>

#include "observe_other.h"

/*
 * Digests are sums of multiply-mixes of what the decoder read and of the bytes behind the BTH. They
 * have no seed, since they are compared between engines: tables mix in their own.
 */
enum { BTH_LEN = 12, LANE = 16, CONTENT_MAX = 4 * LANE, CONTENT_TELLING = 8, MAC_LEN = 6 };

#define SALT_SRC     0x9e3779b97f4a7c15u
#define SALT_DST     0xa0761d6478bd642fu
#define SALT_GID     0xe7037ed1a0b428dbu
#define SALT_BTH     0x8ebc6af09c88c6e3u
#define SALT_IDS     0x589965cc75374cc3u
#define SALT_LANE    0x1d8e4e27c47d124fu
#define SALT_DIGEST  0xeb44accab455d165u
#define SALT_CONTENT 0xc2b2ae3d27d4eb4fu

/* Along the usual path the compiler must see, in every function, what it knows of the headers. */
#define INLINE __attribute__((always_inline)) static inline

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

__extension__ typedef unsigned __int128 wide;

static inline wide product(uint64_t a, uint64_t b)
{
	return (wide)a * b;
}

static inline uint64_t fold(wide sum)
{
	return (uint64_t)sum ^ (uint64_t)(sum >> 64);
}

static inline uint32_t load32(const uint8_t *b)
{
	uint32_t word;

	memcpy(&word, b, sizeof word);
	return word;
}

static inline uint64_t load64(const uint8_t *b)
{
	uint64_t word;

	memcpy(&word, b, sizeof word);
	return word;
}

static inline uint64_t load48(const uint8_t *b)
{
	uint16_t tail;

	memcpy(&tail, b + 4, sizeof tail);
	return (uint64_t)tail << 32 | load32(b);
}

/* --- addresses --- */

struct ends {
	uint64_t src, dst; /* a digest of each; 0: not known */
};

static inline uint64_t gid_digest(const uint8_t gid[16])
{
	return ft_mix(load64(gid) ^ SALT_GID, load64(gid + 8) ^ SALT_SRC);
}

static uint64_t short_digest(uint64_t address)
{
	return ft_mix(address ^ SALT_DST, SALT_GID);
}

/* Without an IP header or GRH. */
__attribute__((noinline)) static struct ends other_ends(const struct ft_packet *packet)
{
	if ((packet->has & FT_HAS_LRH) != 0)
		return (struct ends){ short_digest(packet->lrh.slid),
				      short_digest(packet->lrh.dlid) };
	if ((packet->has & FT_HAS_ETH) != 0)
		return (struct ends){ short_digest(load48(packet->smac)),
				      short_digest(load48(packet->dmac)) };
	return (struct ends){ 0, 0 };
}

INLINE struct ends ends_of(const struct ft_packet *packet, uint32_t has)
{
	if ((has & (FT_HAS_IPV4 | FT_HAS_IPV6 | FT_HAS_GRH)) == 0)
		return other_ends(packet);
	return (struct ends){ gid_digest(packet->src), gid_digest(packet->dst) };
}

/* Both MAC addresses in 24 bits, above 8 for the time to live. */
INLINE uint32_t macs_digest(const uint8_t smac[MAC_LEN], const uint8_t dmac[MAC_LEN])
{
	uint64_t digest = load48(smac) * SALT_SRC + load48(dmac) * SALT_BTH;

	return (uint32_t)(digest >> 32) & ~(uint32_t)UINT8_MAX;
}

/* --- layers --- */

INLINE void observe_ethernet(const struct ft_packet *packet, uint32_t has,
			     struct ft_observed *observed)
{
	if ((has & FT_HAS_ETH) != 0) {
		memcpy(observed->smac, packet->smac, MAC_LEN);
		memcpy(observed->dmac, packet->dmac, MAC_LEN);
		observed->hop = macs_digest(packet->smac, packet->dmac);
	} else if ((has & FT_HAS_SLL) != 0) { /* the one it has stands for both */
		observed->hop = macs_digest(packet->smac, packet->smac);
	}
}

INLINE void observe_network(const struct ft_packet *packet, uint32_t has,
			    struct ft_observed *observed)
{
	if ((has & (FT_HAS_IPV4 | FT_HAS_IPV6)) != 0) {
		observed->ttl = packet->ttl;
		observed->dscp = packet->dscp;
		observed->ecn = packet->ecn;
		observed->hop |= packet->ttl;
		if ((has & FT_HAS_IPV4) != 0)
			observed->ip_id = packet->ip_id;
	} else if ((has & FT_HAS_GRH) != 0) {
		observed->hop |= packet->grh.hop_limit;
	}
	if ((has & FT_HAS_UDP) != 0)
		observed->sport = packet->udp_sport;
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
	digest = ft_mix(gid_digest(tunnel->outer_src) ^ SALT_SRC,
			gid_digest(tunnel->outer_dst) ^ SALT_DST);
	digest = ft_mix(digest ^ id, SALT_IDS);
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
INLINE struct bytes content_of(const struct ft_packet *packet, uint32_t has,
			       const struct ft_frame *frame, uint32_t bth_at)
{
	uint32_t at = bth_at + BTH_LEN, end = at;

	if ((has & FT_HAS_AETH) != 0)
		at += (has & FT_HAS_RDETH) != 0 ? 8 : 4;
	if ((has & FT_HAS_PAYLOAD) != 0)
		end = packet->payload_offset + packet->payload_captured;
	else if ((has & FT_HAS_ICRC) == 0) /* cut, or not understood */
		end = frame->captured;
	if (end > frame->captured || end < at)
		return (struct bytes){ frame->bytes, 0 };
	return (struct bytes){ frame->bytes + at, end - at };
}

INLINE wide lane(const uint8_t *at, uint64_t number)
{
	return product(load64(at) ^ (SALT_LANE + number * SALT_CONTENT), load64(at + 8) ^ SALT_IDS);
}

/* The last lane begins early enough to be whole. */
__attribute__((noinline)) static uint64_t short_content(struct bytes bytes)
{
	uint8_t padded[LANE] = { 0 };
	uint64_t number = 0;
	wide sum = 0;

	if (bytes.size < LANE) {
		memcpy(padded, bytes.at, bytes.size);
		return fold(lane(padded, bytes.size));
	}
	for (uint32_t at = 0; at + LANE < bytes.size; at += LANE)
		sum += lane(bytes.at + at, number++);
	return fold(sum + lane(bytes.at + bytes.size - LANE, LANE + bytes.size));
}

INLINE uint64_t content_digest(struct bytes bytes)
{
	if (bytes.size == 0)
		return 0;
	if (bytes.size < CONTENT_MAX)
		return short_content(bytes);
	return fold(lane(bytes.at, 0) + lane(bytes.at + LANE, 1) + lane(bytes.at + 2 * LANE, 2) +
		    lane(bytes.at + 3 * LANE, 3));
}

/* A wrong ICRC vouches for nothing: all there is counts. */
__attribute__((noinline)) static uint64_t bad_digest(struct bytes bytes, uint64_t digest)
{
	return ft_hash(bytes.at, bytes.size, digest ^ SALT_IDS);
}

__attribute__((noinline)) static uint64_t native_digest(const struct ft_packet *packet)
{
	uint64_t lids = (uint64_t)packet->lrh.slid << 32 | (uint32_t)packet->lrh.dlid << 16 |
			packet->lrh.sl;

	return ft_mix(lids ^ SALT_GID, SALT_BTH);
}

/* The BTH up to DestQP as it stands in the frame, without the byte that a switch may mark. */
INLINE uint64_t bth_word(const uint8_t *bth)
{
	static const uint8_t kept[8] = { 0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0xff };

	return load64(bth) & load64(kept);
}

/* With an ICRC, what it covers beyond the bytes looked at. */
INLINE uint64_t rdma_digest(const struct ft_packet *packet, uint32_t has,
			    const struct ft_observed *observed, const uint8_t *bth)
{
	uint32_t icrc = (has & FT_HAS_ICRC) != 0 ? load32(packet->icrc) : 0;
	uint32_t vni = (has & FT_HAS_VNI) != 0 ? packet->vni : UINT32_MAX;
	uint32_t dport = (has & FT_HAS_UDP) != 0 ? packet->udp_dport : 0;
	uint64_t ids = (uint64_t)vni << 32 | (uint32_t)observed->ip_id << 16 | observed->sport;
	uint64_t more = (uint64_t)observed->msn << 32 | (uint32_t)observed->syndrome << 16 | dport;
	uint64_t tail = (uint64_t)load32(bth + 8) << 32 | icrc;
	uint64_t digest = fold(product(bth_word(bth) ^ SALT_BTH, tail ^ SALT_DST) +
			       product(ids ^ SALT_IDS, more ^ SALT_SRC));

	if ((has & FT_HAS_LRH) != 0)
		digest += native_digest(packet);
	return digest;
}

INLINE void observe_extensions(const struct ft_packet *packet, uint32_t has,
			       struct ft_observed *observed)
{
	const uint32_t any = FT_HAS_AETH | FT_HAS_RETH | FT_HAS_ATOMICETH | FT_HAS_DETH;

	if ((has & any) == 0)
		return;
	if ((has & FT_HAS_AETH) != 0) {
		observed->syndrome = packet->aeth.syndrome;
		observed->msn = packet->aeth.msn;
	}
	if ((has & FT_HAS_RETH) != 0) {
		observed->va = packet->reth.va;
		observed->rkey = packet->reth.rkey;
		observed->length = packet->reth.length;
	}
	if ((has & FT_HAS_ATOMICETH) != 0) {
		observed->va = packet->atomiceth.va;
		observed->rkey = packet->atomiceth.rkey;
	}
	if ((has & FT_HAS_DETH) != 0)
		observed->src_qp = packet->deth.src_qp;
}

INLINE void observe_payload(const struct ft_packet *packet, uint32_t has,
			    struct ft_observed *observed)
{
	const uint32_t both = FT_HAS_PAYLOAD_LENGTH | FT_HAS_PAYLOAD;
	uint32_t length = packet->payload_length;

	if ((has & FT_HAS_PAYLOAD_LENGTH) == 0)
		return;
	observed->payload = length;
	if ((has & both) == both &&
	    packet->payload_captured >= (length < CONTENT_TELLING ? length : CONTENT_TELLING))
		observed->has |= FT_OBSERVED_CONTENT;
}

INLINE void observe_bth(const struct ft_packet *packet, struct ft_observed *observed)
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

/* Where the BTH begins: it is the last layer, but for a MAD. */
INLINE uint32_t bth_offset(const struct ft_packet *packet)
{
	const struct ft_layer *layer = &packet->layers[packet->layer_count - 1];

	return layer->kind == FT_LAYER_BTH ? layer->offset : layer[-1].offset;
}

INLINE void observe_rdma(const struct ft_packet *packet, uint32_t has, const struct ft_frame *frame,
			 struct ft_observed *observed)
{
	uint32_t bth_at = bth_offset(packet);
	struct bytes bytes = content_of(packet, has, frame, bth_at);
	uint64_t content, digest;

	observe_bth(packet, observed);
	observe_extensions(packet, has, observed);
	observe_payload(packet, has, observed);
	content = ft_mix(content_digest(bytes) ^ SALT_CONTENT,
			 ((uint64_t)observed->payload << 8 | observed->opcode) ^ SALT_LANE);
	digest = observed->digest + rdma_digest(packet, has, observed, frame->bytes + bth_at);
	observed->content = (uint32_t)(content >> 32);
	observed->digest = ft_mix(digest ^ SALT_DIGEST, content);
	if (packet->icrc_check == FT_CHECK_BAD) {
		observed->has |= FT_OBSERVED_BAD_ICRC;
		observed->digest = bad_digest(bytes, observed->digest);
	}
}

/* In two parts: of the whole, gcc makes a string instruction that takes longer than the rest. */
INLINE void clear(struct ft_observed *observed)
{
	const size_t half = offsetof(struct ft_observed, payload);

	memset(observed, 0, half);
	memset((uint8_t *)observed + half, 0, sizeof *observed - half);
}

/* `has`: packet->has, of which the compiler may know some bits. */
INLINE void observe(const struct ft_packet *packet, uint32_t has, const struct ft_frame *frame,
		    struct ft_observed *observed)
{
	struct ends ends = ends_of(packet, has);
	bool whole = packet->truncated == FT_COMPLETE && frame->captured >= frame->original;
	bool upward = ends.src < ends.dst;

	clear(observed);
	observed->ts_ns = frame->ts_ns;
	observed->frame = frame->number;
	observed->pair = ends.src + ends.dst;
	observed->digest = upward ? observed->pair : ~observed->pair;
	observed->wire = frame->wire;
	observed->vlan = packet->vlan;
	observed->has = (has & (SAME_BITS | FT_HAS_IPV6)) | (has & FT_HAS_IPV4) << 1 |
			(whole ? FT_OBSERVED_WHOLE : 0u) | (upward ? FT_OBSERVED_UPWARD : 0u);
	observe_ethernet(packet, has, observed);
	observe_network(packet, has, observed);
	if ((has & FT_HAS_MIRROR) != 0)
		observe_mirror(packet, observed);
	if ((has & FT_HAS_BTH) != 0)
		observe_rdma(packet, has, frame, observed);
	else
		ft_observe_other(packet, frame, observed);
}

__attribute__((noinline)) static void observe_any(const struct ft_packet *packet,
						  const struct ft_frame *frame,
						  struct ft_observed *observed)
{
	observe(packet, packet->has, frame, observed);
}

/* Nearly all are RoCEv2 over IPv4 without a tunnel: then one comparison answers for many. */
void ft_observe(const struct ft_packet *packet, const struct ft_frame *frame,
		struct ft_observed *observed)
{
	const uint32_t usual = FT_HAS_ETH | FT_HAS_IPV4 | FT_HAS_UDP | FT_HAS_BTH |
			       FT_HAS_PAYLOAD_LENGTH | FT_HAS_PAYLOAD;
	const uint32_t unusual = FT_HAS_IPV6 | FT_HAS_GRH | FT_HAS_LRH | FT_HAS_SLL |
				 FT_HAS_MIRROR | FT_HAS_VNI | FT_HAS_RDETH | FT_HAS_MAD;
	uint32_t has = packet->has;

	if ((has & (usual | unusual)) == usual)
		observe(packet, usual | (has & ~(usual | unusual)), frame, observed);
	else
		observe_any(packet, frame, observed);
}
