#pragma once

#include <stdint.h>

/*
 * The ICRC is a CRC-32, which is linear: how two bytes that change change it depends on the change and on how many bytes it
 * covers behind them, and on nothing else. InfiniBand Architecture Specification vol. 1, 7.8.1.
 *
 * The XOR of the ICRCs of two packets, both as they stand in memory, of which the second has those two bytes XORed with
 * `change`, the first one with its upper half. The ICRC covers `behind` bytes behind the two. 0 if nothing changes.
 */
uint32_t ft_icrc_change(uint16_t change, uint32_t behind);
