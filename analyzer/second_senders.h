#pragma once

#include "worker.h"

/*
 * spoof.second-sender: a queue pair of a reliable connection has one peer. Who else sends requests to it, from another
 * address and while the connection goes on, and gets no answer, is none of it. spoof.cnp-unsolicited: likewise who sends
 * CNPs to it and nothing else, since nothing of it can have come there marked. Looked for among the half-connections that
 * there are when a report is made.
 */
enum {
	FT_SECOND_SENDERS = 256, /* most that are told of */
	FT_SECOND_CNPS = 16,     /* fewer are no attack */
};

struct ft_second_sender {
	const struct ft_flow *flow, *owner; /* what it sent, and what the peer did */
	struct ft_first first;              /* its first request */
	struct ft_frame frame;              /* likewise; no bytes: it was not kept */
	bool cnps;                          /* it sent these; else requests */
	bool plausible; /* of requests: their PSNs are where the connection's are, so they are no leftover of an earlier one */
};

/* Fills `found`, in the order of their first requests; returns how many. Ends the program when memory ends. */
size_t ft_second_senders(struct ft_worker *const *workers, unsigned count,
			 struct ft_second_sender found[FT_SECOND_SENDERS]);
