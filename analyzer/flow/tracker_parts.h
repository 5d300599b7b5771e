#pragma once

#include <stddef.h>

#include <decode/opcode.h>
#include <flow/tracker.h>

#include "damaged.h"
#include "heads.h"
#include "lonely.h"
#include "operation.h"
#include "pairs.h"
#include "psn.h"
#include "recall.h"
#include "spans.h"

/* What the files of the tracker share. */

/* Of the way of nearly every packet: a call would cost as much as what it does. */
#define FT_IN_LINE static inline __attribute__((always_inline))

enum {
	FT_SETTLE_PSNS = 64,     /* a hole is not decided before the sequence went this far on .. */
	FT_SETTLE_NS = 1000000,  /* .. and for this long: packets of two mirror ports may cross */
	FT_SILENT_NS = 10000000, /* a requester that waited this long was waiting for an answer */
	FT_OUTAGE_NS = 1000000,  /* less does not hide as many requests as the window holds */
	FT_ANEW_NS = 100000000, /* of silence, in which the queue pairs may have been set up anew */
	FT_UNMET_SPANS = 32,    /* READs remembered of a half whose peer is not known yet */
	FT_OUTSIDE_EXPECTED = 1, /* none yet, but the other side answers for another sequence */
	/* the first of a half: what is out of order there may have begun before .. */
	FT_EARLY_PACKETS = 32,
	FT_EARLY_PSNS = 64,     /* .. and so many PSNs of its requests, but for those missing */
	FT_ONSET_PACKETS = 8,   /* the very first: by so many do ways overtake each other */
	FT_LONG_PSNS = 64,      /* a hole of so many may lie between two lives of a queue pair */
	FT_WENT_ON_PSNS = 1024, /* one-sided: more than is on its way before a NAK comes back */
};

/* A response that is missing is asked for again by then: a time-out may take 4.3 s, and several follow each other. */
#define FT_ASKS_BY_NS UINT64_C(30000000000)

/* Lives that are doubted at once; of the others, the new one is believed. */
enum { FT_FORMERS = 256 };

/* What a half and its peer were in the life before. */
struct ft_former {
	struct ft_half asked;                /* with all that it awaits */
	uint32_t answered, answer_next, msn; /* of the peer */
	uint32_t flow, peer;                 /* numbers of their records; 0: of none */
	uint32_t first;                      /* PSN that the other life began with */
	uint32_t packets, late;              /* since, in their order and behind others */
};

struct ft_formers {
	struct ft_former all[FT_FORMERS];
	uint32_t next;
};

struct ft_moved_holes;

struct ft_tracker {
	struct ft_tracker_config config;
	struct ft_flow_table *table;
	struct ft_flow *records; /* of the table, side by side */
	struct ft_loss_evidence *evidence;
	struct ft_pairs *pairs;
	struct ft_spans spans;
	struct ft_damaged damaged;
	struct ft_moved_holes *moved; /* moved.h */
	struct ft_formers formers;
	struct ft_told told;             /* of the newest life that was doubted */
	struct ft_heads heads;           /* sequences of requests that began last */
	struct ft_recall again;          /* packets that were sent again */
	struct ft_lonely lonely;         /* halves that are not in the table any more */
	struct ft_tracker_totals totals; /* what is final */
	/* until then halves answered that were evicted before they met the other one */
	uint64_t forgotten_ns;
};

/* One packet on its way through the tracker. */
struct ft_moment {
	struct ft_flow *flow;
	const struct ft_observed *observed;
	const struct ft_operation *operation;
	struct ft_step *step;
};

/* What a packet that begins a sequence is. */
static inline uint32_t ft_restart_of(const struct ft_moment *moment)
{
	const struct ft_flow *flow = moment->flow;
	const uint64_t ts_ns = moment->observed->ts_ns;
	const bool is_resumed = flow->packets != 0 && ts_ns > flow->last_ns &&
				ts_ns - flow->last_ns > FT_RESUMED_NS;

	return FT_STEP_RESTART | (is_resumed ? FT_STEP_RESUMED : 0);
}

static inline struct ft_flow *ft_tracker_peer(const struct ft_tracker *tracker,
					      const struct ft_flow *flow)
{
	return flow->peer == 0 ? NULL : &tracker->records[flow->peer - 1];
}

/* ft_flow_number() without a call. */
static inline uint32_t ft_tracker_number(const struct ft_tracker *tracker,
					 const struct ft_flow *flow)
{
	return (uint32_t)(flow - tracker->records) + 1;
}

/* A response closed a space: a loss that lasts from before the first request of its requester on takes it as well. */
FT_IN_LINE void ft_tell_answer_near(struct ft_tracker *tracker, const struct ft_flow *requester,
				    uint64_t frame)
{
	uint32_t sequence = ft_tracker_number(tracker, requester);

	if (ft_heads_may_have(&tracker->heads, sequence, frame))
		ft_find_near(tracker, sequence, frame);
}

/* A READ was answered already, perhaps unseen: the first response of the other half to pass may be to it. NULL: not known. */
static inline void ft_expect_again(struct ft_flow *other, uint32_t psn)
{
	if (other != NULL && other->half.answer_next == FT_PSN_NONE)
		other->half.answer_next = psn;
}

static inline bool ft_is_acked(const struct ft_half *half, uint32_t psn)
{
	return half->acked != FT_PSN_NONE && ft_psn_distance(psn, half->acked) <= 0;
}

#define FT_REFUSED_ONCE  (UINT32_C(1) << 24) /* of half.nak_psn and half.first_psn */
#define FT_REFUSED_OFTEN (UINT32_C(8) << 24)

/* Few requests have passed since the first one seen. */
bool ft_is_young(const struct ft_tracker *tracker, struct ft_half *half);

/* Packets in view are few, and what passed before is not known: it may have been overtaken, or sent again since. */
uint8_t ft_how_early(const struct ft_tracker *tracker, struct ft_flow *flow);

/* Time from then to now; 0 if either is not known or it went backwards. */
static inline uint64_t ft_elapsed(uint64_t now_ns, uint64_t then_ns)
{
	return now_ns == UINT64_MAX || then_ns == UINT64_MAX || now_ns < then_ns ? 0
										 : now_ns - then_ns;
}

/*
 * When the request before this one was sent, or up to a moment earlier: what else the half sent since then says nothing about
 * when others were due. When the newest packet was, if that is earlier, or no request is known.
 */
static inline uint64_t ft_asked_before(const struct ft_moment *moment)
{
	const struct ft_flow *flow = moment->flow;
	uint64_t now = moment->observed->ts_ns >> FT_FLOW_MOMENT_SHIFT;
	uint64_t asked_ns = (now - ((uint32_t)now - flow->asked)) << FT_FLOW_MOMENT_SHIFT;

	return flow->asked != 0 && asked_ns < flow->last_ns ? asked_ns : flow->last_ns;
}

/* The other side is, or will be, in another sequence: the next request from outside begins it. */
static inline void ft_expect_anew(struct ft_half *half)
{
	if (half->outside == 0)
		half->outside = FT_OUTSIDE_EXPECTED;
}

/* Neither side has sent for so long. `peer`: NULL if it is not known. */
static inline bool ft_are_idle(const struct ft_moment *moment, const struct ft_flow *peer,
			       uint64_t silence_ns)
{
	uint64_t now_ns = moment->observed->ts_ns;

	return ft_elapsed(now_ns, moment->flow->last_ns) >= silence_ns &&
	       (peer == NULL || ft_elapsed(now_ns, peer->last_ns) >= silence_ns);
}

/* path_mtu.c: the payload of a First or Middle is the path MTU, that of any other is no larger. */
void ft_learn_mtu(struct ft_tracker *tracker, const struct ft_moment *moment);

/* path_mtu.c: the path MTU is known. What was reckoned with another one is no hole. */
void ft_know_mtu(struct ft_tracker *tracker, struct ft_half *half, uint16_t mtu);

/* path_mtu.c: what the other direction shows of the path MTU. */
void ft_share_mtu(struct ft_tracker *tracker, struct ft_half *half, const struct ft_half *other);

/* path_mtu.c: packets that carry `length` bytes, at least one. */
uint32_t ft_packets_of(uint32_t length, uint32_t mtu);

/* path_mtu.c: the path MTU is not smaller. */
uint32_t ft_least_mtu(const struct ft_half *half);

/* path_mtu.c: PSNs that a request uses; 0: a READ whose responses cannot be counted yet. */
uint32_t ft_psns_of(const struct ft_tracker *tracker, const struct ft_moment *moment);

/* path_mtu.c: packets that the READ sent last asks for; 0: not known. */
uint32_t ft_packets_asked(const struct ft_half *half);

/* path_mtu.c: of the READ sent last, the most PSNs up to `room` that a path MTU gives it which is not ruled out. */
uint32_t ft_span_that_fits(struct ft_half *half, uint32_t room);

/* requests.c: a request of a reliable or unreliable connection. */
void ft_request(struct ft_tracker *tracker, const struct ft_moment *moment);

/* requests.c: `count` PSNs from `from` that the peer owes responses for; `begin`: of the request. */
void ft_await(struct ft_tracker *tracker, const struct ft_moment *moment, struct ft_flow *requester,
	      uint32_t from, uint32_t count, uint32_t begin);

/* requests.c: a response showed the requests of that span, of kind FT_SPAN_IMPLIED, by mistake, if no request has since. */
void ft_retract(struct ft_tracker *tracker, struct ft_half *half, uint32_t number);

/* requests.c: a READ, ATOMIC or FLUSH where it was expected. */
void ft_ask(struct ft_tracker *tracker, const struct ft_moment *moment);

/* requests_again.c: a request behind the expected one. */
void ft_request_again(struct ft_tracker *tracker, const struct ft_moment *moment);

/* requests_again.c: a READ ends before `psn`, where a guess at the path MTU let it go on. */
void ft_end_read(struct ft_tracker *tracker, struct ft_flow *flow, uint32_t psn);

/* answers.c: the half that asked: known, or found out by this answer; NULL. */
struct ft_flow *ft_find_requester(struct ft_tracker *tracker, const struct ft_moment *moment);

/* answers.c: whether the PSN is of the sequence that the requester is in. */
bool ft_is_in_window(struct ft_tracker *tracker, const struct ft_moment *moment,
		     struct ft_flow *requester);

/* answers.c: an answer that the requester which is in view did not ask for; it may lose its peer. */
void ft_find_unasked(struct ft_tracker *tracker, const struct ft_moment *moment);

/* msn.c: `delivered`: the newest PSN that the answer says was delivered; before ft_deliver(). */
void ft_watch_msn(struct ft_tracker *tracker, const struct ft_moment *moment,
		  struct ft_flow *requester, uint32_t delivered);

/*
 * msn.c: whether a hole before this PSN may lie between two lives: long, behind a silence, and not answered for. The next answer that
 * counts messages will tell.
 */
bool ft_may_hide_life(const struct ft_tracker *tracker, const struct ft_half *half, uint32_t psn);

/*
 * msn.c: the queue pair of this half is in another life, in which its requests may be already: what may lie between the two
 * is no hole. Returns the PSN that the other life begins at; FT_PSN_NONE: nothing lay there.
 */
uint32_t ft_part_lives(struct ft_tracker *tracker, struct ft_half *half);

/* answers.c: an ACK covers the request that was timed, and is another one's. */
void ft_pass_over(const struct ft_tracker *tracker, const struct ft_half *half, uint32_t asked);

/* answers.c */
void ft_acknowledge(struct ft_tracker *tracker, const struct ft_moment *moment);

/* again.c: a packet that `sender` has sent before passes again. */
void ft_pass_again(struct ft_tracker *tracker, const struct ft_moment *moment);

/* again.c: it is the first that passes, though not the first that was sent. */
void ft_pass_instead(struct ft_tracker *tracker, const struct ft_moment *moment);

/* again.c: likewise, and it may be the first that was sent. */
void ft_pass_late(struct ft_tracker *tracker, const struct ft_moment *moment);

/* responses.c */
void ft_response(struct ft_tracker *tracker, const struct ft_moment *moment);

/* tracker_totals.c: those of the packets of a half that may be early. */
void ft_count_early(struct ft_loss_evidence *evidence, const struct ft_flow *flow);

/*
 * tracker_totals.c: whether its newest answer is a response, which none behind it would show if it were missing, and its newest
 * request one that nobody answered for.
 */
void ft_count_end(const struct ft_tracker *tracker, const struct ft_flow *flow,
		  struct ft_loss_evidence *evidence);

/* tracker_totals.c: copies that may be none. */
void ft_doubt_copies(struct ft_loss_evidence *evidence, const struct ft_flow *flow);

/* settle.c: remember a span; makes room by settling the half's oldest. */
void ft_remember(struct ft_tracker *tracker, struct ft_flow *flow, const struct ft_span *span,
		 struct ft_step *step);

/* settle.c: decide the oldest spans of a half if they are ripe; `now`: a packet that is not sent again. */
void ft_settle_ripe(struct ft_tracker *tracker, struct ft_flow *flow, const struct ft_observed *now,
		    struct ft_step *step);

/* settle.c: take `count` PSNs from psn out of a span of the half. */
void ft_settle_seen(struct ft_tracker *tracker, struct ft_flow *flow, uint32_t number, uint32_t psn,
		    uint32_t count, struct ft_step *step);

/* settle.c: decide all holes of a half as if the run ended. */
void ft_settle_holes(struct ft_tracker *tracker, struct ft_flow *flow, struct ft_step *step);

/* settle.c: decide all spans of a half as if the run ended; `step` may be NULL. */
void ft_settle_all(struct ft_tracker *tracker, struct ft_flow *flow, struct ft_step *step);

/* settle.c: likewise all but holes, and what is awaited, from that PSN on; FT_PSN_NONE: all. */
void ft_settle_before(struct ft_tracker *tracker, struct ft_flow *flow, uint32_t psn,
		      struct ft_step *step);

/* tracker.c: two halves are one connection, as is known since now_ns: what either has answered counts for the other. */
void ft_meet(struct ft_tracker *tracker, struct ft_flow *flow, struct ft_flow *peer,
	     uint64_t now_ns);

/* tracker.c: two halves turn out not to belong together: what either has answered was not for the other's requests. */
void ft_unmeet(struct ft_tracker *tracker, struct ft_half *half, struct ft_half *other);

/* tracker.c: an answer of the half is not for what its peer asked, pairs_evidence.h: it may lose its peer. */
void ft_contradict(struct ft_tracker *tracker, struct ft_flow *flow, int evidence);

/* tracker_totals.c: traffic whose reverse is missing although the transport requires one. */
bool ft_is_lonely(const struct ft_flow *flow);

/* tracker.c: both halves begin anew, but stay together; what was open is settled already, or of the other life. */
void ft_begin_lives(struct ft_half *half, struct ft_half *other);

/* tracker.c: likewise; what was open is settled. */
void ft_begin_both(struct ft_tracker *tracker, struct ft_flow *flow, struct ft_flow *peer,
		   struct ft_step *step);

/* tracker.c: the half's own requests begin anew; what was open is settled already. */
void ft_forget_requests(struct ft_half *half);

/* tracker.c: the first packet of a half, or all its transport state begins anew with this one. */
void ft_restart(struct ft_tracker *tracker, const struct ft_moment *moment);
