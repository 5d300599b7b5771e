#include "framed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>
#include <nccl/seen.h>

/* Hashed and compared as bytes: no padding. */
struct place {
	uint8_t address[16]; /* as in struct ft_nccl_place */
	uint32_t qpn, by_lid;
};
static_assert(sizeof(struct place) == 24, "padding would be hashed");

struct end {
	struct place place;
	double confidence;
	uint8_t class; /* enum ft_nccl_class */
	bool sends;    /* it is the connection's sender that has it */
	uint8_t lane;
	uint32_t next; /* at the same place in another network: an end plus 1; 0: none */
	const struct ft_nccl_connection *connection; /* NULL: none */
};
static_assert(sizeof(struct end) <= 48, "as told");

struct ft_framed {
	struct end *ends;
	size_t count, room;
	uint32_t *slots; /* of an end plus 1; 0: free */
	size_t mask;     /* slots less 1 */
	uint64_t seed;
	bool has_setups;
};

/* The slot that the place has, or would have. */
static uint32_t *slot_of(const struct ft_framed *framed, const struct place *place)
{
	size_t at = ft_hash(place, sizeof *place, framed->seed) & framed->mask;

	while (framed->slots[at] != 0 &&
	       memcmp(&framed->ends[framed->slots[at] - 1].place, place, sizeof *place) != 0)
		at = (at + 1) & framed->mask;
	return &framed->slots[at];
}

static struct end *find(const struct ft_framed *framed, const struct place *place)
{
	uint32_t slot = *slot_of(framed, place);

	return slot == 0 ? NULL : &framed->ends[slot - 1];
}

static struct place place_of(const struct ft_nccl_place *at, uint32_t qpn)
{
	struct place place = { .qpn = qpn, .by_lid = at->by_lid ? 1 : 0 };

	memcpy(place.address, at->address, sizeof place.address);
	return place;
}

static void enter_queue_pairs(struct ft_framed *framed, const struct ft_nccl_report *report)
{
	for (size_t i = 0; i < report->queue_pair_count; i++) {
		const struct ft_nccl_queue_pair *qp = &report->queue_pairs[i];

		framed->ends[i] = (struct end){ .place = place_of(&qp->place, qp->qpn),
						.confidence = qp->confidence,
						.class = (uint8_t)qp->class };
		*slot_of(framed, &framed->ends[i].place) = (uint32_t)i + 1;
	}
	framed->count = report->queue_pair_count;
}

static bool share_net(const struct ft_nccl_connection *a, const struct ft_nccl_connection *b)
{
	for (uint8_t i = 0; i < a->net_count; i++)
		if (ft_nccl_was_in(b, a->nets[i]))
			return true;
	return a->net_count == 0 && ft_nccl_was_in(b, 0);
}

static struct end *next_of(const struct ft_framed *framed, const struct end *end)
{
	return end->next == 0 ? NULL : &framed->ends[end->next - 1];
}

/* One more at the place of end `at`. NULL: no memory. */
static struct end *add(struct ft_framed *framed, size_t at)
{
	size_t room = framed->count < framed->room ? framed->room : 2 * framed->room;
	struct end *ends = room == framed->room
				   ? framed->ends
				   : reallocarray(framed->ends, room, sizeof *framed->ends);

	if (ends == NULL)
		return NULL;
	framed->ends = ends;
	framed->room = room;
	ends[framed->count] = ends[at];
	ends[at].next = (uint32_t)++framed->count;
	return &ends[framed->count - 1];
}

/* Queue pair numbers come again: the later connection has them, but for what was seen in another network. */
static struct end *end_for(struct ft_framed *framed, const struct place *place,
			   const struct ft_nccl_connection *connection)
{
	struct end *first = find(framed, place), *end = first;

	while (end != NULL && end->connection != NULL && !share_net(end->connection, connection))
		end = next_of(framed, end);
	return end != NULL || first == NULL ? end : add(framed, (size_t)(first - framed->ends));
}

static void enter_party(struct ft_framed *framed, const struct ft_nccl_connection *connection,
			const struct ft_nccl_party *party)
{
	for (uint8_t lane = 0; lane < connection->qp_count && party->place_count > 0; lane++) {
		struct place place =
			place_of(&party->places[party->qp_device[lane]], party->qpns[lane]);
		struct end *end = party->qpns[lane] == FT_NCCL_NONE
					  ? NULL
					  : end_for(framed, &place, connection);

		if (end == NULL)
			continue;
		end->connection = connection;
		end->lane = lane;
		end->sends = party == &connection->sender;
		framed->has_setups |= connection->is_set_up;
	}
}

int ft_framed_create(struct ft_framed **framed, const struct ft_nccl_report *report, uint64_t seed)
{
	struct ft_framed *made = calloc(1, sizeof *made);
	size_t slots = 16;

	if (made == NULL)
		return -ENOMEM;
	while (slots < 2 * report->queue_pair_count)
		slots *= 2;
	made->mask = slots - 1;
	made->seed = seed;
	made->slots = calloc(slots, sizeof *made->slots);
	made->room = report->queue_pair_count + 1;
	made->ends = calloc(made->room, sizeof *made->ends);
	if (made->slots == NULL || made->ends == NULL) {
		ft_framed_destroy(made);
		return -ENOMEM;
	}
	enter_queue_pairs(made, report);
	for (size_t i = 0; i < report->connection_count; i++) {
		enter_party(made, report->connections[i], &report->connections[i]->sender);
		enter_party(made, report->connections[i], &report->connections[i]->receiver);
	}
	*framed = made;
	return 0;
}

void ft_framed_destroy(struct ft_framed *framed)
{
	if (framed == NULL)
		return;
	free(framed->slots);
	free(framed->ends);
	free(framed);
}

bool ft_framed_has_setups(const struct ft_framed *framed)
{
	return framed->has_setups;
}

static struct ft_nccl_place address_of(const struct ft_flow_key *key, const uint8_t address[16])
{
	struct ft_nccl_place place = { .by_lid = key->by_lid != 0 };

	if (place.by_lid)
		ft_nccl_put_lid(place.address, ft_flow_lid(address));
	else
		memcpy(place.address, address, sizeof place.address);
	return place;
}

static uint32_t net_of(const struct ft_flow_key *key, uint16_t vlan)
{
	return key->vni != FT_FLOW_NO_VNI ? FT_NCCL_NET_VNI | key->vni : vlan;
}

static const struct end *end_of(const struct ft_framed *framed, const struct ft_flow_key *key,
				uint16_t vlan)
{
	const struct ft_nccl_place at = address_of(key, key->dst);
	const struct place place = place_of(&at, key->dest_qp);
	const struct end *first = find(framed, &place), *end = first;

	while (end != NULL &&
	       (end->connection == NULL || !ft_nccl_was_in(end->connection, net_of(key, vlan))))
		end = next_of(framed, end);
	return end != NULL ? end : first;
}

static bool is_in_overlay(const struct ft_nccl_connection *connection)
{
	return connection->net_count != 0 && (connection->nets[0] & FT_NCCL_NET_VNI) != 0;
}

/* Another half-connection of that name is the connection's: in another overlay, or in a VLAN that is held apart. */
static bool is_apart(const struct end *end, const struct ft_flow_key *key)
{
	const bool is_overlay = key->vni != FT_FLOW_NO_VNI || is_in_overlay(end->connection);
	const bool is_vlan = key->base == FT_FLOW_ANY_BASE && key->vlan != FT_FLOW_ANY_VLAN;

	return (is_overlay || is_vlan) && !ft_nccl_was_in(end->connection, net_of(key, key->vlan));
}

static const struct ft_nccl_party *other_party(const struct end *end)
{
	return end->sends ? &end->connection->receiver : &end->connection->sender;
}

static bool comes_from(const struct ft_flow_key *key, const struct ft_nccl_place *place)
{
	const struct ft_nccl_place from = address_of(key, key->src);

	return place->by_lid == from.by_lid &&
	       memcmp(place->address, from.address, sizeof from.address) == 0;
}

static bool comes_from_party(const struct ft_flow_key *key, const struct ft_nccl_party *party)
{
	for (uint8_t i = 0; i < party->place_count; i++)
		if (comes_from(key, &party->places[i]))
			return true;
	return false;
}

bool ft_framed_tell(const struct ft_framed *framed, const struct ft_flow_key *key, uint16_t vlan,
		    struct ft_report_flow_nccl *nccl)
{
	const struct end *end = end_of(framed, key, vlan);
	const struct ft_nccl_party *other;

	if (end == NULL || (end->class == FT_NCCL_CLASS_UNKNOWN && end->connection == NULL))
		return false;
	*nccl = (struct ft_report_flow_nccl){
		.class = ft_nccl_class_name((enum ft_nccl_class)end->class),
		.confidence = end->confidence,
		.connection = FT_UNKNOWN,
		.channel = FT_UNKNOWN,
	};
	other = end->connection == NULL || is_apart(end, key) ? NULL : other_party(end);
	if (other == NULL || !comes_from_party(key, other))
		return true;
	nccl->connection = end->connection->connection;
	nccl->role = end->sends ? "cts" : "data";
	if (end->connection->channel != FT_NCCL_NONE)
		nccl->channel = end->connection->channel;
	nccl->has_rank = other->has_rank;
	nccl->rank = other->rank;
	return true;
}

bool ft_framed_back(const struct ft_framed *framed, const struct ft_flow_key *key, uint16_t vlan,
		    struct ft_flow_key *back)
{
	const struct end *end = end_of(framed, key, vlan);
	const struct ft_nccl_party *other;

	if (end == NULL || end->connection == NULL || is_apart(end, key) ||
	    !end->connection->is_set_up)
		return false;
	other = other_party(end);
	if (other->qpns[end->lane] == FT_NCCL_NONE || other->place_count == 0 ||
	    !comes_from(key, &other->places[other->qp_device[end->lane]]))
		return false;
	*back = (struct ft_flow_key){
		.dest_qp = other->qpns[end->lane],
		.vni = key->vni,
		.base = FT_FLOW_ANY_BASE,
		.vlan = FT_FLOW_ANY_VLAN,
		.by_lid = key->by_lid,
	};
	memcpy(back->src, key->dst, sizeof back->src);
	memcpy(back->dst, key->src, sizeof back->dst);
	return true;
}
