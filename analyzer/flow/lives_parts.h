#pragma once

#include "lives.h"

/* What keeping a former life and telling which one it was have in common. */

/* The former life that the span stands for; NULL: it had to leave its place. */
const struct ft_former *ft_former_kept(const struct ft_tracker *tracker, const struct ft_flow *flow,
				       const struct ft_span *span);
struct ft_former *ft_former_of(struct ft_tracker *tracker, const struct ft_flow *flow,
			       const struct ft_span *span);

/* What it knew is of no use any more. */
void ft_former_forget(struct ft_tracker *tracker, struct ft_former *former);

/* FT_STEP_TOLD_AGAIN or FT_STEP_TOLD_NEW: what the packets withheld of it were. `step` may be NULL. */
void ft_former_tell(struct ft_tracker *tracker, struct ft_step *step,
		    const struct ft_former *former, enum ft_step_what what);
