#include <assert.h>
#include <stddef.h>
#include <string.h>

#include <decode/brief.h>

#include "item_fill.h"
#include "observe_digest.h"

/*
 * All in one function for each form: what was read of the frame stays in registers, and what depends on the form is
 * known.
 */
#define INLINE __attribute__((always_inline)) static inline

enum { IP_ID = 4, AETH_LEN = 4, AETH_LEN_SHIFT = 11 };
enum { LINE = 64, USUALLY_READ = 128 }; /* bytes */
enum { BYTES_AHEAD = 12 };              /* parcels */
static_assert((int)BYTES_AHEAD < (int)FT_PARCELS_AHEAD, "read only when they are there");
static_assert((int)FT_HAS_AETH >> AETH_LEN_SHIFT == AETH_LEN, "its length from its bit");

/* From rows of the BTH to bits of what was observed. */
enum { MARKS_SHIFT = 11, ACK_SHIFT = 13 };
#define MARKS (FT_OBSERVED_FECN | FT_OBSERVED_BECN)
static_assert(FT_OBSERVED_FECN == 1u << 31 >> MARKS_SHIFT &&
		      FT_OBSERVED_BECN == 1u << 30 >> MARKS_SHIFT &&
		      FT_OBSERVED_ACK_REQUEST == 1u << 31 >> ACK_SHIFT,
	      "bits of the BTH");

#define EXTENDED (FT_OBSERVED_RETH | FT_OBSERVED_ATOMIC | FT_OBSERVED_AETH)
static_assert((int)FT_OBSERVED_RETH == (int)FT_HAS_RETH &&
		      (int)FT_OBSERVED_ATOMIC == (int)FT_HAS_ATOMICETH &&
		      (int)FT_OBSERVED_AETH == (int)FT_HAS_AETH,
	      "taken over with one mask");

/* Where things stand. */
struct view {
	const uint8_t *bytes, *ip, *bth;
	/* of the BTH; read before anything is written, which might be it */
	uint32_t rows[FT_BTH_LEN / 4];
	uint32_t headers; /* FT_HAS_ bits: extended ones */
	uint32_t payload; /* bytes */
	enum ft_brief_form form;
};

/* What the capture holds of it. */
struct extent {
	uint32_t payload;
	uint32_t has; /* FT_OBSERVED_ bits */
	uint32_t icrc;
	uint8_t truncated;
};

/* --- addresses --- */

/* Both halves, as they stand in memory. */
struct address {
	uint64_t prefix, interface;
};

INLINE struct address address_of(const struct view *view, uint32_t at, uint32_t at6)
{
	const uint8_t *ip = view->ip;

	if (view->form == FT_BRIEF_OVER_IPV4)
		return (struct address){ 0, ft_ipv4_interface(ft_load32(ip + at)) };
	return (struct address){ ft_load64(ip + at6), ft_load64(ip + at6 + 8) };
}

INLINE void store_address(uint8_t to[16], const struct address *address)
{
	memcpy(to, &address->prefix, sizeof address->prefix);
	memcpy(to + sizeof address->prefix, &address->interface, sizeof address->interface);
}

/* As ft_flow_key_hash() of the key, which need not be read again. */
INLINE uint32_t flow_hash(const struct address *src, const struct address *dst, uint32_t dest_qp,
			  uint64_t seed)
{
	const uint64_t rest[2] = {
		(uint64_t)FT_FLOW_NO_VNI << 32 | dest_qp,
		(uint32_t)FT_FLOW_ANY_VLAN << 16 | FT_FLOW_ANY_BASE,
	};

	return ft_flow_words_hash((const uint64_t[]){ src->prefix, src->interface },
				  (const uint64_t[]){ dst->prefix, dst->interface }, rest, seed);
}

/* What the two addresses come to. */
struct ends {
	uint64_t digest; /* in this order */
	uint32_t upward; /* FT_OBSERVED_UPWARD, or 0 */
};

INLINE struct ends ends_of(uint64_t src_digest, uint64_t dst_digest, struct ft_item *item)
{
	uint64_t upward = -(uint64_t)(src_digest < dst_digest); /* no branch can guess it */
	uint64_t pair = src_digest + dst_digest;

	item->observed.pair = pair;
	return (struct ends){ pair ^ upward, FT_OBSERVED_UPWARD & (uint32_t)upward };
}

/* Of the flow key all but the addresses, and dest_qp. */
INLINE void take_queue_pair(const struct view *view, struct ft_item *item)
{
	struct ft_flow_key *key = &item->flow_key;

	key->dest_qp = item->observed.dest_qp = view->rows[1] & 0xffffff;
	key->vni = FT_FLOW_NO_VNI;
	key->base = FT_FLOW_ANY_BASE;
	key->vlan = FT_FLOW_ANY_VLAN;
	key->by_lid = view->form == FT_BRIEF_NATIVE;
	item->record = 0;
}

/* The addresses of the flow key, its hash and the pair; behind take_queue_pair(). */
INLINE struct ends take_addresses(const struct view *view, struct ft_item *item, uint64_t seed)
{
	const struct address src = address_of(view, FT_BRIEF_SRC, FT_BRIEF_SRC6);
	const struct address dst = address_of(view, FT_BRIEF_DST, FT_BRIEF_DST6);
	struct ft_flow_key *key = &item->flow_key;

	store_address(key->src, &src);
	store_address(key->dst, &dst);
	item->hash = flow_hash(&src, &dst, key->dest_qp, seed);
	return ends_of(ft_gid_digest(src.prefix, src.interface),
		       ft_gid_digest(dst.prefix, dst.interface), item);
}

/* The same for LIDs. */
INLINE struct ends take_lids(const struct view *view, struct ft_item *item, uint64_t seed)
{
	uint16_t slid = ft_be16(view->bytes + FT_BRIEF_SLID);
	uint16_t dlid = ft_be16(view->bytes + FT_BRIEF_DLID);
	struct ft_flow_key *key = &item->flow_key;
	struct ends ends = ends_of(ft_short_digest(slid), ft_short_digest(dlid), item);

	memset(key->src, 0, sizeof key->src);
	memset(key->dst, 0, sizeof key->dst);
	memcpy(key->src + sizeof key->src - sizeof slid, &slid, sizeof slid);
	memcpy(key->dst + sizeof key->dst - sizeof dlid, &dlid, sizeof dlid);
	item->hash = ft_flow_key_hash(key, seed);
	ends.digest += ft_native_digest(slid, dlid, view->bytes[1] >> 4);
	return ends;
}

/* --- Ethernet and IP --- */

/* The MAC addresses, the VLAN and the P_Key, for all who ask for them. */
INLINE void take_tags(const struct view *view, struct ft_item *item, uint64_t seed)
{
	struct ft_observed *observed = &item->observed;
	uint16_t pkey = (uint16_t)view->rows[0], vlan = 0;
	uint64_t first = ft_load64(view->bytes);
	uint32_t last = ft_load32(view->bytes + 8);
	uint8_t *to = (uint8_t *)observed + offsetof(struct ft_observed, dmac);
	uint8_t service = (uint8_t)(view->rows[0] >> 29);
	bool ipv6 = view->form == FT_BRIEF_OVER_IPV6;
	uint8_t ttl = view->ip[ipv6 ? FT_BRIEF_HOP_LIMIT6 : FT_BRIEF_TTL];

	if (view->ip != view->bytes + FT_BRIEF_ETHERNET_LEN)
		vlan = ft_be16(view->bytes + FT_BRIEF_ETHERNET_LEN) & 0x0fff;
	item->judged_by = ft_tags_digest(
		&(struct ft_tags){
			.macs = { first, last }, .pkey = pkey, .vlan = vlan, .service = service },
		seed);
	observed->pkey = pkey;
	observed->vlan = vlan;
	memcpy(to, &first, sizeof first);
	memcpy(to + sizeof first, &last, sizeof last);
	observed->ttl = ttl;
	observed->hop = ft_macs_digest(first, last) | ttl;
}

/* The same of native InfiniBand: a P_Key. */
INLINE void take_native_tags(const struct view *view, struct ft_item *item, uint64_t seed)
{
	struct ft_observed *observed = &item->observed;
	uint16_t pkey = (uint16_t)view->rows[0];
	uint8_t service = (uint8_t)(view->rows[0] >> 29);

	item->judged_by =
		ft_tags_digest(&(struct ft_tags){ .pkey = pkey, .service = service }, seed);
	observed->pkey = pkey;
	observed->vlan = 0;
	memset((uint8_t *)observed + offsetof(struct ft_observed, dmac), 0, FT_MACS_LEN);
	observed->hop = 0;
	observed->ttl = observed->dscp = observed->ecn = 0;
}

INLINE void observe_traffic_class(const struct view *view, struct ft_observed *observed)
{
	uint8_t class =
		view->form == FT_BRIEF_OVER_IPV6 ? (uint8_t)(ft_be16(view->ip) >> 4) : view->ip[1];

	observed->dscp = class >> 2;
	observed->ecn = class & 3;
}

/* --- BTH and what follows it --- */

INLINE struct extent extent_of(const struct ft_frame *frame, const struct ft_brief *brief)
{
	uint32_t captured = frame->captured, held = captured - brief->payload_at;
	uint32_t length = brief->payload_length;

	if (captured >= brief->end)
		return (struct extent){
			.payload = length,
			.has = FT_OBSERVED_WHOLE | FT_OBSERVED_CONTENT,
			.icrc = ft_load32(frame->bytes + brief->end - FT_BRIEF_ICRC_LEN),
			.truncated = FT_COMPLETE,
		};
	if (held >= length)
		return (struct extent){
			.payload = length,
			.has = FT_OBSERVED_CONTENT,
			.truncated = FT_CUT_ICRC,
		};
	return (struct extent){
		.payload = held,
		.has = held >= FT_CONTENT_TELLING ? FT_OBSERVED_CONTENT : 0,
		.truncated = FT_CUT_PAYLOAD,
	};
}

/* Extended headers and payload as far as captured, without the AETH: its credits may change. */
INLINE uint64_t content_digest(const struct view *view, uint8_t headers_len, uint32_t payload)
{
	uint32_t skipped = view->headers >> AETH_LEN_SHIFT & AETH_LEN;
	const uint8_t *at = view->bth + FT_BTH_LEN + skipped;
	uint64_t content = ft_content_begin((uint8_t)(view->rows[0] >> 24), view->payload);
	uint32_t size = headers_len - skipped + payload;

	return size < FT_CONTENT_MAX ? ft_content_digest_short(content, at, size)
				     : ft_content_digest(content, at);
}

static_assert(FT_ALIKE_SEQUENCED == 0, "like what is not there");

/* The first extended header; returns an AETH as ft_place has it, or 0. */
INLINE uint32_t observe_extension(const struct view *view, struct ft_observed *observed)
{
	const uint8_t *b = view->bth + FT_BTH_LEN;
	uint32_t aeth;

	memset(&observed->alike, FT_ALIKE_SEQUENCED,
	       sizeof *observed - offsetof(struct ft_observed, alike));
	if ((view->headers & EXTENDED) == 0)
		return 0;
	if ((view->headers & FT_HAS_AETH) != 0) {
		aeth = ft_be32(b);
		observed->syndrome = (uint8_t)(aeth >> 24);
		observed->msn = aeth & 0xffffff;
		return aeth << 8 | aeth >> 24;
	}
	observed->va = ft_be64(b);
	observed->rkey = ft_be32(b + 8);
	if ((view->headers & FT_HAS_RETH) != 0)
		observed->length = ft_be32(b + 12);
	return 0;
}

/* Fills the ports, the IP identification and the digest, of which `ends` and `content` are parts. */
INLINE void observe_place(const struct view *view, uint64_t ends, uint64_t content, uint32_t icrc,
			  struct ft_observed *observed)
{
	uint64_t bth = ft_digest_bth(content, view->bth, icrc);
	bool native = view->form == FT_BRIEF_NATIVE;
	uint32_t ports = native ? 0 : ft_be32(view->bth - FT_BRIEF_UDP_LEN);
	uint16_t ip_id = view->form == FT_BRIEF_OVER_IPV4 ? ft_be16(view->ip + IP_ID) : 0;
	const struct ft_place place = {
		.ends = ends,
		.ports = ports << 16 | ports >> 16,
		.ip_id = ip_id,
		.aeth = observe_extension(view, observed),
	};

	observed->digest = ft_digest_place(bth, &place);
	observed->sport = (uint16_t)(ports >> 16);
	observed->ip_id = ip_id;
}

INLINE uint32_t always_there(enum ft_brief_form form)
{
	const uint32_t over_ip = FT_OBSERVED_ETH | FT_OBSERVED_IP | FT_OBSERVED_UDP;
	const uint32_t any = FT_OBSERVED_BTH | FT_OBSERVED_PAYLOAD;

	if (form == FT_BRIEF_NATIVE)
		return any;
	return any | over_ip | (form == FT_BRIEF_OVER_IPV4 ? FT_OBSERVED_IPV4 : 0);
}

INLINE void observe_bth(const struct view *view, uint32_t has, struct ft_observed *observed)
{
	uint32_t psn_row = view->rows[2];

	observed->has = always_there(view->form) | (view->headers & EXTENDED) | has |
			(view->rows[1] >> MARKS_SHIFT & MARKS) |
			(psn_row >> ACK_SHIFT & FT_OBSERVED_ACK_REQUEST);
	observed->opcode = (uint8_t)(view->rows[0] >> 24);
	observed->psn = psn_row & 0xffffff;
	observed->payload = view->payload;
}

static_assert(offsetof(struct ft_item, sets_up) - offsetof(struct ft_item, known) == 7,
	      "eight bytes, in this order");

/* What is the same of all usual packets, in one store. */
INLINE void take_traits(struct ft_item *item)
{
	static const uint8_t traits[8] = {
		FT_NEED_ALL, FT_FRAME_JUDGED, /* known, kind */
		true,        false,           /* has_flow, pause */
		true,        true,            /* connected, followed */
		true,        false,           /* usual, sets_up */
	};

	memcpy((uint8_t *)item + offsetof(struct ft_item, known), traits, sizeof traits);
}

/* From the network header to the BTH. */
INLINE uint32_t to_bth(enum ft_brief_form form)
{
	if (form == FT_BRIEF_NATIVE)
		return FT_BRIEF_LRH_LEN;
	return (form == FT_BRIEF_OVER_IPV6 ? FT_BRIEF_UDP6 : FT_BRIEF_UDP) + FT_BRIEF_UDP_LEN;
}

/* Whose packet it is. */
INLINE struct ends take_ends(const struct view *view, struct ft_item *item, uint64_t seed)
{
	take_queue_pair(view, item);
	return view->form == FT_BRIEF_NATIVE ? take_lids(view, item, seed)
					     : take_addresses(view, item, seed);
}

/* What else is below the BTH. */
INLINE void take_lower(const struct view *view, struct ft_item *item, uint64_t seed)
{
	if (view->form == FT_BRIEF_NATIVE) {
		take_native_tags(view, item, seed);
		return;
	}
	take_tags(view, item, seed);
	observe_traffic_class(view, &item->observed);
}

INLINE void fill(struct ft_item *item, const struct ft_frame *frame, const struct ft_brief *brief,
		 enum ft_brief_form form, uint64_t seed)
{
	const struct extent extent = extent_of(frame, brief);
	const uint8_t *ip = frame->bytes + brief->ip_at;
	const uint8_t *bth = ip + to_bth(form);
	const struct view view = {
		.bytes = frame->bytes,
		.ip = ip,
		.bth = bth,
		.rows = { ft_be32(bth), ft_be32(bth + 4), ft_be32(bth + 8) },
		.headers = brief->shape->headers,
		.payload = brief->payload_length,
		.form = form,
	};
	uint64_t content = content_digest(&view, brief->shape->length, extent.payload);
	struct ends ends = take_ends(&view, item, seed);

	item->frame = frame;
	take_traits(item);
	item->sub = 0;
	item->truncated = extent.truncated;
	item->observed.ts_ns = frame->ts_ns;
	item->observed.frame = frame->number;
	item->observed.content = (uint32_t)(content >> 32);
	item->observed.icrc = extent.icrc;
	observe_bth(&view, extent.has | ends.upward, &item->observed);
	observe_place(&view, ends.digest, content, extent.icrc, &item->observed);
	take_lower(&view, item, seed);
}

/* Whole frames whose items are filled: their ICRCs are checked some at a time, so that none waits for the one before. */
enum { CHECKED_TOGETHER = 8 };

struct unchecked {
	unsigned count;
	unsigned number[CHECKED_TOGETHER]; /* of the item */
	struct ft_brief_cover covers[CHECKED_TOGETHER];
};

INLINE void leave_unchecked(struct unchecked *unchecked, unsigned number,
			    const struct ft_frame *frame, const struct ft_brief *brief)
{
	if (frame->captured < brief->end)
		return;
	unchecked->number[unchecked->count] = number;
	unchecked->covers[unchecked->count++] = ft_brief_cover(frame->bytes, brief);
}

__attribute__((noinline)) static bool fill_ipv6(struct ft_item *item, const struct ft_frame *frame,
						const struct ft_decode_config *config,
						uint64_t seed, struct ft_brief *brief)
{
	const struct ft_decode_input input = ft_decode_input_of(frame);

	if (!ft_brief_find_ipv6(config, &input, brief))
		return false;
	fill(item, frame, brief, FT_BRIEF_OVER_IPV6, seed);
	return true;
}

__attribute__((noinline)) static bool fill_native(struct ft_item *item,
						  const struct ft_frame *frame, uint64_t seed,
						  struct ft_brief *brief)
{
	const struct ft_decode_input input = ft_decode_input_of(frame);

	if (!ft_brief_find_native(&input, brief))
		return false;
	fill(item, frame, brief, FT_BRIEF_NATIVE, seed);
	return true;
}

INLINE bool fill_any(struct ft_item *item, const struct ft_frame *frame,
		     const struct ft_decode_config *config, uint64_t seed, struct ft_brief *brief)
{
	const struct ft_decode_input input = ft_decode_input_of(frame);

	if (!ft_brief_find(config, &input, brief))
		return frame->link_type == FT_LINK_INFINIBAND
			       ? fill_native(item, frame, seed, brief)
			       : fill_ipv6(item, frame, config, seed, brief);
	fill(item, frame, brief, FT_BRIEF_OVER_IPV4, seed);
	return true;
}

/* A parcel some way behind this one, and what fill_any() reads of most frames: another core may have them. */
INLINE void fetch(const struct ft_parcel *parcel)
{
	const uint8_t *bytes = parcel[BYTES_AHEAD].frame.bytes;

	__builtin_prefetch(parcel + FT_PARCELS_AHEAD);
	if (bytes == NULL)
		return; /* there never was one */
	__builtin_prefetch(bytes);
	__builtin_prefetch(bytes + LINE);
	__builtin_prefetch(bytes + USUALLY_READ - 1);
}

/* Frames in a row, or, if there are some, those of parcels. */
struct row {
	const struct ft_frame *frames;
	const struct ft_parcel *parcels;
};

/* NULL: decoded already. */
INLINE const struct ft_frame *frame_of(const struct row *row, unsigned number)
{
	if (row->parcels == NULL)
		return &row->frames[number];
	fetch(&row->parcels[number]);
	return row->parcels[number].decoded ? NULL : &row->parcels[number].frame;
}

/* Items from `number` to `end`, no more than can be checked together; returns up to which one they are good. */
INLINE unsigned fill_some(struct ft_item *items, const struct row *row, unsigned number,
			  unsigned end, const struct ft_decode_config *config, uint64_t seed)
{
	struct unchecked unchecked;
	struct ft_brief brief;
	unsigned good;

	unchecked.count = 0;
	for (; number < end; number++) {
		const struct ft_frame *frame = frame_of(row, number);

		if (frame == NULL || !fill_any(&items[number], frame, config, seed, &brief))
			break;
		leave_unchecked(&unchecked, number, frame, &brief);
	}
	if (unchecked.count == 0 || !config->check_icrc)
		return number;
	good = ft_brief_good_icrcs(unchecked.covers, unchecked.count);
	return good < unchecked.count ? unchecked.number[good] : number;
}

INLINE unsigned fill_row(struct ft_item *items, const struct row *row, unsigned count,
			 const struct ft_decode_config *config, uint64_t seed)
{
	unsigned filled = 0, end = 0;

	while (filled == end && filled < count) {
		end = count - filled < CHECKED_TOGETHER ? count : filled + CHECKED_TOGETHER;
		filled = fill_some(items, row, filled, end, config, seed);
	}
	return filled;
}

unsigned ft_items_fill_usual(struct ft_item *items, const struct ft_frame *frames, unsigned count,
			     const struct ft_decode_config *config, uint64_t seed)
{
	return fill_row(items, &(struct row){ .frames = frames }, count, config, seed);
}

unsigned ft_items_fill_parcels(struct ft_item *items, const struct ft_parcel *parcels,
			       unsigned count, const struct ft_decode_config *config, uint64_t seed)
{
	return fill_row(items, &(struct row){ .parcels = parcels }, count, config, seed);
}
