#pragma once

#include <decode/nccl.h>
#include <nccl/model.h>

/*
 * What tells the protocol of a message: the size offered, its length, its address within the receiver's buffers (0: not
 * known), and flags if they were seen.
 */
struct ft_nccl_message_signs {
	uint64_t offered, written, va;
	bool has_offered, has_written;
	struct ft_nccl_write write; /* the first data packet, or has captured 0 */
};

/* *flag: of LL and LL128 lines, 0 if they were not seen. Unknown where the signs do not tell, or contradict each other. */
enum ft_nccl_protocol ft_nccl_protocol_of(const struct ft_nccl_message_signs *signs,
					  uint64_t *flag);
