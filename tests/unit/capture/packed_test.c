#include "gzipped.h"
#include "reading.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

enum { FRAMES = 200, FRAME = 1000, RECORD = 16 + FRAME, PLAIN = 24 + FRAMES * RECORD };

/* 200 frames that do not compress, 1016 bytes each from byte 24 on. */
static struct building make_plain(void)
{
	struct building b = { 0 };
	uint32_t noise = 1;

	put_pcap_header(&b, 0xa1b2c3d4, 4, 1);
	for (uint32_t i = 0; i < FRAMES; i++) {
		put_pcap_record(&b, i, 0, FRAME, FRAME, 0);
		for (size_t at = b.size - FRAME; at < b.size; at++) {
			noise = noise * 1664525 + 1013904223;
			b.bytes[at] = (uint8_t)(noise >> 24);
		}
	}
	assert_int_equal(b.size, PLAIN);
	return b;
}

static void put_zstd(struct building *packed, const uint8_t *bytes, size_t size)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t bound = ZSTD_compressBound(size), made;
	uint8_t *out = malloc(bound);

	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	made = ZSTD_compress2(context, out, bound, bytes, size);
	assert_false(ZSTD_isError(made));
	put_bytes(packed, out, made);
	ZSTD_freeCCtx(context);
	free(out);
}

static const struct {
	const char *name;
	void (*put)(struct building *packed, const uint8_t *bytes, size_t size);
} packers[] = { { "gzip", put_gzip }, { "zstd", put_zstd } };

static void packed_files_are_read(void **state)
{
	(void)state;
	for (int p = 0; p < 2; p++) {
		struct building plain = make_plain(), packed = { 0 };
		struct reading r;

		packers[p].put(&packed, plain.bytes, plain.size);
		r = read_building(&packed);
		assert_int_equal(r.count, FRAMES);
		assert_int_equal(r.first[FRAMES - 1], plain.bytes[PLAIN - FRAME]);
		assert_string_equal(r.input.compression, packers[p].name);
		assert_string_equal(r.input.format, "pcap");
		assert_false(r.input.damaged);
		build_free(&plain);
	}
}

/* Cut anywhere, also inside headers and records. */
static void concatenated_parts_are_one_file(void **state)
{
	(void)state;
	for (int p = 0; p < 2; p++) {
		struct building plain = make_plain(), packed = { 0 };
		struct reading r;

		packers[p].put(&packed, plain.bytes, 3);
		packers[p].put(&packed, plain.bytes + 3, 30000);
		packers[p].put(&packed, plain.bytes, 0);
		packers[p].put(&packed, plain.bytes + 30003, PLAIN - 30003);
		r = read_building(&packed);
		assert_int_equal(r.count, FRAMES);
		assert_false(r.input.damaged);
		build_free(&plain);
	}
}

/* What is unpacked before the end of the packed bytes counts; all whole frames in it are handed out. */
static void a_cut_stream_is_read_up_to_the_cut(void **state)
{
	static const struct {
		size_t kept; /* of the packed bytes, in percent */
		int frames_min, frames_max;
	} cuts[] = { { 90, 150, 180 }, { 80, 120, 160 } };

	(void)state;
	for (int p = 0; p < 2; p++) {
		for (size_t c = 0; c < 2; c++) {
			struct building plain = make_plain(), packed = { 0 };
			struct reading r;

			packers[p].put(&packed, plain.bytes, plain.size);
			packed.size = packed.size * cuts[c].kept / 100;
			r = read_building(&packed);
			assert_in_range(r.count, cuts[c].frames_min - (p == 1 ? 60 : 0),
					cuts[c].frames_max);
			assert_true(r.input.damaged);
			assert_says(r.input.complaint.text, "of the unpacked data: ");
			assert_says(r.input.complaint.text, packers[p].name);
			assert_says(r.input.complaint.text,
				    "ends in the middle of the packed data");
			build_free(&plain);
		}
	}
}

/* Even when every frame is there, a stream without its checksum is damaged. */
static void a_stream_without_its_last_byte_is_damaged(void **state)
{
	(void)state;
	for (int p = 0; p < 2; p++) {
		struct building plain = make_plain(), packed = { 0 };
		struct reading r;

		packers[p].put(&packed, plain.bytes, plain.size);
		packed.size--;
		r = read_building(&packed);
		assert_int_equal(r.count, FRAMES);
		assert_true(r.input.damaged);
		assert_says(r.input.complaint.text, "damaged at byte 203224 of the unpacked data");
		build_free(&plain);
	}
}

/* Read in small pieces and in one: the frames before the checksum are good in either case. */
static void a_wrong_checksum_is_damage(void **state)
{
	static const char *const says[] = { "incorrect data check", "checksum" };
	static const size_t from_end[] = { 8, 1 };

	(void)state;
	for (int p = 0; p < 2; p++) {
		struct building plain = make_plain(), packed = { 0 };
		struct reading r[2];
		char *path;

		packers[p].put(&packed, plain.bytes, plain.size);
		packed.bytes[packed.size - from_end[p]] ^= 1;
		path = make_file("packed", packed.bytes, packed.size);
		r[0] = read_file(path);
		r[1] = read_building(&packed);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(r[i].count, FRAMES);
			assert_true(r[i].input.damaged);
			assert_says(r[i].input.complaint.text, says[p]);
		}
		remove_file(path);
		build_free(&plain);
	}
}

static void zeros_after_gzip_are_padding_and_other_bytes_are_not(void **state)
{
	static const struct {
		uint8_t fill;
		bool damaged;
	} ends[] = { { 0, false }, { 'x', true } };

	(void)state;
	for (int e = 0; e < 2; e++) {
		struct building plain = make_plain(), packed = { 0 };
		struct reading r;

		put_gzip(&packed, plain.bytes, plain.size);
		put_fill(&packed, ends[e].fill, 300000);
		r = read_building(&packed);
		assert_int_equal(r.count, FRAMES);
		assert_int_equal(r.input.damaged, ends[e].damaged);
		build_free(&plain);
	}
}

static void skippable_zstd_frames_are_skipped(void **state)
{
	struct building plain = make_plain(), packed = { 0 };
	struct reading r;

	(void)state;
	put32(&packed, 0x184d2a53);
	put32(&packed, 5);
	put_fill(&packed, 'x', 5);
	put_zstd(&packed, plain.bytes, plain.size);
	r = read_building(&packed);
	assert_int_equal(r.count, FRAMES);
	assert_false(r.input.damaged);
	build_free(&plain);
}

/* Frame headers that ask for a window of 256 and of 128 MiB: one is refused, one only cut. */
static void a_zstd_window_above_the_bound_is_refused(void **state)
{
	static const uint8_t above[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x90, 0x01 };
	static const uint8_t within[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x88, 0x01 };
	struct reading r = read_memory(above, sizeof above);

	(void)state;
	assert_int_equal(r.error, -EINVAL);
	assert_says(r.complaint.text, "requires too much memory");
	r = read_memory(within, sizeof within);
	assert_int_equal(r.error, -EINVAL);
	assert_says(r.complaint.text, "ends in the middle");
}

/* 64 MiB of zeros in one record of 4 GiB: damage, and not one byte of it is kept. */
static void a_bomb_is_only_damage(void **state)
{
	(void)state;
	for (int p = 0; p < 2; p++) {
		struct building plain = { 0 }, packed = { 0 };
		struct reading r;

		put_pcap_header(&plain, 0xa1b2c3d4, 4, 1);
		put_pcap_record(&plain, 1, 0, 4, 4, 0);
		put32(&plain, 1);
		put32(&plain, 1);
		put32(&plain, UINT32_MAX);
		put32(&plain, UINT32_MAX);
		put_fill(&plain, 0, 64 << 20);
		packers[p].put(&packed, plain.bytes, plain.size);
		build_free(&plain);
		r = read_building(&packed);
		assert_int_equal(r.count, 1);
		assert_says(r.input.complaint.text,
			    "damaged at byte 44 of the unpacked data: a record");
	}
}

static void what_is_packed_and_no_capture_is_refused(void **state)
{
	static const char *const says[] = { "not a capture file: gzip-packed, and text",
					    "not a capture file: zstd-packed, and text" };

	(void)state;
	for (int p = 0; p < 2; p++) {
		struct building packed = { 0 };
		struct reading r;

		packers[p].put(&packed, (const uint8_t *)"Dear reader,\nthis is not it.", 28);
		r = read_building(&packed);
		assert_int_equal(r.error, -EINVAL);
		assert_says(r.complaint.text, says[p]);
	}
}

static void a_magic_number_alone_is_refused(void **state)
{
	static const uint8_t gzip[] = { 0x1f, 0x8b }, zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
	struct reading r = read_memory(gzip, sizeof gzip);

	(void)state;
	assert_int_equal(r.error, -EINVAL);
	assert_says(r.complaint.text, "gzip (input byte 2): ends in the middle of the packed data");
	r = read_memory(zstd, sizeof zstd);
	assert_int_equal(r.error, -EINVAL);
	assert_says(r.complaint.text, "zstd (input byte 4): ends in the middle of the packed data");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_files_are_read),
		cmocka_unit_test(concatenated_parts_are_one_file),
		cmocka_unit_test(a_cut_stream_is_read_up_to_the_cut),
		cmocka_unit_test(a_stream_without_its_last_byte_is_damaged),
		cmocka_unit_test(a_wrong_checksum_is_damage),
		cmocka_unit_test(zeros_after_gzip_are_padding_and_other_bytes_are_not),
		cmocka_unit_test(skippable_zstd_frames_are_skipped),
		cmocka_unit_test(a_zstd_window_above_the_bound_is_refused),
		cmocka_unit_test(a_bomb_is_only_damage),
		cmocka_unit_test(what_is_packed_and_no_capture_is_refused),
		cmocka_unit_test(a_magic_number_alone_is_refused),
	};

	return cmocka_run_group_tests_name("packed", tests, NULL, NULL);
}
