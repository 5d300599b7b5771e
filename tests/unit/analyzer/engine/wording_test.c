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

/* The sentence at this place of a finding's evidence. */
static const char *sentence_of(struct ft_arena *words, const struct ft_declared *declared,
			       const struct ft_finding *finding, size_t count, size_t at)
{
	static const char *sentences[4];

	assert_int_equal(ft_wording_evidence(words, declared, finding, sentences, 4), count);
	return sentences[at];
}

static void a_changed_p_key_is_told_with_the_one_before(void **state)
{
	const struct ft_partition partition = { .base = 0x0001, .name = "red", .tenant = FT_NONE };
	const struct ft_declared declared = { .partitions = &partition, .partition_count = 1 };
	struct ft_finding finding = { .rule = FT_RULE_PKEY_CHANGED_ON_CONNECTION,
				      .origin = { .file = FT_NONE },
				      .packets = 2,
				      .frames = { 380, 382 },
				      .frame_count = 2,
				      .first_base = 0x0001 };
	struct ft_arena *words = ft_arena_create();

	(void)state;
	assert_string_equal(sentence_of(words, &declared, &finding, 2, 1),
			    "the connection of frame 380 began with P_Key base 0x0001 (red)");
	finding.first_base = 0x0044;
	assert_string_equal(
		sentence_of(words, &declared, &finding, 2, 1),
		"the connection of frame 380 began with P_Key base 0x0044 (undeclared)");
	ft_arena_destroy(words);
}

static void an_address_that_does_not_fit_is_told_with_its_owner(void **state)
{
	const struct ft_file file = { .path = "site.json" };
	const struct ft_port ports[] = {
		{ .host = "gpu07", .origin = { 0, 16, "/nodes/6/ports/0" } },
		{ .host = "leaf1", .origin = { 1, 16, NULL } },
		{ .origin = { 1, 17, NULL } },
	};
	const struct ft_declared declared = {
		.files = &file, .file_count = 1, .ports = ports, .port_count = 3
	};
	struct ft_finding finding = { .rule = FT_RULE_SPOOF_ADDRESS_MISMATCH,
				      .origin = { 0, 16, "/nodes/6/ports/0" } };
	struct ft_arena *words = ft_arena_create();

	(void)state;
	assert_string_equal(sentence_of(words, &declared, &finding, 2, 0),
			    "one of the addresses is that of gpu07");
	finding.origin = (struct ft_origin){ 1, 16, NULL };
	assert_string_equal(sentence_of(words, &declared, &finding, 1, 0),
			    "one of the addresses is that of leaf1");
	finding.origin.line = 17; /* a port without a name */
	assert_int_equal(ft_wording_evidence(words, &declared, &finding, NULL, 0), 0);
	sentence_of(words, &declared, &finding, 0, 0);
	finding.origin = (struct ft_origin){ 0, 16, "/nodes/5/ports/0" };
	assert_memory_equal(sentence_of(words, &declared, &finding, 1, 0), "decided by", 10);
	ft_arena_destroy(words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_icrcs_blame_the_path_only_with_reason),
		cmocka_unit_test(a_changed_p_key_is_told_with_the_one_before),
		cmocka_unit_test(an_address_that_does_not_fit_is_told_with_its_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
