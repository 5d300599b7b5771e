#undef NDEBUG

#include "../holds.h"

#include <capture/pcapng_writer.h>
#include <capture/source.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES_MAX = 64, PIPE = 1 << 20, DESCRIPTION = 12 };

/* Frames made of the bytes: 12 that describe it, then its content. */
static int make_frames(const uint8_t *bytes, size_t size, struct ft_frame *frames)
{
	int count = 0;

	while (count < FRAMES_MAX && size >= DESCRIPTION) {
		size_t content = size - DESCRIPTION < bytes[0] ? size - DESCRIPTION : bytes[0];
		uint64_t ts_ns;

		memcpy(&ts_ns, bytes + 2, 8);
		frames[count++] = (struct ft_frame){
			.bytes = bytes + DESCRIPTION,
			.captured = (uint32_t)content,
			.original = (uint32_t)content + bytes[1],
			.link_type = bytes[10], /* 197 would have a time of its own */
			.direction = bytes[11] % 3,
			.fcs_bytes = bytes[11] & 0x80 ? 4 : 0,
			.ts_ns = ts_ns,
			.input = bytes[11] >> 5 & 1,
			.interface = bytes[11] >> 2 & 3,
			.is_pcapng = true,
		};
		if (bytes[10] == FT_LINK_ERF)
			frames[count - 1].link_type = FT_LINK_ETHERNET;
		bytes += DESCRIPTION + content;
		size -= DESCRIPTION + content;
	}
	return count;
}

/* Write the frames into a pipe that holds them all, and take out what came. */
static size_t write_frames(const struct ft_frame *frames, int count, const char *comment,
			   uint8_t *file)
{
	struct ft_writer_complaint complaint;
	struct ft_pcapng_writer *writer;
	char path[32];
	int ends[2];
	ssize_t got;
	size_t size = 0;

	assert(pipe(ends) == 0);
	assert(fcntl(ends[1], F_SETPIPE_SZ, PIPE) >= PIPE);
	snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
	assert(ft_pcapng_create(&writer, path, "holds", &complaint) == 0);
	for (int i = 0; i < count; i++)
		assert(ft_pcapng_write(writer, &frames[i], "input", comment) == 0);
	assert(ft_pcapng_close(writer, &complaint) == 0);
	close(ends[1]);
	while ((got = read(ends[0], file + size, PIPE - size)) > 0)
		size += (size_t)got;
	close(ends[0]);
	return size;
}

static void compare(const struct ft_frame *written, const struct ft_frame *read)
{
	uint64_t ts_ns = written->ts_ns == FT_TS_UNKNOWN ? 0 : written->ts_ns;

	assert(read->captured == written->captured && read->original == written->original);
	assert(memcmp(read->bytes, written->bytes, read->captured) == 0);
	assert(read->link_type == written->link_type && read->ts_ns == ts_ns);
	assert(read->direction == written->direction && read->fcs_bytes == written->fcs_bytes);
}

/* Whatever the frames and the comment, what is written reads back the same. */
void ft_holds(const uint8_t *bytes, size_t size)
{
	struct ft_frame frames[FRAMES_MAX], burst[FRAMES_MAX];
	int count = make_frames(bytes, size, frames), seen = 0, got;
	uint8_t *file = malloc(PIPE);
	char comment[100] = "";
	struct ft_source_complaint complaint;
	struct ft_source *source;
	size_t file_size;

	memcpy(comment, bytes, size < sizeof comment - 1 ? size : sizeof comment - 1);
	assert(file != NULL);
	file_size = write_frames(frames, count, count % 2 ? comment : NULL, file);
	assert(ft_source_open_memory(&source, file, file_size, &complaint) == 0);
	while ((got = ft_source_next(source, burst, FRAMES_MAX)) > 0) {
		assert(seen + got <= count);
		for (int i = 0; i < got; i++)
			compare(&frames[seen++], &burst[i]);
	}
	assert(got == -ENODATA && seen == count);
	assert(!ft_source_input(source, 0)->damaged);
	assert(ft_source_input(source, 0)->odd_records == 0);
	ft_source_close(source);
	free(file);
}
