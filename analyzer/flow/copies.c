#include <flow/copies.h>

#include <errno.h>
#include <stdlib.h>

#include "copies_parts.h"

enum {
	PLAIN_NS = 1000, /* alike and this close: copies, however many are alike */
	ENTRIES_MIN = 1u << 8,
	ENTRIES_MAX = 1u << 24,
	HOP_TTL = 0xff,          /* of ft_observed.hop; the rest is of the MAC addresses */
	SYNDROME_REFUSED = 0x20, /* set in what may be a NAK or RNR NAK */
};

struct ft_copies {
	uint64_t window_ns;
	uint16_t original_vlan; /* of the copy found last */
	bool marks;             /* the copy found last is the first that is marked */
	uint64_t from_ns;       /* frames from this time on are no copies: 0, or FT_TS_UNKNOWN */
	uint64_t busy_until;    /* habits and asks are empty, as far as frames later than this go */
	struct ft_recall frames; /* that were no copies */
	struct ft_habits habits;
	struct ft_asks asks;
	struct ft_idents idents;
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
	made->from_ns = config->window_ns == 0 ? 0 : UINT64_MAX;
	error = ft_recall_init(&made->frames, config->entries, config->seed);
	if (error != 0)
		goto free_copies;
	ft_recall_keep(&made->frames, config->window_ns);
	error = ft_habits_init(&made->habits, config->seed);
	if (error != 0)
		goto free_frames;
	error = ft_asks_init(&made->asks, config->window_ns, config->seed);
	if (error != 0)
		goto free_habits;
	error = ft_idents_init(&made->idents, config->seed);
	if (error != 0)
		goto free_asks;
	*copies = made;
	return 0;

free_asks:
	ft_asks_free(&made->asks);
free_habits:
	ft_habits_free(&made->habits);
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
	ft_idents_free(&copies->idents);
	ft_asks_free(&copies->asks);
	ft_habits_free(&copies->habits);
	ft_recall_free(&copies->frames);
	free(copies);
}

uint64_t ft_copies_prefetch(const struct ft_copies *copies, uint64_t digest)
{
	uint64_t hash = ft_recall_hash(&copies->frames, digest);

	__builtin_prefetch(ft_recall_head(&copies->frames, hash), 1);
	return hash;
}

uint16_t ft_copies_original_vlan(const struct ft_copies *copies)
{
	return copies->original_vlan;
}

bool ft_copies_marks(const struct ft_copies *copies)
{
	return copies->marks;
}

static bool is_busy(const struct ft_copies *copies, const struct ft_observed *observed)
{
	return observed->ts_ns <= copies->busy_until;
}

static void stay_busy(struct ft_copies *copies)
{
	uint64_t habits = copies->habits.until, asks = copies->asks.until;

	copies->busy_until = habits > asks ? habits : asks;
}

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
	uint32_t usual = is_busy(copies, observed) ? ft_habits_usual(&copies->habits, observed) : 0;
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

/* A reason to send it again came behind its original; or it is an answer to one of several requests that had. */
static bool has_reason(struct ft_copies *copies, const struct ft_recalled *original,
		       const struct ft_observed *observed)
{
	uint32_t number = ft_recall_number(&copies->frames, original);
	const struct ft_recalled *ask =
		is_busy(copies, observed) ? ft_asks_find(&copies->asks, observed) : NULL;

	return (ask != NULL && (int32_t)(ask->ask.frame - number) > 0) ||
	       ft_asks_settle(&copies->asks, observed, number);
}

/*
 * Its original has all the copies that frames of this direction have, and there was a reason to; and it would not
 * have another identification now.
 */
static bool was_sent_again(struct ft_copies *copies, const struct ft_recalled *original,
			   const struct ft_observed *observed)
{
	if (is_busy(copies, observed) &&
	    original->frame.copies < ft_habits_usual(&copies->habits, observed))
		return false;
	if (!has_reason(copies, original, observed))
		return false;
	ft_idents_see(&copies->idents, observed, true);
	return !ft_idents_count(&copies->idents, observed);
}

void ft_copies_see_again(struct ft_copies *copies, const struct ft_observed *observed,
			 bool answered)
{
	ft_asks_owe(&copies->asks, observed, answered, copies->frames.next - 1);
	stay_busy(copies);
}

/* A queue between the two places may have marked it. */
static void note_mark(struct ft_copies *copies, struct ft_recalled *original,
		      const struct ft_observed *observed)
{
	copies->marks = !original->frame.marked && ft_is_marked(observed);
	original->frame.marked |= copies->marks;
}

/* Whether it is a copy of something with this digest, or another of the same head, that came before. */
static enum ft_copy_verdict compare(struct ft_copies *copies, const struct ft_observed *observed,
				    uint32_t rules)
{
	struct ft_recalled *original = find_original(copies, observed, rules);

	if (original == NULL)
		return FT_COPY_NO;
	if (observed->alike == FT_ALIKE_SEQUENCED && was_sent_again(copies, original, observed))
		return FT_COPY_REPEATED;
	ft_recall_met(&copies->frames, observed->ts_ns);
	copies->original_vlan = original->frame.vlan;
	note_mark(copies, original, observed);
	if (original->frame.copies < UINT8_MAX)
		original->frame.copies++;
	if (observed->alike != FT_ALIKE_PLAIN) {
		ft_habits_copy(&copies->habits, observed, original->frame.copies);
		stay_busy(copies);
	}
	return FT_COPY_YES;
}

/* After an original was remembered, where copies or refusals are about; the verdict on it stays. */
__attribute__((noinline)) static enum ft_copy_verdict follow(struct ft_copies *copies,
							     const struct ft_observed *observed,
							     enum ft_copy_verdict verdict)
{
	if (observed->alike != FT_ALIKE_PLAIN)
		ft_habits_original(&copies->habits, observed);
	if (observed->alike == FT_ALIKE_SEQUENCED && (observed->has & FT_OBSERVED_BAD_ICRC) == 0) {
		if (verdict == FT_COPY_REPEATED)
			ft_asks_repeated(&copies->asks, observed, copies->frames.next - 1);
		else
			ft_idents_see(&copies->idents, observed, false);
		ft_asks_follow(&copies->asks, observed, copies->frames.next);
		stay_busy(copies);
	}
	return verdict;
}

static inline void remember(struct ft_copies *copies, const struct ft_observed *observed,
			    uint32_t rules, const struct ft_recall_place *place)
{
	struct ft_recalled *entry = ft_recall_add_at(&copies->frames, observed->digest, place);

	entry->ts_ns = observed->ts_ns;
	entry->frame.rules = rules;
	entry->frame.hop = observed->hop;
	entry->frame.vlan = observed->vlan;
	entry->frame.copies = 0;
	entry->frame.marked = ft_is_marked(observed);
}

static inline bool is_followed(const struct ft_copies *copies, const struct ft_observed *observed)
{
	return is_busy(copies, observed) || (observed->syndrome & SYNDROME_REFUSED) != 0;
}

/* No copy, but all else may be about it: it may be alike another, or the ring have to change. */
__attribute__((noinline)) static enum ft_copy_verdict keep(struct ft_copies *copies,
							   const struct ft_observed *observed,
							   uint32_t rules,
							   enum ft_copy_verdict verdict)
{
	struct ft_recall *frames = &copies->frames;
	struct ft_recall_place place;

	if (!ft_recall_fits(frames, observed->ts_ns))
		ft_recall_refit(frames, observed->ts_ns);
	place = ft_recall_place(frames, observed->digest);
	remember(copies, observed, rules, &place);
	return is_followed(copies, observed) ? follow(copies, observed, verdict) : verdict;
}

/* Of all but the frames that nothing before them is like, or seems to be. */
__attribute__((noinline)) static enum ft_copy_verdict check_alike(
	struct ft_copies *copies, const struct ft_observed *observed, uint32_t rules)
{
	enum ft_copy_verdict verdict = compare(copies, observed, rules);

	return verdict == FT_COPY_YES ? verdict : keep(copies, observed, rules, verdict);
}

/* A hint to whoever optimises the whole program: of nearly every frame this is all. */
inline enum ft_copy_verdict ft_copies_check_at(struct ft_copies *copies,
					       const struct ft_observed *observed, uint64_t at,
					       uint32_t rules)
{
	struct ft_recall_place place;

	if (observed->ts_ns >= copies->from_ns)
		return FT_COPY_NO;
	place = ft_recall_place_of(&copies->frames, at);
	if (ft_recall_may_have(&place))
		return check_alike(copies, observed, rules);
	if (__builtin_expect(!ft_recall_fits(&copies->frames, observed->ts_ns), 0))
		return keep(copies, observed, rules, FT_COPY_NO);
	remember(copies, observed, rules, &place);
	return is_followed(copies, observed) ? follow(copies, observed, FT_COPY_NO) : FT_COPY_NO;
}

enum ft_copy_verdict ft_copies_check(struct ft_copies *copies, const struct ft_observed *observed,
				     uint32_t rules)
{
	uint64_t at = ft_recall_hash(&copies->frames, observed->digest);

	return ft_copies_check_at(copies, observed, at, rules);
}
