#pragma once

#include "tracker_parts.h"

/* What a half that is alone has asked for, or answered, as far as it tells by itself. */

/* The newest message that it answered began there, if that was seen; else what was answered last. It has answered. */
uint32_t ft_answered_from(const struct ft_half *half);

/* The newest PSN that it asked for, at most: how many packets its last READ asks for need not be known. It has asked. */
uint32_t ft_asked_to(const struct ft_half *half);

/* All that this half has sent is a request of one packet, not one of several of a message. */
bool ft_is_whole_request(const struct ft_flow *flow);
