/* What is held against datagrams, whose queue pairs have many senders. */
#include <capture/frame.h>

#include "suspects_state.h"

enum {
	GUESSES = 4, /* Q_Keys, each soon after the one before it */
	GROUP_QP = 0xffffff,
};

/* Of a queue pair that gets datagrams; what is for many of them, a multicast group, has no one Q_Key. */
static bool is_judged(const struct ft_flow *flow, const struct ft_observed *observed)
{
	const uint32_t others = FT_OBSERVED_RETH | FT_OBSERVED_ATOMIC;

	return (observed->has & (FT_OBSERVED_DETH | others)) == FT_OBSERVED_DETH &&
	       flow->half.service == observed->opcode >> 5 && observed->dest_qp != GROUP_QP &&
	       observed->ts_ns != FT_TS_UNKNOWN;
}

/* The first datagram to this queue pair, or the first after a long silence. */
static void begin(struct ft_flow *flow, struct ft_recent *recent)
{
	ft_recent_begin(recent);
	flow->look.style = FT_LOOK_DATAGRAMS;
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

	if (!is_new_qkey(recent, observed->qkey))
		return;
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

void ft_suspects_judge_datagram(struct ft_suspects *suspects, struct ft_flow *flow,
				const struct ft_observed *observed, const struct ft_step *step,
				struct ft_suspicion *suspicion)
{
	struct ft_recent *recent = ft_recent_of(suspects, flow);
	const struct ft_sender_look usual = ft_look_of(observed);

	if (!is_judged(flow, observed))
		return;
	if ((step->what & FT_STEP_RESTART) != 0 || flow->look.style != FT_LOOK_DATAGRAMS)
		begin(flow, recent);
	suspicion->strange = 0;
	suspicion->grave = false;
	suspicion->passed = 0;
	check_qkey(flow, recent, observed, suspicion);
	if (suspicion->rules != 0)
		ft_suspicion_write(suspicion, flow, observed, &usual, FT_PSN_NONE);
}
