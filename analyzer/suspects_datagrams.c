/* What is held against datagrams, whose queue pairs have many senders. */
#include <capture/frame.h>
#include <decode/opcode.h>
#include <decode/packet.h>

#include "suspects_state.h"

enum {
	GUESSES = 4, /* Q_Keys, each soon after the one before it */
};

/* UD. RD counts its PSNs by another context, and nobody speaks it. */
static bool is_judged(const struct ft_flow *flow, const struct ft_observed *observed)
{
	return (observed->has & FT_OBSERVED_DETH) != 0 && observed->opcode >> 5 == FT_UD &&
	       flow->half.service == FT_UD && observed->ts_ns != FT_TS_UNKNOWN;
}

/* Nothing that this queue pair sends to the other side is in view, but what others there do. */
static bool is_probe(const struct ft_suspects *suspects, const struct ft_flow *flow,
		     const struct ft_observed *observed)
{
	const struct ft_flow_key back = ft_flow_key_turned(&flow->key);

	return observed->dest_qp != FT_MULTICAST_QP &&
	       ft_datagram_senders_know(suspects->senders, &back, FT_ANY_QP) &&
	       !ft_datagram_senders_know(suspects->senders, &back, observed->dest_qp);
}

/* The first datagram to this queue pair, or the first after a long silence. */
static void begin(const struct ft_suspects *suspects, struct ft_flow *flow,
		  struct ft_recent *recent, const struct ft_observed *observed,
		  struct ft_suspicion *suspicion)
{
	bool unseen;

	ft_recent_begin(recent);
	flow->look.style = FT_LOOK_DATAGRAMS;
	if (!is_probe(suspects, flow, observed))
		return;
	recent->newest |= FT_RECENT_PROBE;
	suspicion->count = ft_suspect_pairs_begun(suspects->pairs, flow, observed, true, &unseen);
	if (suspicion->count != 0)
		ft_suspicion_hold(suspicion, FT_RULE_SPOOF_QP_SCAN);
}

/* It sends: then it was not searched for, and the search of who gets this may have been answered. */
static void note_sender(const struct ft_suspects *suspects, const struct ft_flow *flow,
			const struct ft_observed *observed)
{
	struct ft_flow_key back = ft_flow_key_turned(&flow->key);
	const struct ft_flow *other;
	bool unseen;

	back.dest_qp = observed->src_qp;
	other = ft_flow_find(suspects->table, &back, ft_flow_hash(suspects->table, &back));
	if (other != NULL && other->look.style == FT_LOOK_DATAGRAMS)
		ft_suspects_note_use(suspects, other, ft_recent_of(suspects, other), observed);
	ft_suspect_pairs_begun(suspects->pairs, flow, observed, false, &unseen);
}

/* How many Q_Keys are kept. */
static unsigned qkeys_kept(const struct ft_recent *recent)
{
	unsigned seen = recent->newest & FT_RECENT_SEEN;

	return seen < FT_SUSPECTS_KEPT ? seen : FT_SUSPECTS_KEPT;
}

/* The Q_Key becomes the newest; false: it is one of those kept. */
static bool is_new_qkey(struct ft_recent *recent, uint32_t qkey)
{
	unsigned kept = qkeys_kept(recent), at = 0;
	bool known;

	while (at < kept && recent->qkeys[at] != qkey)
		at++;
	known = at < kept;
	if (!known && at == FT_SUSPECTS_KEPT)
		at--;
	memmove(recent->qkeys + 1, recent->qkeys, at * sizeof recent->qkeys[0]);
	recent->qkeys[0] = qkey;
	return !known;
}

/*
 * A queue pair has one Q_Key, and drops what comes with another without a word. So what shows is that one host sends it several,
 * each new one within ten seconds of the one before.
 */
static void check_qkey(struct ft_flow *flow, struct ft_recent *recent,
		       const struct ft_observed *observed, struct ft_suspicion *suspicion)
{
	uint32_t moment = ft_suspects_moment(observed->ts_ns), seen;

	if (observed->dest_qp == FT_MULTICAST_QP || !is_new_qkey(recent, observed->qkey))
		return; /* multicast groups have one each */
	if (moment - flow->asked >= FT_SUSPECTS_LONG_AGO)
		recent->newest &= ~(uint32_t)FT_RECENT_SEEN; /* the one just kept stands first */
	flow->asked = moment;
	seen = recent->newest & FT_RECENT_SEEN;
	recent->newest += seen != FT_RECENT_SEEN;
	if (seen + 1 < GUESSES)
		return;
	suspicion->qkeys = seen + 1;
	ft_suspicion_hold(suspicion, FT_RULE_SPOOF_QKEY_GUESSES);
}

/* As a request is kept, but of its source queue pair; `strange`: enum ft_strange. */
static struct ft_passage passage_of(const struct ft_suspects *suspects, const struct ft_flow *flow,
				    const struct ft_observed *observed, uint32_t strange)
{
	const struct ft_request_print print = {
		.shape = observed->src_qp ^ observed->vlan * 0x9e3779b1u,
		.word = strange,
	};

	return ft_passage_of(ft_suspects_number(suspects, flow), observed, &print);
}

/* Nothing but a copy comes under a PSN that passed: nobody sends a datagram again. */
static void check_content(const struct ft_suspects *suspects, const struct ft_flow *flow,
			  const struct ft_observed *observed,
			  const struct ft_sender_verdict *verdict, struct ft_suspicion *suspicion)
{
	const struct ft_passage now = passage_of(suspects, flow, observed, verdict->strange);
	struct ft_passed before = { NULL, 0 };

	if (verdict->comparable)
		before = ft_passages_find(suspects->passages, observed->frame, &now);
	if (before.passage != NULL && before.passage->shape == now.shape &&
	    !ft_passages_are_cut_apart(before.passage, &now) &&
	    ft_passage_is_unlike(before.passage, &now, observed)) {
		ft_suspicion_hold(suspicion, FT_RULE_SPOOF_PSN_CONFLICT);
		suspicion->grave = (verdict->strange | before.passage->word) != 0;
		suspicion->strange |= FT_STRANGE_CONTENT;
		suspicion->passed = observed->frame - before.back;
		suspicion->forged = ft_forged_of(before.passage->word != 0, verdict->strange != 0);
	} else {
		ft_passages_keep(suspects->passages, observed->frame, &now);
	}
}

static void check_sender(const struct ft_suspects *suspects, const struct ft_flow *flow,
			 const struct ft_observed *observed, struct ft_suspicion *suspicion)
{
	const struct ft_sender_verdict verdict =
		ft_datagram_senders_step(suspects->senders, &flow->key, observed);

	suspicion->strange = verdict.strange;
	if (verdict.first)
		note_sender(suspects, flow, observed);
	if (verdict.foreign)
		ft_suspicion_hold(suspicion, FT_RULE_SPOOF_SENDER_CHANGED);
	if (verdict.astray)
		ft_suspicion_hold(suspicion, FT_RULE_SPOOF_PSN_WINDOW);
	check_content(suspects, flow, observed, &verdict, suspicion);
	if (suspicion->rules == 0)
		return;
	ft_suspicion_write(suspicion, flow, observed, &verdict.usual, verdict.expected_psn);
	suspicion->usual_base = verdict.usual_base;
}

void ft_suspects_judge_datagram(struct ft_suspects *suspects, struct ft_flow *flow,
				const struct ft_observed *observed, const struct ft_step *step,
				struct ft_suspicion *suspicion)
{
	struct ft_recent *recent = ft_recent_of(suspects, flow);

	if (!is_judged(flow, observed))
		return;
	suspicion->grave = suspicion->unseen = false;
	suspicion->passed = 0;
	if ((step->what & FT_STEP_RESTART) != 0 || flow->look.style != FT_LOOK_DATAGRAMS)
		begin(suspects, flow, recent, observed, suspicion);
	else
		ft_suspects_note_use(suspects, flow, recent, observed);
	check_qkey(flow, recent, observed, suspicion);
	check_sender(suspects, flow, observed, suspicion);
}
