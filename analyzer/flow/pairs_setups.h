#pragma once

#include <stdbool.h>

#include <flow/table.h>

/*
 * Pairs of queue pairs that a set-up named, kept until newer ones push them out: the set-up passes
 * before the first packet of the connection does. A queue pair is in one set-up, the newest.
 */
struct ft_setups;

/* 0 or -ENOMEM. Remembers `capacity`, a power of two. */
int ft_setups_create(struct ft_setups **setups, uint32_t capacity, uint64_t seed);
void ft_setups_destroy(struct ft_setups *setups); /* NULL is fine */

void ft_setups_add(struct ft_setups *setups, const struct ft_flow_key *there,
		   const struct ft_flow_key *back, enum ft_paired_by by);

/* Whether there is nothing to find. */
bool ft_setups_are_none(const struct ft_setups *setups);

/* Forget the set-up that this key is in, if there is one. */
void ft_setups_drop(struct ft_setups *setups, const struct ft_flow_key *key);

/* The other half of a set-up that names `key`, and who said so; NULL: none. Good until the next add or drop. */
const struct ft_flow_key *ft_setups_find(const struct ft_setups *setups,
					 const struct ft_flow_key *key, enum ft_paired_by *by);
