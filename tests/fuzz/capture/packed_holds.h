#pragma once

#include <stddef.h>
#include <stdint.h>

/* Pack bytes into one whole stream; malloc()ed, its length in *packed_size. */
uint8_t *pack(const uint8_t *bytes, size_t size, size_t *packed_size);

/* The first bytes of every stream of this kind. */
extern const uint8_t packed_magic[];
extern const size_t packed_magic_size;
