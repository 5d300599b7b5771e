#pragma once

#include "suspects_parts.h"

/*
 * NAKs that end a connection: an invalid request, a remote access or operational error. Who sends one is in the error state from
 * then on and acknowledges nothing more (IBA vol. 1, 9.9.3).
 */
enum {
	FT_REFUSALS = 16, /* the newest are remembered */
	FT_REFUSALS_PSNS =
		1024, /* farther behind it, what is acknowledged may be of another life of the queue pair */
};

struct ft_refusal {
	uint64_t frame, ts_ns; /* of the NAK; frame 0: none */
	uint32_t flow;         /* number of the record of the half-connection that it was sent on */
	uint32_t psn;          /* of the request */
};

struct ft_refusals {
	struct ft_refusal newest[FT_REFUSALS]; /* a ring */
	uint32_t next;
	uint64_t until_ns; /* later than this none of them counts */
};

/* A NAK of the half-connection `flow`: remembered, if it is one of these. */
void ft_refusals_see(struct ft_refusals *refusals, uint32_t flow,
		     const struct ft_observed *observed);

/* The record is another half-connection's, or its queue pair in another life. */
void ft_refusals_forget(struct ft_refusals *refusals, uint32_t flow);

/*
 * An ACK of the half-connection: the NAK that had refused what it acknowledges, or what came before that, no more than
 * FT_SUSPECTS_PAUSE_NS ago; `frame` 0: there was none. A NAK is told of once.
 */
struct ft_refusal ft_refusals_outlived(struct ft_refusals *refusals, uint32_t flow,
				       const struct ft_observed *observed);
