#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <engine/engine.h>
#include <partition/load.h>

/*
 * What a report says first: what was read, against which map, and the verdict with its reason. What is expected of the
 * captures stands in the files of their names, tests/data/tenants/NAME.json, which a generator wrote with them.
 */

#define TENANTS FT_TEST_DATA "/tenants/"

static const char *const frames[] = { TENANTS "tenants-ib.pcap" };
static const char *const clean[] = { TENANTS "tenants-ib-clean.pcap" };
static const char *const doubled[] = { TENANTS "tenants-ib-doubled.pcap" };
static const char *const two[] = { TENANTS "tenants-ib-clean.pcap", TENANTS "tenants-ib.pcap" };

struct run {
	struct ft_declared *declared;
	struct ft_map *map;
	struct ft_source *source;
	struct ft_engine *engine;
	const struct ft_report *report;
};

static bool go_on(void *context, uint64_t read)
{
	(void)context;
	(void)read;
	return true;
}

static void run_with(struct run *run, const struct ft_map_files *files, const char *const *paths,
		     size_t count, unsigned workers, uint64_t most)
{
	struct ft_engine_config config = FT_ENGINE_DEFAULTS;
	struct ft_source_complaint complaint;
	struct ft_map_complaint refused;
	struct ft_engine_run asked = { .most = most, .go_on = go_on };
	uint64_t read;

	config.workers = workers;
	config.flows = 1024;
	assert_int_equal(ft_map_load(&run->declared, files, NULL, &refused), 0);
	assert_int_equal(ft_map_compile(&run->map, run->declared), 0);
	assert_int_equal(ft_source_open_files(&run->source, paths, count, &complaint), 0);
	assert_int_equal(ft_engine_create(&run->engine, &config, run->map), 0);
	asked.source = run->source;
	assert_int_equal(ft_engine_run(run->engine, &asked, &read), 0);
	run->report = ft_engine_report(run->engine, run->source);
}

static void run_open(struct run *run, const char *const *paths, size_t count, unsigned workers,
		     uint64_t most)
{
	const struct ft_map_files files = { .map = TENANTS "tenants-ib.map.json" };

	run_with(run, &files, paths, count, workers, most);
}

static void run_close(struct run *run)
{
	ft_engine_destroy(run->engine);
	ft_source_close(run->source);
	ft_map_destroy(run->map);
	ft_declared_destroy(run->declared);
}

static void the_frames_of_all_sources_are_summed_up(void **state)
{
	struct run run;
	const struct ft_report *report;

	(void)state;
	for (unsigned workers = 1; workers <= 3; workers += 2) {
		run_open(&run, two, 2, workers, UINT64_MAX);
		report = run.report;
		assert_int_equal(report->source_count, 2);
		assert_string_equal(report->sources[0].name, two[0]);
		assert_int_equal(report->sources[0].frames, 743);
		assert_int_equal(report->sources[1].frames, 612);
		assert_int_equal(report->frames, 743 + 612);
		assert_int_equal(report->bytes, 184402 + 154204);
		assert_int_equal(report->first_ts_ns, report->sources[0].first_ts_ns);
		assert_int_equal(report->last_ts_ns,
				 report->sources[0].last_ts_ns > report->sources[1].last_ts_ns
					 ? report->sources[0].last_ts_ns
					 : report->sources[1].last_ts_ns);
		run_close(&run);
	}
}

/* Every frame twice: the copies are in the capture's sums, and in no other. */
static void copies_are_in_the_sums_of_the_capture(void **state)
{
	struct run run;
	uint64_t packets = 0, bytes = 0;

	(void)state;
	run_open(&run, doubled, 1, 1, UINT64_MAX);
	assert_int_equal(run.report->frames, 1224);
	assert_int_equal(run.report->bytes, 308408);
	assert_int_equal(run.report->coverage.frames_seen + run.report->coverage.duplicates, 1224);
	assert_int_equal(run.report->coverage.duplicates, 612);
	for (size_t i = 0; i < run.report->pair_count; i++) {
		packets += run.report->matrix[i].packets;
		bytes += run.report->matrix[i].bytes;
	}
	assert_int_equal(packets, 612);
	assert_int_equal(bytes, 154204);
	run_close(&run);
}

static void the_map_in_force_is_described(void **state)
{
	struct run run;
	const struct ft_report_map *map;

	(void)state;
	run_open(&run, frames, 1, 1, 1);
	map = &run.report->map;
	assert_string_equal(map->path, TENANTS "tenants-ib.map.json");
	assert_string_equal(map->name, "ib-a-2026-11-20");
	assert_string_equal(map->format, "tapmap");
	assert_string_equal(map->verdict, "ok");
	assert_string_equal(map->sha256, /* by sha256sum */
			    "a9e37957874ca41d85329abbbff612c8e20d578755da8ef87ce39f8f4f151b9f");
	assert_null(map->signed_by);
	assert_int_equal(map->serial, 7);
	assert_int_equal(map->tenants, 4);
	assert_int_equal(map->partitions, 5);
	assert_int_equal(map->segments, 0);
	assert_int_equal(map->earlier_count, 0);
	run_close(&run);
}

static void compliant_frames_are_all_agreed_upon(void **state)
{
	struct run run;

	(void)state;
	for (unsigned workers = 1; workers <= 2; workers++) {
		run_open(&run, clean, 1, workers, UINT64_MAX);
		assert_int_equal(run.report->verdict, FT_COMPLIANT);
		/* 743 frames, 24 SMPs among them, and nothing else that is not judged */
		assert_string_equal(run.report->because,
				    "all 719 RDMA frames seen agree with the declared map");
		assert_int_equal(run.report->coverage.judged, 719);
		assert_int_equal(run.report->coverage.never_judged, 24);
		run_close(&run);
	}
}

/* By severity from the worst on, as the findings that are violations have them. */
static void sentence_of(const struct ft_report *report, char text[256])
{
	static const char *const names[] = { "info", "low", "medium", "high", "critical" };
	unsigned counts[5] = { 0 }, all = 0;
	size_t used;

	for (size_t i = 0; i < report->finding_count; i++)
		if (report->findings[i].violation) {
			counts[report->findings[i].severity]++;
			all++;
		}
	used = (size_t)snprintf(text, 256, "%u finding%s the declared map", all,
				all == 1 ? " contradicts" : "s contradict");
	for (int i = 4; i >= 0; i--)
		if (counts[i] != 0) {
			used += (size_t)snprintf(text + used, 256 - used, "%s%u %s",
						 text[used - 1] == 'p' ? ": " : ", ", counts[i],
						 names[i]);
		}
}

static void violations_are_counted_by_severity(void **state)
{
	struct run run;
	char expected[256];

	(void)state;
	run_open(&run, frames, 1, 1, UINT64_MAX);
	assert_int_equal(run.report->verdict, FT_VIOLATED);
	sentence_of(run.report, expected);
	assert_string_equal(run.report->because, expected);
	assert_non_null(strstr(expected, " critical, "));
	run_close(&run);
}

/* The first violation is in frame 295: pkey.undeclared, high. */
static void one_violation_is_told_of_as_one(void **state)
{
	struct run run;

	(void)state;
	run_open(&run, frames, 1, 1, 294);
	assert_int_equal(run.report->finding_count, 0);
	assert_int_not_equal(run.report->verdict, FT_VIOLATED);
	run_close(&run);
	run_open(&run, frames, 1, 1, 295);
	assert_int_equal(run.report->frames, 295);
	assert_int_equal(run.report->finding_count, 1);
	assert_int_equal(run.report->verdict, FT_VIOLATED);
	assert_string_equal(run.report->because, "1 finding contradicts the declared map: 1 high");
	run_close(&run);
}

/* Its fields are read from the bytes of frame 295, and its ends' hosts from the map: LIDs 9 and 13. */
static void a_finding_says_what_its_frame_says(void **state)
{
	const struct ft_report_finding *finding;
	struct run run;

	(void)state;
	run_open(&run, frames, 1, 1, 295);
	finding = &run.report->findings[0];
	assert_string_equal(finding->rule, "pkey.undeclared");
	assert_int_equal(finding->severity, 3);
	assert_true(finding->violation);
	assert_true(finding->certainty == 1); /* a rule of the map */
	assert_int_equal(finding->packets, 1);
	assert_int_equal(finding->bytes, 298);
	assert_int_equal(finding->first_ts_ns, UINT64_C(1795172400239912375));
	assert_int_equal(finding->last_ts_ns, finding->first_ts_ns);
	assert_int_equal(finding->frame_count, 1);
	assert_int_equal(finding->frames[0], 295);
	assert_true(finding->has_ends && finding->has_pkey);
	assert_false(finding->has_vlan || finding->has_vni);
	assert_int_equal(finding->pkey, 0x8005);
	assert_int_equal(finding->dest_qp_count, 1);
	assert_int_equal(finding->dest_qps[0], 0x03c11d);
	assert_string_equal(finding->src.address, "lid:9");
	assert_string_equal(finding->src.host, "gpu05");
	assert_string_equal(finding->src.tenant, "blue");
	assert_string_equal(finding->dst.address, "lid:13");
	assert_string_equal(finding->dst.host, "gpu09");
	assert_string_equal(finding->dst.tenant, "blue");
	assert_null(finding->map_file); /* no line declares the P_Key */
	assert_null(finding->leaf);
	run_close(&run);
}

/* The worst first, then by rule; each (rule, subject) once, with ids that no two share. */
static void findings_stand_in_their_order(void **state)
{
	struct run one, three;

	(void)state;
	run_open(&one, frames, 1, 1, UINT64_MAX);
	run_open(&three, frames, 1, 3, UINT64_MAX);
	assert_true(one.report->finding_count > 20);
	assert_int_equal(three.report->finding_count, one.report->finding_count);
	for (size_t i = 0; i < one.report->finding_count; i++) {
		const struct ft_report_finding *finding = &one.report->findings[i];

		assert_string_equal(three.report->findings[i].id, finding->id);
		assert_int_equal(three.report->findings[i].packets, finding->packets);
		assert_int_equal(strlen(finding->id), 16);
		assert_true(finding->violation == (finding->severity > 0));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(one.report->findings[j].id, finding->id);
		if (i == 0)
			continue;
		assert_true(finding[-1].severity >= finding->severity);
		if (finding[-1].severity == finding->severity)
			assert_true(strcmp(finding[-1].rule, finding->rule) <= 0);
	}
	run_close(&three);
	run_close(&one);
}

/* Line 6 lacks its semicolon, so that OpenSM stops at line 7 and drops the file. */
static void a_file_that_opensm_drops_is_the_first_finding(void **state)
{
	static const char *const topology[] = { TENANTS "ib-a/ibnetdiscover.txt" };
	const struct ft_map_files files = { .map = TENANTS "tenants-ib.failopen.conf",
					    .topologies = topology,
					    .topology_count = 1 };
	const struct ft_report_finding *finding;
	struct run run;

	(void)state;
	run_with(&run, &files, frames, 1, 1, 1);
	assert_int_equal(run.report->verdict, FT_VIOLATED);
	assert_string_equal(run.report->map.verdict, "fail_open");
	assert_string_equal(run.report->map.format, "opensm-partitions");
	assert_int_equal(run.report->finding_count, 1);
	finding = &run.report->findings[0];
	assert_string_equal(finding->rule, "map.fail-open");
	assert_int_equal(finding->severity, 4);
	assert_true(finding->violation);
	assert_int_equal(finding->packets, 0);
	assert_int_equal(finding->frame_count, 0);
	assert_int_equal(finding->first_ts_ns, FT_UNKNOWN);
	assert_false(finding->has_ends);
	assert_string_equal(finding->map_file, TENANTS "tenants-ib.failopen.conf");
	assert_int_equal(finding->map_line, 7);
	run_close(&run);
}

static void tenants_that_may_not_share_a_leaf_are_named_with_it(void **state)
{
	static const char *const capture[] = { TENANTS "tenants-cotenancy.pcap" };
	static const char *const maps[] = { TENANTS "cotenancy-bad.map.json",
					    TENANTS "cotenancy-fine.map.json" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct ft_map_files files = { .map = maps[i] };
		const struct ft_report_finding *finding;
		struct run run;

		run_with(&run, &files, capture, 1, 1, UINT64_MAX);
		assert_int_equal(run.report->frames, 24);
		assert_int_equal(run.report->bytes, 5144);
		assert_int_equal(run.report->finding_count, i == 0);
		if (i == 0) {
			finding = &run.report->findings[0];
			assert_string_equal(finding->rule, "tenant.cotenancy");
			assert_int_equal(finding->severity, 3);
			assert_string_equal(finding->tenant_a, "red");
			assert_string_equal(finding->tenant_b, "green");
			assert_string_equal(finding->leaf, "leaf2");
			assert_int_equal(finding->frame_count, 0);
			assert_int_equal(run.report->verdict, FT_VIOLATED);
		} else {
			assert_int_not_equal(run.report->verdict, FT_VIOLATED);
		}
		run_close(&run);
	}
}

/* The first frames are SMPs, which tell nothing; then there is one to judge. */
static void too_little_is_no_evidence(void **state)
{
	struct run run;

	(void)state;
	run_open(&run, frames, 1, 1, 1);
	assert_int_equal(run.report->verdict, FT_NOT_EVIDENCED);
	assert_string_equal(
		run.report->because,
		"no RDMA frame could be judged: nothing is known of what crossed the wire");
	run_close(&run);
	run_open(&run, frames, 1, 1, 25);
	assert_int_equal(run.report->coverage.judged, 1);
	assert_string_equal(run.report->because,
			    "the one RDMA frame seen agrees with the declared map");
	run_close(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_frames_of_all_sources_are_summed_up),
		cmocka_unit_test(copies_are_in_the_sums_of_the_capture),
		cmocka_unit_test(the_map_in_force_is_described),
		cmocka_unit_test(compliant_frames_are_all_agreed_upon),
		cmocka_unit_test(violations_are_counted_by_severity),
		cmocka_unit_test(one_violation_is_told_of_as_one),
		cmocka_unit_test(a_finding_says_what_its_frame_says),
		cmocka_unit_test(findings_stand_in_their_order),
		cmocka_unit_test(a_file_that_opensm_drops_is_the_first_finding),
		cmocka_unit_test(tenants_that_may_not_share_a_leaf_are_named_with_it),
		cmocka_unit_test(too_little_is_no_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
