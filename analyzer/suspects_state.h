#pragma once

#include <flow/reserve.h>

#include "suspects_ordinary.h"
#include "suspects_passages.h"
#include "suspects_refusals.h"

/* What suspects.c, which every packet passes, and suspects_judge.c, for those that are odd, have in common. */

struct ft_suspects {
	struct ft_flow_table *table;
	const struct ft_flow *records; /* the first of them .. */
	struct ft_recent *recent;      /* .. and what lies beside it */
	struct ft_growth growth;       /* of those */
	struct ft_passages *passages;
	struct ft_suspect_pairs *pairs;
	struct ft_datagram_senders *senders;
	struct ft_refusals refusals;
};

/* ft_flow_number() without a call. */
static inline uint32_t ft_suspects_number(const struct ft_suspects *suspects,
					  const struct ft_flow *flow)
{
	return (uint32_t)(flow - suspects->records) + 1;
}

static inline struct ft_recent *ft_recent_of(const struct ft_suspects *suspects,
					     const struct ft_flow *flow)
{
	return &suspects->recent[flow - suspects->records];
}

/* `print`: its word as it is kept beside its half-connection. */
static inline struct ft_passage ft_passage_of(uint32_t half, const struct ft_observed *observed,
					      const struct ft_request_print *print)
{
	return (struct ft_passage){
		.half = half,
		.psn = (observed->psn & FT_PSN_MOST) |
		       (observed->has << FT_PASSAGE_ASKS_SHIFT & FT_PASSAGE_ASKS) |
		       (observed->has << FT_PASSAGE_WHOLE_SHIFT & FT_PASSAGE_WHOLE),
		.frame = (uint32_t)observed->frame,
		.word = print->word,
		.content = observed->content,
		.shape = print->shape,
		.icrc = observed->icrc,
		.ip_id = observed->ip_id,
		.sport = observed->sport,
	};
}

/* A READ response or ATOMIC ACKNOWLEDGE, of a transport that binds a queue pair. */
static inline bool ft_is_response(uint8_t opcode)
{
	const uint32_t responses = 0xfu << 0x0d | 1u << 0x12;

	return (responses >> (opcode & 0x1f) & 1) != 0;
}

static inline struct ft_passage ft_response_passage_of(uint32_t half,
						       const struct ft_observed *observed)
{
	bool credited = (observed->has & FT_OBSERVED_AETH) != 0;
	const struct ft_request_print print = {
		.shape = observed->opcode | observed->payload << 8,
		.word = credited ? (uint32_t)observed->syndrome << 24 | observed->msn : 0,
	};

	return ft_passage_of(half | FT_PASSAGE_RESPONSE, observed, &print);
}

/* `half`: number of its record. */
static inline void ft_suspects_note_passage(const struct ft_suspects *suspects, uint32_t half,
					    const struct ft_observed *observed,
					    const struct ft_request_print *print)
{
	const struct ft_passage passage = ft_passage_of(half, observed, print);

	ft_passages_keep(suspects->passages, observed->frame, &passage);
}

static inline void ft_suspects_note_response(const struct ft_suspects *suspects, uint32_t half,
					     const struct ft_observed *observed)
{
	const struct ft_passage passage = ft_response_passage_of(half, observed);

	ft_passages_keep(suspects->passages, observed->frame, &passage);
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

/* All but what is held against it. */
static inline void ft_suspicion_write(struct ft_suspicion *suspicion, const struct ft_flow *flow,
				      const struct ft_observed *observed,
				      const struct ft_sender_look *usual, uint32_t expected_psn)
{
	suspicion->frame = observed->frame;
	suspicion->opcode = observed->opcode;
	suspicion->psn = observed->psn;
	suspicion->expected_psn = expected_psn;
	suspicion->usual = *usual;
	suspicion->seen = ft_look_of(observed);
	suspicion->pkey = observed->pkey;
	suspicion->usual_base = flow->first_base;
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

/* A datagram: it belongs to no connection, and is held against its sender and against others to its queue pair. */
void ft_suspects_judge_datagram(struct ft_suspects *suspects, struct ft_flow *flow,
				const struct ft_observed *observed, const struct ft_step *step,
				struct ft_suspicion *suspicion);
