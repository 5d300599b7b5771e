#include "worker_records.h"

#include <string.h>

#include <decode/psn.h>

enum {
	SURE_PACKETS = 32,   /* that went on in another VLAN: they are no other half-connection's */
	DOUBTED_PACKETS = 4, /* that went back there for no reason: they are */
	CAUGHT_UP_PACKETS = 2, /* did, before one that goes on: it only looks as if */
	/* these are asked again when an answer is lost, and no packet says so */
	DOUBTED_READS = 32,
};

/* Of a P_Key base or VLAN that is not the half-connection's first one. */
static struct ft_flow_key part_key(const struct ft_item *item)
{
	struct ft_flow_key key = item->flow_key;

	key.base = ft_item_base(item);
	key.vlan = ft_item_vlan(item);
	return key;
}

/* NULL: there is none yet, and will be none if this is a copy. */
static struct ft_flow *find_part(const struct ft_worker *worker, const struct ft_item *item)
{
	const struct ft_flow_key key = part_key(item);

	return ft_flow_find(worker->flows, &key, ft_flow_hash(worker->flows, &key));
}

static void make_part(struct ft_worker *worker, const struct ft_item *item,
		      struct ft_records *records)
{
	const struct ft_flow_key key = part_key(item), whole = records->whole->key;

	records->part = ft_flow_find_or_create(
		worker->flows, &key, ft_flow_hash(worker->flows, &key), ft_item_time(item));
	if (memcmp(&records->whole->key, &whole, sizeof whole) != 0)
		records->whole = records->part; /* a table so small that one pushed the other out */
}

/* What it uses from now on. */
static void note_tags(struct ft_worker *worker, struct ft_flow *flow, const struct ft_item *item)
{
	flow->elsewhere &= FT_FLOW_SHARED;
	flow->watched = 0;
	ft_judge_unsettle(flow);
	flow->base = ft_item_base(item);
	flow->vlan = ft_item_vlan(item);
	if (worker->suspects != NULL && item->followed)
		ft_firsts_add(&worker->firsts, ft_flow_number(worker->flows, flow), &item->observed,
			      item->frame);
}

__attribute__((noinline)) void ft_records_begin(struct ft_worker *worker, struct ft_flow *flow,
						const struct ft_item *item)
{
	bool known = flow->base != FT_FLOW_NO_BASE;

	worker->expired += known;
	flow->first_base = FT_FLOW_NO_BASE;
	if (ft_item_time(item) > worker->bases.now_ns)
		worker->bases.now_ns = ft_item_time(item);
	if (!known && item->connected && !ft_bases_are_empty(&worker->bases))
		flow->first_base = ft_bases_take(&worker->bases, &item->flow_key);
	note_tags(worker, flow, item);
}

void ft_records_begin_anew(struct ft_worker *worker, const struct ft_flow *flow,
			   const struct ft_item *item)
{
	const uint64_t ts_ns = ft_item_time(item);

	if (worker->suspects != NULL && ts_ns > flow->last_ns &&
	    ts_ns - flow->last_ns > FT_RESUMED_NS)
		ft_firsts_add(&worker->firsts, ft_flow_number(worker->flows, flow), &item->observed,
			      item->frame);
}

static bool is_silent(const struct ft_worker *worker, const struct ft_flow *flow, uint64_t ts_ns)
{
	return ts_ns > flow->last_ns && ts_ns - flow->last_ns > worker->config->flow_timeout_ns;
}

/* The half-connection's record, or that of the other one which has its key in this VLAN. */
static struct ft_flow *whole_of(const struct ft_worker *worker, struct ft_flow *first,
				const struct ft_item *item)
{
	struct ft_flow *own;

	if (first->base == FT_FLOW_NO_BASE || item->flow_key.base != FT_FLOW_ANY_BASE)
		return first;
	own = ft_flow_in_vlan(worker->flows, first, ft_item_vlan(item));
	return own == NULL ? first : own;
}

/* It is of a half-connection that has its key in one VLAN only, or may be: whoever follows NCCL is to know. */
static void note_apart(struct ft_item *item, const struct ft_flow *flow)
{
	item->framing |=
		(flow->elsewhere & FT_FLOW_SHARED) != 0 ? FT_FRAMING_APART : FT_FRAMING_DOUBTED;
}

/* To the half-connection's first one. */
static void hold_base(struct ft_flow *first, uint16_t base, struct ft_records *records)
{
	if (first->first_base == FT_FLOW_NO_BASE)
		first->first_base = base;
	records->changed = first->first_base != base;
	records->first_base = first->first_base;
}

/* A new half-connection, another P_Key or VLAN, a frame without trust. The base is held to the first in any VLAN. */
static void sort_out(struct ft_worker *worker, struct ft_item *item, struct ft_records *records)
{
	struct ft_flow *first = records->whole;
	struct ft_flow *flow = whole_of(worker, first, item);
	uint16_t base = ft_item_base(item);

	records->whole = records->part = flow;
	if (flow != first)
		note_apart(item, flow);
	if (item->kind != FT_FRAME_JUDGED)
		return;
	if (flow->base == FT_FLOW_NO_BASE || is_silent(worker, flow, ft_item_time(item)))
		ft_records_begin(worker, flow, item);
	if (item->connected && ft_records_are_trusted(worker, item))
		hold_base(first, base, records);
	if ((flow->base == base && flow->vlan == ft_item_vlan(item)) ||
	    item->flow_key.base != FT_FLOW_ANY_BASE)
		return;
	records->part = find_part(worker, item);
}

void ft_records_find(struct ft_worker *worker, struct ft_item *item, struct ft_records *records)
{
	struct ft_flow *flow = ft_records_known(worker, item);
	uint64_t ts_ns = ft_item_time(item);

	if (flow == NULL) {
		flow = ft_flow_find_or_create(worker->flows, &item->flow_key, item->hash, ts_ns);
		item->record = ft_flow_number(worker->flows, flow);
	}
	if (worker->details == NULL && flow->last_ns != 0 && is_silent(worker, flow, ts_ns))
		ft_flow_renew(worker->flows, flow, ts_ns);
	records->whole = records->part = flow;
	records->changed = records->unsure = false;
	if (is_silent(worker, flow, ts_ns) ||
	    !ft_records_are_alike(flow, ft_item_base(item), ft_item_vlan(item)))
		sort_out(worker, item, records);
}

/* --- in another VLAN --- */

static void note_vlan(struct ft_flow *flow, uint16_t vlan, uint16_t how)
{
	flow->elsewhere =
		(uint16_t)((flow->elsewhere & FT_FLOW_SHARED) | FT_FLOW_SEEN | how | vlan);
}

/* Copies showed it, or many packets did. */
static bool is_sure(const struct ft_flow *flow, const struct ft_flow *part, uint16_t vlan)
{
	return ft_flow_is_seen_in(flow, vlan) && ((flow->elsewhere & FT_FLOW_COPIED) != 0 ||
						  (part != NULL && part->packets >= SURE_PACKETS));
}

/* The other way, this VLAN has another connection between the two queue pairs. */
static bool is_shared(const struct ft_worker *worker, struct ft_flow *peer, uint16_t vlan)
{
	return !ft_flow_is_seen_in(peer, vlan) && (peer->elsewhere & FT_FLOW_SHARED) != 0 &&
	       ft_flow_in_vlan(worker->flows, peer, vlan) != NULL;
}

/* What became of packets in this VLAN so far. */
struct other {
	struct ft_flow *part; /* they were the half-connection's; NULL: none */
	struct ft_flow *flow; /* or those of one that may be another; NULL: none */
};

static struct ft_flow_key other_key(const struct ft_item *item)
{
	struct ft_flow_key key = item->flow_key;

	key.vlan = ft_item_vlan(item);
	return key;
}

/* Since the last packet in this VLAN some came in the half-connection's own. */
static bool is_in_turns(const struct ft_flow *flow, const struct other *other)
{
	uint64_t part_ns = other->part == NULL ? 0 : other->part->last_ns;
	uint64_t other_ns = other->flow == NULL ? 0 : other->flow->last_ns;
	uint64_t last_ns = part_ns > other_ns ? part_ns : other_ns;

	return last_ns != 0 && flow->last_ns > last_ns;
}

static bool mostly_goes_back(const struct ft_item *item, const struct other *other)
{
	enum { READ_REQUEST = 0x0c };
	unsigned most = item->observed.opcode == READ_REQUEST ? DOUBTED_READS : DOUBTED_PACKETS;

	return other->flow != NULL && other->flow->packets >= most &&
	       (other->part == NULL || other->part->packets < other->flow->packets);
}

/*
 * Some came in front of where the half-connection is, for no reason, and none that went on: several, or one that this one
 * follows. A second one comes behind it.
 */
static bool catches_up(const struct ft_item *item, const struct other *other)
{
	if (other->flow == NULL || other->part != NULL)
		return false;
	return other->flow->packets >= CAUGHT_UP_PACKETS ||
	       other->flow->half.doubted_psn == ft_psn_back(item->observed.psn, 1);
}

/*
 * Of the half-connection that began in another VLAN (FT_GOES_ON), or of another one with its addresses and queue pair
 * (FT_GOES_ASTRAY)? FT_GOES_BACK: not known yet. *unsure: it only goes on where that one is.
 */
static enum ft_goes_on decide(struct ft_worker *worker, const struct ft_item *item,
			      struct ft_flow *flow, const struct other *other, bool *unsure)
{
	struct ft_flow *peer = flow->peer == 0 ? NULL : ft_flow_at(worker->flows, flow->peer);
	uint16_t vlan = ft_item_vlan(item);
	bool in_turns = is_in_turns(flow, other);
	enum ft_goes_on goes_on;

	if (is_sure(flow, other->part, vlan))
		return FT_GOES_ON;
	if (peer != NULL && is_shared(worker, peer, vlan))
		return FT_GOES_ASTRAY;
	goes_on = ft_tracker_goes_on(worker->tracker, flow, &item->observed, in_turns);
	switch (goes_on) {
	case FT_GOES_ON:
		if (catches_up(item, other) || (flow->elsewhere & FT_FLOW_SHARED) != 0)
			return FT_GOES_ASTRAY;
		note_vlan(flow, vlan, 0);
		*unsure = true;
		return goes_on;
	case FT_GOES_FIRST:
		return ft_flow_is_seen_in(flow, vlan) ||
				       (peer != NULL && ft_flow_is_seen_in(peer, vlan))
			       ? FT_GOES_ON
			       : FT_GOES_ASTRAY;
	case FT_GOES_BACK:
		return in_turns || mostly_goes_back(item, other) ? FT_GOES_ASTRAY : goes_on;
	case FT_GOES_ASTRAY:
	case FT_GOES_UNSAID:
		break;
	}
	return goes_on;
}

/* It is another one's, or may be: that has a record with the VLAN in its key. */
static void split_off(struct ft_worker *worker, struct ft_item *item, bool shared,
		      struct ft_records *records)
{
	const struct ft_flow_key key = other_key(item);
	struct ft_flow *flow;

	if (shared) {
		records->whole->elsewhere = FT_FLOW_SHARED;
		ft_tracker_tell_apart(worker->tracker, records->whole);
	}
	flow = ft_flow_find_or_create(worker->flows, &key, ft_flow_hash(worker->flows, &key),
				      ft_item_time(item));
	if (flow->base == FT_FLOW_NO_BASE)
		note_tags(worker, flow, item);
	if (shared)
		flow->elsewhere = FT_FLOW_SHARED;
	else if (flow->half.next_psn == FT_PSN_NONE)
		flow->half.doubted_psn = item->observed.psn;
	note_apart(item, flow);
	records->whole = flow;
	records->part = flow->base == ft_item_base(item) ? flow : find_part(worker, item);
}

static bool is_to_decide(const struct ft_item *item, const struct ft_flow *flow)
{
	return flow->vlan != ft_item_vlan(item) && item->followed &&
	       item->flow_key.base == FT_FLOW_ANY_BASE && item->kind == FT_FRAME_JUDGED;
}

bool ft_records_settle(struct ft_worker *worker, struct ft_item *item, struct ft_records *records)
{
	enum ft_goes_on goes_on = FT_GOES_ON;
	const struct ft_flow_key key = other_key(item);
	struct other other;

	if (is_to_decide(item, records->whole)) {
		other = (struct other){
			.part = records->part,
			.flow = ft_flow_find(worker->flows, &key,
					     ft_flow_hash(worker->flows, &key)),
		};
		goes_on = decide(worker, item, records->whole, &other, &records->unsure);
	}
	if (goes_on == FT_GOES_BACK || goes_on == FT_GOES_ASTRAY)
		split_off(worker, item, goes_on == FT_GOES_ASTRAY, records);
	if (records->part == NULL)
		make_part(worker, item, records);
	return goes_on != FT_GOES_BACK;
}

/* Of a queue pair that is another one in each VLAN. */
static const struct ft_flow *find_original(const struct ft_worker *worker,
					   const struct ft_item *item, uint16_t vlan)
{
	struct ft_flow_key key = item->flow_key;

	key.vlan = vlan;
	return ft_flow_find(worker->flows, &key, ft_flow_hash(worker->flows, &key));
}

const struct ft_flow *ft_records_see_copy(struct ft_worker *worker, struct ft_item *item,
					  const struct ft_flow *flow)
{
	uint16_t original = ft_copies_original_vlan(worker->copies);
	uint16_t vlan = ft_item_vlan(item);
	struct ft_flow *known;

	if (vlan == original)
		return flow;
	if (item->flow_key.base != FT_FLOW_ANY_BASE)
		return find_original(worker, item, original);
	known = ft_records_known(worker, item);
	if (known == NULL || known->base == FT_FLOW_NO_BASE)
		return flow;
	if (known->vlan == original)
		note_vlan(known, vlan, FT_FLOW_COPIED);
	else if (known->vlan == vlan)
		note_vlan(known, original, FT_FLOW_COPIED);
	return flow;
}
