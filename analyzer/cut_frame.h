#pragma once

#include <string.h>

#include <capture/frame.h>

#include "findings.h"

/* A frame that went by, for evidence: cut to what its headers may need. */
struct ft_cut_frame {
	struct ft_frame frame; /* but for its bytes, which are these */
	uint8_t bytes[FT_FINDING_FRAME_BYTES];
};

static inline void ft_cut_frame_fill(struct ft_cut_frame *kept, const struct ft_frame *frame)
{
	kept->frame = *frame;
	if (kept->frame.captured > FT_FINDING_FRAME_BYTES)
		kept->frame.captured = FT_FINDING_FRAME_BYTES;
	memcpy(kept->bytes, frame->bytes, kept->frame.captured);
}

/* Good as long as it is kept. */
static inline struct ft_frame ft_cut_frame_of(const struct ft_cut_frame *kept)
{
	struct ft_frame frame = kept->frame;

	frame.bytes = kept->bytes;
	return frame;
}
