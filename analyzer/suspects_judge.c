#include <capture/frame.h>
#include <decode/opcode.h>

#include "suspects_state.h"

/* What is held against a packet that is not as the others of its sender. */

enum {
	SYNDROME_REMOTE_ACCESS = 0x62, /* AETH: NAK 2 */
	YOUNG = 8,                     /* requests on a connection that did little yet */
};

#define TIMEOUT_NS UINT64_C(1000000) /* no sender waits less for an answer */

/* In which of enum ft_recent_bits two requests differ; cut differently, they cannot be compared. */
static uint32_t unlike(const struct ft_passage *before, const struct ft_passage *now,
		       const struct ft_observed *observed)
{
	if (ft_passages_are_cut_apart(before, now))
		return 0;
	if (before->shape != now->shape)
		return FT_RECENT_SHAPE | (before->content != now->content ? FT_RECENT_CONTENT : 0);
	return ft_passage_is_unlike(before, now, observed) ? FT_RECENT_CONTENT : 0;
}

/* One packet and what is known about it. */
struct scene {
	struct ft_suspects *suspects;
	struct ft_flow *flow;
	const struct ft_observed *observed;
	const struct ft_step *step;
	struct ft_recent *recent;
	bool answer;
	uint64_t since_packet_ns; /* on this half-connection */
	uint64_t since_alike_ns;  /* since the request before, or for an answer the answer */
};

static uint64_t since_packet(const struct ft_flow *flow, const struct ft_observed *observed)
{
	if (observed->ts_ns == FT_TS_UNKNOWN || flow->last_ns == FT_TS_UNKNOWN)
		return UINT64_MAX;
	return observed->ts_ns > flow->last_ns ? observed->ts_ns - flow->last_ns : 0;
}

/* At least: the moment of the last request is known to about a millisecond. */
static uint64_t since_request(const struct scene *scene)
{
	uint32_t moments = ft_suspects_moment(scene->observed->ts_ns) - scene->flow->asked;
	uint64_t since_ns = 0;

	if ((scene->recent->newest & FT_RECENT_SEEN) != 0 && moments > 1 &&
	    moments < UINT32_MAX / 2)
		since_ns = (uint64_t)(moments - 1) << FT_SUSPECTS_MOMENT_SHIFT;
	return since_ns > scene->since_packet_ns ? since_ns : scene->since_packet_ns;
}

__attribute__((noinline)) static void refused(const struct scene *scene,
					      struct ft_suspicion *suspicion)
{
	const struct ft_suspects *suspects = scene->suspects;
	uint32_t asking = scene->flow->peer != 0 ? scene->flow->peer : scene->flow->half.candidate;
	bool young = asking != 0 &&
		     (ft_recent_of(suspects, ft_flow_at(suspects->table, asking))->newest &
		      FT_RECENT_SEEN) < YOUNG;

	suspicion->count = ft_suspect_pairs_refused(suspects->pairs, scene->flow, scene->observed,
						    ft_flow_number(suspects->table, scene->flow),
						    young, &suspicion->slow);
	if (suspicion->count != 0)
		ft_suspicion_hold(suspicion, FT_RULE_SPOOF_ACCESS_ERRORS);
}

/* The path MTU of the connection; 0: not known. */
static uint32_t mtu_of(const struct scene *scene)
{
	const struct ft_half *half = &scene->flow->half;

	if ((half->mtu == 0 || (half->flags & FT_HALF_MTU_GUESSED) != 0) && scene->flow->peer != 0)
		half = &ft_flow_at(scene->suspects->table, scene->flow->peer)->half;
	return (half->flags & FT_HALF_MTU_GUESSED) != 0 ? 0 : half->mtu;
}

static struct ft_request_looks looks_of(const struct scene *scene,
					const struct ft_suspicion *suspicion)
{
	bool reported = (suspicion->rules >> FT_RULE_SPOOF_SENDER_CHANGED & 1) != 0;
	bool paused = scene->since_alike_ns > FT_SUSPECTS_PAUSE_NS;
	bool several_traits = (suspicion->strange & (suspicion->strange - 1)) != 0;

	return (struct ft_request_looks){
		.strange = reported || (several_traits && !paused),
		.reported = reported,
		.paused = paused,
		.prompt = scene->since_alike_ns < TIMEOUT_NS &&
			  (scene->flow->half.flags & FT_HALF_NAKED) == 0,
		.again = (scene->step->what & FT_STEP_RETRANSMITTED) != 0,
		.mtu = mtu_of(scene),
		.next_psn = scene->flow->half.next_psn,
	};
}

/* `passed`: the frame of the other request; 0: not known. `forged`: by their looks. */
static void hold_conflict(struct ft_suspicion *suspicion, enum ft_conflict conflict,
			  uint64_t passed, enum ft_forged forged)
{
	static const uint32_t rules[] = {
		[FT_CONFLICT_PAYLOAD] = 1u << FT_RULE_SPOOF_PAYLOAD_CHANGED,
		[FT_CONFLICT_REQUEST] = 1u << FT_RULE_SPOOF_PSN_CONFLICT,
		[FT_CONFLICT_GRAVE] = 1u << FT_RULE_SPOOF_PSN_CONFLICT,
		[FT_CONFLICT_KNOWN] = 0,
	};

	if (rules[conflict] == 0)
		return;
	if (conflict == FT_CONFLICT_GRAVE) /* it says so already */
		suspicion->rules &= ~(1u << FT_RULE_SPOOF_SENDER_VARIES);
	suspicion->rules |= rules[conflict];
	suspicion->strange |= FT_STRANGE_CONTENT;
	suspicion->grave = conflict == FT_CONFLICT_GRAVE;
	suspicion->passed = passed;
	suspicion->forged = forged;
}

static void check_request(const struct scene *scene, struct ft_suspicion *suspicion)
{
	struct ft_suspects *suspects = scene->suspects;
	const struct ft_observed *observed = scene->observed;
	struct ft_request_looks looks = looks_of(scene, suspicion);
	const struct ft_request_print print = {
		.shape = ft_recent_shape(observed),
		.word = ft_recent_word_of(observed, &looks),
	};
	const struct ft_passage now =
		ft_passage_of(ft_suspects_number(suspects, scene->flow), observed, &print);
	struct ft_passed before = { NULL, 0 };
	enum ft_conflict conflict;

	if (scene->since_alike_ns >> FT_SUSPECTS_MOMENT_SHIFT >= FT_SUSPECTS_LONG_AGO)
		ft_recent_forget(scene->recent);
	ft_suspects_note_use(suspects, scene->flow, scene->recent, observed);
	if (looks.again || ft_recent_has(scene->recent, observed->psn))
		before = ft_passages_find(suspects->passages, observed->frame, &now);
	if (before.passage != NULL)
		looks.unlike = unlike(before.passage, &now, observed);
	if (looks.unlike != 0 &&
	    ft_passages_began_since(suspects->passages, now.half, observed->frame, before.back))
		looks.unlike = 0;
	else if (before.passage != NULL)
		looks.before = before.passage->word;
	conflict = ft_recent_step(scene->recent, observed, &looks);
	scene->flow->asked = ft_suspects_moment(observed->ts_ns);
	if (conflict == FT_CONFLICT_NONE || !looks.strange)
		ft_passages_keep(suspects->passages, observed->frame, &now);
	if (looks.again && looks.paused)
		ft_passages_begin(suspects->passages, observed->frame);
	hold_conflict(suspicion, conflict,
		      before.passage == NULL ? 0 : observed->frame - before.back,
		      ft_forged_of((looks.before & FT_RECENT_STRANGE) != 0, looks.strange));
}

/* The half that asked is under way, and did not go back to where another connection may have begun. */
static bool is_asked_in_order(const struct scene *scene)
{
	const struct ft_flow *flow = scene->flow;
	const struct ft_recent *asked;

	if (flow->peer == 0)
		return false;
	asked = ft_recent_of(scene->suspects, ft_flow_at(scene->suspects->table, flow->peer));
	return (asked->newest & (FT_RECENT_SEEN | FT_RECENT_BEYOND | FT_RECENT_NOTHING)) ==
	       FT_RECENT_SEEN;
}

/* Against the one that passed under its PSN, if that was the same part of an answer. */
static void check_response(const struct scene *scene, struct ft_suspicion *suspicion)
{
	struct ft_suspects *suspects = scene->suspects;
	const struct ft_observed *observed = scene->observed;
	const struct ft_passage now =
		ft_response_passage_of(ft_suspects_number(suspects, scene->flow), observed);
	struct ft_passed before = { NULL, 0 };

	if ((scene->step->what & FT_STEP_RETRANSMITTED) != 0 && is_asked_in_order(scene))
		before = ft_passages_find(suspects->passages, observed->frame, &now);
	if (before.passage != NULL && before.passage->shape == now.shape &&
	    !ft_passages_are_cut_apart(before.passage, &now) &&
	    ft_passage_is_unlike(before.passage, &now, observed) &&
	    !ft_passages_began_since(suspects->passages, scene->flow->peer, observed->frame,
				     before.back))
		hold_conflict(suspicion, FT_CONFLICT_PAYLOAD, observed->frame - before.back,
			      FT_FORGED_EITHER);
	else
		ft_passages_keep(suspects->passages, observed->frame, &now);
}

/* Requests or answers behind this one have passed. */
static bool is_late(const struct scene *scene)
{
	const uint32_t late = FT_STEP_REORDERED | FT_STEP_FABRIC_LOST | FT_STEP_RETRANSMITTED;
	uint32_t answered = scene->flow->half.answered;

	if (!scene->answer)
		return (scene->step->what & late) != 0;
	return answered != FT_PSN_NONE && ft_psn_distance(answered, scene->observed->psn) > 0;
}

static void check_look(const struct scene *scene, struct ft_suspicion *suspicion,
		       struct ft_sender_look *usual)
{
	struct ft_look_verdict verdict;
	struct ft_look_question question = {
		.answer = scene->answer,
		.own_answers = (scene->recent->newest & FT_RECENT_OWN_ANSWERS) != 0,
		.late = is_late(scene),
		.beside = suspicion->strange,
		.since_packet_ns = scene->since_packet_ns,
		.since_alike_ns = scene->since_alike_ns,
	};

	verdict = ft_look_step(&scene->flow->look, scene->observed, &question, usual);
	suspicion->strange |= verdict.strange;
	if (verdict.own_answers)
		scene->recent->newest |= FT_RECENT_OWN_ANSWERS;
	if (verdict.foreign)
		ft_suspicion_hold(suspicion, FT_RULE_SPOOF_SENDER_CHANGED);
	else if (verdict.varies)
		ft_suspicion_hold(suspicion, FT_RULE_SPOOF_SENDER_VARIES);
}

/* What needs no memory but the flow's own. */
static void check_step(const struct scene *scene, struct ft_suspicion *suspicion)
{
	uint32_t what = scene->step->what;
	uint16_t base = scene->flow->first_base;

	if ((what & FT_STEP_UNASKED) != 0) {
		suspicion->strange |= FT_STRANGE_UNASKED;
		ft_suspicion_hold(suspicion, FT_RULE_SPOOF_UNASKED_RESPONSE);
	}
	if ((what & FT_STEP_OUTSIDE) != 0 && (what & (FT_STEP_ANSWER | FT_STEP_RESTART)) == 0) {
		suspicion->strange |= FT_STRANGE_PSN;
		ft_suspicion_hold(suspicion, FT_RULE_SPOOF_PSN_WINDOW);
	}
	if (base != FT_FLOW_NO_BASE && base != (scene->observed->pkey & 0x7fff))
		suspicion->strange |= FT_STRANGE_PKEY; /* pkey.changed-on-connection says so */
}

static struct scene scene_of(struct ft_suspects *suspects, struct ft_flow *flow,
			     const struct ft_observed *observed, const struct ft_step *step)
{
	struct scene scene = {
		.suspects = suspects,
		.flow = flow,
		.observed = observed,
		.step = step,
		.recent = ft_recent_of(suspects, flow),
		.answer = (step->what & FT_STEP_ANSWER) != 0,
		.since_packet_ns = since_packet(flow, observed),
	};

	scene.since_alike_ns = scene.answer ? scene.since_packet_ns : since_request(&scene);
	return scene;
}

/* What other packets it is like does not matter. */
static void check_alone(const struct scene *scene, struct ft_suspicion *suspicion,
			struct ft_sender_look *usual)
{
	suspicion->strange = 0;
	suspicion->grave = false;
	suspicion->passed = 0;
	check_step(scene, suspicion);
	check_look(scene, suspicion, usual);
}

void ft_suspects_judge(struct ft_suspects *suspects, struct ft_flow *flow,
		       const struct ft_observed *observed, const struct ft_step *step,
		       struct ft_suspicion *suspicion)
{
	const struct scene scene = scene_of(suspects, flow, observed, step);
	struct ft_sender_look usual;

	check_alone(&scene, suspicion, &usual);
	if ((step->what & FT_STEP_NAK) != 0)
		ft_refusals_see(&suspects->refusals, ft_suspects_number(suspects, flow), observed);
	if ((step->what & FT_STEP_NAK) != 0 && observed->syndrome == SYNDROME_REMOTE_ACCESS)
		refused(&scene, suspicion);
	if (!scene.answer && (step->what & FT_STEP_OUTSIDE) == 0)
		check_request(&scene, suspicion);
	if (scene.answer && ft_is_response(observed->opcode))
		check_response(&scene, suspicion);
	if (suspicion->rules != 0)
		ft_suspicion_write(suspicion, flow, observed, &usual, flow->half.next_psn);
}

void ft_suspects_look_on(struct ft_suspects *suspects, struct ft_flow *flow,
			 const struct ft_observed *observed, const struct ft_step *step,
			 struct ft_suspicion *suspicion)
{
	const struct scene scene = scene_of(suspects, flow, observed, step);
	struct ft_sender_look usual;

	suspicion->rules = 0;
	check_alone(&scene, suspicion, &usual);
	if (!scene.answer)
		flow->asked = ft_suspects_moment(observed->ts_ns);
	if (suspicion->rules != 0)
		ft_suspicion_write(suspicion, flow, observed, &usual, flow->half.next_psn);
}
