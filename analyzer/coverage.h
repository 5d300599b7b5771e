#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the verdict may rest on (docs/coverage.md): was enough of the traffic seen and decided to say
 * that there was no violation, and how large a one could have gone unseen all the same.
 */

/* RDMA frames from one tenant to another; one of the two may be unknown, but not both. */
struct ft_covered_pair {
	const char *from, *to;
	uint64_t judged, undecided;
};

struct ft_covered {
	uint64_t judged, undecided; /* RDMA frames of the whole capture */
	/* of the undecided, without a time or of a link type that is not read: of no known pair */
	uint64_t unplaceable;
	uint64_t unnumbered; /* of the judged, cut before the PSN by which a loss would show */
	double share_seen;   /* of those that crossed; < 0: nothing allows an estimate */
	double doubted;      /* share of them not seen, if all that is doubted was lost */
	uint64_t uncertain;  /* frames missing that the fabric or the mirror lost */
	uint64_t most_lost;  /* upper bound of the frames lost; 0: none, or not known */
	/* share that may be missing while connections that come at a steady rate were silent, for so much of the time */
	double silent_share, silent_time;
	bool masked; /* nearly all frames begin anew or come again: losses do not show */
	bool faint;  /* most packets pass again: few losses would show */
	/* of connections that are not told apart, the share that may be lost; 0: there is no such crowd */
	double crowd_share;
	bool crowded; /* frames are out of order farther than is followed: likewise */
	/* losses outlast connections, or are of some of which no other tells: nothing bounds what they took */
	bool lasting;
	bool filtered; /* no packet in the midst of a message is here: a filter by opcode took them */
	/* half-connections whose first P_Key base is not known any more, where that counts */
	uint64_t forgotten;
	const char *uncounted; /* a live source that does not know what it lost; NULL: none */
	const struct ft_covered_pair *pairs;
	size_t pair_count;
	double min_coverage; /* share that must be seen, and of that decided, for `compliant` */
};

/* Frames of a capture, as its counters of losses mean them: of any kind, copies too. */
struct ft_counted_frames {
	uint64_t rdma, others; /* seen, without copies */
	uint64_t copies;
};

/*
 * Of `missing` frames that the counters of mirrors and sources tell of, how many were RDMA frames of
 * which no copy is here either, if they were of the mix that is here. All of them if no frame here has
 * a copy. A frame that has one proves nothing of another: a loss may have taken all of its copies.
 */
uint64_t ft_coverage_counted(uint64_t missing, const struct ft_counted_frames *here);

enum { FT_COVERAGE_TEXT = 256 }; /* room for a sentence of the calls below */

/*
 * May the verdict be `compliant`? If not, `because` says what is missing: "120 of 318 RDMA frames
 * could not be judged", to stand after "no violation was seen, but ".
 */
bool ft_coverage_enough(const struct ft_covered *covered, char because[FT_COVERAGE_TEXT]);

/*
 * In packets per million of one tenant pair: a violation by fewer could have gone unseen with 95 %.
 * 0 when nothing is unseen. `because` names the pair and says why. Where not one tenant is known, all
 * frames are of one pair, unknown to unknown.
 */
double ft_coverage_could_hide(const struct ft_covered *covered, char because[FT_COVERAGE_TEXT]);
