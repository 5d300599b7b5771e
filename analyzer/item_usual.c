#include "item_usual.h"
#include "observe.h"

#define INLINE FT_USUAL_INLINE

enum { IP_ID = 4 };
enum { LINE = 64, USUALLY_READ = 128 };                         /* bytes */
enum { BYTES_AHEAD = 12, FRAMES_AHEAD = FT_PARCELS_AHEAD - 1 }; /* parcels */
static_assert((int)BYTES_AHEAD < (int)FRAMES_AHEAD, "read only when they are there");

/* --- addresses --- */

/* Both halves, as they stand in memory. */
struct address {
	uint64_t halves[2];
};

INLINE struct address address_of(const struct ft_usual_view *view, uint32_t at, uint32_t at6)
{
	const uint8_t *ip = view->network;

	if (view->form == FT_BRIEF_OVER_IPV4)
		return (struct address){ { 0, ft_ipv4_interface(ft_load32(ip + at)) } };
	return (struct address){ { ft_load64(ip + at6), ft_load64(ip + at6 + 8) } };
}

/* As ft_flow_key_hash() of the key, which need not be read again. */
INLINE uint32_t flow_hash(const struct address *src, const struct address *dst, uint32_t dest_qp,
			  uint32_t vni, uint64_t seed)
{
	const uint64_t rest[2] = {
		(uint64_t)vni << 32 | dest_qp,
		(uint32_t)FT_FLOW_ANY_VLAN << 16 | FT_FLOW_ANY_BASE,
	};

	return ft_flow_words_hash(src->halves, dst->halves, rest, seed);
}

INLINE uint64_t digest_of(const struct address *address)
{
	return ft_gid_digest(address->halves[0], address->halves[1]);
}

/* The addresses of the flow key, its hash and the pair, NULL: not known; behind ft_usual_take_queue_pair(). */
INLINE struct ft_usual_ends take_addresses(const struct ft_usual_view *view, struct ft_item *item,
					   uint64_t seed, const uint64_t *pair)
{
	const struct address src = address_of(view, FT_BRIEF_SRC, FT_BRIEF_SRC6);
	const struct address dst = address_of(view, FT_BRIEF_DST, FT_BRIEF_DST6);
	struct ft_flow_key *key = &item->flow_key;

	memcpy(key->src, src.halves, sizeof key->src);
	memcpy(key->dst, dst.halves, sizeof key->dst);
	item->hash = flow_hash(&src, &dst, key->dest_qp, view->vni, seed);
	return ft_usual_ends_of(pair != NULL ? *pair : digest_of(&src) + digest_of(&dst),
				ft_gids_are_upward(src.halves, dst.halves), item);
}

/* --- Ethernet and IP --- */

/* The MAC addresses, the VLAN and the P_Key, for all who ask for them. */
INLINE void take_tags(const struct ft_usual_view *view, struct ft_item *item, uint64_t seed)
{
	struct ft_observed *observed = &item->observed;
	uint16_t pkey = (uint16_t)view->rows[0], vlan = 0;
	uint64_t first = ft_load64(view->bytes);
	uint32_t last = ft_load32(view->bytes + 8);
	uint8_t *to = (uint8_t *)observed + offsetof(struct ft_observed, dmac);
	uint8_t service = (uint8_t)(view->rows[0] >> 29);
	bool ipv6 = view->form == FT_BRIEF_OVER_IPV6;
	uint8_t ttl = view->network[ipv6 ? FT_BRIEF_HOP_LIMIT6 : FT_BRIEF_TTL];

	if (view->network != view->bytes + FT_BRIEF_ETHERNET_LEN)
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

/* `marked`: where its overlay ends a mark that the underlay made is taken over, as ft_observe() has it. */
INLINE void observe_traffic_class(const struct ft_usual_view *view, bool marked,
				  struct ft_observed *observed)
{
	uint8_t class = view->form == FT_BRIEF_OVER_IPV6 ? (uint8_t)(ft_be16(view->network) >> 4)
							 : view->network[1];

	observed->dscp = class >> 2;
	observed->ecn = class & 3;
	if (marked && observed->ecn != FT_ECN_NOT_ECT)
		observed->ecn = FT_ECN_CE;
}

/* From the network header to the BTH. */
INLINE uint32_t to_bth(enum ft_brief_form form)
{
	return (form == FT_BRIEF_OVER_IPV6 ? FT_BRIEF_UDP6 : FT_BRIEF_UDP) + FT_BRIEF_UDP_LEN;
}

INLINE uint32_t always_there(enum ft_brief_form form)
{
	const uint32_t any = FT_OBSERVED_ETH | FT_OBSERVED_IP | FT_OBSERVED_UDP;

	return any | (form == FT_BRIEF_OVER_IPV4 ? FT_OBSERVED_IPV4 : 0);
}

/* What differs from frame to frame besides where things stand. */
struct setting {
	uint64_t seed;
	const uint64_t *pair;           /* if it is known, else NULL */
	const struct ft_around *around; /* NULL: nothing is around it */
};

static_assert(FT_AROUND_NO_VNI == FT_FLOW_NO_VNI, "copied");

INLINE void fill(struct ft_item *item, const struct ft_frame *frame, const struct ft_brief *brief,
		 enum ft_brief_form form, struct setting setting)
{
	const bool ipv4 = form == FT_BRIEF_OVER_IPV4, wrapped = setting.around != NULL;
	struct ft_usual_view view = ft_usual_view_of(frame, brief, form, to_bth(form));
	const uint64_t content = ft_usual_take_extent(frame, brief, &view, item);
	const uint64_t seed = setting.seed;
	struct ft_usual_place place;
	struct ft_usual_ends ends;

	if (wrapped)
		view.vni = setting.around->vni;
	ft_usual_take_queue_pair(&view, item);
	ends = take_addresses(&view, item, seed, setting.pair);
	place.ends = ends.digest;
	place.bth = ft_usual_fill(item, frame, &view, content, always_there(form) | ends.upward);
	place.ports = ft_be32(view.bth - FT_BRIEF_UDP_LEN);
	place.ip_id = ipv4 ? ft_be16(view.network + IP_ID) : 0;
	ft_usual_observe_place(&view, &place, &item->observed);
	take_tags(&view, item, seed);
	observe_traffic_class(&view, wrapped && setting.around->marked, &item->observed);
}

/* Whole frames whose items are filled: their ICRCs are checked some at a time, so that none waits for the one before. */
struct unchecked {
	unsigned count;
	unsigned number[FT_BRIEF_TOGETHER]; /* of the item */
	struct ft_brief_cover covers[FT_BRIEF_TOGETHER];
};

INLINE void leave_unchecked(struct unchecked *unchecked, unsigned number,
			    const struct ft_frame *frame, const struct ft_brief *brief)
{
	if (frame->captured < brief->end)
		return;
	unchecked->number[unchecked->count] = number;
	unchecked->covers[unchecked->count++] = ft_brief_cover(frame->bytes, brief);
}

/* As ft_observe() has it of a tunnel that counts its frames. */
static void observe_mirror(const struct ft_frame *frame, const struct ft_around *around,
			   struct ft_observed *observed)
{
	const struct ft_mirror_session session = ft_mirror_session_of(frame->bytes, around);

	ft_observe_number(observed, ft_mirror_digest(&session), session.sequence);
}

/* Of another form than most frames; *brief is filled if it is usual. */
__attribute__((noinline)) static bool fill_other(struct ft_item *item, const struct ft_frame *frame,
						 const struct ft_decode_config *config,
						 uint64_t seed, const uint64_t *pair,
						 struct ft_brief *brief, bool *mirrored)
{
	const struct ft_decode_input input = ft_decode_input_of(frame);
	struct ft_around around;
	const struct setting setting = { seed, pair, &around };

	if (frame->link_type == FT_LINK_INFINIBAND)
		return ft_usual_fill_native(item, frame, seed, brief);
	if (!ft_brief_find_other(config, &input, brief, &around))
		return false;
	if (brief->form == FT_BRIEF_OVER_IPV4)
		fill(item, frame, brief, FT_BRIEF_OVER_IPV4, setting);
	else
		fill(item, frame, brief, FT_BRIEF_OVER_IPV6, setting);
	if (around.has_sequence) {
		observe_mirror(frame, &around, &item->observed);
		*mirrored = true;
	}
	return true;
}

/* Frames in a row; or those of parcels. */
struct row {
	const struct ft_frame *frames;
	const struct ft_parcel *parcels;
	bool dealt; /* there are parcels */
};

INLINE const struct ft_frame *frame_of(const struct row *row, unsigned number)
{
	return &row->frames[row->dealt ? row->parcels[number].frame : number];
}

/* A parcel's frame some way behind this one, and what is read of most frames: another core may have them. */
INLINE void fetch(const struct row *row, unsigned number)
{
	const struct ft_parcel *parcel = &row->parcels[number];
	const uint8_t *bytes = row->frames[parcel[BYTES_AHEAD].frame].bytes;

	__builtin_prefetch(&row->frames[parcel[FRAMES_AHEAD].frame]);
	if (bytes == NULL)
		return; /* there never was one */
	__builtin_prefetch(bytes);
	__builtin_prefetch(bytes + LINE);
	__builtin_prefetch(bytes + USUALLY_READ - 1);
}

/* What most frames are: false: another form. */
INLINE bool find_brief(const struct row *row, unsigned number, const struct ft_frame *frame,
		       const struct ft_decode_config *config, struct ft_brief *brief)
{
	const struct ft_decode_input input = ft_decode_input_of(frame);

	if (!row->dealt)
		return ft_brief_find(config, &input, brief);
	fetch(row, number);
	return row->parcels[number].ip_at != 0 &&
	       ft_brief_find_behind(&input, row->parcels[number].ip_at, brief);
}

/*
 * False: it is to be decoded, or is already. The address of what was found of most frames is given to nobody, so that it
 * need not stand in memory.
 */
INLINE bool fill_one(struct ft_item *item, const struct row *row, unsigned number,
		     const struct ft_frame *frame, const struct ft_decode_config *config,
		     uint64_t seed, struct ft_brief *brief, bool *mirrored)
{
	const struct setting setting = {
		.seed = seed,
		.pair = row->dealt ? &row->parcels[number].pair : NULL,
	};
	struct ft_brief other;

	if (__builtin_expect(!find_brief(row, number, frame, config, brief), 0)) {
		if ((row->dealt && row->parcels[number].decoded) ||
		    !fill_other(item, frame, config, seed, setting.pair, &other, mirrored))
			return false;
		*brief = other;
		return true;
	}
	fill(item, frame, brief, FT_BRIEF_OVER_IPV4, setting);
	return true;
}

/* What is behind the BTH but for the AETH, up to the ICRC, which is wrong. The usual form has no padding. */
static void damage(struct ft_item *item, const struct ft_brief_cover *cover)
{
	uint32_t bth_at = cover->form == FT_BRIEF_NATIVE ? FT_BRIEF_LRH_LEN : to_bth(cover->form);
	const uint8_t *at = cover->network + bth_at + FT_BTH_LEN;
	const uint8_t *end = cover->network + cover->length;

	at += (item->observed.has & FT_OBSERVED_AETH) != 0 ? FT_USUAL_AETH_LEN : 0;
	ft_item_damage(item, at, (uint32_t)(end - at));
}

__attribute__((noinline)) static void damage_all(struct ft_item *items,
						 const struct unchecked *unchecked, unsigned bad)
{
	for (; bad != 0; bad &= bad - 1) {
		int i = __builtin_ctz(bad);

		damage(&items[unchecked->number[i]], &unchecked->covers[i]);
	}
}

/* Items from `number` to `end`, no more than can be checked together; returns up to which one they are usual. */
INLINE unsigned fill_some(struct ft_item *items, const struct row *row, unsigned number,
			  unsigned end, const struct ft_decode_config *config, uint64_t seed,
			  bool *mirrored)
{
	struct unchecked unchecked;
	struct ft_brief brief = { 0 };
	unsigned bad;

	unchecked.count = 0;
	for (; number < end; number++) {
		const struct ft_frame *frame = frame_of(row, number);

		if (!fill_one(&items[number], row, number, frame, config, seed, &brief, mirrored))
			break;
		if (!row->dealt || !row->parcels[number].checked)
			leave_unchecked(&unchecked, number, frame, &brief);
	}
	if (unchecked.count == 0 || !config->check_icrc)
		return number;
	bad = ft_brief_bad_icrcs(unchecked.covers, unchecked.count);
	if (__builtin_expect(bad != 0, 0))
		damage_all(items, &unchecked, bad);
	return number;
}

INLINE unsigned fill_row(struct ft_item *items, const struct row *row, unsigned count,
			 const struct ft_decode_config *config, uint64_t seed, bool *mirrored)
{
	unsigned filled = 0, end = 0;

	if (config->mirror_vlan_count != 0)
		return 0; /* the one tag of the form may be none of the packet's */
	while (filled == end && filled < count) {
		end = count - filled < FT_BRIEF_TOGETHER ? count : filled + FT_BRIEF_TOGETHER;
		filled = fill_some(items, row, filled, end, config, seed, mirrored);
	}
	return filled;
}

unsigned ft_items_fill_usual(struct ft_item *items, const struct ft_frame *frames, unsigned count,
			     const struct ft_decode_config *config, uint64_t seed, bool *mirrored)
{
	return fill_row(items, &(struct row){ .frames = frames }, count, config, seed, mirrored);
}

unsigned ft_items_fill_parcels(struct ft_item *items, const struct ft_frame *frames,
			       const struct ft_parcel *parcels, unsigned count,
			       const struct ft_decode_config *config, uint64_t seed, bool *mirrored)
{
	return fill_row(items, &(struct row){ frames, parcels, .dealt = true }, count, config, seed,
			mirrored);
}
