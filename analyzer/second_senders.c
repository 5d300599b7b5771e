#include "second_senders.h"

#include <stdlib.h>
#include <string.h>

#include <capture/frame.h>
#include <decode/opcode.h>
#include <decode/psn.h>
#include <engine/no_memory.h>
#include <flow/hash.h>

#include "suspects_parts.h"

enum {
	BUSY_PACKETS = 16, /* of a connection that is more than begun */
	WINDOW = 1 << 16,  /* PSNs round those of the connection that may be meant for it */
	TELLING = 1 << 21, /* a connection that used more may be hit by any PSN */
};

/* Who asked, and nobody answered; or sent CNPs. */
struct stranger {
	uint64_t target;
	const struct ft_flow *flow;
	const struct ft_worker *worker;
	const struct ft_first *first;
	bool cnps;
};

struct search {
	struct ft_worker *const *workers;
	unsigned worker_count;
	struct stranger *strangers; /* open addressing by target; no flow: empty */
	size_t mask, stranger_count;
	const struct ft_worker *worker; /* whose records are visited */
	struct ft_second_sender *found;
	size_t count;
};

/* A connection, and who follows it. */
struct owner {
	const struct ft_flow *flow;
	const struct ft_worker *worker;
};

/* The queue pair that is sent to. */
static uint64_t target_of(const struct ft_flow_key *key)
{
	uint64_t dst[2];

	memcpy(dst, key->dst, sizeof dst);
	return ft_mix(dst[0] ^ key->dest_qp, dst[1] ^ (uint64_t)key->vni << 32 ^ key->by_lid ^
						     UINT64_C(0x9e3779b97f4a7c15));
}

static bool is_reliable(const struct ft_flow *flow)
{
	return flow->key.base == FT_FLOW_ANY_BASE && flow->half.service == FT_RC &&
	       flow->half.next_psn != FT_PSN_NONE;
}

/* It asked, and nobody answered or was about to. */
static bool is_stranger(const struct ft_flow *flow)
{
	const struct ft_half *half = &flow->half;

	return flow->peer == 0 && is_reliable(flow) && half->candidate == 0 &&
	       half->acked == FT_PSN_NONE && half->answered == FT_PSN_NONE &&
	       (half->flags & (FT_HALF_MET | FT_HALF_START_SEEN)) == 0;
}

/* It sent CNPs and nothing else. */
static bool is_cnps(const struct ft_flow *flow, const struct ft_first *first)
{
	return flow->peer == 0 && flow->key.base == FT_FLOW_ANY_BASE &&
	       flow->half.service == UINT8_MAX && first->opcode == FT_OPCODE_CNP &&
	       flow->key.dest_qp > 1 && flow->packets >= (uint64_t)flow->bad_icrc + FT_SECOND_CNPS;
}

/* The requests of a busy half are answered. */
static bool is_owner(const struct ft_flow *flow)
{
	return flow->peer != 0 && is_reliable(flow) && flow->half.acked != FT_PSN_NONE;
}

/* A busy half that answers will do where it is told to slow down. */
static bool is_told_by_one(const struct ft_flow *flow)
{
	return flow->peer != 0 && flow->key.base == FT_FLOW_ANY_BASE &&
	       flow->half.service == FT_RC &&
	       (flow->half.acked != FT_PSN_NONE || flow->half.answered != FT_PSN_NONE);
}

/* Newest first: of a record that began more than once the first one met counts. */
static void add_stranger(struct search *search, const struct stranger *stranger)
{
	size_t at = stranger->target & search->mask;

	for (; search->strangers[at].flow != NULL; at = (at + 1) & search->mask)
		if (search->strangers[at].flow == stranger->flow)
			return;
	search->strangers[at] = *stranger;
	search->stranger_count++;
}

static void collect(struct search *search, const struct ft_worker *worker)
{
	const struct ft_firsts *firsts = &worker->firsts;

	for (uint64_t i = 1; i <= ft_firsts_kept(firsts); i++) {
		const struct ft_first *first = ft_firsts_at(firsts, i);
		const struct ft_flow *flow = ft_flow_at(worker->flows, first->record);
		bool cnps = is_cnps(flow, first);

		if (cnps || is_stranger(flow))
			add_stranger(search, &(struct stranger){ target_of(&flow->key), flow,
								 worker, first, cnps });
	}
}

/* It goes to where the owner sends, from elsewhere. */
static bool is_aimed_alike(const struct ft_flow *flow, const struct ft_flow *owner)
{
	const struct ft_flow_key *a = &flow->key, *b = &owner->key;

	return memcmp(a->dst, b->dst, sizeof a->dst) == 0 && a->dest_qp == b->dest_qp &&
	       a->vni == b->vni && a->by_lid == b->by_lid && flow->vlan == owner->vlan &&
	       memcmp(a->src, b->src, sizeof a->src) != 0;
}

/* The connection was there before, and went on. */
static bool is_amid(const struct ft_first *first, const struct owner *owner)
{
	const struct ft_worker *worker = owner->worker;
	const struct ft_first *begun =
		ft_firsts_find(&worker->firsts, ft_flow_number(worker->flows, owner->flow));
	uint64_t before = begun != NULL ? begun->frame : ft_firsts_since(&worker->firsts);

	return before != 0 && before < first->frame && first->ts_ns != FT_TS_UNKNOWN &&
	       first->ts_ns < owner->flow->last_ns;
}

/* One request in common: the same packet, seen before and behind what translates addresses. */
static bool is_same_packet(const struct stranger *stranger, const struct owner *owner)
{
	const struct ft_recent *mine =
		ft_suspects_recent(stranger->worker->suspects, stranger->flow);
	const struct ft_recent *theirs = ft_suspects_recent(owner->worker->suspects, owner->flow);

	for (unsigned i = 0; i < FT_SUSPECTS_KEPT; i++)
		for (unsigned j = 0; j < FT_SUSPECTS_KEPT; j++)
			if (mine->requests[i] != 0 && mine->requests[i] == theirs->requests[j])
				return true;
	return false;
}

/* PSNs from the first of the connection to the next; more than TELLING: not known. */
static uint32_t psns_used(const struct ft_flow *owner)
{
	const struct ft_half *half = &owner->half;

	if (half->first_psn == FT_PSN_ANEW || half->first_psn == FT_PSN_NONE)
		return UINT32_MAX;
	if ((half->flags & FT_HALF_NAKED) != 0)
		return owner->packets < TELLING ? (uint32_t)owner->packets : UINT32_MAX;
	return ft_psn_since(half->next_psn, half->first_psn);
}

/* What may be left of an earlier connection of the queue pair has other PSNs, or is as much. */
static bool is_plausible(const struct ft_flow *flow, const struct ft_first *first,
			 const struct ft_flow *owner)
{
	uint32_t used = psns_used(owner);

	return used <= TELLING && flow->packets * 2 < owner->packets &&
	       ft_psn_since(owner->half.next_psn + WINDOW, first->psn) <= used + 2 * WINDOW;
}

static void compare(struct search *search, const struct stranger *stranger,
		    const struct owner *owner)
{
	struct ft_second_sender *found;

	if (search->count == FT_SECOND_SENDERS || !is_aimed_alike(stranger->flow, owner->flow) ||
	    !is_amid(stranger->first, owner) || is_same_packet(stranger, owner))
		return;
	found = &search->found[search->count++];
	*found = (struct ft_second_sender){
		.flow = stranger->flow,
		.owner = owner->flow,
		.first = *stranger->first,
		.frame = { .number = stranger->first->frame, .ts_ns = stranger->first->ts_ns },
		.cnps = stranger->cnps,
		.plausible = !stranger->cnps &&
			     is_plausible(stranger->flow, stranger->first, owner->flow),
	};
	ft_firsts_frame(&stranger->worker->firsts, stranger->first, &found->frame);
}

/* Whether somebody else sent to the queue pair of this busy half. */
static bool visit(void *context, const struct ft_flow *flow)
{
	struct search *search = context;
	const struct owner owner = { flow, search->worker };
	const bool asks = is_owner(flow), told = is_told_by_one(flow);
	uint64_t target;

	if (!told)
		return true; /* nor does it ask */
	target = target_of(&flow->key);
	for (size_t at = target & search->mask; search->strangers[at].flow != NULL;
	     at = (at + 1) & search->mask) {
		const struct stranger *stranger = &search->strangers[at];

		if (stranger->target == target && (asks || stranger->cnps))
			compare(search, stranger, &owner);
	}
	return true;
}

static int by_frame(const void *left, const void *right)
{
	const struct ft_second_sender *a = left, *b = right;

	return (a->first.frame > b->first.frame) - (a->first.frame < b->first.frame);
}

/* Room for all that there may be, half of it empty. */
static void make_room(struct search *search)
{
	size_t slots = 2;

	for (unsigned i = 0; i < search->worker_count; i++)
		slots += 2 * ft_firsts_kept(&search->workers[i]->firsts);
	while ((slots & (slots - 1)) != 0)
		slots += slots & -slots;
	search->mask = slots - 1;
	search->strangers = calloc(slots, sizeof *search->strangers);
	if (search->strangers == NULL)
		ft_no_memory();
}

size_t ft_second_senders(struct ft_worker *const *workers, unsigned count,
			 struct ft_second_sender found[FT_SECOND_SENDERS])
{
	struct search search = { .workers = workers, .worker_count = count, .found = found };

	make_room(&search);
	for (unsigned i = 0; i < count; i++)
		collect(&search, workers[i]);
	for (unsigned i = 0; i < count && search.stranger_count != 0; i++) {
		search.worker = workers[i];
		ft_flow_each_busy(workers[i]->flows, BUSY_PACKETS, visit, &search);
	}
	free(search.strangers);
	qsort(found, search.count, sizeof *found, by_frame);
	return search.count;
}
