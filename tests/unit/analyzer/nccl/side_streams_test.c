#include "setup_play.h"

static void a_set_up_that_makes_room_is_told_first(void **state)
{
	static struct setup setup;
	static struct play play;
	uint64_t last;

	(void)state;
	setup_send_unready(&play, &setup, &setup_releases[4]);
	last = play.frame;
	play_open_connection(&play, 1);
	assert_true(setup_is_told(&play, &setup, 1, last));
	play_close(&play);
}

static void a_lost_syn_does_not_matter(void **state)
{
	static const struct play_piece opening[] = {
		{ .from = PLAY_CLIENT, .flags = PLAY_SYN },
		{ .from = PLAY_SERVER, .flags = PLAY_SYN | PLAY_ACK },
		{ .from = PLAY_CLIENT, .flags = PLAY_ACK },
	};
	static struct setup setup;
	static struct play play;

	(void)state;
	for (unsigned seen = 0; seen < 8; seen++) {
		setup_load(&setup, &setup_releases[2]);
		setup_add_all(&setup, 8, SETUP_MSS);
		setup.pieces[0].flags = PLAY_ACK; /* says where the server begins */
		play_open(&play, 2);
		for (unsigned i = 0; i < 3; i++) {
			if ((seen >> i & 1) != 0)
				play_piece(&play, 0, &opening[i]);
		}
		/* an ACK alone tells of nothing */
		setup_send(&play, &setup);
		if (!setup_is_told(&play, &setup, seen == 4 ? 2 : 1, play.frame))
			fail_msg("opened as %u", seen);
		play_close(&play);
	}
}

static void ports_used_again_are_another_connection(void **state)
{
	static struct setup setup;
	static struct play play;

	(void)state;
	setup_load(&setup, &setup_releases[3]);
	setup_add_all(&setup, 12, SETUP_MSS);
	play_open(&play, 2);
	play_open_connection(&play, 0);
	setup_send(&play, &setup);
	assert_int_equal(play.exchange_count, 1);
	/* 77777 bytes on: another first number */
	play_piece(&play, 0,
		   &(struct play_piece){ .from = PLAY_CLIENT, .flags = PLAY_SYN, .at = 77777 });
	play_piece(&play, 0,
		   &(struct play_piece){ .from = PLAY_SERVER,
					 .flags = PLAY_SYN | PLAY_ACK,
					 .at = 77777,
					 .acknowledged = 77777 });
	for (unsigned i = 0; i < setup.count; i++) {
		struct play_piece piece = setup.pieces[i];

		piece.at += 77777;
		play_piece(&play, 0, &piece);
	}
	assert_int_equal(play.exchange_count, 2);
	assert_int_equal(play.contact_count, 2);
	play_close(&play);
}

/* Other protocols' first bytes, what only begins like NCCL, what is cut short, and what nobody answers. */
static void what_is_something_else_takes_no_room(void **state)
{
	static uint8_t like_metadata[700] = { [4] = 1, [8] = 24 };
	static uint8_t like_hello[5000] = { 1, 2, 3, 4, [8] = 4 };
	static const struct play_piece others[] = {
		{ .bytes = (const uint8_t *)"GET / HTTP/1.1\r\n", .size = 16 },
		{ .bytes = (const uint8_t *)"SSH-2.0-OpenSSH_9.2p1\r\n", .size = 23 },
		{ .bytes = (const uint8_t *)"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x55",
		  .size = 12 },
		{ .bytes = (const uint8_t *)"0000:000011:000123:456789:00201b44", .size = 34 },
		{ .bytes = (const uint8_t *)"0000", .size = 1000, .cut = 996 },
		{ .flags = PLAY_RST },
		{ .flags = PLAY_FIN },
		{ .bytes = like_metadata, .size = sizeof like_metadata },
		{ .bytes = like_hello, .size = sizeof like_hello },
	};
	static struct setup setup;
	static struct play play;
	unsigned count = sizeof others / sizeof *others;

	(void)state;
	setup_load(&setup, &setup_releases[3]);
	setup_add_all(&setup, 12, SETUP_MSS);
	for (unsigned i = 0; i < count; i++) {
		play_open(&play, 2);
		play_open_connection(&play, 0);
		for (unsigned j = 1; j <= 3; j++) {
			play_open_connection(&play, j);
			play_piece(&play, j, &others[i]);
		}
		assert_int_equal(play.contact_count, 0);
		setup_send(&play, &setup);
		if (!setup_is_told(&play, &setup, 1, play.frame))
			fail_msg("row %u", i);
		play_close(&play);
	}
}

static void the_idlest_makes_room(void **state)
{
	static struct setup setup;
	static struct play play;

	(void)state;
	setup_load(&setup, &setup_releases[3]);
	setup_add_all(&setup, 12, SETUP_MSS);
	play_open(&play, 2);
	play_open_connection(&play, 0);
	play_open_connection(&play, 1);
	play_piece(&play, 0, &setup.pieces[0]);
	play_open_connection(&play, 2);
	for (unsigned i = 1; i < setup.count; i++)
		play_piece(&play, 0, &setup.pieces[i]);
	assert_true(setup_is_told(&play, &setup, 1, play.frame));
	play_close(&play);

	play_open(&play, 0);
	play_open_connection(&play, 0);
	setup_send(&play, &setup);
	assert_int_equal(play.exchange_count, 0);
	play_close(&play);
}

static void a_syn_that_comes_late_corrects_what_was_inferred(void **state)
{
	static struct setup setup;
	static struct play play;

	(void)state;
	setup_load(&setup, &setup_releases[3]);
	setup_add_all(&setup, 12, SETUP_MSS);
	/* the hello was sent again, after the server had answered: what it acknowledges is no beginning */
	setup.pieces[0].flags = PLAY_ACK;
	setup.pieces[0].acknowledged = 20;
	play_open(&play, 2);
	play_piece(&play, 0, &setup.pieces[0]);
	play_piece(&play, 0,
		   &(struct play_piece){ .from = PLAY_SERVER, .flags = PLAY_SYN | PLAY_ACK });
	for (unsigned i = 1; i < setup.count; i++)
		play_piece(&play, 0, &setup.pieces[i]);
	assert_true(setup_is_told(&play, &setup, 1, play.frame));
	assert_int_equal(play.contact_count, 1);
	play_close(&play);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_up_that_makes_room_is_told_first),
		cmocka_unit_test(a_lost_syn_does_not_matter),
		cmocka_unit_test(a_syn_that_comes_late_corrects_what_was_inferred),
		cmocka_unit_test(ports_used_again_are_another_connection),
		cmocka_unit_test(what_is_something_else_takes_no_room),
		cmocka_unit_test(the_idlest_makes_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
