#include "coverage.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <report/render.h>

enum { LEAST_BLINDED = 64 }; /* frames that are more than a few */

static const double WITHIN = 1.1; /* counters of losses are not exact */

/*
 * Of `missing` frames and copies, the frames of which nothing is here. At most, each loss took all copies of a frame, as
 * a burst does: as many copies as frames here have. Fewer if frames here lack copies. That is told by their number being just
 * short of so many for each, and by no more than are missing being short: else not all frames pass equally often.
 */
static double without_copy(double missing, double seen, double copies)
{
	double passed = seen + copies;
	double ways = round(passed / seen);
	double lacking = ways * seen - passed;

	if (lacking <= 0 || lacking > WITHIN * missing)
		return missing * seen / passed;
	return fmax(missing * (seen - copies) / seen, (missing - lacking) / ways);
}

uint64_t ft_coverage_counted(uint64_t missing, const struct ft_counted_frames *here)
{
	double seen = (double)here->rdma + (double)here->others;

	if (here->others == 0 && here->copies == 0)
		return missing;
	if (seen <= 0)
		return 0;
	return (uint64_t)(without_copy((double)missing, seen, (double)here->copies) *
				  ((double)here->rdma / seen) +
			  0.5);
}

static bool decided(uint64_t judged, uint64_t undecided, double min_coverage)
{
	return (double)judged >= min_coverage * (double)(judged + undecided);
}

/* A pair of which too little could be judged, however much of the others was; NULL: none. */
static const struct ft_covered_pair *blind_pair(const struct ft_covered *covered)
{
	for (size_t i = 0; i < covered->pair_count; i++) {
		const struct ft_covered_pair *pair = &covered->pairs[i];

		if (!decided(pair->judged, pair->undecided, covered->min_coverage))
			return pair;
	}
	return NULL;
}

/* Where nothing tells the mirror's losses from the fabric's, all that is missing may be the mirror's. */
static double least_seen(const struct ft_covered *covered)
{
	double here = (double)(covered->judged + covered->undecided);

	if (covered->share_seen >= 0)
		return covered->share_seen;
	return here > 0 ? here / (here + (double)covered->uncertain) : 1;
}

/*
 * Whether most frames would have shown a loss and were cut before that. Not of a few packets: whole, they need not be of a
 * sequence either.
 */
static bool is_blinded(const struct ft_covered *covered)
{
	return covered->unnumbered >= LEAST_BLINDED && 2 * covered->unnumbered > covered->judged;
}

/* Though nothing need be lost, as much as is here may well be. */
static bool is_scrap(const struct ft_covered *covered)
{
	return covered->most_lost >= covered->judged + covered->undecided;
}

/* Share lost at most, where a loss shows at all. */
static double most_lost(const struct ft_covered *covered)
{
	double here = (double)(covered->judged + covered->undecided);
	double most = (double)covered->most_lost;

	return covered->share_seen < 0 || covered->share_seen >= 1 || most == 0
		       ? 0
		       : most / (here + most);
}

/* Whatever is lost, it would hardly show. */
static bool hides_losses(const struct ft_covered *covered, char because[FT_COVERAGE_TEXT])
{
	if (covered->masked)
		snprintf(because, FT_COVERAGE_TEXT,
			 "queue pairs begin anew, or packets come again, so often that losses do "
			 "not show");
	else if (covered->crowded)
		snprintf(because, FT_COVERAGE_TEXT,
			 "packets are out of order so far that those still to come are not told "
			 "from lost ones");
	else if (covered->faint)
		snprintf(because, FT_COVERAGE_TEXT,
			 "packets come again so often that few losses would show: how much is "
			 "missing is not known");
	return covered->masked || covered->crowded || covered->faint;
}

/* Requests and answers that are here show that others are not. */
static bool lacks_too_much(const struct ft_covered *covered, char because[FT_COVERAGE_TEXT])
{
	const bool unknown = covered->share_seen < 0;
	struct ft_percent percent;

	if (least_seen(covered) < covered->min_coverage)
		snprintf(because, FT_COVERAGE_TEXT,
			 unknown ? "up to %s %% of the RDMA frames that crossed may be missing "
				   "here: "
				   "nothing tells whether the mirror or the fabric lost them"
				 : "about %s %% of the RDMA frames that crossed are not in the "
				   "capture%s",
			 ft_percent(&percent, 1 - least_seen(covered)),
			 covered->filtered ? ": a filter by opcode took what is in the midst of "
					     "messages"
					   : "");
	else if (covered->lasting)
		snprintf(because, FT_COVERAGE_TEXT, "%s",
			 unknown ? "requests are missing of which answers are here: nothing tells "
				   "how much else is"
				 : "losses last longer than connections do: of what they took "
				   "whole nothing tells");
	else
		return false;
	return true;
}

/* They do not, but may not show it. */
static bool may_lack_too_much(const struct ft_covered *covered, char because[FT_COVERAGE_TEXT])
{
	const bool unknown = covered->share_seen < 0;
	struct ft_percent percent;

	if (unknown && 1 - covered->crowd_share < covered->min_coverage)
		snprintf(because, FT_COVERAGE_TEXT,
			 "up to %s %% of the RDMA frames that crossed may be missing: which "
			 "answer is to which request is not told, and they do not add up",
			 ft_percent(&percent, covered->crowd_share));
	else if (1 - covered->silent_share < covered->min_coverage)
		snprintf(because, FT_COVERAGE_TEXT,
			 "the capture is silent for %s %% of its time in the midst of connections "
			 "that come at a steady rate: nothing shows that none did",
			 ft_percent(&percent, covered->silent_time));
	else if (1 - most_lost(covered) < covered->min_coverage)
		snprintf(because, FT_COVERAGE_TEXT,
			 "up to %s %% of the RDMA frames that crossed are not in the capture",
			 ft_percent(&percent, most_lost(covered)));
	else if (!unknown && 1 - covered->doubted < covered->min_coverage)
		snprintf(because, FT_COVERAGE_TEXT,
			 "about %s %% of the RDMA frames that crossed may be lost, or may have "
			 "passed before the capture began or after it ended",
			 ft_percent(&percent, covered->doubted));
	else if (unknown && is_blinded(covered))
		snprintf(because, FT_COVERAGE_TEXT,
			 "%" PRIu64 " of %" PRIu64
			 " RDMA frames are cut before their sequence numbers: nothing can show "
			 "whether others are missing",
			 covered->unnumbered, covered->judged + covered->undecided);
	else
		return false;
	return true;
}

/* What was lost, as far as anything tells; false: nothing says that it was too much. */
static bool lost_too_much(const struct ft_covered *covered, char because[FT_COVERAGE_TEXT])
{
	return hides_losses(covered, because) || lacks_too_much(covered, because) ||
	       may_lack_too_much(covered, because);
}

/* Bytes of a name that are shown, whole characters of UTF-8. */
static int shown(const char *name, size_t most)
{
	size_t size = strnlen(name, most);

	if (name[size] != '\0')
		while (size > 0 && ((unsigned char)name[size] & 0xc0) == 0x80)
			size--;
	return (int)size;
}

bool ft_coverage_enough(const struct ft_covered *covered, char because[FT_COVERAGE_TEXT])
{
	const struct ft_covered_pair *blind = blind_pair(covered);

	if (covered->judged == 0)
		snprintf(because, FT_COVERAGE_TEXT, "no RDMA frame could be judged");
	else if (!decided(covered->judged, covered->undecided, covered->min_coverage))
		snprintf(because, FT_COVERAGE_TEXT,
			 "%" PRIu64 " of %" PRIu64 " RDMA frames could not be judged",
			 covered->undecided, covered->judged + covered->undecided);
	else if (lost_too_much(covered, because))
		return false;
	else if (covered->uncounted != NULL)
		snprintf(because, FT_COVERAGE_TEXT, "%.*s does not know how many frames it lost",
			 shown(covered->uncounted, 100), covered->uncounted);
	else if (covered->forgotten != 0)
		snprintf(because, FT_COVERAGE_TEXT,
			 "%" PRIu64 " half-connection%s had to be forgotten (--flows): a change "
			 "of P_Key inside %s would not show",
			 covered->forgotten, covered->forgotten == 1 ? "" : "s",
			 covered->forgotten == 1 ? "it" : "one of them");
	else if (is_scrap(covered))
		snprintf(because, FT_COVERAGE_TEXT,
			 "up to %" PRIu64 " RDMA frames may be lost beside the %" PRIu64 " here",
			 covered->most_lost, covered->judged + covered->undecided);
	else if (blind != NULL)
		snprintf(because, FT_COVERAGE_TEXT,
			 "%" PRIu64 " of %" PRIu64
			 " RDMA frames from %.*s to %.*s could not be judged",
			 blind->undecided, blind->judged + blind->undecided, shown(blind->from, 60),
			 blind->from, shown(blind->to, 60), blind->to);
	else
		return true;
	return false;
}

/* Undecided frames of which not even the pair could be read, as a wrong ICRC leaves them. */
static uint64_t unplaced(const struct ft_covered *covered)
{
	uint64_t placed = 0;

	for (size_t i = 0; i < covered->pair_count; i++)
		placed += covered->pairs[i].undecided;
	return covered->undecided > placed ? covered->undecided - placed : 0;
}

/* Share of all frames that chance took, whatever they carry: lost, or damaged beyond reading. */
static double taken_by_chance(const struct ft_covered *covered)
{
	double here = (double)(covered->judged + covered->undecided);
	bool unknown =
		covered->share_seen < 0 || covered->uncounted != NULL || covered->forgotten != 0;
	double lost = unknown ? 1 : 1 - covered->share_seen;
	double damaged = here > 0 ? (double)(unplaced(covered) - covered->unplaceable) / here : 0;

	return lost + damaged - lost * damaged;
}

/*
 * What chance took hides a violation by chance: of one by 3 frames in n, not one is among n frames
 * with 5 % only, since (1 - 3/n)^n = 5 %; and no more can hide than was taken. Other undecided
 * frames are so for what they are, cut, broken or without a time: all of them may be the violation.
 */
static double hidden(const struct ft_covered *covered, const struct ft_covered_pair *pair,
		     double taken)
{
	double undecided = (double)pair->undecided + (double)covered->unplaceable;
	double chance = pair->judged > 3 ? 3 / (double)pair->judged : 1;
	double share =
		undecided / ((double)pair->judged + undecided) + (taken < chance ? taken : chance);

	return share < 1 ? share : 1;
}

static const struct ft_covered_pair *darkest(const struct ft_covered *covered, double *share)
{
	const struct ft_covered_pair *found = NULL;
	double taken = taken_by_chance(covered);

	*share = 0;
	for (size_t i = 0; i < covered->pair_count; i++) {
		const struct ft_covered_pair *pair = &covered->pairs[i];
		double here = pair->judged + pair->undecided > 0 ? hidden(covered, pair, taken) : 0;

		if (here > *share) {
			*share = here;
			found = pair;
		}
	}
	return found;
}

/* ", 2 undecided" where there are any. */
static void say_count(char text[64], uint64_t count, const char *what)
{
	text[0] = '\0';
	if (count > 0)
		snprintf(text, 64, ", %" PRIu64 " %s", count, what);
}

static void say_why(const struct ft_covered *covered, const struct ft_covered_pair *pair,
		    char because[FT_COVERAGE_TEXT])
{
	char undecided[64], damaged[64], lost[64] = "";
	struct ft_percent percent;

	say_count(undecided, pair->undecided, "undecided");
	say_count(damaged, unplaced(covered), "of no known pair undecided");
	if (covered->uncounted != NULL)
		snprintf(lost, sizeof lost, ", a source does not count its losses");
	else if (covered->forgotten != 0)
		snprintf(lost, sizeof lost, ", P_Keys of connections were forgotten (--flows)");
	else if (covered->share_seen < 0)
		snprintf(lost, sizeof lost, ", nothing tells how many were lost");
	else if (covered->share_seen < 1)
		snprintf(lost, sizeof lost, ", about %s %% of all frames lost",
			 ft_percent(&percent, 1 - covered->share_seen));
	snprintf(because, FT_COVERAGE_TEXT, "from %.*s to %.*s %" PRIu64 " judged%s%s%s",
		 shown(pair->from, 24), pair->from, shown(pair->to, 24), pair->to, pair->judged,
		 undecided, damaged, lost);
}

double ft_coverage_could_hide(const struct ft_covered *covered, char because[FT_COVERAGE_TEXT])
{
	/* Where no end of any frame is known, all frames are of one pair as far as can be told. */
	const struct ft_covered_pair strangers = { "unknown", "unknown", covered->judged, 0 };
	struct ft_covered told = *covered;
	const struct ft_covered_pair *pair;
	double share;

	if (covered->pair_count == 0) {
		told.pairs = &strangers;
		told.pair_count = 1;
	}
	pair = darkest(&told, &share);

	if (covered->judged == 0) {
		snprintf(because, FT_COVERAGE_TEXT, "no RDMA frame could be judged");
		return 1e6;
	}
	if (pair != NULL)
		say_why(&told, pair, because);
	else
		snprintf(because, FT_COVERAGE_TEXT,
			 "all frames seen were judged and none shows a loss");
	return 1e6 * share;
}
