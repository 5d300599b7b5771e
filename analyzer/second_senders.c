#include "second_senders.h"

#include <stdlib.h>
#include <string.h>

#include <capture/frame.h>
#include <decode/opcode.h>
#include <engine/no_memory.h>
#include <flow/hash.h>

#include "suspects_parts.h"

enum {
	BITS = 1 << 20,    /* of a first, rough look */
	OWNERS = 1 << 12,  /* connections that are looked at closely */
	BUSY_PACKETS = 16, /* of a connection that is more than begun */
	WINDOW = 1 << 16,  /* PSNs round those of the connection that may be meant for it */
	TELLING = 1 << 21, /* a connection that used more may be hit by any PSN */
	PSN_MOST = 0xffffff,
};

/* A half-connection whose queue pair somebody else may have sent to. */
struct owner {
	uint64_t target;
	const struct ft_flow *flow;
	const struct ft_worker *worker;
};

struct search {
	struct ft_worker *const *workers;
	unsigned worker_count;
	uint64_t *strangers; /* bits: targets of who is not answered */
	bool any;            /* of them is set */
	struct owner *owners;
	size_t owner_count;
	const struct ft_worker *worker; /* whose records are visited */
	struct ft_second_sender *found;
	size_t count;
};

/* The queue pair that is sent to. */
static uint64_t target_of(const struct ft_flow_key *key)
{
	uint8_t target[24];

	memcpy(target, key->dst, sizeof key->dst);
	memcpy(target + 16, &key->dest_qp, sizeof key->dest_qp);
	memcpy(target + 20, &key->vni, sizeof key->vni);
	return ft_hash(target, sizeof target, key->by_lid);
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

	return is_reliable(flow) && flow->peer == 0 && half->candidate == 0 &&
	       half->acked == FT_PSN_NONE &&
	       (half->flags & (FT_HALF_MET | FT_HALF_START_SEEN)) == 0;
}

/* Its requests are answered. */
static bool is_owner(const struct ft_flow *flow)
{
	return is_reliable(flow) && flow->peer != 0 && flow->half.acked != FT_PSN_NONE &&
	       flow->packets >= BUSY_PACKETS;
}

static bool mark_stranger(void *context, const struct ft_flow *flow)
{
	struct search *search = context;
	uint64_t bit;

	if (!is_stranger(flow))
		return true;
	bit = target_of(&flow->key) % BITS;
	search->strangers[bit / 64] |= UINT64_C(1) << bit % 64;
	search->any = true;
	return true;
}

static bool keep_owner(void *context, const struct ft_flow *flow)
{
	struct search *search = context;
	uint64_t target, bit;

	if (!is_owner(flow))
		return true;
	target = target_of(&flow->key);
	bit = target % BITS;
	if ((search->strangers[bit / 64] >> bit % 64 & 1) != 0)
		search->owners[search->owner_count++] =
			(struct owner){ target, flow, search->worker };
	return search->owner_count < OWNERS;
}

static int by_target(const void *left, const void *right)
{
	const struct owner *a = left, *b = right;

	return (a->target > b->target) - (a->target < b->target);
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
static bool is_same_packet(const struct ft_worker *worker, const struct ft_flow *flow,
			   const struct owner *owner)
{
	const struct ft_recent *mine = ft_suspects_recent(worker->suspects, flow);
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
	return (half->next_psn - half->first_psn) & PSN_MOST;
}

/* What may be left of an earlier connection of the queue pair has other PSNs, or is as much. */
static bool is_plausible(const struct ft_flow *flow, const struct ft_first *first,
			 const struct ft_flow *owner)
{
	uint32_t used = psns_used(owner);

	return used <= TELLING && flow->packets * 2 < owner->packets &&
	       ((owner->half.next_psn + WINDOW - first->psn) & PSN_MOST) <= used + 2 * WINDOW;
}

static void add(struct search *search, const struct ft_flow *flow, const struct owner *owner)
{
	const struct ft_worker *worker = search->worker;
	const struct ft_first *first =
		ft_firsts_find(&worker->firsts, ft_flow_number(worker->flows, flow));

	if (first == NULL || !is_amid(first, owner) || is_same_packet(worker, flow, owner))
		return;
	search->found[search->count++] = (struct ft_second_sender){
		.flow = flow,
		.owner = owner->flow,
		.first = *first,
		.plausible = is_plausible(flow, first, owner->flow),
	};
}

/* Where the owners of this target stand, or would. */
static size_t place_of(const struct search *search, uint64_t target)
{
	size_t from = 0, to = search->owner_count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (search->owners[middle].target < target)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static bool match(void *context, const struct ft_flow *flow)
{
	struct search *search = context;
	uint64_t target = target_of(&flow->key);

	if (!is_stranger(flow))
		return true;
	for (size_t i = place_of(search, target);
	     i < search->owner_count && search->owners[i].target == target; i++) {
		if (!is_aimed_alike(flow, search->owners[i].flow))
			continue;
		add(search, flow, &search->owners[i]);
		break;
	}
	return search->count < FT_SECOND_SENDERS;
}

static void visit(struct search *search, bool (*each)(void *context, const struct ft_flow *flow))
{
	for (unsigned i = 0; i < search->worker_count; i++) {
		search->worker = search->workers[i];
		ft_flow_each(search->worker->flows, each, search);
	}
}

static int by_frame(const void *left, const void *right)
{
	const struct ft_second_sender *a = left, *b = right;

	return (a->first.frame > b->first.frame) - (a->first.frame < b->first.frame);
}

size_t ft_second_senders(struct ft_worker *const *workers, unsigned count,
			 struct ft_second_sender found[FT_SECOND_SENDERS])
{
	struct search search = { .workers = workers, .worker_count = count, .found = found };

	search.strangers = calloc(BITS / 64, sizeof *search.strangers);
	search.owners = calloc(OWNERS, sizeof *search.owners);
	if (search.strangers == NULL || search.owners == NULL)
		ft_no_memory();
	visit(&search, mark_stranger);
	if (search.any)
		visit(&search, keep_owner);
	if (search.owner_count != 0) {
		qsort(search.owners, search.owner_count, sizeof *search.owners, by_target);
		visit(&search, match);
	}
	free(search.owners);
	free(search.strangers);
	qsort(found, search.count, sizeof *found, by_frame);
	return search.count;
}
