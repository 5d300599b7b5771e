#pragma once

#include "suspects_ordinary.h"

/* What suspects.c, which every packet passes, and suspects_judge.c, for those that are odd, have in common. */

/* The request in a frame of late, in the place of its number: more of it than fits beside its half-connection. */
struct ft_passage {
	uint32_t half, psn;
	uint32_t frame;        /* low bits of its number */
	uint32_t has, content; /* struct ft_observed */
	uint32_t shape;        /* ft_recent_shape() */
};

struct ft_suspects {
	struct ft_flow_table *table;
	const struct ft_flow *records; /* the first of them .. */
	struct ft_recent *recent;      /* .. and what lies beside it */
	size_t recent_bytes;
	struct ft_passage *passages;
	struct ft_suspect_pairs *pairs;
};

static inline struct ft_recent *ft_recent_of(const struct ft_suspects *suspects,
					     const struct ft_flow *flow)
{
	return &suspects->recent[flow - suspects->records];
}

static inline struct ft_passage ft_passage_of(const struct ft_suspects *suspects,
					      const struct ft_flow *flow,
					      const struct ft_observed *observed)
{
	return (struct ft_passage){
		.half = (uint32_t)(flow - suspects->records),
		.psn = observed->psn,
		.frame = (uint32_t)observed->frame,
		.has = observed->has,
		.content = observed->content,
		.shape = ft_recent_shape(observed),
	};
}

static inline void ft_suspects_note_passage(const struct ft_suspects *suspects,
					    const struct ft_flow *flow,
					    const struct ft_observed *observed)
{
	suspects->passages[observed->frame % FT_SUSPECTS_PASSAGES] =
		ft_passage_of(suspects, flow, observed);
}

/* The second request: the queue pair is used, not searched for. */
static inline void ft_suspects_note_use(const struct ft_suspects *suspects,
					const struct ft_flow *flow, struct ft_recent *recent,
					const struct ft_observed *observed)
{
	if ((recent->newest & FT_RECENT_PROBE) == 0 || (recent->newest & FT_RECENT_SEEN) == 0)
		return;
	recent->newest &= ~(uint32_t)FT_RECENT_PROBE;
	ft_suspect_pairs_used(suspects->pairs, flow, observed);
}

static inline void ft_suspicion_hold(struct ft_suspicion *suspicion, enum ft_rule rule)
{
	suspicion->rules |= 1u << rule;
}

/*
 * A packet that is new, or not as the others of its sender: compared with them, and learnt. Adds to *suspicion, whose
 * `rules`, `count` and `unseen` say already whether it begins what looks like a search for queue pairs; the rest is
 * filled.
 */
void ft_suspects_judge(struct ft_suspects *suspects, struct ft_flow *flow,
		       const struct ft_observed *observed, const struct ft_step *step,
		       struct ft_suspicion *suspicion);
