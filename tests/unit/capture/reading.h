#pragma once

#include <capture/source.h>

#include "building.h"

/* What a source handed out, copied, for comparison after it is closed. */
struct reading {
	int error; /* of the open, then of the last next: -ENODATA */
	struct ft_source_complaint complaint;
	struct ft_source_input input; /* of the first input; its name is gone */
	int count;
	struct ft_frame frames[256]; /* only the first byte of each is kept: */
	uint8_t first[256];
};

struct reading read_memory(const uint8_t *bytes, size_t size);
struct reading read_files(const char *const *paths, size_t count);
struct reading read_file(const char *path);

/* Read the building and free it. */
struct reading read_building(struct building *building);

/* A new file in a folder of its own below $TMPDIR or /tmp; the path is the caller's until remove_file(). */
char *make_file(const char *name, const void *bytes, size_t size);
void remove_file(char *path);

/* Fail unless `text` contains `part`. */
void assert_says(const char *text, const char *part);
