#include "floods.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <decode/opcode.h>
#include <decode/psn.h>

#include "suspects_parts.h"

int ft_floods_init(struct ft_floods *floods)
{
	*floods = (struct ft_floods){
		.watched = calloc(FT_FLOOD_WATCHED, sizeof *floods->watched),
		.items = calloc(FT_FLOODS, sizeof *floods->items),
	};
	return floods->watched == NULL || floods->items == NULL ? -ENOMEM : 0;
}

void ft_floods_free(struct ft_floods *floods)
{
	free(floods->watched);
	free(floods->items);
}

/* The first of its requests that was not answered. */
static uint32_t unanswered(const struct ft_half *half)
{
	return half->acked == FT_PSN_NONE ? FT_PSN_NONE : ft_psn_add(half->acked, 1);
}

static struct ft_flood_place place_of(const struct ft_flow *flow, const struct ft_flow *peer)
{
	return (struct ft_flood_place){ unanswered(&peer->half), unanswered(&flow->half) };
}

static void begin(struct ft_flood_watch *watch, uint32_t number, const struct ft_flow *flow,
		  const struct ft_flow *peer, uint64_t ts_ns)
{
	*watch = (struct ft_flood_watch){
		.since_ns = ts_ns,
		.sent = peer->packets,
		.flow = number,
		.peer = flow->peer,
		.from = place_of(flow, peer),
	};
}

static bool goes_on(const struct ft_flood_watch *watch, uint32_t number, const struct ft_flow *flow,
		    uint64_t ts_ns)
{
	return watch->flow == number && watch->peer == flow->peer && ts_ns >= watch->since_ns &&
	       ts_ns - watch->since_ns <= FT_FLOOD_NS;
}

/* Not behind a READ of unknown length. */
static bool is_countable(const struct ft_half *half, uint32_t from)
{
	return (half->flags & FT_HALF_SPAN_UNKNOWN) == 0 &&
	       (from != FT_PSN_NONE || half->next_psn == FT_PSN_NONE);
}

/* PSNs that the half's requests have taken from this one on; also those that were answered and have not passed. */
static uint32_t psns_since(const struct ft_half *half, uint32_t from)
{
	uint32_t answered = unanswered(half), next = half->next_psn;

	if (next == FT_PSN_NONE)
		return 0;
	if (answered != FT_PSN_NONE && ft_psn_distance(answered, next) > 0)
		next = answered;
	return ft_psn_since(next, from);
}

/* Packets that the other half sent meanwhile: those that passed, or its requests and answers, if more of these were new. */
static uint64_t packets_since(const struct ft_flood_watch *watch, const struct ft_flow *flow,
			      const struct ft_flow *peer)
{
	uint64_t passed = peer->packets - watch->sent, fresh;

	if (!is_countable(&peer->half, watch->from.theirs) ||
	    !is_countable(&flow->half, watch->from.own))
		return UINT32_MAX;
	fresh = psns_since(&peer->half, watch->from.theirs) +
		psns_since(&flow->half, watch->from.own);
	return fresh > passed ? fresh : passed;
}

/* Never through a router. */
static bool is_unrouted(uint8_t ttl)
{
	return ft_look_ttl_origin(ttl) == ttl;
}

static bool is_foreign(const struct ft_sender_look *usual, const struct ft_observed *observed)
{
	return (observed->has & FT_OBSERVED_ETH) != 0 && (usual->style & FT_LOOK_MET) != 0 &&
	       usual->learnt >= FT_SUSPECTS_LEARNT && is_unrouted(usual->ttl) &&
	       is_unrouted(observed->ttl) &&
	       memcmp(usual->smac, observed->smac, sizeof usual->smac) != 0;
}

/* The flood of this half-connection, made if there is room; or NULL. */
static struct ft_flood *flood_of(struct ft_floods *floods, const struct ft_flow *flow)
{
	for (uint32_t i = 0; i < floods->count; i++)
		if (memcmp(&floods->items[i].key, &flow->key, sizeof flow->key) == 0)
			return &floods->items[i];
	return floods->count == FT_FLOODS ? NULL : &floods->items[floods->count++];
}

static void tell(struct ft_floods *floods, const struct ft_flood_watch *watch,
		 const struct ft_flow *flow, const struct ft_observed *observed,
		 const struct ft_frame *frame, uint32_t packets)
{
	struct ft_flood *flood = flood_of(floods, flow);

	if (flood == NULL)
		return;
	if (flood->cnps == 0) {
		flood->key = flow->key;
		flood->first = (struct ft_first){
			.frame = observed->frame,
			.ts_ns = observed->ts_ns,
			.psn = observed->psn,
			.pkey = observed->pkey,
			.vlan = observed->vlan,
			.opcode = observed->opcode,
		};
		ft_cut_frame_fill(&flood->frame, frame);
		flood->within_ns = observed->ts_ns - watch->since_ns;
		flood->then = watch->cnps;
		flood->packets = packets;
		flood->usual = flow->look;
		memcpy(flood->smac, observed->smac, sizeof flood->smac);
		flood->foreign = is_foreign(&flow->look, observed);
	}
	flood->cnps += watch->cnps;
	flood->bytes += (uint64_t)watch->cnps * frame->wire;
	flood->last_ns = observed->ts_ns;
}

void ft_floods_see(struct ft_floods *floods, const struct ft_flow_table *table,
		   const struct ft_flow *flow, const struct ft_observed *observed,
		   const struct ft_frame *frame)
{
	uint32_t number = ft_flow_number(table, flow);
	struct ft_flood_watch *watch = &floods->watched[number % FT_FLOOD_WATCHED];
	struct ft_flood_place place;
	const struct ft_flow *peer;
	uint64_t packets;

	if (flow->peer == 0 || flow->half.service != FT_RC || observed->ts_ns == FT_TS_UNKNOWN)
		return;
	peer = ft_flow_at(table, flow->peer);
	if (!goes_on(watch, number, flow, observed->ts_ns))
		begin(watch, number, flow, peer, observed->ts_ns);
	place = place_of(flow, peer);
	if (++watch->cnps == FT_FLOOD_CNPS)
		watch->full = place;
	if (watch->cnps < FT_FLOOD_CNPS ||
	    (place.theirs == watch->full.theirs && place.own == watch->full.own))
		return; /* nothing was answered since: where the two are is not known */
	packets = packets_since(watch, flow, peer);
	if (packets * FT_FLOOD_PER_PACKET < watch->cnps)
		tell(floods, watch, flow, observed, frame, (uint32_t)packets);
	begin(watch, number, flow, peer, observed->ts_ns);
}
