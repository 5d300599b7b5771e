#pragma once

#include <stdbool.h>

#include <flow/observed.h>
#include <flow/table.h>

#include "pairs_evidence.h"

/*
 * Which two half-connections are one connection. A BTH names the receiver's queue pair only, so the
 * other half is found by evidence, in bits (docs/transport.md):
 *   - an answer whose PSN the other half has just used: 24, less log2 of how far back that was;
 *   - the UDP source port that drivers derive from both queue pairs, or ports that name them: 14;
 *     another port by that rule: -14;
 *   - an answer for a PSN the other half is nowhere near: -8;
 *   - of two that are joined, an answer of another kind than what was asked for there: -16; an ACK
 *     only as long as they are not sure.
 * A half is taken when it leads every other by 20. Two that fit equally well are never guessed
 * between. Connections that began at one PSN agree without belonging together, and the right half may
 * be out of view: with PSNs below 2^18, or of which another half is close (12), a lead counts only
 * while as many halves are in view each way, unless the port tells. What set-up messages or a DETH
 * name needs no evidence.
 *
 * Only halves of the same two addresses and the same VNI are compared; of the same VLAN only where
 * several halves have the same addresses and queue pair, because a router changes it. The order in
 * which halves are compared is that of their first packets: it depends on no seed and on no other
 * address pair. Memory is reserved once, 16 bytes a record, and touched only as records come into
 * use; what one packet can cost is bounded.
 */
struct ft_pairs;

enum {
	FT_PAIR_LEAD = 20,   /* bits over every other to be taken */
	FT_PAIR_LOST = 8,    /* bits below which it is given up */
	FT_PAIR_SURE = 60,   /* bits beyond which agreement adds nothing */
	FT_PAIRS_WALK = 128, /* halves looked at for one packet */
	/* set-ups remembered until their halves appear; the oldest makes room */
	FT_PAIRS_SETUPS = 1 << 12,
};

/* 0 or -ENOMEM. `table` must outlive it; `seed` changes no result. */
int ft_pairs_create(struct ft_pairs **pairs, struct ft_flow_table *table, uint64_t seed);
void ft_pairs_destroy(struct ft_pairs *pairs); /* NULL is fine */

/*
 * The first packet of a half-connection that is not a CNP (whose source port and P_Key may be anything);
 * again after a restart, with ft_pairs_leave() before. half.service must be set. Finds the other
 * half if set-up or the DETH named it: then flow->peer is set on return.
 */
void ft_pairs_enter(struct ft_pairs *pairs, struct ft_flow *flow,
		    const struct ft_observed *observed);

/* The record is about to be evicted or begun anew: unlinks it from its peer too. Not entered is fine. */
void ft_pairs_leave(struct ft_pairs *pairs, struct ft_flow *flow);

/* Whether ft_pairs_answer() has anything to find out about this half. */
static inline bool ft_pairs_unsure(const struct ft_flow *flow)
{
	return flow->half.pair_bits < FT_PAIR_SURE;
}

/*
 * While ft_pairs_unsure(): the half answered for observed->psn. READ responses: the First or Only
 * suffices. Call it before the answer is applied to the peer and before half.answered is moved on.
 * Returns the half that asked, or NULL if it is not known (yet).
 */
struct ft_flow *ft_pairs_answer(struct ft_pairs *pairs, struct ft_flow *flow,
				const struct ft_observed *observed);

/*
 * The half has a peer, is ft_pairs_unsure(), and answers for a PSN behind all that it answered for and no farther than its
 * peer has asked: whether ft_pairs_answer() would do no more than ft_pairs_agree(). What may be chance, or a pair by its
 * source port alone, is weighed.
 */
static inline bool ft_pairs_are_agreed(const struct ft_flow *flow, uint32_t psn)
{
	return psn >= FT_EVIDENCE_YOUNG && flow->half.paired_by != FT_PAIRED_SOURCE_PORT;
}

/* Of both halves. */
static inline void ft_pairs_agree(struct ft_half *one, struct ft_half *other)
{
	int bits = one->pair_bits + FT_EVIDENCE_AGREEMENT;

	one->pair_bits = other->pair_bits = (uint8_t)(bits < FT_PAIR_SURE ? bits : FT_PAIR_SURE);
}

/* The half sent a request. Once flow->peer is set it need not be called. Cheap: looks only now and then. */
void ft_pairs_request(struct ft_pairs *pairs, struct ft_flow *flow);

/* An answer of this half is one its peer cannot have asked for: takes `evidence` away, which is negative; may unpair. */
void ft_pairs_contradict(struct ft_pairs *pairs, struct ft_flow *flow, int evidence);

/* The half answers, and nothing in view has asked for it, as it last looked. */
bool ft_pairs_is_unlike(const struct ft_pairs *pairs, const struct ft_flow *flow);

/* UDP source port that its first packet came from; 0: of none. */
uint16_t ft_pairs_port(const struct ft_pairs *pairs, const struct ft_flow *flow);

/* It is joined with the wrong one: both are on their own again, and look at once. Without a peer: nothing. */
void ft_pairs_mistook(struct ft_pairs *pairs, struct ft_flow *flow);

/* Set-up named both queue pairs: see ft_tracker_pair(). P_Key base of the keys is ignored. */
void ft_pairs_learn(struct ft_pairs *pairs, const struct ft_flow_key *there,
		    const struct ft_flow_key *back, enum ft_paired_by by);

/*
 * Two halves that have long been there belong together: see ft_tracker_confirm(). True if they are joined now and were
 * not before.
 */
bool ft_pairs_confirm(struct ft_pairs *pairs, struct ft_flow *one, struct ft_flow *other,
		      enum ft_paired_by by);
