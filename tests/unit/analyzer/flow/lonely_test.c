#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lonely.h"

enum { SEED = 4711, PAIRS = 4, UNLIKE = 'u' };

/* Half-connections in a row, each two letters: from which host to which. "u" before one: nothing fits what it answered. */
static const struct {
	const char *what, *halves;
	uint64_t one_sided, unpaired;
} cases[] = {
	{ "none", "", 0, 0 },
	{ "one way alone", "abab", 2, 0 },
	{ "as many each way", "abbaabba", 0, 4 },
	{ "one more in one way", "abbaab", 1, 2 },
	{ "one more in the other", "baabba", 1, 2 },
	{ "ways of other hosts do not make up for it", "abcbbc", 1, 2 },
	{ "nothing fits one of them", "abuba", 2, 0 },
	{ "more pairs of hosts than there is room for", "abbaaccaaddabccbbddb", 2, 8 },
};

static struct ft_flow flow_between(char from, char to)
{
	struct ft_flow flow = { .key = { .vni = FT_FLOW_NO_VNI } };

	flow.key.src[15] = (uint8_t)from;
	flow.key.dst[15] = (uint8_t)to;
	return flow;
}

static void add_halves(struct ft_lonely *lonely, const char *halves)
{
	while (*halves != '\0') {
		bool unlike = *halves == UNLIKE;
		struct ft_flow flow;

		halves += unlike;
		flow = flow_between(halves[0], halves[1]);
		ft_lonely_add(lonely, &flow, unlike);
		halves += 2;
	}
}

static void check_sum(const struct ft_lonely *lonely, uint64_t one_sided, uint64_t unpaired)
{
	struct ft_lonely_sum sum = ft_lonely_sum(lonely);

	assert_int_equal(sum.one_sided, one_sided);
	assert_int_equal(sum.unpaired, unpaired);
}

static void what_one_way_has_more_lacks_its_reverse(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ft_lonely lonely;

		print_message("%s\n", cases[i].what);
		assert_int_equal(ft_lonely_init(&lonely, PAIRS, SEED), 0);
		add_halves(&lonely, cases[i].halves);
		check_sum(&lonely, cases[i].one_sided, cases[i].unpaired);
		ft_lonely_free(&lonely);
	}
}

static void a_tenant_network_of_its_own_is_another_pair(void **state)
{
	struct ft_flow flow = flow_between('a', 'b'), back = flow_between('b', 'a');
	struct ft_lonely lonely;

	(void)state;
	back.key.vni = 7;
	assert_int_equal(ft_lonely_init(&lonely, PAIRS, SEED), 0);
	ft_lonely_add(&lonely, &flow, false);
	ft_lonely_add(&lonely, &back, false);
	check_sum(&lonely, 2, 0);
	ft_lonely_free(&lonely);
}

static void two_parts_merged_are_the_whole(void **state)
{
	struct ft_lonely whole, part;

	(void)state;
	assert_int_equal(ft_lonely_init(&whole, PAIRS, SEED), 0);
	assert_int_equal(ft_lonely_init(&part, PAIRS, SEED), 0);
	add_halves(&whole, "ababacuda");
	add_halves(&part, "bacaudaad");
	ft_lonely_merge(&whole, &part);
	check_sum(&whole, 1 + 2 + 1, 2 + 2);
	ft_lonely_free(&part);
	ft_lonely_free(&whole);
}

static void halves_are_counted_by_the_way_they_go(void **state)
{
	const char *ways[] = { "ab", "ba", "ac", "ca", "bc" };
	const uint32_t wanted[] = { 3, 1, 0, 2, 0 };
	struct ft_lonely lonely;

	(void)state;
	assert_int_equal(ft_lonely_init(&lonely, PAIRS, SEED), 0);
	add_halves(&lonely, "abcaababbaca");
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		const struct ft_flow flow = flow_between(ways[i][0], ways[i][1]);

		assert_int_equal(ft_lonely_halves(&lonely, &flow.key), wanted[i]);
	}
	ft_lonely_free(&lonely);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_one_way_has_more_lacks_its_reverse),
		cmocka_unit_test(a_tenant_network_of_its_own_is_another_pair),
		cmocka_unit_test(two_parts_merged_are_the_whole),
		cmocka_unit_test(halves_are_counted_by_the_way_they_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
