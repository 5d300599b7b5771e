#include "tcp_play.h"

#include <stdio.h>
#include <string.h>

enum { STREAM_MAX = 5000, READY = 4, PIECES_MAX = 64, MSS = 1448 };

/* Set-ups of five releases, and what their programs knew: first queue pair and memory of both sides. */
static const struct release {
	const char *name;
	uint32_t sender_qpn, receiver_qpn;
	uint64_t fifo;
	uint32_t bytes; /* metadata */
	uint64_t magic;
} releases[] = {
	{ "2.10.3", 24, 35, 0x563668ce2120, 552, 0 },
	{ "2.19.3", 41, 27, 0x55b0bf66d820, 2600, FT_NCCL_MAGIC_SOCKET },
	{ "2.21.5", 17, 17, 0x7f7816b30100, 3336, FT_NCCL_MAGIC_SOCKET },
	{ "2.27.7", 24, 50, 0x7f775b667180, 3648, FT_NCCL_MAGIC_SOCKET },
	{ "2.30.7", 17, 17, 0x7fe832d3aa80, 4576, FT_NCCL_MAGIC_SOCKET },
};
enum { RELEASES = sizeof releases / sizeof *releases };

/* The same bytes as the program sends them. */
struct setup {
	const struct release *release;
	uint8_t bytes[2][STREAM_MAX];
	uint32_t size[2];
	struct play_piece pieces[PIECES_MAX];
	unsigned count;
};

static void load(struct setup *setup, const struct release *release)
{
	static const char *const sides[] = { "connecting", "listening" };

	*setup = (struct setup){ .release = release };
	for (unsigned end = 0; end < 2; end++) {
		char name[64];

		snprintf(name, sizeof name, "setup-%s-%s", release->name, sides[end]);
		setup->size[end] = play_load(name, setup->bytes[end], STREAM_MAX);
	}
}

static void add(struct setup *setup, enum play_end from, uint32_t at, uint32_t size)
{
	assert_true(setup->count < PIECES_MAX && at + size <= setup->size[from]);
	setup->pieces[setup->count++] = (struct play_piece){
		.from = from, .at = at, .bytes = setup->bytes[from] + at, .size = size
	};
}

/* From `at` on, in pieces of at most `most`. */
static void add_rest(struct setup *setup, enum play_end from, uint32_t at, uint32_t end,
		     uint32_t most)
{
	for (uint32_t size; at < end; at += size) {
		size = end - at < most ? end - at : most;
		add(setup, from, at, size);
	}
}

/* Hello and list, metadata, answer, ready word. */
static void add_all(struct setup *setup, uint32_t hello, uint32_t most)
{
	uint32_t ready = setup->size[PLAY_CLIENT] - READY;

	if (hello != 0)
		add(setup, PLAY_CLIENT, 0, hello);
	add_rest(setup, PLAY_CLIENT, hello, ready, most);
	add_rest(setup, PLAY_SERVER, 0, setup->size[PLAY_SERVER], most);
	add(setup, PLAY_CLIENT, ready, READY);
}

static void send_pieces(struct play *play, const struct setup *setup)
{
	for (unsigned i = 0; i < setup->count; i++)
		play_piece(play, 0, &setup->pieces[i]);
}

static const uint8_t client_address[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
static const uint8_t server_address[16] = { [10] = 0xff, 0xff, 10, 0, 0, 2 };

static bool is_told(const struct play *play, const struct setup *setup, uint64_t first,
		    uint64_t last)
{
	const struct release *release = setup->release;
	const struct play_exchange *exchange = &play->exchanges[0];
	const struct ft_nccl_exchange *told = &exchange->told;

	return play->exchange_count == 1 && exchange->sender.form->bytes == release->bytes &&
	       exchange->receiver.form == exchange->sender.form &&
	       exchange->sender.qpns[0] == release->sender_qpn &&
	       exchange->receiver.qpns[0] == release->receiver_qpn &&
	       exchange->sender.addr == release->fifo && told->connecting_port == 40000 &&
	       told->listening_port == 50000 && told->frames[0] == first &&
	       told->frames[1] == last && told->ts_ns == last * 1000 &&
	       memcmp(told->connecting.address, client_address, 16) == 0 &&
	       memcmp(told->listening.address, server_address, 16) == 0;
}

static bool is_contact(const struct play *play, const struct setup *setup, uint64_t frame)
{
	const struct ft_nccl_contact *contact = &play->contacts[0];

	return play->contact_count == 1 && contact->kind == FT_NCCL_CONTACT_SETUP &&
	       contact->frame == frame && contact->ts_ns == frame * 1000 &&
	       contact->magic == setup->release->magic && contact->connection == FT_NCCL_NONE &&
	       memcmp(contact->from.address, client_address, 16) == 0 &&
	       memcmp(contact->to.address, server_address, 16) == 0;
}

static void set_ups_of_all_releases_are_told_once(void **state)
{
	static const uint32_t hellos[] = { 8, 12, 32 };
	static struct setup setup;
	static struct play play;

	(void)state;
	for (unsigned i = 0; i < RELEASES; i++) {
		for (unsigned j = 0; j < sizeof hellos / sizeof *hellos; j++) {
			uint64_t hello_frame;

			load(&setup, &releases[i]);
			add_all(&setup, hellos[j], MSS);
			play_open(&play, 4);
			play_open_connection(&play, 0);
			send_pieces(&play, &setup);
			/* the hello is whole with the second piece if it was cut at 8 */
			hello_frame = hellos[j] == 8 ? 5 : 4;
			if (setup.release->magic == 0)
				hello_frame = play.frame;
			if (!is_told(&play, &setup, 1, play.frame) ||
			    !is_contact(&play, &setup, hello_frame))
				fail_msg("%s, hello of %u", releases[i].name, hellos[j]);
			send_pieces(&play, &setup);
			assert_int_equal(play.exchange_count, 1);
			assert_int_equal(play.contact_count, 1);
			play_close(&play);
		}
	}
}

static void swap(struct play_piece *a, struct play_piece *b)
{
	struct play_piece kept = *a;

	*a = *b;
	*b = kept;
}

/* Heap's algorithm; each order is sent once. */
static unsigned try_orders(struct setup *setup, unsigned count)
{
	static struct play play;
	unsigned tried = 0;

	if (count == 1) {
		play_open(&play, 2);
		play_open_connection(&play, 0);
		send_pieces(&play, setup);
		if (!is_told(&play, setup, 1, play.frame))
			fail_msg("%s in some order", setup->release->name);
		play_close(&play);
		return 1;
	}
	for (unsigned i = 0; i < count; i++) {
		tried += try_orders(setup, count - 1);
		swap(&setup->pieces[count % 2 == 1 ? 0 : i], &setup->pieces[count - 1]);
	}
	return tried;
}

static void the_order_of_segments_does_not_matter(void **state)
{
	static struct setup setup;

	(void)state;
	load(&setup, &releases[0]);
	add_all(&setup, 0, 200);
	assert_int_equal(setup.count, 7);
	assert_int_equal(try_orders(&setup, setup.count), 5040);
	load(&setup, &releases[3]);
	add_all(&setup, 32, 2000);
	assert_int_equal(setup.count, 6);
	assert_int_equal(try_orders(&setup, setup.count), 720);
}

static uint32_t next_random(uint32_t *random)
{
	*random = *random * 1664525 + 1013904223;
	return *random >> 8;
}

/* Pieces of odd sizes that overlap, in disorder; then the whole in order, so that nothing is missing. */
static void overlapping_and_repeated_pieces_are_put_together(void **state)
{
	static struct setup setup;
	static struct play play;
	uint32_t random = 1;

	(void)state;
	for (unsigned run = 0; run < 500; run++) {
		load(&setup, &releases[run % RELEASES]);
		for (unsigned i = 0; i < 20; i++) {
			enum play_end from = next_random(&random) % 2;
			uint32_t at = next_random(&random) % (setup.size[from] - 1);
			uint32_t size = 1 + next_random(&random) % 700;

			/* the ready word stays away until all else is there */
			if (from == PLAY_CLIENT && at + size > setup.size[from] - READY)
				continue;
			if (at + size > setup.size[from])
				size = setup.size[from] - at;
			add(&setup, from, at, size);
		}
		add_all(&setup, 1 + next_random(&random) % 12, 600 + next_random(&random) % 900);
		play_open(&play, 2);
		play_open_connection(&play, 0);
		send_pieces(&play, &setup);
		if (!is_told(&play, &setup, 1, play.frame))
			fail_msg("run %u, %s", run, setup.release->name);
		play_close(&play);
	}
}

static void nothing_is_told_of_a_set_up_with_a_segment_lost(void **state)
{
	static struct setup setup;
	static struct play play;

	(void)state;
	for (unsigned i = 0; i < RELEASES; i++) {
		load(&setup, &releases[i]);
		add_all(&setup, 8, 500);
		for (unsigned lost = 0; lost < setup.count; lost++) {
			play_open(&play, 2);
			play_open_connection(&play, 0);
			for (unsigned j = 0; j < setup.count; j++) {
				if (j != lost)
					play_piece(&play, 0, &setup.pieces[j]);
			}
			if (play.exchange_count != 0)
				fail_msg("%s without piece %u", releases[i].name, lost);
			/* it was the network that lost it: it comes again */
			play_piece(&play, 0, &setup.pieces[lost]);
			if (!is_told(&play, &setup, 1, play.frame))
				fail_msg("%s, piece %u late", releases[i].name, lost);
			play_close(&play);
		}
	}
}

/* All but the ready word. */
static void play_unready(struct play *play, struct setup *setup, const struct release *release)
{
	load(setup, release);
	add_all(setup, 12, MSS);
	setup->count--;
	play_open(play, 1);
	play_open_connection(play, 0);
	send_pieces(play, setup);
	assert_int_equal(play->exchange_count, 0);
}

static void a_lost_ready_word_is_known_from_what_follows(void **state)
{
	static struct setup setup;
	static struct play play;
	uint32_t all;

	(void)state;
	play_unready(&play, &setup, &releases[3]);
	all = setup.size[PLAY_CLIENT];
	play_piece(&play, 0,
		   &(struct play_piece){ .from = PLAY_SERVER,
					 .flags = PLAY_ACK,
					 .at = setup.size[PLAY_SERVER],
					 .acknowledged = all - READY });
	assert_int_equal(play.exchange_count, 0);
	play_piece(&play, 0,
		   &(struct play_piece){ .from = PLAY_SERVER,
					 .flags = PLAY_ACK,
					 .at = setup.size[PLAY_SERVER],
					 .acknowledged = all });
	assert_true(is_told(&play, &setup, 1, play.frame));
	play_close(&play);

	play_unready(&play, &setup, &releases[3]);
	play_piece(&play, 0, &(struct play_piece){ .from = PLAY_CLIENT, .at = all });
	assert_true(is_told(&play, &setup, 1, play.frame));
	play_close(&play);

	play_unready(&play, &setup, &releases[3]);
	play_piece(
		&play, 0,
		&(struct play_piece){ .from = PLAY_CLIENT, .flags = PLAY_FIN, .at = all - READY });
	assert_true(is_told(&play, &setup, 1, play.frame));
	play_close(&play);
}

static void a_set_up_that_makes_room_is_told_first(void **state)
{
	static struct setup setup;
	static struct play play;
	uint64_t last;

	(void)state;
	play_unready(&play, &setup, &releases[4]);
	last = play.frame;
	play_open_connection(&play, 1);
	assert_true(is_told(&play, &setup, 1, last));
	play_close(&play);
}

static void a_set_up_without_hello_needs_its_ready_word(void **state)
{
	static struct setup setup;
	static struct play play;

	(void)state;
	play_unready(&play, &setup, &releases[0]);
	play_piece(&play, 0,
		   &(struct play_piece){ .from = PLAY_SERVER,
					 .flags = PLAY_ACK,
					 .at = setup.size[PLAY_SERVER],
					 .acknowledged = setup.size[PLAY_CLIENT] });
	assert_int_equal(play.exchange_count, 0);
	assert_int_equal(play.contact_count, 0);
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
		load(&setup, &releases[2]);
		add_all(&setup, 8, MSS);
		setup.pieces[0].flags = PLAY_ACK; /* says where the server begins */
		play_open(&play, 2);
		for (unsigned i = 0; i < 3; i++) {
			if ((seen >> i & 1) != 0)
				play_piece(&play, 0, &opening[i]);
		}
		/* an ACK alone tells of nothing */
		send_pieces(&play, &setup);
		if (!is_told(&play, &setup, seen == 4 ? 2 : 1, play.frame))
			fail_msg("opened as %u", seen);
		play_close(&play);
	}
}

static void cut_payload_tells_of_the_contact_only(void **state)
{
	static struct setup setup;
	static struct play play;

	(void)state;
	load(&setup, &releases[4]);
	add_all(&setup, 12, MSS);
	for (unsigned i = 0; i < setup.count; i++) {
		if (setup.pieces[i].size > 62)
			setup.pieces[i].cut = setup.pieces[i].size - 62;
	}
	play_open(&play, 2);
	play_open_connection(&play, 0);
	send_pieces(&play, &setup);
	assert_int_equal(play.exchange_count, 0);
	assert_true(is_contact(&play, &setup, 4));
	play_close(&play);
}

static void ports_used_again_are_another_connection(void **state)
{
	static struct setup setup;
	static struct play play;

	(void)state;
	load(&setup, &releases[3]);
	add_all(&setup, 12, MSS);
	play_open(&play, 2);
	play_open_connection(&play, 0);
	send_pieces(&play, &setup);
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

/* Other protocols' first bytes, all from the client. */
static void what_is_something_else_takes_no_room(void **state)
{
	static const char *const others[] = {
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"SSH-2.0-OpenSSH_9.2p1\r\n",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x55\x66",
		"0000:000011:000123:456789:00201b44:00007f10a0002000",
	};
	static struct setup setup;
	static struct play play;

	(void)state;
	load(&setup, &releases[3]);
	add_all(&setup, 12, MSS);
	play_open(&play, 2);
	play_open_connection(&play, 0);
	for (unsigned i = 0; i < 40; i++) {
		const char *other = others[i % 4];

		play_open_connection(&play, 1 + i);
		play_piece(&play, 1 + i,
			   &(struct play_piece){ .from = PLAY_CLIENT,
						 .flags = PLAY_ACK,
						 .bytes = (const uint8_t *)other,
						 .size = 13 });
	}
	assert_int_equal(play.contact_count, 0);
	send_pieces(&play, &setup);
	assert_true(is_told(&play, &setup, 1, play.frame));
	play_close(&play);
}

static void the_idlest_makes_room(void **state)
{
	static struct setup setup;
	static struct play play;

	(void)state;
	load(&setup, &releases[3]);
	add_all(&setup, 12, MSS);
	play_open(&play, 2);
	play_open_connection(&play, 0);
	play_open_connection(&play, 1);
	play_piece(&play, 0, &setup.pieces[0]);
	play_open_connection(&play, 2);
	for (unsigned i = 1; i < setup.count; i++)
		play_piece(&play, 0, &setup.pieces[i]);
	assert_true(is_told(&play, &setup, 1, play.frame));
	play_close(&play);

	play_open(&play, 0);
	play_open_connection(&play, 0);
	send_pieces(&play, &setup);
	assert_int_equal(play.exchange_count, 0);
	play_close(&play);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_ups_of_all_releases_are_told_once),
		cmocka_unit_test(the_order_of_segments_does_not_matter),
		cmocka_unit_test(overlapping_and_repeated_pieces_are_put_together),
		cmocka_unit_test(nothing_is_told_of_a_set_up_with_a_segment_lost),
		cmocka_unit_test(a_lost_ready_word_is_known_from_what_follows),
		cmocka_unit_test(a_set_up_that_makes_room_is_told_first),
		cmocka_unit_test(a_set_up_without_hello_needs_its_ready_word),
		cmocka_unit_test(a_lost_syn_does_not_matter),
		cmocka_unit_test(cut_payload_tells_of_the_contact_only),
		cmocka_unit_test(ports_used_again_are_another_connection),
		cmocka_unit_test(what_is_something_else_takes_no_room),
		cmocka_unit_test(the_idlest_makes_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
