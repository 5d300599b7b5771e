#include "frame_rows.h"

#include "protocol.h"

/* Lines made by hand: data that differs, and the flag 9. */
#define LL_LINES    "0000803f 09000000 00000040 09000000 00004040 09000000 00008040 09000000 "
#define LL128_LINES "11*120 09*1 00*7 22*120 09*1 00*7 33*120 09*1 00*7 44*120 09*1 00*7 "
#define RCCL_LINES  "11*56 09*1 00*7 22*56 09*1 00*7 "
#define ONES        "0000803f 0000803f 0000803f 0000803f 0000803f 0000803f 0000803f 0000803f "
#define RANDOM      "8b1e5c2a f07741d3 9a3cc155 0e82b6f4 61d2977a c4e0380f b5491d6e 2f63a88c "

/* Buffers begin at a multiple of 2 MiB. */
#define BASE      UINT64_C(0x7f5a40000000)
#define USER      UINT64_C(0x7f5a41234560)
#define IN_LL     (BASE + 3 * 0x10000)
#define IN_LL128  (BASE + 0x80000 + 2 * 0x96000)
#define IN_SIMPLE (BASE + 0x530000)

enum { NONE = -1 };

struct row {
	const char *sentence;
	int64_t offered, written; /* NONE: not known */
	uint64_t va;
	const char *hex; /* of the first packet's payload; NULL: none captured */
	enum ft_nccl_protocol protocol;
	uint64_t flag;
};

static struct ft_nccl_message_signs signs_of(const struct row *row, uint8_t *bytes)
{
	struct ft_nccl_message_signs signs = {
		.offered = row->offered == NONE ? 0 : (uint64_t)row->offered,
		.written = row->written == NONE ? 0 : (uint64_t)row->written,
		.va = row->va,
		.has_offered = row->offered != NONE,
		.has_written = row->written != NONE,
		.write = { bytes, 0, 0 },
	};

	if (row->hex != NULL)
		signs.write.captured = (uint32_t)frame_bytes(row->hex, bytes);
	signs.write.length = row->written == NONE ? 65536 : (uint32_t)row->written;
	return signs;
}

static void check(const struct row *row)
{
	uint8_t bytes[FRAME_BYTES_MAX];
	struct ft_nccl_message_signs signs = signs_of(row, bytes);
	uint64_t flag = 77;
	enum ft_nccl_protocol protocol = ft_nccl_protocol_of(&signs, &flag);

	if (protocol != row->protocol || flag != row->flag)
		fail_msg("%s: protocol %d, flag %lu", row->sentence, (int)protocol,
			 (unsigned long)flag);
}

static void check_all(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(&rows[i]);
}

static void the_offer_tells_most(void **state)
{
	static const struct row rows[] = {
		{ "a slice of a ring", 1048576, 32768, IN_SIMPLE, NULL, FT_NCCL_SIMPLE, 0 },
		{ "an empty slice", 1048576, 0, IN_SIMPLE, NULL, FT_NCCL_SIMPLE, 0 },
		{ "a step of a tree", 524288, 524288, IN_SIMPLE, NULL, FT_NCCL_SIMPLE, 0 },
		{ "a chunk of a send", 131072, 4096, USER, NULL, FT_NCCL_SIMPLE, 0 },
		{ "a step of LL", 65536, 1008, IN_LL, NULL, FT_NCCL_LL, 0 },
		{ "a step of LL128", 614400, 36864, IN_LL128, NULL, FT_NCCL_LL128, 0 },
		{ "a whole step of LL128", 614400, 614400, IN_LL128, NULL, FT_NCCL_LL128, 0 },
		{ "a step of LL of RCCL", 32768, 1024, IN_LL, NULL, FT_NCCL_LL, 0 },
		{ "a step of LL128 of RCCL", 57344, 2048, BASE + 0x40000, NULL, FT_NCCL_LL128, 0 },
		{ "filled, as LL or a part of a send", 65536, 65536, IN_LL, NULL,
		  FT_NCCL_PROTOCOL_UNKNOWN, 0 },
		{ "filled, as LL of RCCL or a part of a send", 32768, 32768, IN_LL, NULL,
		  FT_NCCL_PROTOCOL_UNKNOWN, 0 },
		{ "half of a send of 64 KiB, or LL", 65536, 32768, USER, NULL,
		  FT_NCCL_PROTOCOL_UNKNOWN, 0 },
		{ "an empty step of LL", 65536, 0, IN_LL, NULL, FT_NCCL_LL, 0 },
		{ "a piece of a send, or LL128 of RCCL", 57344, 32768, USER, NULL,
		  FT_NCCL_PROTOCOL_UNKNOWN, 0 },
		{ "the rest of that send, or LL128 of RCCL", 57344, 24576, USER, NULL,
		  FT_NCCL_PROTOCOL_UNKNOWN, 0 },
		{ "a short send", 4096, 4096, USER, NULL, FT_NCCL_PROTOCOL_UNKNOWN, 0 },
		{ "a short send that is no lines", 4100, 4100, USER, NULL, FT_NCCL_SIMPLE, 0 },
		{ "a registered buffer", 1 << 30, 1 << 30, USER, NULL, FT_NCCL_SIMPLE, 0 },
		{ "nothing answered yet", 1048576, NONE, IN_SIMPLE, NULL, FT_NCCL_SIMPLE, 0 },
		{ "nothing answered yet, a step of LL128", 614400, NONE, IN_LL128, NULL,
		  FT_NCCL_LL128, 0 },
		{ "nothing answered yet, 64 KiB", 65536, NONE, IN_LL, NULL,
		  FT_NCCL_PROTOCOL_UNKNOWN, 0 },
	};

	(void)state;
	check_all(rows, sizeof rows / sizeof *rows);
}

static void contradictions_are_unknown(void **state)
{
	static const struct row rows[] = {
		{ "more written than offered", 4096, 4097, USER, NULL, FT_NCCL_PROTOCOL_UNKNOWN,
		  0 },
		{ "a step of LL with half a line", 65536, 1000, IN_LL, NULL,
		  FT_NCCL_PROTOCOL_UNKNOWN, 0 },
		{ "a step of LL without flags", 65536, 1024, IN_LL, RANDOM,
		  FT_NCCL_PROTOCOL_UNKNOWN, 0 },
		{ "a step of LL128 with half a unit", 614400, 1024, IN_LL128, NULL,
		  FT_NCCL_PROTOCOL_UNKNOWN, 0 },
		{ "a step of LL128 without flags", 614400, 4096, IN_LL128,
		  RANDOM RANDOM RANDOM RANDOM, FT_NCCL_PROTOCOL_UNKNOWN, 0 },
		{ "LL where no line can be", 65536, 1024, IN_LL + 8, NULL, FT_NCCL_PROTOCOL_UNKNOWN,
		  0 },
	};

	(void)state;
	check_all(rows, sizeof rows / sizeof *rows);
}

static void lines_decide_what_sizes_leave_open(void **state)
{
	static const struct row rows[] = {
		{ "LL", 65536, 1024, IN_LL, LL_LINES, FT_NCCL_LL, 9 },
		{ "LL, filled", 65536, 65536, IN_LL, LL_LINES, FT_NCCL_LL, 9 },
		{ "64 KiB that are no lines", 65536, 65536, IN_LL, RANDOM, FT_NCCL_SIMPLE, 0 },
		{ "a short send as LL", 64, 64, USER, LL_LINES, FT_NCCL_LL, 9 },
		{ "a short send of other bytes", 64, 64, USER, RANDOM, FT_NCCL_SIMPLE, 0 },
		{ "one line could be accident", 16, 16, USER, "0000803f 09000000 00000040 09000000",
		  FT_NCCL_PROTOCOL_UNKNOWN, 0 },
		{ "ones are as regular as flags", 64, 64, USER, ONES, FT_NCCL_PROTOCOL_UNKNOWN, 0 },
		{ "less than a line captured", 65536, 1024, IN_LL, "0000803f 09000000", FT_NCCL_LL,
		  0 },
		{ "LL128", 614400, 2048, IN_LL128, LL128_LINES, FT_NCCL_LL128, 9 },
		{ "LL128 of RCCL", 57344, 4096, BASE + 0x40000, RCCL_LINES, FT_NCCL_LL128, 9 },
		{ "the first half of LL128, on one of two queue pairs", 614400, 2048, IN_LL128,
		  "11*120 09*1 00*7", FT_NCCL_LL128, 9 },
		{ "lines of LL in a slice of a ring", 1048576, 64, IN_SIMPLE, LL_LINES,
		  FT_NCCL_SIMPLE, 0 },
	};

	(void)state;
	check_all(rows, sizeof rows / sizeof *rows);
}

static void without_its_offer_a_message_is_known_by_itself(void **state)
{
	static const struct row rows[] = {
		{ "LL by its lines", NONE, 1024, IN_LL, LL_LINES, FT_NCCL_LL, 9 },
		{ "LL128 by its lines", NONE, 36864, BASE + 0x80000, LL128_LINES, FT_NCCL_LL128,
		  9 },
		{ "one line of LL128 could be accident", NONE, 36864, BASE + 0x80000,
		  "11*120 09*1 00*7", FT_NCCL_PROTOCOL_UNKNOWN, 0 },
		{ "an address alone says little", NONE, 36864, IN_LL128, NULL,
		  FT_NCCL_PROTOCOL_UNKNOWN, 0 },
		{ "a slot that fits, a length that does not", NONE, 36872, IN_LL128, NULL,
		  FT_NCCL_SIMPLE, 0 },
		{ "SIMPLE by its length", NONE, 1048576, IN_LL, NULL, FT_NCCL_SIMPLE, 0 },
		{ "a slot of LL says little", NONE, 4096, IN_LL, NULL, FT_NCCL_PROTOCOL_UNKNOWN,
		  0 },
		{ "nothing known", NONE, NONE, USER & ~UINT64_C(0xfff), NULL,
		  FT_NCCL_PROTOCOL_UNKNOWN, 0 },
		{ "nothing but an address for bytes", NONE, NONE, USER + 1, NULL, FT_NCCL_SIMPLE,
		  0 },
	};

	(void)state;
	check_all(rows, sizeof rows / sizeof *rows);
}

/* Of 4096 bytes over two queue pairs the first write has 2048, of 2048 bytes 1024. */
static void a_part_is_read_as_the_message(void **state)
{
	uint8_t bytes[FRAME_BYTES_MAX];
	struct ft_nccl_message_signs signs = {
		.offered = 614400,
		.written = 2048,
		.va = IN_LL128,
		.has_offered = true,
		.has_written = true,
		.write = { bytes, (uint32_t)frame_bytes(LL128_LINES, bytes), 1024 },
	};
	uint64_t flag;

	(void)state;
	assert_int_equal(ft_nccl_protocol_of(&signs, &flag), FT_NCCL_LL128);
	assert_int_equal(flag, 9);
}

/* Of 2048 bytes over four queue pairs each has 512, and how long the message is may not be known yet. */
static void a_part_alone_is_read_as_far_as_it_goes(void **state)
{
	static const struct {
		const char *sentence, *hex;
		int64_t offered;
		uint32_t length;
		enum ft_nccl_protocol protocol;
		uint64_t flag;
	} rows[] = {
		{ "lines in a step", LL128_LINES, 614400, 512, FT_NCCL_LL128, 9 },
		{ "lines, of which nobody was seen to ask for", LL128_LINES, NONE, 512,
		  FT_NCCL_LL128, 9 },
		{ "the last part may be shorter", "11*120 09*1 00*7", 614400, 128, FT_NCCL_LL128,
		  9 },
		{ "no lines", RANDOM RANDOM RANDOM RANDOM, NONE, 512, FT_NCCL_SIMPLE, 0 },
		{ "within a line no part ends", LL128_LINES, NONE, 500, FT_NCCL_SIMPLE, 0 },
	};
	uint8_t bytes[FRAME_BYTES_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_nccl_message_signs signs = {
			.offered = rows[i].offered == NONE ? 0 : (uint64_t)rows[i].offered,
			.va = IN_LL128,
			.has_offered = rows[i].offered != NONE,
			.write = { bytes, (uint32_t)frame_bytes(rows[i].hex, bytes),
				   rows[i].length },
		};
		uint64_t flag;

		if (ft_nccl_protocol_of(&signs, &flag) != rows[i].protocol || flag != rows[i].flag)
			fail_msg("%s", rows[i].sentence);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_offer_tells_most),
		cmocka_unit_test(contradictions_are_unknown),
		cmocka_unit_test(lines_decide_what_sizes_leave_open),
		cmocka_unit_test(without_its_offer_a_message_is_known_by_itself),
		cmocka_unit_test(a_part_is_read_as_the_message),
		cmocka_unit_test(a_part_alone_is_read_as_far_as_it_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
