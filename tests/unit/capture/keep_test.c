#include "reading.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

enum { KEEP = 16, ROOM_MAX = 1024, INPUTS_MAX = 3, FRAMES_MAX = 100000, PAGE = 4096 };

/* A capture of noise, so that a byte of another frame in its place shows. */
static struct building noise(uint32_t frames, uint32_t size_max, uint32_t step_s)
{
	struct building b = { 0 };
	uint32_t random = frames;

	put_pcap_header(&b, 0xa1b2c3d4, 4, 1);
	for (uint32_t i = 0; i < frames; i++) {
		uint32_t size = 1 + (random >> 8) % size_max;

		put_pcap_record(&b, i * step_s, 0, size, size, 0);
		for (size_t at = b.size - size; at < b.size; at++) {
			random = random * 1664525 + 1013904223;
			b.bytes[at] = (uint8_t)(random >> 24);
		}
	}
	return b;
}

/* The frames of a plain reading, copied. */
struct plain {
	uint8_t *bytes;
	size_t *at; /* of each frame in bytes; one more for the end */
	size_t count;
};

static struct plain read_plainly(struct ft_source *source)
{
	struct plain plain = { 0 };
	struct building all = { 0 };
	struct ft_frame frame;

	plain.at = calloc(FRAMES_MAX + 1, sizeof *plain.at);
	assert_non_null(plain.at);
	while (ft_source_next(source, &frame, 1) == 1) {
		put_bytes(&all, frame.bytes, frame.captured);
		assert_true(plain.count < FRAMES_MAX);
		plain.at[++plain.count] = all.size;
	}
	ft_source_close(source);
	plain.bytes = all.bytes;
	return plain;
}

static void free_plain(struct plain *plain)
{
	free(plain->bytes);
	free(plain->at);
}

static void check_frame(const struct plain *plain, const struct ft_frame *frame)
{
	size_t index = frame->number - 1;

	assert_true(frame->number >= 1 && frame->number <= plain->count);
	assert_int_equal(frame->captured, plain->at[index + 1] - plain->at[index]);
	if (memcmp(frame->bytes, plain->bytes + plain->at[index], frame->captured) != 0)
		fail_msg("frame %zu has changed", index + 1);
}

/* All frames of the last KEEP calls are looked at after each call. Returns how many calls were full. */
static size_t check_keeping(struct ft_source *source, const struct plain *plain, int room,
			    size_t *calls)
{
	struct ft_frame *frames = calloc(KEEP, ROOM_MAX * sizeof *frames);
	int counts[KEEP] = { 0 };
	size_t total = 0, full = 0;

	assert_non_null(frames);
	assert_int_equal(ft_source_keep(source, KEEP), 0);
	for (*calls = 0;; ++*calls) {
		size_t slot = *calls % KEEP;
		int count = ft_source_next(source, frames + slot * ROOM_MAX, room);

		if (count == -ENODATA)
			break;
		assert_in_range(count, 1, room);
		counts[slot] = count;
		total += (size_t)count;
		full += count == room;
		for (size_t s = 0; s < KEEP; s++) {
			for (int i = 0; i < counts[s]; i++)
				check_frame(plain, &frames[s * ROOM_MAX + (size_t)i]);
		}
	}
	assert_int_equal(total, plain->count);
	free(frames);
	ft_source_close(source);
	return full;
}

static struct ft_source *open_files(char *const *paths, size_t count)
{
	struct ft_source_complaint complaint;
	struct ft_source *source;

	assert_int_equal(
		ft_source_open_files(&source, (const char *const *)paths, count, &complaint), 0);
	return source;
}

static const int rooms[] = { 1, 64, ROOM_MAX };

static void check_files(char *const *paths, size_t count)
{
	struct plain plain = read_plainly(open_files(paths, count));

	for (size_t r = 0; r < sizeof rooms / sizeof rooms[0]; r++) {
		size_t calls;

		check_keeping(open_files(paths, count), &plain, rooms[r], &calls);
	}
	free_plain(&plain);
}

static char *make_gzip(const struct building *b)
{
	char *path = make_file("packed.gz", "", 0);
	gzFile file = gzopen(path, "wb1");

	assert_non_null(file);
	assert_int_equal(gzwrite(file, b->bytes, (unsigned)b->size), b->size);
	assert_int_equal(gzclose(file), Z_OK);
	return path;
}

static char *make_zstd(const struct building *b)
{
	size_t bound = ZSTD_compressBound(b->size), made;
	uint8_t *packed = malloc(bound);
	char *path;

	made = ZSTD_compress(packed, bound, b->bytes, b->size, 1);
	assert_false(ZSTD_isError(made));
	path = make_file("packed.zst", packed, made);
	free(packed);
	return path;
}

static char *make_plain(const struct building *b)
{
	return make_file("plain.pcap", b->bytes, b->size);
}

/* Each longer than several pieces of the first size, 128 KiB. */
static const struct {
	const char *sentence;
	char *(*make)(const struct building *b);
	uint32_t frames, size_max;
} files[] = {
	{ "small frames", make_plain, 20000, 200 },
	{ "frames larger than the smallest piece", make_plain, 20, 262144 },
	{ "gzip", make_gzip, 3000, 1500 },
	{ "zstd", make_zstd, 3000, 1500 },
};

static void frames_of_the_last_calls_stay_readable(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct building b = noise(files[i].frames, files[i].size_max, 1);
		char *path = files[i].make(&b);

		print_message("%s\n", files[i].sentence);
		build_free(&b);
		check_files(&path, 1);
		remove_file(path);
	}
}

/* Large frames: each call uses up pieces of its inputs in its course. */
static const struct {
	const char *sentence;
	struct {
		uint32_t frames, size_max, step_s;
	} inputs[INPUTS_MAX];
} merges[] = {
	{ "unequal inputs", { { 12000, 200, 1 }, { 300, 20000, 40 }, { 4000, 1500, 3 } } },
	{ "large frames", { { 60, 200000, 1 }, { 60, 200000, 1 }, { 60, 200000, 1 } } },
};

static void frames_of_merged_inputs_stay_readable(void **state)
{
	(void)state;
	for (size_t m = 0; m < sizeof merges / sizeof merges[0]; m++) {
		char *paths[INPUTS_MAX];

		print_message("%s\n", merges[m].sentence);
		for (int i = 0; i < INPUTS_MAX; i++) {
			struct building b =
				noise(merges[m].inputs[i].frames, merges[m].inputs[i].size_max,
				      merges[m].inputs[i].step_s);

			paths[i] = make_plain(&b);
			build_free(&b);
		}
		check_files(paths, INPUTS_MAX);
		for (int i = 0; i < INPUTS_MAX; i++)
			remove_file(paths[i]);
	}
}

static void frames_from_memory_stay_readable(void **state)
{
	struct building b = noise(1000, 1500, 1);
	struct ft_source_complaint complaint;
	struct ft_source *source;
	struct plain plain;
	size_t calls;

	(void)state;
	assert_int_equal(ft_source_open_memory(&source, b.bytes, b.size, &complaint), 0);
	plain = read_plainly(source);
	for (size_t r = 0; r < sizeof rooms / sizeof rooms[0]; r++) {
		assert_int_equal(ft_source_open_memory(&source, b.bytes, b.size, &complaint), 0);
		check_keeping(source, &plain, rooms[r], &calls);
	}
	free_plain(&plain);
	build_free(&b);
}

/* In chunks that end anywhere, so that many a call finds only a part of a record. */
static pid_t write_in_chunks(int into, const struct building *b)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child > 0)
		return child;
	for (size_t at = 0; at < b->size;) {
		size_t chunk = b->size - at < 3001 ? b->size - at : 3001;
		ssize_t written = write(into, b->bytes + at, chunk);

		if (written <= 0)
			_exit(1);
		at += (size_t)written;
	}
	_exit(0);
}

static void frames_from_a_pipe_stay_readable(void **state)
{
	struct building b = noise(3000, 1000, 1);
	char *path = make_plain(&b), pipe_path[32], *pipe_paths[] = { pipe_path };
	struct plain plain = read_plainly(open_files(&path, 1));
	int ends[2], status;
	size_t calls;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = write_in_chunks(ends[1], &b);
	close(ends[1]);
	snprintf(pipe_path, sizeof pipe_path, "/dev/fd/%d", ends[0]);
	check_keeping(open_files(pipe_paths, 1), &plain, 64, &calls);
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	free_plain(&plain);
	build_free(&b);
	remove_file(path);
}

/* The pages that frames ever lie in: a file of 24 MiB, of which 1 MiB is kept, passes through little more than that. */
static void memory_is_bounded(void **state)
{
	enum { MARKS = 1 << 16 };
	struct building b = noise(24 << 10, 2048, 1);
	char *path = make_plain(&b);
	struct ft_source *source = open_files(&path, 1);
	uintptr_t *marks = calloc(MARKS, sizeof *marks);
	struct ft_frame frames[64];
	size_t pages = 0;
	int count;

	(void)state;
	build_free(&b);
	assert_non_null(marks);
	assert_int_equal(ft_source_keep(source, KEEP), 0);
	while ((count = ft_source_next(source, frames, 64)) > 0) {
		for (int i = 0; i < count; i++) {
			uintptr_t page = (uintptr_t)frames[i].bytes / PAGE;
			size_t at = page % MARKS;

			while (marks[at] != 0 && marks[at] != page)
				at = (at + 1) % MARKS;
			pages += marks[at] == 0;
			marks[at] = page;
		}
	}
	assert_in_range(pages * PAGE, 1 << 20, 4 << 20);
	ft_source_close(source);
	free(marks);
	remove_file(path);
}

/* Bursts end short only where a piece of the file ends: of small frames it fills three and more. */
static void calls_are_filled_where_frames_are_at_hand(void **state)
{
	struct building b = noise(40000, 120, 1);
	char *path = make_plain(&b), *paths[] = { path, path };

	(void)state;
	build_free(&b);
	for (size_t inputs = 1; inputs <= 2; inputs++) {
		struct plain plain = read_plainly(open_files(paths, inputs));
		size_t calls, full;

		full = check_keeping(open_files(paths, inputs), &plain, 512, &calls);
		assert_true(full * 10 >= calls * 7);
		free_plain(&plain);
	}
	remove_file(path);
}

static void keeping_is_asked_for_first(void **state)
{
	struct building b = noise(10, 100, 1);
	struct ft_source_complaint complaint;
	struct ft_source *source;
	struct ft_frame frame;

	(void)state;
	assert_int_equal(ft_source_open_memory(&source, b.bytes, b.size, &complaint), 0);
	assert_int_equal(ft_source_keep(source, 0), -EINVAL);
	assert_int_equal(ft_source_keep(source, FT_SOURCE_KEEP_MAX + 1), -EINVAL);
	assert_int_equal(ft_source_keep(source, 1), 0);
	assert_int_equal(ft_source_keep(source, 2), 0);
	assert_int_equal(ft_source_keep(source, FT_SOURCE_KEEP_MAX), 0);
	assert_int_equal(ft_source_keep(source, 3), 0);
	assert_int_equal(ft_source_next(source, &frame, 1), 1);
	assert_int_equal(ft_source_keep(source, 2), -EINVAL);
	ft_source_close(source);
	build_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_the_last_calls_stay_readable),
		cmocka_unit_test(frames_of_merged_inputs_stay_readable),
		cmocka_unit_test(frames_from_memory_stay_readable),
		cmocka_unit_test(frames_from_a_pipe_stay_readable),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(calls_are_filled_where_frames_are_at_hand),
		cmocka_unit_test(keeping_is_asked_for_first),
	};

	return cmocka_run_group_tests_name("keep", tests, NULL, NULL);
}
