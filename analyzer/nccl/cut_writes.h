#pragma once

#include "followed.h"

/*
 * Slices may leave so little of a write that its address or immediate is not known. Nothing is made of it, as if it had been missed,
 * but data does not count as missing. False: it is none.
 */
bool ft_nccl_leave_out_cut(const struct ft_nccl_connections *connections,
			   const struct ft_nccl_seen *seen);
