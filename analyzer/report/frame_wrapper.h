#pragma once

#include <decode/packet.h>

#include "line.h"

/* What lay around the RDMA packet, as members of its JSON object, each with its leading comma. */

/* ,"encap":["eth",...] */
void ft_wrapper_stack(struct ft_line *line, const struct ft_packet *packet);
/* those that are there */
void ft_wrapper_members(struct ft_line *line, const struct ft_packet *packet);

/* "gre_teb", "erspan2", "vxlan" ... */
const char *ft_wrapper_tunnel_name(const struct ft_tunnel *tunnel);
