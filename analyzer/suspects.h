#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <flow/observed.h>
#include <flow/table.h>
#include <flow/tracker.h>
#include <partition/check.h>

/*
 * The spoof.* rules that look at how a connection behaves: a second sender inside it, answers nobody
 * asked for, bursts of access errors, scans. Loss and copies never make one: what a gap in the mirror
 * could explain is no indicator. What is remembered per half-connection are 16 bytes beside its
 * record, per address pair a record of a bounded table. Memory is taken once.
 */
struct ft_suspects;

/* In which way a packet does not fit what its half-connection showed before, as bits. */
enum ft_strange {
	FT_STRANGE_MAC = 1u << 0,
	FT_STRANGE_TTL = 1u << 1,
	FT_STRANGE_DSCP = 1u << 2,
	FT_STRANGE_PORT = 1u << 3,
	FT_STRANGE_IP_ID = 1u << 4,
	FT_STRANGE_PKEY = 1u << 5,
	FT_STRANGE_CONTENT = 1u << 6, /* other content under a PSN that has passed */
	FT_STRANGE_PSN = 1u << 7,     /* far from what the connection expects */
	FT_STRANGE_UNASKED = 1u << 8, /* answers what was not asked */
	FT_STRANGE_REFUSED = 1u << 9, /* acknowledges what a NAK had refused for good */
};

/* Frames before a packet among which the other of two requests under its PSN is looked for: 36 KiB, of which 4 are searched. */
enum { FT_SUSPECTS_PASSAGES = 1 << 10 };

/* Of two requests under one PSN: which does not look like the sender's. */
enum ft_forged {
	FT_FORGED_EITHER, /* both do */
	FT_FORGED_LATER,
	FT_FORGED_EARLIER,
};

/* What is held against a packet. With `rules` 0, nothing is, and the rest is not set. */
struct ft_suspicion {
	uint32_t rules;   /* bit per enum ft_rule */
	uint32_t strange; /* enum ft_strange */
	bool grave; /* spoof.psn-conflict: one of the two looks like another sender's: high .. */
	enum ft_forged forged; /* .. and which one */
	bool slow;             /* spoof.access-errors: a series, not a burst */
	bool unseen; /* spoof.qp-scan: nothing that the other side sends is in view: searches.h */
	uint8_t opcode;
	uint32_t psn, expected_psn; /* expected: FT_PSN_NONE, not known */
	uint32_t count;             /* of errors or queue pairs, for bursts and scans */
	uint32_t qkeys;             /* likewise of Q_Keys, for guesses */
	uint64_t frame;             /* number of the packet's frame */
	/* FT_STRANGE_CONTENT: the frame of the other one, 0: not of late; FT_STRANGE_REFUSED: of the NAK .. */
	uint64_t passed;
	uint64_t passed_ns;                /* .. and its time */
	struct ft_sender_look usual, seen; /* what the half-connection showed before, and now */
	uint16_t pkey, usual_base;
};

/* 0 or -ENOMEM. `table` must outlive it. */
int ft_suspects_create(struct ft_suspects **suspects, struct ft_flow_table *table);
void ft_suspects_destroy(struct ft_suspects *suspects); /* NULL is fine */

/* Bring what ft_suspects_step() will read beside `flow` into the cache. */
void ft_suspects_prefetch(const struct ft_suspects *suspects, const struct ft_flow *flow);

/* Likewise for the first packet of a half-connection. */
void ft_suspects_prefetch_new(const struct ft_suspects *suspects, const struct ft_flow_key *key,
			      const struct ft_observed *observed);

/*
 * A packet that is no copy, after ft_tracker_step() and before it is counted in `flow` (flow->last_ns
 * is the time of the packet before). Packets of one address pair in capture order. Learns what
 * the sender looks like, in flow->look, and fills *suspicion.
 */
void ft_suspects_step(struct ft_suspects *suspects, struct ft_flow *flow,
		      const struct ft_observed *observed, const struct ft_step *step,
		      struct ft_suspicion *suspicion);

/*
 * Likewise of one that may be another connection's: its sender is judged and learnt, and it is no other packet's evidence.
 */
void ft_suspects_look_on(struct ft_suspects *suspects, struct ft_flow *flow,
			 const struct ft_observed *observed, const struct ft_step *step,
			 struct ft_suspicion *suspicion);

/* The newest requests of a half-connection: analyzer/suspects_parts.h. */
const struct ft_recent *ft_suspects_recent(const struct ft_suspects *suspects,
					   const struct ft_flow *flow);

/* Those that are sure when the packet passes. */
static inline uint32_t ft_suspicion_sure(const struct ft_suspicion *suspicion)
{
	return suspicion->rules & ~((uint32_t)suspicion->unseen << FT_RULE_SPOOF_QP_SCAN);
}

/* The evidence in one sentence, ended by a NUL in at most `room` bytes (FT_SUSPICION_TEXT are enough). */
enum { FT_SUSPICION_TEXT = 400 };
void ft_suspicion_text(const struct ft_suspicion *suspicion, char *text, size_t room);
