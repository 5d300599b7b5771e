#pragma once

#include <capture/frame.h>
#include <decode/packet.h>
#include <flow/observed.h>

/* What the flow stage asks of a packet that was decoded from the frame. Fills every member; pure. */
void ft_observe(const struct ft_packet *packet, const struct ft_frame *frame,
		struct ft_observed *observed);

/*
 * The ICRC of what was observed is wrong: it vouches for nothing, so all there is tells copies apart. `bytes`: extended
 * headers but an AETH, and payload.
 */
void ft_observe_damage(struct ft_observed *observed, const uint8_t *bytes, uint32_t size);
