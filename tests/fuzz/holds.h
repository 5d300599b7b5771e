#pragma once

#include <stddef.h>
#include <stdint.h>

/* A promise of a reader: asserts on any bytes at all. Defined once per program. */
void ft_holds(const uint8_t *bytes, size_t size);
