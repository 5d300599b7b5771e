#include "reading.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { INFINIBAND = 21, EXTENDED = 0x80 };

#define TIME (UINT64_C(1700000000) << 32)

/* One record: a type, a record length, and what of it counts. 32 bytes are there in any case. */
static const struct {
	const char *sentence;
	uint64_t time, ts_ns;
	unsigned type, lctr, wlen;
	uint64_t lost;
} records[] = {
	{ "an InfiniBand record counts its losses", TIME, 1700000000000000000, 21, 7, 60, 7 },
	{ "half a second", TIME | 0x80000000, 1700000000500000000, 21, 0, 60, 0 },
	{ "the last fraction rounds up to the next second", TIME | 0xffffffff, 1700000001000000000,
	  21, 0, 60, 0 },
	{ "two ticks are less than half a nanosecond", TIME | 2, 1700000000000000000, 21, 0, 60,
	  0 },
	{ "three ticks are more than half", TIME | 3, 1700000000000000001, 21, 0, 60, 0 },
	{ "a link packet counts its losses", TIME, 1700000000000000000, 25, 65535, 6, 65535 },
	{ "a raw IPv4 record counts its losses", TIME, 1700000000000000000, 22, 1, 60, 1 },
	{ "an Ethernet record counts its losses", TIME, 1700000000000000000, 2, 3, 60, 3 },
	{ "a coloured Ethernet record has its colour there", TIME, 1700000000000000000, 11, 3, 60,
	  0 },
	{ "a DSM record has its colour there", TIME, 1700000000000000000, 16, 3, 60, 0 },
	{ "a hashed record has its hash there", TIME, 1700000000000000000, 20, 3, 60, 0 },
};

static void records_are_handed_out_from_their_header_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
		struct building b = { 0 };
		struct reading r;

		print_message("%s\n", records[i].sentence);
		put_erf_header(&b, records[i].time, records[i].type, 32, records[i].lctr,
			       records[i].wlen);
		put_fill(&b, 9, 16);
		r = read_building(&b);
		assert_int_equal(r.count, 1);
		assert_string_equal(r.input.format, "erf");
		assert_int_equal(r.frames[0].link_type, FT_LINK_ERF);
		assert_int_equal(r.frames[0].captured, 32);
		assert_int_equal(r.frames[0].original, 32);
		assert_int_equal(r.frames[0].wire, records[i].wlen);
		assert_int_equal(r.frames[0].ts_ns, records[i].ts_ns);
		assert_int_equal(r.first[0], records[i].time & 0xff);
		assert_int_equal(r.input.erf_lost, records[i].lost);
		assert_int_equal(r.input.bytes, records[i].wlen);
	}
}

static void put_record(struct building *b, unsigned type, unsigned rlen, unsigned seconds)
{
	put_erf_header(b, TIME + ((uint64_t)seconds << 32), type, rlen, 1, 40);
	put_fill(b, 0x55, rlen - 16);
}

static void padding_and_meta_records_are_skipped(void **state)
{
	struct building b = { 0 };
	struct reading r;

	(void)state;
	put_record(&b, 48, 16, 0); /* PAD */
	put_record(&b, INFINIBAND, 56, 1);
	put_record(&b, 27, 4000, 2); /* META */
	put_record(&b, 27 | EXTENDED, 4000, 2);
	put_record(&b, INFINIBAND, 57, 3);
	put_record(&b, 48, 24, 4);
	r = read_building(&b);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.frames[1].captured, 57);
	assert_int_equal(r.frames[1].ts_ns, 1700000003000000000);
	assert_int_equal(r.input.erf_lost, 2);
	assert_int_equal(r.input.frames, 2);
	assert_false(r.input.damaged);
}

/* After two records of 40 bytes. */
static const struct {
	const char *sentence;
	unsigned rlen;
	size_t size;
	const char *says;
} damages[] = {
	{ "a record of no length", 0, 16,
	  "damaged at byte 80: an ERF record says it is 0 bytes long" },
	{ "a record shorter than its header", 15, 16,
	  "damaged at byte 80: an ERF record says it is 15 bytes long" },
	{ "half a header", 40, 8,
	  "damaged at byte 80: an ERF header is 16 bytes long, but the rest of the file only 8" },
	{ "a record that is cut", 40, 39,
	  "damaged at byte 80: an ERF record is 40 bytes long, but the rest of the file only 39" },
};

static void a_damaged_file_is_read_up_to_the_damage(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
		struct building b = { 0 };
		struct reading r;

		print_message("%s\n", damages[i].sentence);
		put_record(&b, INFINIBAND, 40, 1);
		put_record(&b, INFINIBAND, 40, 2);
		put_erf_header(&b, TIME, INFINIBAND, damages[i].rlen, 0, 20);
		put_fill(&b, 0, 24);
		b.size = 80 + damages[i].size;
		r = read_building(&b);
		assert_int_equal(r.count, 2);
		assert_true(r.input.damaged);
		assert_says(r.input.complaint.text, damages[i].says);
	}
}

static const struct {
	const char *sentence;
	unsigned type, rlen, flags, next_type;
	uint32_t seconds, next_seconds;
	int error;
} starts[] = {
	{ "two good records", INFINIBAND, 40, 4, INFINIBAND, 1700000000, 1700000001, -ENODATA },
	{ "padding, then a record", 48, 40, 0, INFINIBAND, 1700000000, 1700000001, -ENODATA },
	{ "a type nobody defined", 26, 40, 4, INFINIBAND, 1700000000, 1700000001, -EINVAL },
	{ "a length below the header", INFINIBAND, 8, 4, INFINIBAND, 1700000000, 1700000001,
	  -EINVAL },
	{ "a reserved flag", INFINIBAND, 40, 0x44, INFINIBAND, 1700000000, 1700000001, -EINVAL },
	{ "a time before ERF", INFINIBAND, 40, 4, INFINIBAND, 500000000, 500000001, -EINVAL },
	{ "years between the two", INFINIBAND, 40, 4, INFINIBAND, 1700000000, 1500000000, -EINVAL },
	{ "an unknown record after a good one", INFINIBAND, 40, 4, 99, 1700000000, 1700000001,
	  -EINVAL },
};

static void erf_is_recognised_by_two_good_records(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
		struct building b = { 0 };

		print_message("%s\n", starts[i].sentence);
		put_erf_header(&b, (uint64_t)starts[i].seconds << 32, starts[i].type,
			       starts[i].rlen, 0, 20);
		b.bytes[9] = (uint8_t)starts[i].flags;
		put_fill(&b, 0, 24);
		put_erf_header(&b, (uint64_t)starts[i].next_seconds << 32, starts[i].next_type, 40,
			       0, 20);
		put_fill(&b, 0, 24);
		assert_int_equal(read_building(&b).error, starts[i].error);
	}
}

/* The name decides where the bytes are in doubt: damage is then reported as damage. */
static void an_erf_name_is_believed_after_one_good_record(void **state)
{
	struct building b = { 0 };
	struct reading r;
	char *path;

	(void)state;
	put_record(&b, INFINIBAND, 40, 1);
	put_fill(&b, 0xff, 40);
	path = make_file("link.erf", b.bytes, b.size);
	r = read_file(path);
	assert_int_equal(r.count, 1);
	assert_true(r.input.damaged);
	assert_says(r.input.complaint.text, "link.erf: damaged at byte 40: an ERF record is 65535");
	remove_file(path);
	build_free(&b);
}

/* ERF records in pcap at 5 s; the header says 1700000000 s, 1 lost and 40 on the wire. */
static const struct {
	const char *sentence;
	unsigned type, rlen, extensions; /* each says another follows, but for the last */
	uint32_t captured, original;
	bool trusted;
} carried[] = {
	{ "a sound record", INFINIBAND, 80, 0, 80, 80, true },
	{ "a record cut behind its header", INFINIBAND, 80, 0, 16, 80, true },
	{ "a header that is cut", INFINIBAND, 80, 0, 15, 80, false },
	{ "a record shorter than its header", INFINIBAND, 8, 0, 80, 80, false },
	{ "a record that is a header and no more", INFINIBAND, 16, 0, 16, 16, true },
	{ "two extension headers", INFINIBAND | EXTENDED, 80, 2, 80, 80, true },
	{ "extension headers that fill the record", INFINIBAND | EXTENDED, 32, 2, 80, 80, true },
	{ "extension headers that run past the record", INFINIBAND | EXTENDED, 31, 2, 80, 80,
	  false },
	{ "extension headers that run past the packet", INFINIBAND | EXTENDED, 80, 2, 31, 31,
	  false },
	{ "extension headers that are cut", INFINIBAND | EXTENDED, 80, 2, 24, 80, true },
	{ "an extension header before the cut, at the record's end", INFINIBAND | EXTENDED, 32, 2,
	  24, 80, true },
	{ "an Ethernet record without room for its offset and pad", 2, 17, 0, 80, 80, false },
	{ "an Ethernet record with just that", 2, 18, 0, 80, 80, true },
};

static void sound_erf_records_know_better_than_their_container(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof carried / sizeof carried[0]; i++) {
		struct building b = { 0 };
		struct reading r;
		size_t record;

		print_message("%s\n", carried[i].sentence);
		put_pcap_header(&b, 0xa1b2c3d4, 4, FT_LINK_ERF);
		put_pcap_record(&b, 5, 0, 0, carried[i].original, 0);
		b.size -= 8;
		put32(&b, carried[i].captured);
		put32(&b, carried[i].original);
		record = b.size;
		put_erf_header(&b, TIME, carried[i].type, carried[i].rlen, 1, 40);
		for (unsigned e = 1; e <= carried[i].extensions; e++) {
			put8(&b, e < carried[i].extensions ? EXTENDED | 17 : 17);
			put_fill(&b, 0, 7);
		}
		put_fill(&b, 0, 80);
		b.size = record + carried[i].captured;
		b.big = false;
		put_pcap_record(&b, 0x80808080, 0, 0, 0, 0); /* no extension header */
		r = read_building(&b);
		assert_int_equal(r.count, 2);
		assert_int_equal(r.frames[0].captured, carried[i].captured);
		assert_int_equal(r.frames[0].original, carried[i].original);
		assert_int_equal(r.frames[0].ts_ns,
				 carried[i].trusted ? 1700000000000000000 : 5000000000);
		assert_int_equal(r.frames[0].wire, carried[i].trusted ? 40 : carried[i].original);
		assert_int_equal(r.input.erf_lost, carried[i].trusted ? 1 : 0);
	}
}

static void erf_in_pcapng_has_its_own_time(void **state)
{
	struct building b = { 0 };
	struct reading r;
	size_t begin;

	(void)state;
	put_section(&b, false);
	put_interface(&b, FT_LINK_ERF, 0);
	begin = begin_block(&b, 6);
	put_fill(&b, 0, 12);
	put32(&b, 24);
	put32(&b, 60);
	put_erf_header(&b, TIME, INFINIBAND, 60, 2, 44);
	put_fill(&b, 1, 8);
	b.big = false;
	end_block(&b, begin);
	r = read_building(&b);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.frames[0].ts_ns, 1700000000000000000);
	assert_int_equal(r.frames[0].wire, 44);
	assert_int_equal(r.frames[0].original, 60);
	assert_int_equal(r.input.erf_lost, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_handed_out_from_their_header_on),
		cmocka_unit_test(padding_and_meta_records_are_skipped),
		cmocka_unit_test(a_damaged_file_is_read_up_to_the_damage),
		cmocka_unit_test(erf_is_recognised_by_two_good_records),
		cmocka_unit_test(an_erf_name_is_believed_after_one_good_record),
		cmocka_unit_test(sound_erf_records_know_better_than_their_container),
		cmocka_unit_test(erf_in_pcapng_has_its_own_time),
	};

	return cmocka_run_group_tests_name("erf", tests, NULL, NULL);
}
