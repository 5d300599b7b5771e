#include "ends.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>
#include <flow/reserve.h>

enum { SLOTS_LEAST = 256 };

void ft_nccl_ends_free(struct ft_nccl_end_table *table)
{
	free(table->ends);
	table->ends = NULL;
	table->slots = table->used = 0;
}

static size_t home_of(const struct ft_nccl_end_table *table, const uint8_t address[16], bool by_lid,
		      uint32_t qpn)
{
	uint64_t words[2];

	memcpy(words, address, sizeof words);
	return ft_hash_step(words[0] ^ table->seed, words[1], (uint64_t)by_lid << 32 | qpn,
			    table->seed) &
	       (table->slots - 1);
}

static bool is_at(const struct ft_nccl_end *end, const uint8_t address[16], bool by_lid,
		  uint32_t qpn)
{
	return end->qpn == qpn && end->by_lid == by_lid &&
	       memcmp(end->address, address, sizeof end->address) == 0;
}

/* The next one of this address and queue pair, in whatever overlay; NULL: no more. */
static struct ft_nccl_end *next_at(const struct ft_nccl_end_table *table, size_t *at,
				   const uint8_t address[16], bool by_lid, uint32_t qpn)
{
	for (;; *at = (*at + 1) & (table->slots - 1)) {
		struct ft_nccl_end *end = &table->ends[*at];

		if (!end->used)
			return NULL;
		if (!is_at(end, address, by_lid, qpn))
			continue;
		*at = (*at + 1) & (table->slots - 1);
		return end;
	}
}

static bool is_told_in(const struct ft_nccl_end *end, uint16_t vlan)
{
	return end->told_vlan == vlan + 1;
}

/* The likelier of two: set up in the packet's VLAN; of this overlay; one that no packet has told the overlay of yet. */
static struct ft_nccl_end *likelier(struct ft_nccl_end *a, struct ft_nccl_end *b, uint32_t vni,
				    uint16_t vlan)
{
	if (a == NULL || is_told_in(b, vlan))
		return b;
	return a->vni != vni && !is_told_in(a, vlan) && b->vni == vni ? b : a;
}

static struct ft_nccl_end *find_from(const struct ft_nccl_end_table *table, size_t home,
				     const uint8_t address[16], bool by_lid, uint32_t qpn,
				     uint32_t vni, uint16_t vlan)
{
	struct ft_nccl_end *end, *likely = NULL;
	size_t at = home;

	while ((end = next_at(table, &at, address, by_lid, qpn)) != NULL) {
		if (end->vni == vni && (end->told_vlan == 0 || is_told_in(end, vlan)))
			return end;
		if (end->any_vni || end->vni == vni)
			likely = likelier(likely, end, vni, vlan);
	}
	return likely;
}

/* Each was set up, in a VLAN of its own. */
static bool are_apart(const struct ft_nccl_end *a, const struct ft_nccl_end *b)
{
	return a->told_vlan != 0 && b->told_vlan != 0 && a->told_vlan != b->told_vlan;
}

static bool is_rival(const struct ft_nccl_end *old, const struct ft_nccl_end *end)
{
	if (!end->any_vni)
		return old->any_vni;
	return end->vni == UINT32_MAX || old->vni == UINT32_MAX || old->told_vni == end->vni;
}

struct ft_nccl_end *ft_nccl_ends_rival(const struct ft_nccl_end_table *table,
				       const struct ft_nccl_end *end)
{
	struct ft_nccl_end *old, *likely = NULL;
	size_t at;

	if (table->slots == 0)
		return NULL;
	at = home_of(table, end->address, end->by_lid, end->qpn);
	while ((old = next_at(table, &at, end->address, end->by_lid, end->qpn)) != NULL) {
		if (are_apart(old, end))
			continue;
		if (old->vni == end->vni)
			return old;
		if (likely == NULL && is_rival(old, end))
			likely = old;
	}
	return likely;
}

const struct ft_nccl_end *ft_nccl_ends_elsewhere(const struct ft_nccl_end_table *table,
						 const struct ft_nccl_end *end)
{
	const struct ft_nccl_end *other;
	size_t at;

	if (table->slots == 0)
		return NULL;
	at = home_of(table, end->address, end->by_lid, end->qpn);
	do
		other = next_at(table, &at, end->address, end->by_lid, end->qpn);
	while (other != NULL && (!are_apart(other, end) || other->told_vni != end->told_vni));
	return other;
}

struct ft_nccl_end *ft_nccl_ends_own(const struct ft_nccl_end_table *table,
				     const struct ft_nccl_place *place, uint32_t qpn,
				     uint32_t connection)
{
	struct ft_nccl_end *end = NULL;
	size_t at;

	if (table->slots == 0)
		return NULL;
	at = home_of(table, place->address, place->by_lid, qpn);
	do
		end = next_at(table, &at, place->address, place->by_lid, qpn);
	while (end != NULL && end->connection != connection);
	return end;
}

struct ft_nccl_end *ft_nccl_ends_of(const struct ft_nccl_end_table *table,
				    const struct ft_nccl_seen *seen, uint32_t vni)
{
	const uint8_t *address = seen->ends.dst;
	bool by_lid = seen->ends.by_lid != 0;

	if (table->slots == 0)
		return NULL;
	return find_from(table, home_of(table, address, by_lid, seen->dest_qp), address, by_lid,
			 seen->dest_qp, vni, seen->vlan);
}

enum { NAME = 24 /* bytes: address, queue pair, VNI */ };
static_assert(offsetof(struct ft_nccl_end, address) == 0 &&
		      offsetof(struct ft_nccl_end, vni) + 4 == NAME &&
		      offsetof(struct ft_flow_key, vni) + 4 - offsetof(struct ft_flow_key, dst) ==
			      NAME,
	      "compared as bytes");

/* Nearly always it is the first. */
const struct ft_nccl_end *ft_nccl_ends_glimpse(const struct ft_nccl_end_table *table,
					       const struct ft_flow_key *key, uint16_t vlan)
{
	const uint8_t *name = (const uint8_t *)key + offsetof(struct ft_flow_key, dst);
	const struct ft_nccl_end *first;
	size_t home;

	if (table->slots == 0)
		return NULL;
	home = home_of(table, key->dst, key->by_lid, key->dest_qp);
	first = &table->ends[home];
	if (memcmp(first, name, NAME) == 0 && first->used && first->by_lid == key->by_lid &&
	    (first->told_vlan == 0 || is_told_in(first, vlan)))
		return first;
	return find_from(table, home, key->dst, key->by_lid, key->dest_qp, key->vni, vlan);
}

static void insert(struct ft_nccl_end_table *table, const struct ft_nccl_end *end)
{
	size_t at = home_of(table, end->address, end->by_lid, end->qpn);

	while (table->ends[at].used)
		at = (at + 1) & (table->slots - 1);
	table->ends[at] = *end;
	table->ends[at].used = true;
	table->used++;
}

/* The end of a row, at which none that began before it goes on. */
static size_t first_free(const struct ft_nccl_end_table *table)
{
	size_t at = 0;

	while (at < table->slots && table->ends[at].used)
		at++;
	return at;
}

/* Those of one address and queue pair stay in the order in which they came: from a free slot on, all around. */
static int grow(struct ft_nccl_end_table *table)
{
	const size_t from = first_free(table);
	struct ft_nccl_end_table grown = *table;

	grown.slots = table->slots != 0 ? 2 * table->slots : SLOTS_LEAST;
	grown.used = 0;
	grown.ends = calloc(grown.slots, sizeof *grown.ends);
	if (grown.ends == NULL)
		return -ENOMEM;
	ft_reserve_fill(grown.ends, grown.slots * sizeof *grown.ends);
	for (size_t i = 0; i < table->slots; i++) {
		const struct ft_nccl_end *end = &table->ends[(from + i) & (table->slots - 1)];

		if (end->used)
			insert(&grown, end);
	}
	free(table->ends);
	*table = grown;
	return 0;
}

int ft_nccl_ends_put(struct ft_nccl_end_table *table, const struct ft_nccl_end *end)
{
	struct ft_nccl_end *old = ft_nccl_ends_rival(table, end);
	int error;

	table->changes++;
	if (old != NULL) {
		*old = *end;
		old->used = true;
		return 0;
	}
	if (2 * (table->used + 1) > table->slots) {
		error = grow(table);
		if (error != 0)
			return error;
	}
	insert(table, end);
	return 0;
}

/* Close the gap, so that whoever was put behind it is still found. */
void ft_nccl_ends_remove(struct ft_nccl_end_table *table, struct ft_nccl_end *end)
{
	size_t mask = table->slots - 1, hole = (size_t)(end - table->ends);

	table->changes++;
	for (size_t at = (hole + 1) & mask; table->ends[at].used; at = (at + 1) & mask) {
		const struct ft_nccl_end *next = &table->ends[at];
		size_t home = home_of(table, next->address, next->by_lid, next->qpn);

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			table->ends[hole] = *next;
			hole = at;
		}
	}
	table->ends[hole].used = false;
	table->used--;
}
