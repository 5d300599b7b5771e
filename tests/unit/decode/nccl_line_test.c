#include "frame_rows.h"

#include <string.h>

#include <decode/nccl.h>

/* Made by hand: 1.0f and 2.0f at step 8. */
#define LL_LINE "0000803f 09000000 00000040 09000000 "

/* Step 3 of a ring of 2.19.3, a message of 32768 bytes: its first three lines. */
#define LL_LINES                                                                                   \
	"6e2d75240400000001b7d8b704000000 b45cb327040000001edf2b6504000000 "                       \
	"0d97a7b204000000a4b24a0904000000 "

/* Step 4 of a ring of 2.27.7, a message of 4096 bytes: its first two lines. */
#define LL128_LINES                                                                                \
	"412082145a33e6574114a9ec7fe3fd462976eff7ad0dc98e850212bc06384f3a "                        \
	"c0273aba2f9b423c8fa32168cf7c992a08e3f80c3905db24ced024fd9e652afd "                        \
	"ef6a2dc6a8ae66a2fa6b52664db25fd5ad7121c64c7824460ef8d809c0482cbe "                        \
	"7e8a08f481e08b75eac4596da720f1dae30da956489c34f20500000000000000 "                        \
	"38478bc346761ebab69f56fb1e8be872091fe3fe3ec3f5e6773bd62eab88992f "                        \
	"c1aae95f7ce0e7f7d4e9ccbb9f6b537d0785b5e0a808bfabcd4f2fb3fd1911cb "                        \
	"124247ee0126700c16082584ec535cff868761fa356a1674096516f3db068451 "                        \
	"832bce1ad85d6d5c143729b23e4a40127a2016238754b73d0500000000000000 "

/* Lines of 64 bytes with flag 7. */
#define RCCL_LINE "11*56 0700000000000000 "

struct row {
	const char *sentence, *hex;
	uint32_t length;
	uint32_t line_bytes; /* 0: LL */
	enum ft_nccl_verdict verdict;
	struct ft_nccl_lines lines;
};

static void check(const struct row *row)
{
	struct ft_nccl_lines lines = { .flag = 77 };
	uint8_t bytes[FRAME_BYTES_MAX];
	uint32_t captured = (uint32_t)frame_bytes(row->hex, bytes);
	struct ft_nccl_write write = { bytes, captured, row->length };
	enum ft_nccl_verdict verdict =
		row->line_bytes == 0 ? ft_nccl_ll_read(&write, &lines)
				     : ft_nccl_ll128_read(&write, row->line_bytes, &lines);

	if (verdict != row->verdict)
		fail_msg("%s: verdict %d", row->sentence, (int)verdict);
	if (verdict != FT_NCCL_READ)
		assert_int_equal(lines.flag, 77);
	else if (lines.flag != row->lines.flag || lines.lines != row->lines.lines ||
		 lines.data_most != row->lines.data_most)
		fail_msg("%s: flag %lu in %u lines, %u bytes", row->sentence,
			 (unsigned long)lines.flag, lines.lines, lines.data_most);
}

static void ll_lines_share_their_flag(void **state)
{
	static const struct row rows[] = {
		{ "one line", LL_LINE, 16, 0, FT_NCCL_READ, { 9, 1, 8 } },
		{ "from 2.19.3", LL_LINES, 32768, 0, FT_NCCL_READ, { 4, 3, 16384 } },
		{ "cut inside the third line",
		  LL_LINE LL_LINE "0000803f 0a000000 ",
		  64,
		  0,
		  FT_NCCL_READ,
		  { 9, 2, 32 } },
		{ "one line of many", LL_LINE, 64, 0, FT_NCCL_CUT, { 0 } },
		{ "not one line captured", "0000803f 09000000 ", 64, 0, FT_NCCL_CUT, { 0 } },
		{ "two flags in a line",
		  "0000803f 09000000 00000040 0a000000 ",
		  16,
		  0,
		  FT_NCCL_NOT,
		  { 0 } },
		{ "another flag in the last line",
		  LL_LINE LL_LINE "00*4 0a000000 00*4 0a000000 ",
		  48,
		  0,
		  FT_NCCL_NOT,
		  { 0 } },
		{ "no flag", "00*16 ", 16, 0, FT_NCCL_NOT, { 0 } },
		{ "half a line", LL_LINE "0000803f 09000000 ", 24, 0, FT_NCCL_NOT, { 0 } },
		{ "longer than a step", LL_LINE LL_LINE, 65552, 0, FT_NCCL_NOT, { 0 } },
		{ "nothing", "", 0, 0, FT_NCCL_NOT, { 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check(&rows[i]);
}

static void ll128_lines_share_their_flag(void **state)
{
	static const struct row rows[] = {
		{ "from 2.27.7", LL128_LINES, 4096, 128, FT_NCCL_READ, { 5, 2, 3840 } },
		{ "the shortest holds 1920 bytes",
		  "22*120 0900000000000000 ",
		  2048,
		  128,
		  FT_NCCL_READ,
		  { 9, 1, 1920 } },
		{ "18 units hold 32768 bytes",
		  "22*120 0900000000000000 ",
		  36864,
		  128,
		  FT_NCCL_READ,
		  { 9, 1, 34560 } },
		{ "the longest holds 576000",
		  "22*120 0900000000000000 ",
		  614400,
		  128,
		  FT_NCCL_READ,
		  { 9, 1, 576000 } },
		{ "RCCL", RCCL_LINE RCCL_LINE, 2048, 64, FT_NCCL_READ, { 7, 2, 1792 } },
		{ "RCCL's lines are not NCCL's",
		  RCCL_LINE "33*64 ",
		  2048,
		  128,
		  FT_NCCL_NOT,
		  { 0 } },
		{ "not one line captured",
		  "22*120 09000000000000 ",
		  2048,
		  128,
		  FT_NCCL_CUT,
		  { 0 } },
		{ "another flag in the second line",
		  "22*120 0900000000000000 22*120 0a00000000000000 ",
		  2048,
		  128,
		  FT_NCCL_NOT,
		  { 0 } },
		{ "a flag beyond all steps",
		  "22*120 0900000000010000 ",
		  2048,
		  128,
		  FT_NCCL_NOT,
		  { 0 } },
		{ "no flag", "00*256 ", 2048, 128, FT_NCCL_NOT, { 0 } },
		{ "half a unit", "22*120 0900000000000000 ", 1024, 128, FT_NCCL_NOT, { 0 } },
		{ "longer than a step",
		  "22*120 0900000000000000 ",
		  616448,
		  128,
		  FT_NCCL_NOT,
		  { 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check(&rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ll_lines_share_their_flag),
		cmocka_unit_test(ll128_lines_share_their_flag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
