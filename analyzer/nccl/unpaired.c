#include "unpaired.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>
#include <nccl/model.h>

enum { ROOM_LEAST = 64 };

struct name {
	uint8_t receiver[16], sender[16];
	uint64_t port;
};

void ft_nccl_unpaired_free(struct ft_nccl_unpaired_table *table)
{
	free(table->all);
	table->all = NULL;
	table->room = table->used = table->free = 0;
}

uint32_t ft_nccl_unpaired_chain(const struct ft_nccl_unpaired_table *table,
				const uint8_t receiver[16], const uint8_t sender[16], uint16_t port)
{
	struct name name = { .port = port };

	memcpy(name.receiver, receiver, sizeof name.receiver);
	memcpy(name.sender, sender, sizeof name.sender);
	return (uint32_t)(ft_hash(&name, sizeof name, table->seed) % FT_NCCL_UNPAIRED_CHAINS);
}

static int grow(struct ft_nccl_unpaired_table *table)
{
	uint32_t room = table->room != 0 ? 2 * table->room : ROOM_LEAST;
	struct ft_nccl_unpaired *all = realloc(table->all, room * sizeof *all);

	if (all == NULL)
		return -ENOMEM;
	table->all = all;
	table->room = room;
	return 0;
}

/* The number of one that is free; there is room. */
static uint32_t take(struct ft_nccl_unpaired_table *table)
{
	uint32_t taken;

	if (table->free == 0)
		return table->used++;
	taken = table->free - 1;
	table->free = table->all[taken].next;
	return taken;
}

int ft_nccl_unpaired_put(struct ft_nccl_unpaired_table *table, uint32_t chain, uint32_t connection,
			 uint8_t lane)
{
	uint32_t last = table->last[chain], at;

	if (table->free == 0 && table->used == table->room && grow(table) != 0)
		return -ENOMEM;
	at = take(table);
	table->all[at] = (struct ft_nccl_unpaired){
		.connection = connection,
		.lane = lane,
		.qpn = FT_NCCL_NONE,
		.next = last == 0 ? at : table->all[last - 1].next,
	};
	if (last != 0)
		table->all[last - 1].next = at;
	table->last[chain] = at + 1;
	return 0;
}

struct ft_nccl_unpaired_walk ft_nccl_unpaired_begin(const struct ft_nccl_unpaired_table *table,
						    uint32_t chain)
{
	uint32_t last = table->last[chain];
	struct ft_nccl_unpaired_walk walk = { .chain = chain,
					      .at = FT_NCCL_NONE,
					      .looks = FT_NCCL_UNPAIRED_LOOKS };

	if (last == 0)
		return walk;
	walk.before = last - 1;
	walk.at = table->all[walk.before].next;
	return walk;
}

void ft_nccl_unpaired_step(struct ft_nccl_unpaired_table *table, struct ft_nccl_unpaired_walk *walk)
{
	bool is_last = walk->at == table->last[walk->chain] - 1;

	walk->looks--;
	if (!is_last && walk->looks == 0)
		table->last[walk->chain] = walk->at + 1;
	if (is_last || walk->looks == 0) {
		walk->at = FT_NCCL_NONE;
		return;
	}
	walk->before = walk->at;
	walk->at = table->all[walk->at].next;
}

void ft_nccl_unpaired_remove(struct ft_nccl_unpaired_table *table,
			     struct ft_nccl_unpaired_walk *walk)
{
	struct ft_nccl_unpaired *gone = &table->all[walk->at];
	bool is_last = walk->at == table->last[walk->chain] - 1, is_only = walk->before == walk->at;
	uint32_t next = gone->next, number = walk->at;

	table->all[walk->before].next = next;
	gone->next = table->free;
	table->free = number + 1;
	if (is_last)
		table->last[walk->chain] = is_only ? 0 : walk->before + 1;
	walk->at = is_last ? FT_NCCL_NONE : next;
}
