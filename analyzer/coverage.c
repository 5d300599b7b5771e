#include "coverage.h"

#include <inttypes.h>
#include <stdio.h>

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

static bool seen(const struct ft_covered *covered)
{
	return covered->share_seen < 0 || covered->share_seen >= covered->min_coverage;
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
	else if (!seen(covered))
		snprintf(because, FT_COVERAGE_TEXT,
			 "about %.2g %% of the RDMA frames that crossed are not in the capture",
			 100 * (1 - covered->share_seen));
	else if (blind != NULL)
		snprintf(because, FT_COVERAGE_TEXT,
			 "%" PRIu64 " of %" PRIu64
			 " RDMA frames from %.60s to %.60s could not be judged",
			 blind->undecided, blind->judged + blind->undecided, blind->from,
			 blind->to);
	else
		return true;
	return false;
}

/*
 * Frames are lost whatever they carry: of a violation by 3 frames in n, not one is among n frames with
 * 5 % only, since (1 - 3/n)^n = 5 %; and no more can hide than was lost. Frames are undecided for
 * what they carry: all that are may be the violation.
 */
static double hidden(const struct ft_covered *covered, const struct ft_covered_pair *pair)
{
	double frames = (double)(pair->judged + pair->undecided);
	double undecided = (double)pair->undecided / frames;
	double chance = pair->judged > 3 ? 3 / (double)pair->judged : 1;
	double lost = covered->share_seen < 0 ? 1 : 1 - covered->share_seen;
	double share = undecided + (lost < chance ? lost : chance);

	return share < 1 ? share : 1;
}

static const struct ft_covered_pair *darkest(const struct ft_covered *covered, double *share)
{
	const struct ft_covered_pair *found = NULL;

	*share = 0;
	for (size_t i = 0; i < covered->pair_count; i++) {
		const struct ft_covered_pair *pair = &covered->pairs[i];
		double here = pair->judged + pair->undecided > 0 ? hidden(covered, pair) : 0;

		if (here > *share) {
			*share = here;
			found = pair;
		}
	}
	return found;
}

static void say_why(const struct ft_covered *covered, const struct ft_covered_pair *pair,
		    char because[FT_COVERAGE_TEXT])
{
	char undecided[64] = "", lost[64] = "";

	if (pair->undecided > 0)
		snprintf(undecided, sizeof undecided, ", %" PRIu64 " undecided", pair->undecided);
	if (covered->share_seen < 0)
		snprintf(lost, sizeof lost, ", nothing tells how many were lost");
	else if (covered->share_seen < 1)
		snprintf(lost, sizeof lost, ", about %.2g %% of all frames lost",
			 100 * (1 - covered->share_seen));
	snprintf(because, FT_COVERAGE_TEXT, "from %.40s to %.40s %" PRIu64 " frames judged%s%s",
		 pair->from, pair->to, pair->judged, undecided, lost);
}

double ft_coverage_could_hide(const struct ft_covered *covered, char because[FT_COVERAGE_TEXT])
{
	double share;
	const struct ft_covered_pair *pair = darkest(covered, &share);

	if (pair != NULL)
		say_why(covered, pair, because);
	else
		snprintf(because, FT_COVERAGE_TEXT, "%s",
			 covered->judged > 0 ? "all frames seen were judged and none shows a loss"
					     : "no RDMA frame was seen");
	return 1e6 * share;
}
