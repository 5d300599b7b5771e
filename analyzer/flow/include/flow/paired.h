#pragma once

#include <flow/half.h>

/* How sure it is that the peer is the other half of the connection, 0..1; 0: it has none. */
double ft_paired_certainty(const struct ft_half *half);

/* "cm", "nccl", "ud-source-qp", "transport", "source-port", static; NULL for FT_PAIRED_NOT. */
const char *ft_paired_by_name(enum ft_paired_by by);
