#pragma once

#include <nccl/model.h>

/* What the document and the page say with the same words. */

struct ft_nccl_text {
	char text[48];
};

/* "10.0.0.1", "lid:17" */
const char *ft_nccl_place_text(struct ft_nccl_text *to, const struct ft_nccl_place *place);
/* "2.24.3"; NULL: not known */
const char *ft_nccl_release_text(struct ft_nccl_text *to, int32_t release);

const char *ft_nccl_protocol_word(enum ft_nccl_protocol protocol);
const char *ft_nccl_found_by_word(enum ft_nccl_found_by found_by);

/* An all-gather or a reduce-scatter: its size is that of what one rank gives, or gets. */
bool ft_nccl_is_of_blocks(const struct ft_nccl_collective *row);

/* Bytes that bandwidths are of: the size, of blocks those of all ranks. 0: not known. */
uint64_t ft_nccl_volume(const struct ft_nccl_collective *row);
