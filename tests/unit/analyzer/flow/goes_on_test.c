#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tracker_world.h"

/*
 * Whose a packet in another VLAN is, by its PSN (docs/transport.md): that of the half-connection known so far, if it goes on
 * where that is, up to 256 missing, or back for a reason. PSNs are 24-bit and wrap (IBA vol. 1, 9.7.1).
 */

enum { UNKNOWN = 0x1f };
enum { BACK = FT_HALF_GOING_BACK, NAKED = FT_HALF_NAKED };

#define NONE FT_PSN_NONE
#define TOP  UINT32_C(0xffffff)
#define LAST UINT64_C(5000000000) /* when the half's last packet passed, ns */

/* What is known of the half (`asks`: the requests it sends; `gives`: answers), then what comes. */
struct asks_row {
	const char *what;
	uint32_t next, acked;
	uint8_t flags;
	uint64_t silent_ns;
	uint32_t psn;
	bool in_turns;
	enum ft_goes_on expected;
};

static const struct asks_row requests[] = {
	{ "the first one", NONE, NONE, 0, 10, 7, false, FT_GOES_FIRST },
	{ "the first one, though an answer to it came", NONE, 9, BACK, 10, 7, false,
	  FT_GOES_FIRST },
	{ "the next", 100, NONE, 0, 10, 100, false, FT_GOES_ON },
	{ "the next, in turns", 100, NONE, 0, 10, 100, true, FT_GOES_ON },
	{ "256 missing", 100, NONE, 0, 10, 356, false, FT_GOES_ON },
	{ "257 missing", 100, NONE, 0, 10, 357, false, FT_GOES_BACK },
	{ "256 missing over the end of the numbers", TOP, NONE, 0, 10, 255, false, FT_GOES_ON },
	{ "257 missing over the end of the numbers", TOP, NONE, 0, 10, 256, false, FT_GOES_BACK },
	{ "the next of who sends again", 100, 90, BACK, 10, 100, false, FT_GOES_ON },
	{ "the next beside one who sends again", 100, 90, BACK, 10, 100, true, FT_GOES_ASTRAY },
	{ "the next beside one who was asked to", 100, 90, NAKED, 10, 100, true, FT_GOES_ON },
	{ "again and nobody asked", 100, 90, 0, 10, 95, false, FT_GOES_BACK },
	{ "again and asked for", 100, 90, NAKED, 10, 95, false, FT_GOES_ON },
	{ "again, as others before it", 100, 90, BACK, 10, 95, false, FT_GOES_ON },
	{ "again, as others before it, in turns", 100, 90, BACK, 10, 95, true, FT_GOES_ON },
	{ "again after just less than a time-out", 100, 90, 0, 999999, 95, false, FT_GOES_BACK },
	{ "again after a time-out", 100, 90, 0, 1000000, 95, false, FT_GOES_ON },
	{ "again, the oldest that is open", 100, 90, NAKED, 10, 91, false, FT_GOES_ON },
	{ "again, the newest", 100, 90, NAKED, 10, 99, false, FT_GOES_ON },
	{ "asked for, but acknowledged", 100, 90, NAKED, 10, 90, false, FT_GOES_BACK },
	{ "asked for, and no answer seen so far", 100, NONE, NAKED, 10, 95, false, FT_GOES_BACK },
	{ "again over the end of the numbers", 5, TOP - 3, NAKED, 10, TOP, false, FT_GOES_ON },
	{ "65535 behind", 70000, NONE, 0, 10, 70000 - 65535, false, FT_GOES_BACK },
	{ "65536 behind", 70000, NONE, 0, 10, 70000 - 65536, false, FT_GOES_ASTRAY },
	{ "65535 ahead", 100, NONE, 0, 10, 65635, false, FT_GOES_BACK },
	{ "65536 ahead", 100, NONE, 0, 10, 65636, false, FT_GOES_ASTRAY },
	{ "65536 ahead over the end of the numbers", TOP, NONE, 0, 10, 65535, false,
	  FT_GOES_ASTRAY },
};

/* What a half answers; of the other half: none, or where its requests are. */
struct gives_row {
	const char *what;
	uint32_t answered, answer_next;
	bool has_peer;
	uint32_t peer_next;
	uint8_t peer_flags;
	uint32_t psn;
	enum ft_goes_on expected;
};

static const struct gives_row answers[] = {
	{ "the first, to nobody known", NONE, NONE, false, 0, 0, 7, FT_GOES_FIRST },
	{ "the first, to who asked nothing yet", NONE, NONE, true, NONE, 0, 7, FT_GOES_FIRST },
	{ "the first, to the newest request", NONE, NONE, true, 1000, 0, 999, FT_GOES_ON },
	{ "the first, to the 256th newest", NONE, NONE, true, 1000, 0, 744, FT_GOES_ON },
	{ "the first, to the 257th newest", NONE, NONE, true, 1000, 0, 743, FT_GOES_ASTRAY },
	{ "the first, to what was not asked", NONE, NONE, true, 1000, 0, 1000, FT_GOES_ASTRAY },
	{ "the first, over the end of the numbers", NONE, NONE, true, 3, 0, TOP, FT_GOES_ON },
	{ "the next", 100, NONE, false, 0, 0, 101, FT_GOES_ON },
	{ "the same once more", 100, NONE, false, 0, 0, 100, FT_GOES_BACK },
	{ "256 passed over", 100, NONE, false, 0, 0, 357, FT_GOES_ON },
	{ "257 passed over", 100, NONE, false, 0, 0, 358, FT_GOES_BACK },
	{ "the next of a READ", 600, 100, false, 0, 0, 100, FT_GOES_ON },
	{ "the next of a READ but 256", 800, 100, false, 0, 0, 356, FT_GOES_ON },
	{ "the next of a READ but 257", 800, 100, false, 0, 0, 357, FT_GOES_BACK },
	{ "the next over the end of the numbers", TOP, NONE, false, 0, 0, 0, FT_GOES_ON },
	{ "back, and nobody asks again", 100, NONE, true, 150, 0, 90, FT_GOES_BACK },
	{ "back, to who asks again", 100, NONE, true, 150, BACK, 90, FT_GOES_ON },
	{ "back, to who was told to ask again", 100, NONE, true, 150, NAKED, 90, FT_GOES_BACK },
	{ "far back, to who asks again", 70000, NONE, true, 70010, BACK, 4464, FT_GOES_ASTRAY },
	{ "nearly as far back, likewise", 70000, NONE, true, 70010, BACK, 4465, FT_GOES_ON },
	{ "far ahead", 100, NONE, false, 0, 0, 65636, FT_GOES_ASTRAY },
};

static struct ft_flow *half_of(struct world *world, char from)
{
	struct ft_flow_key key = world_key(from);

	return ft_flow_find_or_create(world->table, &key, ft_flow_hash(world->table, &key), LAST);
}

static void a_request_goes_on_by_its_psn(void **state)
{
	struct world world = { 0 };

	(void)state;
	world_open(&world, false);
	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
		const struct asks_row *row = &requests[i];
		struct ft_flow *flow = half_of(&world, 'A');
		struct ft_observed seen = { .ts_ns = LAST + row->silent_ns,
					    .opcode = SEND,
					    .psn = row->psn };

		flow->last_ns = LAST;
		flow->half.next_psn = row->next;
		flow->half.acked = row->acked;
		flow->half.flags = row->flags;
		print_message("%s\n", row->what);
		assert_int_equal(ft_tracker_goes_on(world.tracker, flow, &seen, row->in_turns),
				 row->expected);
	}
	world_close(&world);
}

static void an_answer_goes_on_by_what_was_asked(void **state)
{
	struct world world = { 0 };

	(void)state;
	world_open(&world, false);
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
		const struct gives_row *row = &answers[i];
		struct ft_flow *flow = half_of(&world, 'B'), *peer = half_of(&world, 'A');
		struct ft_observed seen = { .ts_ns = LAST + 10, .opcode = ACK, .psn = row->psn };

		flow->peer = row->has_peer ? ft_flow_number(world.table, peer) : 0;
		flow->half.answered = row->answered;
		flow->half.answer_next = row->answer_next;
		peer->half.next_psn = row->peer_next;
		peer->half.flags = row->peer_flags;
		print_message("%s\n", row->what);
		assert_int_equal(ft_tracker_goes_on(world.tracker, flow, &seen, false),
				 row->expected);
	}
	world_close(&world);
}

/* A request and an answer are each compared with their own kind: the other one's numbers say nothing. */
static void requests_and_answers_are_held_apart(void **state)
{
	struct world world = { 0 };
	struct ft_observed seen = { .ts_ns = LAST, .psn = 100 };
	struct ft_flow *flow;

	(void)state;
	world_open(&world, false);
	flow = half_of(&world, 'A');
	flow->half.next_psn = 100;
	flow->half.answered = 4000000;
	seen.opcode = SEND;
	assert_int_equal(ft_tracker_goes_on(world.tracker, flow, &seen, false), FT_GOES_ON);
	seen.opcode = ACK;
	assert_int_equal(ft_tracker_goes_on(world.tracker, flow, &seen, false), FT_GOES_ASTRAY);
	world_close(&world);
}

static void what_has_no_order_says_nothing_or_not_his(void **state)
{
	static const struct {
		uint8_t opcode;
		enum ft_goes_on expected;
	} rows[] = {
		{ UD_SEND, FT_GOES_ASTRAY }, /* datagrams, whatever their PSN */
		{ CNP, FT_GOES_UNSAID },
		{ UNKNOWN, FT_GOES_UNSAID },
	};
	struct world world = { 0 };
	struct ft_flow *flow;

	(void)state;
	world_open(&world, false);
	flow = half_of(&world, 'A');
	flow->half.next_psn = 100;
	flow->half.answered = 99;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_observed seen = { .ts_ns = LAST, .opcode = rows[i].opcode, .psn = 100 };

		assert_int_equal(ft_tracker_goes_on(world.tracker, flow, &seen, false),
				 rows[i].expected);
	}
	world_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_goes_on_by_its_psn),
		cmocka_unit_test(an_answer_goes_on_by_what_was_asked),
		cmocka_unit_test(requests_and_answers_are_held_apart),
		cmocka_unit_test(what_has_no_order_says_nothing_or_not_his),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
