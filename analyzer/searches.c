#include "searches.h"

#include <stdlib.h>
#include <string.h>

#include <engine/no_memory.h>
#include <flow/opening.h>

#include "suspects_parts.h"

struct sweep {
	struct ft_finding **searches; /* in order of their ends */
	size_t count;
	const struct ft_worker *worker; /* whose records are visited */
};

/* Nothing of the other side was in view. */
static bool is_unseen(const struct ft_finding *finding)
{
	return finding->unseen != 0 && finding->unseen == finding->packets;
}

/* It began with a packet of the search, or between two of them. */
static bool is_searched(const struct ft_finding *finding, const struct ft_flow *flow)
{
	return flow->opened >= ft_opening_of(finding->from) &&
	       flow->opened <= ft_opening_of(finding->to);
}

/* Answers, too, may have come later. */
static bool is_used(const struct sweep *sweep, const struct ft_flow *flow)
{
	const struct ft_recent *recent = ft_suspects_recent(sweep->worker->suspects, flow);

	return (recent->newest & FT_RECENT_PROBE) == 0 ||
	       (flow->peer != 0 && flow->half.acked != FT_PSN_NONE);
}

static int by_ends(const void *left, const void *right)
{
	const struct ft_finding *const *a = left, *const *b = right;

	return memcmp(&(*a)->ends, &(*b)->ends, sizeof(*a)->ends);
}

/* Count it to what searched its queue pair. */
static bool visit(void *context, const struct ft_flow *flow)
{
	const struct sweep *sweep = context;
	bool used = is_used(sweep, flow);
	struct ft_finding wanted, *key = &wanted, **found;

	if ((flow->look.style & FT_LOOK_MET) == 0 || flow->key.base != FT_FLOW_ANY_BASE)
		return true;
	wanted.ends = ft_flow_ends(&flow->key);
	found = bsearch(&key, sweep->searches, sweep->count, sizeof key, by_ends);
	if (found == NULL)
		return true;
	while (found != sweep->searches && by_ends(found - 1, &key) == 0)
		found--; /* one pair may be of several findings */
	for (; found != sweep->searches + sweep->count && by_ends(found, &key) == 0; found++) {
		(*found)->used += used;
		(*found)->unused += !used;
		(*found)->known += is_searched(*found, flow);
	}
	return true;
}

void ft_searches_settle(struct ft_findings *findings, struct ft_worker *const *workers,
			unsigned count)
{
	struct sweep sweep = { .searches = calloc(findings->count + 1, sizeof *sweep.searches) };

	if (sweep.searches == NULL)
		ft_no_memory();
	for (uint32_t i = 0; i < findings->count; i++) {
		findings->items[i].unused = findings->items[i].used = 0;
		findings->items[i].known = 0;
		if (findings->items[i].to != 0)
			sweep.searches[sweep.count++] = &findings->items[i];
	}
	qsort(sweep.searches, sweep.count, sizeof *sweep.searches, by_ends);
	for (unsigned i = 0; sweep.count != 0 && i < count; i++) {
		sweep.worker = workers[i];
		ft_flow_each(workers[i]->flows, visit, &sweep);
	}
	free(sweep.searches);
}

bool ft_search_may_be_start(const struct ft_finding *finding)
{
	if (is_unseen(finding))
		return finding->unused < FT_SUSPECTS_SEARCH_UNSEEN &&
		       finding->unused + finding->used >= FT_SUSPECTS_SEARCH_UNSEEN;
	return finding->to != 0 && finding->unused < FT_SUSPECTS_SEARCH &&
	       finding->known >= finding->packets;
}

void ft_searches_violate(const struct ft_findings *findings, const struct ft_totals *totals,
			 uint64_t *violating)
{
	for (uint32_t i = 0; i < findings->count; i++) {
		const struct ft_finding *finding = &findings->items[i];
		uint64_t more = finding->uncounted;

		if (ft_search_may_be_start(finding))
			more = -finding->counted;
		for (uint32_t cell = 0; cell < totals->cell_count; cell++)
			if (totals->cells[cell].from == finding->subject.src.tenant &&
			    totals->cells[cell].to == finding->subject.dst.tenant)
				violating[cell] += more;
	}
}
