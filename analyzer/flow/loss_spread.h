#pragma once

#include "loss_sums.h"

/* How losses come: all 1 when each is single and hits any frame alike. */
struct ft_loss_spread {
	double frames;   /* in a row that a typical lost frame was lost with */
	double sequence; /* of them of its own sequence */
	double events;   /* losses there were, at least 1 */
	double variance; /* of how many of them are silent, to what drawing lots would give */
};

/* Of evidence with holes. */
struct ft_loss_spread ft_loss_spread_of(const struct ft_loss_evidence *evidence,
					const struct ft_loss_sums *sums);
