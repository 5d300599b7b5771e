#pragma once

#include <capture/frame.h>

/*
 * Wireshark 4.0 does not read link type 247, InfiniBand from its LRH on, but the same bytes as an Endace record
 * (ERF, type 21, link type 197). Any other frame is as it was.
 */
enum { FT_EXTCAP_RECORD = 65535 }; /* its longest; a frame is cut for it */

/* The frame to be written, which borrows the frame's bytes or `record`. */
struct ft_frame ft_extcap_frame(const struct ft_frame *frame, uint8_t record[FT_EXTCAP_RECORD]);
