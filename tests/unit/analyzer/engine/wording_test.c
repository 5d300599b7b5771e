#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "wording.h"

static const struct ft_declared no_map;

/* What is said of wrong ICRCs: `packets` of `flow_packets` have one. */
static const struct row {
	uint64_t packets, flow_packets;
	const char *sentence;
} rows[] = {
	{ 1, 1, "nothing else of these flows passed" },
	{ 3, 3, "nothing else of these flows passed" },
	{ 4, 4, "the ICRC is wrong in all 4 packets of these flows: the path rewrites them" },
	{ 1, 2, "the ICRC is wrong in 1 of 2 packets of these flows, not in the others: damaged" },
	{ 900, 1000, "the ICRC is wrong in 900 of 1000 packets of these flows, not in the others" },
};

static void wrong_icrcs_blame_the_path_only_with_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ft_finding finding = {
			.rule = FT_RULE_DECODE_BAD_ICRC,
			.origin = { .file = FT_NONE },
			.packets = rows[i].packets,
			.flow_packets = rows[i].flow_packets,
		};
		struct ft_arena *words = ft_arena_create();
		const char *sentence;

		assert_int_equal(ft_wording_evidence(words, &no_map, &finding, &sentence, 1), 1);
		if (strncmp(sentence, rows[i].sentence, strlen(rows[i].sentence)) != 0)
			fail_msg("%s", sentence);
		ft_arena_destroy(words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_icrcs_blame_the_path_only_with_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
