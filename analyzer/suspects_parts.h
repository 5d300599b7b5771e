#pragma once

#include "suspects.h"

/*
 * The parts of suspects.c: what a sender looks like, which requests passed last, and what happens
 * between two addresses.
 */

enum ft_suspects_limit {
	FT_SUSPECTS_LEARNT = 8,        /* packets before anything is held against another one */
	FT_SUSPECTS_SEEN = 15,         /* requests counted of a half-connection */
	FT_SUSPECTS_MOMENT_SHIFT = 20, /* ns to moments */
	FT_SUSPECTS_LONG_AGO = 10000,  /* moments: PSNs that far apart are not compared */
	FT_SUSPECTS_KEPT = 5,          /* requests kept of a half-connection */
};

/* No connection is set up anew on the same queue pairs faster; after it, another look is taken for another's. */
#define FT_SUSPECTS_PAUSE_NS UINT64_C(10000000)

/* Flags in ft_sender_look.style, beside the style of the IP identification in the low bits. */
enum ft_look_style {
	FT_LOOK_ID_SCORE = 0x07,    /* packets in a row that fitted the style, up to 7 */
	FT_LOOK_ID_CONSTANT = 0x08, /* the style is "always the same", else "counting up" */
	FT_LOOK_ANSWERS = 0x40,     /* learnt from answers: no request was seen so far */
	FT_LOOK_MET = 0x80,         /* the record's recent requests are its own */
};

/*
 * The last requests of a half-connection, in turn. Exact, although only the low bits of their PSNs
 * are kept: what is 4096 or more behind the newest is neither asked for nor kept.
 */
struct ft_recent {
	uint32_t requests[FT_SUSPECTS_KEPT]; /* enum ft_recent_bits; 0: none */
	uint32_t moment;                     /* of the request before, in units of 2^20 ns */
	uint32_t newest_psn;                 /* 24-bit */
	uint8_t newest_place;
	uint8_t seen; /* requests since the state was begun, up to FT_SUSPECTS_SEEN */
	bool beyond;  /* went back to before the oldest kept, until the next new request */
	uint8_t spare;
};
static_assert(sizeof(struct ft_recent) == 32, "two half-connections share a cache line");

/* What the look of a packet says. */
struct ft_look_verdict {
	uint32_t
		strange; /* enum ft_strange; 0 also for what a router does when it sends a packet on */
	bool foreign;    /* in ways that no path and no setting explains */
	bool varies;     /* in a way worth a note */
};

/* Start over: the next packet is the first. */
void ft_look_forget(struct ft_sender_look *look);

struct ft_look_question {
	bool answer;     /* requests and answers are not compared with one another */
	uint32_t beside; /* enum ft_strange: what is odd about the packet besides its look */
	uint64_t since_packet_ns; /* since the packet before on this half-connection */
	uint64_t since_alike_ns;  /* since the request before, or for an answer the answer */
};

/*
 * Compare a packet of a connected service with its half-connection's look and learn from it. *usual:
 * the look it was compared with.
 */
struct ft_look_verdict ft_look_step(struct ft_sender_look *look, const struct ft_observed *observed,
				    const struct ft_look_question *question,
				    struct ft_sender_look *usual);

/* The look of one packet. */
struct ft_sender_look ft_look_of(const struct ft_observed *observed);

/* Two requests under one PSN. */
enum ft_conflict {
	FT_CONFLICT_NONE,
	FT_CONFLICT_PAYLOAD, /* alike but for the payload: memory may have changed meanwhile */
	FT_CONFLICT_REQUEST, /* another operation, or aimed elsewhere */
	FT_CONFLICT_GRAVE,   /* different, and one of the two does not look like the sender */
	FT_CONFLICT_KNOWN,   /* different, and this is the sender's: the other one was reported */
};

/* What is known of a request besides its content. */
struct ft_request_looks {
	bool strange;  /* in two traits at least it does not look like the connection's sender */
	bool reported; /* and was reported for that */
	bool paused;   /* long enough before it for a connection to be set up anew */
	bool prompt; /* too soon after the packet before it for a timeout, and nobody asked for it again */
};

/* A request against those that passed. */
enum ft_conflict ft_recent_step(struct ft_recent *recent, const struct ft_observed *observed,
				const struct ft_request_looks *looks);

/* --- between two addresses --- */

struct ft_suspect_pairs;

int ft_suspect_pairs_create(struct ft_suspect_pairs **pairs);
void ft_suspect_pairs_destroy(struct ft_suspect_pairs *pairs);

/* A remote access error for request `observed->psn`. Errors in the burst it belongs to; 0: no burst. */
uint32_t ft_suspect_pairs_refused(struct ft_suspect_pairs *pairs, const struct ft_flow *flow,
				  const struct ft_observed *observed, uint32_t half,
				  bool young_connection);

/*
 * The first packet of a half-connection; `probe`: a request that begins a message of a connection
 * whose set-up was not seen. Queue pairs searched so far if this is a search; 0: no search.
 */
uint32_t ft_suspect_pairs_begun(struct ft_suspect_pairs *pairs, const struct ft_flow *flow,
				const struct ft_observed *observed, bool probe);

/* The second request of a half-connection: it is used, not searched for. */
void ft_suspect_pairs_used(struct ft_suspect_pairs *pairs, const struct ft_flow *flow,
			   const struct ft_observed *observed);
