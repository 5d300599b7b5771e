#pragma once

#include "inferred.h"
#include "loss_spread.h"

/*
 * Connections of one request each, many of them under way at a time: a loss that goes on from a request to its answer hides both. Of
 * what it takes only the last requests show, as far back as an answer is behind its request.
 */
struct ft_loss_outlasted {
	double share; /* of what losses take of such connections, that which leaves no trace .. */
	bool mostly; /* .. or it may well be more than shows: nothing bounds it, and it is not known */
};

struct ft_loss_outlasted ft_loss_outlasted_of(const struct ft_loss_evidence *evidence,
					      const struct ft_loss_spread *by);

/* What is lost and does not show, besides `shown` frames of such connections that do, or are inferred by them. */
struct ft_inferred ft_loss_over_exchanges(const struct ft_loss_evidence *evidence,
					  const struct ft_loss_spread *by, double shown);
