#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * CRC-16 of VCRC and LPCRC: polynomial 0x100b, reflected, all ones before and after (IBA vol. 1, 7.8.2).
 * It lies on the wire low byte first.
 */
uint16_t ft_vcrc(const uint8_t *bytes, size_t size);
