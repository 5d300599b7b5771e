#include "index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <partition/declared.h>

/* At most half full, so that every probe ends. */
static size_t slots_for(size_t most)
{
	size_t slots = 8;

	while (slots < most * 2)
		slots *= 2;
	return slots;
}

static uint32_t *empty_slots(size_t slots)
{
	uint32_t *values = malloc(slots * sizeof *values);

	if (values != NULL)
		memset(values, 0xff, slots * sizeof *values); /* FT_NONE */
	return values;
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

int ft_numbers_create(struct ft_numbers *numbers, size_t most)
{
	size_t slots = slots_for(most);

	numbers->keys = malloc(slots * sizeof *numbers->keys);
	numbers->values = empty_slots(slots);
	numbers->mask = slots - 1;
	return numbers->keys != NULL && numbers->values != NULL ? 0 : -ENOMEM;
}

void ft_numbers_destroy(struct ft_numbers *numbers)
{
	free(numbers->keys);
	free(numbers->values);
}

static size_t number_slot(const struct ft_numbers *numbers, uint64_t key)
{
	size_t at = mix(key) & numbers->mask;

	while (numbers->values[at] != FT_NONE && numbers->keys[at] != key)
		at = (at + 1) & numbers->mask;
	return at;
}

uint32_t ft_numbers_insert(struct ft_numbers *numbers, uint64_t key, uint32_t value)
{
	size_t at = number_slot(numbers, key);

	if (numbers->values[at] == FT_NONE) {
		numbers->keys[at] = key;
		numbers->values[at] = value;
	}
	return numbers->values[at];
}

uint32_t ft_numbers_find(const struct ft_numbers *numbers, uint64_t key)
{
	return numbers->values[number_slot(numbers, key)];
}

int ft_names_create(struct ft_names *names, size_t most)
{
	size_t slots = slots_for(most);

	names->keys = malloc((most != 0 ? most : 1) * sizeof *names->keys);
	names->slots = empty_slots(slots);
	names->mask = slots - 1;
	names->count = 0;
	return names->keys != NULL && names->slots != NULL ? 0 : -ENOMEM;
}

void ft_names_destroy(struct ft_names *names)
{
	free(names->keys);
	free(names->slots);
}

static uint64_t name_hash(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *name != '\0'; name++)
		hash = (hash ^ (uint8_t)*name) * 0x100000001b3u;
	return mix(hash);
}

static size_t name_slot(const struct ft_names *names, const char *name)
{
	size_t at = name_hash(name) & names->mask;

	while (names->slots[at] != FT_NONE && strcmp(names->keys[names->slots[at]], name) != 0)
		at = (at + 1) & names->mask;
	return at;
}

uint32_t ft_names_insert(struct ft_names *names, const char *name)
{
	size_t at = name_slot(names, name);

	if (names->slots[at] == FT_NONE) {
		names->keys[names->count] = name;
		names->slots[at] = names->count++;
	}
	return names->slots[at];
}

uint32_t ft_names_find(const struct ft_names *names, const char *name)
{
	return names->slots[name_slot(names, name)];
}

static uint64_t be32(const uint8_t *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static uint64_t be64(const uint8_t *b)
{
	return be32(b) << 32 | be32(b + 4);
}

static uint64_t mask_of(unsigned bits) /* 0..64 leading ones */
{
	return bits == 0 ? 0 : ~(uint64_t)0 << (64 - bits);
}

static struct ft_net_prefix shortened(struct ft_net_prefix net, unsigned bits)
{
	net.high &= mask_of(bits < 64 ? bits : 64);
	net.low &= mask_of(bits > 64 ? bits - 64 : 0);
	net.bits = (uint8_t)bits;
	return net;
}

static struct ft_net_prefix whole(const uint8_t address[16])
{
	return (struct ft_net_prefix){ be64(address), be64(address + 8), 128 };
}

struct ft_net_prefix ft_net_of(const uint8_t address[16], unsigned bits)
{
	const struct ft_net_prefix net = whole(address);

	return bits == 128 ? net : shortened(net, bits);
}

int ft_nets_create(struct ft_nets *nets, size_t most)
{
	size_t slots = slots_for(most);

	nets->keys = malloc((most != 0 ? most : 1) * sizeof *nets->keys);
	nets->slots = empty_slots(slots);
	nets->mask = slots - 1;
	nets->count = 0;
	nets->length_count = 0;
	return nets->keys != NULL && nets->slots != NULL ? 0 : -ENOMEM;
}

void ft_nets_destroy(struct ft_nets *nets)
{
	free(nets->keys);
	free(nets->slots);
}

static bool same_net(const struct ft_net_prefix *a, const struct ft_net_prefix *b)
{
	return a->low == b->low && a->high == b->high && a->bits == b->bits;
}

/* Where the search for it begins. */
static size_t net_home(const struct ft_nets *nets, const struct ft_net_prefix *net)
{
	return mix(net->high ^ mix(net->low + net->bits)) & nets->mask;
}

static size_t net_slot(const struct ft_nets *nets, const struct ft_net_prefix *net)
{
	size_t at = net_home(nets, net);

	while (nets->slots[at] != FT_NONE && !same_net(&nets->keys[nets->slots[at]], net))
		at = (at + 1) & nets->mask;
	return at;
}

static void keep_length(struct ft_nets *nets, uint8_t bits)
{
	unsigned at = 0;

	while (at < nets->length_count && nets->lengths[at] > bits)
		at++;
	if (at < nets->length_count && nets->lengths[at] == bits)
		return;
	memmove(nets->lengths + at + 1, nets->lengths + at, nets->length_count - at);
	nets->lengths[at] = bits;
	nets->length_count++;
}

uint32_t ft_nets_insert(struct ft_nets *nets, struct ft_net_prefix net)
{
	size_t at = net_slot(nets, &net);

	if (nets->slots[at] == FT_NONE) {
		keep_length(nets, net.bits);
		nets->keys[nets->count] = net;
		nets->slots[at] = nets->count++;
	}
	return nets->slots[at];
}

uint32_t ft_nets_find(const struct ft_nets *nets, struct ft_net_prefix net)
{
	return nets->slots[net_slot(nets, &net)];
}

static uint32_t match(const struct ft_nets *nets, const struct ft_net_prefix *address,
		      unsigned below)
{
	for (unsigned i = 0; i < nets->length_count; i++) {
		unsigned bits = nets->lengths[i];
		struct ft_net_prefix net;
		uint32_t found;

		if (bits >= below || bits > address->bits)
			continue;
		net = shortened(*address, bits);
		found = nets->slots[net_slot(nets, &net)];
		if (found != FT_NONE)
			return found;
	}
	return FT_NONE;
}

uint32_t ft_nets_match(const struct ft_nets *nets, struct ft_net_prefix address, unsigned below)
{
	return match(nets, &address, below);
}

/* Most declared addresses are whole ones. */
uint32_t ft_nets_match_address(const struct ft_nets *nets, const uint8_t address[16])
{
	const struct ft_net_prefix net = whole(address);
	uint32_t found = nets->slots[net_slot(nets, &net)];

	return found != FT_NONE ? found : match(nets, &net, 128);
}

void ft_nets_fetch(const struct ft_nets *nets, const uint8_t address[16])
{
	const struct ft_net_prefix net = whole(address);

	__builtin_prefetch(&nets->slots[net_home(nets, &net)]);
}

uint32_t ft_nets_guess(const struct ft_nets *nets, const uint8_t address[16])
{
	const struct ft_net_prefix net = whole(address);
	uint32_t value = nets->slots[net_home(nets, &net)];

	if (value != FT_NONE)
		__builtin_prefetch(&nets->keys[value]);
	return value;
}
