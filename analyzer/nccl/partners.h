#pragma once

#include "queue_pair.h"

struct ft_nccl_qps;

/*
 * Which queue pairs belong together: the two ends of a connection. partner[i] of record i, or FT_NCCL_NONE. By CM's
 * messages, by the source port that both ends share by rule, or by what answers what. -ENOMEM or 0.
 */
int ft_nccl_partners(const struct ft_nccl_qps *qps, uint32_t *partner);
