#include <isa-l.h>

#include "crc32.h"

/*
 * isa-l 2.30 leaves the upper halves of the vector registers in use, and all code behind it that
 * knows only 128 bits pays for that: 214 against 67 ns for a frame of 1 KiB on a Sapphire Rapids.
 */
#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx"))) static void clear_upper_halves(void)
{
	_mm256_zeroupper();
}

static void tidy_registers(void)
{
	if (__builtin_cpu_supports("avx"))
		clear_upper_halves();
}
#else
static void tidy_registers(void)
{
}
#endif

uint32_t ft_crc32(uint32_t seed, const uint8_t *bytes, size_t size)
{
	uint32_t crc = crc32_gzip_refl(seed, bytes, size);

	tidy_registers();
	return crc;
}
