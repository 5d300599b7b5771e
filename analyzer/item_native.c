#include "item_usual.h"

/* The LIDs of the flow key, its hash and the pair; behind ft_usual_take_queue_pair(). */
FT_USUAL_INLINE struct ft_usual_ends take_lids(const struct ft_usual_view *view,
					       struct ft_item *item, uint64_t seed)
{
	uint16_t slid = ft_be16(view->bytes + FT_BRIEF_SLID);
	uint16_t dlid = ft_be16(view->bytes + FT_BRIEF_DLID);
	uint64_t src = ft_short_digest(slid), dst = ft_short_digest(dlid);
	struct ft_usual_ends ends = ft_usual_ends_of(src + dst, src < dst, item);
	struct ft_flow_key *key = &item->flow_key;

	memset(key->src, 0, sizeof key->src);
	memset(key->dst, 0, sizeof key->dst);
	ft_flow_put_lid(key->src, slid);
	ft_flow_put_lid(key->dst, dlid);
	item->hash = ft_flow_key_hash(key, seed);
	ends.digest += ft_native_digest(slid, dlid, view->bytes[1] >> 4);
	return ends;
}

/* The P_Key, for all who ask for it. */
FT_USUAL_INLINE void take_native_tags(const struct ft_usual_view *view, struct ft_item *item,
				      uint64_t seed)
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

FT_USUAL_INLINE void fill(struct ft_item *item, const struct ft_frame *frame,
			  const struct ft_brief *brief, uint64_t seed)
{
	const struct ft_usual_view view =
		ft_usual_view_of(frame, brief, FT_BRIEF_NATIVE, FT_BRIEF_LRH_LEN);
	const uint64_t content = ft_usual_take_extent(frame, brief, &view, item);
	struct ft_usual_place place;
	struct ft_usual_ends ends;

	ft_usual_take_queue_pair(&view, item);
	ends = take_lids(&view, item, seed);
	place.ends = ends.digest;
	place.bth = ft_usual_fill(item, frame, &view, content, ends.upward);
	place.ports = place.ip_id = 0;
	ft_usual_observe_place(&view, &place, &item->observed);
	take_native_tags(&view, item, seed);
}

bool ft_usual_fill_native(struct ft_item *item, const struct ft_frame *frame, uint64_t seed,
			  struct ft_brief *brief)
{
	const struct ft_decode_input input = ft_decode_input_of(frame);

	if (!ft_brief_find_native(&input, brief))
		return false;
	fill(item, frame, brief, seed);
	return true;
}
