#pragma once

#include <flow/loss.h>
#include <flow/observed.h>
#include <flow/table.h>

/*
 * Transport state of all half-connections of one engine: PSNs, messages, requests and their answers
 * (docs/transport.md; IBA vol. 1, 9.7). Tells retransmission from reordering from loss. Every PSN
 * that the transport needed and that never passed here is a `hole`; a hole is
 *   - filled late: reordered, or lost in the fabric if the receiver had asked for it again;
 *   - answered for by the receiver and never seen: lost by the mirror;
 *   - neither when the run ends: open.
 * Memory is reserved once. Copies must have been sorted out before.
 */
struct ft_tracker;

/* What a packet was, as bits. */
enum ft_step_what {
	FT_STEP_NEW = 1u << 0,           /* a request, or READ response, in the place expected */
	FT_STEP_GAP = 1u << 1,           /* new, and opened a hole before it */
	FT_STEP_RETRANSMITTED = 1u << 2, /* passed before */
	FT_STEP_REORDERED = 1u << 3,     /* filled a hole that nobody had asked for */
	/* filled a hole that the receiver had asked for: first seen when sent again */
	FT_STEP_FABRIC_LOST = 1u << 4,
	FT_STEP_ACK = 1u << 5,    /* ACKNOWLEDGE with an ACK syndrome */
	FT_STEP_NAK = 1u << 6,    /* ... with a NAK; the code is in the syndrome */
	FT_STEP_RNR = 1u << 7,    /* ... with an RNR NAK */
	FT_STEP_ANSWER = 1u << 8, /* any response: ACKNOWLEDGE, READ response, ATOMIC ACKNOWLEDGE */
	FT_STEP_CNP = 1u << 9,
	FT_STEP_MESSAGE = 1u << 10, /* completed a message: kind, message_bytes, message_flow */
	FT_STEP_OUTSIDE = 1u << 11, /* PSN outside the window of 2^16 round the expected one */
	FT_STEP_BEHIND = 1u << 12,  /* request with a PSN that was answered for before */
	FT_STEP_UNASKED =
		1u << 13, /* answers a PSN that no request seen before or after it explains, with
	                                    the half that would have asked for it in full view,
	                                    and known for sure */
	FT_STEP_RESTART = 1u << 14, /* first packet, or state begun anew after silence or set-up */
	FT_STEP_ANEW = 1u << 15, /* the first answer in a sequence that the other half began anew */
	/* Likewise retransmitted, or of a queue pair set up anew, and its message new; later one of the next two tells. */
	FT_STEP_WITHHELD = 1u << 16,
	/* all withheld of one half passed before: ft_tracker_told() */
	FT_STEP_TOLD_AGAIN = 1u << 17,
	FT_STEP_TOLD_NEW = 1u << 18, /* none of it did: likewise */
	/* with FT_STEP_RESTART: packets of the half-connection passed before, the last one longer than FT_RESUMED_NS ago */
	FT_STEP_RESUMED = 1u << 19,
};

/* Of silence, in which a queue pair may have had another peer. */
enum { FT_RESUMED_NS = 100000000 };

enum ft_message_kind {
	FT_MESSAGE_SEND,
	FT_MESSAGE_WRITE,
	FT_MESSAGE_READ,
	FT_MESSAGE_ATOMIC,
	FT_MESSAGE_KINDS
};

/* When packets that the mirror lost had been due: between these two of their half-connection. */
struct ft_step_gap {
	uint64_t from_ns, to_ns;
	uint32_t lost; /* 0: none */
};

struct ft_step {
	uint32_t what;             /* enum ft_step_what */
	uint32_t message_kind : 8; /* enum ft_message_kind, with FT_STEP_MESSAGE */
	/* PSNs of lost_flow given up now, by whom they were lost is not known */
	uint32_t open : 24;
	uint32_t message_bytes; /* or FT_LENGTH_UNKNOWN */
	uint32_t
		message_flow; /* record number of the half-connection that asked for it: this one, or for reads and
	                           atomics the peer; 0: the peer is not known */
	uint32_t mirror_lost; /* packets this one proved lost by the mirror .. */
	uint32_t lost_flow;   /* .. of the half-connection with this record number; requests */
	/* likewise READ responses and ATOMIC ACKNOWLEDGEs, lost on the half .. */
	uint32_t answers_lost;
	uint32_t answers_flow;  /* .. with this record number; 0: the peer is not known */
	struct ft_step_gap gap; /* the one with most packets of those decided now */
	uint64_t rtt_ns;        /* from a request to this answer, as seen here; 0: not measured */
};

struct ft_tracker_config {
	/* most ranges kept at once; beyond it the oldest of the same flow is given up as open */
	uint32_t spans;
	uint64_t flow_timeout_ns; /* silence after which PSNs are taken as they come */
	/*
	 * with traffic beyond it, a hole older than this was delivered, in a one-sided view, and with much traffic a
	 * response so late is lost
	 */
	uint64_t reorder_ns;
	uint64_t seed; /* of hashes; changes no result */
};
#define FT_TRACKER_DEFAULTS                                                                        \
	{                                                                                          \
		.spans = 1u << 20, .flow_timeout_ns = 300000000000u, .reorder_ns = 100000000u,     \
	}

/* What all of it came to; sums over every flow there ever was, evicted ones too. */
struct ft_tracker_totals {
	uint64_t retransmitted, reordered, fabric_lost, mirror_lost;
	uint64_t lost_by_gap; /* of mirror_lost: holes that a request sequence shows (psn-gap) */
	/* .. packets known only from answers to them or from answers due (ack-of-unseen) */
	uint64_t lost_by_ack;
	uint64_t doubted[FT_LOSS_DOUBTS]; /* of these, what ft_loss_resolve() decides about .. */
	uint64_t doubted_gaps[FT_LOSS_DOUBTS]; /* .. and of that, what is of lost_by_gap */
	uint64_t gaps_open;                    /* PSNs missing at the end, neither */
	uint64_t acks, naks, rnr_naks, cnps;
	uint64_t paired;    /* connections */
	uint64_t one_sided; /* half-connections whose reverse is missing .. */
	/* .. and others without one: of as many each way, which of which is not known */
	uint64_t unpaired;
};

/* 0, -EINVAL (spans: 0, or 2^21 and more) or -ENOMEM. `table` and `evidence`, which takes what bears on loss, must outlive it. */
int ft_tracker_create(struct ft_tracker **tracker, const struct ft_tracker_config *config,
		      struct ft_flow_table *table, struct ft_loss_evidence *evidence);

/* Frees all of it; totals and what is unsettled have to be asked for before. NULL is fine. */
void ft_tracker_destroy(struct ft_tracker *tracker);

/*
 * A packet of `flow`, no copy, its ICRC not wrong. Call it for every such packet of DestQP >= 2, in
 * capture order; CNPs too. Fills *step. Pairs halves by itself and writes flow->peer of both.
 * The caller has not yet counted the packet in `flow`: flow->last_ns is that of the packet before.
 */
void ft_tracker_step(struct ft_tracker *tracker, struct ft_flow *flow,
		     const struct ft_observed *observed, struct ft_step *step);

/* The same of a packet that the caller knows to come no later after the one before than the time-out, and not before it. */
void ft_tracker_step_on(struct ft_tracker *tracker, struct ft_flow *flow,
			const struct ft_observed *observed, struct ft_step *step);

/* Packets withheld of one half, of which a step told what they were. */
struct ft_told {
	uint32_t flow; /* number of its record */
	uint32_t packets;
};

/* Those of the newest step with FT_STEP_TOLD_AGAIN or FT_STEP_TOLD_NEW; all 0 before the first. */
struct ft_told ft_tracker_told(const struct ft_tracker *tracker);

/*
 * A packet of `flow` whose ICRC is wrong, no copy; flow->bad_icrc counts it afterwards. It moves nothing on, but where its
 * PSN is missing it is not lost.
 */
void ft_tracker_see_damaged(struct ft_tracker *tracker, const struct ft_flow *flow,
			    const struct ft_observed *observed);

/* A packet of `flow` that is taken for a copy. It may have been sent again, if few packets of the half have copies. */
void ft_tracker_see_copy(struct ft_flow *flow);

/* Bring the record that ft_tracker_step() will read beside `flow` into the cache. */
void ft_tracker_prefetch(const struct ft_tracker *tracker, const struct ft_flow *flow);

/*
 * A set-up named both halves of a connection by their addresses and queue pairs; the base of the keys is not looked at,
 * the VLAN (it may be FT_FLOW_ANY_VLAN) where several halves have these. They are joined now or when they appear. After a
 * CM handshake both begin anew, unless they were joined already; what that decides is in no step.
 */
void ft_tracker_pair(struct ft_tracker *tracker, const struct ft_flow_key *there,
		     const struct ft_flow_key *back, enum ft_paired_by by);

/*
 * The same, learnt when both halves have long been there: they are joined if both are, and neither is joined with a third
 * by anything surer than a source port. Nothing begins anew, and nothing is remembered for later halves.
 */
void ft_tracker_confirm(struct ft_tracker *tracker, const struct ft_flow_key *there,
			const struct ft_flow_key *back, enum ft_paired_by by);

/*
 * Another half-connection turned out to have its addresses and queue pair in another VLAN: what it is joined with in a VLAN
 * where it was never seen is the other one's, unless a set-up named it.
 */
void ft_tracker_tell_apart(struct ft_tracker *tracker, struct ft_flow *flow);

/* Whether a packet is what comes next in a half-connection. */
enum ft_goes_on {
	FT_GOES_ON,     /* by its PSN */
	FT_GOES_BACK,   /* or too far ahead: near it, but nobody asked for it */
	FT_GOES_ASTRAY, /* it is not, or datagrams have no order */
	FT_GOES_FIRST,  /* it is the first request, or answer: there is none to compare with */
	FT_GOES_UNSAID, /* it has no PSN that tells: CNPs */
};

/*
 * A packet in another VLAN than that of `flow`, which has its addresses and queue pair, no copy: does it go on where that
 * is? A packet sent again does only if there was a reason. `in_turns`: since the last one in this VLAN some came in that
 * of `flow`. Nothing is changed.
 */
enum ft_goes_on ft_tracker_goes_on(const struct ft_tracker *tracker, const struct ft_flow *flow,
				   const struct ft_observed *observed, bool in_turns);

/* The record is about to be evicted: add up what it leaves. */
void ft_tracker_forget(struct ft_tracker *tracker, struct ft_flow *flow);

/*
 * The totals as if the run ended here. Whether a hole was lost is told to the evidence, and in a step, only
 * when late packets have had time to come: what is still undecided is added to `evidence` (a copy; may
 * be NULL) as it is counted here. Changes nothing else.
 */
struct ft_tracker_totals ft_tracker_totals(const struct ft_tracker *tracker,
					   struct ft_loss_evidence *evidence);

/*
 * Halves that may be one connection's, on one path and the other (moved.h in the library): of what is missing of one and here of
 * the other nothing is lost.
 */
struct ft_moved;

/* NULL: no memory. */
struct ft_moved *ft_moved_create(void);

/* NULL is fine. */
void ft_moved_destroy(struct ft_moved *moved);

/*
 * What ft_tracker_totals_but() hands over is in no totals, and not in the evidence, until this adds what is left of it to both,
 * once for all trackers.
 */
void ft_moved_count(struct ft_moved *moved, struct ft_tracker_totals *totals,
		    struct ft_loss_evidence *evidence);

/* ft_tracker_totals(), but for what may have moved. */
struct ft_tracker_totals ft_tracker_totals_but(const struct ft_tracker *tracker,
					       struct ft_loss_evidence *evidence,
					       struct ft_moved *moved);

/* What is undecided of one half, if the run ended here. */
struct ft_unsettled {
	uint64_t mirror_lost; /* of this half, not yet in any step */
	uint64_t peer_lost;   /* responses of its peer, likewise */
	uint64_t open;        /* PSNs missing of this half for which nothing is known */
	uint64_t peer_open;   /* responses of its peer, likewise */
};

/* Of one record; all zero where nothing is missing. Changes nothing, and tells the evidence nothing. */
struct ft_unsettled ft_tracker_unsettled(const struct ft_tracker *tracker,
					 const struct ft_flow *flow);
