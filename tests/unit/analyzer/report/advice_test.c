#include "cmocka_headers.h"

#include <string.h>

#include <report/render.h>

#include "sample_report.h"
#include "written.h"

static const struct ft_report_loss counted[] = { { "psn-gap", "a.pcap", 3 },
						 { "source-counter", "a.pcap", 7 } };
static const struct ft_report_loss uncounted[] = { { "source-counter", "dpdk:0", FT_UNKNOWN } };
static const struct ft_report_unopened macsec[] = { { "macsec", 3 } };

static const char *const words[] = {
	"nothing came",       "no frame is RDMA", "not opened here",   "Ethernet or InfiniBand",
	"more of each frame", "--no-icrc",        "time stamps",       "--buffer",
	"the mirror lost",    "more frames",      "counts its losses", "--flows",
};

#define WORDS (sizeof(words) / sizeof(words[0]))

struct row {
	const char *sentence;
	uint64_t frames;
	struct ft_report_coverage seen;
	const char *told[2]; /* of `words`; no other is */
};

static const struct row rows[] = {
	{ "an empty capture", 0, { .lost_high = FT_UNKNOWN }, { "nothing came" } },
	{ "nothing but other frames",
	  9,
	  { .not_rdma = 9, .lost_high = FT_UNKNOWN },
	  { "no frame is RDMA" } },
	{ "nothing but encrypted ones",
	  9,
	  { .not_rdma = 9, .unopened = macsec, .unopened_count = 1, .lost_high = FT_UNKNOWN },
	  { "not opened here" } },
	{ "RDMA beside encrypted ones",
	  9,
	  { .judged = 6,
	    .not_rdma = 3,
	    .unopened = macsec,
	    .unopened_count = 1,
	    .lost_high = FT_UNKNOWN },
	  { NULL } },
	{ "a link type that is not read",
	  9,
	  { .undecided = 9, .undecided_unread = 9, .lost_high = FT_UNKNOWN },
	  { "Ethernet or InfiniBand" } },
	{ "one of a hundred is cut, one of two of its pair",
	  100,
	  { .judged = 99, .undecided = 1, .undecided_cut = 1 },
	  { "more of each frame" } },
	{ "one of a hundred is cut beside two that the path rewrote",
	  100,
	  { .judged = 97, .undecided = 3, .undecided_cut = 1, .undecided_bad_icrc = 2 },
	  { "--no-icrc" } },
	{ "ten of a hundred are cut where nine tenths are enough, and twenty rewritten",
	  100,
	  { .judged = 70,
	    .undecided = 30,
	    .undecided_cut = 10,
	    .undecided_bad_icrc = 20,
	    .min_coverage = 0.9 },
	  { "--no-icrc" } },
	{ "one of a thousand is cut where all are asked for",
	  1000,
	  { .judged = 999, .undecided = 1, .undecided_cut = 1, .min_coverage = 1 },
	  { "more of each frame" } },
	{ "two of a hundred are cut",
	  100,
	  { .judged = 98, .undecided = 2, .undecided_cut = 2 },
	  { "more of each frame" } },
	{ "wrong ICRCs, and no time",
	  100,
	  { .judged = 50, .undecided = 50, .undecided_bad_icrc = 25, .undecided_untimed = 25 },
	  { "--no-icrc", "time stamps" } },
	{ "the capture's own losses",
	  100,
	  { .judged = 100,
	    .lost_estimate = 10,
	    .lost_high = 12,
	    .lost_by = counted,
	    .lost_by_count = 2 },
	  { "--buffer" } },
	{ "losses that sequences show",
	  100,
	  { .judged = 100,
	    .lost_estimate = 10,
	    .lost_high = 12,
	    .lost_by = counted,
	    .lost_by_count = 1 },
	  { "the mirror lost" } },
	{ "a loss that is not estimated",
	  100,
	  { .judged = 100, .lost_estimate = FT_UNKNOWN, .lost_high = FT_UNKNOWN },
	  { NULL } },
	{ "as many may be lost as are here",
	  5,
	  { .judged = 5, .lost_high = 5 },
	  { "more frames" } },
	{ "one less may be lost", 5, { .judged = 5, .lost_high = 4 }, { NULL } },
	{ "more may be lost than is here, and some is",
	  5,
	  { .judged = 5, .lost_estimate = 1, .lost_high = 9 },
	  { "the mirror lost" } },
	{ "a source that cannot count",
	  100,
	  { .judged = 100, .lost_high = FT_UNKNOWN, .lost_by = uncounted, .lost_by_count = 1 },
	  { "counts its losses" } },
	{ "a table too small", 100, { .judged = 100, .evicted = 1 }, { "--flows" } },
};

static struct ft_report report_of(const struct row *row, enum ft_report_verdict verdict)
{
	struct ft_report report = sample_report();

	report.verdict = verdict;
	report.frames = row->frames;
	report.coverage = row->seen;
	if (row->seen.min_coverage <= 0)
		report.coverage.min_coverage = 0.99;
	report.finding_count = 0;
	return report;
}

/* What stands between NEXT and the empty line behind it; "" without. Lines are joined. */
static void next_of(const struct ft_report *report, char next[512])
{
	struct ft_render_options look = { .width = 400 };
	struct written written;
	const char *from, *to;

	written_open(&written);
	assert_int_equal(ft_render_text(written.out, report, &look), 0);
	from = strstr(written_close(&written), "\nNEXT ");
	next[0] = 0;
	if (from != NULL) {
		to = strstr(from, "\n\n");
		assert_non_null(to);
		assert_true(to - from < 512);
		memcpy(next, from, (size_t)(to - from));
		next[to - from] = 0;
	}
	written_free(&written);
}

static bool is_told(const struct row *row, const char *word)
{
	for (size_t i = 0; i < 2; i++)
		if (row->told[i] != NULL && strcmp(row->told[i], word) == 0)
			return true;
	return false;
}

static void what_keeps_a_verdict_back_has_its_advice(void **state)
{
	char next[512];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ft_report report = report_of(&rows[i], FT_NOT_EVIDENCED);

		next_of(&report, next);
		for (size_t j = 0; j < WORDS; j++)
			if ((strstr(next, words[j]) != NULL) != is_told(&rows[i], words[j]))
				fail_msg("%s: \"%s\" in: %s", rows[i].sentence, words[j], next);
		if (rows[i].told[0] == NULL)
			assert_string_equal(next, "");
	}
}

static void other_verdicts_have_none(void **state)
{
	char next[512];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ft_report compliant = report_of(&rows[i], FT_COMPLIANT);
		struct ft_report violated = report_of(&rows[i], FT_VIOLATED);

		next_of(&compliant, next);
		assert_string_equal(next, "");
		next_of(&violated, next);
		assert_string_equal(next, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_keeps_a_verdict_back_has_its_advice),
		cmocka_unit_test(other_verdicts_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
