#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "strays.h"

enum { HALF = 7, OTHER_HALF = 8, EXPECTED = 1000, FAR = 5000000 };

struct list {
	struct ft_strays strays;
	struct ft_findings findings;
	uint64_t frame;
};

static int set_up(void **state)
{
	static struct list list;
	const struct ft_subject subject = { .pkey = 0xffff };

	list = (struct list){ 0 };
	assert_int_equal(ft_strays_init(&list.strays), 0);
	assert_int_equal(ft_findings_init(&list.findings, 4), 0);
	assert_int_equal(ft_findings_of(&list.findings, FT_RULE_SPOOF_PSN_WINDOW, &subject), 0);
	*state = &list;
	return 0;
}

static int tear_down(void **state)
{
	struct list *list = *state;

	ft_strays_free(&list->strays);
	ft_findings_free(&list->findings);
	return 0;
}

static void add(struct list *list, uint64_t half, uint32_t expected_psn, uint32_t psn)
{
	const struct ft_stray stray = {
		.half = half,
		.dest_qp = 17,
		.number = ++list->frame,
		.ts_ns = list->frame * 1000,
		.wire = 100,
		.suspicion = { .rules = 1,
			       .frame = list->frame,
			       .psn = psn,
			       .expected_psn = expected_psn },
	};

	ft_strays_add(&list->strays, &stray, &list->findings);
}

/* The finding, when nothing more is to come. */
static const struct ft_finding *settled(struct list *list)
{
	ft_strays_settle(&list->strays, &list->findings);
	return &list->findings.items[0];
}

static void a_stray_counts_when_nothing_more_is_to_come(void **state)
{
	struct list *list = *state;
	const struct ft_finding *finding;

	add(list, HALF, EXPECTED, FAR);
	assert_int_equal(list->findings.items[0].packets, 0);
	finding = settled(list);
	assert_int_equal(finding->packets, 1);
	assert_int_equal(finding->bytes, 100);
	assert_int_equal(finding->frames[0], 1);
	assert_int_equal(finding->first_ts_ns, 1000);
	assert_int_equal(finding->dest_qps[0], 17);
	assert_int_equal(finding->suspicion.psn, FAR);
}

static void one_that_began_a_sequence_which_is_answered_does_not(void **state)
{
	struct list *list = *state;

	add(list, HALF, EXPECTED, FAR);
	add(list, HALF, EXPECTED, FAR + 1);
	ft_strays_answered(&list->strays, HALF, FAR + 3);
	assert_int_equal(settled(list)->packets, 0);
}

static void an_answer_excuses_nothing_else(void **state)
{
	struct list *list = *state;
	const struct ft_finding *finding;

	add(list, HALF, EXPECTED, FAR);
	add(list, HALF, EXPECTED, FAR / 2);
	add(list, OTHER_HALF, EXPECTED, FAR);
	ft_strays_answered(&list->strays, HALF, FAR + 1);
	finding = settled(list);
	assert_int_equal(finding->packets, 2);
	assert_int_equal(finding->frames[0], 2);
	assert_int_equal(finding->frames[1], 3);
	assert_int_equal(finding->suspicion.frame, 2);
}

static void who_goes_back_to_where_it_was_had_not_begun_anew(void **state)
{
	struct list *list = *state;
	const struct ft_finding *finding;

	add(list, HALF, EXPECTED, FAR);
	ft_strays_answered(&list->strays, HALF, FAR + 1);
	add(list, HALF, FAR + 1, EXPECTED);
	ft_strays_answered(&list->strays, HALF, EXPECTED + 1);
	finding = settled(list);
	assert_int_equal(finding->packets, 1);
	assert_int_equal(finding->frames[0], 1);
}

/* By chance a third life begins not far from where the first one ended. */
static void who_comes_too_far_beyond_had(void **state)
{
	static const struct {
		uint32_t beyond, packets;
	} cases[] = { { 0, 1 }, { 8192, 1 }, { 8193, 0 }, { 65536, 0 } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct list *list = *state;
		uint64_t before = list->findings.items[0].packets;

		add(list, HALF, EXPECTED, FAR);
		ft_strays_answered(&list->strays, HALF, FAR + 1);
		add(list, HALF, FAR + 1, EXPECTED + cases[i].beyond);
		ft_strays_answered(&list->strays, HALF, EXPECTED + cases[i].beyond);
		assert_int_equal(settled(list)->packets - before, cases[i].packets);
	}
}

static void however_often_it_left(void **state)
{
	struct list *list = *state;
	const struct ft_finding *finding;

	add(list, HALF, EXPECTED, FAR);
	ft_strays_answered(&list->strays, HALF, FAR + 1);
	add(list, HALF, FAR + 1, 2 * FAR);
	ft_strays_answered(&list->strays, HALF, 2 * FAR + 1);
	add(list, HALF, 2 * FAR + 1, EXPECTED);
	ft_strays_answered(&list->strays, HALF, EXPECTED + 1);
	finding = settled(list);
	assert_int_equal(finding->packets, 2);
	assert_int_equal(finding->frames[1], 2);
}

static void what_there_is_no_room_for_counts_in_order(void **state)
{
	struct list *list = *state;

	for (uint32_t i = 0; i < FT_STRAYS + 3; i++) {
		add(list, HALF, EXPECTED, FAR + i * 100000 % 10000000);
		if (i == 1)
			ft_strays_answered(&list->strays, HALF, FAR + 100001);
	}
	assert_int_equal(list->findings.items[0].packets, 2);
	assert_int_equal(list->findings.items[0].frames[0], 1);
	assert_int_equal(list->findings.items[0].frames[1], 3);
	assert_int_equal(settled(list)->packets, FT_STRAYS + 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_stray_counts_when_nothing_more_is_to_come),
		TEST(one_that_began_a_sequence_which_is_answered_does_not),
		TEST(an_answer_excuses_nothing_else),
		TEST(who_goes_back_to_where_it_was_had_not_begun_anew),
		TEST(who_comes_too_far_beyond_had),
		TEST(however_often_it_left),
		TEST(what_there_is_no_room_for_counts_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
