#include "advice_text.h"

enum advice {
	NOTHING_CAME,
	NO_RDMA,
	UNOPENED,
	UNREAD,
	CUT,
	BAD_ICRC,
	UNTIMED,
	LOST_BY_SOURCE,
	LOST_BY_MIRROR,
	SCRAP,
	UNCOUNTED,
	EVICTED,
	ADVICES
};

static const char *const sentences[ADVICES] = {
	[NOTHING_CAME] = "nothing came: are the mirror session and its destination's link up?",
	[NO_RDMA] =
		"no frame is RDMA: does the mirror show ports that carry it? Of RoCEv2 on another "
		"UDP port than 4791, --roce-port tells",
	[UNOPENED] =
		"what is not opened here may show at a port where it is not encrypted or wrapped",
	[UNREAD] = "capture Ethernet or InfiniBand; fabtap sources FILE tells what a file holds",
	[CUT] = "keep more of each frame, at the switch and in the capture (-s): 128 bytes, or "
		"192 with headers of a mirror or an overlay around them",
	[BAD_ICRC] = "if it is known that the path rewrites headers, --no-icrc takes frames at "
		     "their word",
	[UNTIMED] = "capture with time stamps, or give a map that does not change with time",
	[LOST_BY_SOURCE] =
		"what the capture lost: keep less of each frame (-s), or have a larger --buffer",
	[LOST_BY_MIRROR] =
		"what the mirror lost: show it fewer ports, cut frames at the switch, or give it "
		"a faster destination",
	[SCRAP] = "a capture of more frames tells more",
	[UNCOUNTED] = "listen through a source that counts its losses; fabtap sources --test "
		      "SOURCE tells",
	[EVICTED] = "have a larger flow table: --flows",
};

/* So many undecided ones alone are too many for a verdict (docs/coverage.md). */
static bool is_much(uint64_t count, const struct ft_report_coverage *seen)
{
	double rdma = (double)(seen->judged + seen->undecided);

	return rdma - (double)count < seen->min_coverage * rdma;
}

/* An input's own count of what it lost: there is one, and it is known or not. */
static bool is_counted(const struct ft_report_coverage *seen, bool known)
{
	for (size_t i = 0; i < seen->lost_by_count; i++)
		if (strcmp(seen->lost_by[i].method, "source-counter") == 0 &&
		    (seen->lost_by[i].frames != FT_UNKNOWN) == known)
			return true;
	return false;
}

/* Where no cause takes that many, those that take some: one pair of tenants may have them all. */
static void choose_undecided(const struct ft_report_coverage *seen, bool given[ADVICES])
{
	const struct {
		enum advice advice;
		uint64_t count;
	} causes[] = {
		{ UNREAD, seen->undecided_unread },
		{ CUT, seen->undecided_cut },
		{ BAD_ICRC, seen->undecided_bad_icrc },
		{ UNTIMED, seen->undecided_untimed },
	};
	bool much = false;

	for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
		much |= is_much(causes[i].count, seen);
	for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
		given[causes[i].advice] =
			much ? is_much(causes[i].count, seen) : causes[i].count > 0;
}

static void choose(const struct ft_report *report, bool given[ADVICES])
{
	const struct ft_report_coverage *seen = &report->coverage;
	uint64_t rdma = seen->judged + seen->undecided;
	bool lost = seen->lost_estimate != FT_UNKNOWN && seen->lost_estimate > 0;

	given[NOTHING_CAME] = report->frames == 0;
	given[NO_RDMA] = report->frames > 0 && rdma == 0 && seen->unopened_count == 0;
	given[UNOPENED] = rdma == 0 && seen->unopened_count > 0;
	choose_undecided(seen, given);
	given[LOST_BY_SOURCE] = is_counted(seen, true);
	given[LOST_BY_MIRROR] = lost && !given[LOST_BY_SOURCE];
	given[SCRAP] =
		rdma > 0 && !lost && seen->lost_high != FT_UNKNOWN && seen->lost_high >= rdma;
	given[UNCOUNTED] = is_counted(seen, false);
	given[EVICTED] = seen->evicted > 0;
}

void ft_advice_text(struct ft_page *page, const struct ft_report *report)
{
	bool given[ADVICES];
	const char *label = "NEXT";

	if (report->verdict != FT_NOT_EVIDENCED)
		return;
	choose(report, given);
	for (size_t i = 0; i < ADVICES; i++) {
		if (!given[i])
			continue;
		ft_page_row(page, label, "%s", sentences[i]);
		label = "";
	}
	if (label[0] == 0)
		ft_line_char(&page->line, '\n');
}
