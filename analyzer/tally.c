#include "tally.h"

#include <decode/opcode.h>
#include <flow/hash.h>

#include "congestion.h"

enum { UNKNOWN_CELL = 0 };

int ft_tally_init(struct ft_tally *tally, uint32_t tenants, uint64_t seed)
{
	int error;

	*tally = (struct ft_tally){ .seed = seed };
	error = ft_totals_init(&tally->totals, tenants);
	if (error == 0)
		ft_totals_cell(&tally->totals, FT_NONE, FT_NONE); /* UNKNOWN_CELL */
	return error;
}

void ft_tally_free(struct ft_tally *tally)
{
	ft_totals_free(&tally->totals);
}

static uint64_t address_digest(const struct ft_tally *tally, const struct ft_check_key *key,
			       bool source)
{
	if (key->has_gids)
		return ft_hash(source ? key->src : key->dst, sizeof key->src, tally->seed);
	if (key->native)
		return ft_hash(source ? &key->slid : &key->dlid, sizeof key->slid, tally->seed);
	return ft_hash(source ? key->smac : key->dmac, sizeof key->smac, tally->seed);
}

/* The totals' cell of a verdict, found when its first frame is counted. */
__attribute__((noinline)) static uint32_t cell_of_verdict(struct ft_tally *tally,
							  struct ft_judged *judged)
{
	const struct ft_verdict *verdict = &judged->verdict;

	if (judged->cell != FT_NONE)
		return judged->cell;
	judged->cell = ft_totals_cell(&tally->totals, verdict->src.tenant, verdict->dst.tenant);
	ft_totals_see(&tally->totals, verdict->src.tenant,
		      address_digest(tally, &judged->key, true));
	if (!verdict->dst.group)
		ft_totals_see(&tally->totals, verdict->dst.tenant,
			      address_digest(tally, &judged->key, false));
	return judged->cell;
}

/* The cell of a frame whose flow's cell does not say. */
__attribute__((noinline)) static uint32_t find_cell(struct ft_tally *tally,
						    struct ft_judged *judged, struct ft_flow *part)
{
	uint32_t cell;

	if (judged == NULL)
		return UNKNOWN_CELL;
	cell = cell_of_verdict(tally, judged);
	if (part != NULL)
		part->cell = cell;
	return cell;
}

static uint32_t cell_of(struct ft_tally *tally, const struct ft_item *item,
			struct ft_judged *judged, struct ft_flow *part)
{
	bool by_flow = judged == NULL && part != NULL && item->kind == FT_FRAME_JUDGED &&
		       !item->untimed && part->cell != FT_NONE;

	return by_flow ? part->cell : find_cell(tally, judged, part);
}

/* Cut before its PSN, where its transport counts by that, for all that is known of it. */
static bool is_unnumbered(const struct ft_item *item)
{
	uint8_t service = item->key.service;
	bool unknown = (item->known & FT_NEED_PKEY) == 0;

	return ft_item_is_cut(item) && (unknown || service == FT_RC || service == FT_UC ||
					service == FT_RD || service == FT_XRC);
}

static void count_not_rdma(struct ft_tally *tally, const struct ft_item *item)
{
	tally->not_rdma++;
	tally->unopened[item->unopened]++;
}

/* Of the frames that no verdict was reached on: why. */
static void count_unjudged(struct ft_tally *tally, const struct ft_item *item)
{
	if (item->kind == FT_FRAME_NOT_RDMA)
		count_not_rdma(tally, item);
	else if (item->kind == FT_FRAME_NEVER_JUDGED)
		tally->never_judged++;
	else if (item->untimed)
		tally->undecided_untimed++;
	else if (item->kind == FT_FRAME_BAD_ICRC)
		tally->undecided_bad_icrc++;
	else if (item->kind == FT_FRAME_UNREAD)
		tally->undecided_unread++;
	else if (item->kind == FT_FRAME_BROKEN)
		tally->undecided_malformed++;
	else
		tally->undecided_cut++;
	tally->truncated += item->undecided && item->truncated != FT_COMPLETE;
	tally->undecodable += item->kind == FT_FRAME_BROKEN;
}

static void count_outcome(struct ft_totals *totals, uint32_t index, const struct ft_item *item,
			  struct ft_judged *judged)
{
	if (ft_rules_violate(item->rules)) {
		totals->cells[index].violating++;
	} else if (item->permitted && !item->grace && !judged->exception_noted) {
		judged->exception_noted = true;
		ft_totals_except(totals, index, judged->verdict.exception);
	}
}

void ft_tally_count(struct ft_tally *tally, struct ft_item *item, struct ft_judged *judged,
		    struct ft_flow *part)
{
	struct ft_totals *totals = &tally->totals;
	uint32_t index = cell_of(tally, item, judged, part);
	struct ft_cell *cell = &totals->cells[index];
	struct ft_pkey_total *pkey = ft_totals_pkey(totals, ft_item_pkey(item));

	item->from = cell->from;
	item->to = cell->to;
	if (item->copy)
		return;
	if (item->kind != FT_FRAME_NOT_RDMA)
		tally->unsampled += ft_item_unsampled(item);
	if (item->rules != 0 || item->permitted)
		count_outcome(totals, index, item, judged);
	if (item->sub != 0)
		return;
	cell->packets++;
	cell->bytes += item->frame->wire;
	if ((item->known & FT_NEED_PKEY) != 0) {
		pkey->packets++;
		pkey->bytes += item->frame->wire;
	}
	if (item->kind == FT_FRAME_JUDGED && !item->undecided) {
		cell->judged++;
		tally->unnumbered += is_unnumbered(item);
	} else {
		cell->undecided += item->undecided;
		count_unjudged(tally, item);
	}
}

static struct ft_cell *counted_in(struct ft_tally *tally, const struct ft_item *item)
{
	return &tally->totals.cells[ft_totals_cell(&tally->totals, item->from, item->to)];
}

void ft_tally_mark(struct ft_tally *tally, const struct ft_item *item)
{
	counted_in(tally, item)->ce_marked++;
}

void ft_tally_transport(struct ft_tally *tally, const struct ft_item *item,
			const struct ft_step *step)
{
	struct ft_cell *cell = counted_in(tally, item);

	cell->ce_marked += ft_is_marked(&item->observed);
	cell->cnps += item->followed && ft_is_notice(&item->observed);
	cell->rnr_naks += (step->what & FT_STEP_RNR) != 0;
	cell->retransmitted +=
		(step->what & FT_STEP_RETRANSMITTED) != 0 && (step->what & FT_STEP_WITHHELD) == 0;
}

void ft_tally_again(struct ft_tally *tally, const struct ft_item *item, bool back, uint32_t packets)
{
	uint32_t from = back ? item->to : item->from, to = back ? item->from : item->to;

	tally->totals.cells[ft_totals_cell(&tally->totals, from, to)].retransmitted += packets;
}

void ft_tally_merge(struct ft_tally *into, const struct ft_tally *from)
{
	ft_totals_merge(&into->totals, &from->totals);
	into->duplicates += from->duplicates;
	into->duplicate_bytes += from->duplicate_bytes;
	into->never_judged += from->never_judged;
	into->not_rdma += from->not_rdma;
	for (unsigned kind = 0; kind < FT_UNOPENED_KINDS; kind++)
		into->unopened[kind] += from->unopened[kind];
	into->undecided_bad_icrc += from->undecided_bad_icrc;
	into->undecided_cut += from->undecided_cut;
	into->undecided_malformed += from->undecided_malformed;
	into->undecided_untimed += from->undecided_untimed;
	into->undecided_unread += from->undecided_unread;
	into->truncated += from->truncated;
	into->unnumbered += from->unnumbered;
	into->unsampled += from->unsampled;
	into->undecodable += from->undecodable;
}
