#pragma once

#include "suspects_ordinary.h"

/* What suspects.c, which every packet passes, and suspects_judge.c, for those that are odd, have in common. */

/*
 * A request in a frame of late, in the place of its number: more of it than fits beside its half-connection. Or a response,
 * which has a PSN of the other half's requests.
 */
struct ft_passage {
	uint32_t half; /* number of its record, and these two: */
	uint32_t psn : 24;
	uint32_t asks : 1;  /* for an acknowledgement */
	uint32_t whole : 1; /* nothing of it was cut off */
	uint32_t frame;     /* low bits of its number */
	uint32_t word; /* enum ft_recent_bits, and what was odd about it; of responses the AETH */
	uint32_t content; /* struct ft_observed */
	uint32_t shape;   /* ft_recent_shape(); of responses operation and length */
	uint32_t icrc;    /* struct ft_observed */
	uint16_t ip_id, sport;
};
static_assert(sizeof(struct ft_passage) == 32, "two in a cache line");

/* Above every record number. FT_PASSAGE_BEGINS: what passed before may be of another life. */
#define FT_PASSAGE_RESPONSE UINT32_C(0x80000000)
#define FT_PASSAGE_BEGINS   UINT32_C(0x40000000)

struct ft_passages {
	uint32_t marks[FT_SUSPECTS_PASSAGES]; /* of half and PSN: what is searched */
	struct ft_passage all[FT_SUSPECTS_PASSAGES];
};

struct ft_suspects {
	struct ft_flow_table *table;
	const struct ft_flow *records; /* the first of them .. */
	struct ft_recent *recent;      /* .. and what lies beside it */
	size_t recent_bytes;
	struct ft_passages *passages;
	struct ft_suspect_pairs *pairs;
	struct ft_datagram_senders *senders;
};

static inline struct ft_recent *ft_recent_of(const struct ft_suspects *suspects,
					     const struct ft_flow *flow)
{
	return &suspects->recent[flow - suspects->records];
}

/* `word`: as it is kept beside its half-connection. */
static inline struct ft_passage ft_passage_of(const struct ft_suspects *suspects,
					      const struct ft_flow *flow,
					      const struct ft_observed *observed, uint32_t word)
{
	return (struct ft_passage){
		.half = (uint32_t)(flow - suspects->records) + 1,
		.psn = observed->psn & FT_PSN_MOST,
		.asks = (observed->has & FT_OBSERVED_ACK_REQUEST) != 0,
		.whole = (observed->has & FT_OBSERVED_WHOLE) != 0,
		.frame = (uint32_t)observed->frame,
		.word = word,
		.content = observed->content,
		.shape = ft_recent_shape(observed),
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

static inline struct ft_passage ft_response_passage_of(const struct ft_suspects *suspects,
						       const struct ft_flow *flow,
						       const struct ft_observed *observed)
{
	bool credited = (observed->has & FT_OBSERVED_AETH) != 0;
	uint32_t aeth = credited ? (uint32_t)observed->syndrome << 24 | observed->msn : 0;
	struct ft_passage passage = ft_passage_of(suspects, flow, observed, aeth);

	passage.half |= FT_PASSAGE_RESPONSE;
	passage.shape = observed->opcode | observed->payload << 8;
	return passage;
}

static inline uint32_t ft_passage_mark(const struct ft_passage *passage)
{
	return passage->half * 0x9e3779b1u ^ passage->psn;
}

static inline void ft_passages_keep(struct ft_passages *passages, uint64_t frame,
				    const struct ft_passage *passage)
{
	passages->marks[frame % FT_SUSPECTS_PASSAGES] = ft_passage_mark(passage);
	passages->all[frame % FT_SUSPECTS_PASSAGES] = *passage;
}

/* The request of this frame, if it was kept, is the first of its half-connection, or may be of another life than before. */
static inline void ft_passages_begin(struct ft_passages *passages, uint64_t frame)
{
	struct ft_passage *passage = &passages->all[frame % FT_SUSPECTS_PASSAGES];

	if (passage->frame == (uint32_t)frame)
		passage->half |= FT_PASSAGE_BEGINS;
}

/*
 * The request, response or datagram that passed with the PSN of this one, and how many frames ago; NULL: it is not among the
 * last of the capture, which is so for any number of workers.
 */
struct ft_passed {
	const struct ft_passage *passage;
	unsigned back;
};

struct ft_passed ft_passages_find(const struct ft_passages *passages, const struct ft_passage *now);

/* Of two that are cut alike: they differ in content. */
bool ft_passage_is_unlike(const struct ft_passage *before, const struct ft_passage *now,
			  const struct ft_observed *observed);

/* Whether the half-connection of this number began anew, or may have, in the last so many frames. */
bool ft_passages_began_since(const struct ft_passages *passages, uint32_t half, uint64_t frame,
			     unsigned frames);

static inline void ft_suspects_note_passage(const struct ft_suspects *suspects,
					    const struct ft_flow *flow,
					    const struct ft_observed *observed, uint32_t word)
{
	const struct ft_passage passage = ft_passage_of(suspects, flow, observed, word);

	ft_passages_keep(suspects->passages, observed->frame, &passage);
}

static inline void ft_suspects_note_response(const struct ft_suspects *suspects,
					     const struct ft_flow *flow,
					     const struct ft_observed *observed)
{
	const struct ft_passage passage = ft_response_passage_of(suspects, flow, observed);

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
