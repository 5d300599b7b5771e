#include "tcp_play.h"

#include <frame_rows.h>

/* Connections whose beginning was not captured, or not wholly, with a magic that nobody knows or none: what tells by itself what they are. */

#define JOB(kind) "1122334455667788 0" #kind "000000 "

/* 10.0.0.1 port 50000, which is the client's address, and 10.9.9.9 port 7 */
#define AT_CLIENT "0200 c350 0a000001 00*20 "
#define AT_THIRD  "0200 0007 0a090909 00*20 "

#define CHECK_IN_2_23 "ac000000 05000000 10000000 00000000 01000000 " AT_CLIENT "11*128 "
#define CHECK_IN_2_29 "b0000000 06000000 10000000 00000000 01000000 00000000 " AT_CLIENT "11*128 "

/* the time of its sender; the frames' is in the first second of 1970 */
#define KEEP_ALIVE(seconds, nanoseconds)                                                           \
	"38000000 03000000 00000000 44*16 05000000 00000000 " seconds " " nanoseconds              \
	" 00000000 00000000"

/* The segment has to be all of a message, or the front of a check-in, which then is told once, however often it comes. */
static void a_message_shows_what_the_connection_is(void **state)
{
	static const struct {
		const char *sentence, *hex;
		bool is_ras, is_told;
		uint64_t magic;
		uint32_t cut;
	} rows[] = {
		{ "2.8, with its length", "40000000 03000000 08000000 " AT_CLIENT AT_THIRD,
		  .is_told = true },
		{ "2.8, the body alone", "03000000 08000000 " AT_CLIENT AT_THIRD, .is_told = true },
		{ "2.23, behind the kind of socket", "01000000 " CHECK_IN_2_23, .is_told = true },
		{ "2.29, behind a whole hello", JOB(1) CHECK_IN_2_29, .is_told = true,
		  .magic = 0x8877665544332211 },
		{ "another kind of socket", "05000000 " CHECK_IN_2_23, .is_told = false },
		{ "who listens elsewhere", "40000000 03000000 08000000 " AT_THIRD AT_CLIENT,
		  .is_told = false },
		{ "a rank that is none", "08000000 08000000 " AT_CLIENT AT_THIRD,
		  .is_told = false },
		{ "another length", "41000000 03000000 08000000 " AT_CLIENT AT_THIRD,
		  .is_told = false },
		{ "more behind it", CHECK_IN_2_29 "00", .is_told = false },
		{ "the last byte is cut off", CHECK_IN_2_29, .is_told = true, .cut = 1 },
		{ "all behind the address is cut off", CHECK_IN_2_29, .is_told = true, .cut = 148 },
		{ "a byte of the address is, too", CHECK_IN_2_29, .cut = 149 },
		{ "who listens elsewhere, cut off",
		  "40000000 03000000 08000000 " AT_THIRD AT_CLIENT, .cut = 28 },
		{ "a keep-alive's padding is cut off", KEEP_ALIVE("00*8", "00*8"), .is_ras = true,
		  .is_told = true, .cut = 4 },
		{ "a byte in front of it is, too", KEEP_ALIVE("00*8", "00*8"), .cut = 5 },
		{ "a keep-alive, 100 seconds later", KEEP_ALIVE("64000000 00*4", "ffc99a3b 00*4"),
		  .is_ras = true, .is_told = true },
		{ "a day later", KEEP_ALIVE("80510100 00*4", "00*8"), .is_told = false },
		{ "more than a second's nanoseconds", KEEP_ALIVE("00*8", "00ca9a3b 00*4"),
		  .is_told = false },
		{ "a keep-alive with more behind it", KEEP_ALIVE("00*8", "00*8") "00",
		  .is_told = false },
	};
	static struct play play;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const bool checks_in = rows[i].is_told && !rows[i].is_ras;
		const enum ft_nccl_contact_kind kind =
			rows[i].is_ras ? FT_NCCL_CONTACT_RAS : FT_NCCL_CONTACT_BOOTSTRAP;
		uint8_t bytes[FRAME_BYTES_MAX];
		struct play_piece piece = {
			.flags = PLAY_ACK, .at = 500, .bytes = bytes, .cut = rows[i].cut
		};
		size_t count;

		piece.size = (uint32_t)frame_bytes(rows[i].hex, bytes);
		play_open(&play, 4);
		play_piece(&play, 0, &piece);
		play_piece(&play, 0, &piece);
		ft_nccl_side_processes(play.side, &count);
		if (count != checks_in || play.contact_count != rows[i].is_told ||
		    (rows[i].is_told &&
		     (play.contacts[0].kind != kind || play.contacts[0].frame != 1 ||
		      play.contacts[0].magic != rows[i].magic)))
			fail_msg("%s", rows[i].sentence);
		play_close(&play);
	}
}

/* The SYNs were captured, or what a known magic stands in; and not all that comes before the message. */
static void a_hole_at_the_beginning_hides_nothing(void **state)
{
	static const struct {
		const char *sentence, *first, *hex;
		bool is_ras;
	} rows[] = {
		{ "all of the hello was lost", "", CHECK_IN_2_29, false },
		{ "the magic was lost", "", "01000000 " CHECK_IN_2_23, false },
		{ "the length was lost", JOB(1), "03000000 08000000 " AT_CLIENT AT_THIRD, false },
		{ "the kind of socket was lost", "8002800280028002", CHECK_IN_2_23, false },
		{ "all of RAS's hello was lost", "", KEEP_ALIVE("00*8", "00*8"), true },
		{ "RAS's kind of socket was lost", "6c9d4bfcf2b94a56", KEEP_ALIVE("00*8", "00*8"),
		  true },
	};
	static struct play play;

	(void)state;
	for (unsigned i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
		const unsigned row = i / 2;
		uint8_t bytes[FRAME_BYTES_MAX];
		struct play_piece piece = { .flags = PLAY_ACK, .bytes = bytes };

		piece.size = (uint32_t)frame_bytes(rows[row].first, bytes);
		play_open(&play, 4);
		if (i % 2 == 0)
			play_open_connection(&play, 0);
		if (piece.size != 0)
			play_piece(&play, 0, &piece);
		assert_int_equal(play.contact_count, 0);
		piece.at = 16;
		piece.size = (uint32_t)frame_bytes(rows[row].hex, bytes);
		play_piece(&play, 0, &piece);
		play_piece(&play, 0, &piece);
		if (play.contact_count != 1 ||
		    play.contacts[0].kind !=
			    (rows[row].is_ras ? FT_NCCL_CONTACT_RAS : FT_NCCL_CONTACT_BOOTSTRAP))
			fail_msg("%s, %u", rows[row].sentence, i % 2);
		play_close(&play);
	}
}

/* Slices that leave the front of a check-in, in one segment with its hello or in another one. */
static void a_cut_check_in_is_told_behind_its_hello(void **state)
{
	static const struct {
		const char *hello, *hex;
		uint32_t cut;
	} rows[] = {
		{ JOB(1), CHECK_IN_2_29, 140 },
		{ JOB(1), CHECK_IN_2_23, 100 },
		{ "", JOB(1) CHECK_IN_2_23, 100 },
		{ "", "40000000 03000000 08000000 " AT_CLIENT AT_THIRD, 20 },
	};
	static struct play play;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint8_t bytes[FRAME_BYTES_MAX];
		struct play_piece piece = { .flags = PLAY_ACK, .bytes = bytes };
		size_t count;

		play_open(&play, 4);
		play_open_connection(&play, 0);
		piece.size = (uint32_t)frame_bytes(rows[i].hello, bytes);
		if (piece.size != 0)
			play_piece(&play, 0, &piece);
		piece.at = piece.size;
		piece.size = (uint32_t)frame_bytes(rows[i].hex, bytes);
		piece.cut = rows[i].cut;
		play_piece(&play, 0, &piece);
		play_piece(&play, 0, &piece);
		ft_nccl_side_processes(play.side, &count);
		if (count != 1 || play.contact_count != 1 ||
		    play.contacts[0].kind != FT_NCCL_CONTACT_BOOTSTRAP ||
		    (play.contacts[0].magic == 0) != (i == 3))
			fail_msg("row %zu", i);
		play_close(&play);
	}
}

/* Of another job, or a watch that begins anew; and what of the first one comes late. */
static void ports_are_used_again_behind_a_hole(void **state)
{
	static const char *const first[] = { CHECK_IN_2_29, KEEP_ALIVE("00*8", "00*8") };
	static struct play play;

	(void)state;
	for (unsigned i = 0; i < 2 * sizeof first / sizeof *first; i++) {
		uint8_t bytes[FRAME_BYTES_MAX];
		struct play_piece piece = { .flags = PLAY_ACK, .at = 12, .bytes = bytes };

		piece.size = (uint32_t)frame_bytes(first[i / 2], bytes);
		play_open(&play, 4);
		play_piece(&play, 0, &piece);
		play_open_connection(&play, 0);
		play_piece(&play, 0, &piece);
		assert_int_equal(play.contact_count, 1);
		piece.at = 1 << 30;
		if (i % 2 == 0)
			play_piece(&play, 0,
				   &(struct play_piece){ .flags = PLAY_SYN, .at = piece.at });
		piece.size = (uint32_t)frame_bytes(CHECK_IN_2_23, bytes);
		play_piece(&play, 0, &piece);
		play_piece(&play, 0, &piece);
		assert_int_equal(play.contact_count, 2);
		assert_int_equal(play.contacts[1].kind, FT_NCCL_CONTACT_BOOTSTRAP);
		play_close(&play);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_shows_what_the_connection_is),
		cmocka_unit_test(a_hole_at_the_beginning_hides_nothing),
		cmocka_unit_test(a_cut_check_in_is_told_behind_its_hello),
		cmocka_unit_test(ports_are_used_again_behind_a_hole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
