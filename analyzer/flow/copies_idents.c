#include "copies_parts.h"

enum { FLOWS = 1u << 14 /* remembered */ };

static const uint64_t LASTING_NS = 60000000000u;

int ft_idents_init(struct ft_idents *idents, uint64_t seed)
{
	return ft_recall_init(&idents->flows, FLOWS, seed);
}

void ft_idents_free(struct ft_idents *idents)
{
	ft_recall_free(&idents->flows);
}

/* Of what goes to one queue pair: others of the same sender may have counts of their own. */
static uint64_t key_of(const struct ft_observed *observed)
{
	uint64_t direction = ft_copies_is_upward(observed) ? observed->pair : ~observed->pair;

	return ft_mix(direction, 0xa24baed4963ee407u ^ observed->dest_qp);
}

static struct ft_recalled *find(const struct ft_idents *idents, const struct ft_observed *observed)
{
	struct ft_recall_walk walk = ft_recall_walk(&idents->flows, key_of(observed));
	struct ft_recalled *flow = ft_recall_next(&walk);

	if (flow == NULL || !ft_copies_is_recent(flow->ts_ns, observed->ts_ns, LASTING_NS))
		return NULL;
	return flow;
}

void ft_idents_see(struct ft_idents *idents, const struct ft_observed *observed, bool again)
{
	struct ft_recalled *flow;
	uint8_t *what;

	if ((observed->has & FT_OBSERVED_IPV4) == 0)
		return;
	flow = find(idents, observed);
	if (flow == NULL) {
		flow = ft_recall_add(&idents->flows, key_of(observed));
		flow->ident.same = 0;
		flow->ident.others = 0;
	} else if (flow->ident.newest != observed->ip_id || !again) {
		what = flow->ident.newest == observed->ip_id ? &flow->ident.same
							     : &flow->ident.others;
		if (++*what == UINT8_MAX) {
			flow->ident.same /= 2;
			flow->ident.others /= 2;
		}
	}
	flow->ts_ns = observed->ts_ns;
	flow->ident.newest = observed->ip_id;
}

bool ft_idents_count(const struct ft_idents *idents, const struct ft_observed *observed)
{
	const struct ft_recalled *flow;

	if ((observed->has & FT_OBSERVED_IPV4) == 0)
		return false;
	flow = find(idents, observed);
	return flow != NULL && flow->ident.others > flow->ident.same;
}
