#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_HEADER = 24, RECORD_HEADER = 16 };

static uint32_t get32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof value);
	return value;
}

static size_t read_whole(const char *path, uint8_t **bytes)
{
	struct stat status;
	FILE *file = fopen(path, "re");
	size_t size;

	if (file == NULL || fstat(fileno(file), &status) != 0)
		fake_abort("frames= names no readable file");
	size = (size_t)status.st_size;
	*bytes = malloc(size + 1);
	if (*bytes == NULL || fread(*bytes, 1, size, file) != size)
		fake_abort("frames= cannot be read");
	fclose(file);
	return size;
}

void fake_frames_read(struct fake_frames *frames, const char *path)
{
	size_t size, at = FILE_HEADER;

	if (path[0] == '\0')
		return;
	size = read_whole(path, &frames->bytes);
	if (size < FILE_HEADER ||
	    (get32(frames->bytes) != 0xa1b2c3d4 && get32(frames->bytes) != 0xa1b23c4d))
		fake_abort("frames= is no classic pcap file of this byte order");
	frames->frames = calloc(size / RECORD_HEADER + 1, sizeof *frames->frames);
	if (frames->frames == NULL)
		fake_abort("no memory");
	while (at + RECORD_HEADER <= size) {
		uint32_t captured = get32(frames->bytes + at + 8);

		at += RECORD_HEADER;
		if (captured > size - at)
			break;
		frames->frames[frames->count].at = at;
		frames->frames[frames->count++].size = captured;
		at += captured;
	}
}

void fake_frames_free(struct fake_frames *frames)
{
	free(frames->frames);
	free(frames->bytes);
	*frames = (struct fake_frames){ 0 };
}
