#pragma once

#include "input.h"
#include "pcapng_interface.h"

/* pcapng as draft-ietf-opsawg-pcapng has it: blocks in sections, each in its own byte order. */

enum ft_block_type {
	FT_BLOCK_SECTION = 0x0a0d0d0a, /* the same in both byte orders */
	FT_BLOCK_INTERFACE = 1,
	FT_BLOCK_PACKET = 2, /* obsolete */
	FT_BLOCK_SIMPLE = 3,
	FT_BLOCK_STATISTICS = 5,
	FT_BLOCK_ENHANCED = 6,
};

/* The section being read. */
struct ft_pcapng {
	bool big;
	uint32_t section; /* number of the next one */
	uint32_t interface_count, capacity;
	struct ft_interface *interfaces;
};

/* A block in the window whose lengths agree; bytes start at its type. */
struct ft_pcapng_block {
	const uint8_t *bytes;
	uint32_t type, length;
};

/* What a block gave. After damage the input has ended. */
enum ft_taken { FT_NOTHING, FT_A_FRAME, FT_DAMAGE };

/*
 * Read a frame from an enhanced or obsolete packet block, or from a simple one. A block that makes no
 * sense, or names an interface that was not described, is counted and gives nothing.
 */
enum ft_taken ft_pcapng_packet(struct ft_input *input, const struct ft_pcapng *pcapng,
			       const struct ft_pcapng_block *block, struct ft_frame *frame);
enum ft_taken ft_pcapng_simple(struct ft_input *input, const struct ft_pcapng *pcapng,
			       const struct ft_pcapng_block *block, struct ft_frame *frame);
