#pragma once

#include <capture/pcapng_writer.h>
#include <capture/source.h>
#include <engine/engine.h>

#include "block.h"
#include "congestion.h"
#include "findings.h"
#include "item.h"
#include "mirror_sequence.h"
#include "pauses.h"
#include "peaks.h"
#include "silences.h"
#include "strays.h"

/* A frame that was written as the other one of two requests that differ. */
struct ft_passed_frame {
	uint64_t number;
	uint32_t finding; /* index */
};

/*
 * What is added up in the order of the capture, whoever judged the frames: findings and the frames kept
 * as evidence, the tenants' peaks, who caused congestion, the mirror's own sequence numbers.
 */
struct ft_account {
	const struct ft_map *map;       /* NULL: no findings */
	struct ft_findings findings;    /* one without packets is none */
	struct ft_strays strays;        /* not yet among them */
	struct ft_known_finding *known; /* a cache: findings by rule and subject */
	/* decode.bad-icrc: finding of a flow, by digest of its key */
	struct ft_flow_finding *by_flow;
	uint32_t by_flow_count;
	struct ft_pcapng_writer *writer;                  /* NULL: no evidence is written */
	struct ft_passed_frame passed[FT_FINDING_FRAMES]; /* the last ones written, in turn */
	uint32_t passed_count;
	struct ft_peaks peaks;
	struct ft_congestion congestion;
	struct ft_pauses pauses;
	struct ft_mirror_sequence *mirror; /* like silences, once a source is open */
	struct ft_silences silences;
	const struct ft_decode_config *decode;
	uint64_t seed;
};

/* 0 or -ENOMEM; ft_account_free() it in either case. */
int ft_account_init(struct ft_account *account, const struct ft_engine_config *config,
		    const struct ft_map *map);
void ft_account_free(struct ft_account *account);

/*
 * From now on findings are about this map, which knows all tenants of the one before by the same indices; that one
 * must live on, because findings name it. 0; or -ENOMEM and all as before.
 */
int ft_account_change_map(struct ft_account *account, const struct ft_map *map);

/* Frames will come from this source; said again, it changes nothing. 0 or -ENOMEM. */
int ft_account_open(struct ft_account *account, const struct ft_source *source);

/*
 * The number that a mirror gave its frame, if any: of all packets in the order of the capture, or of all frames that have one.
 * The rest of them is apart.
 */
void ft_account_number(struct ft_account *account, const struct ft_item *item);
void ft_account_count(struct ft_account *account, const struct ft_frame *frame,
		      const struct ft_mirror_number *number);

/* A packet that was judged. 0 or -errno of the evidence writer. */
int ft_account_add(struct ft_account *account, const struct ft_source *source,
		   const struct ft_item *item, const struct ft_item_more *more);

/* The rest of that for a packet whose frame was seen by ft_account_see(). */
int ft_account_tell(struct ft_account *account, const struct ft_source *source,
		    const struct ft_item *item, const struct ft_item_more *more);

/* What the account wants of a packet that was judged, but for its frame's number. */
enum ft_account_wants {
	FT_ACCOUNT_NOTHING,
	FT_ACCOUNT_FRAME, /* ft_account_frame() is all that there is to do */
	FT_ACCOUNT_STRANGE, /* that, and the follower of NCCL may want it: a usual item with FT_FRAMING_STRANGE */
	FT_ACCOUNT_ITEM,
};

/* What a packet has come to, for who has not its item. */
struct ft_outcome {
	uint32_t from;  /* tenant, FT_NONE: unknown */
	uint32_t wire;  /* of its frame: bytes */
	uint32_t wants; /* enum ft_account_wants */
};

enum ft_account_wants ft_account_wants_more(const struct ft_item *item);

/* Most packets: there is nothing to tell of them. */
static inline enum ft_account_wants ft_account_wants(const struct ft_item *item)
{
	if (item->quiet && item->framing == FT_FRAMING_NONE)
		return FT_ACCOUNT_FRAME;
	return ft_account_wants_more(item);
}

/*
 * The packets of a batch, each a frame and none a copy, that are a stretch: all are accounted for as ft_account_frame() does.
 * False: nothing was done.
 */
bool ft_account_at_once(struct ft_account *account, const struct ft_batch *batch);

/*
 * Quiet items in a row, from the first on: how many were accounted for as ft_account_frame() does; the rest, if any,
 * begins with one that is not of the kind.
 */
unsigned ft_account_quiet(struct ft_account *account, const struct ft_item *items, unsigned count);

/* `from`: as in the item. */
static inline void ft_account_frame(struct ft_account *account, const struct ft_frame *frame,
				    uint32_t from)
{
	ft_silences_see(&account->silences, frame->input, frame->ts_ns);
	ft_peaks_add(&account->peaks, from, frame->ts_ns, frame->wire);
}

/*
 * Frames of which each is one packet and none a copy. Where they are a stretch of time, within a tenth of a second, the order
 * in which they are accounted for makes no difference: first ft_account_stretch(), then, if that was true,
 * ft_account_see() for the outcomes of all of them, in any order. False: nothing is changed, and each is for
 * ft_account_frame() or ft_account_add().
 */
static inline bool ft_account_stretch(struct ft_account *account, const struct ft_stretch *stretch)
{
	return ft_silences_see_stretch(&account->silences, stretch);
}

static inline void ft_account_see(struct ft_account *account, const struct ft_stretch *stretch,
				  const struct ft_outcome *outcomes, unsigned count)
{
	const bool far = ft_peaks_are_far(&account->peaks);

	for (unsigned i = 0; i < count; i++) {
		if (far && i + FT_PEAKS_AHEAD < count)
			ft_peaks_prefetch(&account->peaks, outcomes[i + FT_PEAKS_AHEAD].from);
		ft_peaks_add(&account->peaks, outcomes[i].from, stretch->first_ns,
			     outcomes[i].wire);
	}
}

/* The findings are asked for: what was held back counts now. */
void ft_account_settle(struct ft_account *account);

/* The finding about wrong ICRCs that a flow belongs to; FT_NONE: none. `flow`: digest as in ft_item_more. */
uint32_t ft_account_bad_icrc(const struct ft_account *account, uint64_t flow);
