#pragma once

#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define FT_FOLDING static inline __attribute__((target("pclmul,sse4.1"), always_inline))

/* From 128 bits to the remainder: twice by a factor, then by Barrett's method. */
FT_FOLDING uint32_t ft_crc32_reduce(__m128i sum)
{
	const __m128i low = _mm_set_epi32(0, -1, 0, -1);
	const __m128i factors = _mm_set_epi64x(0x0163cd6124, 0x00ccaa009e);
	const __m128i polynomial = _mm_set_epi64x(0x01f7011641, 0x01db710641);
	__m128i quotient;

	sum = _mm_xor_si128(_mm_srli_si128(sum, 8), _mm_clmulepi64_si128(sum, factors, 0x00));
	sum = _mm_xor_si128(_mm_srli_si128(sum, 4),
			    _mm_clmulepi64_si128(_mm_and_si128(sum, low), factors, 0x10));
	quotient = _mm_clmulepi64_si128(_mm_and_si128(sum, low), polynomial, 0x10);
	quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, low), polynomial, 0x00);
	return (uint32_t)_mm_extract_epi32(_mm_xor_si128(sum, quotient), 1);
}
#endif
