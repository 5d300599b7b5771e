#pragma once

#include <stdint.h>

/*
 * The UDP source port that Linux gives to the packets of both directions of a pair of queue pairs when no flow label is
 * set, as NCCL leaves it: drivers/infiniband/core, rdma_calc_flow_label() and rdma_flow_label_to_udp_sport(). Adapters
 * may choose another.
 */
uint16_t ft_nccl_source_port(uint32_t qpn, uint32_t other);
