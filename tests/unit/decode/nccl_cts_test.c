#include "frame_rows.h"

#include <string.h>

#include <decode/big_endian.h>
#include <decode/nccl.h>

/*
 * Clear-to-send entries. The six of the first part were made by hand from the layouts of NCCL's releases, each with the
 * same buffer; those from traffic were posted by the release named, and what they say is what its caller asked for.
 */
#define E_ENTRY                                                                                    \
	"0000535c3a7f0000 0000100000000000 c5a3180000000000 0000000000000000 "                     \
	"0100000003000000 2a00000000000000 00*16 "
#define F_ENTRY                                                                                    \
	"0000535c3a7f0000 0000100000000000 c5a3180000000000 00*24 0100000003000000 "               \
	"2a00000000000000 "
#define D_ENTRY                                                                                    \
	"0000535c3a7f0000 00001000c5a31800 d1a3180001000000 0300000000000000 "                     \
	"2a00000000000000 00*24 "
#define C_ENTRY "0000535c3a7f0000 00001000c5a31800 0100000003000000 2a00000000000000 "
#define B_ENTRY "0000535c3a7f0000 0000100029000000 c5a3180001000000 0000000000000000 "
#define A_ENTRY "0000535c3a7f0000 0000100029000000 c5a3180001000000 "

/* 2.19.3, two of a slot's entries: tags 100 and 101 */
#define C_PAIR                                                                                     \
	"0000c01d9e7f0000 0000020005110000 0200000064000000 0100000000000000 "                     \
	"0000c41d9e7f0000 0000020005110000 0200000065000000 0100000000000000 "

enum {
	A = 1u << FT_NCCL_A,
	B = 1u << FT_NCCL_B,
	C = 1u << FT_NCCL_C,
	D = 1u << FT_NCCL_D,
	E = 1u << FT_NCCL_E,
	F = 1u << FT_NCCL_F,
	ALL = FT_NCCL_CTS_SIZE | FT_NCCL_CTS_REQUESTS | FT_NCCL_CTS_TAG,
	NO_TAG = FT_NCCL_CTS_SIZE | FT_NCCL_CTS_REQUESTS,
};

/* A write of these bytes, of which `captured` were captured; 0: all. */
static struct ft_nccl_write write_of(const char *hex, uint32_t captured)
{
	static uint8_t bytes[FRAME_BYTES_MAX];
	uint32_t length = (uint32_t)frame_bytes(hex, bytes);

	return (struct ft_nccl_write){ bytes, captured != 0 ? captured : length, length };
}

static void families_are_told_by_their_fields(void **state)
{
	static const struct {
		const char *sentence, *hex;
		uint32_t captured;
		unsigned possible, shown;
	} rows[] = {
		{ "A", A_ENTRY, 0, A, A },
		{ "B", B_ENTRY, 0, B, B },
		{ "C", C_ENTRY, 0, C, C },
		{ "D", D_ENTRY, 0, D, D },
		{ "E", E_ENTRY, 0, E, E },
		{ "F", F_ENTRY, 0, F, F },
		{ "C with two entries", C_PAIR, 0, C, C },
		{ "C of rank 1 has no flag of B but a tag",
		  "0000535c3a7f0000 00001000c5a31800 0100000001000000 2a00000000000000 ", 0, C, C },
		{ "the same cut in front of what tells",
		  "0000535c3a7f0000 00001000c5a31800 0100000001000000 2a00000000000000 ", 24, B | C,
		  0 },
		{ "a size of nothing is offered for an empty message",
		  "0000535c3a7f0000 0000000029000000 c5a3180001000000 0000000000000000 ", 0, B, B },
		{ "E whose padding was not cleared is possible only",
		  "0000535c3a7f0000 0000100000000000 c5a3180000000000 00*8 "
		  "0100000003000000 2a00000000000000 01 00*15 ",
		  0, E, 0 },
		{ "E cut at 96 bytes of the frame", E_ENTRY, 26, E | F, 0 },
		{ "E cut at 128 bytes of the frame", E_ENTRY, 58, E, E },
		{ "F cut at 128 bytes of the frame", F_ENTRY, 58, F, 0 },
		{ "nothing captured: the length speaks", C_PAIR, 1, C | D | E | F, 0 },
		{ "entries of two messages",
		  "0000c01d9e7f0000 0000020005110000 0200000064000000 0100000000000000 "
		  "0000c41d9e7f0000 0000020005110000 0200000065000000 0200000000000000 ",
		  0, 0, 0 },
		{ "more entries than were written",
		  "0000535c3a7f0000 00001000c5a31800 0200000003000000 2a00000000000000 ", 0, 0, 0 },
		{ "no message number",
		  "0000535c3a7f0000 00001000c5a31800 0100000003000000 0000000000000000 ", 0, 0, 0 },
		{ "a negative size",
		  "0000535c3a7f0000 000010f0c5a31800 0100000003000000 2a00000000000000 ", 0, 0, 0 },
		{ "a size of two TiB",
		  "0000535c3a7f0000 0000000000020000 c5a3180000000000 00*8 "
		  "0100000003000000 2a00000000000000 00*16 ",
		  0, 0, 0 },
		{ "a buffer in the first page",
		  "ff0f000000000000 00001000c5a31800 0100000003000000 2a00000000000000 ", 0, 0, 0 },
		{ "a buffer where no address leads",
		  "0000535c3a7f0002 00001000c5a31800 0100000003000000 2a00000000000000 ", 0, 0, 0 },
		{ "a buffer without a key: 64-bit size, then the key, as other queues of "
		  "descriptors have it",
		  "0000535c3a7f0000 0000100000000000 c5a3180001000000 0300000000000000 "
		  "2a00000000000000 00*24 ",
		  0, 0, 0 },
		{ "a length of no family", C_ENTRY "00 ", 0, 0, 0 },
		{ "two entries of A", A_ENTRY A_ENTRY, 0, 0, 0 },
		{ "zeros", "00*64 ", 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_nccl_write write = write_of(rows[i].hex, rows[i].captured);
		struct ft_nccl_fits fits = ft_nccl_cts_fits(&write);

		if (fits.possible != rows[i].possible || fits.shown != rows[i].shown)
			fail_msg("%s: possible %02x, shown %02x", rows[i].sentence, fits.possible,
				 fits.shown);
	}
}

static bool same(const struct ft_nccl_cts *a, const struct ft_nccl_cts *b)
{
	return a->addr == b->addr && a->size == b->size && a->sequence == b->sequence &&
	       memcmp(a->rkeys, b->rkeys, sizeof a->rkeys) == 0 && a->requests == b->requests &&
	       a->tag == b->tag && a->has == b->has && a->rkey_count == b->rkey_count &&
	       a->sequence_bits == b->sequence_bits;
}

static void entries_are_read(void **state)
{
	static const struct {
		const char *sentence, *hex;
		enum ft_nccl_family family;
		uint32_t captured, index;
		struct ft_nccl_cts entry;
	} rows[] = {
		{ "E",
		  E_ENTRY,
		  FT_NCCL_E,
		  0,
		  0,
		  { 0x7f3a5c530000, 1048576, 41, { 0x18a3c5 }, 1, 3, ALL, 4, 64 } },
		{ "F",
		  F_ENTRY,
		  FT_NCCL_F,
		  0,
		  0,
		  { 0x7f3a5c530000, 1048576, 41, { 0x18a3c5 }, 1, 3, ALL, 8, 64 } },
		{ "D has a key for each of two devices",
		  D_ENTRY,
		  FT_NCCL_D,
		  0,
		  0,
		  { 0x7f3a5c530000, 1048576, 41, { 0x18a3c5, 0x18a3d1 }, 1, 3, ALL, 2, 64 } },
		{ "C",
		  C_ENTRY,
		  FT_NCCL_C,
		  0,
		  0,
		  { 0x7f3a5c530000, 1048576, 41, { 0x18a3c5 }, 1, 3, ALL, 1, 64 } },
		{ "B",
		  B_ENTRY,
		  FT_NCCL_B,
		  0,
		  0,
		  { 0x7f3a5c530000, 1048576, 41, { 0x18a3c5 }, 1, 0, NO_TAG, 1, 32 } },
		{ "A",
		  A_ENTRY,
		  FT_NCCL_A,
		  0,
		  0,
		  { 0x7f3a5c530000, 1048576, 41, { 0x18a3c5 }, 1, 0, NO_TAG, 1, 32 } },
		{ "F cut at 128 bytes keeps the low bits of its number",
		  F_ENTRY,
		  FT_NCCL_F,
		  58,
		  0,
		  { 0x7f3a5c530000, 1048576, 41, { 0x18a3c5 }, 1, 3, ALL, 8, 16 } },
		{ "E cut at 96 bytes",
		  E_ENTRY,
		  FT_NCCL_E,
		  26,
		  0,
		  { 0x7f3a5c530000, 1048576, 0, { 0x18a3c5 }, 0, 0, FT_NCCL_CTS_SIZE, 2, 0 } },
		{ "from 2.10.3",
		  "00006454eb7f0000 4000000001000000 511b000001000000 0000000000000000 ",
		  FT_NCCL_B,
		  0,
		  0,
		  { 0x7feb54640000, 64, 1, { 0x1b51 }, 1, 0, NO_TAG, 1, 32 } },
		{ "from 2.19.3, the second request",
		  C_PAIR,
		  FT_NCCL_C,
		  0,
		  1,
		  { 0x7f9e1dc40000, 131072, 0, { 0x1105 }, 2, 101, ALL, 1, 64 } },
		{ "from 2.21.5",
		  "0000739bdb7f0000 000010008a060000 0000000001000000 0000000000000000 "
		  "0100000000000000 00*24 ",
		  FT_NCCL_D,
		  0,
		  0,
		  { 0x7fdb9b730000, 1048576, 0, { 0x68a }, 1, 0, ALL, 2, 64 } },
		{ "from 2.27.7, of two devices",
		  "00008046307f0000 8000000000000000 0326000079040000 0000000000000000 "
		  "0100000000000000 0100000000000000 00*16 ",
		  FT_NCCL_E,
		  0,
		  0,
		  { 0x7f3046800000, 128, 0, { 0x2603, 0x479 }, 1, 0, ALL, 4, 64 } },
		{ "from 2.30.7",
		  "00004033b17f0000 4000000000000000 4804000000000000 00*24 "
		  "0100000000000000 0100000000000000 ",
		  FT_NCCL_F,
		  0,
		  0,
		  { 0x7fb133400000, 64, 0, { 0x448 }, 1, 0, ALL, 8, 64 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_nccl_write write = write_of(rows[i].hex, rows[i].captured);
		struct ft_nccl_cts entry = { 0 };

		assert_int_equal(ft_nccl_cts_read(rows[i].family, &write, rows[i].index, &entry),
				 FT_NCCL_READ);
		if (!same(&entry, &rows[i].entry))
			fail_msg("%s: another entry", rows[i].sentence);
	}
}

static void what_cannot_be_read_leaves_the_entry_alone(void **state)
{
	struct ft_nccl_cts entry = { .tag = 77 };
	struct ft_nccl_write write = write_of(C_ENTRY, 7);

	(void)state;
	assert_int_equal(ft_nccl_cts_read(FT_NCCL_C, &write, 0, &entry), FT_NCCL_CUT);
	assert_int_equal(ft_nccl_cts_read(FT_NCCL_C, &write, 1, &entry), FT_NCCL_NOT);
	assert_int_equal(ft_nccl_cts_read(FT_NCCL_E, &write, 0, &entry), FT_NCCL_NOT);
	write = write_of(C_ENTRY, 0);
	assert_int_equal(ft_nccl_cts_read(FT_NCCL_B, &write, 0, &entry), FT_NCCL_NOT);
	assert_int_equal(entry.tag, 77);
}

/* Of an entry of no release as well: the first eight bytes. */
static void an_address_is_in_front(void **state)
{
	static const struct {
		const char *bytes;
		uint32_t captured;
		bool begins;
	} rows[] = {
		{ "0010ca3dea7f0000 00400000", 12, true },
		{ "0010ca3dea7f0000 00400000", 7, false },
		{ "ff0f000000000000 00400000", 12, false }, /* the first page */
		{ "0010000000000000 00400000", 12, true },
		{ "ffffffffffff0000 00400000", 12, true }, /* 48 bits */
		{ "0000000000000100 00400000", 12, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ft_nccl_write write = write_of(rows[i].bytes, rows[i].captured);

		assert_int_equal(ft_nccl_begins_with_address(&write), rows[i].begins);
	}
}

/* A FIFO at 0x7f10a0002000; its writes as RETH says: address, key, length. */
static void a_message_is_announced_in_its_slot(void **state)
{
	static const struct {
		enum ft_nccl_family family;
		uint64_t sequence;
		uint32_t slots;
		const char *reth;
	} rows[] = {
		{ FT_NCCL_E, 41, 256, "00007f10a0007200 00201b44 00000040 " },
		{ FT_NCCL_C, 41, 64, "00007f10a0004900 00201b44 00000020 " },
		{ FT_NCCL_B, 41, 8, "00007f10a0002020 00201b44 00000020 " },
		{ FT_NCCL_E, 41 + 256, 256, "00007f10a0007200 00201b44 00000040 " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint8_t reth[16];

		assert_int_equal(frame_bytes(rows[i].reth, reth), sizeof reth);
		assert_int_equal(ft_nccl_slot_va(rows[i].family, 0x7f10a0002000, rows[i].sequence,
						 rows[i].slots),
				 ft_be64(reth));
		assert_int_equal(ft_nccl_fifo(rows[i].family)->entry_bytes, ft_be32(reth + 12));
	}
}

static void families_have_letters(void **state)
{
	(void)state;
	assert_int_equal(ft_nccl_family_letter(FT_NCCL_A), 'A');
	assert_int_equal(ft_nccl_family_letter(FT_NCCL_F), 'F');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(families_are_told_by_their_fields),
		cmocka_unit_test(entries_are_read),
		cmocka_unit_test(what_cannot_be_read_leaves_the_entry_alone),
		cmocka_unit_test(an_address_is_in_front),
		cmocka_unit_test(a_message_is_announced_in_its_slot),
		cmocka_unit_test(families_have_letters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
