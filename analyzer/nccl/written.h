#pragma once

#include "followed.h"

/* What a packet adds to the message that it is of, in its turn or late. */

/* The packet itself. */
void ft_nccl_data_count(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer);

/* The write that it begins, as an answer to one of the message's requests. */
void ft_nccl_data_write(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
			uint8_t request);

/* Likewise; which request it answers is not known. */
void ft_nccl_data_write_more(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer);

/* Its immediate: the message ends on this lane. */
void ft_nccl_data_end(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer);

/* The PSN of the last packet of the write that `seen` begins. */
uint32_t ft_nccl_write_end(struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen);

/*
 * The protocol of a message that several queue pairs share, once all of it is there, by how long it is: its first packet shows the
 * length of one part only. Unknown as there, and of an empty message.
 */
enum ft_nccl_protocol ft_nccl_protocol_of_whole(const struct ft_nccl_followed *followed,
						const struct ft_nccl_transfer *transfer);

/* A write that begins goes over the place of another one, which is no rest of it that is sent again. */
bool ft_nccl_write_goes_over(struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen,
			     const struct ft_nccl_seen *other);
