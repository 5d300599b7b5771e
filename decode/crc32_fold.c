#include "crc32_fold.h"
#include "crc32_reduce.h"

#if defined(__x86_64__)
__attribute__((target("avx"))) static void clear_upper_halves(void)
{
	_mm256_zeroupper();
}

void ft_crc32_tidy_registers(void)
{
	if (__builtin_cpu_supports("avx"))
		clear_upper_halves();
}

bool ft_crc32_can_fold(void)
{
	return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}

FT_FOLDING __m128i load(const void *bytes)
{
	return _mm_loadu_si128(bytes);
}

/* What `sum` contributes 16 bytes further on. */
FT_FOLDING __m128i move_on(__m128i sum)
{
	const __m128i factors = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);

	return _mm_xor_si128(_mm_clmulepi64_si128(sum, factors, 0x00),
			     _mm_clmulepi64_si128(sum, factors, 0x11));
}

/* The 1 to 15 bytes that end at `end`: as many leave the sum at its front. */
FT_FOLDING __m128i add_rest(__m128i sum, const uint8_t *end, size_t rest)
{
	/* read from 16 - n on, a shuffle towards the end by 16 - n bytes; from 16 + n, to the front by n */
	static const uint8_t shifts[48] = {
		0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		0x80, 0x80, 0x80, 0x80, 0,    1,    2,    3,    4,    5,    6,    7,
		8,    9,    10,   11,   12,   13,   14,   15,   0x80, 0x80, 0x80, 0x80,
		0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	};
	__m128i forward = load(shifts + 16 + rest);
	__m128i leaving = _mm_shuffle_epi8(sum, load(shifts + rest));
	__m128i staying = _mm_shuffle_epi8(sum, forward);

	/* the shuffle has its high bit set exactly where the new bytes go */
	staying = _mm_blendv_epi8(staying, load(end - 16), forward);
	return _mm_xor_si128(move_on(leaving), staying);
}

__attribute__((target("pclmul,sse4.1"))) uint32_t ft_crc32_fold(uint32_t seed,
								const struct ft_crc32_mask *mask,
								const uint8_t *bytes, size_t size)
{
	size_t masked = mask->chunks * FT_CRC32_CHUNK, whole = size & ~(size_t)15, i = 16;
	__m128i sum = _mm_or_si128(load(bytes), load(mask->ones));

	sum = _mm_xor_si128(sum, _mm_cvtsi32_si128((int)~seed));
	for (; i < masked; i += 16)
		sum = _mm_xor_si128(move_on(sum),
				    _mm_or_si128(load(bytes + i), load(mask->ones + i)));
	for (; i < whole; i += 16)
		sum = _mm_xor_si128(move_on(sum), load(bytes + i));
	if (whole < size)
		sum = add_rest(sum, bytes + size, size - whole);
	return ~ft_crc32_reduce(sum);
}
#else
void ft_crc32_tidy_registers(void)
{
}

bool ft_crc32_can_fold(void)
{
	return false;
}

uint32_t ft_crc32_fold(uint32_t seed, const struct ft_crc32_mask *mask, const uint8_t *bytes,
		       size_t size)
{
	return ft_crc32_masked(seed, mask, bytes, size);
}
#endif
