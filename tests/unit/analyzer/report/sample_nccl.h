#pragma once

#include <report/nccl.h>

/*
 * Models made by hand. The example of the format: one connection, one message. And a job: a ring of three processes, one
 * without a rank, a connection of two devices known by lengths alone, messages that lack this and that, keys, five
 * classes of queue pairs, two processes of the side channel, and two operations.
 */
const struct ft_nccl_report *sample_nccl_example(void);
const struct ft_nccl_report *sample_nccl_job(void);
const struct ft_nccl_report *sample_nccl_nothing(void);
