#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <decode/opcode.h>

#include "tally.h"

enum { RED, BLUE, TENANTS, EXCEPTION = 5 };
enum { T0 = 1000, BYTES = 100, CE = 3 };

#define UNKNOWN FT_NONE

static const struct ft_frame frame = { .wire = BYTES, .ts_ns = T0 };

static int set_up(void **state)
{
	static struct ft_tally tally;

	*state = &tally;
	return ft_tally_init(&tally, TENANTS, 7);
}

static int tear_down(void **state)
{
	ft_tally_free(*state);
	return 0;
}

/* A frame from address `src` to address `dst` that was judged, with P_Key 0x8001. */
static struct ft_item item_of(uint8_t src, uint8_t dst)
{
	struct ft_item item = {
		.frame = &frame,
		.kind = FT_FRAME_JUDGED,
		.observed = { .has = FT_OBSERVED_BTH, .pkey = 0x8001 },
		.known = FT_NEED_ADDRESSES | FT_NEED_PKEY,
		.key = { .has_gids = 1, .pkey = 0x8001 },
	};

	item.key.src[15] = src;
	item.key.dst[15] = dst;
	return item;
}

static struct ft_judged judged_as(const struct ft_item *item, uint32_t from, uint32_t to)
{
	return (struct ft_judged){
		.key = item->key,
		.verdict = {
			.src.tenant = from,
			.dst.tenant = to,
			.exception = FT_NONE,
		},
		.cell = FT_NONE,
	};
}

static const struct ft_cell *cell_of(struct ft_tally *tally, uint32_t from, uint32_t to)
{
	return &tally->totals.cells[ft_totals_cell(&tally->totals, from, to)];
}

static void a_frame_is_in_the_pair_of_its_verdict(void **state)
{
	struct ft_tally *tally = *state;
	struct ft_item item = item_of(1, 2);
	struct ft_judged judged = judged_as(&item, RED, BLUE);
	const struct ft_cell *cell;

	ft_tally_count(tally, &item, &judged, NULL);
	ft_tally_count(tally, &item, &judged, NULL);
	assert_int_equal(item.from, RED);
	assert_int_equal(item.to, BLUE);
	cell = cell_of(tally, RED, BLUE);
	assert_int_equal(cell->packets, 2);
	assert_int_equal(cell->bytes, 2 * BYTES);
	assert_int_equal(cell->judged, 2);
	assert_int_equal(cell->undecided, 0);
	assert_int_equal(cell->violating, 0);
	assert_int_equal(tally->totals.pkeys[0x8001].packets, 2);
	assert_int_equal(tally->totals.pkeys[0x8001].bytes, 2 * BYTES);
	assert_int_equal(tally->totals.seen_by_tenant[RED], 1);
	assert_int_equal(tally->totals.seen_by_tenant[BLUE], 1);
}

static void a_frame_that_nothing_is_known_of_is_counted_all_the_same(void **state)
{
	struct ft_tally *tally = *state;
	struct ft_item item = item_of(1, 2);

	item.kind = FT_FRAME_NOT_RDMA;
	item.known = 0;
	ft_tally_count(tally, &item, NULL, NULL);
	assert_int_equal(item.from, UNKNOWN);
	assert_int_equal(item.to, UNKNOWN);
	assert_int_equal(cell_of(tally, UNKNOWN, UNKNOWN)->packets, 1);
	assert_int_equal(cell_of(tally, UNKNOWN, UNKNOWN)->judged, 0);
	assert_int_equal(cell_of(tally, UNKNOWN, UNKNOWN)->undecided, 0);
	assert_int_equal(tally->totals.pkeys[0x8001].packets, 0);
	assert_int_equal(tally->not_rdma, 1);
	assert_int_equal(tally->unopened[FT_UNOPENED_ESP], 0);
	item.unopened = FT_UNOPENED_ESP;
	ft_tally_count(tally, &item, NULL, NULL);
	assert_int_equal(tally->not_rdma, 2);
	assert_int_equal(tally->unopened[FT_UNOPENED_ESP], 1);
}

/* Of datagrams no number tells anything; of a frame cut before its transport, nobody knows. */
static void a_frame_cut_before_the_number_its_transport_counts_by_is_counted(void **state)
{
	static const struct {
		uint8_t service, known;
		uint32_t has;
		uint64_t unnumbered;
	} cases[] = {
		{ FT_RC, FT_NEED_PKEY, 0, 1 }, { FT_RC, FT_NEED_PKEY, FT_OBSERVED_BTH, 0 },
		{ FT_UC, FT_NEED_PKEY, 0, 1 }, { FT_XRC, FT_NEED_PKEY, 0, 1 },
		{ FT_UD, FT_NEED_PKEY, 0, 0 }, { FT_CNP, FT_NEED_PKEY, 0, 0 },
		{ FT_UD, FT_NEED_TAGS, 0, 1 },
	};
	struct ft_tally *tally = *state;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ft_item item = item_of(1, 2);
		struct ft_judged judged = judged_as(&item, RED, BLUE);

		item.key.service = cases[i].service;
		item.known = cases[i].known;
		item.observed.has = cases[i].has;
		tally->unnumbered = 0;
		ft_tally_count(tally, &item, &judged, NULL);
		assert_int_equal(tally->unnumbered, cases[i].unnumbered);
	}
}

/* The record remembers the pair, for frames that need no verdict. */
static void the_record_of_a_flow_keeps_its_pair(void **state)
{
	struct ft_tally *tally = *state;
	struct ft_flow part = { .cell = FT_NONE };
	struct ft_item item = item_of(1, 2);
	struct ft_judged judged = judged_as(&item, BLUE, RED);

	ft_tally_count(tally, &item, &judged, &part);
	item.from = item.to = UNKNOWN;
	ft_tally_count(tally, &item, NULL, &part);
	assert_int_equal(item.from, BLUE);
	assert_int_equal(item.to, RED);
	item.from = item.to = UNKNOWN;
	ft_tally_usual(tally, &item, part.cell);
	assert_int_equal(item.from, BLUE);
	assert_int_equal(item.to, RED);
	assert_int_equal(cell_of(tally, BLUE, RED)->packets, 3);
	assert_int_equal(cell_of(tally, BLUE, RED)->bytes, 3 * BYTES);
	assert_int_equal(cell_of(tally, BLUE, RED)->judged, 3);
	assert_int_equal(tally->totals.pkeys[0x8001].packets, 3);
}

/* Nothing of it can be trusted, not even the addresses: it is of no pair. */
static void a_wrong_icrc_is_of_no_pair_whatever_its_flow(void **state)
{
	struct ft_tally *tally = *state;
	struct ft_flow part = { .cell = ft_totals_cell(&tally->totals, RED, RED) };
	struct ft_item item = item_of(1, 2);

	item.kind = FT_FRAME_BAD_ICRC;
	item.undecided = true;
	item.rules = 1u << FT_RULE_DECODE_BAD_ICRC;
	ft_tally_count(tally, &item, NULL, &part);
	assert_int_equal(cell_of(tally, RED, RED)->packets, 0);
	assert_int_equal(cell_of(tally, UNKNOWN, UNKNOWN)->packets, 1);
	assert_int_equal(cell_of(tally, UNKNOWN, UNKNOWN)->undecided, 1);
	assert_int_equal(cell_of(tally, UNKNOWN, UNKNOWN)->violating, 0); /* a remark */
	assert_int_equal(tally->undecided_bad_icrc, 1);
}

static void further_packets_of_a_frame_and_copies_are_only_placed(void **state)
{
	struct ft_tally *tally = *state;
	struct ft_item second = item_of(1, 2), copy = item_of(1, 2);
	struct ft_judged judged = judged_as(&second, RED, BLUE);

	second.sub = 1;
	copy.copy = true;
	ft_tally_count(tally, &second, &judged, NULL);
	ft_tally_count(tally, &copy, &judged, NULL);
	assert_int_equal(second.to, BLUE);
	assert_int_equal(copy.to, BLUE);
	assert_int_equal(ft_totals_sum(&tally->totals).packets, 0);
	assert_int_equal(tally->totals.pkeys[0x8001].packets, 0);
}

/* Why no verdict was reached, and what of that counts as cut or broken. */
static void undecided_frames_say_why(void **state)
{
	static const struct row {
		const char *says;
		enum ft_frame_kind kind;
		bool undecided, untimed;
		uint8_t truncated;
		size_t counter; /* the one of them that counts it */
		unsigned cut, broken;
	} rows[] = {
		{ "not RDMA", FT_FRAME_NOT_RDMA, false, false, FT_COMPLETE,
		  offsetof(struct ft_tally, not_rdma), 0, 0 },
		{ "not RDMA, and cut", FT_FRAME_NOT_RDMA, false, false, FT_CUT_BTH,
		  offsetof(struct ft_tally, not_rdma), 0, 0 },
		{ "subnet management", FT_FRAME_NEVER_JUDGED, false, false, FT_COMPLETE,
		  offsetof(struct ft_tally, never_judged), 0, 0 },
		{ "subnet management without time", FT_FRAME_NEVER_JUDGED, false, true, FT_COMPLETE,
		  offsetof(struct ft_tally, never_judged), 0, 0 },
		{ "no time under a map that changes", FT_FRAME_JUDGED, true, true, FT_COMPLETE,
		  offsetof(struct ft_tally, undecided_untimed), 0, 0 },
		{ "a wrong ICRC", FT_FRAME_BAD_ICRC, true, false, FT_COMPLETE,
		  offsetof(struct ft_tally, undecided_bad_icrc), 0, 0 },
		{ "broken", FT_FRAME_BROKEN, true, false, FT_COMPLETE,
		  offsetof(struct ft_tally, undecided_malformed), 0, 1 },
		{ "cut among the addresses", FT_FRAME_CUT, true, false, FT_CUT_BTH,
		  offsetof(struct ft_tally, undecided_cut), 1, 0 },
		{ "of a link type that is not read", FT_FRAME_UNREAD, true, false, FT_COMPLETE,
		  offsetof(struct ft_tally, undecided_unread), 0, 0 },
		{ "judged, but what a rule needs was cut", FT_FRAME_JUDGED, true, false, FT_CUT_BTH,
		  offsetof(struct ft_tally, undecided_cut), 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_item item = item_of(1, 2);
		struct ft_tally tally;
		uint64_t sum;

		assert_int_equal(ft_tally_init(&tally, TENANTS, 7), 0);
		item.kind = (uint8_t)rows[i].kind;
		item.undecided = rows[i].undecided;
		item.untimed = rows[i].untimed;
		item.truncated = rows[i].truncated;
		ft_tally_count(&tally, &item, NULL, NULL);
		ft_tally_count(&tally, &item, NULL, NULL);
		sum = tally.never_judged + tally.not_rdma + tally.undecided_bad_icrc +
		      tally.undecided_cut + tally.undecided_malformed + tally.undecided_untimed +
		      tally.undecided_unread;
		if (*(uint64_t *)((char *)&tally + rows[i].counter) != 2 || sum != 2 ||
		    tally.truncated != 2 * rows[i].cut || tally.undecodable != 2 * rows[i].broken ||
		    ft_totals_sum(&tally.totals).judged != 0)
			fail_msg("%s", rows[i].says);
		ft_tally_free(&tally);
	}
}

static void only_violations_are_violating(void **state)
{
	struct ft_tally *tally = *state;
	struct ft_item item = item_of(1, 2);
	struct ft_judged judged = judged_as(&item, RED, BLUE);

	item.rules = 1u << FT_RULE_TENANT_GRACE | 1u << FT_RULE_SPOOF_SENDER_VARIES;
	ft_tally_count(tally, &item, &judged, NULL);
	assert_int_equal(cell_of(tally, RED, BLUE)->violating, 0);
	item.rules |= 1u << FT_RULE_TENANT_CROSSING | 1u << FT_RULE_PKEY_UNDECLARED;
	ft_tally_count(tally, &item, &judged, NULL);
	assert_int_equal(cell_of(tally, RED, BLUE)->violating, 1);
}

static void an_exception_is_named_if_it_was_needed(void **state)
{
	struct ft_tally *tally = *state;
	struct ft_item item = item_of(1, 2);
	struct ft_judged judged = judged_as(&item, RED, BLUE);
	const struct ft_cell *cell;

	judged.verdict.exception = EXCEPTION;
	item.permitted = item.grace = true;
	ft_tally_count(tally, &item, &judged, NULL); /* excused by grace */
	assert_int_equal(cell_of(tally, RED, BLUE)->exception_count, 0);
	item.grace = false;
	ft_tally_count(tally, &item, &judged, NULL);
	ft_tally_count(tally, &item, &judged, NULL);
	cell = cell_of(tally, RED, BLUE);
	assert_int_equal(cell->exception_count, 1);
	assert_int_equal(cell->exceptions[0], EXCEPTION);
}

static void groups_and_nobody_are_no_endpoints(void **state)
{
	struct ft_tally *tally = *state;
	struct ft_item item = item_of(1, 2);
	struct ft_judged group = judged_as(&item, RED, BLUE),
			 nobody = judged_as(&item, UNKNOWN, BLUE);

	group.verdict.dst.group = true;
	ft_tally_count(tally, &item, &group, NULL);
	assert_int_equal(tally->totals.seen_by_tenant[RED], 1);
	assert_int_equal(tally->totals.seen_by_tenant[BLUE], 0);
	ft_tally_count(tally, &item, &nobody, NULL);
	assert_int_equal(tally->totals.seen_by_tenant[RED], 1);
	assert_int_equal(tally->totals.seen_by_tenant[BLUE], 1);
}

static void marks_and_repetitions_are_told_by_pair(void **state)
{
	struct ft_tally *tally = *state;
	struct ft_item item = item_of(1, 2);
	const struct ft_cell *cell;

	item.from = RED;
	item.to = BLUE;
	item.observed = (struct ft_observed){ .has = FT_OBSERVED_IP, .ecn = CE };
	ft_tally_transport(tally, &item, &(struct ft_step){ .what = FT_STEP_NEW });
	item.observed = (struct ft_observed){ .has = FT_OBSERVED_IP, .opcode = 0x81 };
	ft_tally_transport(tally, &item, &(struct ft_step){ 0 }); /* of no connection */
	item.followed = true;
	ft_tally_transport(tally, &item, &(struct ft_step){ .what = FT_STEP_CNP });
	item.observed = (struct ft_observed){ .has = FT_OBSERVED_BECN };
	ft_tally_transport(tally, &item, &(struct ft_step){ .what = FT_STEP_ACK });
	item.observed.has = FT_OBSERVED_IP;
	ft_tally_transport(tally, &item, &(struct ft_step){ .what = FT_STEP_RNR });
	ft_tally_transport(tally, &item,
			   &(struct ft_step){ .what = FT_STEP_RETRANSMITTED | FT_STEP_ANSWER });
	ft_tally_transport(tally, &item, &(struct ft_step){ .what = FT_STEP_RETRANSMITTED });
	cell = cell_of(tally, RED, BLUE);
	assert_int_equal(cell->ce_marked, 1);
	assert_int_equal(cell->cnps, 2);
	assert_int_equal(cell->rnr_naks, 1);
	assert_int_equal(cell->retransmitted, 2);
	assert_int_equal(cell->packets, 0); /* which are counted elsewhere */
}

/* Of one in N the N - 1 others are not here; each packet of a datagram of samples stands for its own. */
static void samples_stand_for_what_is_not_here(void **state)
{
	struct ft_tally *tally = *state;
	struct ft_item item = item_of(1, 2);

	item.sampled_of = 1000;
	ft_tally_count(tally, &item, NULL, NULL);
	item.sub = 1;
	item.sampled_of = 10;
	ft_tally_count(tally, &item, NULL, NULL);
	assert_int_equal(tally->unsampled, 999 + 9);
	item.copy = true;
	ft_tally_count(tally, &item, NULL, NULL);
	item.copy = false;
	item.kind = FT_FRAME_NOT_RDMA;
	ft_tally_count(tally, &item, NULL, NULL);
	assert_int_equal(tally->unsampled, 999 + 9);
}

/* Each count another number, so that none can be taken for another. */
static void fill(struct ft_tally *tally, uint64_t times)
{
	uint64_t *const counts[] = {
		&tally->duplicates,          &tally->duplicate_bytes,
		&tally->never_judged,        &tally->not_rdma,
		&tally->undecided_bad_icrc,  &tally->undecided_cut,
		&tally->undecided_malformed, &tally->undecided_untimed,
		&tally->truncated,           &tally->undecodable,
		&tally->unnumbered,          &tally->undecided_unread,
		&tally->unopened[1],         &tally->unopened[FT_UNOPENED_KINDS - 1],
		&tally->unsampled,
	};

	for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
		*counts[i] = times * (i + 1);
}

static void what_workers_counted_adds_up(void **state)
{
	struct ft_tally *tally = *state, other, expected;
	struct ft_item item = item_of(1, 2);
	struct ft_judged judged = judged_as(&item, RED, BLUE);

	assert_int_equal(ft_tally_init(&other, TENANTS, 7), 0);
	assert_int_equal(ft_tally_init(&expected, TENANTS, 7), 0);
	fill(tally, 10);
	fill(&other, 100);
	fill(&expected, 110);
	ft_tally_count(&other, &item, &judged, NULL);
	ft_tally_merge(tally, &other);
	assert_int_equal(cell_of(tally, RED, BLUE)->packets, 1);
	ft_totals_free(&tally->totals);
	ft_totals_free(&other.totals);
	ft_totals_free(&expected.totals);
	assert_memory_equal(tally, &expected, sizeof expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(samples_stand_for_what_is_not_here, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_frame_is_in_the_pair_of_its_verdict, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			a_frame_that_nothing_is_known_of_is_counted_all_the_same, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			a_frame_cut_before_the_number_its_transport_counts_by_is_counted, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(the_record_of_a_flow_keeps_its_pair, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_wrong_icrc_is_of_no_pair_whatever_its_flow,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			further_packets_of_a_frame_and_copies_are_only_placed, set_up, tear_down),
		cmocka_unit_test(undecided_frames_say_why),
		cmocka_unit_test_setup_teardown(only_violations_are_violating, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_exception_is_named_if_it_was_needed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(groups_and_nobody_are_no_endpoints, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(marks_and_repetitions_are_told_by_pair, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_workers_counted_adds_up, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
