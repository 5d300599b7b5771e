#pragma once

#include <jansson.h>

#include <capture/frame.h>
#include <decode/packet.h>

/* A packet and its frame under the names of the reference records. New reference. */
json_t *packet_json(const struct ft_frame *frame, unsigned sub, const struct ft_packet *packet);
