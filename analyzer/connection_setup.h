#pragma once

#include <decode/packet.h>

/*
 * The queue pair that a communication management REQ or REP announces at its sender (IBA vol. 1,
 * 12.6.5 and 12.6.8), or 0 if the packet is none of these or does not hold the number.
 */
uint32_t ft_connection_setup_qpn(const struct ft_packet *packet, const uint8_t *frame);
