#include <assert.h>
#include <stddef.h>
#include <string.h>

#include <decode/brief.h>

#include "item_fill.h"
#include "observe_digest.h"

/*
 * All in one function for each IP version: what was read of the frame stays in registers, and what depends on the
 * version is known.
 */
#define INLINE __attribute__((always_inline)) static inline

enum { IP_ID = 4, AETH_LEN = 4, AETH_LEN_SHIFT = 11 };
static_assert((int)FT_HAS_AETH >> AETH_LEN_SHIFT == AETH_LEN, "its length from its bit");

/* From rows of the BTH to bits of what was observed. */
enum { MARKS_SHIFT = 11, ACK_SHIFT = 13 };
#define MARKS (FT_OBSERVED_FECN | FT_OBSERVED_BECN)
static_assert(FT_OBSERVED_FECN == 1u << 31 >> MARKS_SHIFT &&
		      FT_OBSERVED_BECN == 1u << 30 >> MARKS_SHIFT &&
		      FT_OBSERVED_ACK_REQUEST == 1u << 31 >> ACK_SHIFT,
	      "bits of the BTH");

#define EXTENDED (FT_OBSERVED_RETH | FT_OBSERVED_ATOMIC | FT_OBSERVED_AETH)
#define ALWAYS_THERE                                                                               \
	(FT_OBSERVED_ETH | FT_OBSERVED_IP | FT_OBSERVED_UDP | FT_OBSERVED_BTH | FT_OBSERVED_PAYLOAD)
static_assert((int)FT_OBSERVED_RETH == (int)FT_HAS_RETH &&
		      (int)FT_OBSERVED_ATOMIC == (int)FT_HAS_ATOMICETH &&
		      (int)FT_OBSERVED_AETH == (int)FT_HAS_AETH,
	      "taken over with one mask");

/* Both halves of an address, as they stand in memory. */
struct address {
	uint64_t prefix, interface;
};

/* The frame as the functions below ask for it. */
struct view {
	bool ipv6;
	const struct ft_frame *frame;
	const uint8_t *ip, *bth;
	uint32_t headers;         /* FT_HAS_ bits: extended ones */
	uint32_t ports;           /* source, destination */
	uint32_t qp_row, psn_row; /* of the BTH */
	uint32_t tags;            /* VLAN, P_Key */
	uint32_t payload;         /* bytes */
	struct address src, dst;
	uint8_t opcode;
};

/* What the capture holds of it. */
struct extent {
	uint32_t payload;
	uint32_t has; /* FT_OBSERVED_ bits */
	uint32_t icrc;
	uint8_t truncated;
};

INLINE struct address address_of(const uint8_t *ip, bool ipv6, uint32_t at, uint32_t at6)
{
	if (!ipv6)
		return (struct address){ 0, ft_ipv4_interface(ft_load32(ip + at)) };
	return (struct address){ ft_load64(ip + at6), ft_load64(ip + at6 + 8) };
}

INLINE uint32_t tags_of(const uint8_t *bytes, const struct ft_brief *brief)
{
	uint32_t pkey = ft_be16(bytes + brief->bth_at + 2);

	if (brief->ip_at == FT_BRIEF_ETHERNET_LEN)
		return pkey;
	return (ft_be16(bytes + FT_BRIEF_ETHERNET_LEN) & 0x0fffu) << 16 | pkey;
}

INLINE struct view view_of(const struct ft_frame *frame, const struct ft_brief *brief, bool ipv6)
{
	const uint8_t *ip = frame->bytes + brief->ip_at, *bth = frame->bytes + brief->bth_at;

	return (struct view){
		.ipv6 = ipv6,
		.frame = frame,
		.ip = ip,
		.bth = bth,
		.headers = brief->shape->headers,
		.ports = ft_be32(bth - FT_BRIEF_UDP_LEN),
		.qp_row = ft_be32(bth + 4),
		.psn_row = ft_be32(bth + 8),
		.tags = tags_of(frame->bytes, brief),
		.payload = brief->payload_length,
		.src = address_of(ip, ipv6, FT_BRIEF_SRC, FT_BRIEF_SRC6),
		.dst = address_of(ip, ipv6, FT_BRIEF_DST, FT_BRIEF_DST6),
		.opcode = bth[0],
	};
}

INLINE struct extent extent_of(const struct ft_frame *frame, const struct ft_brief *brief)
{
	const uint32_t whole = FT_OBSERVED_WHOLE | FT_OBSERVED_CONTENT;
	uint32_t held = frame->captured - brief->payload_at, length = brief->payload_length;

	if (frame->captured == brief->end)
		return (struct extent){
			.payload = length,
			.has = whole,
			.icrc = ft_load32(frame->bytes + brief->end - FT_BRIEF_ICRC_LEN),
			.truncated = FT_COMPLETE,
		};
	if (held < length)
		return (struct extent){
			.payload = held,
			.has = held >= FT_CONTENT_TELLING ? FT_OBSERVED_CONTENT : 0,
			.truncated = FT_CUT_PAYLOAD,
		};
	return (struct extent){
		.payload = length,
		.has = FT_OBSERVED_CONTENT,
		.truncated = FT_CUT_ICRC,
	};
}

/* Extended headers and payload as far as captured, without the AETH: its credits may change. */
INLINE uint64_t content_digest(const struct view *view, uint8_t headers_len, uint32_t payload)
{
	uint32_t skipped = view->headers >> AETH_LEN_SHIFT & AETH_LEN;
	const uint8_t *at = view->bth + FT_BTH_LEN + skipped;
	uint64_t content = ft_content_begin(view->opcode, view->payload);
	uint32_t size = headers_len - skipped + payload;

	return size < FT_CONTENT_MAX ? ft_content_digest_short(content, at, size)
				     : ft_content_digest(content, at);
}

static_assert(FT_ALIKE_SEQUENCED == 0, "like what is not there");

/* The first extended header; returns an AETH as ft_place has it, or 0. */
INLINE uint32_t observe_extension(const struct view *view, struct ft_observed *restrict observed)
{
	const uint8_t *b = view->bth + FT_BTH_LEN;
	uint32_t aeth = 0;

	memset(&observed->alike, FT_ALIKE_SEQUENCED,
	       sizeof *observed - offsetof(struct ft_observed, alike));
	if ((view->headers & FT_HAS_AETH) != 0) {
		aeth = ft_be32(b);
		observed->syndrome = (uint8_t)(aeth >> 24);
		return aeth << 8 | aeth >> 24;
	}
	if ((view->headers & (FT_HAS_RETH | FT_HAS_ATOMICETH)) != 0) {
		observed->va = ft_be64(b);
		observed->rkey = ft_be32(b + 8);
		if ((view->headers & FT_HAS_RETH) != 0)
			observed->length = ft_be32(b + 12);
	}
	return 0;
}

INLINE uint16_t ip_id(const struct view *view)
{
	return view->ipv6 ? 0 : ft_be16(view->ip + IP_ID);
}

INLINE uint8_t traffic_class(const struct view *view)
{
	return view->ipv6 ? (uint8_t)(ft_be16(view->ip) >> 4) : view->ip[1];
}

INLINE uint8_t ttl(const struct view *view)
{
	return view->ip[view->ipv6 ? FT_BRIEF_HOP_LIMIT6 : FT_BRIEF_TTL];
}

INLINE void observe(const struct view *view, const struct extent *extent, uint64_t content,
		    struct ft_observed *restrict observed)
{
	uint64_t src = ft_gid_digest(view->src.prefix, view->src.interface);
	uint64_t dst = ft_gid_digest(view->dst.prefix, view->dst.interface);
	uint64_t pair = src + dst;
	uint64_t upward = -(uint64_t)(src < dst); /* all bits or none: no branch can guess it */
	uint32_t aeth = observe_extension(view, observed);
	const struct ft_place place = {
		.ends = pair ^ upward,
		.ports = view->ports << 16 | view->ports >> 16,
		.ip_id = ip_id(view),
		.aeth = aeth,
	};

	observed->digest = ft_digest_place(ft_digest_bth(content, view->bth, extent->icrc), &place);
	observed->pair = pair;
	observed->content = (uint32_t)(content >> 32);
	observed->has = ALWAYS_THERE | (view->ipv6 ? 0 : FT_OBSERVED_IPV4) |
			(view->headers & EXTENDED) | extent->has |
			(view->qp_row >> MARKS_SHIFT & MARKS) |
			(view->psn_row >> ACK_SHIFT & FT_OBSERVED_ACK_REQUEST) |
			((uint32_t)upward & FT_OBSERVED_UPWARD);
	observed->ts_ns = view->frame->ts_ns;
	observed->frame = view->frame->number;
	observed->payload = view->payload;
	observed->dest_qp = view->qp_row & 0xffffff;
	observed->psn = view->psn_row & 0xffffff;
	observed->sport = (uint16_t)(view->ports >> 16);
	observed->ip_id = ip_id(view);
	observed->ttl = ttl(view);
	observed->dscp = traffic_class(view) >> 2;
	observed->ecn = traffic_class(view) & 3;
	observed->opcode = view->opcode;
	observed->pkey = (uint16_t)view->tags;
	observed->vlan = (uint16_t)(view->tags >> 16);
}

/* The MAC addresses for all who ask for them. */
INLINE uint64_t take_macs(const struct view *view, struct ft_observed *restrict observed,
			  uint64_t seed)
{
	const struct ft_tags tags = {
		.macs = { ft_load64(view->frame->bytes), ft_load32(view->frame->bytes + 8) },
		.pkey = (uint16_t)view->tags,
		.vlan = (uint16_t)(view->tags >> 16),
		.service = view->opcode >> 5,
	};
	uint8_t *to = (uint8_t *)observed + offsetof(struct ft_observed, dmac);

	memcpy(to, &tags.macs.first, sizeof tags.macs.first);
	memcpy(to + sizeof tags.macs.first, &tags.macs.last, sizeof tags.macs.last);
	observed->hop = ft_macs_digest(tags.macs.first, tags.macs.last) | ttl(view);
	return ft_tags_digest(&tags, seed);
}

INLINE uint32_t fill_flow_key(const struct view *view, struct ft_flow_key *restrict key,
			      uint64_t seed)
{
	const uint64_t rest[2] = {
		(uint64_t)FT_FLOW_NO_VNI << 32 | (view->qp_row & 0xffffff),
		(uint32_t)FT_FLOW_ANY_VLAN << 16 | FT_FLOW_ANY_BASE,
	};

	memcpy(key->src, &view->src, sizeof key->src);
	memcpy(key->dst, &view->dst, sizeof key->dst);
	key->dest_qp = view->qp_row & 0xffffff;
	key->vni = FT_FLOW_NO_VNI;
	key->base = FT_FLOW_ANY_BASE;
	key->vlan = FT_FLOW_ANY_VLAN;
	key->by_lid = 0;
	return ft_flow_words_hash((const uint64_t[]){ view->src.prefix, view->src.interface },
				  (const uint64_t[]){ view->dst.prefix, view->dst.interface }, rest,
				  seed);
}

INLINE void fill(struct ft_item *restrict item, const struct ft_frame *frame,
		 const struct ft_brief *brief, bool ipv6, uint64_t seed)
{
	const struct view view = view_of(frame, brief, ipv6);
	const struct extent extent = extent_of(frame, brief);
	uint64_t content = content_digest(&view, brief->shape->length, extent.payload);

	observe(&view, &extent, content, &item->observed);
	item->judged_by = take_macs(&view, &item->observed, seed);
	item->hash = fill_flow_key(&view, &item->flow_key, seed);
	item->frame = frame;
	item->ts_ns = frame->ts_ns == FT_TS_UNKNOWN ? 0 : frame->ts_ns;
	item->pkey = (uint16_t)view.tags;
	item->vlan = (uint16_t)(view.tags >> 16);
	item->base = view.tags & 0x7fff;
	item->sub = 0;
	item->truncated = extent.truncated;
	item->known = FT_NEED_ALL;
	item->kind = FT_FRAME_JUDGED;
	item->has_flow = true;
	item->pause = false;
	item->connected = item->followed = item->usual = true;
	item->dest_qp = view.qp_row & 0xffffff;
	item->setup.kind = FT_SETUP_NONE;
}

static inline bool is_broken(const struct ft_decode_config *config, const struct ft_frame *frame,
			     const struct ft_brief *brief)
{
	return config->check_icrc && frame->captured == brief->end &&
	       ft_brief_check_icrc(frame->bytes, brief) == FT_CHECK_BAD;
}

__attribute__((noinline)) static bool fill_ipv6(struct ft_item *item, const struct ft_frame *frame,
						const struct ft_decode_config *config,
						uint64_t seed)
{
	const struct ft_decode_input input = ft_decode_input_of(frame);
	struct ft_brief brief;

	if (!ft_brief_find_ipv6(config, &input, &brief) || is_broken(config, frame, &brief))
		return false;
	fill(item, frame, &brief, true, seed);
	return true;
}

bool ft_item_fill_usual(struct ft_item *item, const struct ft_frame *frame,
			const struct ft_decode_config *config, uint64_t seed)
{
	const struct ft_decode_input input = ft_decode_input_of(frame);
	struct ft_brief brief;

	if (!ft_brief_find(config, &input, &brief))
		return fill_ipv6(item, frame, config, seed);
	if (is_broken(config, frame, &brief))
		return false;
	fill(item, frame, &brief, false, seed);
	return true;
}
