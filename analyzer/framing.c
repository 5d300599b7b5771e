#include "framing_parts.h"

#include <errno.h>
#include <stdlib.h>

#include <engine/no_memory.h>

#include <decode/brief.h>

#include "item_seen.h"

int ft_framing_create(struct ft_framing **framing, const struct ft_engine_config *config,
		      const struct ft_map *map)
{
	struct ft_framing *made = calloc(1, sizeof *made);
	struct ft_nccl_config wanted = FT_NCCL_DEFAULTS;
	const struct ft_nccl_sink sink = { ft_framing_found, ft_framing_contact,    ft_framing_met,
					   ft_framing_hold,  ft_framing_tell_apart, made };
	int error;

	if (made == NULL)
		return -ENOMEM;
	made->decode = &config->decode;
	made->map = map;
	made->noted = FT_NONE;
	made->marking = config->details;
	made->one_table = config->workers == 1;
	made->renewals = 1;
	made->marks.seed = config->seed;
	wanted.seed = config->seed;
	wanted.findings = config->findings;
	wanted.messages = config->nccl == FT_ENGINE_NCCL_ALL ? config->nccl_messages : 0;
	if (config->nccl == FT_ENGINE_NCCL_WATCH) {
		wanted.queue_pairs = 0;
		wanted.ends_only = true;
		made->chosen = true;
	}
	error = ft_findings_init(&made->findings, config->findings);
	if (error == 0)
		error = ft_nccl_follower_create(&made->follower, &wanted, &sink);
	if (error != 0) {
		ft_framing_destroy(made);
		return error;
	}
	made->way = ft_nccl_follower_way(made->follower);
	*framing = made;
	return 0;
}

void ft_framing_destroy(struct ft_framing *framing)
{
	if (framing == NULL)
		return;
	ft_nccl_follower_destroy(framing->follower);
	ft_findings_free(&framing->findings);
	for (uint32_t i = 0; i < framing->line_count; i++)
		for (unsigned j = 0; j < FT_KEPT_FRAMES; j++)
			ft_kept_frame_free(&framing->lines[i].kept[j]);
	ft_held_frames_free(&framing->held);
	ft_latest_frames_free(&framing->latest);
	ft_framing_marks_free(&framing->marks);
	free(framing->notes);
	free(framing->lines);
	free(framing);
}

void ft_framing_keep_evidence(struct ft_framing *framing, struct ft_pcapng_writer *writer)
{
	framing->writer = writer;
	if (writer == NULL)
		ft_latest_frames_free(&framing->latest);
	else if (framing->latest.items == NULL && ft_latest_frames_init(&framing->latest) != 0)
		ft_no_memory();
}

void ft_framing_show_all(struct ft_framing *framing)
{
	framing->shows = true;
}

void ft_framing_change_map(struct ft_framing *framing, const struct ft_map *map)
{
	framing->map = map;
}

static void settle_glances(struct ft_framing *framing)
{
	framing->glances = framing->awake && !framing->has_apart;
}

static void wake(struct ft_framing *framing)
{
	framing->awake = true;
	settle_glances(framing);
}

static void see_tcp(struct ft_framing *framing, const struct ft_nccl_segment *segment)
{
	ft_nccl_follower_see_tcp(framing->follower, segment);
	if (ft_nccl_follower_met(framing->follower))
		wake(framing);
}

static bool is_apart(const struct ft_framing *framing, uint16_t vlan)
{
	return framing->has_apart && (framing->apart[(vlan & 0xfff) / 64] >> vlan % 64 & 1) != 0;
}

/* Once for each VLAN: one that a connection was seen in besides another is no network of its own. */
static void settle_apart(struct ft_framing *framing, uint16_t vlan)
{
	const uint64_t bit = UINT64_C(1) << vlan % 64;

	if (((framing->apart[vlan / 64] | framing->joined[vlan / 64]) & bit) != 0)
		return;
	if (ft_nccl_follower_crosses(framing->follower, vlan)) {
		framing->joined[vlan / 64] |= bit;
		return;
	}
	framing->has_apart = true;
	settle_glances(framing);
	framing->apart[vlan / 64] |= bit;
}

void ft_framing_tell_apart(void *context, uint16_t vlan)
{
	settle_apart(context, vlan & 0xfff);
}

/* The follower is to hold apart what VLANs do. */
static void name_vlan(struct ft_framing *framing)
{
	struct ft_nccl_seen *seen = &framing->seen;

	if (seen->ends.vni == UINT32_MAX && is_apart(framing, seen->vlan))
		seen->ends.vni = ft_nccl_vlan_apart(seen->vlan);
}

/* What the follower asks of it; false: it asks nothing. */
static bool read_item(struct ft_framing *framing, const struct ft_item *item)
{
	if (!ft_item_seen(item, framing->decode, &framing->packet, &framing->seen))
		return false;
	if (framing->has_apart)
		name_vlan(framing);
	if (framing->seen.dlid != 0)
		ft_nccl_follower_name(framing->follower, &framing->seen);
	return true;
}

static void show(struct ft_framing *framing, const struct ft_item *item)
{
	struct ft_nccl_segment segment;

	framing->has_seen = read_item(framing, item);
	if (framing->has_seen)
		ft_nccl_follower_see(framing->follower, &framing->seen);
	else if (ft_nccl_segment_of(&framing->packet, item->frame, &segment))
		see_tcp(framing, &segment);
}

/* If what was just shown is among the first frames of a finding. */
static int keep_evidence(const struct ft_framing *framing, const struct ft_item *item)
{
	if (framing->noted == FT_NONE || framing->writer == NULL)
		return 0;
	return ft_finding_write(&framing->findings.items[framing->noted], framing->writer,
				framing->source, item->frame);
}

/* Its half-connection has a VLAN of its own, or may have. False: it is not to be shown. */
__attribute__((noinline)) static bool learn_apart(struct ft_framing *framing,
						  const struct ft_item *item)
{
	uint16_t vlan = ft_item_vlan(item) & 0xfff;

	if ((item->framing & FT_FRAMING_APART) != 0)
		settle_apart(framing, vlan);
	if (framing->chosen &&
	    ((item->framing & FT_FRAMING_INTEREST) == FT_FRAMING_NONE || !item->followed))
		return is_apart(framing, vlan) &&
		       (item->framing & FT_FRAMING_INTEREST) != FT_FRAMING_NONE;
	return is_apart(framing, vlan) || (framing->joined[vlan / 64] >> vlan % 64 & 1) != 0;
}

/* Nobody writes to what NCCL uses where no connection is known and no clear-to-send was seen. */
static inline bool is_wanted(struct ft_framing *framing, const struct ft_item *item)
{
	uint8_t interest = item->framing & FT_FRAMING_INTEREST;

	if ((item->framing & (FT_FRAMING_APART | FT_FRAMING_DOUBTED)) != 0 &&
	    !learn_apart(framing, item))
		return false;
	if (interest == FT_FRAMING_STRANGE)
		return framing->awake;
	if (interest == FT_FRAMING_SHOWN && item->followed)
		wake(framing);
	return true;
}

/* A write begins: another one with its PSN, which may come later, is told together with it. */
static void keep_begun(struct ft_framing *framing, const struct ft_item *item)
{
	uint8_t opcode = item->observed.opcode;

	if (framing->latest.items != NULL && (opcode == 0x06 || opcode == 0x0a || opcode == 0x0b))
		ft_latest_frames_add(&framing->latest, item->frame);
}

static void keep_all_begun(struct ft_framing *framing, const struct ft_item *items, uint64_t marks)
{
	for (; marks != 0; marks &= marks - 1)
		keep_begun(framing, &items[__builtin_ctzll(marks)]);
}

/* What is not as its connection expects. */
static int look_closely(struct ft_framing *framing, const struct ft_item *item)
{
	if (!is_wanted(framing, item) || !read_item(framing, item))
		return 0;
	framing->item = item;
	framing->noted = FT_NONE;
	ft_nccl_follower_see(framing->follower, &framing->seen);
	framing->item = NULL;
	return keep_evidence(framing, item);
}

/* A stranger before there is NCCL, or just what its connection expects: there is one then, and `awake` is set. */
static bool is_expected(const struct ft_framing *framing, const struct ft_item *item)
{
	const struct ft_nccl_glimpse glimpse = ft_item_glimpse(
		item, framing->one_table ? item->record : item->hash, framing->since);

	if (!framing->glances) {
		if (!framing->awake && (item->framing & FT_FRAMING_INTEREST) < FT_FRAMING_SHOWN)
			return true;
		if (is_apart(framing, item->observed.vlan))
			return false;
	}
	return ft_nccl_glance(&framing->way, &glimpse);
}

/*
 * Those that are expected, up to the first where that takes more than a glance. What is left. By itself, so that no other way
 * takes its registers.
 */
__attribute__((noinline)) static uint64_t pass_expected(const struct ft_framing *framing,
							const struct ft_item *items, uint64_t marks)
{
	const struct ft_nccl_way way = framing->way;
	const uint32_t since = framing->since;
	const struct ft_item *item, *next;
	uint64_t rest;

	if (!framing->glances || since == 0 || way.straights == NULL || marks == 0)
		return marks;
	for (item = &items[__builtin_ctzll(marks)]; marks != 0; marks = rest, item = next) {
		const struct ft_nccl_glimpse glimpse = ft_item_glimpse(item, item->record, since);

		rest = marks & (marks - 1);
		next = rest != 0 ? &items[__builtin_ctzll(rest)] : item;
		ft_nccl_prefetch_first(&way, next->record);
		if (!ft_nccl_glance_again(&way, &glimpse))
			break;
	}
	return marks;
}

/*
 * Packets that go on as their half-connections did: of items, those that are marked. Several workers have a table each, with
 * records of the same number.
 */
static int see_row(struct ft_framing *framing, const struct ft_item *items, uint64_t marks)
{
	int error = 0;

	if (framing->latest.items != NULL)
		keep_all_begun(framing, items, marks);
	while (error == 0 && (marks = pass_expected(framing, items, marks)) != 0) {
		const struct ft_item *item = &items[__builtin_ctzll(marks)];

		if (!is_expected(framing, item))
			error = look_closely(framing, item);
		marks &= marks - 1;
	}
	return error;
}

/* Whatever the map says of it, for which it is here, it goes on as its half-connection did. */
static bool may_go_straight(const struct ft_framing *framing, const struct ft_item *item)
{
	return !framing->shows && (item->framing == (FT_FRAMING_SHOWN | FT_FRAMING_STEADY) ||
				   (item->framing == FT_FRAMING_SHOWN && item->quiet));
}

__attribute__((noinline)) static int see_any(struct ft_framing *framing, const struct ft_item *item)
{
	if (item->copy || item->kind == FT_FRAME_BAD_ICRC || item->kind == FT_FRAME_BROKEN ||
	    !is_wanted(framing, item))
		return 0;
	framing->item = item;
	framing->noted = FT_NONE;
	keep_begun(framing, item);
	show(framing, item);
	framing->item = NULL;
	return keep_evidence(framing, item);
}

int ft_framing_see(struct ft_framing *framing, const struct ft_source *source,
		   const struct ft_item *item)
{
	framing->source = source;
	framing->has_seen = false;
	return may_go_straight(framing, item) ? see_row(framing, item, 1) : see_any(framing, item);
}

/* The marks of items from `at` on: of that one the first bit, and so on. */
static uint64_t marks_from(uint64_t framed, unsigned at, unsigned count)
{
	unsigned by = at % 64;
	uint64_t marks = by == 0 ? framed : framed >> by | framed << (64 - by);

	return count < 64 ? marks & ((UINT64_C(1) << count) - 1) : marks;
}

void ft_framing_reuse(struct ft_framing *framing, uint64_t reused, const struct ft_batch *batch)
{
	const struct ft_item *items = batch->items;
	uint32_t lap = (uint32_t)(items[0].frame->number >> 32);
	uint32_t last_lap = (uint32_t)(items[batch->count - 1].frame->number >> 32);
	bool is_same = framing->reused == reused && framing->lap == lap && lap == last_lap;

	framing->reused = reused;
	framing->lap = last_lap;
	framing->renewals += is_same ? 0 : 1;
	framing->since = framing->one_table && is_same ? framing->renewals : 0;
}

const struct ft_nccl_way *ft_framing_way(const struct ft_framing *framing)
{
	return framing->one_table && framing->chosen && framing->way.straights != NULL
		       ? &framing->way
		       : NULL;
}

int ft_framing_see_quiet(struct ft_framing *framing, const struct ft_source *source,
			 const struct ft_batch *batch, unsigned from, unsigned to)
{
	uint64_t marked = batch->framed | batch->strange;
	int error = 0;

	framing->source = source;
	framing->has_seen = false;
	for (unsigned at = from; at < to && error == 0; at += 64) {
		uint64_t marks = marks_from(marked, at, to - at);

		if (marks != 0)
			error = see_row(framing, &batch->items[at], marks);
	}
	return error;
}

bool ft_framing_shown(const struct ft_framing *framing, struct ft_nccl_shown *shown)
{
	return framing->has_seen &&
	       ft_nccl_follower_shown(framing->follower, &framing->seen, shown);
}
