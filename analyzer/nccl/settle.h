#pragma once

#include "followed.h"

/*
 * What nobody could tell while packets might still come, told as if there were no more. `all`: connections that go straight
 * leave that way, so that all of what is remembered is as the general way has it; else they stay on it, for nothing waits
 * of them.
 */
void ft_nccl_settle(struct ft_nccl_connections *connections, bool all);
