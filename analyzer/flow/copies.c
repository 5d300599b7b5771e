#include <flow/copies.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recall.h"

/*
 * Three memories: frames that were no copies; how often each direction of an address pair is being
 * copied; and what gave one side a reason to send again. The last two stay empty, and are not asked,
 * on a mirror that copies nothing and a fabric that loses nothing.
 */
enum {
	PLAIN_NS = 1000,    /* alike and this close: copies, however many are alike */
	HABIT_LEAST = 16,   /* frames of a direction that can say it is not copied */
	HABIT_FRAMES = 256, /* then what was counted before counts half */
	PAIRS = 1u << 14,   /* remembered */
	ASKS = 1u << 12,    /* remembered */
	PSN_MASK = 0xffffff,
	PSN_WINDOW = 1u << 16,
	ENTRIES_MIN = 1u << 8,
	ENTRIES_MAX = 1u << 24,
	HOP_TTL = 0xff,   /* of ft_observed.hop; the rest is of the MAC addresses */
	OPERATION = 0x1f, /* of an opcode */
	ACKNOWLEDGE = 0x11,
	RESPONSE_FIRST = 0x0d,   /* operations from here .. */
	RESPONSE_LAST = 0x12,    /* .. to here are responses */
	SYNDROME_REFUSED = 0x20, /* NAK or RNR NAK */
};

static const uint64_t HABIT_NS = 60000000000u; /* so long a pair is taken to be copied as it was */

/* Who was given a reason to send again: requesters by a NAK, responders by a repeated request. */
enum ask_kind { ASK_REQUESTS, ASK_RESPONSES };

struct ft_copies {
	uint64_t window_ns;
	uint64_t busy_until; /* nothing is in `pairs` or `asks` that matters later than this */
	struct ft_recall frames;
	struct ft_recall pairs;
	struct ft_recall asks;
};

int ft_copies_create(struct ft_copies **copies, const struct ft_copies_config *config)
{
	struct ft_copies *made;
	int error;

	if (config->entries < ENTRIES_MIN || config->entries > ENTRIES_MAX ||
	    (config->entries & (config->entries - 1)) != 0)
		return -EINVAL;
	made = calloc(1, sizeof *made);
	if (made == NULL)
		return -ENOMEM;
	made->window_ns = config->window_ns;
	error = ft_recall_init(&made->frames, config->entries, config->seed);
	if (error != 0)
		goto free_copies;
	error = ft_recall_init(&made->pairs, PAIRS, config->seed);
	if (error != 0)
		goto free_frames;
	error = ft_recall_init(&made->asks, ASKS, config->seed);
	if (error != 0)
		goto free_pairs;
	*copies = made;
	return 0;

free_pairs:
	ft_recall_free(&made->pairs);
free_frames:
	ft_recall_free(&made->frames);
free_copies:
	free(made);
	return error;
}

void ft_copies_destroy(struct ft_copies *copies)
{
	if (copies == NULL)
		return;
	ft_recall_free(&copies->asks);
	ft_recall_free(&copies->pairs);
	ft_recall_free(&copies->frames);
	free(copies);
}

void ft_copies_prefetch(const struct ft_copies *copies, uint64_t digest)
{
	const struct ft_recall *frames = &copies->frames;

	__builtin_prefetch(ft_recall_head(frames, ft_recall_hash(frames, digest)), 1);
}

static bool is_recent(uint64_t then, uint64_t now, uint64_t span)
{
	return now <= then + span;
}

static void stay_busy(struct ft_copies *copies, uint64_t until)
{
	if (copies->busy_until < until)
		copies->busy_until = until;
}

static bool is_busy(const struct ft_copies *copies, const struct ft_observed *observed)
{
	return observed->ts_ns <= copies->busy_until;
}

static bool is_upward(const struct ft_observed *observed)
{
	return (observed->has & FT_OBSERVED_UPWARD) != 0;
}

/* One key for each direction of an address pair. */
static uint64_t direction_of(const struct ft_observed *observed, bool reverse)
{
	return is_upward(observed) != reverse ? observed->pair : ~observed->pair;
}

/* --- how a pair is copied --- */

static struct ft_recalled *find_habit(const struct ft_copies *copies,
				      const struct ft_observed *observed)
{
	struct ft_recall_walk walk = ft_recall_walk(&copies->pairs, observed->pair);
	struct ft_recalled *habit = ft_recall_next(&walk);

	if (habit == NULL || !is_recent(habit->ts_ns, observed->ts_ns, HABIT_NS))
		return NULL;
	return habit;
}

/* Copies per original, rounded; 0: none, or none any more. */
static uint32_t usual_copies(const struct ft_copies *copies, const struct ft_observed *observed)
{
	const struct ft_recalled *habit = find_habit(copies, observed);
	unsigned way = is_upward(observed);
	uint32_t originals, usual;

	if (habit == NULL)
		return 0;
	if (habit->pair.originals[way] < HABIT_LEAST && habit->pair.copies[way] == 0)
		way = 1 - way; /* not known yet of this direction */
	originals = habit->pair.originals[way];
	if (originals == 0)
		return habit->pair.most[way];
	usual = (habit->pair.copies[way] + originals / 2) / originals;
	return usual < habit->pair.most[way] ? usual : habit->pair.most[way];
}

static void count(struct ft_recalled *habit, unsigned way, uint16_t *what)
{
	if (++*what < HABIT_FRAMES)
		return;
	habit->pair.originals[way] /= 2;
	habit->pair.copies[way] /= 2;
}

/* The newest copy of this original. */
static void count_copy(struct ft_copies *copies, const struct ft_recalled *original,
		       const struct ft_observed *observed)
{
	struct ft_recalled *habit = find_habit(copies, observed);
	unsigned way = is_upward(observed);

	if (habit == NULL) {
		habit = ft_recall_add(&copies->pairs, observed->pair);
		memset(&habit->pair, 0, sizeof habit->pair);
		habit->pair.originals[way] = 1;
	}
	count(habit, way, &habit->pair.copies[way]);
	if (habit->pair.most[way] < original->frame.copies)
		habit->pair.most[way] = original->frame.copies;
	habit->ts_ns = observed->ts_ns;
	stay_busy(copies, observed->ts_ns + HABIT_NS);
}

static void count_original(const struct ft_copies *copies, const struct ft_observed *observed)
{
	struct ft_recalled *habit = find_habit(copies, observed);
	unsigned way = is_upward(observed);

	if (habit != NULL)
		count(habit, way, &habit->pair.originals[way]);
}

/* --- reasons to send again --- */

static bool is_response(const struct ft_observed *observed)
{
	uint8_t operation = observed->opcode & OPERATION;

	return operation >= RESPONSE_FIRST && operation <= RESPONSE_LAST;
}

static bool is_refusal(const struct ft_observed *observed)
{
	return (observed->syndrome & SYNDROME_REFUSED) != 0 &&
	       (observed->opcode & OPERATION) == ACKNOWLEDGE;
}

static uint64_t ask_key(uint64_t direction, enum ask_kind kind)
{
	return kind == ASK_REQUESTS ? direction : ft_mix(direction, 0x8ebc6af09c88c6e3u);
}

/* The newest reason to send this packet again. */
static struct ft_recalled *find_ask(const struct ft_copies *copies, uint64_t key,
				    const struct ft_observed *observed)
{
	struct ft_recall_walk walk = ft_recall_walk(&copies->asks, key);
	struct ft_recalled *ask;

	while ((ask = ft_recall_next(&walk)) != NULL)
		if (is_recent(ask->ts_ns, observed->ts_ns, copies->window_ns) &&
		    ((observed->psn - ask->ask.psn) & PSN_MASK) < PSN_WINDOW)
			return ask;
	return NULL;
}

static const struct ft_recalled *find_own_ask(const struct ft_copies *copies,
					      const struct ft_observed *observed)
{
	enum ask_kind kind = is_response(observed) ? ASK_RESPONSES : ASK_REQUESTS;

	return find_ask(copies, ask_key(direction_of(observed, false), kind), observed);
}

/* The packet is a reason for the other side to send again from its PSN on. */
static void ask_other_side(struct ft_copies *copies, const struct ft_observed *observed,
			   enum ask_kind kind)
{
	uint64_t key = ask_key(direction_of(observed, true), kind);
	struct ft_recalled *ask = find_ask(copies, key, observed);

	if (ask == NULL) {
		ask = ft_recall_add(&copies->asks, key);
		ask->ask.psn = observed->psn;
	}
	ask->ts_ns = observed->ts_ns;
	ask->ask.frame = copies->frames.next;
	stay_busy(copies, observed->ts_ns + copies->window_ns);
}

/* After an original was remembered, where copies or refusals are about. */
__attribute__((noinline)) static void follow(struct ft_copies *copies,
					     const struct ft_observed *observed)
{
	if (observed->alike != FT_ALIKE_PLAIN)
		count_original(copies, observed);
	if (observed->alike != FT_ALIKE_SEQUENCED || (observed->has & FT_OBSERVED_BAD_ICRC) != 0)
		return;
	if (is_refusal(observed))
		ask_other_side(copies, observed, ASK_REQUESTS);
	else if (!is_response(observed) && find_own_ask(copies, observed) != NULL)
		ask_other_side(copies, observed, ASK_RESPONSES);
}

/* --- frames --- */

/* A switch leaves MAC addresses and time to live alone, a router changes all of them. */
static bool is_possible_path(const struct ft_recalled *original, const struct ft_observed *observed)
{
	uint32_t other = original->frame.hop ^ observed->hop;

	if (other == 0)
		return original->frame.vlan == observed->vlan || original->frame.vlan == 0 ||
		       observed->vlan == 0;
	return (other & HOP_TTL) != 0 && (other & ~(uint32_t)HOP_TTL) != 0;
}

static uint64_t apart_ns(const struct ft_recalled *original, const struct ft_observed *observed)
{
	return original->ts_ns > observed->ts_ns ? original->ts_ns - observed->ts_ns
						 : observed->ts_ns - original->ts_ns;
}

static bool may_be_copy(const struct ft_copies *copies, const struct ft_recalled *original,
			const struct ft_observed *observed, uint32_t rules)
{
	return apart_ns(original, observed) <= copies->window_ns &&
	       (rules & ~original->frame.rules) == 0 && is_possible_path(original, observed);
}

/* Of many that are alike: the oldest that still lacks a copy. */
static struct ft_recalled *find_uncopied(const struct ft_copies *copies,
					 const struct ft_observed *observed, uint32_t rules)
{
	struct ft_recall_walk walk = ft_recall_walk(&copies->frames, observed->digest);
	uint32_t usual = is_busy(copies, observed) ? usual_copies(copies, observed) : 0;
	uint64_t span = usual > 0 ? copies->window_ns : PLAIN_NS;
	struct ft_recalled *entry, *found = NULL;

	while ((entry = ft_recall_next(&walk)) != NULL && apart_ns(entry, observed) <= span)
		if (entry->frame.copies < (usual > 1 ? usual : 1) &&
		    may_be_copy(copies, entry, observed, rules))
			found = entry;
	return found;
}

static struct ft_recalled *find_original(const struct ft_copies *copies,
					 const struct ft_observed *observed, uint32_t rules)
{
	struct ft_recall_walk walk = ft_recall_walk(&copies->frames, observed->digest);
	struct ft_recalled *entry;

	if (observed->alike == FT_ALIKE_PLAIN)
		return find_uncopied(copies, observed, rules);
	while ((entry = ft_recall_next(&walk)) != NULL)
		if (may_be_copy(copies, entry, observed, rules))
			return entry;
	return NULL;
}

/* There was a reason to, and its original has all the copies that frames of this direction have. */
static bool was_sent_again(const struct ft_copies *copies, const struct ft_recalled *original,
			   const struct ft_observed *observed)
{
	const struct ft_recalled *ask;
	uint32_t number;

	if (!is_busy(copies, observed))
		return false;
	ask = find_own_ask(copies, observed);
	number = ft_recall_number(&copies->frames, original);
	return ask != NULL && (int32_t)(ask->ask.frame - number) > 0 &&
	       original->frame.copies >= usual_copies(copies, observed);
}

/* Something with this digest, or another of the same head, came before. */
__attribute__((noinline)) static enum ft_copy_verdict compare(struct ft_copies *copies,
							      const struct ft_observed *observed,
							      uint32_t rules)
{
	struct ft_recalled *original = find_original(copies, observed, rules);

	if (original == NULL)
		return FT_COPY_NO;
	if (observed->alike == FT_ALIKE_SEQUENCED && was_sent_again(copies, original, observed))
		return FT_COPY_REPEATED;
	if (original->frame.copies < UINT8_MAX)
		original->frame.copies++;
	if (observed->alike != FT_ALIKE_PLAIN)
		count_copy(copies, original, observed);
	return FT_COPY_YES;
}

static void remember(struct ft_copies *copies, const struct ft_observed *observed, uint32_t rules)
{
	struct ft_recalled *entry = ft_recall_add(&copies->frames, observed->digest);

	entry->ts_ns = observed->ts_ns;
	entry->frame.rules = rules;
	entry->frame.hop = observed->hop;
	entry->frame.vlan = observed->vlan;
	entry->frame.copies = 0;
}

enum ft_copy_verdict ft_copies_check(struct ft_copies *copies, const struct ft_observed *observed,
				     uint32_t rules)
{
	enum ft_copy_verdict verdict = FT_COPY_NO;

	if (copies->window_ns == 0 || observed->ts_ns == UINT64_MAX)
		return FT_COPY_NO;
	if (ft_recall_may_have(&copies->frames, observed->digest))
		verdict = compare(copies, observed, rules);
	if (verdict == FT_COPY_YES)
		return verdict;
	remember(copies, observed, rules);
	if (is_busy(copies, observed) || is_refusal(observed))
		follow(copies, observed);
	return verdict;
}
