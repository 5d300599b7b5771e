#include "worker_take.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "congestion.h"
#include "watch.h"
#include "worker_kept.h"
#include "worker_records.h"

/* --- what becomes of it --- */

/* A connection set up anew may use another P_Key on the same queue pair. */
__attribute__((noinline)) static void follow_setup(struct ft_worker *worker,
						   const struct ft_item *item)
{
	struct ft_flow_key key = ft_flow_key_turned(&item->flow_key);
	struct ft_flow *flow;

	key.dest_qp = item->setup.qpn;
	key.base = FT_FLOW_ANY_BASE;
	key.vlan = FT_FLOW_ANY_VLAN;
	flow = ft_flow_find(worker->flows, &key, ft_flow_hash(worker->flows, &key));
	if (flow != NULL) {
		flow->first_base = FT_FLOW_NO_BASE;
		ft_judge_unsettle(flow);
	} else if (!ft_bases_are_empty(&worker->bases)) {
		ft_bases_take(&worker->bases, &key);
	}
	ft_connections_see(worker->connections, &item->setup, &item->flow_key, item->frame->ts_ns,
			   worker->tracker);
}

/* Something is held against it: who they are. */
static void suspect(struct ft_worker *worker, struct ft_item *item,
		    struct ft_conclusion *conclusion)
{
	if (conclusion->suspicion.rules == 0)
		return;
	item->rules |= ft_suspicion_sure(&conclusion->suspicion);
	if (conclusion->judged == NULL && !item->untimed)
		conclusion->judged = ft_judge_look_up(worker->judge, item);
}

/* When requests passed, of which a time-out is told; with a map the suspects keep it, of those that are the sender's own. */
static void note_request(struct ft_flow *flow, const struct ft_observed *observed,
			 const struct ft_step *step)
{
	if ((step->what & (FT_STEP_ANSWER | FT_STEP_CNP)) == 0)
		flow->asked = (uint32_t)(observed->ts_ns >> FT_FLOW_MOMENT_SHIFT);
}

/* What the connection does: messages, losses, a second sender. */
static void follow(struct ft_worker *worker, struct ft_item *item, struct ft_conclusion *conclusion)
{
	struct ft_flow *flow = conclusion->records.whole;

	assert(flow != NULL); /* only what has one is followed */
	ft_tracker_step(worker->tracker, flow, &item->observed, &conclusion->step);
	if (worker->suspects == NULL) {
		note_request(flow, &item->observed, &conclusion->step);
		return;
	}
	if (conclusion->records.unsure)
		ft_suspects_look_on(worker->suspects, flow, &item->observed, &conclusion->step,
				    &conclusion->suspicion);
	else
		ft_suspects_step(worker->suspects, flow, &item->observed, &conclusion->step,
				 &conclusion->suspicion);
	suspect(worker, item, conclusion);
}

static void count_records(const struct ft_item *item, const struct ft_records *records)
{
	struct ft_flow *part = records->part;
	uint64_t ts_ns = ft_item_time(item);

	assert(records->whole != NULL); /* a part is of one */
	part->packets++;
	part->bytes += ft_item_wire(item);
	if (ts_ns > part->last_ns)
		part->last_ns = ts_ns;
	if (part != records->whole && ts_ns > records->whole->last_ns)
		records->whole->last_ns = ts_ns;
	if (item->kind == FT_FRAME_BAD_ICRC && part->bad_icrc < UINT16_MAX)
		part->bad_icrc++;
}

__attribute__((noinline)) static void leave_copy(struct ft_worker *worker, struct ft_item *item,
						 const struct ft_records *records)
{
	const struct ft_flow *counted = records->part != NULL ? records->part : records->whole;

	item->copy = worker->batch.copies = true;
	if (records->whole != NULL)
		ft_tracker_see_copy(records->whole);
	if (item->sub == 0) {
		worker->tally.duplicates++;
		worker->tally.duplicate_bytes += item->frame->wire;
	}
	if (counted != NULL)
		counted = ft_records_see_copy(worker, item, counted);
	item->marks = counted != NULL && ft_copies_marks(worker->copies);
	if (worker->details != NULL && counted != NULL)
		ft_details_count(worker->details, ft_flow_number(worker->flows, counted),
				 &item->observed, NULL, true);
	if (worker->details != NULL && item->marks)
		ft_details_of(worker->details, ft_flow_number(worker->flows, counted))->ce_marked++;
}

/* Its first P_Key and VLAN, and nothing to report: of the frames that are alike no more need be asked. */
static void settle(const struct ft_worker *worker, const struct ft_item *item,
		   const struct ft_records *records)
{
	struct ft_flow *flow = records->whole;

	if (flow != NULL && flow == records->part &&
	    ft_records_are_alike(flow, ft_item_base(item), ft_item_vlan(item)) &&
	    ft_judge_has_nothing(worker->epoch, item, flow))
		ft_judge_settle(flow);
}

/* All that the rest of the frames have, each of it seldom. */
static void finish_unusual(struct ft_worker *worker, struct ft_item *item,
			   const struct ft_conclusion *conclusion)
{
	struct ft_judged *judged = conclusion->judged;
	struct ft_flow *part = conclusion->records.part;

	ft_tally_count(&worker->tally, item, conclusion->judged, part);
	item->rules |= conclusion->suspicion.rules; /* those, too, that count in reports */
	if (!item->copy && part != NULL && worker->details != NULL)
		ft_worker_keep_details(worker, item, conclusion);
	if (worker->quiet && item->usual && judged != NULL)
		ft_judge_learn_home(worker->judge, item, judged);
	if (worker->quiet && item->usual)
		settle(worker, item, &conclusion->records);
	ft_worker_keep_more(worker, item, conclusion);
	if (item->sets_up && !item->copy)
		follow_setup(worker, item);
}

static inline void watch(struct ft_worker *worker, struct ft_item *item, struct ft_flow *flow)
{
	if (worker->watches)
		ft_watch(worker, item, flow);
}

/* Steps after which a packet is more than one more of its kind. */
enum { TOLD_STEPS = FT_TALLIED_STEPS | FT_STEP_ANEW | FT_STEP_WITHHELD | FT_STEP_RESUMED };

/* One more of its kind, but for what the map says of it and for marks. */
static bool is_steady(const struct ft_worker *worker, const struct ft_item *item,
		      const struct ft_conclusion *conclusion)
{
	const struct ft_flow *flow = conclusion->records.whole;

	return item->usual && flow == conclusion->records.part && !conclusion->records.unsure &&
	       item->observed.ts_ns - flow->last_ns <= worker->config->flow_timeout_ns &&
	       conclusion->suspicion.rules == 0 && !item->gap &&
	       (conclusion->step.what & TOLD_STEPS) == 0;
}

/* The follower of NCCL is to see it, perhaps. */
static void watch_told(struct ft_worker *worker, struct ft_item *item,
		       const struct ft_conclusion *conclusion)
{
	watch(worker, item, conclusion->records.whole);
	if (item->framing == FT_FRAMING_SHOWN && is_steady(worker, item, conclusion))
		item->framing |= FT_FRAMING_STEADY;
}

/* When all is known about a packet: counted, and kept for the accounts. */
__attribute__((noinline)) static void conclude(struct ft_worker *worker, struct ft_item *item,
					       const struct ft_conclusion *conclusion)
{
	uint32_t what = conclusion->step.what;
	bool congested = ft_is_marked(&item->observed) || ft_is_notice(&item->observed);

	worker->batch.loud++;
	item->gap = conclusion->step.gap.lost != 0;
	finish_unusual(worker, item, conclusion);
	if (item->marks)
		ft_tally_mark(&worker->tally, item);
	if (item->copy || conclusion->records.part == NULL) {
		if (worker->watches && !item->copy && item->kind == FT_FRAME_NOT_RDMA &&
		    ft_watch_may_be_tcp(item->frame))
			item->framing = FT_FRAMING_SHOWN;
		return;
	}
	if (item->followed)
		watch_told(worker, item, conclusion);
	if ((what & FT_STEP_CNP) != 0 && worker->map != NULL && !conclusion->records.unsure)
		ft_floods_see(&worker->floods, worker->flows, conclusion->records.whole,
			      &item->observed, item->frame);
	if (congested || (what & FT_TALLIED_STEPS) != 0)
		ft_tally_transport(&worker->tally, item, &conclusion->step);
	if ((what & (FT_STEP_RETRANSMITTED | FT_STEP_WITHHELD)) != 0)
		ft_copies_see_again(worker->copies, &item->observed, (what & FT_STEP_BEHIND) != 0);
	if ((what & (FT_STEP_RESUMED | FT_STEP_WITHHELD)) != 0)
		ft_records_begin_anew(worker, conclusion->records.whole, item);
	if ((what & FT_STEP_TOLD_AGAIN) != 0)
		ft_tally_again(&worker->tally, item, (what & FT_STEP_ANSWER) != 0,
			       ft_tracker_told(worker->tracker).packets);
	count_records(item, &conclusion->records);
}

/* Nothing is known of it beforehand. */
__attribute__((noinline)) static void take_any(struct ft_worker *worker, struct ft_item *item)
{
	struct ft_conclusion conclusion;

	conclusion.records = (struct ft_records){ 0 };
	conclusion.judged = NULL;
	conclusion.step.what = conclusion.suspicion.rules = conclusion.step.gap.lost = 0;
	if (item->has_flow)
		ft_records_find(worker, item, &conclusion.records);
	if (worker->judge != NULL)
		conclusion.judged = ft_judge_frame(worker->judge, item, &conclusion.records);
	else
		item->undecided = ft_item_is_undecidable(item);
	if (ft_copies_check_at(worker->copies, &item->observed, item->copies_at, item->rules) ==
	    FT_COPY_YES) {
		leave_copy(worker, item, &conclusion.records);
		conclude(worker, item, &conclusion);
		return;
	}
	if (conclusion.records.whole != NULL &&
	    !ft_records_settle(worker, item, &conclusion.records)) {
		watch(worker, item, conclusion.records.whole);
		item->followed = false; /* whose it is is not known */
	}
	if (item->followed) {
		follow(worker, item, &conclusion);
	} else if (item->kind == FT_FRAME_BAD_ICRC && conclusion.records.whole != NULL) {
		ft_tracker_see_damaged(worker->tracker, conclusion.records.whole, &item->observed);
	} else if (item->kind != FT_FRAME_NOT_RDMA && item->kind != FT_FRAME_UNREAD) {
		ft_loss_silent(&worker->loss, item->observed.frame);
	}
	conclude(worker, item, &conclusion);
}

/* --- most packets --- */

/* The record of a half-connection that begins, if it is known to be one of two ends at home in one tenant. */
__attribute__((noinline)) static struct ft_flow *begin_quiet(struct ft_worker *worker,
							     struct ft_item *item)
{
	struct ft_flow *flow = ft_flow_find_or_create(worker->flows, &item->flow_key, item->hash,
						      ft_item_time(item));

	item->record = ft_flow_number(worker->flows, flow);
	if (flow->base != FT_FLOW_NO_BASE || !ft_records_are_trusted(worker, item) ||
	    !ft_judge_knows_home(worker->judge, item, flow))
		return NULL;
	ft_records_begin(worker, flow, item);
	if (flow->first_base != FT_FLOW_NO_BASE && flow->first_base != flow->base)
		return NULL; /* it was here before, with another base */
	flow->first_base = flow->base;
	ft_judge_settle(flow);
	return flow;
}

/*
 * The record of a packet that belongs to a half-connection, goes on where that was in time, P_Key and VLAN, and is
 * under a verdict that is known, with nothing to report; NULL: it is another.
 */
static inline struct ft_flow *find_quiet(struct ft_worker *worker, struct ft_item *item)
{
	const struct ft_observed *observed = &item->observed;
	struct ft_flow *flow;

	if (!worker->quiet || !item->usual || ft_has_mark(observed))
		return NULL;
	flow = ft_records_known(worker, item);
	if (flow == NULL)
		return begin_quiet(worker, item);
	if (observed->ts_ns - flow->last_ns > worker->config->flow_timeout_ns ||
	    !ft_judge_is_settled(worker->epoch, item, flow))
		return NULL;
	return flow;
}

__attribute__((noinline)) static void take_copy(struct ft_worker *worker, struct ft_item *item,
						struct ft_flow *flow)
{
	const struct ft_conclusion conclusion = { .records = { .whole = flow, .part = flow } };

	leave_copy(worker, item, &conclusion.records);
	conclude(worker, item, &conclusion);
}

/* There is something to tell after all. */
__attribute__((noinline)) static void speak(struct ft_worker *worker, struct ft_item *item,
					    struct ft_flow *flow, struct ft_conclusion *conclusion)
{
	conclusion->records = (struct ft_records){ .whole = flow, .part = flow };
	conclusion->judged = NULL;
	suspect(worker, item, conclusion);
	conclude(worker, item, conclusion);
}

/* One more of its kind. */
static inline void count_quiet(struct ft_worker *worker, struct ft_item *item, struct ft_flow *flow)
{
	item->quiet = true;
	ft_tally_usual(&worker->tally, item, flow->cell);
	flow->packets++;
	flow->bytes += item->frame->wire;
	flow->last_ns = item->observed.ts_ns; /* no earlier, see find_quiet() */
	watch(worker, item, flow);
}

static inline void take_quiet(struct ft_worker *worker, struct ft_item *item, struct ft_flow *flow)
{
	const struct ft_observed *observed = &item->observed;
	struct ft_conclusion conclusion;

	if (ft_copies_check_at(worker->copies, observed, item->copies_at, 0) == FT_COPY_YES) {
		take_copy(worker, item, flow);
		return;
	}
	ft_tracker_step_on(worker->tracker, flow, observed, &conclusion.step);
	ft_suspects_step(worker->suspects, flow, observed, &conclusion.step, &conclusion.suspicion);
	if ((conclusion.suspicion.rules | conclusion.step.gap.lost |
	     (conclusion.step.what & TOLD_STEPS)) != 0)
		speak(worker, item, flow, &conclusion);
	else
		count_quiet(worker, item, flow);
}

static_assert(FT_FRAMING_NONE == 0, "cleared with the rest");

/* Nothing has come to light about it: all from `quiet` to `rules`, which stand one behind the other. */
static inline void clear(struct ft_item *item)
{
	memset((uint8_t *)item + offsetof(struct ft_item, quiet), 0,
	       offsetof(struct ft_item, from) - offsetof(struct ft_item, quiet));
}

void ft_worker_take(struct ft_worker *worker, struct ft_item *item)
{
	struct ft_flow *flow = find_quiet(worker, item);

	clear(item);
	if (flow != NULL)
		take_quiet(worker, item, flow);
	else
		take_any(worker, item);
}
