#include "stream.h"

#include "gzipped.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <capture/clock.h>
#include <capture/source.h>

enum { BYTES = 50000, PIECE = 1000 };

/* Bytes that tell one place from another. */
static void number(uint8_t *bytes)
{
	for (uint32_t i = 0; i < BYTES; i++)
		bytes[i] = (uint8_t)(i * 2654435761u >> 24);
}

/* A file that nobody has a name for, read from its beginning. */
static int file_of(const uint8_t *bytes, size_t size)
{
	char path[] = "/tmp/fabtap-test-XXXXXX";
	int file = mkstemp(path);

	assert_true(file >= 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(write(file, bytes, size), size);
	assert_int_equal(lseek(file, 0, SEEK_SET), 0);
	return file;
}

/* The ways in which the same bytes can come. */
enum way { MEMORY, FILE_IN_PIECES, GZIP, WAYS };

struct opened {
	struct ft_stream stream;
	int file;
	uint8_t bytes[BYTES];
};

static void begin(struct opened *opened, enum way way)
{
	struct building packed = { 0 };

	number(opened->bytes);
	opened->file = -1;
	if (way == MEMORY) {
		assert_int_equal(ft_stream_open_memory(&opened->stream, opened->bytes, BYTES), 0);
		return;
	}
	if (way == GZIP)
		put_gzip(&packed, opened->bytes, BYTES);
	else
		put_bytes(&packed, opened->bytes, BYTES);
	opened->file = file_of(packed.bytes, packed.size);
	build_free(&packed);
	assert_int_equal(ft_stream_open_fd(&opened->stream, opened->file, PIECE, NULL), 0);
}

static void end(struct opened *opened)
{
	ft_stream_close(&opened->stream);
	if (opened->file >= 0)
		close(opened->file);
}

/* The window begins at this offset of the unpacked bytes and holds what is there. */
static void stands_at(const struct opened *opened, size_t offset)
{
	size_t left = ft_stream_left(&opened->stream);

	assert_int_equal(ft_stream_offset(&opened->stream), offset);
	assert_true(offset + left <= BYTES);
	assert_memory_equal(opened->stream.at, opened->bytes + offset, left);
}

static void any_steps_lead_through_the_same_bytes(void **state)
{
	static struct opened opened;

	(void)state;
	for (unsigned round = 0; round < 30; round++) {
		uint32_t chance = round + 1;
		size_t offset = 0;

		begin(&opened, round % WAYS);
		while (offset < BYTES) {
			size_t step = (chance = chance * 1664525 + 1013904223) >> 8;

			step %= round % 2 == 0 ? 3 * PIECE : 40;
			if ((chance & 1u << 30) == 0) {
				bool there = ft_stream_need(&opened.stream, step);

				assert_int_equal(there, step <= BYTES - offset);
				stands_at(&opened, offset);
			} else if (ft_stream_skip(&opened.stream, step)) {
				offset += step;
				stands_at(&opened, offset);
			} else {
				assert_true(step > BYTES - offset);
				offset = BYTES;
			}
		}
		assert_false(ft_stream_need(&opened.stream, 1));
		assert_string_equal(opened.stream.fault, "");
		end(&opened);
	}
}

static void what_is_asked_for_at_the_end_leaves_what_there_is(void **state)
{
	static struct opened opened;

	(void)state;
	for (enum way way = MEMORY; way < WAYS; way++) {
		begin(&opened, way);
		assert_true(ft_stream_skip(&opened.stream, BYTES - 7));
		assert_false(ft_stream_need(&opened.stream, 8));
		assert_int_equal(ft_stream_left(&opened.stream), 7);
		stands_at(&opened, BYTES - 7);
		assert_true(ft_stream_need(&opened.stream, 7));
		assert_true(ft_stream_skip(&opened.stream, 7));
		assert_true(ft_stream_skip(&opened.stream, 0));
		assert_false(ft_stream_skip(&opened.stream, 1));
		end(&opened);
	}
}

static void more_than_a_piece_can_be_asked_for(void **state)
{
	static struct opened opened;

	(void)state;
	for (enum way way = MEMORY; way < WAYS; way++) {
		begin(&opened, way);
		assert_true(ft_stream_skip(&opened.stream, 3));
		assert_true(ft_stream_need(&opened.stream, BYTES - 3));
		stands_at(&opened, 3);
		end(&opened);
	}
}

/* Of each call a stretch is lent; it is looked at again as long as it was to stay. */
static void bytes_lent_stay_for_as_many_calls_as_were_asked_for(void **state)
{
	enum { CALLS = 4 };
	static struct opened opened;
	const uint8_t *lent[CALLS];
	size_t from[CALLS];

	(void)state;
	for (enum way way = MEMORY; way < WAYS; way++) {
		uint64_t call = 0;
		size_t offset = 0;

		begin(&opened, way);
		assert_int_equal(ft_stream_keep(&opened.stream, CALLS, &call, PIECE), 0);
		while (offset + 700 <= BYTES) {
			call++;
			assert_true(ft_stream_need(&opened.stream, 700));
			stands_at(&opened, offset);
			lent[call % CALLS] = opened.stream.at;
			from[call % CALLS] = offset;
			ft_stream_lend(&opened.stream);
			assert_true(ft_stream_skip(&opened.stream, 700));
			offset += 700;
			for (uint64_t c = call < CALLS ? 1 : call - CALLS + 1; c <= call; c++)
				assert_memory_equal(lent[c % CALLS], opened.bytes + from[c % CALLS],
						    700);
		}
		end(&opened);
	}
}

struct helper {
	struct ft_stream *stream;
	_Atomic bool done;
	_Atomic unsigned pieces;
};

static void *read_ahead(void *context)
{
	struct helper *helper = context;

	while (!helper->done) {
		if (ft_stream_read_ahead(helper->stream))
			helper->pieces++;
		else
			sched_yield();
	}
	return NULL;
}

/* Stretches of any length, some longer than the room before a piece; some are lent, the others stepped over. */
static void read_in_stretches(struct opened *opened, uint64_t *call)
{
	enum { CALLS = 4 };
	uint32_t random = 1, from[CALLS], sizes[CALLS] = { 0 };
	const uint8_t *lent[CALLS];
	size_t offset = 0, size;

	for (; offset < BYTES; offset += size) {
		random = random * 1664525 + 1013904223;
		size = (random >> 8) % (random >> 28 == 0 ? 20000 : 1500);
		size = size < BYTES - offset ? size : BYTES - offset;
		++*call;
		sizes[*call % CALLS] = 0;
		if ((random >> 27 & 1) != 0) {
			assert_true(ft_stream_skip(&opened->stream, size));
			continue;
		}
		assert_true(ft_stream_need(&opened->stream, size));
		stands_at(opened, offset);
		lent[*call % CALLS] = opened->stream.at;
		from[*call % CALLS] = (uint32_t)offset;
		sizes[*call % CALLS] = (uint32_t)size;
		ft_stream_lend(&opened->stream);
		assert_true(ft_stream_skip(&opened->stream, size));
		for (unsigned c = 0; c < CALLS; c++)
			assert_memory_equal(sizes[c] == 0 ? opened->bytes : lent[c],
					    opened->bytes + (sizes[c] == 0 ? 0 : from[c]),
					    sizes[c]);
	}
	assert_false(ft_stream_need(&opened->stream, 1));
}

/* The bytes are the same, and where they stand, whoever read them, and however often. */
static void pieces_are_read_ahead_by_others(void **state)
{
	enum { ROUNDS = 200, HELPERS = 3 };
	static struct opened opened;

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct helper helper = { .stream = &opened.stream };
		pthread_t threads[HELPERS];
		uint64_t call = 0;

		begin(&opened, round % 8 == 0 ? GZIP : FILE_IN_PIECES);
		assert_int_equal(ft_stream_keep(&opened.stream, 4, &call, PIECE), 0);
		for (unsigned i = 0; i < HELPERS; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, read_ahead, &helper), 0);
		while (round % 8 != 0 && helper.pieces == 0)
			sched_yield();
		read_in_stretches(&opened, &call);
		helper.done = true;
		for (unsigned i = 0; i < HELPERS; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(helper.pieces != 0, round % 8 != 0);
		assert_string_equal(opened.stream.fault, "");
		end(&opened);
	}
}

/* What was read before it did stays. */
static void a_file_that_shrinks_just_ends(void **state)
{
	static struct opened opened;
	uint64_t call = 1;

	(void)state;
	begin(&opened, FILE_IN_PIECES);
	assert_int_equal(ft_stream_keep(&opened.stream, 4, &call, PIECE), 0);
	assert_true(ft_stream_read_ahead(&opened.stream));
	assert_int_equal(ftruncate(opened.file, PIECE + 500), 0);
	assert_false(ft_stream_need(&opened.stream, 3 * PIECE));
	assert_int_equal(ft_stream_left(&opened.stream),
			 2 * PIECE); /* the second was read before */
	assert_false(ft_stream_read_ahead(&opened.stream));
	assert_string_equal(opened.stream.fault, "");
	end(&opened);
}

/* What was read before is handed out first. */
static void a_file_that_cannot_be_read_on_says_so(void **state)
{
	static struct opened opened;
	int folder = open("/", O_RDONLY | O_DIRECTORY);
	uint64_t call = 1;

	(void)state;
	begin(&opened, FILE_IN_PIECES);
	assert_int_equal(ft_stream_keep(&opened.stream, 4, &call, PIECE), 0);
	assert_true(ft_stream_read_ahead(&opened.stream));
	assert_int_equal(dup2(folder, opened.file), opened.file);
	assert_false(ft_stream_need(&opened.stream, 3 * PIECE));
	assert_int_equal(ft_stream_left(&opened.stream), 2 * PIECE);
	stands_at(&opened, 0);
	assert_string_equal(opened.stream.fault, "read error (input byte 2000): Is a directory");
	assert_false(ft_stream_need(&opened.stream, 3 * PIECE));
	end(&opened);
	close(folder);
}

static void what_cannot_be_read_says_where_and_why(void **state)
{
	int folder = open("/", O_RDONLY | O_DIRECTORY);
	struct ft_stream stream;

	(void)state;
	assert_true(folder >= 0);
	assert_int_equal(ft_stream_open_fd(&stream, folder, PIECE, NULL), 0);
	assert_false(ft_stream_need(&stream, 1));
	assert_string_equal(stream.fault, "read error (input byte 0): Is a directory");
	ft_stream_close(&stream);
	close(folder);
}

static void packed_bytes_that_end_too_early_are_a_fault(void **state)
{
	static uint8_t bytes[BYTES];
	struct building packed = { 0 };
	struct ft_stream stream;
	size_t unpacked = 0;

	(void)state;
	number(bytes);
	put_gzip(&packed, bytes, BYTES);
	assert_int_equal(ft_stream_open_memory(&stream, packed.bytes, packed.size - 1), 0);
	while (ft_stream_need(&stream, 1)) {
		assert_memory_equal(stream.at, bytes + unpacked, ft_stream_left(&stream));
		unpacked += ft_stream_left(&stream);
		assert_true(ft_stream_skip(&stream, ft_stream_left(&stream)));
	}
	assert_int_equal(unpacked, BYTES); /* the byte that is missing is one of the length */
	assert_non_null(strstr(stream.fault, "ends in the middle of the packed data"));
	assert_int_equal(stream.taken, packed.size - 1);
	ft_stream_close(&stream);
	build_free(&packed);
}

static void a_descriptor_that_does_not_block_is_waited_for(void **state)
{
	struct ft_stream stream;
	int ends[2];
	pid_t writer;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	writer = fork();
	assert_true(writer >= 0);
	if (writer == 0) {
		usleep(50000);
		_exit(write(ends[1], "late bytes", 10) != 10);
	}
	close(ends[1]);
	assert_int_equal(ft_stream_open_fd(&stream, ends[0], PIECE, NULL), 0);
	assert_true(ft_stream_need(&stream, 10));
	assert_memory_equal(stream.at, "late bytes", 10);
	assert_false(ft_stream_need(&stream, 11));
	assert_string_equal(stream.fault, "");
	ft_stream_close(&stream);
	close(ends[0]);
}

/* A pipe that holds `bytes`; its writer stays. */
static int filled_pipe(int ends[2], const char *bytes)
{
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], bytes, strlen(bytes)), strlen(bytes));
	return ends[0];
}

static void a_stopped_pipe_is_read_to_its_end(void **state)
{
	volatile sig_atomic_t stop = 0;
	struct ft_stream stream;
	int ends[2], fd = filled_pipe(ends, "early ");

	(void)state;
	assert_int_equal(ft_stream_open_fd(&stream, fd, PIECE, &stop), 0);
	assert_true(ft_stream_need(&stream, 6));
	stop = 1;
	assert_int_equal(write(ends[1], "flushed", 7), 7);
	close(ends[1]);
	assert_true(ft_stream_need(&stream, 13));
	assert_memory_equal(stream.at, "early flushed", 13);
	assert_false(ft_stream_need(&stream, 14));
	assert_false(stream.stopped);
	ft_stream_close(&stream);
	close(fd);
}

static void a_stopped_pipe_whose_writer_stays_ends_in_time(void **state)
{
	volatile sig_atomic_t stop = 1;
	struct ft_stream stream;
	int ends[2], fd = filled_pipe(ends, "some");
	uint64_t before_ns = ft_clock_monotonic_ns(), lasted_ms;

	(void)state;
	assert_int_equal(ft_stream_open_fd(&stream, fd, PIECE, &stop), 0);
	assert_false(ft_stream_need(&stream, 5));
	lasted_ms = (ft_clock_monotonic_ns() - before_ns) / 1000000;
	assert_int_equal(ft_stream_left(&stream), 4);
	assert_true(stream.stopped);
	assert_string_equal(stream.fault, "");
	assert_true(lasted_ms >= FT_SOURCE_STOP_MS);
	assert_true(lasted_ms < 10 * FT_SOURCE_STOP_MS);
	ft_stream_close(&stream);
	close(ends[1]);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_steps_lead_through_the_same_bytes),
		cmocka_unit_test(what_is_asked_for_at_the_end_leaves_what_there_is),
		cmocka_unit_test(more_than_a_piece_can_be_asked_for),
		cmocka_unit_test(bytes_lent_stay_for_as_many_calls_as_were_asked_for),
		cmocka_unit_test(pieces_are_read_ahead_by_others),
		cmocka_unit_test(a_file_that_shrinks_just_ends),
		cmocka_unit_test(a_file_that_cannot_be_read_on_says_so),
		cmocka_unit_test(what_cannot_be_read_says_where_and_why),
		cmocka_unit_test(packed_bytes_that_end_too_early_are_a_fault),
		cmocka_unit_test(a_descriptor_that_does_not_block_is_waited_for),
		cmocka_unit_test(a_stopped_pipe_is_read_to_its_end),
		cmocka_unit_test(a_stopped_pipe_whose_writer_stays_ends_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
