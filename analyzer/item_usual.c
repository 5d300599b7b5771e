#include "item_fill.h"

#include <assert.h>
#include <string.h>

/* The compiler must see, in every function, what is known of `has`: the network header's bit above all. */
#define INLINE __attribute__((always_inline)) static inline

enum { AETH_LEN = 4, MARKS = 0xc0, ACK_REQUEST = 0x80, MARKS_SHIFT = 13, ACK_SHIFT = 11 };

#define TAKEN_OVER (FT_HAS_RETH | FT_HAS_ATOMICETH | FT_HAS_AETH)

/* Members in a row that another struct has in the same order: copied as they stand in memory. */
#define ROW(type, first, last)                                                                     \
	(offsetof(type, last) + sizeof(((type *)0)->last) - offsetof(type, first))
#define COPY_ROW(type, to, packet, first, last)                                                    \
	memcpy((uint8_t *)(to) + offsetof(type, first),                                            \
	       (const uint8_t *)(packet) + offsetof(struct ft_packet, first),                      \
	       ROW(struct ft_packet, first, last))
#define SAME_ROW(type, first, last) (ROW(type, first, last) == ROW(struct ft_packet, first, last))

static_assert(SAME_ROW(struct ft_observed, dmac, smac) &&
		      SAME_ROW(struct ft_check_key, dmac, smac) &&
		      ROW(struct ft_packet, dmac, smac) == FT_MACS_LEN,
	      "both MAC addresses in one go");
static_assert(SAME_ROW(struct ft_observed, dest_qp, psn) &&
		      SAME_ROW(struct ft_observed, ip_id, ecn) &&
		      SAME_ROW(struct ft_observed, pkey, vlan) &&
		      SAME_ROW(struct ft_item, pkey, vlan),
	      "in one order");
static_assert(ROW(struct ft_observed, va, rkey) == ROW(struct ft_packet, reth.va, reth.rkey) &&
		      ROW(struct ft_observed, va, length) == sizeof(((struct ft_packet *)0)->reth),
	      "a RETH");
static_assert(FT_OBSERVED_BECN == 0x40 << MARKS_SHIFT && FT_OBSERVED_FECN == 0x80 << MARKS_SHIFT &&
		      FT_OBSERVED_ACK_REQUEST == ACK_REQUEST << ACK_SHIFT,
	      "bits of the BTH");

INLINE void fill_flow_key(struct ft_flow_key *key, const struct ft_packet *packet)
{
	memcpy(key->src, packet->src, sizeof key->src);
	memcpy(key->dst, packet->dst, sizeof key->dst);
	key->dest_qp = packet->dest_qp;
	key->vni = FT_FLOW_NO_VNI;
	key->base = FT_FLOW_ANY_BASE;
	key->vlan = FT_FLOW_ANY_VLAN;
	key->by_lid = 0;
}

/* IPv4 addresses have none. */
INLINE uint64_t gid_prefix(const uint8_t gid[16], uint32_t has)
{
	return (has & FT_HAS_IPV4) != 0 ? 0 : ft_load64(gid);
}

INLINE uint64_t gid_digest(const uint8_t gid[16], uint32_t has)
{
	return ft_gid_digest(gid_prefix(gid, has), ft_load64(gid + 8));
}

/* As ft_flow_key_hash() of what fill_flow_key() makes, which need not be read again. */
INLINE uint32_t flow_hash(const struct ft_packet *packet, uint32_t has, uint64_t seed)
{
	const uint64_t src[2] = { gid_prefix(packet->src, has), ft_load64(packet->src + 8) };
	const uint64_t dst[2] = { gid_prefix(packet->dst, has), ft_load64(packet->dst + 8) };
	const uint64_t rest[2] = {
		(uint64_t)FT_FLOW_NO_VNI << 32 | packet->dest_qp,
		(uint32_t)FT_FLOW_ANY_VLAN << 16 | FT_FLOW_ANY_BASE,
	};

	return ft_flow_words_hash(src, dst, rest, seed);
}

INLINE uint64_t content_digest(const struct ft_packet *packet, uint32_t has,
			       const struct ft_frame *frame, uint32_t bth_at)
{
	uint32_t at = bth_at + FT_BTH_LEN + ((has & FT_HAS_AETH) != 0 ? AETH_LEN : 0);
	uint32_t size = packet->payload_offset + packet->payload_captured - at;
	uint64_t content = ft_content_begin(packet->opcode, packet->payload_length);

	return size < FT_CONTENT_MAX ? ft_content_digest_short(content, frame->bytes + at, size)
				     : ft_content_digest(content, frame->bytes + at);
}

static_assert(FT_ALIKE_SEQUENCED == 0, "like what is not there");

INLINE void observe_extensions(const struct ft_packet *packet, uint32_t has,
			       struct ft_observed *observed)
{
	memset(&observed->alike, FT_ALIKE_SEQUENCED,
	       sizeof *observed - offsetof(struct ft_observed, alike));
	if ((has & FT_HAS_RETH) != 0) {
		memcpy((uint8_t *)observed + offsetof(struct ft_observed, va), &packet->reth,
		       sizeof packet->reth);
	} else if ((has & FT_HAS_AETH) != 0) {
		observed->syndrome = packet->aeth.syndrome;
	} else if ((has & FT_HAS_ATOMICETH) != 0) {
		observed->va = packet->atomiceth.va;
		observed->rkey = packet->atomiceth.rkey;
	}
}

/* The MAC addresses for all who ask for them. */
INLINE uint64_t take_tags(const struct ft_packet *packet, struct ft_observed *observed,
			  uint64_t seed)
{
	const uint8_t *macs = (const uint8_t *)packet + offsetof(struct ft_packet, dmac);
	const struct ft_tags tags = {
		.macs = { ft_load64(macs), ft_load32(macs + 8) },
		.pkey = packet->pkey,
		.vlan = packet->vlan,
		.service = packet->opcode >> 5,
	};
	uint8_t *to = (uint8_t *)observed + offsetof(struct ft_observed, dmac);

	memcpy(to, &tags.macs.first, sizeof tags.macs.first);
	memcpy(to + sizeof tags.macs.first, &tags.macs.last, sizeof tags.macs.last);
	observed->hop = ft_macs_digest(tags.macs.first, tags.macs.last) | packet->ttl;
	return ft_tags_digest(&tags, seed);
}

INLINE void observe_headers(const struct ft_packet *packet, uint32_t has,
			    struct ft_observed *observed)
{
	COPY_ROW(struct ft_observed, observed, packet, ip_id, ecn);
	if ((has & FT_HAS_IPV4) == 0)
		observed->ip_id = 0;
	observed->sport = packet->udp_sport;
	observed->opcode = packet->opcode;
	COPY_ROW(struct ft_observed, observed, packet, pkey, vlan);
	COPY_ROW(struct ft_observed, observed, packet, dest_qp, psn);
	observed->payload = packet->payload_length;
}

INLINE uint32_t observed_bits(const struct ft_packet *packet, uint32_t has,
			      const struct ft_frame *frame, const uint8_t *bth)
{
	uint32_t bits = (has & (FT_USUAL_HEADERS | TAKEN_OVER | FT_HAS_IPV4)) | FT_OBSERVED_IP;

	bits &= ~(uint32_t)FT_HAS_PAYLOAD;
	bits |= (uint32_t)(bth[4] & MARKS) << MARKS_SHIFT;
	bits |= (uint32_t)(bth[8] & ACK_REQUEST) << ACK_SHIFT;
	if (packet->truncated == FT_COMPLETE && frame->captured >= frame->original)
		bits |= FT_OBSERVED_WHOLE;
	if (packet->payload_captured >= FT_CONTENT_TELLING ||
	    packet->payload_captured == packet->payload_length)
		bits |= FT_OBSERVED_CONTENT;
	return bits;
}

INLINE uint64_t packet_digest(const struct ft_packet *packet, uint32_t has, uint64_t content,
			      const uint8_t *bth, uint64_t ends)
{
	uint32_t icrc = (has & FT_HAS_ICRC) != 0 ? ft_load32(packet->icrc) : 0;
	uint64_t digest = ft_digest_bth(content, bth, icrc);
	struct ft_place place = {
		.ends = ends,
		.ports = (uint32_t)packet->udp_dport << 16 | packet->udp_sport,
		.ip_id = (has & FT_HAS_IPV4) != 0 ? packet->ip_id : 0,
	};

	if ((has & FT_HAS_AETH) != 0)
		place.aeth = packet->aeth.msn << 8 | packet->aeth.syndrome;
	return ft_digest_place(digest, &place);
}

INLINE void observe(const struct ft_packet *packet, uint32_t has, const struct ft_frame *frame,
		    struct ft_observed *observed)
{
	const struct ft_layer *behind = packet->layers + packet->layer_count;
	uint32_t bth_at = behind[-1].offset; /* the last one */
	const uint8_t *bth = frame->bytes + bth_at;
	uint64_t content = content_digest(packet, has, frame, bth_at);
	uint64_t src = gid_digest(packet->src, has), dst = gid_digest(packet->dst, has);
	uint64_t pair = src + dst;
	uint64_t upward = -(uint64_t)(src < dst); /* all bits or none: no branch can guess it */

	observed->ts_ns = frame->ts_ns;
	observed->frame = frame->number;
	observed->pair = pair;
	observed->content = (uint32_t)(content >> 32);
	observed->has =
		observed_bits(packet, has, frame, bth) | (FT_OBSERVED_UPWARD & (uint32_t)upward);
	observed->digest = packet_digest(packet, has, content, bth, pair ^ upward);
	observe_headers(packet, has, observed);
	observe_extensions(packet, has, observed);
}

/* `has`: packet->has. */
INLINE void fill(struct ft_item *item, const struct ft_frame *frame, const struct ft_packet *packet,
		 uint32_t has, uint64_t seed)
{
	item->frame = frame;
	item->ts_ns = frame->ts_ns == FT_TS_UNKNOWN ? 0 : frame->ts_ns;
	COPY_ROW(struct ft_item, item, packet, pkey, vlan);
	item->base = packet->pkey & 0x7fff;
	item->truncated = packet->truncated;
	item->known = FT_NEED_ALL;
	item->kind = FT_FRAME_JUDGED;
	item->has_flow = true;
	item->pause = false;
	item->connected = item->followed = item->usual = true;
	item->dest_qp = packet->dest_qp;
	item->setup.kind = FT_SETUP_NONE;
	fill_flow_key(&item->flow_key, packet);
	item->hash = flow_hash(packet, has, seed);
	item->judged_by = take_tags(packet, &item->observed, seed);
	observe(packet, has, frame, &item->observed);
}

__attribute__((noinline)) static void fill_ipv6(struct ft_item *item, const struct ft_frame *frame,
						const struct ft_packet *packet, uint64_t seed)
{
	uint32_t extensions = packet->has & FT_USUAL_EXTENSIONS;

	fill(item, frame, packet, FT_HAS_IPV6 | FT_USUAL_HEADERS | extensions, seed);
}

void ft_item_fill_usual(struct ft_item *item, const struct ft_frame *frame,
			const struct ft_packet *packet, uint64_t seed)
{
	uint32_t extensions = packet->has & FT_USUAL_EXTENSIONS;

	if ((packet->has & FT_HAS_IPV6) != 0)
		fill_ipv6(item, frame, packet, seed);
	else
		fill(item, frame, packet, FT_HAS_IPV4 | FT_USUAL_HEADERS | extensions, seed);
}
