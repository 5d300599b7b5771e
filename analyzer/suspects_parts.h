#pragma once

#include "suspects.h"

/*
 * The parts of suspects.c: what a sender looks like, which requests passed last, and what happens
 * between two addresses.
 */

enum ft_suspects_limit {
	FT_SUSPECTS_LEARNT = 8, /* packets before anything is held against another one */
	FT_SUSPECTS_MOMENT_SHIFT = FT_FLOW_MOMENT_SHIFT,
	FT_SUSPECTS_LONG_AGO = 10000, /* moments: PSNs that far apart are not compared */
	FT_SUSPECTS_KEPT = 3,         /* requests kept of a half-connection */
	FT_SUSPECTS_SEARCH = 32,      /* queue pairs searched within a second */
	/* queue pairs searched, if the other direction may not be mirrored at all */
	FT_SUSPECTS_SEARCH_UNSEEN = 512,
};

/* No connection is set up anew on the same queue pairs faster; after it, another look is taken for another's. */
#define FT_SUSPECTS_PAUSE_NS UINT64_C(10000000)

static inline uint32_t ft_suspects_moment(uint64_t ts_ns)
{
	return (uint32_t)(ts_ns >> FT_SUSPECTS_MOMENT_SHIFT);
}

/* ft_sender_look.style; nearly always it is FT_LOOK_SETTLED, or that without its first bit. */
enum ft_look_style {
	/* the IP identification is always the same, else it counts up */
	FT_LOOK_ID_CONSTANT = 0x01,
	FT_LOOK_ID_FITS = 0x02,   /* one packet more that fitted this .. */
	FT_LOOK_ID_SCORE = 0x0e,  /* .. in a row, up to 7 */
	FT_LOOK_STRANGER = 0x10,  /* one strange packet .. */
	FT_LOOK_PATIENCE = 0x30,  /* .. of those in a row that do not make the look yet */
	FT_LOOK_MET = 0x40,       /* learnt, and the record's recent requests are its own */
	FT_LOOK_REQUESTS = 0x80,  /* learnt from requests; else only answers were seen so far */
	FT_LOOK_DATAGRAMS = 0x01, /* alone: nothing is learnt, but datagrams come here */
	FT_LOOK_SETTLED = 0xff,
	FT_LOOK_SETTLED_ANSWERS = FT_LOOK_SETTLED & ~FT_LOOK_REQUESTS,
};

/* Below the PSN in ft_recent.newest. */
enum ft_recent_state {
	FT_RECENT_SEEN = 0x0f, /* requests since the state was begun, up to 15 */
	/* went back to before the oldest kept, until the next new request */
	FT_RECENT_BEYOND = 0x10,
	FT_RECENT_NOTHING = 0x20,     /* none is kept, and the PSN means nothing */
	FT_RECENT_PROBE = 0x40,       /* the first one counts as a probe until the second */
	FT_RECENT_OWN_ANSWERS = 0x80, /* answers do not look like requests: they are not compared */
	FT_RECENT_STATE = 0xff,
	FT_RECENT_PSN_SHIFT = 8,
};

/*
 * The last requests of a half-connection. Exact, although only the low bits of their PSNs
 * are kept: what is 4096 or more behind the newest is neither asked for nor kept.
 */
struct ft_recent {
	union {
		/* enum ft_recent_bits, the newest first; 0: none */
		uint32_t requests[FT_SUSPECTS_KEPT];
		uint32_t qkeys[FT_SUSPECTS_KEPT]; /* of datagrams: different ones, likewise */
	};
	uint32_t newest; /* its PSN, above enum ft_recent_state */
};
static_assert(sizeof(struct ft_recent) == 16, "four half-connections share a cache line");

/* What the look of a packet says. */
struct ft_look_verdict {
	/* enum ft_strange; 0 also for what a router does when it sends a packet on */
	uint32_t strange;
	bool foreign;     /* in ways that no path and no setting explains */
	bool varies;      /* in a way worth a note */
	bool own_answers; /* from the first on, answers do not look like requests */
};

struct ft_look_question {
	bool answer;      /* requests and answers are not compared with one another */
	bool own_answers; /* which do not look like requests, as the verdict said before */
	bool late;        /* what was sent behind it has passed */
	uint32_t beside;  /* enum ft_strange: what is odd about the packet besides its look */
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

/* --- of any packet, against a look that is settled --- */

/* enum ft_strange: its traits, and an identification that the sender would not have used so soon. */
uint32_t ft_look_differences(const struct ft_sender_look *look, const struct ft_observed *observed,
			     uint64_t since_ns);

/* The value a TTL started from: systems begin with 64, 128 or 255. */
unsigned ft_look_ttl_origin(uint8_t ttl);

/*
 * An identification that the sender's counter had passed: of a packet that others overtook; or that the other kind, requests
 * or answers, may have overtaken.
 */
bool ft_look_id_may_lag(const struct ft_sender_look *look, uint16_t ip_id, bool late);

/* `strange` is what a router makes of a packet that it sends on. */
bool ft_look_is_hop(uint32_t strange, const struct ft_sender_look *look,
		    const struct ft_observed *observed, bool late);

/* Two requests under one PSN. */
enum ft_conflict {
	FT_CONFLICT_NONE,
	FT_CONFLICT_PAYLOAD, /* alike but for the payload: memory may have changed meanwhile */
	FT_CONFLICT_REQUEST, /* another operation, or aimed elsewhere */
	FT_CONFLICT_GRAVE,   /* different, and one of the two does not look like the sender */
	FT_CONFLICT_KNOWN,   /* different, and this is the sender's: the other one was reported */
};

/* Of two requests in conflict, which may each be `strange`. */
static inline enum ft_forged ft_forged_of(bool earlier_strange, bool later_strange)
{
	if (later_strange) /* whatever was held against the earlier one when it passed */
		return FT_FORGED_LATER;
	return earlier_strange ? FT_FORGED_EARLIER : FT_FORGED_EITHER;
}

/* What is known of a request besides its content. */
struct ft_request_looks {
	bool strange;  /* in two traits at least it does not look like the connection's sender */
	bool reported; /* and was reported for that */
	bool paused;   /* long enough before it for a connection to be set up anew */
	bool prompt; /* too soon after the packet before it for a timeout, and nobody asked for it again */
	bool again;        /* passed before, or is part of a READ that did */
	uint32_t mtu;      /* of the path; 0: not known */
	uint32_t next_psn; /* of the half-connection */
	/* enum ft_recent_bits, of the one that passed of late under its PSN; 0: none did */
	uint32_t before;
	uint32_t unlike; /* likewise: in these it is known to differ from that one */
};

/* A request with this PSN is among those kept. */
bool ft_recent_has(const struct ft_recent *recent, uint32_t psn);

/* How it is kept: enum ft_recent_bits. */
uint32_t ft_recent_word_of(const struct ft_observed *observed,
			   const struct ft_request_looks *looks);

/* Too long ago: what was kept is compared with nothing. */
void ft_recent_forget(struct ft_recent *recent);

/* A request against those that passed. */
enum ft_conflict ft_recent_step(struct ft_recent *recent, const struct ft_observed *observed,
				const struct ft_request_looks *looks);

/* --- between two addresses --- */

struct ft_suspect_pairs;

int ft_suspect_pairs_create(struct ft_suspect_pairs **pairs);
void ft_suspect_pairs_destroy(struct ft_suspect_pairs *pairs);

/* A half-connection with this key, whose first packet this is, is wanted soon. */
void ft_suspect_pairs_prefetch(struct ft_suspect_pairs *pairs, const struct ft_flow_key *key,
			       const struct ft_observed *observed);

/*
 * A remote access error for request `observed->psn`. Errors in the burst it belongs to, or, with *slow, in a series of many
 * in which time passes between them; 0: neither.
 */
uint32_t ft_suspect_pairs_refused(struct ft_suspect_pairs *pairs, const struct ft_flow *flow,
				  const struct ft_observed *observed, uint32_t half,
				  bool young_connection, bool *slow);

/* Of a request: it is the first or the only packet of its message. */
bool ft_suspects_begins_message(uint8_t opcode);

/*
 * The first packet of a half-connection; `probe`: a request that begins a message of a connection
 * whose set-up was not seen. Queue pairs searched so far if this is a search; 0: no search. *unseen: the other side began
 * nothing.
 */
uint32_t ft_suspect_pairs_begun(struct ft_suspect_pairs *pairs, const struct ft_flow *flow,
				const struct ft_observed *observed, bool probe, bool *unseen);

/* The second request of a half-connection: it is used, not searched for. */
void ft_suspect_pairs_used(struct ft_suspect_pairs *pairs, const struct ft_flow *flow,
			   const struct ft_observed *observed);

/* --- datagrams --- */

/* Their senders: a source queue pair of one address each, as seen by one other address. */
struct ft_datagram_senders;

int ft_datagram_senders_create(struct ft_datagram_senders **senders);
void ft_datagram_senders_destroy(struct ft_datagram_senders *senders);

/* What a datagram says of its sender. */
struct ft_sender_verdict {
	uint32_t strange; /* enum ft_strange */
	bool first;       /* of this sender, as far as is known */
	bool foreign;     /* another sender's */
	bool astray;      /* numbered as none of the sender's, and nothing else is sure */
	bool comparable;  /* what passed under its PSN was of the same life of the queue pair */
	struct ft_sender_look usual;
	uint32_t expected_psn;
	uint16_t usual_base;
};

/* A datagram with a time, to this half-connection: compared with those of its sender before it, and learnt. */
struct ft_sender_verdict ft_datagram_senders_step(struct ft_datagram_senders *senders,
						  const struct ft_flow_key *key,
						  const struct ft_observed *observed);

#define FT_ANY_QP UINT32_C(0x1000000) /* above all 24-bit numbers */

/* This queue pair sent something in the direction of this key, in any VLAN. */
bool ft_datagram_senders_know(struct ft_datagram_senders *senders, const struct ft_flow_key *key,
			      uint32_t source_qp);
