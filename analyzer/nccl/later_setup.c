#include "later_setup.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <decode/extremes.h>
#include <decode/packet.h>

#include "fifo.h"
#include "learn.h"

enum {
	WAITING_MOST = 4096,
	NAMES = 4096, /* a power of two */
	/* packets in sequence that show that the earlier connection is alive: more than may come late, as where ports are merged */
	GOES_ON = 64,
	/* packets that a later connection may have lost before the first one that is seen, .. */
	EARLY = 256,
	/* .. and how far behind the earlier one's it is then, unless it is the very first, so that it is none sent again */
	BEHIND = 16,
	ROLES = 2,
	FIFO_BYTES_MOST = 256 * 512,
};

/* A connection whose queue pair it names, and where that was by then. */
struct holder {
	bool is_known;
	uint8_t lane;
	uint32_t connection, next;
};

struct later {
	struct ft_nccl_exchange exchange;
	struct ft_nccl_metadata sides[ROLES]; /* by role */
	char *names[ROLES];                   /* of theirs, or NULL */
	struct holder holders[ROLES];         /* likewise, that of the holder */
	uint8_t count;
};

struct ft_nccl_later_setups {
	unsigned count;
	uint16_t named[NAMES]; /* how many name queue pairs of these numbers */
	struct later *waiting[WAITING_MOST];
};

static uint16_t *named_of(struct ft_nccl_later_setups *setups, uint32_t qpn)
{
	return &setups->named[qpn & (NAMES - 1)];
}

static const struct ft_nccl_metadata *side_of(const struct ft_nccl_exchange *exchange,
					      enum ft_nccl_role role)
{
	return role == FT_NCCL_AT_SENDER ? exchange->sender : exchange->receiver;
}

static enum ft_nccl_role other_of(enum ft_nccl_role role)
{
	return role == FT_NCCL_AT_SENDER ? FT_NCCL_AT_RECEIVER : FT_NCCL_AT_SENDER;
}

static struct ft_nccl_place place_of(const struct ft_nccl_exchange *exchange,
				     enum ft_nccl_role role, uint8_t device)
{
	const struct ft_nccl_metadata *own = side_of(exchange, role);
	const struct ft_nccl_metadata *peer = side_of(exchange, other_of(role));

	return ft_nccl_place_of(&own->devices[device], &peer->devices[device % peer->device_count]);
}

static struct ft_nccl_end end_of(const struct ft_nccl_exchange *exchange, enum ft_nccl_role role,
				 uint8_t lane)
{
	const struct ft_nccl_metadata *own = side_of(exchange, role);
	struct ft_nccl_place place = place_of(exchange, role, lane % own->device_count);
	struct ft_nccl_end end = {
		.qpn = own->qpns[lane],
		.vni = exchange->vni,
		.told_vni = exchange->vni,
		.told_vlan = (uint16_t)(exchange->vlan + 1),
		.by_lid = place.by_lid,
		.any_vni = true,
	};

	memcpy(end.address, place.address, sizeof end.address);
	return end;
}

/* PSN of what is to come to this end of a lane. */
static uint32_t next_at(const struct ft_nccl_lane *lane, enum ft_nccl_role role)
{
	return role == FT_NCCL_AT_SENDER ? lane->cts.next : lane->data.next;
}

/* Nothing was seen to go to this end, but to the other one: nothing that is to come would show either. */
static bool is_half_seen(const struct ft_nccl_lane *lane, enum ft_nccl_role role)
{
	return role == FT_NCCL_AT_SENDER ? lane->carried && !lane->asked
					 : lane->asked && !lane->carried;
}

/* Who has the queue pair of a lane: the first one of each role that it has there, which a later job may turn round. */
static void note_holder(const struct ft_nccl_connections *connections, struct later *later,
			enum ft_nccl_role role, uint8_t lane)
{
	const struct ft_nccl_end own = end_of(&later->exchange, role, lane);
	const struct ft_nccl_end *end = ft_nccl_ends_rival(&connections->ends, &own);
	struct ft_nccl_followed *followed;

	if (end == NULL || end->unsure || later->holders[end->role].is_known)
		return;
	followed = connections->all[end->connection];
	ft_nccl_straight_leave(followed);
	if (followed->given_up || is_half_seen(&followed->lanes[end->lane], end->role))
		return;
	later->holders[end->role] = (struct holder){
		.is_known = true,
		.lane = end->lane,
		.connection = end->connection,
		.next = next_at(&followed->lanes[end->lane], end->role),
	};
}

/* What may be no queue pair takes none from others. */
static uint8_t sure_lanes(const struct ft_nccl_exchange *exchange, uint8_t count)
{
	const uint8_t devices = (uint8_t)ft_larger(exchange->sender->device_count,
						   exchange->receiver->device_count);

	return ft_nccl_setup_is_unsure(exchange) && devices < count ? devices : count;
}

/* False: all that it names is free. */
static bool find_holders(const struct ft_nccl_connections *connections, struct later *later)
{
	const uint8_t lanes = sure_lanes(&later->exchange, later->count);

	for (unsigned role = 0; role < ROLES; role++)
		for (uint8_t i = 0; i < lanes; i++)
			note_holder(connections, later, role, i);
	return later->holders[0].is_known || later->holders[1].is_known;
}

static void count_names(struct ft_nccl_later_setups *setups, const struct later *later, int by)
{
	for (unsigned role = 0; role < ROLES; role++)
		for (uint8_t i = 0; i < later->count; i++) {
			uint16_t *named = named_of(setups, later->sides[role].qpns[i]);

			*named = (uint16_t)(*named + by);
		}
}

static void take_out(struct ft_nccl_later_setups *setups, unsigned at)
{
	count_names(setups, setups->waiting[at], -1);
	setups->count--;
	memmove(&setups->waiting[at], &setups->waiting[at + 1],
		(setups->count - at) * sizeof(struct later *));
}

/* What was read is its stream's. */
static void keep_name(struct later *later, unsigned role)
{
	struct ft_nccl_metadata *side = &later->sides[role];

	if (side->name != NULL)
		later->names[role] = strndup(side->name, side->name_length);
	side->name = later->names[role];
}

static void drop(struct later *later)
{
	if (later == NULL)
		return;
	for (unsigned role = 0; role < ROLES; role++)
		free(later->names[role]);
	free(later);
}

static struct later *copy_of(const struct ft_nccl_exchange *exchange, uint8_t count)
{
	struct later *later = calloc(1, sizeof *later);

	if (later == NULL)
		return NULL;
	later->exchange = *exchange;
	later->count = count;
	later->sides[FT_NCCL_AT_SENDER] = *exchange->sender;
	later->sides[FT_NCCL_AT_RECEIVER] = *exchange->receiver;
	for (unsigned role = 0; role < ROLES; role++)
		keep_name(later, role);
	later->exchange.sender = &later->sides[FT_NCCL_AT_SENDER];
	later->exchange.receiver = &later->sides[FT_NCCL_AT_RECEIVER];
	return later;
}

/* There is room for one more. */
static bool has_room(struct ft_nccl_connections *connections)
{
	if (connections->later == NULL)
		connections->later = calloc(1, sizeof *connections->later);
	return connections->later != NULL && connections->later->count < WAITING_MOST;
}

bool ft_nccl_later_setup_waits(struct ft_nccl_connections *connections,
			       const struct ft_nccl_exchange *exchange, uint8_t count)
{
	struct later *later = copy_of(exchange, count);

	if (later == NULL || !find_holders(connections, later) || !has_room(connections)) {
		drop(later);
		return false;
	}
	connections->later->waiting[connections->later->count++] = later;
	count_names(connections->later, later, 1);
	return true;
}

/* The packet goes to this queue pair of it, from where its peer is. */
static bool is_to(const struct later *later, enum ft_nccl_role role, uint8_t lane,
		  const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_end own = end_of(&later->exchange, role, lane);
	const struct ft_nccl_metadata *peer = &later->sides[other_of(role)];

	if (own.qpn != seen->dest_qp || own.by_lid != (seen->ends.by_lid != 0) ||
	    memcmp(own.address, seen->ends.dst, sizeof own.address) != 0)
		return false;
	for (uint8_t i = 0; i < peer->device_count; i++) {
		const struct ft_nccl_place place = place_of(&later->exchange, other_of(role), i);

		if (memcmp(place.address, seen->ends.src, sizeof place.address) == 0)
			return true;
	}
	return false;
}

static bool has_key(const struct ft_nccl_metadata *side, uint32_t rkey)
{
	for (uint8_t i = 0; i < side->device_count; i++)
		if (side->devices[i].rkey == rkey)
			return true;
	return false;
}

/* Into the FIFO that the set-up names, as long as one can be. */
static bool is_in_fifo(const struct later *later, const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_metadata *sender = &later->sides[FT_NCCL_AT_SENDER];

	return seen->va - sender->addr < FIFO_BYTES_MOST && has_key(sender, seen->rkey);
}

/* .. which is where the holder has its own, too. */
static bool has_fifo(const struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_target *fifo = &followed->model.fifo;
	const uint64_t bytes = (uint64_t)ft_nccl_fifo_slots_most(followed) * fifo->slot_bytes;

	return followed->has_base && seen->va - fifo->addr < bytes &&
	       ft_nccl_fifo_has_key(followed, seen->rkey);
}

/* The queue pair has not gone on since the set-up, and this is among the first packets of one, none that is sent again. */
static bool begins_anew(const struct later *later, const struct ft_nccl_followed *followed,
			const struct ft_nccl_end *end, const struct ft_nccl_seen *seen)
{
	const struct holder *holder = &later->holders[end->role];
	const uint32_t next = next_at(&followed->lanes[end->lane], end->role);

	if (holder->is_known && holder->connection == end->connection &&
	    holder->lane == end->lane && holder->next != next)
		return false;
	return seen->psn < EARLY &&
	       ft_psn_distance(next, seen->psn) >= (seen->psn == 0 ? 1 : BEHIND);
}

/* A clear-to-send of its own. */
static bool is_asking(const struct later *later, const struct ft_nccl_followed *followed,
		      const struct ft_nccl_end *end, const struct ft_nccl_seen *seen)
{
	if (!is_in_fifo(later, seen))
		return false;
	if (followed == NULL || !followed->model.is_set_up || !has_fifo(followed, seen))
		return true;
	return begins_anew(later, followed, end, seen);
}

/* Data of its own: the earlier connection has asked for none with this key, or was not seen to ask. */
static bool is_answering(const struct later *later, const struct ft_nccl_followed *followed,
			 const struct ft_nccl_end *end, const struct ft_nccl_seen *seen)
{
	return followed != NULL && seen->rkey != 0 && begins_anew(later, followed, end, seen) &&
	       !ft_nccl_is_announced(followed, seen->rkey);
}

/* The earlier one has gone on by so much that the set-up is none of a connection that took its place. */
static bool has_gone_on(const struct later *later, const struct ft_nccl_followed *followed,
			const struct ft_nccl_end *end)
{
	const struct holder *holder = &later->holders[end->role];

	return holder->is_known && holder->connection == end->connection &&
	       holder->lane == end->lane &&
	       ft_psn_distance(next_at(&followed->lanes[end->lane], end->role), holder->next) >=
		       GOES_ON;
}

enum answer { NOT_ITS_OWN, ITS_OWN, FORGED };

static enum answer judge(const struct later *later, const struct ft_nccl_followed *followed,
			 const struct ft_nccl_end *end, const struct ft_nccl_seen *seen)
{
	for (uint8_t i = 0; i < later->count; i++) {
		if (is_to(later, FT_NCCL_AT_SENDER, i, seen) &&
		    is_asking(later, followed, end, seen))
			return ITS_OWN;
		if (is_to(later, FT_NCCL_AT_RECEIVER, i, seen) &&
		    is_answering(later, followed, end, seen))
			return ITS_OWN;
	}
	return followed != NULL && has_gone_on(later, followed, end) ? FORGED : NOT_ITS_OWN;
}

/* Clear-to-sends may have shown it by now. */
static void begin(struct ft_nccl_connections *connections, const struct later *later)
{
	if (!ft_nccl_setup_late(connections, &later->exchange, later->count))
		ft_nccl_setup_begin(connections, &later->exchange, later->count);
}

bool ft_nccl_later_setup_see(struct ft_nccl_connections *connections,
			     const struct ft_nccl_seen *seen, const struct ft_nccl_end *end)
{
	struct ft_nccl_later_setups *setups = connections->later;
	struct ft_nccl_followed *followed = end != NULL ? connections->all[end->connection] : NULL;

	if (setups == NULL || *named_of(setups, seen->dest_qp) == 0 ||
	    !ft_nccl_begins(seen->opcode) || (seen->has & FT_HAS_RETH) == 0)
		return false;
	if (followed != NULL)
		ft_nccl_straight_leave(followed);
	/* the newest first: it is the likeliest */
	for (unsigned i = setups->count; i-- > 0;) {
		struct later *later = setups->waiting[i];
		enum answer answer = judge(later, followed, end, seen);

		if (answer == NOT_ITS_OWN)
			continue;
		take_out(setups, i);
		if (answer == ITS_OWN)
			begin(connections, later);
		drop(later);
		if (answer == ITS_OWN)
			return true;
	}
	return false;
}

void ft_nccl_later_setups_free(struct ft_nccl_connections *connections)
{
	if (connections->later == NULL)
		return;
	for (unsigned i = 0; i < connections->later->count; i++)
		drop(connections->later->waiting[i]);
	free(connections->later);
}
