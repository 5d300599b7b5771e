#include "tracker_parts.h"

#include <errno.h>
#include <stdlib.h>

int ft_tracker_create(struct ft_tracker **tracker, const struct ft_tracker_config *config,
		      struct ft_flow_table *table, struct ft_loss_evidence *evidence)
{
	struct ft_tracker *made;
	int failure = -ENOMEM;

	if (config->spans == 0)
		return -EINVAL;
	made = calloc(1, sizeof *made);
	if (made == NULL)
		return -ENOMEM;
	made->config = *config;
	made->table = table;
	made->evidence = evidence;
	failure = ft_spans_create(&made->spans, config->spans);
	if (failure != 0)
		goto free_tracker;
	failure = ft_pairs_create(&made->pairs, table, config->seed);
	if (failure != 0)
		goto destroy_spans;
	*tracker = made;
	return 0;

destroy_spans:
	ft_spans_destroy(&made->spans);
free_tracker:
	free(made);
	return failure;
}

void ft_tracker_destroy(struct ft_tracker *tracker)
{
	if (tracker == NULL)
		return;
	ft_pairs_destroy(tracker->pairs);
	ft_spans_destroy(&tracker->spans);
	free(tracker);
}

void ft_meet(struct ft_flow *flow, struct ft_flow *peer)
{
	flow->half.acked = ft_psn_newest(flow->half.acked, peer->half.answered);
	peer->half.acked = ft_psn_newest(peer->half.acked, flow->half.answered);
}

/* The transport state of a half-connection of which nothing was seen. */
static void reset(struct ft_half *half)
{
	*half = (struct ft_half){
		.next_psn = FT_PSN_NONE,
		.acked = FT_PSN_NONE,
		.answered = FT_PSN_NONE,
		.answer_next = FT_PSN_NONE,
		.nak_psn = FT_PSN_NONE,
		.message_psn = FT_PSN_NONE,
		.asked_psn = FT_PSN_NONE,
		.service = half->service,
	};
}

/* The halves part: what is open of either can no longer be answered for. */
static void part(struct ft_tracker *tracker, struct ft_flow *flow, struct ft_step *step)
{
	struct ft_flow *peer = ft_tracker_peer(tracker, flow);

	ft_settle_all(tracker, flow, step);
	if (peer != NULL) {
		ft_settle_all(tracker, peer, step);
		tracker->totals.paired++;
	}
	ft_pairs_leave(tracker->pairs, flow);
}

void ft_restart(struct ft_tracker *tracker, struct ft_flow *flow, struct ft_step *step)
{
	part(tracker, flow, step);
	reset(&flow->half);
}

void ft_tracker_forget(struct ft_tracker *tracker, struct ft_flow *flow)
{
	tracker->totals.one_sided += ft_is_lonely(flow);
	part(tracker, flow, NULL);
}

void ft_tracker_pair(struct ft_tracker *tracker, const struct ft_flow_key *there,
		     const struct ft_flow_key *back, enum ft_paired_by by)
{
	ft_pairs_learn(tracker->pairs, there, back, by);
}

void ft_tracker_prefetch(const struct ft_tracker *tracker, const struct ft_flow *flow)
{
	if (flow->peer != 0)
		__builtin_prefetch(&ft_flow_at(tracker->table, flow->peer)->half, 1);
}

/* The first packet of a half-connection, or the first after long silence. */
__attribute__((noinline)) static void enter(struct ft_tracker *tracker,
					    const struct ft_moment *moment)
{
	struct ft_flow *flow = moment->flow;
	struct ft_flow *peer;

	if (flow->half.service != UINT8_MAX)
		ft_restart(tracker, flow, moment->step);
	flow->half.service = (uint8_t)ft_opcode_service(moment->observed->opcode);
	moment->step->what |= FT_STEP_RESTART;
	ft_pairs_enter(tracker->pairs, flow, moment->observed);
	peer = ft_tracker_peer(tracker, flow);
	if (peer != NULL)
		ft_meet(flow, peer);
}

/* A transport whose PSNs say nothing about loss: UD, RD and DC (many senders share one sequence), unknown ones. */
static void pass(struct ft_tracker *tracker, const struct ft_moment *moment)
{
	const struct ft_observed *observed = moment->observed;
	struct ft_step *step = moment->step;

	ft_loss_silent(tracker->evidence, observed->frame);
	if (ft_opcode_service(observed->opcode) != FT_UD)
		return;
	step->what |= FT_STEP_NEW | FT_STEP_MESSAGE;
	step->message_kind = FT_MESSAGE_SEND;
	step->message_bytes = observed->payload;
	step->message_flow = ft_flow_number(tracker->table, moment->flow);
}

static bool is_connected(enum ft_service service)
{
	return service == FT_RC || service == FT_UC || service == FT_XRC;
}

void ft_tracker_step(struct ft_tracker *tracker, struct ft_flow *flow,
		     const struct ft_observed *observed, struct ft_step *step)
{
	const struct ft_moment moment = { flow, observed, ft_operation(observed->opcode), step };
	enum ft_service service = ft_opcode_service(observed->opcode);

	*step = (struct ft_step){ 0 };
	if (__builtin_expect(service == FT_CNP, 0)) {
		step->what = FT_STEP_CNP;
		tracker->totals.cnps++;
		ft_loss_silent(tracker->evidence, observed->frame);
		return;
	}
	if (__builtin_expect(flow->half.service == UINT8_MAX ||
				     ft_elapsed(observed->ts_ns, flow->last_ns) >
					     tracker->config.flow_timeout_ns,
			     0))
		enter(tracker, &moment);
	if (!is_connected(service) || moment.operation->role == FT_ROLE_NONE) {
		pass(tracker, &moment);
	} else if (moment.operation->role == FT_ROLE_REQUEST) {
		if (flow->peer == 0)
			ft_pairs_request(tracker->pairs, flow);
		ft_request(tracker, &moment);
	} else if (moment.operation->role == FT_ROLE_ACKNOWLEDGE) {
		ft_acknowledge(tracker, &moment);
	} else {
		ft_response(tracker, &moment);
	}
}
