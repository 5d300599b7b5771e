#include "worker_kept.h"

#include <flow/hash.h>

#include "subject.h"

static uint64_t subject_of(const struct ft_worker *worker, const struct ft_item *item,
			   struct ft_judged *judged)
{
	uint64_t seed = worker->config->seed;
	struct ft_check_key key;

	if (judged != NULL && judged->subject == 0)
		judged->subject = ft_subject_digest(&judged->key, &judged->verdict, seed);
	if (judged != NULL)
		return judged->subject;
	ft_item_key(item, &key);
	return ft_subject_digest(&key, NULL, seed);
}

static void keep_verdict(const struct ft_worker *worker, const struct ft_item *item,
			 struct ft_item_more *more, struct ft_judged *judged,
			 const struct ft_records *records)
{
	const struct ft_flow *part = item->kind == FT_FRAME_BAD_ICRC ? records->part : NULL;

	more->suspicion = (struct ft_suspicion){ 0 };
	more->passed = NULL;
	more->has_verdict = judged != NULL;
	more->subject = subject_of(worker, item, judged);
	more->first_base = records->changed ? records->first_base : FT_FLOW_NO_BASE;
	if (judged != NULL)
		more->verdict = judged->verdict;
	more->flow =
		part == NULL ? 0 : ft_hash(&part->key, sizeof part->key, worker->config->seed) | 1;
}

static void keep_suspicion(const struct ft_worker *worker, struct ft_item_more *more,
			   const struct ft_suspicion *suspicion)
{
	more->suspicion = *suspicion;
	if ((suspicion->strange & (FT_STRANGE_CONTENT | FT_STRANGE_REFUSED)) != 0 &&
	    suspicion->passed != 0 && suspicion->frame - suspicion->passed <= FT_SUSPECTS_PASSAGES)
		more->passed = ft_gone_by_find(&worker->gone_by, suspicion->passed);
}

/* Whose sequence it leaves, or says to be another. */
static void keep_sequence(const struct ft_worker *worker, struct ft_item *item,
			  struct ft_item_more *more, const struct ft_conclusion *conclusion)
{
	const struct ft_flow *flow = conclusion->records.whole;

	if ((item->rules >> FT_RULE_SPOOF_PSN_WINDOW & 1) != 0)
		more->half = ft_hash(&flow->key, sizeof flow->key, worker->config->seed);
	item->anew = worker->suspects != NULL && (conclusion->step.what & FT_STEP_ANEW) != 0 &&
		     flow->peer != 0;
	if (!item->anew)
		return;
	flow = ft_flow_at(worker->flows, flow->peer);
	more->half = ft_hash(&flow->key, sizeof flow->key, worker->config->seed);
	more->next_psn = flow->half.next_psn;
}

void ft_worker_keep_more(const struct ft_worker *worker, struct ft_item *item,
			 const struct ft_conclusion *conclusion)
{
	struct ft_item_more *more = &worker->batch.more[item - worker->batch.items];

	if (item->rules != 0 || worker->tells_all)
		keep_verdict(worker, item, more, conclusion->judged, &conclusion->records);
	if (conclusion->suspicion.rules != 0)
		keep_suspicion(worker, more, &conclusion->suspicion);
	if (item->gap)
		more->gap = conclusion->step.gap;
	keep_sequence(worker, item, more, conclusion);
}

void ft_worker_keep_details(struct ft_worker *worker, const struct ft_item *item,
			    const struct ft_conclusion *conclusion)
{
	const struct ft_judged *judged = conclusion->judged;
	const struct ft_flow *part = conclusion->records.part;
	const struct ft_step nothing = { 0 };
	const struct ft_step *step = item->followed ? &conclusion->step : &nothing;
	uint32_t number = ft_flow_number(worker->flows, part);
	struct ft_detail *detail = ft_details_of(worker->details, number);

	if ((step->what & (FT_STEP_TOLD_AGAIN | FT_STEP_TOLD_NEW)) != 0)
		ft_details_tell(worker->details, ft_tracker_told(worker->tracker).flow,
				(step->what & FT_STEP_TOLD_AGAIN) != 0);
	ft_details_count(worker->details, number, &item->observed, step, false);
	if (ft_item_is_cut(item))
		ft_detail_note_cut(detail, item->key.pkey, item->key.service);
	if (ft_step_is_unclaimed(step))
		ft_details_keep(worker->details,
				ft_flow_number(worker->flows, conclusion->records.whole), step);
	ft_detail_judge(detail, item->rules, item->kind == FT_FRAME_JUDGED && !item->undecided);
	if (judged != NULL)
		ft_detail_place(
			detail,
			(uint32_t[]){ judged->verdict.src.endpoint, judged->verdict.src.tenant },
			(uint32_t[]){ judged->verdict.dst.endpoint, judged->verdict.dst.tenant });
}
