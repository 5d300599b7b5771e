#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <flow/loss_estimate.h>

#include <stdlib.h>

#include "tracker_world.h"

/* What the tracker tells of packets that are missing, and of those that would not show it. */

/* Longer than a bin has frames, READs are answered after they were sent: there, not here, what is missing would have been. */
static void responses_are_lost_where_they_were_overtaken(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	world_open(&world, true);
	world_send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 10, .more = MTU });
	for (uint32_t psn = 11; psn < 100; psn++)
		world_send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = psn });
	world_send(&world, &(struct packet){ .from = 'B', .opcode = ACK, .psn = 99 });
	world_send(&world,
		   &(struct packet){
			   .from = 'A', .opcode = SEND, .psn = 100, .after_us = 2 * MS / US });
	ft_tracker_totals(world.tracker, world.evidence);
	assert_int_equal(world.evidence->bins[1].holes, 0);
	assert_int_equal(world.evidence->bins[91].holes, 1);
	world_close(&world);
}

/* The next of a sequence of pseudo-random numbers, 0..99. */
static unsigned draw(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state % 100;
}

static uint8_t response_at(uint32_t psn, uint32_t packets)
{
	uint32_t at = psn % packets;

	if (at == 0)
		return RESP_FIRST;
	return at == packets - 1 ? RESP_LAST : RESP_MIDDLE;
}

/*
 * READs of `packets` responses, met behind the First of one, of which `percent` are lost, and nobody asks for them in view: how
 * many are lost, and the estimate.
 */
static void lose_responses(unsigned percent, uint32_t packets, uint64_t *lost,
			   struct ft_loss_estimate *estimate)
{
	struct world world = { .ts_ns = 1700000000000000000u };
	uint32_t state = percent;

	*lost = 0;
	world_open(&world, false);
	for (uint32_t psn = 1; psn < 80000; psn++) {
		if (draw(&state) >= percent)
			world_send(&world, &(struct packet){ .from = 'B',
							     .opcode = response_at(psn, packets),
							     .psn = psn });
		else
			++*lost;
	}
	ft_tracker_totals(world.tracker, world.evidence);
	ft_loss_estimate(world.evidence, 0, estimate);
	world_close(&world);
}

static void responses_alone_show_how_many_of_them_are_lost(void **state)
{
	(void)state;
	for (unsigned percent = 1; percent <= 21; percent += 10) {
		struct ft_loss_estimate estimate;
		uint64_t lost;

		lose_responses(percent, 4, &lost, &estimate);
		assert_in_range(estimate.frames, lost * 92 / 100, lost * 108 / 100);
		lose_responses(percent, 100000, &lost, &estimate); /* all of one READ */
		assert_in_range(estimate.frames, lost - 2, lost + 2);
	}
}

/* Of three requests that ask for an ACK two have their own; one at a time is looked at. */
static void an_ack_passes_over_what_it_was_not_asked_for(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	world_open(&world, true);
	world_ask(&world, 10, 10);
	world_ask(&world, 11, 12);
	world_ask(&world, 13, 13);
	assert_int_equal(world.evidence->timed, 3);
	assert_int_equal(world.evidence->passed_over, 1);
	world_close(&world);
}

static uint64_t ends(struct world *world)
{
	struct ft_loss_evidence *evidence = calloc(1, sizeof *evidence);
	uint64_t count;

	assert_non_null(evidence);
	ft_tracker_totals(world->tracker, evidence);
	count = evidence->ends;
	free(evidence);
	return count;
}

/* As long as no answer is behind it. */
static void nothing_would_show_that_the_last_response_is_missing(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	world_open(&world, true);
	world_send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 10, .more = MTU });
	assert_int_equal(ends(&world), 0);
	world_send(&world, &(struct packet){ .from = 'B', .opcode = RESP_ONLY, .psn = 10 });
	assert_int_equal(ends(&world), 1);
	world_ask(&world, 11, 11);
	assert_int_equal(ends(&world), 0);
	/* of three responses to a READ the first shows that it came: the request is not the last thing known of its half */
	world_send(&world,
		   &(struct packet){ .from = 'A', .opcode = READ, .psn = 12, .more = 3 * MTU });
	assert_int_equal(ends(&world), 1);
	world_send(&world, &(struct packet){ .from = 'B', .opcode = RESP_FIRST, .psn = 12 });
	assert_int_equal(ends(&world), 1);
	/* nor did it close a space if nobody was seen to ask for it */
	world_send(&world, &(struct packet){ .from = 'B', .opcode = RESP_ONLY, .psn = 15 });
	assert_int_equal(ends(&world), 0);
	world_close(&world);
}

/* The First that told whose it is closed no space either, but all behind it do. */
static void nor_is_the_response_missed_that_told_whose_it_is(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	world_open(&world, false);
	world_send(&world, &(struct packet){
				   .from = 'A', .opcode = READ, .psn = 0x800000, .more = 3 * MTU });
	world_send(&world, &(struct packet){ .from = 'B', .opcode = RESP_FIRST, .psn = 0x800000 });
	assert_int_equal(ends(&world), 0);
	world_send(&world, &(struct packet){ .from = 'B', .opcode = RESP_MIDDLE, .psn = 0x800001 });
	assert_int_equal(ends(&world), 1);
	world_close(&world);
}

/*
 * Halves that their source ports join, of which nobody is seen to answer: responses take PSNs elsewhere. READs of four PSNs
 * pass, so that four PSNs left out are one such READ at least.
 */
static void where_no_answers_are_in_view_a_read_lost_is_one_packet(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };
	struct ft_flow_key there = world_key('A'), back = world_key('B');

	(void)state;
	world_open(&world, false);
	ft_tracker_pair(world.tracker, &there, &back, FT_PAIRED_SOURCE_PORT);
	world_send(&world, &(struct packet){ .from = 'B', .opcode = SEND, .psn = 70 });
	for (uint32_t psn = 0; psn < 100; psn++)
		world_send(&world, &(struct packet){ .from = 'A', .opcode = FIRST, .psn = psn });
	world_send(&world, &(struct packet){ .from = 'A', .opcode = LAST, .psn = 100 });
	world_send(&world,
		   &(struct packet){ .from = 'A', .opcode = READ, .psn = 101, .more = 4 * MTU });
	world_send(&world,
		   &(struct packet){ .from = 'A', .opcode = READ, .psn = 105, .more = 4 * MTU });
	for (uint32_t psn = 113; psn < 1300; psn++)
		world_send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = psn });
	assert_int_equal(ft_tracker_totals(world.tracker, NULL).mirror_lost, 1);
	world_close(&world);
}

/* What begins far behind the beginning of the capture begins with a message, unless packets are missing. */
static void a_half_met_within_a_message_lacks_a_packet(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };
	uint64_t missing = 0;

	(void)state;
	world_open(&world, false);
	world_send(&world, &(struct packet){ .from = 'A', .opcode = MIDDLE, .psn = 10 });
	world.frame = FT_LOSS_FIRST_FRAMES;
	assert_int_equal(world.evidence->opened, 0);
	world_send(&world, &(struct packet){ .from = 'B', .opcode = FIRST, .psn = 10 });
	world_send(&world, &(struct packet){ .from = 'C', .opcode = MIDDLE, .psn = 10 });
	world_send(&world, &(struct packet){ .from = 'C', .opcode = LAST, .psn = 11 });
	world_send(&world, &(struct packet){ .from = 'D', .opcode = RESP_FIRST, .psn = 50 });
	world_send(&world, &(struct packet){ .from = 'E', .opcode = RESP_MIDDLE, .psn = 80 });
	world_send(&world, &(struct packet){ .from = 'E', .opcode = RESP_LAST, .psn = 81 });
	assert_int_equal(world.evidence->opened, 4);
	for (uint32_t i = 0; i < world.evidence->used; i++)
		missing += world.evidence->bins[i].missing[FT_LOSS_CUT];
	assert_int_equal(missing, 2);
	world_close(&world);
}

/* The ACK of one that is missing, whether or not others have passed behind it, and only the first one. */
static void an_ack_without_its_request_is_counted(void **state)
{
	const struct packet packets[] = {
		A(SEND, 10, 0), A(SEND, 12, 0), B(ACK, 11, 0),
		B(ACK, 11, 0),  B(ACK, 12, 0),  B(ACK, 13, 0),
	};
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	world_open(&world, JOINED);
	world_send_all(&world, packets, sizeof packets / sizeof *packets);
	assert_int_equal(world.evidence->acked_unseen, 1);
	assert_int_equal(world.evidence->ahead, 1);
	world_close(&world);
}

/* Of three messages that lack a packet or more two have an ACK of their own; so has one that lacks none, which does not count. */
static void messages_that_lack_packets_are_counted_with_their_acks(void **state)
{
	const struct packet packets[] = {
		A(SEND, 10, 0),          B(ACK, 10, 0, .msn = 1), A(SEND, 11, 0),
		B(ACK, 11, 0, .msn = 2), A(FIRST, 12, 0),         A(LAST, 14, 0),
		B(ACK, 14, 0, .msn = 3), A(SEND, 17, 0),          B(ACK, 17, 0, .msn = 5),
	};
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	world_open(&world, JOINED);
	world_send_all(&world, packets, sizeof packets / sizeof *packets);
	assert_int_equal(world.evidence->torn_counted, 3);
	assert_int_equal(world.evidence->torn_uncounted, 1);
	world_close(&world);
}

/* A loss that begins before the READ takes its responses as well, if it lasts. */
static void responses_are_as_near_to_the_beginning_as_requests(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };
	const uint8_t responses[] = { RESP_FIRST, RESP_MIDDLE, RESP_LAST };

	(void)state;
	world_open(&world, JOINED);
	world_send(&world,
		   &(struct packet){ .from = 'A', .opcode = READ, .psn = 10, .more = 3 * MTU });
	for (uint32_t i = 0; i < 3; i++)
		world_send(&world,
			   &(struct packet){ .from = 'B', .opcode = responses[i], .psn = 10 + i });
	world_send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 13 });
	for (unsigned i = 0; i <= 4; i++)
		assert_int_equal(world.evidence->near[i], i >= 1);
	world_close(&world);
}

/* The first message that is seen has two packets. Of more than 64 before it, the connection is from before the capture. */
static void the_first_count_tells_what_ended_before(void **state)
{
	const struct {
		uint8_t met;
		uint32_t msn;
		unsigned counted, older;
	} rows[] = { { JOINED, 1, 1, 0 },  { JOINED, 2, 1, 1 }, { JOINED, 65, 1, 1 },
		     { JOINED, 66, 0, 0 }, { JOINED, 0, 0, 0 }, /* some responders do not count */
		     { true, 2, 0, 0 } /* the set-up was seen, and nothing sent before it */ };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct world world = { .ts_ns = 1700000000000000000u };
		uint64_t older = 0;

		world_open(&world, rows[i].met);
		world_send(&world, &(struct packet){ .from = 'A', .opcode = FIRST, .psn = 10 });
		world_send(&world, &(struct packet){ .from = 'A', .opcode = LAST, .psn = 11 });
		world_send(&world,
			   &(struct packet){
				   .from = 'B', .opcode = ACK, .psn = 11, .msn = rows[i].msn });
		world_send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 12 });
		world_send(&world,
			   &(struct packet){ .from = 'B', .opcode = ACK, .psn = 12, .msn = 90 });
		for (uint32_t bin = 0; bin < world.evidence->used; bin++)
			older += world.evidence->bins[bin].missing[FT_LOSS_OLDER];
		assert_int_equal(world.evidence->counted, rows[i].counted);
		assert_int_equal(older, rows[i].older);
		world_close(&world);
	}
}

/* What is told of a half of 20 packets of which so many seem to have copies. */
static struct ft_loss_evidence *with_copies(struct world *world, unsigned copies)
{
	struct ft_flow_key key = world_key('A');
	struct ft_flow *flow;

	world_open(world, true);
	for (uint32_t psn = 10; psn < 30; psn++)
		world_send(world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = psn });
	flow = ft_flow_find(world->table, &key, ft_flow_hash(world->table, &key));
	for (unsigned i = 0; i < copies; i++)
		ft_tracker_see_copy(flow);
	ft_tracker_totals(world->tracker, world->evidence);
	return world->evidence;
}

static void copies_of_few_packets_may_be_none(void **state)
{
	struct world few = { 0 }, many = { 0 };

	(void)state;
	assert_int_equal(with_copies(&few, 4)->alike, 4);
	assert_int_equal(few.evidence->models, 4);
	world_close(&few);
	assert_int_equal(with_copies(&many, 7)->alike, 0);
	assert_int_equal(many.evidence->models, 0);
	world_close(&many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(responses_are_lost_where_they_were_overtaken),
		cmocka_unit_test(responses_alone_show_how_many_of_them_are_lost),
		cmocka_unit_test(where_no_answers_are_in_view_a_read_lost_is_one_packet),
		cmocka_unit_test(a_half_met_within_a_message_lacks_a_packet),
		cmocka_unit_test(an_ack_without_its_request_is_counted),
		cmocka_unit_test(messages_that_lack_packets_are_counted_with_their_acks),
		cmocka_unit_test(responses_are_as_near_to_the_beginning_as_requests),
		cmocka_unit_test(the_first_count_tells_what_ended_before),
		cmocka_unit_test(nothing_would_show_that_the_last_response_is_missing),
		cmocka_unit_test(nor_is_the_response_missed_that_told_whose_it_is),
		cmocka_unit_test(an_ack_passes_over_what_it_was_not_asked_for),
		cmocka_unit_test(copies_of_few_packets_may_be_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
