#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "moved.h"
#include "psn.h"

/*
 * A queue pair of InfiniBand that changes to its alternate path and back (IBA vol. 1, 17.2.8) shows as two halves, each of
 * which lacks what the other has. Cases are drawn, a letter for each PSN: x went one way, y the other, b both (sent again
 * after the change), - passed nowhere. What nobody saw is lost, once; if the two are connections of their own, each lost what
 * it lacks between its first packet and its last.
 */

enum { FIRST_PSN = 1000, QP = 77, ROOM = 200, WRAPS = 0xfffff0 };

struct drawing {
	const char *what, *packets;
	bool one; /* connection */
	uint32_t lost;
};

#define X8 "xxxxxxxx"
#define Y8 "yyyyyyyy"
#define B8 "bbbbbbbb"

static const struct drawing drawings[] = {
	{ "one way only", X8 X8, false, 0 },
	{ "one way only, with a loss", X8 "---" X8, false, 3 },
	{ "there and on, never back", X8 Y8, false, 0 },
	{ "there and back and there again", X8 Y8 X8 Y8, true, 0 },
	{ "in turns", "xyxyxyxyxyxyxyxyxyxy", true, 0 },
	{ "lost on the first way", X8 Y8 X8 "xx--xx" Y8, true, 2 },
	{ "lost on the second way", X8 Y8 "--" Y8 X8 Y8, true, 2 },
	{ "lost where one way is not in view any more", X8 Y8 X8 Y8 "-" Y8, true, 1 },
	{ "lost before the other way came up", X8 "----" X8 Y8 X8 Y8, true, 4 },
	{ "lost at the change", X8 "-" Y8 "-" X8 "-" Y8, true, 3 },
	{ "seven packets are too few to tell", X8 "yyyyyyy" X8 "y", false, 8 + 7 },
	{ "eight are enough", X8 Y8 X8 "y", true, 0 },
	{ "seven on the first way, between those of the other", "x" Y8 "xxxxxx" Y8 "x", false,
	  16 + 6 },
	{ "two connections with losses of their own", B8 "x" B8 "y" B8 "-" B8, false, 2 + 2 },
	{ "two of which one has lost half", B8 X8 B8 Y8, false, 8 },
	{ "a third of the fewer on both ways", X8 Y8 "b" Y8 X8 "x" Y8, true, 0 },
	{ "three of nine on both ways", "x" Y8 "bbbxxxxxx" Y8, true, 0 },
	{ "four of eleven on both ways", "x" Y8 "bbbbxxxxxxx" Y8, false, 8 + 7 },
};

/* --- two halves and what they lack --- */

struct halves {
	struct ft_moved *moved;
	struct ft_flow x, y;
	struct ft_tracker_totals totals;
	struct ft_loss_evidence *evidence;
	uint8_t kind; /* enum ft_span_kind, of what is missing */
	bool taken;   /* all that was handed over */
};

static struct ft_flow half_by_lid(uint16_t slid, uint16_t dlid)
{
	struct ft_flow flow = { .key = { .dest_qp = QP,
					 .vni = FT_FLOW_NO_VNI,
					 .base = FT_FLOW_ANY_BASE,
					 .vlan = FT_FLOW_ANY_VLAN,
					 .by_lid = 1 } };

	ft_flow_put_lid(flow.key.src, slid);
	ft_flow_put_lid(flow.key.dst, dlid);
	flow.half.service = FT_RC;
	flow.half.next_psn = flow.half.first_psn = FT_PSN_NONE;
	return flow;
}

static void begin(struct halves *halves)
{
	*halves = (struct halves){ .moved = ft_moved_create(),
				   .x = half_by_lid(1, 2),
				   .y = half_by_lid(3, 4),
				   .evidence = calloc(1, sizeof *halves->evidence),
				   .taken = true };
	assert_non_null(halves->moved);
	assert_non_null(halves->evidence);
	ft_loss_init(halves->evidence);
}

static void settle(struct halves *halves)
{
	ft_moved_count(halves->moved, &halves->totals, halves->evidence);
}

static void end(struct halves *halves)
{
	ft_moved_destroy(halves->moved);
	free(halves->evidence);
}

static bool is_here(char packet, char way)
{
	return packet == way || packet == 'b';
}

static void lack(struct halves *halves, const struct ft_flow *flow, uint32_t from, uint32_t count,
		 bool open)
{
	struct ft_span span = { .from = from, .count = count, .kind = halves->kind, .frame = from };
	struct ft_span_outcome outcome = { 0 };

	if (open)
		outcome.open = count;
	else
		outcome.lost = count;
	halves->taken &= ft_moved_add(halves->moved, flow, &span, &outcome);
}

/* One way of a drawing, whose first letter is PSN `first`. */
static void draw_way(struct halves *halves, struct ft_flow *flow, const char *packets, char way,
		     uint32_t first, bool open)
{
	size_t length = strlen(packets), gap = 0;
	bool begun = false;

	for (size_t i = 0; i < length; i++) {
		uint32_t psn = ft_psn_add(first, (uint32_t)i);

		if (!is_here(packets[i], way)) {
			gap++;
			continue;
		}
		if (begun && gap != 0)
			lack(halves, flow, ft_psn_back(psn, (uint32_t)gap), (uint32_t)gap, open);
		if (!begun)
			flow->half.first_psn = psn;
		flow->half.next_psn = ft_psn_add(psn, 1);
		begun = true;
		gap = 0;
	}
	ft_moved_add_half(halves->moved, flow);
}

static void draw(struct halves *halves, const char *packets, uint32_t first, bool open)
{
	draw_way(halves, &halves->x, packets, 'x', first, open);
	draw_way(halves, &halves->y, packets, 'y', first, open);
}

static void check_drawings(uint32_t first, bool open)
{
	for (size_t i = 0; i < sizeof drawings / sizeof *drawings; i++) {
		struct halves halves;

		begin(&halves);
		draw(&halves, drawings[i].packets, first, open);
		settle(&halves);
		print_message("%s\n", drawings[i].what);
		assert_true(halves.taken);
		assert_int_equal(open ? halves.totals.gaps_open : halves.totals.mirror_lost,
				 drawings[i].lost);
		assert_int_equal(open ? halves.totals.mirror_lost : halves.totals.gaps_open, 0);
		end(&halves);
	}
}

/* --- */

static void of_two_ways_nothing_is_lost_that_one_has(void **state)
{
	(void)state;
	check_drawings(FIRST_PSN, false);
}

static void nor_is_it_open(void **state)
{
	(void)state;
	check_drawings(FIRST_PSN, true);
}

static void numbers_wrap(void **state)
{
	(void)state;
	check_drawings(WRAPS, false);
}

/* Holes are evidence of loss only as far as the other way lacks them, too. */
static void evidence_has_what_totals_have(void **state)
{
	struct halves halves;

	(void)state;
	begin(&halves);
	draw(&halves, X8 Y8 "--" Y8 X8 "-" Y8, FIRST_PSN, false);
	settle(&halves);
	assert_int_equal(halves.evidence->requests_lost, 3);
	assert_int_equal(halves.totals.lost_by_gap, 3);
	assert_int_equal(halves.totals.lost_by_ack, 0);
	end(&halves);
}

static void another_queue_pair_is_another_connection(void **state)
{
	struct halves halves;

	(void)state;
	begin(&halves);
	halves.y.key.dest_qp = QP + 1;
	draw(&halves, X8 Y8 X8 Y8, FIRST_PSN, false);
	settle(&halves);
	assert_int_equal(halves.totals.mirror_lost, 16);
	end(&halves);
}

/* A third half to the same queue pair number, of hosts that have nothing to do with it. */
static void two_ways_are_found_among_others(void **state)
{
	struct halves halves;
	struct ft_flow other = half_by_lid(9, 2);

	(void)state;
	begin(&halves);
	draw_way(&halves, &other, X8 "-----" X8, 'x', 5000000, false);
	draw(&halves, X8 Y8 X8 Y8, FIRST_PSN, false);
	settle(&halves);
	assert_int_equal(halves.totals.mirror_lost, 5);
	end(&halves);
}

/* Three connections, whose halves and holes come in no order. */
static void ways_are_found_whatever_the_order(void **state)
{
	static const char *const packets[] = { X8 Y8 X8 Y8, X8 Y8 X8 "-" Y8,
					       "xyxyxyxyxyxyxyxyxyxy" };
	static const unsigned orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 } };

	(void)state;
	for (size_t order = 0; order < sizeof orders / sizeof *orders; order++) {
		struct halves halves;

		begin(&halves);
		for (unsigned way = 0; way < 2; way++)
			for (unsigned i = 0; i < 3; i++) {
				unsigned qp = orders[order][i];
				struct ft_flow flow = half_by_lid((uint16_t)(1 + 10 * qp + way), 2);

				flow.key.dest_qp = QP + qp;
				draw_way(&halves, &flow, packets[qp], way == 0 ? 'x' : 'y',
					 FIRST_PSN, false);
			}
		settle(&halves);
		assert_int_equal(halves.totals.mirror_lost, 1);
		end(&halves);
	}
}

/* More than 64 of one number are not compared. */
static void a_crowd_to_one_number_is_left_alone(void **state)
{
	for (uint16_t others = 62; others <= 63; others++) {
		struct halves halves;

		(void)state;
		begin(&halves);
		for (uint16_t i = 0; i < others; i++) {
			struct ft_flow other = half_by_lid((uint16_t)(100 + i), 2);

			draw_way(&halves, &other, X8, 'x', 2000000 + 1000u * i, false);
		}
		draw(&halves, X8 Y8 X8 Y8, FIRST_PSN, false);
		settle(&halves);
		assert_int_equal(halves.totals.mirror_lost, others == 62 ? 0 : 16);
		end(&halves);
	}
}

/* Only what a queue pair can do that has an alternate path: reliable, with LIDs or GIDs. */
static void who_cannot_move_counts_at_once(void **state)
{
	static const struct {
		const char *what;
		uint8_t service;
		bool ipv4, by_lid, taken;
	} rows[] = {
		{ "RC by LID", FT_RC, false, true, true },
		{ "RC by GID", FT_RC, false, false, true },
		{ "XRC by LID", FT_XRC, false, true, true },
		{ "UC", FT_UC, false, true, false },
		{ "RD", FT_RD, false, true, false },
		{ "UD", FT_UD, false, true, false },
		{ "RoCEv2 over IPv4", FT_RC, true, false, false },
		{ "LIDs whose bytes look like IPv4", FT_RC, true, true, true },
	};
	static const struct ft_span span = { .from = 5, .count = 3 };
	static const struct ft_span_outcome outcome = { .lost = 3 };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_flow flow = half_by_lid(1, 2);
		struct ft_moved_holes holes;
		struct halves halves;

		begin(&halves);
		assert_int_equal(ft_moved_holes_init(&holes), 0);
		flow.key.by_lid = rows[i].by_lid;
		flow.half.service = rows[i].service;
		if (rows[i].ipv4)
			memset(flow.key.dst + 10, 0xff, 2);
		print_message("%s\n", rows[i].what);
		assert_int_equal(ft_moved_add(halves.moved, &flow, &span, &outcome), rows[i].taken);
		assert_int_equal(ft_moved_holes_add(&holes, &flow, &span, &outcome), rows[i].taken);
		assert_int_equal(holes.count, rows[i].taken);
		settle(&halves);
		assert_int_equal(halves.totals.mirror_lost, rows[i].taken ? 3 : 0);
		ft_moved_holes_free(&holes);
		end(&halves);
	}
}

static void what_is_not_missing_counts_at_once(void **state)
{
	static const struct {
		const char *what;
		uint8_t kind;
		struct ft_span_outcome outcome;
		bool taken;
	} rows[] = {
		{ "lost", FT_SPAN_HOLE, { .lost = 1 }, true },
		{ "open", FT_SPAN_HOLE, { .open = 1 }, true },
		{ "late", FT_SPAN_HOLE, { 0 }, false },
		{ "responses lost", FT_SPAN_AWAITED, { .lost = 1 }, true },
		{ "responses of the half itself", FT_SPAN_SKIPPED, { .lost = 1 }, false },
	};
	struct ft_flow flow = half_by_lid(1, 2);
	struct ft_moved_holes holes;

	(void)state;
	assert_int_equal(ft_moved_holes_init(&holes), 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_span span = { .from = 5, .count = 1, .kind = rows[i].kind };
		uint32_t before = holes.count;

		assert_int_equal(ft_moved_holes_add(&holes, &flow, &span, &rows[i].outcome),
				 rows[i].taken);
		assert_int_equal(holes.count - before, rows[i].taken);
	}
	ft_moved_holes_free(&holes);
}

static void a_full_list_takes_no_more(void **state)
{
	static const struct ft_span span = { .from = 5, .count = 1 };
	static const struct ft_span_outcome outcome = { .lost = 1 };
	struct ft_flow flow = half_by_lid(1, 2);
	struct ft_moved_holes holes;
	struct halves halves;

	(void)state;
	begin(&halves);
	assert_int_equal(ft_moved_holes_init(&holes), 0);
	for (unsigned i = 0; i < FT_MOVED_KEPT; i++)
		assert_true(ft_moved_holes_add(&holes, &flow, &span, &outcome));
	assert_false(ft_moved_holes_add(&holes, &flow, &span, &outcome));
	ft_moved_add_settled(halves.moved, &holes);
	settle(&halves);
	assert_int_equal(halves.totals.mirror_lost, FT_MOVED_KEPT);
	ft_moved_holes_free(&holes);
	end(&halves);
}

/* What one engine has settled and what another one has open are of one connection. */
static void halves_of_two_engines_are_one(void **state)
{
	struct ft_span span = { .from = FIRST_PSN + 8, .count = 8, .kind = FT_SPAN_HOLE };
	struct ft_span_outcome outcome = { .lost = 8 };
	struct ft_moved_holes holes;
	struct halves halves;

	(void)state;
	begin(&halves);
	assert_int_equal(ft_moved_holes_init(&holes), 0);
	halves.x.half.first_psn = FIRST_PSN;
	halves.x.half.next_psn = FIRST_PSN + 24;
	assert_true(ft_moved_holes_add(&holes, &halves.x, &span, &outcome));
	ft_moved_add_settled(halves.moved, &holes);
	ft_moved_add_half(halves.moved, &halves.x);
	draw_way(&halves, &halves.y, X8 Y8 X8 Y8, 'y', FIRST_PSN, true);
	settle(&halves);
	assert_int_equal(halves.totals.mirror_lost, 0);
	assert_int_equal(halves.totals.gaps_open, 0);
	ft_moved_holes_free(&holes);
	end(&halves);
}

/* A half whose sequence is not known from its first request on is compared with nothing. */
static void a_sequence_not_known_is_no_way(void **state)
{
	static const struct {
		const char *what;
		uint32_t first, next;
		uint8_t flags;
		uint32_t lost;
	} rows[] = {
		{ "known", FIRST_PSN + 8, FIRST_PSN + 32, 0, 0 },
		{ "no request seen", FIRST_PSN + 8, FT_PSN_NONE, 0, 16 },
		{ "another sequence was here before", FT_PSN_ANEW, FIRST_PSN + 32, 0, 16 },
		{ "asked to send again", FIRST_PSN + 8, FIRST_PSN + 32, FT_HALF_NAKED, 16 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct halves halves;

		begin(&halves);
		draw_way(&halves, &halves.x, X8 Y8 X8 Y8, 'x', FIRST_PSN, false);
		lack(&halves, &halves.y, FIRST_PSN + 16, 8, false);
		halves.y.half.first_psn = rows[i].first;
		halves.y.half.next_psn = rows[i].next;
		halves.y.half.flags = rows[i].flags;
		ft_moved_add_half(halves.moved, &halves.y);
		settle(&halves);
		print_message("%s\n", rows[i].what);
		assert_int_equal(halves.totals.mirror_lost, rows[i].lost);
		end(&halves);
	}
}

/* Answered for beyond the last request: as many as are missing, from where the half ends. */
static void what_lies_ahead_may_have_gone_the_other_way(void **state)
{
	struct ft_span ahead = { .from = 1, .count = 1, .kind = FT_SPAN_AHEAD };
	struct ft_span_outcome outcome = { .lost = 5, .open = 3 };
	struct halves halves;

	(void)state;
	begin(&halves);
	draw(&halves, X8 Y8 X8 Y8, FIRST_PSN, false);
	assert_true(ft_moved_add(halves.moved, &halves.x, &ahead, &outcome));
	settle(&halves);
	assert_int_equal(halves.totals.mirror_lost, 0);
	assert_int_equal(halves.totals.gaps_open, 0);
	end(&halves);
}

/* A response that is missing was given to who asked, and that may have been on the other way. */
static void a_response_is_missing_of_who_asked(void **state)
{
	static const struct {
		const char *what;
		uint32_t psn;
		uint64_t lost;
	} rows[] = {
		{ "asked for by the other way", FIRST_PSN + 10, 0 },
		{ "asked for on this one", FIRST_PSN + 2, 1 },
		{ "asked for by neither", FIRST_PSN + 33, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_span awaited = { .from = rows[i].psn,
					   .count = 1,
					   .begin = rows[i].psn,
					   .kind = FT_SPAN_AWAITED };
		struct ft_span_outcome outcome = { .lost = 1 };
		struct halves halves;

		begin(&halves);
		draw(&halves, X8 Y8 X8 Y8, FIRST_PSN, false);
		assert_true(ft_moved_add(halves.moved, &halves.x, &awaited, &outcome));
		settle(&halves);
		print_message("%s\n", rows[i].what);
		assert_int_equal(halves.evidence->answers_lost, rows[i].lost);
		assert_int_equal(halves.totals.mirror_lost, rows[i].lost);
		end(&halves);
	}
}

/* An answer shows that a request was asked on the other way, though it was not seen there. */
static void what_an_answer_shows_was_asked_there(void **state)
{
	static const struct {
		uint8_t kind; /* of what the other way lacks */
		uint64_t lost;
	} rows[] = { { FT_SPAN_HOLE, 1 }, { FT_SPAN_GUESSED, 1 }, { FT_SPAN_IMPLIED, 0 } };
	static const char packets[] = X8 "yyyy-yyyy" X8 Y8;
	struct ft_span awaited = {
		.from = FIRST_PSN + 12, .count = 1, .begin = FIRST_PSN + 12, .kind = FT_SPAN_AWAITED
	};
	struct ft_span_outcome outcome = { .lost = 1 };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct halves halves;

		begin(&halves);
		draw_way(&halves, &halves.x, packets, 'x', FIRST_PSN, false);
		halves.kind = rows[i].kind;
		draw_way(&halves, &halves.y, packets, 'y', FIRST_PSN, false);
		assert_true(ft_moved_add(halves.moved, &halves.x, &awaited, &outcome));
		settle(&halves);
		assert_int_equal(halves.evidence->requests_lost, 1);
		assert_int_equal(halves.evidence->answers_lost, rows[i].lost);
		end(&halves);
	}
}

/* Of a hole of nine the other way has eight: first what was lost, then what is open. */
static void what_is_here_is_taken_from_lost_before_open(void **state)
{
	static const struct {
		struct ft_span_outcome of;
		uint64_t lost, open, unanswered;
	} rows[] = {
		{ { .lost = 9 }, 1, 0, 0 },
		{ { .open = 9 }, 0, 1, 0 },
		{ { .lost = 5, .open = 4 }, 0, 1, 0 },
		{ { .lost = 1, .open = 8 }, 0, 1, 0 },
		{ { .lost = 8, .open = 1 }, 0, 1, 0 },
		{ { .open = 9, .pending = 9 }, 0, 1, 1 },
		{ { .open = 9, .pending = 4 }, 0, 1, 0 },
		{ { .lost = 4, .open = 5, .pending = 5 }, 0, 1, 1 },
	};
	struct ft_span hole = { .from = FIRST_PSN + 7, .count = 9, .kind = FT_SPAN_HOLE };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct halves halves;

		begin(&halves); /* xxxxxxx-yyyyyyyyxxxxxxxxyyyyyyyy */
		draw_way(&halves, &halves.y, X8 Y8 X8 Y8, 'y', FIRST_PSN, false);
		halves.x.half.first_psn = FIRST_PSN;
		halves.x.half.next_psn = FIRST_PSN + 24;
		assert_true(ft_moved_add(halves.moved, &halves.x, &hole, &rows[i].of));
		ft_moved_add_half(halves.moved, &halves.x);
		settle(&halves);
		assert_int_equal(halves.totals.mirror_lost, rows[i].lost);
		assert_int_equal(halves.totals.gaps_open, rows[i].open);
		assert_int_equal(halves.evidence->unanswered, rows[i].unanswered);
		end(&halves);
	}
}

/* Each response that a requester lacks at the end was told as if another one lacked it: they are one that waits. */
static void who_lacks_several_responses_waits_once(void **state)
{
	static const struct ft_span_outcome due = { .lost = 1, .doubtful = true };
	struct ft_moved_holes settled;
	struct halves halves;

	(void)state;
	begin(&halves);
	assert_int_equal(ft_moved_holes_init(&settled), 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct ft_span span = {
			.from = 5 + i, .count = 1, .kind = FT_SPAN_AWAITED, .frame = 20 - i
		};

		assert_true(ft_moved_holes_add(&settled, &halves.y, &span, &due));
		assert_true(ft_moved_add(halves.moved, &halves.x, &span, &due));
		assert_true(ft_moved_add(halves.moved, &halves.y, &span, &due));
		if (i == 1) /* two are settled, and one more will be open */
			ft_moved_add_settled(halves.moved, &settled);
	}
	settle(&halves);
	assert_int_equal(halves.evidence->waiting, 1 + 1 + 2);
	ft_moved_holes_free(&settled);
	end(&halves);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_two_ways_nothing_is_lost_that_one_has),
		cmocka_unit_test(nor_is_it_open),
		cmocka_unit_test(numbers_wrap),
		cmocka_unit_test(evidence_has_what_totals_have),
		cmocka_unit_test(another_queue_pair_is_another_connection),
		cmocka_unit_test(two_ways_are_found_among_others),
		cmocka_unit_test(ways_are_found_whatever_the_order),
		cmocka_unit_test(a_crowd_to_one_number_is_left_alone),
		cmocka_unit_test(who_cannot_move_counts_at_once),
		cmocka_unit_test(what_is_not_missing_counts_at_once),
		cmocka_unit_test(a_full_list_takes_no_more),
		cmocka_unit_test(halves_of_two_engines_are_one),
		cmocka_unit_test(a_sequence_not_known_is_no_way),
		cmocka_unit_test(what_lies_ahead_may_have_gone_the_other_way),
		cmocka_unit_test(a_response_is_missing_of_who_asked),
		cmocka_unit_test(what_an_answer_shows_was_asked_there),
		cmocka_unit_test(what_is_here_is_taken_from_lost_before_open),
		cmocka_unit_test(who_lacks_several_responses_waits_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
