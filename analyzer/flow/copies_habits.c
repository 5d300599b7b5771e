#include "copies_parts.h"

#include <string.h>

enum {
	PAIRS = 1u << 14, /* remembered */
	LEAST = 16,       /* frames of a direction that can say it is not copied */
	FRAMES = 256,     /* then what was counted before counts half */
};

static const uint64_t LASTING_NS = 60000000000u; /* after the last copy */

int ft_habits_init(struct ft_habits *habits, uint64_t seed)
{
	habits->until = 0;
	return ft_recall_init(&habits->pairs, PAIRS, seed);
}

void ft_habits_free(struct ft_habits *habits)
{
	ft_recall_free(&habits->pairs);
}

static struct ft_recalled *find(const struct ft_habits *habits, const struct ft_observed *observed)
{
	struct ft_recall_walk walk = ft_recall_walk(&habits->pairs, observed->pair);
	struct ft_recalled *habit = ft_recall_next(&walk);

	if (habit == NULL || !ft_copies_is_recent(habit->ts_ns, observed->ts_ns, LASTING_NS))
		return NULL;
	return habit;
}

/* Copies of a burst may all come behind it: then the most that one frame had says more than the ratio. */
uint32_t ft_habits_usual(const struct ft_habits *habits, const struct ft_observed *observed)
{
	const struct ft_recalled *habit = find(habits, observed);
	unsigned way = ft_copies_is_upward(observed);
	uint32_t originals, usual;

	if (habit == NULL)
		return 0;
	if (habit->pair.originals[way] < LEAST && habit->pair.copies[way] == 0)
		way = 1 - way; /* not known yet of this direction */
	originals = habit->pair.originals[way];
	if (originals == 0)
		return habit->pair.most[way];
	usual = (habit->pair.copies[way] + originals / 2) / originals;
	return usual < habit->pair.most[way] ? usual : habit->pair.most[way];
}

static void count(struct ft_recalled *habit, unsigned way, uint16_t *what)
{
	if (++*what < FRAMES)
		return;
	habit->pair.originals[way] /= 2;
	habit->pair.copies[way] /= 2;
}

void ft_habits_original(const struct ft_habits *habits, const struct ft_observed *observed)
{
	struct ft_recalled *habit = find(habits, observed);
	unsigned way = ft_copies_is_upward(observed);

	if (habit != NULL)
		count(habit, way, &habit->pair.originals[way]);
}

void ft_habits_copy(struct ft_habits *habits, const struct ft_observed *observed, uint8_t nth)
{
	struct ft_recalled *habit = find(habits, observed);
	unsigned way = ft_copies_is_upward(observed);

	if (habit == NULL) {
		habit = ft_recall_add(&habits->pairs, observed->pair);
		memset(&habit->pair, 0, sizeof habit->pair);
		habit->pair.originals[way] = 1;
	}
	count(habit, way, &habit->pair.copies[way]);
	if (habit->pair.most[way] < nth)
		habit->pair.most[way] = nth;
	habit->ts_ns = observed->ts_ns;
	if (habits->until < observed->ts_ns + LASTING_NS)
		habits->until = observed->ts_ns + LASTING_NS;
}
