#pragma once

#include <flow/observed.h>
#include <flow/table.h>
#include <flow/tracker.h>

/*
 * The spoof.* rules that look at how a connection behaves: a second sender inside it, answers nobody
 * asked for, bursts of access errors, scans. Loss and copies never make one: what a gap in the mirror
 * could explain is no indicator. Memory is taken once.
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
};

/* What is held against a packet; `rules` 0: nothing. */
struct ft_suspicion {
	uint32_t rules;              /* bit per enum ft_rule */
	uint32_t strange;            /* enum ft_strange */
	struct ft_sender_look usual; /* what the half-connection showed before */
	uint32_t count;              /* of errors or queue pairs, for bursts and scans */
};

int ft_suspects_create(struct ft_suspects **suspects, struct ft_flow_table *table, uint64_t seed);
void ft_suspects_destroy(struct ft_suspects *suspects); /* NULL is fine */

/*
 * A packet that is no copy, after ft_tracker_step(). Packets of one address pair in capture order.
 * Learns what the sender looks like and fills *suspicion.
 */
void ft_suspects_step(struct ft_suspects *suspects, struct ft_flow *flow,
		      const struct ft_observed *observed, const struct ft_step *step,
		      struct ft_suspicion *suspicion);
