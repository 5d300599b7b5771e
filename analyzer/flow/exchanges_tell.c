#include "exchanges_parts.h"

#include <flow/opening.h>

#include "exchanges_asked.h"

/* Behind the beginning of the capture, where what went before passed unseen. */
static uint64_t frame_of(const struct ft_flow *flow)
{
	uint64_t frame = ft_opening_frame(flow->opened);

	return frame > FT_LOSS_FIRST_FRAMES ? frame : 0;
}

/* How many halves are in view that went the way of the requests. */
static uint32_t halves_asking(const struct ft_exchanges *all, const struct ft_flow *flow,
			      bool answers)
{
	const struct ft_flow_key key = ft_asking_key(flow, answers);

	return ft_lonely_halves(&all->halves, &key);
}

/* The newest of several requests of a half that was not known to be answered: its loss would have shown. */
static void tell_end(struct ft_exchanges *all, const struct ft_flow *flow,
		     const struct ft_flow *answers)
{
	if (flow->peer != 0 || flow->packets <= 1 || all->evidence->ends == 0 ||
	    ft_psn_distance(answers->half.answered, ft_asked_to(&flow->half)) < 0)
		return;
	all->evidence->ends--;
	all->evidence->ends_answered++;
}

void ft_exchange_tell(struct ft_exchanges *all, const struct ft_flow *flow,
		      const struct ft_flow *answers, bool sure)
{
	uint64_t frame = frame_of(flow);
	uint64_t answered = ft_opening_frame(answers->opened);

	if (sure)
		tell_end(all, flow, answers);
	if (frame == 0 || !ft_is_whole_request(flow))
		return;
	if (sure)
		ft_loss_exchange(all->evidence, frame, answered > frame ? answered - frame : 0,
				 halves_asking(all, flow, false) > 1);
	else
		all->evidence->exchanges_alike++;
}

/* All its answers are to one request. */
static bool is_one_answer(const struct ft_flow *flow, const struct ft_lone *lone)
{
	return flow->packets <= (uint64_t)ft_psn_since(lone->to, lone->from) + 1;
}

void ft_lone_tell(struct ft_exchanges *all, const struct ft_lone *lone)
{
	const struct ft_flow *flow = ft_flow_at(all->tracker->table, lone->flow);
	uint64_t frame = frame_of(flow);
	bool beside;

	all->evidence->sided +=
		lone->answers && flow->packets >= FT_LONG_ANSWERS && !is_one_answer(flow, lone);
	if (frame == 0 || !(lone->answers ? is_one_answer(flow, lone) : ft_is_whole_request(flow)))
		return;
	beside = halves_asking(all, flow, lone->answers) > (lone->answers ? 0 : 1);
	ft_loss_lone(all->evidence, frame, lone->answers, beside);
}

void ft_behind_tell(struct ft_exchanges *all, const struct ft_lone *asks,
		    const struct ft_lone *answers)
{
	const struct ft_flow *flow = ft_flow_at(all->tracker->table, asks->flow);
	const struct ft_flow *other = ft_flow_at(all->tracker->table, answers->flow);
	uint32_t lost = ft_psn_since(answers->from, asks->to);
	uint64_t frame = ft_opening_frame(other->opened);

	ft_exchange_tell(all, flow, other, true);
	ft_loss_hole(all->evidence, frame, lost);
	all->evidence->requests_lost += lost;
	all->evidence->ahead++;
	all->totals->mirror_lost += lost;
	all->totals->lost_by_ack += lost;
	if ((flow->half.flags & FT_HALF_START_SEEN) != 0)
		return;
	ft_loss_doubt(all->evidence, frame, lost, FT_LOSS_ONSET);
	all->totals->doubted[FT_LOSS_ONSET] += lost;
}
