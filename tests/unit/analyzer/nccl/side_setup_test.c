#include "setup_play.h"

#include <limits.h>
#include <string.h>

static void set_ups_of_all_releases_are_told_once(void **state)
{
	static const uint32_t hellos[] = { 8, 12, 32 };
	static struct setup setup;
	static struct play play;

	(void)state;
	for (unsigned i = 0; i < SETUP_RELEASES; i++) {
		for (unsigned j = 0; j < sizeof hellos / sizeof *hellos; j++) {
			uint64_t hello_frame;

			setup_load(&setup, &setup_releases[i]);
			setup_add_all(&setup, hellos[j], SETUP_MSS);
			play_open(&play, 4);
			play_open_connection(&play, 0);
			setup_send(&play, &setup);
			/* the hello is whole with the second piece if it was cut at 8 */
			hello_frame = hellos[j] == 8 ? 5 : 4;
			if (setup.release->magic == 0)
				hello_frame = play.frame;
			if (!setup_is_told(&play, &setup, 1, play.frame) ||
			    !setup_is_contact(&play, &setup, hello_frame))
				fail_msg("%s, hello of %u", setup_releases[i].name, hellos[j]);
			setup_send(&play, &setup);
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
		setup_send(&play, setup);
		if (!setup_is_told(&play, setup, 1, play.frame))
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
	setup_load(&setup, &setup_releases[0]);
	setup_add_all(&setup, 0, 200);
	assert_int_equal(setup.count, 7);
	assert_int_equal(try_orders(&setup, setup.count), 5040);
	setup_load(&setup, &setup_releases[3]);
	setup_add_all(&setup, 32, 2000);
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
		setup_load(&setup, &setup_releases[run % SETUP_RELEASES]);
		for (unsigned i = 0; i < 20; i++) {
			enum play_end from = next_random(&random) % 2;
			uint32_t at = next_random(&random) % (setup.size[from] - 1);
			uint32_t size = 1 + next_random(&random) % 700;

			/* the ready word stays away until all else is there */
			if (from == PLAY_CLIENT && at + size > setup.size[from] - SETUP_READY)
				continue;
			if (at + size > setup.size[from])
				size = setup.size[from] - at;
			setup_add(&setup, from, at, size);
		}
		setup_add_all(&setup, 1 + next_random(&random) % 12,
			      600 + next_random(&random) % 900);
		play_open(&play, 2);
		play_open_connection(&play, 0);
		setup_send(&play, &setup);
		if (!setup_is_told(&play, &setup, 1, play.frame))
			fail_msg("run %u, %s", run, setup.release->name);
		play_close(&play);
	}
}

static void nothing_is_told_of_a_set_up_with_a_segment_lost(void **state)
{
	static struct setup setup;
	static struct play play;

	(void)state;
	for (unsigned i = 0; i < SETUP_RELEASES; i++) {
		setup_load(&setup, &setup_releases[i]);
		setup_add_all(&setup, 8, 500);
		for (unsigned lost = 0; lost < setup.count; lost++) {
			play_open(&play, 2);
			play_open_connection(&play, 0);
			for (unsigned j = 0; j < setup.count; j++) {
				if (j != lost)
					play_piece(&play, 0, &setup.pieces[j]);
			}
			if (play.exchange_count != 0)
				fail_msg("%s without piece %u", setup_releases[i].name, lost);
			/* it was the network that lost it: it comes again */
			play_piece(&play, 0, &setup.pieces[lost]);
			if (!setup_is_told(&play, &setup, 1, play.frame))
				fail_msg("%s, piece %u late", setup_releases[i].name, lost);
			play_close(&play);
		}
	}
}

static void a_lost_ready_word_is_known_from_what_follows(void **state)
{
	static struct setup setup;
	static struct play play;
	uint32_t all;

	(void)state;
	setup_send_unready(&play, &setup, &setup_releases[3]);
	all = setup.size[PLAY_CLIENT];
	play_piece(&play, 0,
		   &(struct play_piece){ .from = PLAY_SERVER,
					 .flags = PLAY_ACK,
					 .at = setup.size[PLAY_SERVER],
					 .acknowledged = all - SETUP_READY });
	assert_int_equal(play.exchange_count, 0);
	play_piece(&play, 0,
		   &(struct play_piece){ .from = PLAY_SERVER,
					 .flags = PLAY_ACK,
					 .at = setup.size[PLAY_SERVER],
					 .acknowledged = all });
	assert_true(setup_is_told(&play, &setup, 1, play.frame));
	play_close(&play);

	setup_send_unready(&play, &setup, &setup_releases[3]);
	play_piece(&play, 0, &(struct play_piece){ .from = PLAY_CLIENT, .at = all });
	assert_true(setup_is_told(&play, &setup, 1, play.frame));
	play_close(&play);

	setup_send_unready(&play, &setup, &setup_releases[3]);
	play_piece(&play, 0,
		   &(struct play_piece){
			   .from = PLAY_CLIENT, .flags = PLAY_FIN, .at = all - SETUP_READY });
	assert_true(setup_is_told(&play, &setup, 1, play.frame));
	play_close(&play);
}

static void a_set_up_without_hello_needs_its_ready_word(void **state)
{
	static struct setup setup;
	static struct play play;

	(void)state;
	setup_send_unready(&play, &setup, &setup_releases[0]);
	play_piece(&play, 0,
		   &(struct play_piece){ .from = PLAY_SERVER,
					 .flags = PLAY_ACK,
					 .at = setup.size[PLAY_SERVER],
					 .acknowledged = setup.size[PLAY_CLIENT] });
	assert_int_equal(play.exchange_count, 0);
	assert_int_equal(play.contact_count, 0);
	play_close(&play);
}

/* NCCL_SOCKET_MAGIC of 2.30.7: what has only the form of a hello is believed when the set-up is whole. */
static void a_magic_set_by_the_job_is_as_good(void **state)
{
	struct setup_release release = setup_releases[4];
	static struct setup setup;
	static struct play play;

	(void)state;
	setup_load(&setup, &release);
	setup.bytes[PLAY_CLIENT][0] = 0x6d;
	release.magic++; /* the lowest byte comes first */
	setup_add_all(&setup, 8, SETUP_MSS);
	play_open(&play, 2);
	play_open_connection(&play, 0);
	setup_send(&play, &setup);
	assert_true(setup_is_told(&play, &setup, 1, play.frame));
	assert_true(setup_is_contact(&play, &setup, play.frame));
	play_close(&play);
}

/* LIDs that look like the lengths of bootstrap's messages. */
static void a_lid_is_no_length(void **state)
{
	static const uint8_t lids[] = { 8, 28, 64, 120, 128, 136 };
	static struct setup setup;
	static struct play play;

	(void)state;
	for (unsigned i = 0; i < sizeof lids; i++) {
		setup_load(&setup, &setup_releases[0]);
		setup.bytes[PLAY_CLIENT][0] = lids[i];
		setup_add_all(&setup, 0, SETUP_MSS);
		play_open(&play, 2);
		play_open_connection(&play, 0);
		setup_send(&play, &setup);
		if (!setup_is_told(&play, &setup, 1, play.frame) ||
		    !setup_is_contact(&play, &setup, play.frame))
			fail_msg("LID %u", lids[i]);
		play_close(&play);
	}
}

static void sides_that_disagree_are_no_set_up(void **state)
{
	static struct setup setup, other;
	static struct play play;

	(void)state;
	setup_load(&setup, &setup_releases[1]);
	setup_load(&other, &setup_releases[2]);
	memcpy(setup.bytes[PLAY_SERVER], other.bytes[PLAY_SERVER], other.size[PLAY_SERVER]);
	setup.size[PLAY_SERVER] = other.size[PLAY_SERVER];
	setup_add_all(&setup, 12, SETUP_MSS);
	play_open(&play, 2);
	play_open_connection(&play, 0);
	setup_send(&play, &setup);
	assert_int_equal(play.exchange_count, 0);
	play_close(&play);

	setup_load(&setup, &setup_releases[3]);
	setup.bytes[PLAY_CLIENT][setup.size[PLAY_CLIENT] - SETUP_READY] = 2;
	setup_add_all(&setup, 12, SETUP_MSS);
	play_open(&play, 2);
	play_open_connection(&play, 0);
	setup_send(&play, &setup);
	assert_int_equal(play.exchange_count, 0);
	play_close(&play);
}

/* Opens a play and sends all pieces but one, each cut to so many bytes. */
static void send_cut(struct play *play, struct setup *setup, uint32_t most, unsigned lost)
{
	if (setup->count == 0)
		setup_add_all(setup, 12, SETUP_MSS);
	play_open(play, 2);
	play_open_connection(play, 0);
	for (unsigned i = 0; i < setup->count; i++) {
		struct play_piece *piece = &setup->pieces[i];

		piece->cut = piece->size > most ? piece->size - most : 0;
		if (i != lost)
			play_piece(play, 0, piece);
	}
}

/* 62 bytes are what 128 of an IPv4 frame leave. */
static void cut_payload_tells_of_the_first_queue_pairs(void **state)
{
	static struct setup setup;
	static struct play play;

	(void)state;
	for (unsigned i = 0; i < SETUP_RELEASES; i++) {
		const struct setup_release *release = &setup_releases[i];

		setup_load(&setup, release);
		send_cut(&play, &setup, 62, UINT_MAX);
		if (play.exchange_count != 0 || play.cut_count != 1 ||
		    play.cut.form->bytes != release->bytes ||
		    play.cut.sender_qpn != release->sender_qpn ||
		    play.cut.receiver_qpn != release->receiver_qpn ||
		    play.cut.tcp.connecting_port != 40000 || play.cut.tcp.listening_port != 50000 ||
		    play.cut.tcp.frames[0] != 1 || play.cut.tcp.frames[1] != play.frame)
			fail_msg("%s", release->name);
		if (release->magic != 0)
			assert_true(setup_is_contact(&play, &setup, 4));
		play_close(&play);
	}
}

/* 30 bytes are what 96 of an IPv4 frame leave: of 2.30's list of devices, which comes with the kind, not all. */
static void a_list_of_devices_that_is_cut_hides_no_set_up(void **state)
{
	enum { MAGIC = 8, HELLO = 12, LIST = 37, METADATA = 4576 };
	const struct setup_release *release = &setup_releases[4];
	static struct setup setup;
	static struct play play;

	(void)state;
	setup_load(&setup, release);
	setup_add(&setup, PLAY_CLIENT, 0, MAGIC);
	setup_add(&setup, PLAY_CLIENT, MAGIC, HELLO - MAGIC + LIST);
	setup_add(&setup, PLAY_SERVER, 0, LIST);
	setup_add(&setup, PLAY_CLIENT, HELLO + LIST, METADATA);
	setup_add(&setup, PLAY_SERVER, LIST, METADATA);
	setup_add(&setup, PLAY_CLIENT, HELLO + LIST + METADATA, SETUP_READY);
	send_cut(&play, &setup, 30, UINT_MAX);
	assert_int_equal(play.cut_count, 1);
	assert_int_equal(play.cut.form->bytes, METADATA);
	assert_int_equal(play.cut.sender_qpn, release->sender_qpn);
	assert_int_equal(play.cut.receiver_qpn, release->receiver_qpn);
	play_close(&play);
}

static void cut_payload_that_lacks_a_queue_pair_tells_nothing(void **state)
{
	static struct setup setup;
	static struct play play;

	(void)state;
	for (unsigned i = 0; i < SETUP_RELEASES; i++) {
		setup_load(&setup, &setup_releases[i]);
		send_cut(&play, &setup, 11, UINT_MAX);
		if (play.exchange_count != 0 || play.cut_count != 0)
			fail_msg("%s", setup_releases[i].name);
		play_close(&play);
	}
}

static void a_cut_set_up_is_told_once_at_most_with_a_segment_lost(void **state)
{
	static struct setup setup;
	static struct play play;

	(void)state;
	for (unsigned lost = 0, count = 1; lost < count; lost++) {
		setup_load(&setup, &setup_releases[3]);
		send_cut(&play, &setup, 62, lost);
		count = setup.count;
		if (play.exchange_count != 0 || play.cut_count > 1 ||
		    (play.cut_count == 1 && (play.cut.sender_qpn != setup_releases[3].sender_qpn ||
					     play.cut.form->bytes != setup_releases[3].bytes)))
			fail_msg("without piece %u", lost);
		play_close(&play);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_ups_of_all_releases_are_told_once),
		cmocka_unit_test(the_order_of_segments_does_not_matter),
		cmocka_unit_test(overlapping_and_repeated_pieces_are_put_together),
		cmocka_unit_test(nothing_is_told_of_a_set_up_with_a_segment_lost),
		cmocka_unit_test(a_lost_ready_word_is_known_from_what_follows),
		cmocka_unit_test(a_set_up_without_hello_needs_its_ready_word),
		cmocka_unit_test(a_magic_set_by_the_job_is_as_good),
		cmocka_unit_test(a_lid_is_no_length),
		cmocka_unit_test(sides_that_disagree_are_no_set_up),
		cmocka_unit_test(cut_payload_tells_of_the_first_queue_pairs),
		cmocka_unit_test(a_list_of_devices_that_is_cut_hides_no_set_up),
		cmocka_unit_test(cut_payload_that_lacks_a_queue_pair_tells_nothing),
		cmocka_unit_test(a_cut_set_up_is_told_once_at_most_with_a_segment_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
