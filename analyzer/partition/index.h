#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Hash tables of a size known before they are filled, for the compiled map: key -> 32-bit value.
 * FT_NONE is not a value. Create with room for `most` keys; 0 or -ENOMEM. The hash is fixed: the
 * map is the operator's own file, and what a frame can look up is bounded by what it holds.
 */

struct ft_numbers { /* keys are numbers: GUID, MAC, VNI */
	uint64_t *keys;
	uint32_t *values;
	size_t mask;
};
int ft_numbers_create(struct ft_numbers *numbers, size_t most);
void ft_numbers_destroy(struct ft_numbers *numbers);
/* The first value stays: returns what the key has now. */
uint32_t ft_numbers_insert(struct ft_numbers *numbers, uint64_t key, uint32_t value);
uint32_t ft_numbers_find(const struct ft_numbers *numbers, uint64_t key);

struct ft_names {          /* keys are strings, borrowed; values count from 0 in order */
	const char **keys; /* by value */
	uint32_t *slots;
	size_t mask;
	uint32_t count;
};
int ft_names_create(struct ft_names *names, size_t most);
void ft_names_destroy(struct ft_names *names);
uint32_t ft_names_insert(struct ft_names *names, const char *name);
uint32_t ft_names_find(const struct ft_names *names, const char *name);

/* A prefix in host order; bits beyond `bits` are 0. */
struct ft_net_prefix {
	uint64_t high, low;
	uint8_t bits;
};
struct ft_net_prefix ft_net_of(const uint8_t address[16], unsigned bits);

struct ft_nets {                    /* keys are prefixes; values count from 0 in order */
	struct ft_net_prefix *keys; /* by value */
	uint32_t *slots;
	size_t mask;
	uint32_t count;
	uint8_t lengths[129]; /* prefix lengths in use, longest first */
	uint8_t length_count;
};
int ft_nets_create(struct ft_nets *nets, size_t most);
void ft_nets_destroy(struct ft_nets *nets);
uint32_t ft_nets_insert(struct ft_nets *nets, struct ft_net_prefix net);
uint32_t ft_nets_find(const struct ft_nets *nets, struct ft_net_prefix net);
/* Longest prefix that holds the address and has fewer than `below` bits (129: any). */
uint32_t ft_nets_match(const struct ft_nets *nets, struct ft_net_prefix address, unsigned below);
/* Longest prefix that holds a whole address. */
uint32_t ft_nets_match_address(const struct ft_nets *nets, const uint8_t address[16]);
/*
 * The same in two steps for one that is likely a key itself: fetch from memory where its value would be; then the value
 * that is there, likely its own, else that of another key, and FT_NONE only if it is no key. What tells which is fetched.
 */
void ft_nets_fetch(const struct ft_nets *nets, const uint8_t address[16]);
uint32_t ft_nets_guess(const struct ft_nets *nets, const uint8_t address[16]);
