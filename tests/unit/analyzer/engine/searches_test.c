#include "bench.h"

#include <string.h>

#include <flow/opening.h>

#include "searches.h"
#include "suspects_parts.h"

/*
 * spoof.qp-scan: what is known at the time of the report of the queue pairs that were searched (docs/findings.md). Half-
 * connections are written down as the flow table would have them.
 */

enum { RED, BLUE };
enum { BYSTANDER = 1, SCANNER = 2, VICTIM = 3 }; /* last byte of an address */
enum { SCAN_FROM = 100, SCAN_TO = 300 };         /* frames of the search */
enum { PROBE = FT_RECENT_PROBE, USED = 0 };

static const struct ft_declared pod = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }),
	PORTS(ROCE_PORT("r1", 10, 0, 0, 1)),
	PARTITIONS({ .base = 0x7fff, .tenant = RED, ALWAYS(EVERYONE(FT_FULL)) }),
};

/* --- whether it may be a start --- */

static void a_search_may_be_the_start_of_a_job(void **state)
{
	static const struct {
		const char *what;
		uint64_t packets, unseen, unused, used, known;
		bool may;
	} rows[] = {
		/* nothing of the other side in view */
		{ "all used further", 600, 600, 0, 600, 600, true },
		{ "511 left unused", 600, 600, 511, 89, 600, true },
		{ "512 left unused", 600, 600, 512, 88, 600, false },
		{ "of 512 all are known", 600, 600, 100, 412, 512, true },
		{ "511 are still in the table", 600, 600, 100, 411, 511, false },
		{ "none is", 600, 600, 0, 0, 0, false },
		{ "unseen, and few are known to be its own", 600, 600, 0, 600, 3, true },
		/* the other side in view, at least for a while */
		{ "seen, all used further", 100, 0, 0, 100, 100, true },
		{ "seen, 31 left unused", 100, 0, 31, 69, 100, true },
		{ "seen, 32 left unused", 100, 0, 32, 68, 100, false },
		{ "seen, one is not in the table any more", 100, 0, 0, 100, 99, false },
		{ "seen, more began there", 100, 0, 0, 101, 101, true },
		{ "partly unseen, 31 left unused", 600, 599, 31, 569, 600, true },
		{ "partly unseen, 32 left unused", 600, 599, 32, 568, 600, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ft_finding finding = {
			.from = SCAN_FROM,
			.to = SCAN_TO,
			.packets = rows[i].packets,
			.unseen = rows[i].unseen,
			.unused = rows[i].unused,
			.used = rows[i].used,
			.known = rows[i].known,
		};

		print_message("%s\n", rows[i].what);
		assert_int_equal(ft_search_may_be_start(&finding), rows[i].may);
	}
}

static void what_is_no_search_is_no_start(void **state)
{
	const struct ft_finding finding = { .packets = 3, .known = 3 };

	(void)state;
	assert_false(ft_search_may_be_start(&finding));
}

/* --- what is known of it --- */

struct desk {
	struct bench bench; /* first: bench_close() takes the desk for it */
	struct ft_findings findings;
	struct ft_finding items[4];
};

static int set_up(void **state)
{
	static struct desk desk;

	desk = (struct desk){ .bench.config = FT_ENGINE_DEFAULTS };
	desk.bench.config.flows = 256;
	desk.findings.items = desk.items;
	bench_open(&desk.bench, &pod, 2);
	*state = &desk;
	return 0;
}

static struct ft_flow_key key_between(uint8_t from, uint8_t to, uint32_t qp)
{
	return (struct ft_flow_key){
		.src = { [10] = 0xff, 0xff, 10, 0, 0, from },
		.dst = { [10] = 0xff, 0xff, 10, 0, 0, to },
		.dest_qp = qp,
		.vni = FT_FLOW_NO_VNI,
		.base = FT_FLOW_ANY_BASE,
		.vlan = FT_FLOW_ANY_VLAN,
	};
}

static struct ft_flow *place(struct ft_worker *worker, const struct ft_flow_key *key,
			     uint64_t opened, uint32_t state)
{
	struct ft_flow *flow =
		ft_flow_find_or_create(worker->flows, key, ft_flow_hash(worker->flows, key), 1);

	flow->opened = ft_opening_of(opened);
	flow->look.style = FT_LOOK_MET;
	flow->half.acked = FT_PSN_NONE;
	((struct ft_recent *)ft_suspects_recent(worker->suspects, flow))->newest = state;
	return flow;
}

static struct ft_finding *search_of(struct desk *desk, uint8_t from, uint8_t to)
{
	struct ft_flow_key key = key_between(from, to, 0);
	struct ft_finding *finding = &desk->items[desk->findings.count++];

	*finding = (struct ft_finding){
		.ends = ft_flow_ends(&key),
		.from = SCAN_FROM,
		.to = SCAN_TO,
	};
	return finding;
}

static void assert_counts(const struct ft_finding *finding, uint64_t unused, uint64_t used,
			  uint64_t known)
{
	assert_int_equal(finding->unused, unused);
	assert_int_equal(finding->used, used);
	assert_int_equal(finding->known, known);
}

static void queue_pairs_are_used_or_left_alone(void **state)
{
	static const struct {
		const char *what;
		uint32_t recent;
		bool has_peer, answered, used;
	} rows[] = {
		{ "one request and no more", PROBE, false, false, false },
		{ "more requests", USED, false, false, true },
		{ "a peer, but no answer", PROBE, true, false, false },
		{ "an answer, by whom is not known", PROBE, false, true, false },
		{ "an answer of its peer, later", PROBE, true, true, true },
	};
	struct desk *desk = *state;
	struct ft_finding *search = search_of(desk, SCANNER, VICTIM);

	for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_flow_key key = key_between(SCANNER, VICTIM, 20 + i);
		struct ft_flow *flow = place(desk->bench.workers[0], &key, 200, rows[i].recent);
		uint64_t used = search->used;

		flow->peer = rows[i].has_peer ? 77 : 0;
		flow->half.acked = rows[i].answered ? 5 : FT_PSN_NONE;
		print_message("%s\n", rows[i].what);
		ft_searches_settle(&desk->findings, desk->bench.workers, 2);
		assert_int_equal(search->used - used, rows[i].used);
		assert_int_equal(search->used + search->unused, i + 1);
	}
}

/* From the first of its frames to the last. */
static void those_that_began_with_the_search_are_known(void **state)
{
	static const uint64_t openings[] = { SCAN_FROM - 1, SCAN_FROM, 200, SCAN_TO, SCAN_TO + 1 };
	struct desk *desk = *state;
	struct ft_finding *search = search_of(desk, SCANNER, VICTIM);

	for (uint32_t i = 0; i < sizeof openings / sizeof *openings; i++) {
		struct ft_flow_key key = key_between(SCANNER, VICTIM, 20 + i);

		place(desk->bench.workers[i % 2], &key, openings[i], PROBE);
	}
	ft_searches_settle(&desk->findings, desk->bench.workers, 2);
	assert_counts(search, 5, 0, 3);
}

static void what_is_between_others_does_not_count(void **state)
{
	struct desk *desk = *state;
	struct ft_finding *search = search_of(desk, SCANNER, VICTIM);
	struct ft_flow_key keys[] = {
		key_between(VICTIM, SCANNER, 20),    /* the other way */
		key_between(SCANNER, BYSTANDER, 20), /* to another host */
		key_between(BYSTANDER, VICTIM, 20),  /* from another one */
		key_between(SCANNER, VICTIM, 20),    /* in an overlay */
		key_between(SCANNER, VICTIM, 21),    /* a part of one: another P_Key */
	};

	keys[3].vni = 70;
	keys[4].base = 5;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		place(desk->bench.workers[0], &keys[i], 200, PROBE);
	ft_searches_settle(&desk->findings, desk->bench.workers, 2);
	assert_counts(search, 0, 0, 0);
}

/* A record whose requests were not looked at, as those that CNPs alone came on. */
static void who_was_not_looked_at_does_not_count(void **state)
{
	struct desk *desk = *state;
	struct ft_finding *search = search_of(desk, SCANNER, VICTIM);
	struct ft_flow_key key = key_between(SCANNER, VICTIM, 20);

	place(desk->bench.workers[0], &key, 200, PROBE)->look.style = 0;
	ft_searches_settle(&desk->findings, desk->bench.workers, 2);
	assert_counts(search, 0, 0, 0);
}

/* Of one pair of hosts there may be several: two tenants' ports, two P_Keys. Each is found among all. */
static void each_search_has_its_own(void **state)
{
	struct desk *desk = *state;
	struct ft_finding *first = search_of(desk, SCANNER, VICTIM);
	struct ft_finding *second = search_of(desk, SCANNER, VICTIM);
	struct ft_finding *no_search = search_of(desk, SCANNER, VICTIM);
	struct ft_finding *other = search_of(desk, BYSTANDER, VICTIM);
	struct ft_flow_key back = key_between(VICTIM, SCANNER, 20);
	struct ft_flow_key unseen = key_between(SCANNER, VICTIM, 19);

	second->from = 250;
	no_search->to = 0;
	no_search->used = 9;
	for (unsigned i = 0; i < 2; i++) { /* some that do not count come first */
		place(desk->bench.workers[i], &back, 200, PROBE);
		place(desk->bench.workers[i], &unseen, 200, PROBE)->look.style = 0;
	}
	for (uint32_t qp = 20; qp < 24; qp++) {
		struct ft_flow_key key = key_between(SCANNER, VICTIM, qp);

		place(desk->bench.workers[qp % 2], &key, qp < 23 ? 200 : 260, PROBE);
	}
	ft_searches_settle(&desk->findings, desk->bench.workers, 2);
	assert_counts(other, 0, 0, 0);
	assert_counts(first, 4, 0, 4);
	assert_counts(second, 4, 0, 1);
	assert_counts(no_search, 0, 0, 0);
}

static void each_report_counts_anew(void **state)
{
	struct desk *desk = *state;
	struct ft_finding *search = search_of(desk, SCANNER, VICTIM);
	struct ft_flow_key key = key_between(SCANNER, VICTIM, 20);

	place(desk->bench.workers[1], &key, 200, PROBE);
	ft_searches_settle(&desk->findings, desk->bench.workers, 2);
	assert_counts(search, 1, 0, 1);
	place(desk->bench.workers[1], &key, 200, USED);
	ft_searches_settle(&desk->findings, desk->bench.workers, 2);
	assert_counts(search, 0, 1, 1);
}

/* --- packets that break a rule --- */

/* Those of a search count in their tenant pair's cell where it is no note. */
static void a_note_takes_its_packets_out_of_its_tenant_pair(void **state)
{
	static const struct {
		const char *what;
		bool may_be_start;
		int64_t more; /* in the cell of the search */
	} rows[] = {
		{ "a search: those that waited to be told count, too", false, 7 },
		{ "a note: those that were counted do not", true, -5 },
	};
	struct ft_cell cells[] = {
		{ .from = BLUE, .to = RED },
		{ .from = RED, .to = BLUE },
		{ .from = RED, .to = RED },
	};
	const struct ft_totals totals = { .cells = cells, .cell_count = 3 };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_finding finding = {
			.subject = { .src = { .tenant = RED }, .dst = { .tenant = BLUE } },
			.from = SCAN_FROM,
			.to = SCAN_TO,
			.packets = 40,
			.known = 40,
			.unused = rows[i].may_be_start ? 0 : 40,
			.uncounted = 7,
			.counted = 5,
		};
		const struct ft_findings findings = { .items = &finding, .count = 1 };
		uint64_t violating[3] = { 0 };

		ft_searches_violate(&findings, &totals, violating);
		print_message("%s\n", rows[i].what);
		assert_int_equal(violating[0], 0);
		assert_int_equal((int64_t)violating[1], rows[i].more);
		assert_int_equal(violating[2], 0);
	}
}

static void searches_of_one_tenant_pair_add_up(void **state)
{
	struct ft_finding items[] = {
		{ .subject = { .src = { .tenant = RED }, .dst = { .tenant = RED } },
		  .uncounted = 7 },
		{ .subject = { .src = { .tenant = RED }, .dst = { .tenant = RED } },
		  .uncounted = 30 },
	};
	struct ft_cell cell = { .from = RED, .to = RED };
	const struct ft_totals totals = { .cells = &cell, .cell_count = 1 };
	const struct ft_findings findings = { .items = items, .count = 2 };
	uint64_t violating = 100;

	(void)state;
	ft_searches_violate(&findings, &totals, &violating);
	assert_int_equal(violating, 137);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_search_may_be_the_start_of_a_job),
		cmocka_unit_test(what_is_no_search_is_no_start),
		cmocka_unit_test_setup_teardown(queue_pairs_are_used_or_left_alone, set_up,
						bench_close),
		cmocka_unit_test_setup_teardown(those_that_began_with_the_search_are_known, set_up,
						bench_close),
		cmocka_unit_test_setup_teardown(what_is_between_others_does_not_count, set_up,
						bench_close),
		cmocka_unit_test_setup_teardown(who_was_not_looked_at_does_not_count, set_up,
						bench_close),
		cmocka_unit_test_setup_teardown(each_search_has_its_own, set_up, bench_close),
		cmocka_unit_test_setup_teardown(each_report_counts_anew, set_up, bench_close),
		cmocka_unit_test(a_note_takes_its_packets_out_of_its_tenant_pair),
		cmocka_unit_test(searches_of_one_tenant_pair_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
