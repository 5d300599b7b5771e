#include <assert.h>

#include "crc32_fold.h"
#include "crc32_reduce.h"

#if defined(__x86_64__)
#define WIDE_TARGET target("avx512f,avx512bw,avx512vl,vpclmulqdq,pclmul,sse4.1")
#define WIDE        static inline __attribute__((WIDE_TARGET, always_inline))

enum { WIDTH = 64 };
static_assert((int)WIDTH == FT_CRC32_CHUNKS_MASKED * FT_CRC32_CHUNK, "loaded at once");

bool ft_crc32_can_fold_widely(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("vpclmulqdq");
}

/* What `sum` contributes 64 bytes further on. */
WIDE __m512i move_on(__m512i sum)
{
	const __m512i factors =
		_mm512_set4_epi64(0x01c6e41596, 0x0154442bd4, 0x01c6e41596, 0x0154442bd4);

	return _mm512_xor_si512(_mm512_clmulepi64_epi128(sum, factors, 0x00),
				_mm512_clmulepi64_epi128(sum, factors, 0x11));
}

/* What its four parts contribute together, 48, 32, 16 and 0 bytes further on. */
WIDE __m128i join(__m512i sum)
{
	const __m512i factors = _mm512_set_epi64(0, 0, 0x00ccaa009e, 0x01751997d0, 0x015a546366,
						 0x00f1da05aa, 0x0174359406, 0x003db1ecdc);
	__m512i moved = _mm512_xor_si512(_mm512_clmulepi64_epi128(sum, factors, 0x00),
					 _mm512_clmulepi64_epi128(sum, factors, 0x11));
	__m256i half = _mm256_xor_si256(_mm512_castsi512_si256(moved),
					_mm512_extracti64x4_epi64(moved, 1));

	return _mm_xor_si128(
		_mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1)),
		_mm512_extracti32x4_epi32(sum, 3));
}

/* Those of 64 bytes from `from` on, which may be before the array; zeros for the others. */
WIDE __m512i load_from(const uint8_t *array, size_t from, __mmask64 which)
{
	return _mm512_maskz_loadu_epi8(which, (const void *)((uintptr_t)array + from));
}

/* Bytes of the input as they count: under the mask, and the first four inverted, which is what all ones before them do. */
WIDE __m512i load_masked(const struct ft_crc32_mask *mask, const uint8_t *bytes, size_t from,
			 __mmask64 which, __mmask64 masked)
{
	static const uint8_t inverted[WIDTH] = { 0xff, 0xff, 0xff, 0xff };
	__m512i piece = load_from(bytes, from, which);

	piece = _mm512_or_si512(piece, load_from(mask->ones, from, masked));
	return _mm512_xor_si512(piece, load_from(inverted, from, masked));
}

/* Zeros in front change nothing: the first load begins before the bytes, so that the last one ends where they do. */
__attribute__((WIDE_TARGET)) uint32_t ft_crc32_fold_widely(const struct ft_crc32_mask *mask,
							   const uint8_t *bytes, size_t size)
{
	size_t first = (size - 1) % WIDTH + 1, before = WIDTH - first;
	__mmask64 masked = ~UINT64_C(0) >> (WIDTH - mask->chunks * FT_CRC32_CHUNK);
	__m512i sum = load_masked(mask, bytes, -before, ~UINT64_C(0) << before, masked << before);

	if (first < size)
		sum = _mm512_xor_si512(move_on(sum), load_masked(mask, bytes, first, ~UINT64_C(0),
								 masked >> 1 >> (first - 1)));
	for (size_t i = first + WIDTH; i < size; i += WIDTH)
		sum = _mm512_xor_si512(move_on(sum), _mm512_loadu_si512(bytes + i));
	return ~ft_crc32_reduce(join(sum));
}
#else
bool ft_crc32_can_fold_widely(void)
{
	return false;
}

uint32_t ft_crc32_fold_widely(const struct ft_crc32_mask *mask, const uint8_t *bytes, size_t size)
{
	return ft_crc32_masked(0, mask, bytes, size);
}
#endif
