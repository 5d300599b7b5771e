#pragma once

#include "building.h"

/* Append bytes, packed by zlib as gzip does it. */
void put_gzip(struct building *packed, const uint8_t *bytes, size_t size);
