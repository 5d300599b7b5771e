#include "maps.h"

#include <string.h>

#include "summary_parts.h"

/* tenants[], matrix[] and pkeys[] of a report, by docs/formats.md, from cells filled by hand. */

enum { STORAGE, RED, BLUE, TENANTS_ALL };

static const struct ft_declared pod = {
	TENANTS({ .name = "storage", .class = FT_SHARED, .quota_gbps = -1 },
		{ .name = "red", .class = FT_CUSTOMER, .quota_gbps = 12.5 },
		{ .name = "blue", .class = FT_MANAGEMENT, .quota_gbps = -1 }),
	PORTS(IB_PORT("r1", 1), IB_PORT("b1", 2)),
	PARTITIONS({ .base = 1, .tenant = RED, ALWAYS(FULL("r1")) },
		   { .base = 2, .tenant = BLUE, ALWAYS(FULL("b1")) }),
	EXCEPTIONS({ .id = "ex-a",
		     .kind = FT_EXCEPT_MANAGEMENT,
		     .any_from = true,
		     .to_tenant = FT_NONE },
		   { .id = "ex-b",
		     .kind = FT_EXCEPT_MANAGEMENT,
		     .any_from = true,
		     .to_tenant = FT_NONE }),
};

struct books {
	struct ft_engine_config config;
	struct ft_map *map;
	struct ft_account account;
	struct ft_tally tally;
	struct ft_summary summary;
};

static void open_books(struct books *books)
{
	*books = (struct books){ .config = FT_ENGINE_DEFAULTS, .map = compiled(&pod) };
	assert_int_equal(ft_account_init(&books->account, &books->config, books->map), 0);
	assert_int_equal(ft_tally_init(&books->tally, TENANTS_ALL, 1), 0);
	books->summary.tally = &books->tally;
	books->summary.words = ft_arena_create();
	assert_non_null(books->summary.words);
}

static void close_books(struct books *books)
{
	ft_arena_destroy(books->summary.words);
	ft_tally_free(&books->tally);
	ft_account_free(&books->account);
	ft_map_destroy(books->map);
}

static struct ft_cell *cell_of(struct books *books, uint32_t from, uint32_t to)
{
	struct ft_totals *totals = &books->tally.totals;

	return &totals->cells[ft_totals_cell(totals, from, to)];
}

static void count(struct books *books, uint32_t from, uint32_t to, uint64_t packets,
		  uint64_t judged, uint64_t undecided, uint64_t violating)
{
	struct ft_cell *cell = cell_of(books, from, to);

	cell->packets = packets;
	cell->bytes = 100 * packets;
	cell->judged = judged;
	cell->undecided = undecided;
	cell->violating = violating;
}

static void pairs_are_by_name_with_a_verdict_that_their_frames_bear_out(void **state)
{
	static const struct {
		const char *from, *to;
		uint64_t packets, judged, undecided, violating;
		const char *verdict;
	} expected[] = {
		{ "blue", "red", 4, 0, 0, 0, "unknown" }, /* subnet management alone */
		{ "blue", "storage", 9, 8, 1, 0, "allowed" },
		{ "blue", "unknown", 5, 5, 0, 0, "unknown" },
		{ "red", "blue", 3, 0, 3, 0, "unknown" },
		{ "red", "red", 2, 2, 0, 1, "violated" },
		{ "red", "storage", 0, 0, 0, 1, "violated" }, /* a further sample of sFlow */
		{ "storage", "storage", 1, 1, 0, 0, "allowed" },
		{ "unknown", "red", 7, 6, 1, 6, "violated" },
		{ "unknown", "unknown", 8, 0, 0, 0, "unknown" },
	};
	struct books books;
	const struct ft_report *report = &books.summary.report;

	(void)state;
	open_books(&books);
	count(&books, FT_NONE, FT_NONE, 8, 0, 0, 0);
	count(&books, STORAGE, STORAGE, 1, 1, 0, 0);
	count(&books, RED, STORAGE, 0, 0, 0, 1);
	count(&books, FT_NONE, RED, 7, 6, 1, 6);
	count(&books, RED, RED, 2, 2, 0, 1);
	count(&books, STORAGE, RED, 0, 0, 0, 0); /* asked for, and nothing came */
	count(&books, RED, BLUE, 3, 0, 3, 0);
	count(&books, BLUE, FT_NONE, 5, 5, 0, 0);
	count(&books, BLUE, RED, 4, 0, 0, 0);
	count(&books, BLUE, STORAGE, 9, 8, 1, 0);
	ft_summary_fill_matrix(&books.summary, &books.account);
	assert_int_equal(report->pair_count, sizeof expected / sizeof *expected);
	for (size_t i = 0; i < report->pair_count; i++) {
		const struct ft_report_pair *pair = &report->matrix[i];

		assert_string_equal(pair->from, expected[i].from);
		assert_string_equal(pair->to, expected[i].to);
		assert_string_equal(pair->verdict, expected[i].verdict);
		assert_int_equal(pair->packets, expected[i].packets);
		assert_int_equal(pair->bytes, 100 * expected[i].packets);
		assert_int_equal(pair->judged, expected[i].judged);
		assert_int_equal(pair->undecided, expected[i].undecided);
		assert_int_equal(pair->violating, expected[i].violating);
		assert_int_equal(pair->exception_count, 0);
	}
	close_books(&books);
}

static void exceptions_that_permitted_a_pair_are_named(void **state)
{
	struct books books;
	const struct ft_report_pair *pair;

	(void)state;
	open_books(&books);
	count(&books, RED, BLUE, 3, 3, 0, 0);
	ft_totals_except(&books.tally.totals, ft_totals_cell(&books.tally.totals, RED, BLUE), 1);
	ft_totals_except(&books.tally.totals, ft_totals_cell(&books.tally.totals, RED, BLUE), 0);
	ft_summary_fill_matrix(&books.summary, &books.account);
	assert_int_equal(books.summary.report.pair_count, 1);
	pair = &books.summary.report.matrix[0];
	assert_int_equal(pair->exception_count, 2);
	assert_string_equal(pair->exceptions[0], "ex-a");
	assert_string_equal(pair->exceptions[1], "ex-b");
	close_books(&books);
}

/* What it sent, and what it was told; of those without a tenant nobody has anything. */
static void tenants_are_counted_as_senders(void **state)
{
	static const char *const classes[] = { "shared", "customer", "management" };
	struct books books;
	const struct ft_report *report = &books.summary.report;

	(void)state;
	open_books(&books);
	for (uint32_t from = 0; from <= TENANTS_ALL; from++)
		for (uint32_t to = 0; to <= TENANTS_ALL; to++) {
			uint32_t unit = 1 + from + 10 * to;
			struct ft_cell *cell = cell_of(&books, from < TENANTS_ALL ? from : FT_NONE,
						       to < TENANTS_ALL ? to : FT_NONE);

			cell->packets = unit;
			cell->bytes = 2 * unit;
			cell->ce_marked = 3 * unit;
			cell->cnps = 4 * unit;
			cell->rnr_naks = 5 * unit;
			cell->retransmitted = 6 * unit;
		}
	ft_totals_see(&books.tally.totals, BLUE, 4711);
	ft_summary_fill_tenants(&books.summary, &books.account);
	assert_int_equal(report->tenant_count, TENANTS_ALL);
	for (uint32_t i = 0; i < TENANTS_ALL; i++) {
		const struct ft_report_tenant *tenant = &report->tenants[i];
		uint32_t sent = 4 * (1 + i) + 10 * (0 + 1 + 2 + 3);
		uint32_t got = 4 * (1 + 10 * i) + (0 + 1 + 2 + 3);

		assert_string_equal(tenant->name, pod.tenants[i].name);
		assert_string_equal(tenant->class, classes[i]);
		assert_int_equal(tenant->frames, sent);
		assert_int_equal(tenant->bytes, 2 * sent);
		assert_int_equal(tenant->congestion.ce_marked, 3 * sent);
		assert_int_equal(tenant->congestion.cnps_received, 4 * got);
		assert_int_equal(tenant->congestion.rnr_naks, 5 * sent);
		assert_int_equal(tenant->congestion.retransmitted, 6 * sent);
		assert_int_equal(tenant->congestion.pause_ns, FT_UNKNOWN); /* the links' speed is */
		assert_int_equal(tenant->endpoints_seen, i == BLUE);
		assert_true(tenant->quota_gbps == pod.tenants[i].quota_gbps);
		assert_true(tenant->peak_gbps < 0); /* none of it had a time */
	}
	close_books(&books);
}

static void a_tenant_that_sent_nothing_has_no_peak(void **state)
{
	struct books books;

	(void)state;
	open_books(&books);
	count(&books, RED, BLUE, 1, 1, 0, 0);
	ft_summary_fill_tenants(&books.summary, &books.account);
	assert_true(books.summary.report.tenants[RED].peak_gbps < 0);
	assert_true(books.summary.report.tenants[BLUE].peak_gbps == 0);
	close_books(&books);
}

static void p_keys_stand_in_order_with_all_16_bits(void **state)
{
	static const uint16_t seen[] = { 0xffff, 0x0001, 0x8001, 0x0000 };
	static const uint16_t in_order[] = { 0x0000, 0x0001, 0x8001, 0xffff };
	struct books books;
	const struct ft_report *report = &books.summary.report;

	(void)state;
	open_books(&books);
	for (size_t i = 0; i < 4; i++) {
		struct ft_pkey_total *total = ft_totals_pkey(&books.tally.totals, seen[i]);

		total->packets = seen[i] + UINT64_C(1);
		total->bytes = 64 * total->packets;
	}
	ft_summary_fill_pkeys(&books.summary);
	assert_int_equal(report->pkey_count, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(report->pkeys[i].pkey, in_order[i]);
		assert_int_equal(report->pkeys[i].packets, in_order[i] + 1);
		assert_int_equal(report->pkeys[i].bytes, 64 * (in_order[i] + 1));
	}
	close_books(&books);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_are_by_name_with_a_verdict_that_their_frames_bear_out),
		cmocka_unit_test(exceptions_that_permitted_a_pair_are_named),
		cmocka_unit_test(tenants_are_counted_as_senders),
		cmocka_unit_test(a_tenant_that_sent_nothing_has_no_peak),
		cmocka_unit_test(p_keys_stand_in_order_with_all_16_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
