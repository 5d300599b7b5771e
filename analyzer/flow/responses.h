#pragma once

#include "tracker_parts.h"

/* Responses as their half alone shows them: each says which PSNs had to come before it. */

/* Whether it was missed before the halves had met; no longer. */
bool ft_fill_skipped(struct ft_tracker *tracker, const struct ft_moment *moment);

/* Behind those that have come: sent again, or late. */
void ft_respond_again(struct ft_tracker *tracker, const struct ft_moment *moment);

/* Without the requester in view, responses are a sequence of their own. */
void ft_follow_alone(struct ft_tracker *tracker, const struct ft_moment *moment);
