#include "loss_vague.h"

#include <math.h>

/* Of what is inferred, the share that it may be off by: losses do not last alike. */
static const double unlike = 0.125;

/* How often what is inferred says how long losses last, and that what is inferred. */
enum { rounds = 8 };

/* What requests are, by the PSNs that each takes, as shares of all. */
struct kinds {
	double share[FT_LOSS_VAGUE + 1];
	double reads; /* share of READs .. */
	double longer[FT_LOSS_VAGUE +
		      1]; /* .. and of them, that of those with more responses than that */
};

static struct kinds kinds_of(const struct ft_loss_evidence *evidence, double requests)
{
	struct kinds kinds = { 0 };
	double reads = 0;

	for (unsigned i = 1; i <= FT_LOSS_VAGUE; i++)
		reads += (double)evidence->reads[i];
	requests = fmax(requests, reads + 1);
	for (unsigned i = 1; i <= FT_LOSS_VAGUE; i++)
		kinds.share[i] = (double)evidence->reads[i] / requests;
	kinds.share[1] += 1 - reads / requests;
	kinds.reads = reads / requests;
	for (unsigned i = FT_LOSS_VAGUE; i-- > 0;)
		kinds.longer[i] =
			kinds.longer[i + 1] + (double)evidence->reads[i + 1] / fmax(reads, 1);
	return kinds;
}

/* All ways in which requests lost in a row take so many PSNs: how likely they are, and of the number of requests in them .. */
struct ways {
	double chance, sum, squares; /* .. each weighed by its chance */
};

/* One request more in front of all of them, likely by `share`. */
static struct ways and_one(const struct ways *ways, double share)
{
	return (struct ways){
		.chance = share * ways->chance,
		.sum = share * (ways->sum + ways->chance),
		.squares = share * (ways->squares + 2 * ways->sum + ways->chance),
	};
}

/* The vague holes, as if of requests lost so many of the next ones of their half were lost with them. */
struct packets {
	double holes, mean, variance;
};

static struct packets packets_in(const struct ft_loss_evidence *evidence, const struct kinds *kinds,
				 double next)
{
	struct ways ways[FT_LOSS_VAGUE + 1] = { { .chance = 1 } };
	struct packets packets = { 0 };

	for (unsigned psns = 1; psns <= FT_LOSS_VAGUE; psns++) {
		double holes = (double)evidence->vague[psns], mean;

		for (unsigned first = 1; first <= psns; first++) {
			const struct ways more =
				and_one(&ways[psns - first], kinds->share[first] * next);

			ways[psns].chance += more.chance;
			ways[psns].sum += more.sum;
			ways[psns].squares += more.squares;
		}
		if (holes == 0 || ways[psns].chance <= 0)
			continue;
		mean = ways[psns].sum / ways[psns].chance;
		packets.holes += holes;
		packets.mean += holes * mean;
		packets.variance += holes * (ways[psns].squares / ways[psns].chance - mean * mean);
	}
	return packets;
}

/* Of requests that are lost, the share of which the next one of their half is lost too: those of all holes but the last. */
static double share_of_next(const struct ft_loss_evidence *evidence, const struct packets *vague,
			    double odds)
{
	double runs = (double)evidence->runs + vague->holes;
	double packets = (double)evidence->run_psns + vague->mean;

	return (packets - runs + odds / (1 + odds)) / (packets + 1);
}

struct ft_inferred ft_loss_in_vague(const struct ft_loss_evidence *evidence, double requests,
				    double odds)
{
	const struct kinds kinds = kinds_of(evidence, requests);
	struct packets vague = { 0 };
	double beyond;

	for (unsigned i = 0; i < rounds; i++)
		vague = packets_in(evidence, &kinds, share_of_next(evidence, &vague, odds));
	beyond = vague.mean - (double)evidence->vague_counted;
	return (struct ft_inferred){
		.mean = beyond,
		.variance = vague.variance + beyond * beyond * unlike * unlike,
	};
}

/* That so many responses are missing in the midst of one READ, as is one of `next` behind another that is lost. */
static double chance_within(const struct kinds *kinds, double next, unsigned psns)
{
	double places = 0;

	for (unsigned i = psns + 1; i < FT_LOSS_VAGUE; i++)
		places += kinds->longer[i];
	return places * pow(next, psns - 1);
}

/*
 * Responses that are missing where so many PSNs were left out: all, if within one READ; else the end of one and the beginning
 * of another, with other requests between them.
 */
static double missing_in(const struct kinds *kinds, double next, double share, unsigned psns)
{
	double within = chance_within(kinds, next, psns);
	double chance = within, sum = within * psns;

	for (unsigned end = 1; end < psns; end++) {
		for (unsigned begin = 1; begin + end <= psns; begin++) {
			double parted = kinds->longer[end] * kinds->longer[begin] * share *
					pow(next, end + begin - 2) * kinds->reads *
					pow(1 - kinds->reads, psns - end - begin);

			chance += parted;
			sum += parted * (end + begin);
		}
	}
	return chance > 0 ? sum / chance : psns;
}

/* Of responses, the share lost: a tap may lose more of one direction. `odds`: of all, lost to seen, as if of one more. */
static double share_of_answers(const struct ft_loss_evidence *evidence, double odds)
{
	double lost = (double)evidence->answers_lost + odds;

	return lost / (lost + (double)evidence->answers_seen + 1);
}

struct ft_inferred ft_loss_in_skips(const struct ft_loss_evidence *evidence, double requests,
				    double odds, double waits)
{
	const struct kinds kinds = kinds_of(evidence, requests);
	double share = share_of_answers(evidence, odds), more = 0;
	double next = fmax(share, share_of_next(evidence, &(struct packets){ 0 }, odds));

	for (unsigned psns = 1; psns <= FT_LOSS_VAGUE && kinds.reads > 0; psns++) {
		double skips = (double)evidence->skips[psns] +
			       waits * (double)evidence->missing_skips[psns];

		if (skips > 0)
			more += skips * (missing_in(&kinds, next, share, psns) - psns);
	}
	return (struct ft_inferred){ .mean = more, .variance = more * more * unlike * unlike };
}
