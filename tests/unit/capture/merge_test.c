#include "reading.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { INPUTS_MAX = 4, FRAMES_MAX = 6, NONE = -1, END = 0 };

/* Seconds of each input's frames; NONE is a simple packet, END the end. */
static const struct {
	const char *sentence;
	int inputs[INPUTS_MAX][FRAMES_MAX];
	const char *order; /* input and frame of each, from a0 */
} merges[] = {
	{ "one after the other", { { 1, 2, 3 }, { 4, 5, 6 } }, "a0 a1 a2 b0 b1 b2" },
	{ "the second first", { { 4, 5, 6 }, { 1, 2, 3 } }, "b0 b1 b2 a0 a1 a2" },
	{ "in turns", { { 1, 3, 5 }, { 2, 4, 6 } }, "a0 b0 a1 b1 a2 b2" },
	{ "earlier inputs first on a tie", { { 5, 5 }, { 5 }, { 5, 5 } }, "a0 a1 b0 c0 c1" },
	{ "three and an empty one",
	  { { 3, 9 }, { END }, { 1, 8 }, { 2, 7 } },
	  "c0 d0 a0 d1 c1 a1" },
	{ "frames without time follow their predecessor",
	  { { 1, 7 }, { 5, NONE, NONE, 6 } },
	  "a0 b0 b1 b2 b3 a1" },
	{ "also on a tie with an earlier input", { { 4, 5 }, { 5, NONE } }, "a0 a1 b0 b1" },
	{ "also on a tie with a later input", { { 5, NONE }, { 5 } }, "a0 a1 b0" },
	{ "without any predecessor they come first", { { 1 }, { NONE, 2 } }, "b0 a0 b1" },
	{ "a clock that steps back is not sorted", { { 5, 2, 6 }, { 3, 4 } }, "b0 b1 a0 a1 a2" },
};

static void put_input(struct building *b, const int *times)
{
	put_section(b, false);
	put_interface(b, 1, 0);
	for (unsigned i = 0; i < FRAMES_MAX && times[i] != END; i++) {
		size_t begin;

		if (times[i] != NONE) {
			put_enhanced(b, 0, (uint64_t)times[i] * 1000000, 4, 4, (uint8_t)('0' + i));
			continue;
		}
		begin = begin_block(b, 3);
		put32(b, 4);
		put_fill(b, (uint8_t)('0' + i), 4);
		end_block(b, begin);
	}
}

static void inputs_are_merged_by_time(void **state)
{
	(void)state;
	for (size_t m = 0; m < sizeof merges / sizeof merges[0]; m++) {
		char *paths[INPUTS_MAX], order[256] = "";
		struct reading r;

		print_message("%s\n", merges[m].sentence);
		for (int i = 0; i < INPUTS_MAX; i++) {
			struct building b = { 0 };

			put_input(&b, merges[m].inputs[i]);
			paths[i] = make_file("input.pcapng", b.bytes, b.size);
			build_free(&b);
		}
		r = read_files((const char *const *)paths, INPUTS_MAX);
		for (int f = 0; f < r.count; f++) {
			snprintf(order + strlen(order), sizeof order - strlen(order), "%s%c%c",
				 f > 0 ? " " : "", 'a' + (int)r.frames[f].input, r.first[f]);
			assert_int_equal(r.frames[f].number, f + 1);
		}
		assert_string_equal(order, merges[m].order);
		for (int i = 0; i < INPUTS_MAX; i++)
			remove_file(paths[i]);
	}
}

enum { LONG = 3000, LONG_FRAME = 2000, SHORT = 100 };

/* Frame i of an input holds its own number everywhere, so a moved or overwritten byte shows. */
static char *make_numbered(const char *name, uint32_t frames, uint32_t size, uint32_t step)
{
	struct building b = { 0 };
	char *path;

	put_pcap_header(&b, 0xa1b2c3d4, 4, 1);
	for (uint32_t i = 0; i < frames; i++)
		put_pcap_record(&b, i * step, 0, size, size, (uint8_t)i);
	path = make_file(name, b.bytes, b.size);
	build_free(&b);
	return path;
}

static void check_frame(const struct ft_frame *frame, uint32_t index)
{
	for (uint32_t at = 0; at < frame->captured; at++) {
		if (frame->bytes[at] != (uint8_t)index)
			fail_msg("byte %u of frame %u of input %u was overwritten", at, index,
				 frame->input);
	}
}

/* Files much larger than a piece: seams fall into records, and bursts meet them. */
static void frames_of_one_burst_are_all_readable(void **state)
{
	char *paths[] = { make_numbered("long.pcap", LONG, LONG_FRAME, 1),
			  make_numbered("short.pcap", SHORT, 20, 30),
			  make_numbered("other.pcap", LONG, 1500, 1) };
	uint32_t seen[3] = { 0 };
	struct ft_source_complaint complaint;
	struct ft_source *source;
	struct ft_frame burst[64];
	uint64_t before = 0;
	int count;

	(void)state;
	assert_int_equal(ft_source_open_files(&source, (const char *const *)paths, 3, &complaint),
			 0);
	while ((count = ft_source_next(source, burst, 64)) > 0) {
		for (int i = 0; i < count; i++) {
			check_frame(&burst[i], seen[burst[i].input]++);
			assert_true(burst[i].ts_ns >= before);
			before = burst[i].ts_ns;
		}
	}
	assert_int_equal(count, -ENODATA);
	assert_int_equal(seen[0], LONG);
	assert_int_equal(seen[1], SHORT);
	assert_int_equal(seen[2], LONG);
	ft_source_close(source);
	for (int i = 0; i < 3; i++)
		remove_file(paths[i]);
}

static void a_damaged_input_ends_and_the_others_go_on(void **state)
{
	struct building b = { 0 };
	char *paths[2];
	struct ft_source_complaint complaint;
	struct ft_source *source;
	struct ft_frame burst[64];
	int count, total = 0;

	(void)state;
	put_pcap_header(&b, 0xa1b2c3d4, 4, 1);
	put_pcap_record(&b, 1, 0, 4, 4, 1);
	put_pcap_record(&b, 3, 0, 4, 4, 1);
	paths[0] = make_file("cut.pcap", b.bytes, b.size - 1);
	paths[1] = make_file("whole.pcap", b.bytes, b.size);
	build_free(&b);
	assert_int_equal(ft_source_open_files(&source, (const char *const *)paths, 2, &complaint),
			 0);
	while ((count = ft_source_next(source, burst, 64)) > 0)
		total += count;
	assert_int_equal(total, 3);
	assert_int_equal(ft_source_input_count(source), 2);
	assert_true(ft_source_input(source, 0)->damaged);
	assert_says(ft_source_input(source, 0)->complaint.text, "cut.pcap: damaged at byte 44: ");
	assert_int_equal(ft_source_input(source, 0)->frames, 1);
	assert_false(ft_source_input(source, 1)->damaged);
	assert_int_equal(ft_source_input(source, 1)->frames, 2);
	assert_null(ft_source_input(source, 2));
	ft_source_close(source);
	for (int i = 0; i < 2; i++)
		remove_file(paths[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inputs_are_merged_by_time),
		cmocka_unit_test(frames_of_one_burst_are_all_readable),
		cmocka_unit_test(a_damaged_input_ends_and_the_others_go_on),
	};

	return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
