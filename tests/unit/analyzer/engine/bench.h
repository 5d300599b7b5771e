#pragma once

#include "maps.h"

#include "worker.h"

/* Workers without the engine round them: frames are put before them, or half-connections written into their tables. */
struct bench {
	struct ft_engine_config config;
	struct ft_map *map;
	struct ft_worker *workers[2]; /* NULL: not there */
	struct ft_block block;
	uint64_t sent; /* frames that the first worker was given; the number of the last one */
};

/* So many workers, of the bench's config and this map; they keep pointers to the bench. Asserts on failure. */
void bench_open(struct bench *bench, const struct ft_declared *declared, unsigned workers);

/* A tear-down of cmocka: its state is a bench, or begins with one. */
int bench_close(void **state);

/* Put a frame of one packet before the first worker: what it came to, until the next one. The bytes are borrowed. */
const struct ft_item *bench_take(struct bench *bench, const uint8_t *bytes, size_t size,
				 enum ft_link_type link_type, uint64_t ts_ns);
