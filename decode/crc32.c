#include "crc32.h"

#include <isa-l.h>
#include <string.h>

#include "crc32_fold.h"

enum { CHUNK = FT_CRC32_CHUNK };

typedef uint8_t chunk __attribute__((vector_size(CHUNK)));

uint32_t ft_crc32(uint32_t seed, const uint8_t *bytes, size_t size)
{
	uint32_t crc = crc32_gzip_refl(seed, bytes, size);

	ft_crc32_tidy_registers();
	return crc;
}

/*
 * The mask is ORed in chunk by chunk in registers: setting single bytes in memory and reading them
 * back at once stalls. Out of line, where the short inputs do not pay for its stack.
 */
__attribute__((noinline)) static uint32_t copy_masked(uint32_t seed,
						      const struct ft_crc32_mask *mask,
						      const uint8_t *bytes, size_t size)
{
	_Alignas(CHUNK) uint8_t masked[sizeof mask->ones];
	size_t whole = mask->chunks * CHUNK, head = whole < size ? whole : size;

	for (size_t i = 0; i < whole; i += CHUNK) {
		chunk at, ones;

		memcpy(&at, bytes + i, CHUNK);
		memcpy(&ones, mask->ones + i, CHUNK);
		at |= ones;
		memcpy(masked + i, &at, CHUNK);
	}
	seed = ft_crc32(seed, masked, head);
	return ft_crc32(seed, bytes + head, size - head);
}

uint32_t ft_crc32_masked(uint32_t seed, const struct ft_crc32_mask *mask, const uint8_t *bytes,
			 size_t size)
{
	if (size <= FT_CRC32_FOLD_WIDELY_MAX && seed == 0 && size >= 4 &&
	    ft_crc32_can_fold_widely())
		return ft_crc32_fold_widely(mask, bytes, size);
	if (size <= FT_CRC32_FOLD_MAX && size >= mask->chunks * CHUNK && ft_crc32_can_fold())
		return ft_crc32_fold(seed, mask, bytes, size);
	return copy_masked(seed, mask, bytes, size);
}
