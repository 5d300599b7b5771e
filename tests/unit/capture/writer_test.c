#include <capture/pcapng_writer.h>

#include "reading.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define FOLDER FT_TEST_DATA "/capture/"

static const struct ft_frame one_frame = {
	.bytes = (const uint8_t *)"\xaa\xbb\xcc\xdd\xee",
	.captured = 5,
	.original = 60,
	.wire = 60,
	.link_type = FT_LINK_INFINIBAND,
	.direction = FT_DIRECTION_OUT,
	.fcs_bytes = 4,
	.ts_ns = 0x1122334455667788,
};

/* The file that one_frame makes, block by block as the format's draft lays it out. */
static const uint8_t one_file[] = {
	0x0a, 0x0d, 0x0d, 0x0a, 40,   0,    0,    0,    0x4d, 0x3c, 0x2b, 0x1a, 1,    0,    0,
	0,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 4,    0,    3,    0,    'a',  'p',
	'p',  0,    0,    0,    0,    0,    40,   0,    0,    0,

	1,    0,    0,    0,    44,   0,    0,    0,    247,  0,    0,    0,    0,    0,    0,
	0,    2,    0,    6,    0,    'x',  '.',  'p',  'c',  'a',  'p',  0,    0,    9,    0,
	1,    0,    9,    0,    0,    0,    0,    0,    0,    0,    44,   0,    0,    0,

	6,    0,    0,    0,    60,   0,    0,    0,    0,    0,    0,    0,    0x44, 0x33, 0x22,
	0x11, 0x88, 0x77, 0x66, 0x55, 5,    0,    0,    0,    60,   0,    0,    0,    0xaa, 0xbb,
	0xcc, 0xdd, 0xee, 0,    0,    0,    1,    0,    2,    0,    'h',  'i',  0,    0,    2,
	0,    4,    0,    0x82, 0,    0,    0,    0,    0,    0,    0,    60,   0,    0,    0,
};

/* A path in a new folder where nothing is yet. */
static char *new_path(const char *name)
{
	char *path = make_file(name, "", 0);

	assert_int_equal(unlink(path), 0);
	return path;
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Remove the folder of a path at which, and beside which, nothing may be left. */
static void remove_empty_folder(char *path)
{
	*strrchr(path, '/') = '\0';
	assert_int_equal(rmdir(path), 0);
	free(path);
}

static struct ft_pcapng_writer *create(const char *path)
{
	struct ft_pcapng_writer *writer = NULL;
	struct ft_writer_complaint complaint;

	assert_int_equal(ft_pcapng_create(&writer, path, "app", &complaint), 0);
	return writer;
}

static size_t slurp(const char *path, uint8_t *bytes, size_t room)
{
	FILE *file = fopen(path, "rb");
	size_t size;

	assert_non_null(file);
	size = fread(bytes, 1, room, file);
	fclose(file);
	return size;
}

static void a_frame_becomes_these_bytes(void **state)
{
	char *path = new_path("out.pcapng");
	struct ft_pcapng_writer *writer = create(path);
	struct ft_writer_complaint complaint;
	uint8_t bytes[1000];

	(void)state;
	assert_int_equal(ft_pcapng_write(writer, &one_frame, "x.pcap", "hi"), 0);
	assert_false(exists(path));
	assert_int_equal(ft_pcapng_close(writer, &complaint), 0);
	assert_int_equal(slurp(path, bytes, sizeof bytes), sizeof one_file);
	assert_memory_equal(bytes, one_file, sizeof one_file);
	remove_file(path);
}

/* Copy a capture frame by frame, commenting on each. */
static void copy(const char *from, const char *to)
{
	struct ft_source_complaint complaint;
	struct ft_writer_complaint writing;
	struct ft_pcapng_writer *writer = create(to);
	struct ft_source *source;
	struct ft_frame burst[8];
	int count;

	assert_int_equal(ft_source_open_files(&source, &from, 1, &complaint), 0);
	while ((count = ft_source_next(source, burst, 8)) > 0) {
		for (int i = 0; i < count; i++) {
			char comment[40];

			snprintf(comment, sizeof comment, "finding F%d", (int)burst[i].number);
			assert_int_equal(ft_pcapng_write(writer, &burst[i], from, comment), 0);
		}
	}
	ft_source_close(source);
	assert_int_equal(ft_pcapng_close(writer, &writing), 0);
}

static const char *const captures[] = {
	FOLDER "multi.pcapng", FOLDER "nsec_be.pcap", FOLDER "usec_be.pcap",
	FOLDER "native.erf",   FOLDER "erf.pcap",     FOLDER "fcs_present.pcap",
	FOLDER "erf_bad.pcap", FOLDER "sll.pcap",
};

static void what_is_written_reads_back_the_same(void **state)
{
	(void)state;
	for (size_t c = 0; c < sizeof captures / sizeof captures[0]; c++) {
		char *path = new_path("copy.pcapng");
		struct reading before = read_file(captures[c]), after;

		print_message("%s\n", strrchr(captures[c], '/') + 1);
		copy(captures[c], path);
		after = read_file(path);
		assert_int_equal(after.count, before.count);
		assert_int_equal(after.input.odd_records, 0);
		for (int i = 0; i < before.count; i++) {
			const struct ft_frame *b = &before.frames[i], *a = &after.frames[i];
			uint64_t ts_ns = b->ts_ns == FT_TS_UNKNOWN ? 0 : b->ts_ns;

			assert_int_equal(a->captured, b->captured);
			assert_int_equal(a->original, b->original);
			assert_int_equal(a->wire, b->wire);
			assert_int_equal(a->link_type, b->link_type);
			assert_int_equal(a->direction, b->direction);
			assert_int_equal(a->fcs_bytes, b->fcs_bytes);
			assert_int_equal(a->ts_ns, ts_ns);
			assert_int_equal(after.first[i], before.first[i]);
		}
		remove_file(path);
	}
}

/* Interfaces are told apart by input, section, number and link type, and named after their input. */
static void every_interface_is_described_once(void **state)
{
	static const struct {
		uint32_t input, section, interface;
		uint16_t link_type;
		bool is_pcapng;
		uint32_t expected;
	} frames[] = {
		{ 0, 0, 0, 1, false, 0 }, { 0, 0, 0, 1, false, 0 }, { 1, 0, 0, 1, true, 1 },
		{ 1, 0, 1, 1, true, 2 },  { 1, 1, 0, 1, true, 3 },  { 1, 1, 0, 247, true, 4 },
		{ 0, 0, 0, 1, false, 0 }, { 1, 0, 1, 1, true, 2 },
	};
	enum { FRAMES = sizeof frames / sizeof frames[0] };
	char *path = new_path("out.pcapng");
	struct ft_pcapng_writer *writer = create(path);
	struct ft_writer_complaint complaint;
	uint8_t bytes[2000];
	struct reading r;
	size_t size;

	(void)state;
	for (size_t i = 0; i < FRAMES; i++) {
		struct ft_frame frame = one_frame;

		frame.input = frames[i].input;
		frame.section = frames[i].section;
		frame.interface = frames[i].interface;
		frame.link_type = frames[i].link_type;
		frame.is_pcapng = frames[i].is_pcapng;
		assert_int_equal(ft_pcapng_write(writer, &frame, "in.pcapng", NULL), 0);
	}
	assert_int_equal(ft_pcapng_close(writer, &complaint), 0);
	r = read_file(path);
	assert_int_equal(r.count, FRAMES);
	for (size_t i = 0; i < FRAMES; i++) {
		assert_int_equal(r.frames[i].interface, frames[i].expected);
		assert_int_equal(r.frames[i].link_type, frames[i].link_type);
	}
	size = slurp(path, bytes, sizeof bytes);
	assert_non_null(memmem(bytes, size, "\x02\0\x09\0in.pcapng\0\0\0", 16));
	assert_non_null(memmem(bytes, size, "\x02\0\x0d\0in.pcapng#1.0", 17));
	remove_file(path);
}

static void a_long_comment_is_cut_between_characters(void **state)
{
	char *path = new_path("out.pcapng"), *comment = malloc(70001);
	struct ft_pcapng_writer *writer = create(path);
	struct ft_writer_complaint complaint;
	uint8_t *bytes = malloc(100000);
	size_t size;

	(void)state;
	memset(comment, 'c', 70000);
	comment[70000] = '\0';
	memcpy(comment + 65533, "\xe2\x82\xac", 3); /* a euro sign across the bound of 65535 */
	assert_int_equal(ft_pcapng_write(writer, &one_frame, "x", comment), 0);
	assert_int_equal(ft_pcapng_write(writer, &one_frame, "x", ""), 0);
	assert_int_equal(ft_pcapng_close(writer, &complaint), 0);
	size = slurp(path, bytes, 100000);
	/* 65533 bytes */
	assert_non_null(memmem(bytes, size,
			       "\x01\0\xfd\xff"
			       "cccc",
			       8));
	assert_int_equal(read_file(path).count, 2);
	remove_file(path);
	free(comment);
	free(bytes);
}

static void abandoning_leaves_nothing(void **state)
{
	char *path = new_path("out.pcapng");
	struct ft_pcapng_writer *writer = create(path);

	(void)state;
	assert_int_equal(ft_pcapng_write(writer, &one_frame, "x", NULL), 0);
	ft_pcapng_abandon(writer);
	ft_pcapng_abandon(NULL);
	remove_empty_folder(path);
}

/* Stand-in for a full disk that needs no disk: no file of this process may exceed 64 KiB. */
static void a_full_disk_leaves_nothing_and_keeps_what_was(void **state)
{
	struct rlimit before, limit;
	char *path = make_file("out.pcapng", "precious", 8);
	struct ft_pcapng_writer *writer = create(path);
	struct ft_writer_complaint complaint;
	struct ft_frame frame = one_frame;
	uint8_t *payload = calloc(1, 200000), bytes[20];

	(void)state;
	frame.bytes = payload;
	frame.captured = frame.original = 200000;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 64 << 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(ft_pcapng_error(writer), 0);
	for (int i = 0; i < 4; i++) /* whoever reads the frames goes on */
		assert_int_equal(ft_pcapng_write(writer, &frame, "x", NULL), 0);
	assert_int_equal(ft_pcapng_error(writer), -EFBIG);
	assert_int_equal(ft_pcapng_close(writer, &complaint), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_says(complaint.text, "out.pcapng: cannot write: File too large");
	assert_int_equal(slurp(path, bytes, sizeof bytes), 8);
	assert_memory_equal(bytes, "precious", 8);
	remove_file(path);
	free(payload);
}

/* Close a writer of one frame while standard output is `fd`, which is closed. */
static int close_onto(int fd, struct ft_writer_complaint *complaint)
{
	struct ft_pcapng_writer *writer = create("-");
	int saved = dup(STDOUT_FILENO), error;

	assert_true(fd >= 0);
	assert_int_equal(ft_pcapng_write(writer, &one_frame, "x.pcap", "hi"), 0);
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	close(fd);
	error = ft_pcapng_close(writer, complaint);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	return error;
}

static void a_full_device_is_said_at_the_close(void **state)
{
	struct ft_writer_complaint complaint;

	(void)state;
	assert_int_equal(close_onto(open("/dev/full", O_WRONLY | O_CLOEXEC), &complaint), -ENOSPC);
	assert_string_equal(complaint.text,
			    "standard output: cannot write: No space left on device");
}

static void a_closed_pipe_on_standard_output_is_an_error(void **state)
{
	struct ft_writer_complaint complaint;
	int ends[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	assert_int_equal(close_onto(ends[1], &complaint), -EPIPE);
	assert_string_equal(complaint.text, "standard output: cannot write: Broken pipe");
}

static void standard_output_gets_the_same_bytes(void **state)
{
	struct ft_writer_complaint complaint;
	uint8_t bytes[1000];
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(close_onto(ends[1], &complaint), 0);
	assert_int_equal(read(ends[0], bytes, sizeof bytes), sizeof one_file);
	assert_memory_equal(bytes, one_file, sizeof one_file);
	close(ends[0]);
}

/* What is no regular file is written to, not replaced. */
static void a_named_pipe_stays_one(void **state)
{
	char *path = new_path("fifo");
	struct ft_pcapng_writer *writer;
	struct ft_writer_complaint complaint;
	struct stat status;
	uint8_t bytes[1000];
	int reader;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	writer = create(path);
	assert_int_equal(ft_pcapng_write(writer, &one_frame, "x.pcap", "hi"), 0);
	assert_int_equal(ft_pcapng_close(writer, &complaint), 0);
	assert_int_equal(read(reader, bytes, sizeof bytes), sizeof one_file);
	assert_int_equal(stat(path, &status), 0);
	assert_true(S_ISFIFO(status.st_mode));
	close(reader);
	remove_file(path);
}

static const struct {
	const char *sentence, *path, *says;
	int error;
} refusals[] = {
	{ "a folder", "/", "/: cannot create: Is a directory", -EISDIR },
	{ "a folder that is not there", "/no/such/out.pcapng",
	  "/no/such/out.pcapng: cannot create: No such file or directory", -ENOENT },
	{ "no name", "", ": cannot create: No such file or directory", -ENOENT },
};

static void what_cannot_be_created_is_said(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
		struct ft_pcapng_writer *writer = NULL;
		struct ft_writer_complaint complaint;

		print_message("%s\n", refusals[i].sentence);
		assert_int_equal(ft_pcapng_create(&writer, refusals[i].path, "app", &complaint),
				 refusals[i].error);
		assert_null(writer);
		assert_string_equal(complaint.text, refusals[i].says);
	}
}

/* Two writers of one name, one after the other: the last to close wins, and a link stays a link. */
static void a_link_is_followed_and_writers_do_not_meet(void **state)
{
	char *path = make_file("real.pcapng", "old", 3), link[600];
	struct ft_pcapng_writer *first, *second;
	struct ft_writer_complaint complaint;
	struct stat status;

	(void)state;
	snprintf(link, sizeof link, "%s.link", path);
	assert_int_equal(symlink(path, link), 0);
	first = create(link);
	second = create(path);
	assert_int_equal(ft_pcapng_write(first, &one_frame, "x", NULL), 0);
	assert_int_equal(ft_pcapng_close(second, &complaint), 0);
	assert_int_equal(read_file(path).count, 0);
	assert_int_equal(ft_pcapng_close(first, &complaint), 0);
	assert_int_equal(read_file(path).count, 1);
	assert_int_equal(lstat(link, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(unlink(link), 0);
	remove_file(path);
}

static void a_capture_may_replace_itself(void **state)
{
	struct building b = { 0 };
	char *path;

	(void)state;
	put_pcap_header(&b, 0xa1b2c3d4, 4, 1);
	for (uint32_t i = 0; i < 200; i++)
		put_pcap_record(&b, i, 0, 100, 100, 1);
	path = make_file("same.pcap", b.bytes, b.size);
	copy(path, path);
	assert_int_equal(read_file(path).count, 200);
	build_free(&b);
	remove_file(path);
}

/* Start tshark on a capture; what it prints, and its exit status 127 if it is not installed. */
static FILE *start_tshark(const char *path, pid_t *child)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	*child = fork();
	assert_true(*child >= 0);
	if (*child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		execlp("tshark", "tshark", "-r", path, "-T", "fields", "-e", "frame.number", "-e",
		       "frame.comment", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	return fdopen(ends[0], "r");
}

static void wireshark_shows_the_comments(void **state)
{
	char *path = new_path("copy.pcapng"), line[200];
	int frame = 0, status;
	FILE *output;
	pid_t tshark;

	(void)state;
	copy(FOLDER "multi.pcapng", path);
	output = start_tshark(path, &tshark);
	assert_non_null(output);
	while (fgets(line, sizeof line, output) != NULL) {
		char expected[60];

		frame++;
		snprintf(expected, sizeof expected, "%d\tfinding F%d\n", frame, frame);
		assert_string_equal(line, expected);
	}
	fclose(output);
	remove_file(path);
	assert_int_equal(waitpid(tshark, &status, 0), tshark);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		print_message("SKIPPED: tshark is not installed\n");
		skip();
	}
	assert_int_equal(status, 0);
	assert_int_equal(frame, 31);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_becomes_these_bytes),
		cmocka_unit_test(what_is_written_reads_back_the_same),
		cmocka_unit_test(every_interface_is_described_once),
		cmocka_unit_test(a_long_comment_is_cut_between_characters),
		cmocka_unit_test(abandoning_leaves_nothing),
		cmocka_unit_test(a_full_disk_leaves_nothing_and_keeps_what_was),
		cmocka_unit_test(a_full_device_is_said_at_the_close),
		cmocka_unit_test(a_closed_pipe_on_standard_output_is_an_error),
		cmocka_unit_test(standard_output_gets_the_same_bytes),
		cmocka_unit_test(a_named_pipe_stays_one),
		cmocka_unit_test(what_cannot_be_created_is_said),
		cmocka_unit_test(a_link_is_followed_and_writers_do_not_meet),
		cmocka_unit_test(a_capture_may_replace_itself),
		cmocka_unit_test(wireshark_shows_the_comments),
	};

	return cmocka_run_group_tests_name("pcapng writer", tests, NULL, NULL);
}
