#include "cmocka_headers.h"

#include <errno.h>
#include <string.h>

#include <report/render.h>

#include "sample_report.h"
#include "written.h"

static const char expected[] =
	"VERDICT   VIOLATED\n"
	"          3 findings contradict the declared map\n"
	"\n"
	"MAP       site-7, serial 12, signature not checked\n"
	"          maps/site.json (tapmap)\n"
	"          3 tenants, 4 partitions, 24 endpoints; sha256 0011223344556677...\n"
	"          warn: see fabtap map check\n"
	"CAPTURE   leaf1.pcap (pcap): 612 frames, 123 kB on the wire\n"
	"          leaf2.pcap.zst (pcapng, zstd): 0 frames, 0 B on the wire\n"
	"          DAMAGED: leaf2.pcap.zst: offset 96: block of 9999 bytes runs past the end\n"
	"          2 odd records corrected or dropped\n"
	"          2026-11-21T08:45:04.000000001Z to 2026-11-21T08:46:05.200000001Z, 61.2 s\n"
	"SEEN      590 of 595 RDMA frames judged\n"
	"          5 undecided: 2 with a wrong ICRC, 3 cut too short\n"
	"          beside them: 10 never judged (subnet management, by rule), 7 not RDMA, 4 "
	"copies\n"
	"          not opened: 3 macsec, 1 ip-in-ip; RDMA in there would not show\n"
	"          about 9 frames lost on the way here (7 to 15), 1.4 % of RDMA\n"
	"          lost according to erf-lctr of leaf1.pcap: 7 frames\n"
	"          1 half-connection without the reverse, beside 5 connections\n"
	"          silent from 2026-11-21T08:45:10.000000000Z for 2.50 s while traffic went on: "
	"leaf1.pcap\n"
	"          times went backwards: 2\n"
	"          a violation by fewer than 14925 frames in a million could have gone unseen: red "
	"to red: 2\n"
	"          of 302 frames undecided\n"
	"\n"
	"FINDINGS  1 critical, 2 high\n"
	"  id                severity  rule                     source      destination            "
	"P_Key                     frames  map line\n"
	"  a1b2c3d4e5f60718  critical  tenant.crossing          g1 (green)  r1 (red)               "
	"0x8001                        40  site.json:31\n"
	"  00ff00ff00ff00ff  high      tenant.unknown-endpoint  10.0.0.9    evil\\x1b[2Jhost (red) "
	" "
	"0xffff vlan 100 vni 5001       1  -\n"
	"  1234567890abcdef  high      tenant.cotenancy         red         green                  "
	"-                              0  -\n"
	"          their frames: evidence.pcapng\n"
	"\n"
	"TENANTS   frames and bytes from tenant (row) to tenant; ! violations, ? undecided, * none "
	"judged\n"
	"          from \\ to  green            red           storage           unknown\n"
	"          green        196  19.6 kB    !4    400 B        .                 .\n"
	"          red            .           ?300  90.0 kB      100  10.0 kB        .\n"
	"          storage        .              .                 .                 .\n"
	"          unknown        .            *12  3.46 kB        .                 .\n"
	"          exception storage-service permitted red>storage\n"
	"\n"
	"P_KEYS    0x8001 600, 0x0001 2 frames\n"
	"\n"
	"LOAD      the most each tenant sent within a second, in Gbit/s, and the congestion it "
	"met\n"
	"          tenant   peak  quota  marked  caused  told   paused  not ready  again\n"
	"          red      0.25   12.5      31       5     6  4.20 us          2     17\n"
	"          green       ?      .       .       .     .        ?          .      .\n"
	"          storage     ?      .       .       .     .        ?          .      .\n"
	"          marked: packets, by ECN or FECN; caused, told: CNPs or BECN because of it, to "
	"it; paused:\n"
	"          others, by its adapters; not ready: RNR NAKs it sent; again: packets it sent "
	"again; ?: not\n"
	"          known\n"
	"\n"
	"tenant.crossing (critical)\n"
	"          The two ends belong to different tenants and no exception of the map permits "
	"it.\n"
	"\n"
	"          a1b2c3d4e5f60718  g1 (green) reached r1 (red): two tenants without an "
	"exception\n"
	"  map     maps/site.json:31 /partitions/2\n"
	"  wire    lid:17 > lid:23, P_Key 0x8001, to QP 0x00001a 0x00001b\n"
	"  traffic 40 frames, 4.00 kB, from 2026-11-21T08:45:04.500000000Z for 1.20 s\n"
	"  frames  17 18 40 ... of 40\n"
	"  proof   evidence.pcapng, the frames whose comment names a1b2c3d4e5f60718\n"
	"\n"
	"tenant.unknown-endpoint (high)\n"
	"          The map does not declare the source or the destination.\n"
	"\n"
	"          00ff00ff00ff00ff  10.0.0.9 sent to evil\\x1b[2Jhost\n"
	"  map     no single line decides this\n"
	"  wire    10.0.0.9 > 10.0.0.1, P_Key 0xffff, VLAN 100, VNI 5001\n"
	"  traffic 1 frame, 90 B, from 2026-11-21T08:45:04.500000000Z\n"
	"  frames  2\n"
	"  proof   evidence.pcapng, the frames whose comment names 00ff00ff00ff00ff\n"
	"\n"
	"tenant.cotenancy (high)\n"
	"          Two tenants that must not share a leaf switch have ports on the same one.\n"
	"\n"
	"          1234567890abcdef  red and green share leaf leaf-1, which the map forbids\n"
	"  map     no single line decides this\n"
	"\n"
	"LOOK      fabtap explain ID -m maps/site.json leaf1.pcap leaf2.pcap.zst\n";

static void the_report_reads_as_it_was_drawn(void **state)
{
	struct ft_report report = sample_report();
	struct ft_render_options look = { .arguments =
						  "-m maps/site.json leaf1.pcap leaf2.pcap.zst" };
	struct written written;

	(void)state;
	written_open(&written);
	assert_int_equal(ft_render_text(written.out, &report, &look), 0);
	assert_string_equal(written_close(&written), expected);
	written_free(&written);
}

static void colour_is_only_where_it_is_asked_for(void **state)
{
	struct ft_report report = sample_report();
	struct ft_render_options look = { .colour = true };
	struct written written;
	const char *text;

	(void)state;
	written_open(&written);
	assert_int_equal(ft_render_text(written.out, &report, &look), 0);
	text = written_close(&written);
	assert_non_null(strstr(text, "\033[1;31mVIOLATED\033[0m"));
	assert_null(strstr(text, "evil\033"));
	assert_null(strchr(expected, '\033'));
	written_free(&written);
}

static void every_line_fits_the_page_but_for_tables(void **state)
{
	static char because[256];
	struct ft_report report = sample_report();
	struct ft_render_options look = { .width = 60 };
	struct ft_report_finding finding = report.findings[0];
	struct written written;
	const char *at;

	(void)state;
	for (size_t i = 0; i + 6 < sizeof(because); i += 5)
		memcpy(because + i, "word ", 6);
	finding.summary = because;
	report.findings = &finding;
	report.finding_count = 1;
	report.source_count = 0;
	written_open(&written);
	assert_int_equal(ft_render_text(written.out, &report, &look), 0);
	at = strstr(written_close(&written), "a1b2c3d4e5f60718  word");
	assert_non_null(at);
	assert_true(strcspn(at, "\n") + 10 <= 60);
	written_free(&written);
}

static void a_finding_is_explained_by_its_id_or_its_beginning(void **state)
{
	static const char explained[] =
		"tenant.crossing (critical)\n"
		"          The two ends belong to different tenants and no exception of the map "
		"permits it.\n"
		"\n"
		"          a1b2c3d4e5f60718  g1 (green) reached r1 (red): two tenants without an "
		"exception\n"
		"  map     maps/site.json:31 /partitions/2\n"
		"  wire    lid:17 > lid:23, P_Key 0x8001, to QP 0x00001a 0x00001b\n"
		"  traffic 40 frames, 4.00 kB, from 2026-11-21T08:45:04.500000000Z for 1.20 s\n"
		"  frames  17 18 40 ... of 40\n"
		"  proof   evidence.pcapng, the frames whose comment names a1b2c3d4e5f60718\n"
		"  from    g1, tenant green\n"
		"  to      r1, tenant red\n"
		"  because 4 frames, the first is frame 17\n"
		"          decided by site.json:31\n";
	static const char *const ids[] = { "a1b2c3d4e5f60718", "a1b2c3d4" };
	struct ft_report report = sample_report();
	struct ft_render_options look = { 0 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct written written;

		written_open(&written);
		assert_int_equal(ft_render_finding_text(written.out, &report, ids[i], &look), 0);
		assert_string_equal(written_close(&written), explained);
		written_free(&written);
	}
}

static void an_end_without_a_host_is_named_by_its_address(void **state)
{
	struct ft_report report = sample_report();
	struct ft_report_finding finding = report.findings[0];
	struct ft_render_options look = { 0 };
	struct written written;
	const char *text;

	(void)state;
	finding.src.host = NULL;
	finding.dst.host = finding.dst.tenant = NULL;
	report.findings = &finding;
	report.finding_count = 1;
	written_open(&written);
	assert_int_equal(ft_render_finding_text(written.out, &report, finding.id, &look), 0);
	text = written_close(&written);
	assert_non_null(strstr(
		text, "\n  from    lid:17, tenant green\n  to      lid:23, no single tenant\n"));
	written_free(&written);
}

static void an_unknown_id_is_no_finding_and_an_ambiguous_one_several(void **state)
{
	struct ft_report report = sample_report();
	struct ft_report_finding twins[2] = { report.findings[0], report.findings[0] };
	struct ft_render_options look = { 0 };
	struct written written;

	(void)state;
	twins[1].id[15] = '9';
	report.findings = twins;
	report.finding_count = 2;
	written_open(&written);
	assert_int_equal(ft_render_finding_text(written.out, &report, "ffffffffffffffff", &look),
			 -ENOENT);
	assert_int_equal(ft_render_finding_text(written.out, &report, "a1b2c3d", &look), -ENOENT);
	assert_int_equal(ft_render_finding_text(written.out, &report, "a1b2c3d4", &look),
			 -ENOTUNIQ);
	assert_int_equal(ft_render_finding_json(written.out, &report, "a1b2c3d4e5f6071"),
			 -ENOTUNIQ);
	assert_int_equal(ft_render_finding_json(written.out, &report, ""), -ENOENT);
	assert_int_equal(ft_render_finding_json(written.out, &report, "a1b2c3d4e5f60719"), 0);
	written_close(&written);
	written_free(&written);
}

/* 40 tenants that talk in a ring: too many for a grid. */
static void many_tenants_are_listed_the_violating_pairs_first(void **state)
{
	static char names[40][8];
	static const char *permitted[40][2]; /* by one for all, and one of its own */
	static struct ft_report_pair pairs[40];
	struct ft_report report = sample_report();
	struct ft_render_options look = { 0 };
	struct written written;
	const char *text;

	(void)state;
	for (size_t i = 0; i < 40; i++)
		snprintf(names[i], sizeof(names[i]), "t%02zu", i);
	for (size_t i = 0; i < 40; i++)
		memcpy(permitted[i], (const char *[]){ "common", names[i] }, sizeof(permitted[i]));
	for (size_t i = 0; i < 40; i++)
		pairs[i] = (struct ft_report_pair){ .from = names[i],
						    .to = names[(i + 1) % 40],
						    .packets = i,
						    .bytes = 100 * i,
						    .verdict = i == 3 ? "violated" : "allowed",
						    .violating = i == 3,
						    .exceptions = permitted[i],
						    .exception_count = 2 };
	report.matrix = pairs;
	report.pair_count = 40;
	written_open(&written);
	assert_int_equal(ft_render_text(written.out, &report, &look), 0);
	text = written_close(&written);
	assert_non_null(strstr(text, "          from  to   frames    bytes\n"
				     "          t03   t04       3    300 B  1 violating\n"
				     "          t39   t00      39  3.90 kB  allowed\n"));
	assert_non_null(strstr(text, "          and 16 pairs more, all of them in --json\n"));
	assert_non_null(strstr(text, "          exception t10 permitted t10>t11\n"
				     "          and 29 exceptions more, all of them in --json\n"));
	written_free(&written);
}

static void what_could_hide_is_told_in_plain_figures(void **state)
{
	static const struct {
		double per_million;
		const char *text; /* NULL: nothing is said */
	} rows[] = {
		{ 0, NULL },
		{ 0.25, "a violation by fewer than 0.25 frames in a million could" },
		{ 999.4, "a violation by fewer than 999 frames in a million could" },
		{ 999.7, "a violation by fewer than 1000 frames in a million could" },
		{ 999999.4, "a violation by fewer than 999999 frames in a million could" },
		{ 1e6, "a violation of any size could" },
	};
	struct ft_render_options look = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ft_report report = sample_report();
		struct written written;
		const char *found;

		report.coverage.could_hide_per_million = rows[i].per_million;
		written_open(&written);
		assert_int_equal(ft_render_text(written.out, &report, &look), 0);
		found = strstr(written_close(&written), "          a violation ");
		assert_true((found != NULL) == (rows[i].text != NULL));
		if (found != NULL && rows[i].text != NULL)
			assert_memory_equal(found + 10, rows[i].text, strlen(rows[i].text));
		written_free(&written);
	}
}

static void a_full_disk_is_told(void **state)
{
	struct ft_report report = sample_report();
	struct ft_render_options look = { 0 };
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	if (full == NULL) {
		print_message("SKIPPED: no /dev/full here\n");
		skip();
	}
	setvbuf(full, NULL, _IONBF, 0);
	assert_int_equal(ft_render_text(full, &report, &look), -ENOSPC);
	assert_int_equal(ft_render_json(full, &report), -ENOSPC);
	fclose(full);
}

/* What is said of so many captures of three frames and 100 bytes each, of which number 15 is damaged and 18 has odd records. */
static void captures_read(size_t count, const char *present, const char *absent)
{
	struct ft_render_options look = { .width = 100 };
	struct ft_report report = sample_report();
	struct ft_report_source sources[20];
	struct written written;
	char names[20][32];
	const char *text;

	assert_true(count <= 20);
	for (size_t i = 0; i < count; i++) {
		snprintf(names[i], sizeof names[i], "%zu.pcap", i + 1);
		sources[i] = (struct ft_report_source){
			.name = names[i],
			.kind = "file",
			.format = "pcap",
			.frames = 3,
			.bytes = 100,
			.complaint = i + 1 == 15 ? "15.pcap: damaged at byte 7" : NULL,
			.odd_records = i + 1 == 18 ? 2 : 0,
		};
	}
	report.sources = sources;
	report.source_count = count;
	written_open(&written);
	assert_int_equal(ft_render_text(written.out, &report, &look), 0);
	text = written_close(&written);
	if (strstr(text, present) == NULL || strstr(text, absent) != NULL)
		fail_msg("with \"%s\", without \"%s\": %s", present, absent, text);
	written_free(&written);
}

static void many_captures_are_added_up_but_damaged_ones(void **state)
{
	(void)state;
	captures_read(10, "\n          10.pcap (pcap): 3 frames, 100 B on the wire\n",
		      "others, all");
	captures_read(11, "\n          11.pcap (pcap): 3 frames, 100 B on the wire\n",
		      "others, all");
	captures_read(12,
		      "\n          10.pcap (pcap): 3 frames, 100 B on the wire\n"
		      "          2 others, all of them in --json: 6 frames, 200 B on the wire\n",
		      "11.pcap");
	captures_read(20,
		      "\n          10.pcap (pcap): 3 frames, 100 B on the wire\n"
		      "          15.pcap (pcap): 3 frames, 100 B on the wire\n"
		      "          DAMAGED: 15.pcap: damaged at byte 7\n"
		      "          18.pcap (pcap): 3 frames, 100 B on the wire\n"
		      "          2 odd records corrected or dropped\n"
		      "          8 others, all of them in --json: 24 frames, 800 B on the wire\n",
		      "16.pcap");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_report_reads_as_it_was_drawn),
		cmocka_unit_test(colour_is_only_where_it_is_asked_for),
		cmocka_unit_test(every_line_fits_the_page_but_for_tables),
		cmocka_unit_test(a_finding_is_explained_by_its_id_or_its_beginning),
		cmocka_unit_test(an_end_without_a_host_is_named_by_its_address),
		cmocka_unit_test(an_unknown_id_is_no_finding_and_an_ambiguous_one_several),
		cmocka_unit_test(many_tenants_are_listed_the_violating_pairs_first),
		cmocka_unit_test(what_could_hide_is_told_in_plain_figures),
		cmocka_unit_test(many_captures_are_added_up_but_damaged_ones),
		cmocka_unit_test(a_full_disk_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
