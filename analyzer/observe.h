#pragma once

#include <capture/frame.h>
#include <decode/packet.h>
#include <flow/observed.h>

/* What the flow stage asks of a packet that was decoded from the frame. Fills every member; pure. */
void ft_observe(const struct ft_packet *packet, const struct ft_frame *frame,
		struct ft_observed *observed);
