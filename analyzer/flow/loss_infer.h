#pragma once

#include "inferred.h"
#include "loss_spread.h"

/* What was lost beyond the holes, as evidence with holes lets expect. */
struct ft_inferred ft_loss_infer(const struct ft_loss_evidence *evidence,
				 const struct ft_loss_sums *sums, const struct ft_loss_spread *by);

/*
 * Of what is missing and not answered for yet, the mirror's share. Responses that the fabric loses are asked for again at
 * once, and so wait for less long than those that the mirror lost, and so does whatever was overtaken. A lost READ leaves as
 * many PSNs as it asked for.
 */
struct ft_inferred ft_loss_pending(const struct ft_loss_evidence *evidence,
				   const struct ft_loss_sums *sums);
