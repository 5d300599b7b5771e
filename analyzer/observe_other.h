#pragma once

#include <capture/frame.h>
#include <decode/packet.h>
#include <flow/observed.h>

/*
 * The digest, and how sure it is, of a packet without a whole BTH: not RDMA, a link packet, broken,
 * or cut. observed->digest holds that of its addresses. Looks at 64 bytes at most,
 * and at 192 more of what is read no further than its link layer.
 */
void ft_observe_other(const struct ft_packet *packet, const struct ft_frame *frame,
		      struct ft_observed *observed);
