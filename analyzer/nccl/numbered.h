#pragma once

#include "followed.h"

/* Where immediates are the numbers of messages: data of which no packet is missing is of the message that it ends with. */

/*
 * A write of one packet that begins and ends a message: true, with *k and the request, if the message of its number asked for
 * such data and has none of the lane yet.
 */
bool ft_nccl_number_of(const struct ft_nccl_moment *moment, uint64_t *k, uint8_t *request);

/*
 * What ended on the lane right now was taken for `transfer`. The message that it is of: the same one, or another that asked
 * for such data and has none of the lane yet, to which it has moved.
 */
struct ft_nccl_transfer *ft_nccl_numbered(struct ft_nccl_moment *moment,
					  struct ft_nccl_transfer *transfer);

/* What the number of the message that ended tells of how queue pairs take turns. Messages may lose what they were taken for. */
void ft_nccl_numbered_weigh(struct ft_nccl_moment *moment, uint32_t number);
