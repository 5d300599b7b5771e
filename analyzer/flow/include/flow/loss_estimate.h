#pragma once

#include <flow/loss.h>

/*
 * From evidence of losses to how many there were. Once all of it is merged what is doubtful is decided, in the order in which this
 * header has it, and what is left is estimated. docs/coverage.md has the reasons.
 */

/*
 * Whether a filter by opcode has taken what is in the midst of messages, once all evidence is merged and before anything else is
 * decided: of ten messages and more all is missing but First and Last, and of no hole a Middle is next to it. Those are lost
 * then, but say nothing of how often others are, and nothing is doubtful. Returns how many of those that were due yet so became
 * holes.
 */
struct ft_loss_filtered {
	uint64_t requests, answers;
} ft_loss_believe_filter(struct ft_loss_evidence *evidence);

/*
 * Decide about responses overdue, after that and before anything else is decided. They were lost where several have
 * been missing since the first half of the capture, and they are far more than what was sent again, wanted again or out of
 * order anywhere: who had missed them would have asked again. Returns how many so became holes.
 */
uint64_t ft_loss_believe_overdue(struct ft_loss_evidence *evidence);

/*
 * Likewise, after that, about FT_LOSS_BETWEEN, PSNs left out between the responses to two READs: lost where responses are all
 * that is in view, no request and no acknowledgement, READs follow each other without a PSN between, a loss is proved and
 * nothing was sent again, wanted again or out of order. Then every response closes a space but the first and the last of a half.
 */
uint64_t ft_loss_believe_between(struct ft_loss_evidence *evidence);

/*
 * Likewise about requests of which no answer is known, as where nothing tells which halves belong together: lost where
 * several have been missing since the first half of the capture, and nothing was sent again, wanted again or out of order.
 */
uint64_t ft_loss_believe_unanswered(struct ft_loss_evidence *evidence);

/*
 * Likewise, after that, about what is missing in sequences of unreliable connections: lost where reliable ones show a loss,
 * nothing was sent again, wanted again or out of order, and no more is missing than is lost there. Then these are sequences
 * like the others.
 */
uint64_t ft_loss_believe_unreliable(struct ft_loss_evidence *evidence);

/*
 * Likewise, after that, about FT_LOSS_CUT and FT_LOSS_OLDER: lost where nothing was sent again, wanted again or out of order,
 * and no half was forgotten; the latter if they are few of many halves counted, and no more of them are in the first quarter of
 * the capture than behind it: connections from before the capture show soon, or are most of all. They are no holes: how many packets are
 * missing before each is not known. Where far more halves are cut than frames are lost within sequences, losses last longer than
 * those. Returns how many halves are cut, either way.
 */
uint64_t ft_loss_believe_cut(struct ft_loss_evidence *evidence);

/*
 * Likewise about connections of one request each. A request closes a space if its answer is here, and was lost where the answer is
 * all there is: not where nothing else went its way, as in a view of one direction, or longer connections lack that direction half
 * as often, nor where these are few or most of them soon after the beginning, or a half was forgotten. Returns how many so became
 * holes. Sets `parted` where far more answers without their request come right behind a request without its answer than by chance:
 * losses take whole exchanges.
 */
uint64_t ft_loss_believe_exchanges(struct ft_loss_evidence *evidence);

/*
 * Of a crowd that is not told apart, the share that may be lost at most, with 99 %; 0: most are told apart, or few. Of what is lost
 * one by one each way lacks as many that ask as that answer, but for chance, and that tells how many.
 */
double ft_loss_crowd_share(const struct ft_loss_evidence *evidence);

/*
 * Decide about what is doubtful, once all evidence is merged. It was lost where nothing was sent again, wanted again or out
 * of order anywhere; else early holes were if others are nearly as frequent, and overdue responses if they are more than a fabric
 * that loses so much makes wait. What was not is taken out of the holes and is uncertain. Returns the set of doubts, as
 * bits, that were found true.
 */
uint32_t ft_loss_resolve(struct ft_loss_evidence *evidence);

struct ft_loss_estimate {
	bool known;   /* false: nothing in the capture allows an estimate; the rest but seen is 0 */
	bool bounded; /* high is known */
	bool masked; /* nearly all begins anew or comes again, so that losses do not show: not known, but for counters */
	bool faint;   /* most packets pass again, so that losses seldom show: `high` is not known */
	bool crowded; /* likewise: packets are out of order farther than is followed */
	bool lasting; /* losses outlast sequences: what they took whole leaves no trace, and nothing bounds it */
	/* not known, and crowds of one request each are not told apart: of them so much may be lost; 0: no such are most */
	double crowd_share;
	uint64_t frames;    /* the estimate */
	uint64_t low, high; /* hold the truth with 99 % */
	uint64_t seen;      /* RDMA frames seen */
	double share_seen;  /* seen / (seen + frames) */
	double least_share; /* the same, if all that is missing and may yet come was lost */
};

/*
 * `counted`: frames that a counter of the mirror or the source itself says are lost (mirror sequence
 * numbers, drop counters, ERF loss counters), 0 if none: the estimate is never below it.
 */
void ft_loss_estimate(const struct ft_loss_evidence *evidence, uint64_t counted,
		      struct ft_loss_estimate *estimate);
