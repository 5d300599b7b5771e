#include "reading.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* One section of one Ethernet interface, one packet at 1 s, with 3 bytes of 60: byte by byte. */
static const uint8_t little[] = {
	0x0a, 0x0d, 0x0d, 0x0a, 28,   0,    0,    0,    0x4d, 0x3c, 0x2b, 0x1a, 1, 0,
	0,    0,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 28,   0,    0, 0,
	1,    0,    0,    0,    20,   0,    0,    0,    1,    0,    0,    0,    0, 0,
	0,    0,    20,   0,    0,    0,    6,    0,    0,    0,    36,   0,    0, 0,
	0,    0,    0,    0,    0,    0,    0,    0,    0x40, 0x42, 0x0f, 0,    3, 0,
	0,    0,    60,   0,    0,    0,    0xaa, 0xbb, 0xcc, 0,    36,   0,    0, 0,
};
static const uint8_t big[] = {
	0x0a, 0x0d, 0x0d, 0x0a, 0,    0,    0,    28,   0x1a, 0x2b, 0x3c, 0x4d, 0, 1,
	0,    0,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0,    0,    0, 28,
	0,    0,    0,    1,    0,    0,    0,    20,   0,    1,    0,    0,    0, 0,
	0,    0,    0,    0,    0,    20,   0,    0,    0,    6,    0,    0,    0, 36,
	0,    0,    0,    0,    0,    0,    0,    0,    0,    0x0f, 0x42, 0x40, 0, 0,
	0,    3,    0,    0,    0,    60,   0xaa, 0xbb, 0xcc, 0,    0,    0,    0, 36,
};

static void both_byte_orders_are_read(void **state)
{
	const uint8_t *files[] = { little, big };

	(void)state;
	static_assert(sizeof little == sizeof big, "the same file twice");
	for (int i = 0; i < 2; i++) {
		struct reading r = read_memory(files[i], sizeof little);

		assert_int_equal(r.count, 1);
		assert_int_equal(r.frames[0].ts_ns, 1000000000);
		assert_int_equal(r.frames[0].captured, 3);
		assert_int_equal(r.frames[0].original, 60);
		assert_int_equal(r.frames[0].wire, 60);
		assert_int_equal(r.frames[0].link_type, FT_LINK_ETHERNET);
		assert_int_equal(r.first[0], 0xaa);
		assert_true(r.frames[0].is_pcapng);
		assert_string_equal(r.input.format, "pcapng");
		assert_false(r.input.damaged);
	}
}

/* Expected times: exact integer arithmetic elsewhere, rounded down. */
static const struct {
	const char *sentence;
	uint64_t resolution;
	int64_t offset_s;
	uint64_t ticks, ts_ns, odd;
} clocks[] = {
	{ "microseconds", 6, 0, 1700000000123456, 1700000000123456000, 0 },
	{ "nanoseconds", 9, 0, 1700000000123456789, 1700000000123456789, 0 },
	{ "milliseconds", 3, 0, 1700000000123, 1700000000123000000, 0 },
	{ "seconds", 0, 0, 1700000000, 1700000000000000000, 0 },
	{ "tenths of nanoseconds", 10, 0, 17000000001234567899u, 1700000000123456789, 0 },
	{ "picoseconds", 12, 0, 1234567890123456789, 1234567890123456, 0 },
	{ "10^-19 s", 19, 0, 10000000000000000000u, 1000000000, 0 },
	{ "10^-20 s is flagged", 20, 0, UINT64_MAX, 184467440, 1 },
	{ "10^-28 s leaves one nanosecond", 28, 0, UINT64_MAX, 1, 1 },
	{ "10^-29 s leaves none", 29, 0, UINT64_MAX, 0, 1 },
	{ "10^-127 s", 127, 0, UINT64_MAX, 0, 1 },
	{ "2^-0 s", 0x80, 0, 1700000000, 1700000000000000000, 0 },
	{ "2^-10 s", 0x8a, 0, 1740800000513, 1700000000500976562, 0 },
	{ "2^-20 s", 0x94, 0, 1782579201048575, 1700000000999999046, 0 },
	{ "2^-32 s", 0xa0, 0, 7301444405347483649, 1700000000500000000, 0 },
	{ "2^-63 s", 0xbf, 0, UINT64_MAX, 1999999999, 0 },
	{ "2^-64 s is flagged", 0xc0, 0, UINT64_MAX, 999999999, 1 },
	{ "2^-127 s", 0xff, 0, UINT64_MAX, 0, 1 },
	{ "an offset is added", 6, 1000000, 1700000000123456, 1701000000123456000, 0 },
	{ "a negative offset, to the first second", 6, -1700000000, 1700000000123456, 123456000,
	  0 },
	{ "an offset from before 1970", 0x80, -8589934592, 8589934597, 5000000000, 0 },
	{ "an offset that saves an overflow", 6, -18446744073709, UINT64_MAX, 551615000, 0 },
	{ "before 1970 is no time", 6, -1700000001, 1700000000123456, FT_TS_UNKNOWN, 1 },
	{ "an offset of all seconds", 6, INT64_MAX, 0, FT_TS_UNKNOWN, 1 },
	{ "an offset of minus all seconds", 6, INT64_MIN, 0, FT_TS_UNKNOWN, 1 },
	{ "microseconds beyond 64 bits of ns", 6, 0, UINT64_MAX, FT_TS_UNKNOWN, 1 },
	{ "the last time there is", 9, 0, UINT64_MAX - 1, UINT64_MAX - 1, 0 },
	{ "the last whole second", 0, 0, 18446744073, 18446744073000000000u, 0 },
	{ "the second after it", 0, 0, 18446744074, FT_TS_UNKNOWN, 1 },
};

static void put_clock(struct building *b, unsigned resolution, int64_t offset_s)
{
	size_t begin = begin_block(b, 1);

	put16(b, FT_LINK_ETHERNET);
	put16(b, 0);
	put32(b, 0);
	put_option(b, 2, "eth0", 4);
	put_option(b, 9, (uint8_t[]){ (uint8_t)resolution }, 1);
	put16(b, 14);
	put16(b, 8);
	put64(b, (uint64_t)offset_s);
	put32(b, 0);
	end_block(b, begin);
}

static void every_clock_is_converted(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
		struct building b = { 0 };
		struct reading r;

		print_message("%s\n", clocks[i].sentence);
		put_section(&b, i % 2);
		put_clock(&b, (unsigned)clocks[i].resolution, clocks[i].offset_s);
		put_enhanced(&b, 0, clocks[i].ticks, 4, 4, 1);
		r = read_building(&b);
		assert_int_equal(r.count, 1);
		assert_int_equal(r.frames[0].ts_ns, clocks[i].ts_ns);
		assert_int_equal(r.input.odd_records, clocks[i].odd);
	}
}

static void a_section_resets_byte_order_and_interfaces(void **state)
{
	struct building b = { 0 };
	struct reading r;

	(void)state;
	put_section(&b, false);
	put_interface(&b, FT_LINK_ETHERNET, 0);
	put_interface(&b, FT_LINK_INFINIBAND, 0);
	put_enhanced(&b, 1, 5, 4, 4, 1);
	put_section(&b, true);
	put_interface(&b, FT_LINK_SLL, 0);
	put_enhanced(&b, 0, 6, 4, 4, 2);
	put_enhanced(&b, 1, 7, 4, 4, 3);
	put_section(&b, false);
	put_interface(&b, FT_LINK_SLL2, 0);
	put_enhanced(&b, 0, 8, 4, 4, 4);
	r = read_building(&b);
	assert_int_equal(r.count, 3);
	assert_int_equal(r.frames[0].link_type, FT_LINK_INFINIBAND);
	assert_int_equal(r.frames[0].section, 0);
	assert_int_equal(r.frames[0].interface, 1);
	assert_int_equal(r.frames[1].link_type, FT_LINK_SLL);
	assert_int_equal(r.frames[1].section, 1);
	assert_int_equal(r.frames[1].interface, 0);
	assert_int_equal(r.frames[1].ts_ns, 6000);
	assert_int_equal(r.frames[2].link_type, FT_LINK_SLL2);
	assert_int_equal(r.frames[2].section, 2);
	assert_int_equal(r.input.dropped_records, 1);
	assert_int_equal(r.input.odd_records, 1);
	assert_int_equal(r.input.link_type_count, 3);
	assert_false(r.input.damaged);
}

static const struct {
	const char *sentence;
	int fcslen;    /* of the interface, -1: no option */
	int64_t flags; /* of the packet, -1: no option */
	unsigned fcs, direction;
} flags[] = {
	{ "nothing said", -1, -1, 0, 0 },
	{ "inbound", -1, 1, 0, FT_DIRECTION_IN },
	{ "outbound", -1, 2, 0, FT_DIRECTION_OUT },
	{ "the reserved direction is none", -1, 3, 0, 0 },
	{ "an FCS by the interface, in bytes", 4, -1, 4, 0 },
	{ "an FCS by the interface, in bits", 32, -1, 4, 0 },
	{ "an interface without FCS", 0, -1, 0, 0 },
	{ "an FCS by the packet", -1, 4 << 5 | 1, 4, FT_DIRECTION_IN },
	{ "the packet knows better than the interface", 4, 2 << 5, 0, 0 },
	{ "a packet that says nothing of the FCS leaves it to the interface", 4, 2, 4,
	  FT_DIRECTION_OUT },
	{ "link errors and other bits mean nothing here", -1, 0xff00fe00 | 1, 0, FT_DIRECTION_IN },
};

static void direction_and_fcs_are_taken_from_options(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		struct building b = { 0 };
		struct reading r;
		size_t begin;

		print_message("%s\n", flags[i].sentence);
		put_section(&b, i % 2);
		begin = begin_block(&b, 1);
		put16(&b, 1);
		put16(&b, 0);
		put32(&b, 0);
		if (flags[i].fcslen >= 0)
			put_option(&b, 13, (uint8_t[]){ (uint8_t)flags[i].fcslen }, 1);
		end_block(&b, begin); /* without an end of options, which is legal */
		begin = begin_block(&b, 6);
		put_fill(&b, 0, 12);
		put32(&b, 5);
		put32(&b, 5);
		put_fill(&b, 9, 5);
		put_fill(&b, 0, 3);
		put_option(&b, 1, "a comment", 9);
		if (flags[i].flags >= 0) {
			put16(&b, 2);
			put16(&b, 4);
			put32(&b, (uint32_t)flags[i].flags);
		}
		put32(&b, 0);
		end_block(&b, begin);
		r = read_building(&b);
		assert_int_equal(r.count, 1);
		assert_int_equal(r.frames[0].fcs_bytes, flags[i].fcs);
		assert_int_equal(r.frames[0].direction, flags[i].direction);
		assert_int_equal(r.input.odd_records, 0);
	}
}

static const struct {
	const char *sentence;
	uint32_t snaplen, length, bytes;
	int frames;
	uint32_t captured;
} simples[] = {
	{ "whole", 0, 40, 40, 1, 40 },
	{ "cut by the snaplen", 16, 40, 16, 1, 16 },
	{ "shorter than the snaplen", 64, 40, 40, 1, 40 },
	{ "longer than its block", 0, 40, 36, 0, 0 },
};

static void simple_packets_have_no_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof simples / sizeof simples[0]; i++) {
		struct building b = { 0 };
		struct reading r;
		size_t begin;

		print_message("%s\n", simples[i].sentence);
		put_section(&b, i % 2);
		put_interface(&b, FT_LINK_INFINIBAND, simples[i].snaplen);
		begin = begin_block(&b, 3);
		put32(&b, simples[i].length);
		put_fill(&b, 5, simples[i].bytes);
		end_block(&b, begin);
		r = read_building(&b);
		assert_int_equal(r.count, simples[i].frames);
		assert_int_equal(r.input.dropped_records, 1 - simples[i].frames);
		if (r.count == 0)
			continue;
		assert_int_equal(r.frames[0].ts_ns, FT_TS_UNKNOWN);
		assert_int_equal(r.frames[0].captured, simples[i].captured);
		assert_int_equal(r.frames[0].original, simples[i].length);
		assert_int_equal(r.frames[0].link_type, FT_LINK_INFINIBAND);
		assert_int_equal(r.input.first_ts_ns, FT_TS_UNKNOWN);
		assert_int_equal(r.input.last_ts_ns, FT_TS_UNKNOWN);
	}
}

static void put_simple(struct building *b)
{
	size_t begin = begin_block(b, 3);

	put32(b, 4);
	put_fill(b, 5, 4);
	end_block(b, begin);
}

/* Ticks are microseconds. */
static void packets_without_a_time_change_none(void **state)
{
	struct building b = { 0 };
	struct reading r;

	(void)state;
	put_section(&b, false);
	put_interface(&b, FT_LINK_ETHERNET, 0);
	put_simple(&b);
	put_enhanced(&b, 0, 20000, 4, 4, 1);
	put_simple(&b);
	put_enhanced(&b, 0, 10000, 4, 4, 1);
	put_simple(&b);
	put_enhanced(&b, 0, 30000, 4, 4, 1);
	put_simple(&b);
	put_enhanced(&b, 0, 25000, 4, 4, 1);
	r = read_building(&b);
	assert_int_equal(r.count, 8);
	assert_int_equal(r.input.first_ts_ns, 10000000);
	assert_int_equal(r.input.last_ts_ns, 30000000);
	assert_int_equal(r.input.clock_steps, 2);
}

static void obsolete_packet_blocks_are_read(void **state)
{
	struct building b = { 0 };
	struct reading r;
	size_t begin;

	(void)state;
	put_section(&b, true);
	put_interface(&b, 1, 0);
	put_interface(&b, FT_LINK_SLL, 0);
	begin = begin_block(&b, 2);
	put16(&b, 1);    /* interface */
	put16(&b, 9999); /* drops, no part of it */
	put64(&b, 1500000);
	put32(&b, 4);
	put32(&b, 90);
	put_fill(&b, 6, 4);
	put_option(&b, 2, (uint8_t[]){ 0, 0, 0, 2 }, 4);
	end_block(&b, begin);
	r = read_building(&b);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.frames[0].interface, 1);
	assert_int_equal(r.frames[0].ts_ns, 1500000000);
	assert_int_equal(r.frames[0].captured, 4);
	assert_int_equal(r.frames[0].original, 90);
	assert_int_equal(r.frames[0].direction, FT_DIRECTION_OUT);
	assert_int_equal(r.frames[0].link_type, FT_LINK_SLL);
}

static void unknown_blocks_are_skipped_however_long(void **state)
{
	static const uint32_t sizes[] = { 0, 4, 5000, 4080, 2 << 20 };
	struct building b = { 0 };
	struct reading r;

	(void)state;
	put_section(&b, false);
	put_interface(&b, 1, 0);
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		size_t begin = begin_block(&b, i % 2 ? 0x80000bad : 5);

		put_fill(&b, 0xee, sizes[i]);
		end_block(&b, begin);
		put_enhanced(&b, 0, i, 4, 4, (uint8_t)i);
	}
	r = read_building(&b);
	assert_int_equal(r.count, 5);
	assert_int_equal(r.first[4], 4);
	assert_int_equal(r.input.odd_records, 0);
	assert_false(r.input.damaged);
}

static void blocks_that_make_no_sense_are_dropped(void **state)
{
	struct building b = { 0 };
	struct reading r;
	size_t begin;

	(void)state;
	put_section(&b, false);
	put_enhanced(&b, 0, 1, 4, 4, 1); /* before any interface */
	begin = begin_block(&b, 3);      /* a simple packet before any interface */
	put32(&b, 0);
	end_block(&b, begin);
	put_interface(&b, 1, 0);
	put_enhanced(&b, 1, 1, 4, 4, 2); /* of the interface after it */
	begin = begin_block(&b, 6);      /* more captured than the block holds */
	put_fill(&b, 0, 12);
	put32(&b, 9);
	put32(&b, 9);
	put_fill(&b, 3, 8);
	end_block(&b, begin);
	begin = begin_block(&b, 6); /* too short to be one */
	put_fill(&b, 0, 16);
	end_block(&b, begin);
	put_enhanced(&b, 0, 1, 8, 4, 5); /* longer than its original: kept */
	r = read_building(&b);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.first[0], 5);
	assert_int_equal(r.frames[0].original, 8);
	assert_int_equal(r.input.dropped_records, 5);
	assert_int_equal(r.input.odd_records, 6);
	assert_false(r.input.damaged);
}

/* After a section of 28 bytes, an interface of 20 and a good packet of 36: what stands at byte 84. */
static const struct {
	const char *sentence;
	uint32_t words[8];
	size_t size;
	const char *says;
} damages[] = {
	{ "a length after the block that differs",
	  { 5, 16, 0, 20 },
	  16,
	  "damaged at byte 84: block length 16 before the block, 20 after it" },
	{ "a length that is no multiple of four",
	  { 5, 18, 0, 0, 0 },
	  20,
	  "damaged at byte 84: block length 18" },
	{ "a length below the smallest", { 5, 8, 8 }, 12, "damaged at byte 84: block length 8" },
	{ "a length of zero", { 6, 0, 0 }, 12, "damaged at byte 84: block length 0" },
	{ "half a block header",
	  { 5 },
	  4,
	  "damaged at byte 84: a block header is 8 bytes long, but the rest of the file only 4" },
	{ "a packet block that is cut",
	  { 6, 36, 0, 0, 0 },
	  20,
	  "damaged at byte 84: a block is 36 bytes long, but the rest of the file only 20" },
	{ "an unknown block that is cut",
	  { 5, 36, 0, 0, 0 },
	  20,
	  "damaged at byte 84: a block is 36 bytes long, but the rest of the file only 20" },
	{ "an unknown block without its last length",
	  { 5, 20, 0, 0 },
	  16,
	  "damaged at byte 84: a block is 20 bytes long, but the rest of the file only 16" },
	{ "an unknown block of 4 GiB",
	  { 5, 0xfffffffc, 0, 0 },
	  16,
	  "damaged at byte 84: a block is 4294967292 bytes long, but the rest of the file only "
	  "16" },
	{ "a packet block above the bound",
	  { 6, 0x00100004, 0, 0 },
	  16,
	  "damaged at byte 84: block length 1048580 is more than 1048576" },
	{ "a section without byte-order magic",
	  { 0x0a0d0d0a, 28, 0x12345678, 1, 0, 0, 28 },
	  28,
	  "damaged at byte 84: a section header has no byte-order magic" },
	{ "a section of another version",
	  { 0x0a0d0d0a, 28, 0x1a2b3c4d, 2, 0, 0, 28 },
	  28,
	  "damaged at byte 84: a section of pcapng version 2" },
	{ "a section too short for its version",
	  { 0x0a0d0d0a, 16, 0x1a2b3c4d, 16 },
	  16,
	  "damaged at byte 84: a section" },
	{ "an interface too short to be one",
	  { 1, 16, 1, 16 },
	  16,
	  "damaged at byte 84: an interface description of 16 bytes" },
};

static void a_damaged_file_is_read_up_to_the_damage(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
		struct building b = { 0 };
		struct reading r;
		size_t end;

		print_message("%s\n", damages[i].sentence);
		put_section(&b, false);
		put_interface(&b, 1, 0);
		put_enhanced(&b, 0, 1, 4, 4, 1);
		end = b.size + damages[i].size;
		for (int word = 0; word < 8; word++)
			put32(&b, damages[i].words[word]);
		b.size = end;
		r = read_building(&b);
		assert_int_equal(r.count, 1);
		assert_true(r.input.damaged);
		assert_says(r.input.complaint.text, damages[i].says);
	}
}

static void a_long_unknown_block_must_end_as_it_began(void **state)
{
	struct building b = { 0 };
	struct reading r;
	size_t begin;

	(void)state;
	put_section(&b, false);
	begin = begin_block(&b, 5);
	put_fill(&b, 0, 9000);
	end_block(&b, begin);
	b.size -= 4;
	put32(&b, 9016);
	r = read_building(&b);
	assert_true(r.input.damaged);
	assert_says(r.input.complaint.text,
		    "damaged at byte 28: block length 9012 before the block, 9016 after it");
}

static void a_frame_above_the_bound_is_damage(void **state)
{
	struct building b = { 0 };
	struct reading r;

	(void)state;
	put_section(&b, false);
	put_interface(&b, 1, 0);
	put_enhanced(&b, 0, 1, 262144, 262144, 1);
	put_enhanced(&b, 0, 1, 262145, 262145, 2);
	r = read_building(&b);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.frames[0].captured, 262144);
	assert_says(r.input.complaint.text, "damaged at byte 262224: a frame of 262145 bytes");
}

/* Only so many are remembered, so that a file of nothing but interfaces costs no memory. */
static void interfaces_beyond_the_bound_are_unknown(void **state)
{
	struct building b = { 0 };
	struct reading r;

	(void)state;
	put_section(&b, false);
	for (int i = 0; i < 65537; i++)
		put_interface(&b, 1, 0);
	put_enhanced(&b, 65535, 1, 4, 4, 1);
	put_enhanced(&b, 65536, 1, 4, 4, 2);
	r = read_building(&b);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.frames[0].interface, 65535);
	assert_int_equal(r.input.dropped_records, 1);
}

static void options_that_run_over_are_counted(void **state)
{
	struct building b = { 0 };
	struct reading r;
	size_t begin;

	(void)state;
	put_section(&b, false);
	begin = begin_block(&b, 1);
	put16(&b, 1);
	put16(&b, 0);
	put32(&b, 0);
	put16(&b, 9);
	put16(&b, 5);
	put32(&b, 9);
	end_block(&b, begin);
	put_enhanced(&b, 0, 1, 4, 4, 1);
	/* those of a packet, too: the frame stays, and what stands before them is believed */
	begin = begin_block(&b, 6);
	put_fill(&b, 0, 12);
	put32(&b, 4);
	put32(&b, 4);
	put_fill(&b, 9, 4);
	put_option(&b, 2, (uint8_t[]){ 1, 0, 0, 0 }, 4); /* inbound */
	put16(&b, 1);
	put16(&b, 5);
	put32(&b, 0);
	end_block(&b, begin);
	r = read_building(&b);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.frames[0].ts_ns, 1000);
	assert_int_equal(r.frames[1].direction, 1);
	assert_int_equal(r.input.odd_records, 2);
}

static void put_drops(struct building *building, uint32_t interface, uint64_t by_interface,
		      uint64_t by_system)
{
	size_t block = begin_block(building, 5);

	put32(building, interface);
	put32(building, 0);
	put32(building, 0);
	put_option(building, 4, &(uint64_t){ 999 }, 8); /* received */
	put_option(building, 5, &by_interface, 8);
	put_option(building, 7, &by_system, 8);
	end_block(building, block);
}

/*
 * Counters run on: 3 + 4, then 5 + 4, of interface 0; 100, then anew 20 and 30, of interface 1; none of one that is not there.
 * Counters that make no sense are taken for 2^48, and so is their sum.
 */
static void what_interfaces_dropped_is_counted_once(void **state)
{
	struct building building = { 0 };
	struct reading r;

	(void)state;
	put_section(&building, false);
	put_interface(&building, 1, 0);
	put_interface(&building, 1, 0);
	put_drops(&building, 0, 3, 4);
	put_enhanced(&building, 0, 1000000, 3, 60, 0xaa);
	put_drops(&building, 0, 5, 4);
	put_drops(&building, 1, 100, 0);
	put_drops(&building, 1, 20, 0);
	put_drops(&building, 1, 30, 0);
	put_drops(&building, 2, 1000, 0);
	r = read_memory(building.bytes, building.size);
	assert_int_equal(r.count, 1);
	assert_false(r.input.damaged);
	assert_int_equal(r.input.dropped, 139);

	put_drops(&building, 1, UINT64_MAX, 0);
	put_drops(&building, 1, 1, 0);
	r = read_memory(building.bytes, building.size);
	assert_true(r.input.dropped == UINT64_C(1) << 48);
	build_free(&building);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_byte_orders_are_read),
		cmocka_unit_test(every_clock_is_converted),
		cmocka_unit_test(a_section_resets_byte_order_and_interfaces),
		cmocka_unit_test(direction_and_fcs_are_taken_from_options),
		cmocka_unit_test(simple_packets_have_no_time),
		cmocka_unit_test(packets_without_a_time_change_none),
		cmocka_unit_test(obsolete_packet_blocks_are_read),
		cmocka_unit_test(unknown_blocks_are_skipped_however_long),
		cmocka_unit_test(blocks_that_make_no_sense_are_dropped),
		cmocka_unit_test(a_damaged_file_is_read_up_to_the_damage),
		cmocka_unit_test(a_long_unknown_block_must_end_as_it_began),
		cmocka_unit_test(a_frame_above_the_bound_is_damage),
		cmocka_unit_test(interfaces_beyond_the_bound_are_unknown),
		cmocka_unit_test(options_that_run_over_are_counted),
		cmocka_unit_test(what_interfaces_dropped_is_counted_once),
	};

	return cmocka_run_group_tests_name("pcapng", tests, NULL, NULL);
}
