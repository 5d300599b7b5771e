#include "reading.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct building three_frames(void)
{
	struct building b = { 0 };

	put_pcap_header(&b, 0xa1b2c3d4, 4, 1);
	for (uint32_t i = 1; i <= 3; i++)
		put_pcap_record(&b, i, 0, 100, 100, (uint8_t)i);
	return b;
}

static const struct {
	const char *sentence;
	const char *path;
	int error;
	const char *says;
} refusals[] = {
	{ "a folder", "/", -EISDIR, "/: cannot read: Is a directory" },
	{ "no such file", "/no/such/file", -ENOENT, "/no/such/file: cannot open: No such file" },
	{ "a file below a file", "/dev/null/x", -ENOTDIR,
	  "/dev/null/x: cannot open: Not a directory" },
	{ "no name at all", "", -ENOENT, ": cannot open: No such file" },
	{ "an empty device", "/dev/null", -EINVAL, "/dev/null: not a capture file: it is empty" },
	{ "an endless device", "/dev/zero", -EINVAL, "/dev/zero: not a capture file: zero bytes" },
	{ "a name with a line end", "/no\nsuch", -ENOENT, "/no?such: cannot open" },
	{ "a path with its kind", "file:/no/such", -ENOENT, "/no/such: cannot open" },
};

static void what_cannot_be_opened_is_said(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
		struct reading r = read_file(refusals[i].path);

		print_message("%s\n", refusals[i].sentence);
		assert_int_equal(r.error, refusals[i].error);
		assert_int_equal(
			strncmp(r.complaint.text, refusals[i].says, strlen(refusals[i].says)), 0);
	}
}

static void a_long_name_does_not_hide_the_reason(void **state)
{
	char path[3000];
	struct reading r;

	(void)state;
	memset(path, 'x', sizeof path);
	memcpy(path, "/", 1);
	memcpy(path + sizeof path - 10, "end.pcapx", 10);
	for (size_t at = 100; at < sizeof path - 100; at += 100)
		path[at] = '/';
	r = read_file(path);
	assert_int_equal(r.error, -ENOENT);
	assert_says(r.complaint.text, "end.pcapx: cannot open: No such file or directory");
	assert_int_equal(strncmp(r.complaint.text, "...", 3), 0);
}

/* Root may read everything, so it steps down for the attempt. */
static void an_unreadable_file_is_said(void **state)
{
	struct building b = three_frames();
	char *path = make_file("secret.pcap", b.bytes, b.size);
	uid_t before = geteuid();
	struct reading r;

	(void)state;
	build_free(&b);
	assert_int_equal(chmod(path, 0), 0);
	if (before == 0)
		assert_int_equal(seteuid(65534), 0);
	r = read_file(path);
	assert_int_equal(seteuid(before), 0);
	assert_int_equal(r.error, -EACCES);
	assert_says(r.complaint.text, "secret.pcap: cannot open: Permission denied");
	remove_file(path);
}

static void one_bad_file_of_several_refuses_them_all(void **state)
{
	struct building b = three_frames();
	char *path = make_file("good.pcap", b.bytes, b.size);
	const char *const paths[] = { path, "/no/such/file" };
	struct ft_source *source = NULL;
	struct ft_source_complaint complaint;

	(void)state;
	assert_int_equal(ft_source_open_files(&source, paths, 2, &complaint), -ENOENT);
	assert_null(source);
	assert_says(complaint.text, "/no/such/file");
	assert_int_equal(ft_source_open_files(&source, paths, 0, &complaint), -EINVAL);
	assert_null(source);
	build_free(&b);
	remove_file(path);
}

static void standard_input_is_read_only_once(void **state)
{
	static const char *const twice[][2] = { { "-", "-" },
						{ "-", "file:-" },
						{ "/dev/stdin", "-" } };

	(void)state;
	for (size_t i = 0; i < sizeof twice / sizeof twice[0]; i++) {
		struct reading r = read_files(twice[i], 2);

		assert_int_equal(r.error, -EINVAL);
		assert_says(r.complaint.text, "standard input: is named twice");
	}
}

static bool write_all(int fd, const uint8_t *bytes, size_t size, size_t step)
{
	for (size_t at = 0; at < size; at += step) {
		size_t part = size - at < step ? size - at : step;

		if (write(fd, bytes + at, part) != (ssize_t)part)
			return false;
	}
	return true;
}

/*
 * Let a child write the file into a pipe on our standard input, `step` bytes at a time, its records
 * (all but the pcap header) `rounds` times.
 */
static pid_t feed_standard_input(const struct building *b, size_t step, int rounds)
{
	int ends[2];
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		bool written = write_all(ends[1], b->bytes, 24, step);

		for (int round = 0; round < rounds && written; round++)
			written = write_all(ends[1], b->bytes + 24, b->size - 24, step);
		_exit(written ? 0 : 1);
	}
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	close(ends[1]);
	return child;
}

static void a_pipe_is_read_as_it_comes(void **state)
{
	static const size_t steps[] = { 1, 7, 4096 };

	(void)state;
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		struct building b = three_frames();
		int saved = dup(STDIN_FILENO), status;
		pid_t child = feed_standard_input(&b, steps[i], 1);
		struct reading r = read_file("-");

		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		assert_int_equal(r.count, 3);
		assert_int_equal(r.first[2], 3);
		assert_false(r.input.damaged);
		dup2(saved, STDIN_FILENO);
		close(saved);
		build_free(&b);
	}
}

/* A frame is handed out as soon as it is there, not when a piece is full. */
static void a_slow_pipe_does_not_hold_frames_back(void **state)
{
	struct building b = three_frames();
	struct ft_source_complaint complaint;
	struct ft_source *source;
	struct ft_frame burst[64];
	char path[64];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
	assert_int_equal(write(ends[1], b.bytes, 24 + 116 + 50), 24 + 116 + 50);
	{
		const char *const paths[] = { path };

		assert_int_equal(ft_source_open_files(&source, paths, 1, &complaint), 0);
	}
	assert_int_equal(ft_source_next(source, burst, 64), 1);
	assert_int_equal(write(ends[1], b.bytes + 190, b.size - 190), (ssize_t)b.size - 190);
	assert_int_equal(ft_source_next(source, burst, 64), 2);
	assert_int_equal(burst[1].bytes[99], 3);
	close(ends[1]);
	assert_int_equal(ft_source_next(source, burst, 64), -ENODATA);
	ft_source_close(source);
	close(ends[0]);
	build_free(&b);
}

/* Somebody else's shell or ssh may have left the descriptor so. */
static void a_pipe_that_does_not_block_is_waited_for(void **state)
{
	struct building b = three_frames();
	int saved = dup(STDIN_FILENO), ends[2], status;
	struct reading r;
	pid_t child;

	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		usleep(50000);
		_exit(write(ends[1], b.bytes, b.size) == (ssize_t)b.size ? 0 : 1);
	}
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	close(ends[1]);
	r = read_file("-");
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(r.count, 3);
	assert_false(r.input.damaged);
	dup2(saved, STDIN_FILENO);
	close(saved);
	build_free(&b);
}

enum { BIG_FRAMES = 4000, BIG_FRAME = 1500, BIG_RECORD = BIG_FRAME + 16 };

static struct building many_frames(void)
{
	struct building b = { 0 };

	put_pcap_header(&b, 0xa1b2c3d4, 4, 1);
	for (uint32_t i = 0; i < BIG_FRAMES; i++)
		put_pcap_record(&b, i, 0, BIG_FRAME, BIG_FRAME, (uint8_t)i);
	return b;
}

/* 6 MB, cut to 4 MB + 100 bytes after the first burst: no signal, only an early end. */
static void a_file_that_shrinks_ends_early(void **state)
{
	const off_t left = 24 + 2700 * BIG_RECORD + 100;
	struct building b = many_frames();
	char *path = make_file("shrinks.pcap", b.bytes, b.size);
	const char *const paths[] = { path };
	struct ft_source_complaint complaint;
	struct ft_source *source;
	struct ft_frame burst[64];
	int count, total = 0;

	(void)state;
	assert_int_equal(ft_source_open_files(&source, paths, 1, &complaint), 0);
	total = ft_source_next(source, burst, 64);
	assert_int_equal(truncate(path, left), 0);
	while ((count = ft_source_next(source, burst, 64)) > 0)
		total += count;
	assert_int_equal(total, 2700);
	assert_true(ft_source_input(source, 0)->damaged);
	assert_says(ft_source_input(source, 0)->complaint.text, "damaged at byte 4093224: ");
	ft_source_close(source);
	build_free(&b);
	remove_file(path);
}

static void a_file_that_grows_is_read_to_its_new_end(void **state)
{
	struct building b = many_frames();
	char *path = make_file("grows.pcap", b.bytes, b.size - 1000 * BIG_RECORD - 700);
	const char *const paths[] = { path };
	struct ft_source_complaint complaint;
	struct ft_source *source;
	struct ft_frame burst[64];
	int count, total = 0;
	FILE *file;

	(void)state;
	assert_int_equal(ft_source_open_files(&source, paths, 1, &complaint), 0);
	total = ft_source_next(source, burst, 64);
	file = fopen(path, "ab");
	fwrite(b.bytes + b.size - 1000 * BIG_RECORD - 700, 1, 1000 * BIG_RECORD + 700, file);
	fclose(file);
	while ((count = ft_source_next(source, burst, 64)) > 0)
		total += count;
	assert_int_equal(total, BIG_FRAMES);
	assert_false(ft_source_input(source, 0)->damaged);
	ft_source_close(source);
	build_free(&b);
	remove_file(path);
}

static void progress_goes_from_nothing_to_all(void **state)
{
	struct building b = many_frames();
	char *path = make_file("progress.pcap", b.bytes, b.size);
	const char *const paths[] = { path, path };
	struct ft_source_complaint complaint;
	struct ft_source *source;
	struct ft_frame burst[64];
	uint64_t done = 0, total, before;

	(void)state;
	assert_int_equal(ft_source_open_files(&source, paths, 2, &complaint), 0);
	ft_source_progress(source, &before, &total);
	assert_int_equal(total, 2 * b.size);
	assert_true(before < total);
	while (ft_source_next(source, burst, 64) > 0) {
		ft_source_progress(source, &done, &total);
		assert_in_range(done, before, total);
		before = done;
	}
	assert_int_equal(done, total);
	ft_source_close(source);
	build_free(&b);
	remove_file(path);
}

/* A hundred inputs at once share the room of a few. */
static void many_inputs_are_merged(void **state)
{
	struct building b = three_frames();
	char *path = make_file("again.pcap", b.bytes, b.size);
	const char *paths[80];
	struct reading r;

	(void)state;
	for (int i = 0; i < 80; i++)
		paths[i] = path;
	r = read_files(paths, 80);
	assert_int_equal(r.count, 240);
	for (uint32_t i = 0; i < 240; i++) {
		assert_int_equal(r.frames[i].input, i % 80);
		assert_int_equal(r.frames[i].ts_ns, (i / 80 + 1) * UINT64_C(1000000000));
	}
	build_free(&b);
	remove_file(path);
}

/* 180 MB through a pipe: what is held does not grow with it. */
static void memory_does_not_grow_with_the_input(void **state)
{
	enum { ROUNDS = 30 };
	struct building b = many_frames();
	const char *const paths[] = { "-" };
	struct ft_source_complaint complaint;
	struct ft_source *source;
	struct ft_frame burst[64];
	struct rusage before, after;
	int saved = dup(STDIN_FILENO), count, total = 1, status;
	pid_t child = feed_standard_input(&b, b.size, ROUNDS);

	(void)state;
	assert_int_equal(ft_source_open_files(&source, paths, 1, &complaint), 0);
	assert_int_equal(ft_source_next(source, burst, 1), 1);
	getrusage(RUSAGE_SELF, &before);
	while ((count = ft_source_next(source, burst, 64)) > 0)
		total += count;
	getrusage(RUSAGE_SELF, &after);
	assert_int_equal(total, ROUNDS * BIG_FRAMES);
	assert_in_range(after.ru_maxrss - before.ru_maxrss, 0, 4096); /* KiB */
	ft_source_close(source);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	dup2(saved, STDIN_FILENO);
	close(saved);
	build_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_opened_is_said),
		cmocka_unit_test(a_long_name_does_not_hide_the_reason),
		cmocka_unit_test(an_unreadable_file_is_said),
		cmocka_unit_test(one_bad_file_of_several_refuses_them_all),
		cmocka_unit_test(standard_input_is_read_only_once),
		cmocka_unit_test(a_pipe_is_read_as_it_comes),
		cmocka_unit_test(a_slow_pipe_does_not_hold_frames_back),
		cmocka_unit_test(a_pipe_that_does_not_block_is_waited_for),
		cmocka_unit_test(a_file_that_shrinks_ends_early),
		cmocka_unit_test(a_file_that_grows_is_read_to_its_new_end),
		cmocka_unit_test(progress_goes_from_nothing_to_all),
		cmocka_unit_test(many_inputs_are_merged),
		cmocka_unit_test(memory_does_not_grow_with_the_input),
	};

	return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
