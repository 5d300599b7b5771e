#include "index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <partition/declared.h>

static uint32_t chance = 1;

static uint32_t draw(uint32_t below)
{
	chance = chance * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)chance * below >> 32);
}

static void numbers_keep_their_first_value(void **state)
{
	static const uint64_t keys[] = { 0, 1, UINT64_MAX, 1ull << 63, 0x0002c90300001234 };
	enum { KEYS = sizeof keys / sizeof keys[0] };
	struct ft_numbers numbers;

	(void)state;
	assert_int_equal(ft_numbers_create(&numbers, KEYS), 0);
	for (uint32_t i = 0; i < KEYS; i++) {
		assert_int_equal(ft_numbers_find(&numbers, keys[i]), FT_NONE);
		assert_int_equal(ft_numbers_insert(&numbers, keys[i], 10 + i), 10 + i);
		assert_int_equal(ft_numbers_insert(&numbers, keys[i], 99), 10 + i);
	}
	for (uint32_t i = 0; i < KEYS; i++)
		assert_int_equal(ft_numbers_find(&numbers, keys[i]), 10 + i);
	assert_int_equal(ft_numbers_find(&numbers, 2), FT_NONE);
	ft_numbers_destroy(&numbers);
}

static void a_table_without_room_holds_nothing(void **state)
{
	static const uint8_t nowhere[16] = { 0 };
	struct ft_numbers numbers;
	struct ft_names names;
	struct ft_nets nets;

	(void)state;
	assert_int_equal(ft_numbers_create(&numbers, 0), 0);
	assert_int_equal(ft_names_create(&names, 0), 0);
	assert_int_equal(ft_nets_create(&nets, 0), 0);
	assert_int_equal(ft_numbers_find(&numbers, 0), FT_NONE);
	assert_int_equal(ft_names_find(&names, ""), FT_NONE);
	assert_int_equal(ft_nets_match_address(&nets, nowhere), FT_NONE);
	assert_int_equal(ft_nets_guess(&nets, nowhere), FT_NONE);
	ft_numbers_destroy(&numbers);
	ft_names_destroy(&names);
	ft_nets_destroy(&nets);
}

static void names_are_numbered_as_they_come(void **state)
{
	enum { NAMES = 1000 };
	static char text[NAMES][12];
	struct ft_names names;

	(void)state;
	assert_int_equal(ft_names_create(&names, NAMES), 0);
	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(text[i], sizeof text[i], "%s%u", i % 2 ? "gpu" : "", i / 2);
		assert_int_equal(ft_names_find(&names, text[i]), FT_NONE);
		assert_int_equal(ft_names_insert(&names, text[i]), i);
	}
	for (uint32_t i = 0; i < NAMES; i++) {
		char copy[12];

		strcpy(copy, text[i]);
		assert_int_equal(ft_names_find(&names, copy), i);
		assert_int_equal(ft_names_insert(&names, copy), i);
		assert_ptr_equal(names.keys[i], text[i]);
	}
	assert_int_equal(names.count, NAMES);
	assert_int_equal(ft_names_find(&names, "gpu"), FT_NONE);
	ft_names_destroy(&names);
}

/* ---- prefixes, held to a search bit by bit ---- */

enum { MOST = 400 };

struct net {
	uint8_t address[16];
	unsigned bits;
};

/* Addresses of few different bytes, so that prefixes lie in each other. */
static void draw_address(uint8_t address[16])
{
	for (unsigned i = 0; i < 16; i++)
		address[i] = (uint8_t)(i < 8 ? 0xfe : draw(4) == 0 ? draw(256) : 0);
}

static bool bit(const uint8_t address[16], unsigned at)
{
	return (address[at / 8] >> (7 - at % 8) & 1) != 0;
}

static bool lies_in(const uint8_t address[16], const struct net *net)
{
	for (unsigned i = 0; i < net->bits; i++)
		if (bit(address, i) != bit(net->address, i))
			return false;
	return true;
}

/* The longest prefix of fewer bits that holds an address of so many bits. */
static uint32_t longest(const struct net *nets, uint32_t count, const struct net *address,
			unsigned below)
{
	uint32_t best = FT_NONE;

	for (uint32_t i = 0; i < count; i++)
		if (nets[i].bits < below && nets[i].bits <= address->bits &&
		    lies_in(address->address, &nets[i]) &&
		    (best == FT_NONE || nets[i].bits > nets[best].bits))
			best = i;
	return best;
}

static bool same(const struct net *a, const struct net *b)
{
	return a->bits == b->bits && lies_in(a->address, b);
}

static uint32_t fill(struct ft_nets *nets, struct net *known)
{
	static const unsigned lengths[] = { 0, 1, 63, 64, 65, 96, 104, 120, 127, 128 };
	uint32_t count = 0;

	for (unsigned i = 0; i < MOST; i++) {
		struct net *net = &known[count];
		uint32_t twin = FT_NONE;

		draw_address(net->address);
		net->bits = lengths[draw(sizeof lengths / sizeof lengths[0])];
		for (uint32_t k = 0; k < count && twin == FT_NONE; k++)
			twin = same(net, &known[k]) ? k : FT_NONE;
		assert_int_equal(ft_nets_find(nets, ft_net_of(net->address, net->bits)), twin);
		assert_int_equal(ft_nets_insert(nets, ft_net_of(net->address, net->bits)),
				 twin != FT_NONE ? twin : count);
		count += twin == FT_NONE;
	}
	return count;
}

static void the_longest_prefix_is_found(void **state)
{
	static const unsigned below[] = { 129, 128, 127, 65, 64, 1, 0 };
	static struct net known[MOST];
	struct ft_nets nets;
	uint32_t count, whole;

	(void)state;
	assert_int_equal(ft_nets_create(&nets, MOST), 0);
	count = fill(&nets, known);
	assert_in_range(count, 100, MOST);
	for (unsigned i = 0; i < 3000; i++) {
		struct net asked = { .bits = i % 3 == 0 ? draw(129) : 128 };

		if (i % 2 == 0)
			memcpy(asked.address, known[draw(count)].address, 16);
		else
			draw_address(asked.address);
		for (unsigned b = 0; b < sizeof below / sizeof below[0]; b++)
			assert_int_equal(ft_nets_match(&nets, ft_net_of(asked.address, asked.bits),
						       below[b]),
					 longest(known, count, &asked, below[b]));
		asked.bits = 128;
		assert_int_equal(ft_nets_match_address(&nets, asked.address),
				 longest(known, count, &asked, 129));
		whole = ft_nets_find(&nets, ft_net_of(asked.address, 128));
		if (ft_nets_guess(&nets, asked.address) == FT_NONE)
			assert_int_equal(whole, FT_NONE);
	}
	ft_nets_destroy(&nets);
}

/* All of them are the same bits, and fill the table so that they meet in it. */
static void prefixes_of_one_address_are_told_apart_by_length(void **state)
{
	static const uint8_t zeros[16] = { 0 };
	struct ft_nets nets;

	(void)state;
	assert_int_equal(ft_nets_create(&nets, 129), 0);
	for (unsigned bits = 0; bits <= 128; bits++) {
		assert_int_equal(ft_nets_find(&nets, ft_net_of(zeros, bits)), FT_NONE);
		assert_int_equal(ft_nets_insert(&nets, ft_net_of(zeros, bits)), bits);
	}
	for (unsigned bits = 0; bits <= 128; bits++)
		assert_int_equal(ft_nets_match(&nets, ft_net_of(zeros, 128), bits + 1), bits);
	ft_nets_destroy(&nets);
}

static void a_prefix_ends_where_it_says(void **state)
{
	static const uint8_t ones[16] = { 255, 255, 255, 255, 255, 255, 255, 255,
					  255, 255, 255, 255, 255, 255, 255, 255 };
	static const struct {
		unsigned bits;
		uint64_t high, low;
	} rows[] = {
		{ 0, 0, 0 },
		{ 1, 1ull << 63, 0 },
		{ 63, UINT64_MAX - 1, 0 },
		{ 64, UINT64_MAX, 0 },
		{ 65, UINT64_MAX, 1ull << 63 },
		{ 127, UINT64_MAX, UINT64_MAX - 1 },
		{ 128, UINT64_MAX, UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ft_net_prefix net = ft_net_of(ones, rows[i].bits);

		assert_int_equal(net.high, rows[i].high);
		assert_int_equal(net.low, rows[i].low);
		assert_int_equal(net.bits, rows[i].bits);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_keep_their_first_value),
		cmocka_unit_test(a_table_without_room_holds_nothing),
		cmocka_unit_test(names_are_numbered_as_they_come),
		cmocka_unit_test(the_longest_prefix_is_found),
		cmocka_unit_test(prefixes_of_one_address_are_told_apart_by_length),
		cmocka_unit_test(a_prefix_ends_where_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
