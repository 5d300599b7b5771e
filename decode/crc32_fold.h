#pragma once

#include "crc32.h"

/*
 * What x86-64 adds to isa-l: the CRC-32 of short inputs without a copy, by carry-less multiplication
 * of 16 bytes at a time (Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
 * Instruction", 2009). It takes the mask in registers and needs no vector longer than that.
 */
enum {
	FT_CRC32_FOLD_MAX = 256,
	FT_CRC32_FOLD_WIDELY_MAX = 2048
}; /* beyond, isa-l wins: it has several sums */

bool ft_crc32_can_fold(void);

/* ft_crc32_masked() where that is possible; `size` at least the chunks of the mask. */
uint32_t ft_crc32_fold(uint32_t seed, const struct ft_crc32_mask *mask, const uint8_t *bytes,
		       size_t size);

/* The same by 64 bytes at a time, with AVX-512: the seed is 0, `size` at least 4. */
bool ft_crc32_can_fold_widely(void);
uint32_t ft_crc32_fold_widely(const struct ft_crc32_mask *mask, const uint8_t *bytes, size_t size);

/*
 * isa-l 2.30 leaves the upper halves of the vector registers in use, and all code behind it that
 * knows only 128 bits pays for that: 214 against 67 ns for a frame of 1 KiB on a Sapphire Rapids.
 */
void ft_crc32_tidy_registers(void);
