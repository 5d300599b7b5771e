#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tracker_world.h"

/* Scripts, and what a step says of the packet: a loss, the time that an answer took. */

/* Scripts do not tell: messages are counted, and what is resumed has cases of its own. */
#define UNTOLD ((uint32_t)(FT_STEP_MESSAGE | FT_STEP_RESUMED))

static void run(struct world *world, const struct script *script)
{
	for (const struct packet *packet = script->packets; packet->from != 0; packet++) {
		struct packet next = *packet;

		for (uint32_t i = 0; i <= packet->repeat; i++, next.psn++) {
			uint32_t what = world_send(world, &next).what;
			uint32_t shown = what & ~UNTOLD;

			if (packet->from == 'B') /* its first packet begins it */
				shown &= ~(uint32_t)FT_STEP_RESTART;
			if (shown != packet->wanted)
				fail_msg("%s: PSN %u is 0x%x, wanted 0x%x", script->sentence,
					 next.psn, shown, packet->wanted);
		}
	}
}

static void check_totals(const struct world *world, const struct script *script)
{
	struct ft_tracker_totals totals = ft_tracker_totals(world->tracker, NULL);
	const uint64_t *seen = (const uint64_t *)&totals;
	const uint64_t *wanted = (const uint64_t *)&script->wanted;

	/* whether the halves meet is the business of pairing: set-up, and both seen */
	for (size_t i = 0; i < sizeof totals / sizeof *seen; i++)
		if (seen[i] != wanted[i])
			fail_msg("%s: total %u is %u, wanted %u", script->sentence, (unsigned)i,
				 (unsigned)seen[i], (unsigned)wanted[i]);
}

static void check_messages(const struct world *world, const struct script *script)
{
	for (unsigned kind = 0; kind < FT_MESSAGE_KINDS; kind++)
		if (world->messages[kind] != script->messages[kind])
			fail_msg("%s: %u messages of kind %u", script->sentence,
				 (unsigned)world->messages[kind], kind);
	if (world->bytes != script->bytes)
		fail_msg("%s: %u bytes in messages", script->sentence, (unsigned)world->bytes);
}

static void check_evidence(struct world *world, const struct script *script)
{
	uint64_t holes = 0, told = 0;

	ft_tracker_totals(world->tracker, world->evidence);
	for (uint32_t i = 0; i < world->evidence->used; i++) {
		holes += world->evidence->bins[i].holes;
		told += world->evidence->bins[i].spaces + world->evidence->bins[i].silent;
	}
	assert_int_equal(holes, script->wanted.mirror_lost);
	assert_int_equal(told, world->frame);
	assert_int_equal(world->evidence->uncertain, script->uncertain);
}

static void check(const struct script *script)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	world_open(&world, script->met);
	run(&world, script);
	check_totals(&world, script);
	check_messages(&world, script);
	check_evidence(&world, script);
	world_close(&world);
}

static void every_script_is_read_as_it_was_meant(void **state)
{
	(void)state;
	for (size_t i = 0; i < tracker_script_count; i++)
		check(&tracker_scripts[i]);
	for (size_t i = 0; i < tracker_script_doubtful_count; i++)
		check(&tracker_scripts_doubtful[i]);
}

/* Nothing would show that a packet before the first of a life is missing, though its PSN is near those of the last. */
static void the_first_packet_of_a_life_closes_no_space(void **state)
{
	static const struct packet packets[] = {
		A(SEND, 10, 0),
		B(ACK, 10, 0, .msn = 1),
		A(SEND, 800, 0, .after_us = 20 * (MS / US)),
		B(ACK, 800, 0, .msn = 1),
		A(SEND, 801, 0),
		B(ACK, 801, 0, .msn = 2),
	};
	struct world world = { .ts_ns = 1700000000000000000u };
	uint64_t spaces = 0;

	(void)state;
	world_open(&world, true);
	for (size_t i = 0; i < sizeof packets / sizeof packets[0]; i++)
		world_send(&world, &packets[i]);
	for (uint32_t i = 0; i < world.evidence->used; i++)
		spaces += world.evidence->bins[i].spaces;
	assert_int_equal(spaces, 1);
	assert_int_equal(ft_loss_seen(world.evidence), 6);
	world_close(&world);
}

enum {
	NO_BEGIN = 0,
	BEGINS = FT_STEP_RESTART,
	RESUMES = FT_STEP_RESTART | FT_STEP_RESUMED,
	SILENCE_US = FT_RESUMED_NS / US,
	FAR = 5000000, /* a PSN of another sequence */
};

/* A sequence that begins is one resumed if the same half sent before, longer ago than the bound. */
static void what_begins_behind_a_silence_of_its_half_is_resumed(void **state)
{
	static const struct {
		const char *what;
		struct packet packets[8];
	} cases[] = {
		{ "the first packets of all",
		  { A(SEND, 10, BEGINS), B(ACK, 10, BEGINS, .after_us = 2 * SILENCE_US) } },
		{ "another sequence, just below the bound: it may be forged",
		  { A(SEND, 10, BEGINS), A(SEND, FAR, NO_BEGIN, .after_us = SILENCE_US - 1) } },
		{ ".. at it",
		  { A(SEND, 10, BEGINS), A(SEND, FAR, BEGINS, .after_us = SILENCE_US) } },
		{ ".. just above it",
		  { A(SEND, 10, BEGINS), A(SEND, FAR, RESUMES, .after_us = SILENCE_US + 1) } },
		{ ".. and what comes behind it",
		  { A(SEND, 10, BEGINS), A(SEND, FAR, RESUMES, .after_us = SILENCE_US + 1),
		    A(SEND, FAR + 1, NO_BEGIN) } },
		{ "the sequence that was",
		  { A(SEND, 10, BEGINS), A(SEND, 11, NO_BEGIN, .after_us = 2 * SILENCE_US) } },
		{ "a first request behind answers, just below the bound",
		  { A(SEND, 10, BEGINS), B(ACK, 10, BEGINS),
		    B(SEND, 70, BEGINS, .after_us = SILENCE_US - 1) } },
		{ ".. at it",
		  { A(SEND, 10, BEGINS), B(ACK, 10, BEGINS),
		    B(SEND, 70, BEGINS, .after_us = SILENCE_US) } },
		{ ".. just above it",
		  { A(SEND, 10, BEGINS), B(ACK, 10, BEGINS),
		    B(SEND, 70, RESUMES, .after_us = SILENCE_US + 1) } },
		{ ".. while the other half sent",
		  { A(SEND, 10, BEGINS), B(ACK, 10, BEGINS),
		    A(SEND, 11, NO_BEGIN, .after_us = SILENCE_US), B(SEND, 70, RESUMES) } },
		{ "the other half was silent",
		  { A(SEND, 10, BEGINS), B(ACK, 10, BEGINS),
		    B(ACK, 10, NO_BEGIN, .after_us = 2 * SILENCE_US), B(SEND, 70, BEGINS) } },
		{ "the third in a row of another sequence",
		  { A(SEND, 10, BEGINS), B(ACK, 10, BEGINS, .after_us = 2 * SILENCE_US),
		    A(SEND, FAR, NO_BEGIN), A(SEND, FAR + 1, NO_BEGIN),
		    A(SEND, FAR + 2, BEGINS) } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct world world = { .ts_ns = 1700000000000000000u };

		world_open(&world, true);
		for (const struct packet *packet = cases[i].packets; packet->from != 0; packet++) {
			const uint32_t what = world_send(&world, packet).what & RESUMES;

			if (what != packet->wanted)
				fail_msg("%s: packet %u is 0x%x, wanted 0x%x", cases[i].what,
					 (unsigned)world.frame, what, packet->wanted);
		}
		world_close(&world);
	}
}

/* The clocks of two taps: what was recorded before the packet that it comes behind was not silent. */
static void what_comes_from_before_is_not_resumed(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	world_open(&world, true);
	world_send(&world, &(struct packet)A(SEND, 10, BEGINS));
	world_send(&world, &(struct packet)B(ACK, 10, BEGINS));
	world.ts_ns -= MS;
	assert_int_equal(world_send(&world, &(struct packet)B(SEND, 70, BEGINS)).what & RESUMES,
			 BEGINS);
	world_close(&world);
}

/* A record that waited for its half's first packet. */
static void what_had_no_packet_is_not_resumed(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };
	const struct ft_flow_key key = world_key('A');

	(void)state;
	world_open(&world, true);
	assert_non_null(ft_flow_find_or_create(world.table, &key, ft_flow_hash(world.table, &key),
					       world.ts_ns));
	world.ts_ns += 2 * FT_RESUMED_NS;
	assert_int_equal(world_send(&world, &(struct packet)A(SEND, 10, BEGINS)).what & RESUMES,
			 BEGINS);
	world_close(&world);
}

/* Nothing is decided before late packets had time to come; then the packet that decides says so. */
static void a_loss_is_told_once_and_late(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };
	uint32_t told = 0, at = 0;
	struct ft_flow_key key = world_key('A');
	const struct ft_flow *flow;

	(void)state;
	world_open(&world, true);
	world_send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 10 });
	world_send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 13 });
	world_send(&world, &(struct packet){ .from = 'B', .opcode = ACK, .psn = 13 });
	flow = ft_flow_find(world.table, &key, ft_flow_hash(world.table, &key));
	assert_int_equal(ft_tracker_unsettled(world.tracker, flow).mirror_lost, 2);
	for (uint32_t psn = 14; psn < 300; psn++) {
		struct ft_step step = world_send(
			&world, &(struct packet){
					.from = 'A', .opcode = SEND, .psn = psn, .after_us = 30 });

		if (step.mirror_lost != 0)
			at = psn;
		told += step.mirror_lost;
		assert_true(step.mirror_lost == 0 ||
			    step.lost_flow == ft_flow_number(world.table, flow));
	}
	assert_int_equal(told, 2);
	assert_in_range(at, 13 + 63, 13 + 66);
	assert_int_equal(ft_tracker_unsettled(world.tracker, flow).mirror_lost, 0);
	world_close(&world);
}

/* The time that the answer to an atomic operation tells, so long after the packet before it. */
static uint64_t answered_after(struct world *world, uint32_t psn, uint32_t us)
{
	const struct packet answer = {
		.from = 'B', .opcode = ATOMIC_ACK, .psn = psn, .after_us = us
	};

	return world_send(world, &answer).rtt_ns;
}

static void the_time_from_request_to_answer_is_measured(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	world_open(&world, true);
	world_send(&world, &(struct packet){ .from = 'A', .opcode = FETCH_ADD, .psn = 10 });
	assert_int_equal(answered_after(&world, 10, 7), 7 * US);
	/* sent again: which of the two was answered is not known */
	world_send(&world, &(struct packet){ .from = 'A', .opcode = FETCH_ADD, .psn = 11 });
	world_send(&world, &(struct packet){
				   .from = 'A', .opcode = FETCH_ADD, .psn = 11, .after_us = 5000 });
	assert_int_equal(answered_after(&world, 11, 7), 0);
	world_close(&world);
}

/* The answer came before the halves were known to belong together: the next one is not for that request. */
static void an_answer_missed_before_pairing_is_not_waited_for(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };
	struct ft_flow_key there = world_key('A'), back = world_key('B');

	(void)state;
	world_open(&world, false);
	world_send(&world, &(struct packet){ .from = 'A', .opcode = FETCH_ADD, .psn = 10 });
	assert_int_equal(answered_after(&world, 10, 0), 0);
	ft_tracker_confirm(world.tracker, &there, &back, FT_PAIRED_NCCL);
	world_send(&world, &(struct packet){
				   .from = 'A', .opcode = FETCH_ADD, .psn = 11, .after_us = 5000 });
	assert_int_equal(answered_after(&world, 11, 7), 7 * US);
	world_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_script_is_read_as_it_was_meant),
		cmocka_unit_test(the_first_packet_of_a_life_closes_no_space),
		cmocka_unit_test(what_begins_behind_a_silence_of_its_half_is_resumed),
		cmocka_unit_test(what_comes_from_before_is_not_resumed),
		cmocka_unit_test(what_had_no_packet_is_not_resumed),
		cmocka_unit_test(a_loss_is_told_once_and_late),
		cmocka_unit_test(the_time_from_request_to_answer_is_measured),
		cmocka_unit_test(an_answer_missed_before_pairing_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
