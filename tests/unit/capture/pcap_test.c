#include "reading.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MICROSECONDS = 0xa1b2c3d4, NANOSECONDS = 0xa1b23c4d };

/* Files of one record, byte by byte: 2 bytes captured of a frame of 5, at 1 s and 2 units. */
static const struct {
	const char *sentence;
	uint8_t bytes[42];
	uint64_t ts_ns;
} orders[] = {
	{ "little-endian microseconds",
	  { 0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, [16] = 0xff, 0xff, 0, 0, 1, 0, 0, 0,    [24] = 1,
	    0,    0,    0,    2,    0, 0, 0, 2, 0,           0,    0, 5, 0, 0, 0, 0xaa, 0xbb },
	  1000002000 },
	{ "big-endian microseconds",
	  { 0xa1, 0xb2, 0xc3, 0xd4, 0, 2, 0, 4, [16] = 0, 0, 0xff, 0xff, 0, 0, 0, 1,    [24] = 0,
	    0,    0,    1,    0,    0, 0, 2, 0, 0,        0, 2,    0,    0, 0, 5, 0xaa, 0xbb },
	  1000002000 },
	{ "little-endian nanoseconds",
	  { 0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, [16] = 0xff, 0xff, 0, 0, 1, 0, 0, 0,    [24] = 1,
	    0,    0,    0,    2,    0, 0, 0, 2, 0,           0,    0, 5, 0, 0, 0, 0xaa, 0xbb },
	  1000000002 },
	{ "big-endian nanoseconds",
	  { 0xa1, 0xb2, 0x3c, 0x4d, 0, 2, 0, 4, [16] = 0, 0, 0xff, 0xff, 0, 0, 0, 1,    [24] = 0,
	    0,    0,    1,    0,    0, 0, 2, 0, 0,        0, 2,    0,    0, 0, 5, 0xaa, 0xbb },
	  1000000002 },
};

static void both_orders_and_units_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
		struct reading r = read_memory(orders[i].bytes, sizeof orders[i].bytes);

		print_message("%s\n", orders[i].sentence);
		assert_int_equal(r.count, 1);
		assert_int_equal(r.frames[0].ts_ns, orders[i].ts_ns);
		assert_int_equal(r.frames[0].captured, 2);
		assert_int_equal(r.frames[0].original, 5);
		assert_int_equal(r.frames[0].wire, 5);
		assert_int_equal(r.frames[0].link_type, FT_LINK_ETHERNET);
		assert_int_equal(r.frames[0].number, 1);
		assert_false(r.frames[0].is_pcapng);
		assert_int_equal(r.first[0], 0xaa);
		assert_string_equal(r.input.format, "pcap");
		assert_string_equal(r.input.kind, "memory");
		assert_null(r.input.compression);
		assert_false(r.input.damaged);
		assert_int_equal(r.input.odd_records, 0);
		assert_int_equal(r.input.bytes, 5);
	}
}

/* One record each, with something unusual about it. */
static const struct {
	const char *sentence;
	uint32_t magic;
	unsigned minor;
	uint32_t link, fraction, first, second; /* the lengths as they stand in the file */
	size_t bytes;                           /* that follow the record header */
	uint64_t ts_ns;
	uint32_t captured, original;
	unsigned fcs, link_type;
	uint64_t odd;
} records[] = {
	{ "a frame longer than its original length had that length", MICROSECONDS, 4, 1, 0, 6, 5, 6,
	  1000000000, 6, 6, 0, 1, 1 },
	{ "a million microseconds is clamped to the second's last", MICROSECONDS, 4, 1, 1000000, 6,
	  6, 6, 1999999000, 6, 6, 0, 1, 1 },
	{ "a thousand million nanoseconds are clamped too", NANOSECONDS, 4, 1, 1000000000, 6, 6, 6,
	  1999999999, 6, 6, 0, 1, 1 },
	{ "the last microsecond is not odd", MICROSECONDS, 4, 1, 999999, 6, 6, 6, 1999999000, 6, 6,
	  0, 1, 0 },
	{ "version 2.3 may have the lengths swapped", MICROSECONDS, 3, 1, 0, 9, 6, 6, 1000000000, 6,
	  9, 0, 1, 0 },
	{ "version 2.3 may have them in order", MICROSECONDS, 3, 1, 0, 6, 9, 6, 1000000000, 6, 9, 0,
	  1, 0 },
	{ "version 2.2 has them swapped", MICROSECONDS, 2, 1, 0, 9, 6, 6, 1000000000, 6, 9, 0, 1,
	  0 },
	{ "an FCS of two words is announced in the link type", MICROSECONDS, 4, 0x24000001, 0, 6, 6,
	  6, 1000000000, 6, 6, 4, 1, 0 },
	{ "an FCS length without its present bit says nothing", MICROSECONDS, 4, 0x20000001, 0, 6,
	  6, 6, 1000000000, 6, 6, 0, 1, 0 },
	{ "other bits above the link type are not part of it", MICROSECONDS, 4, 0x000300f7, 0, 6, 6,
	  6, 1000000000, 6, 6, 0, FT_LINK_INFINIBAND, 0 },
	{ "an unknown link type is handed on", MICROSECONDS, 4, 999, 0, 6, 6, 6, 1000000000, 6, 6,
	  0, 999, 0 },
	{ "a frame may be empty", MICROSECONDS, 4, 1, 0, 0, 60, 0, 1000000000, 0, 60, 0, 1, 0 },
};

static void odd_records_are_put_right_and_counted(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
		struct building b = { .big = i % 2 };
		struct reading r;

		print_message("%s\n", records[i].sentence);
		put_pcap_header(&b, records[i].magic, records[i].minor, records[i].link);
		put32(&b, 1);
		put32(&b, records[i].fraction);
		put32(&b, records[i].first);
		put32(&b, records[i].second);
		put_fill(&b, 7, records[i].bytes);
		r = read_building(&b);
		assert_int_equal(r.count, 1);
		assert_int_equal(r.frames[0].ts_ns, records[i].ts_ns);
		assert_int_equal(r.frames[0].captured, records[i].captured);
		assert_int_equal(r.frames[0].original, records[i].original);
		assert_int_equal(r.frames[0].wire, records[i].original);
		assert_int_equal(r.frames[0].fcs_bytes, records[i].fcs);
		assert_int_equal(r.frames[0].link_type, records[i].link_type);
		assert_int_equal(r.input.odd_records, records[i].odd);
		assert_int_equal(r.input.dropped_records, 0);
		assert_false(r.input.damaged);
	}
}

static void the_latest_time_is_in_2106(void **state)
{
	struct building b = { 0 };
	struct reading r;

	(void)state;
	put_pcap_header(&b, NANOSECONDS, 4, 1);
	put_pcap_record(&b, UINT32_MAX, 999999999, 1, 1, 0);
	r = read_building(&b);
	assert_int_equal(r.frames[0].ts_ns, 4294967295999999999u);
}

/* Two good records, then bytes that end the file badly; the second ends at byte 24 + 2 * 26. */
static const struct {
	const char *sentence;
	uint32_t captured; /* of the third record */
	uint32_t left;     /* bytes of it that are there, header included */
	const char *says;
} damages[] = {
	{ "one byte of a record header", 10, 1,
	  "memory: damaged at byte 76: a record header is 16 bytes long, but the rest of the file "
	  "only 1" },
	{ "a header without its frame", 10, 16,
	  "damaged at byte 76: a record is 26 bytes long, but the rest of the file only 16" },
	{ "a frame without its last byte", 10, 25,
	  "damaged at byte 76: a record is 26 bytes long, but the rest of the file only 25" },
	{ "a record above the bound", 262145, 16,
	  "damaged at byte 76: a record says it holds 262145 bytes" },
	{ "a record of 4 GiB", UINT32_MAX, 16,
	  "damaged at byte 76: a record says it holds 4294967295" },
};

static void a_damaged_file_is_read_up_to_the_damage(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
		struct building b = { 0 };
		struct reading r;

		print_message("%s\n", damages[i].sentence);
		put_pcap_header(&b, MICROSECONDS, 4, 1);
		put_pcap_record(&b, 1, 0, 10, 10, 1);
		put_pcap_record(&b, 2, 0, 10, 10, 2);
		put32(&b, 3);
		put32(&b, 0);
		put32(&b, damages[i].captured);
		put32(&b, damages[i].captured);
		put_fill(&b, 3, 10);
		b.size = 76 + damages[i].left;
		r = read_building(&b);
		assert_int_equal(r.count, 2);
		assert_int_equal(r.first[1], 2);
		assert_true(r.input.damaged);
		assert_says(r.input.complaint.text, damages[i].says);
	}
}

static void the_longest_frame_is_read_whole(void **state)
{
	struct building b = { 0 };
	struct reading r;

	(void)state;
	put_pcap_header(&b, MICROSECONDS, 4, 1);
	put_pcap_record(&b, 1, 0, 1, 1, 1);
	put_pcap_record(&b, 2, 0, 262144, 262144, 2);
	put_pcap_record(&b, 3, 0, 1, 1, 3);
	r = read_building(&b);
	assert_int_equal(r.count, 3);
	assert_int_equal(r.frames[1].captured, 262144);
	assert_int_equal(r.first[2], 3);
	assert_false(r.input.damaged);
}

/* In a file, where the whole of it is in the window already. */
static void a_frame_above_the_bound_is_damage(void **state)
{
	struct building b = { 0 };
	struct reading r;
	char *path;

	(void)state;
	put_pcap_header(&b, MICROSECONDS, 4, 1);
	put_pcap_record(&b, 1, 0, 10, 10, 1);
	put_pcap_record(&b, 2, 0, 262145, 262145, 2);
	put_pcap_record(&b, 3, 0, 10, 10, 3);
	path = make_file("large.pcap", b.bytes, b.size);
	r = read_file(path);
	assert_int_equal(r.count, 1);
	assert_says(r.input.complaint.text, "large.pcap: damaged at byte 50: a record says");
	remove_file(path);
	build_free(&b);
}

static const struct {
	const char *sentence;
	const char *bytes;
	size_t size;
	const char *says;
} refusals[] = {
	{ "an empty file", "", 0, "memory: not a capture file: it is empty" },
	{ "half a magic number", "\xd4\xc3", 2, "not a capture file: bytes of no known kind" },
	{ "only a magic number", "\xd4\xc3\xb2\xa1", 4,
	  "ends inside the pcap file header, after 4 of 24" },
	{ "a version of another century", "\xd4\xc3\xb2\xa1\3\0\1\0...............................",
	  30, "pcap version 3.1 is not 2.x" },
	{ "a modified pcap", "\x34\xcd\xb2\xa1\2\0\4\0..................................", 30,
	  "not a capture file: a \"modified\" pcap (convert it with editcap -F pcap)" },
	{ "a ZIP archive", "PK\3\4..............................", 30, "a ZIP archive" },
	{ "a program",
	  "\x7f"
	  "ELF............................",
	  30, "an ELF program" },
	{ "a map in place of the capture", "{ \"schema\": \"tapmap/1\" }", 24,
	  "text that looks like JSON" },
	{ "prose", "Dear reader,\nthis is not it.\n", 29, "not a capture file: text" },
	{ "nothing but zeros", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20, "zero bytes" },
};

static void what_is_no_capture_is_refused_by_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
		struct reading r =
			read_memory((const uint8_t *)refusals[i].bytes, refusals[i].size);

		print_message("%s\n", refusals[i].sentence);
		assert_int_equal(r.error, -EINVAL);
		assert_says(r.complaint.text, refusals[i].says);
		assert_null(strchr(r.complaint.text, '\n'));
	}
}

static void an_input_knows_its_times_and_link_types(void **state)
{
	struct building b = { 0 };
	struct reading r;

	(void)state;
	put_pcap_header(&b, MICROSECONDS, 4, 247);
	put_pcap_record(&b, 20, 0, 4, 4, 1);
	put_pcap_record(&b, 10, 0, 4, 400, 2);
	put_pcap_record(&b, 30, 0, 4, 4, 3);
	put_pcap_record(&b, 30, 0, 4, 4, 4); /* no step */
	r = read_building(&b);
	assert_int_equal(r.input.first_ts_ns, 10000000000);
	assert_int_equal(r.input.last_ts_ns, 30000000000);
	assert_int_equal(r.input.clock_steps, 1);
	assert_int_equal(r.input.frames, 4);
	assert_int_equal(r.input.bytes, 412);
	assert_int_equal(r.input.link_type_count, 1);
	assert_int_equal(r.input.link_types[0], 247);
	assert_int_equal(r.frames[2].number, 3);
}

/* Nothing states the error of a file's clock, so a millisecond is taken. */
static const struct {
	const char *sentence;
	uint32_t microseconds[4];
	unsigned steps;
} clocks[] = {
	{ "forward", { 10, 20, 30, 30 }, 0 },
	{ "back by what several queues cause", { 2000, 1990, 2010, 2000 }, 0 },
	{ "back by the clock error", { 2000, 1000, 2000, 3000 }, 0 },
	{ "back by more", { 2000, 999, 1200, 1300 }, 1 },
	{ "back twice", { 9000, 5000, 1000, 2000 }, 2 },
	{ "back after times in order", { 1000, 5000, 9000, 7000 }, 1 },
	{ "back from a time before the latest", { 9000, 5000, 7000, 4000 }, 2 },
};

static void times_that_go_backwards_are_clock_steps_beyond_the_clock_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
		struct building b = { 0 };

		print_message("%s\n", clocks[i].sentence);
		put_pcap_header(&b, MICROSECONDS, 4, 1);
		for (int f = 0; f < 4; f++)
			put_pcap_record(&b, 1, clocks[i].microseconds[f], 4, 4, 0);
		assert_int_equal(read_building(&b).input.clock_steps, clocks[i].steps);
	}
}

static void a_file_without_frames_has_no_times(void **state)
{
	struct building b = { 0 };
	struct reading r;

	(void)state;
	put_pcap_header(&b, MICROSECONDS, 4, 1);
	r = read_building(&b);
	assert_int_equal(r.count, 0);
	assert_int_equal(r.input.first_ts_ns, FT_TS_UNKNOWN);
	assert_int_equal(r.input.last_ts_ns, FT_TS_UNKNOWN);
	assert_false(r.input.damaged);
}

static void frames_are_in_order_where_no_time_steps_back(void **state)
{
	static const struct {
		uint32_t seconds[2]; /* of the frames of a call */
		bool in_order;
	} calls[] = {
		{ { 5, 6 }, false }, /* nothing is known before the first */
		{ { 6, 7 }, true },  { { 9, 8 }, false },  { { 8, 9 }, false },
		{ { 9, 9 }, true },  { { 10, 12 }, true }, { { 11, 13 }, false },
	};
	enum { CALLS = sizeof calls / sizeof *calls };
	struct ft_source_complaint complaint;
	struct ft_source *source;
	struct ft_frame frames[2];
	struct building b = { 0 };

	(void)state;
	put_pcap_header(&b, 0xa1b2c3d4, 4, 1);
	for (unsigned i = 0; i < 2 * CALLS; i++)
		put_pcap_record(&b, calls[i / 2].seconds[i % 2], 0, 4, 4, 0);
	assert_int_equal(ft_source_open_memory(&source, b.bytes, b.size, &complaint), 0);
	for (unsigned i = 0; i < CALLS; i++) {
		assert_int_equal(ft_source_next(source, frames, 2), 2);
		assert_int_equal(ft_source_in_order(source), calls[i].in_order);
	}
	ft_source_close(source);
	build_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_orders_and_units_are_read),
		cmocka_unit_test(odd_records_are_put_right_and_counted),
		cmocka_unit_test(the_latest_time_is_in_2106),
		cmocka_unit_test(a_damaged_file_is_read_up_to_the_damage),
		cmocka_unit_test(the_longest_frame_is_read_whole),
		cmocka_unit_test(a_frame_above_the_bound_is_damage),
		cmocka_unit_test(what_is_no_capture_is_refused_by_name),
		cmocka_unit_test(an_input_knows_its_times_and_link_types),
		cmocka_unit_test(times_that_go_backwards_are_clock_steps_beyond_the_clock_error),
		cmocka_unit_test(frames_are_in_order_where_no_time_steps_back),
		cmocka_unit_test(a_file_without_frames_has_no_times),
	};

	return cmocka_run_group_tests_name("pcap", tests, NULL, NULL);
}
