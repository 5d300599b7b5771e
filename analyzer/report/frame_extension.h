#pragma once

#include <decode/packet.h>

#include "line.h"

/* The extended transport headers as members of the packet's JSON object: all ten, null where absent. */
void ft_extension_members(struct ft_line *line, const struct ft_packet *packet);
