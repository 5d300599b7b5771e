#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * From a key (a name, a GUID, an address) to a number, growing while a map is read. Keys are
 * compared as bytes and borrowed: they must outlive the table. Zero-initialise.
 */
struct ft_keys {
	struct ft_key *slots;
	size_t room, count;
};

/* The key's number, or UINT32_MAX. */
uint32_t ft_keys_find(const struct ft_keys *keys, const void *key, size_t length);

/* Adds a key that is not there yet. 0, or -ENOMEM. */
int ft_keys_insert(struct ft_keys *keys, const void *key, size_t length, uint32_t number);

/* Gives a key that is there another number. */
void ft_keys_set(struct ft_keys *keys, const void *key, size_t length, uint32_t number);

void ft_keys_release(struct ft_keys *keys);
