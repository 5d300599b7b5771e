#include "exchanges_parts.h"

#include <stdlib.h>

enum {
	PORTS_TELL = 2, /* one half in so many of a way is joined with another by its port alone */
	MOST_BEHIND = 64, /* requests lost at the end of a half, that an answer shows */
};

/* Way by way, and port by port; what asks by the PSN where that ends, and then what answers by the PSN where that begins. */
static int in_order(const void *left, const void *right)
{
	const struct ft_lone *a = left, *b = right;
	uint32_t one = a->answers ? a->from : a->to, other = b->answers ? b->from : b->to;

	if (a->way != b->way)
		return a->way < b->way ? -1 : 1;
	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	if (a->answers != b->answers)
		return a->answers ? 1 : -1;
	if (one != other)
		return one < other ? -1 : 1;
	return a->flow < b->flow ? -1 : a->flow > b->flow;
}

/* `unlike`: no other half fits either, or no other but of their own port. */
static void tell_both(struct ft_exchanges *all, const struct ft_lone *asks,
		      const struct ft_lone *answers, bool unlike)
{
	const struct ft_flow_table *table = all->tracker->table;

	ft_exchange_tell(all, ft_flow_at(table, asks->flow), ft_flow_at(table, answers->flow),
			 unlike);
}

/* The answer is to a request soon behind all of the half that are here. */
static bool leads(const struct ft_lone *asks, const struct ft_lone *answers)
{
	int32_t behind = ft_psn_distance(answers->from, asks->to);

	return behind > 0 && behind <= MOST_BEHIND;
}

static bool fit(const struct ft_lone *asks, const struct ft_lone *answers)
{
	return asks->from <= answers->to && asks->to >= answers->from;
}

/* Either fits the one, or may go on with the other. */
static bool may_belong(const struct ft_lone *asks, const struct ft_lone *answers)
{
	return fit(asks, answers) || leads(asks, answers);
}

/* Whether no other half of the way may belong to one of these two. */
static bool are_alone(const struct ft_lone *asks, const struct ft_lone *answer,
		      const struct ft_lone *first, const struct ft_lone *middle,
		      const struct ft_lone *end)
{
	return !(asks > first && may_belong(asks - 1, answer)) &&
	       !(asks + 1 < middle && may_belong(asks + 1, answer)) &&
	       !(answer > middle && may_belong(asks, answer - 1)) &&
	       !(answer + 1 < end && may_belong(asks, answer + 1));
}

/* Of one way: what asks up to `middle`, and what answers up to `end`. What fits each other may well belong together. */
static void match(struct ft_exchanges *all, const struct ft_lone *asks,
		  const struct ft_lone *middle, const struct ft_lone *end)
{
	const struct ft_lone *first = asks;

	for (const struct ft_lone *answer = middle; answer < end; answer++) {
		while (asks < middle && asks->to < answer->from &&
		       !(leads(asks, answer) && are_alone(asks, answer, first, middle, end)))
			ft_lone_tell(all, asks++);
		if (asks < middle && leads(asks, answer)) {
			ft_behind_tell(all, asks++, answer);
		} else if (asks < middle && fit(asks, answer)) {
			bool others = (asks > first && fit(asks - 1, answer)) ||
				      (asks + 1 < middle && fit(asks + 1, answer)) ||
				      (answer > middle && fit(asks, answer - 1)) ||
				      (answer + 1 < end && fit(asks, answer + 1));

			tell_both(all, asks++, answer, !others || answer->port != 0);
		} else {
			ft_lone_tell(all, answer);
		}
	}
	while (asks < middle)
		ft_lone_tell(all, asks++);
}

/* The end of those from `at` on that go the same way; and from the same port, if `port`. */
static struct ft_lone *end_of(struct ft_lone *at, struct ft_lone *end, bool port)
{
	struct ft_lone *next = at;

	while (next < end && next->way == at->way && (!port || next->port == at->port))
		next++;
	return next;
}

/*
 * Of one way, in order: those that have one, and only one, against them from their port, which by its PSNs may belong to
 * them: ports that say nothing are the same by chance.
 */
static size_t joined_by_port(struct ft_lone *at, struct ft_lone *end)
{
	size_t joined = 0;

	while (at < end) {
		struct ft_lone *next = end_of(at, end, true);

		if (next - at == 2 && at[0].answers != at[1].answers && may_belong(&at[0], &at[1]))
			joined += 2;
		at = next;
	}
	return joined;
}

/* Of one way: in order without their ports, unless most are joined by them. */
static void take_ports(struct ft_lone *at, struct ft_lone *end)
{
	size_t all = (size_t)(end - at);

	if (PORTS_TELL * joined_by_port(at, end) >= all)
		return;
	for (struct ft_lone *lone = at; lone < end; lone++)
		lone->port = 0;
	qsort(at, all, sizeof *at, in_order);
}

/* Those from one port. */
static void match_group(struct ft_exchanges *all, struct ft_lone *at, struct ft_lone *end)
{
	const struct ft_lone *middle = at;

	while (middle < end && !middle->answers)
		middle++;
	match(all, at, middle, end);
}

/* Of one way. */
static void tell_crowd(struct ft_exchanges *all, const struct ft_lone *at,
		       const struct ft_lone *end)
{
	uint64_t asking = 0;

	for (const struct ft_lone *lone = at; lone < end; lone++)
		asking += !lone->answers;
	ft_loss_crowd(all->evidence, asking, (uint64_t)(end - at) - asking);
}

void ft_exchanges_match(struct ft_exchanges *all)
{
	struct ft_lone *at = all->lone, *end = all->lone + all->lone_count;

	qsort(at, all->lone_count, sizeof *at, in_order);
	while (at < end) {
		struct ft_lone *way = end_of(at, end, false);

		tell_crowd(all, at, way);
		take_ports(at, way);
		while (at < way) {
			struct ft_lone *next = end_of(at, way, true);

			match_group(all, at, next);
			at = next;
		}
	}
}
