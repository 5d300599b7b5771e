#pragma once

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include <decode/brief.h>

#include "item_fill.h"
#include "observe_digest.h"

/*
 * Items of usual frames: what is the same whatever is below the BTH. All in one function for each form: what was read of
 * the frame stays in registers, and what depends on the form is known.
 */
#define FT_USUAL_INLINE __attribute__((always_inline)) static inline

enum { FT_USUAL_AETH_LEN = 4, FT_USUAL_AETH_SHIFT = 11 };
static_assert((int)FT_HAS_AETH >> FT_USUAL_AETH_SHIFT == FT_USUAL_AETH_LEN,
	      "its length from its bit");

/* From rows of the BTH to bits of what was observed. */
enum { FT_USUAL_MARKS_SHIFT = 11, FT_USUAL_ACK_SHIFT = 13 };
#define FT_USUAL_MARKS (FT_OBSERVED_FECN | FT_OBSERVED_BECN)
static_assert(FT_OBSERVED_FECN == 1u << 31 >> FT_USUAL_MARKS_SHIFT &&
		      FT_OBSERVED_BECN == 1u << 30 >> FT_USUAL_MARKS_SHIFT &&
		      FT_OBSERVED_ACK_REQUEST == 1u << 31 >> FT_USUAL_ACK_SHIFT,
	      "bits of the BTH");

#define FT_USUAL_EXTENDED (FT_OBSERVED_RETH | FT_OBSERVED_ATOMIC | FT_OBSERVED_AETH)
static_assert((int)FT_OBSERVED_RETH == (int)FT_HAS_RETH &&
		      (int)FT_OBSERVED_ATOMIC == (int)FT_HAS_ATOMICETH &&
		      (int)FT_OBSERVED_AETH == (int)FT_HAS_AETH,
	      "taken over with one mask");

/* Where things stand. */
struct ft_usual_view {
	const uint8_t *bytes, *network, *bth; /* network: an IP header or the LRH */
	/* of the BTH; read before anything is written, which might be it */
	uint32_t rows[FT_BTH_LEN / 4];
	uint32_t headers; /* FT_HAS_ bits: extended ones */
	uint32_t payload; /* bytes */
	uint32_t vni;     /* FT_FLOW_NO_VNI: in no overlay */
	enum ft_brief_form form;
};

/* What the two addresses come to. */
struct ft_usual_ends {
	uint64_t digest; /* in this order */
	uint32_t upward; /* FT_OBSERVED_UPWARD, or 0 */
};

FT_USUAL_INLINE struct ft_usual_ends ft_usual_ends_of(uint64_t pair, bool is_upward,
						      struct ft_item *item)
{
	uint64_t upward = -(uint64_t)is_upward; /* no branch can guess it */

	item->observed.pair = pair;
	return (struct ft_usual_ends){ pair ^ upward, FT_OBSERVED_UPWARD & (uint32_t)upward };
}

static_assert(offsetof(struct ft_flow_key, by_lid) - offsetof(struct ft_flow_key, vni) == 8 &&
		      FT_FLOW_ANY_VLAN == FT_FLOW_ANY_BASE,
	      "the rest of the key, at once");

/* Of the flow key all but the addresses, and dest_qp. */
FT_USUAL_INLINE void ft_usual_take_queue_pair(const struct ft_usual_view *view,
					      struct ft_item *item)
{
	const uint32_t rest[3] = { view->vni, (uint32_t)FT_FLOW_ANY_VLAN << 16 | FT_FLOW_ANY_BASE,
				   view->form == FT_BRIEF_NATIVE };
	struct ft_flow_key *key = &item->flow_key;

	key->dest_qp = item->observed.dest_qp = view->rows[1] & 0xffffff;
	memcpy((uint8_t *)key + offsetof(struct ft_flow_key, vni), rest, sizeof rest);
	item->record = 0;
}

/* --- BTH and what follows it --- */

/* Extended headers and payload as far as captured, without the AETH: its credits may change. */
FT_USUAL_INLINE uint64_t ft_usual_content_digest(const struct ft_usual_view *view,
						 uint8_t headers_len, uint32_t payload)
{
	uint32_t skipped = view->headers >> FT_USUAL_AETH_SHIFT & FT_USUAL_AETH_LEN;
	const uint8_t *at = view->bth + FT_BTH_LEN + skipped;
	uint64_t content = ft_content_begin((uint8_t)(view->rows[0] >> 24), view->payload);
	uint32_t size = headers_len - skipped + payload;

	return size < FT_CONTENT_MAX ? ft_content_digest_short(content, at, size)
				     : ft_content_digest(content, at);
}

/* What the capture holds of it, at once into the item: bounds differ from frame to frame. Returns the bytes of payload. */
FT_USUAL_INLINE uint32_t ft_usual_take_bounds(const struct ft_frame *frame,
					      const struct ft_brief *brief, struct ft_item *item)
{
	uint32_t captured = frame->captured, held = captured - brief->payload_at;
	uint32_t length = brief->payload_length;

	if (captured >= brief->end) {
		item->observed.has = FT_OBSERVED_WHOLE | FT_OBSERVED_CONTENT;
		item->observed.icrc = ft_load32(frame->bytes + brief->end - FT_BRIEF_ICRC_LEN);
		item->truncated = FT_COMPLETE;
		return length;
	}
	item->observed.icrc = 0;
	item->observed.has = held >= length || held >= FT_CONTENT_TELLING ? FT_OBSERVED_CONTENT : 0;
	item->truncated = held >= length ? FT_CUT_ICRC : FT_CUT_PAYLOAD;
	return held >= length ? length : held;
}

/* That, and the digest of the content. */
FT_USUAL_INLINE uint64_t ft_usual_take_extent(const struct ft_frame *frame,
					      const struct ft_brief *brief,
					      const struct ft_usual_view *view,
					      struct ft_item *item)
{
	uint32_t payload = ft_usual_take_bounds(frame, brief, item);

	return ft_usual_content_digest(view, brief->shape->length, payload);
}

static_assert(FT_ALIKE_SEQUENCED == 0, "like what is not there");

/* The first extended header; returns an AETH as ft_place has it, or 0. */
FT_USUAL_INLINE uint32_t ft_usual_observe_extension(const struct ft_usual_view *view,
						    struct ft_observed *observed)
{
	const uint8_t *b = view->bth + FT_BTH_LEN;
	uint32_t aeth;

	memset(&observed->alike, FT_ALIKE_SEQUENCED,
	       sizeof *observed - offsetof(struct ft_observed, alike));
	if ((view->headers & FT_USUAL_EXTENDED) == 0)
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

/* What the digest is made of besides extended headers. */
struct ft_usual_place {
	uint64_t bth; /* as ft_usual_fill() returns it */
	uint64_t ends;
	uint32_t ports;
	uint16_t ip_id;
};

/* Fills the ports, the IP identification, extended headers and the digest. */
FT_USUAL_INLINE void ft_usual_observe_place(const struct ft_usual_view *view,
					    const struct ft_usual_place *at,
					    struct ft_observed *observed)
{
	const struct ft_place place = {
		.ends = at->ends,
		.ports = at->ports << 16 | at->ports >> 16,
		.ip_id = at->ip_id,
		.aeth = ft_usual_observe_extension(view, observed),
		.overlay = view->vni + 1,
	};

	observed->digest = ft_digest_place(at->bth, &place);
	observed->sport = (uint16_t)(at->ports >> 16);
	observed->ip_id = at->ip_id;
}

FT_USUAL_INLINE void ft_usual_observe_bth(const struct ft_usual_view *view, uint32_t has,
					  struct ft_observed *observed)
{
	uint32_t psn_row = view->rows[2];

	observed->has |= FT_OBSERVED_BTH | FT_OBSERVED_PAYLOAD |
			 (view->headers & FT_USUAL_EXTENDED) | has |
			 (view->rows[1] >> FT_USUAL_MARKS_SHIFT & FT_USUAL_MARKS) |
			 (psn_row >> FT_USUAL_ACK_SHIFT & FT_OBSERVED_ACK_REQUEST);
	observed->opcode = (uint8_t)(view->rows[0] >> 24);
	observed->psn = psn_row & 0xffffff;
	observed->payload = view->payload;
}

static_assert(offsetof(struct ft_item, sets_up) - offsetof(struct ft_item, known) == 7,
	      "eight bytes, in this order");

/* What is the same of all usual packets, in one store. */
FT_USUAL_INLINE void ft_usual_take_traits(struct ft_item *item)
{
	static const uint8_t traits[8] = {
		FT_NEED_ALL, FT_FRAME_JUDGED, /* known, kind */
		true,        false,           /* has_flow, pause */
		true,        true,            /* connected, followed */
		true,        false,           /* usual, sets_up */
	};

	memcpy((uint8_t *)item + offsetof(struct ft_item, known), traits, sizeof traits);
}

static_assert(FT_FLOW_NO_VNI + 1 == 0, "as in struct ft_place");

/* `at`: of the BTH from the network header on. */
FT_USUAL_INLINE struct ft_usual_view ft_usual_view_of(const struct ft_frame *frame,
						      const struct ft_brief *brief,
						      enum ft_brief_form form, uint32_t at)
{
	const uint8_t *network = frame->bytes + brief->ip_at, *bth = network + at;

	return (struct ft_usual_view){
		.bytes = frame->bytes + brief->ethernet_at,
		.network = network,
		.bth = bth,
		.rows = { ft_be32(bth), ft_be32(bth + 4), ft_be32(bth + 8) },
		.headers = brief->shape->headers,
		.payload = brief->payload_length,
		.vni = FT_FLOW_NO_VNI,
		.form = form,
	};
}

static_assert(offsetof(struct ft_observed, frame) - offsetof(struct ft_observed, ts_ns) ==
		      offsetof(struct ft_frame, number) - offsetof(struct ft_frame, ts_ns),
	      "copied together");

/*
 * All but what is below the BTH, and what ft_usual_observe_place() fills, behind ft_usual_take_extent(), whose digest
 * `content` is; `has`: FT_OBSERVED_ bits of what is below. Returns the digest of BTH and content.
 */
FT_USUAL_INLINE uint64_t ft_usual_fill(struct ft_item *item, const struct ft_frame *frame,
				       const struct ft_usual_view *view, uint64_t content,
				       uint32_t has)
{
	struct ft_observed *observed = &item->observed;

	item->frame = frame;
	ft_usual_take_traits(item);
	item->sub = 0;
	item->bth_at = (uint16_t)(view->bth - frame->bytes);
	memcpy((uint8_t *)observed + offsetof(struct ft_observed, ts_ns),
	       (const uint8_t *)frame + offsetof(struct ft_frame, ts_ns),
	       sizeof frame->ts_ns + sizeof frame->number);
	observed->content = (uint32_t)(content >> 32);
	ft_usual_observe_bth(view, has, observed);
	return ft_digest_bth(content, view->bth, observed->icrc);
}

/* A frame of native InfiniBand; false: it is not of the usual form. *brief is filled. */
bool ft_usual_fill_native(struct ft_item *item, const struct ft_frame *frame, uint64_t seed,
			  struct ft_brief *brief);
