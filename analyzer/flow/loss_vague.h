#pragma once

#include <flow/loss.h>

#include "inferred.h"

/*
 * Holes in which READs may lie: a READ takes the PSNs of all its responses, so that a hole of seven PSNs is one packet, or
 * seven, or anything between.
 *
 * How many packets were lost in them beyond those that they count for; less than 0 if it is fewer. `requests`: seen in
 * sequences, `odds`: lost to seen.
 */
struct ft_inferred ft_loss_in_vague(const struct ft_loss_evidence *evidence, double requests,
				    double odds);

/*
 * Between two responses whose requester is not known some may be missing of one READ; or the end of one, the beginning of
 * another, and requests between them that are none: all PSNs left out count.
 *
 * How many responses those were beyond what they count for: 0 or less. Likewise, and of those overdue the share `waits` counts.
 */
struct ft_inferred ft_loss_in_skips(const struct ft_loss_evidence *evidence, double requests,
				    double odds, double waits);
