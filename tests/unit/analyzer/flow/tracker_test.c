#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracker_scripts.h"

struct world {
	struct ft_flow_table *table;
	struct ft_tracker *tracker;
	struct ft_loss_evidence *evidence;
	uint64_t ts_ns, frame, bytes;
	uint64_t messages[FT_MESSAGE_KINDS];
};

static struct ft_flow_key key_of(char from)
{
	struct ft_flow_key key = { .dest_qp = from == 'A' ? 2 : 1,
				   .vni = FT_FLOW_NO_VNI,
				   .base = FT_FLOW_ANY_BASE,
				   .vlan = FT_FLOW_ANY_VLAN };

	key.src[15] = (uint8_t)from;
	key.dst[15] = from == 'A' ? 'B' : 'A';
	return key;
}

static void open_world(struct world *world, uint8_t met)
{
	struct ft_tracker_config config = FT_TRACKER_DEFAULTS;
	struct ft_flow_key there = key_of('A'), back = key_of('B');

	world->evidence = calloc(1, sizeof *world->evidence);
	assert_non_null(world->evidence);
	ft_loss_init(world->evidence);
	assert_int_equal(ft_flow_table_create(&world->table, 16, 1), 0);
	assert_int_equal(ft_tracker_create(&world->tracker, &config, world->table, world->evidence),
			 0);
	if (met != false)
		ft_tracker_pair(world->tracker, &there, &back,
				met == JOINED ? FT_PAIRED_UD_SOURCE_QP : FT_PAIRED_CM);
}

static void close_world(struct world *world)
{
	ft_tracker_destroy(world->tracker);
	ft_flow_table_destroy(world->table);
	free(world->evidence);
}

static struct ft_observed observe(struct world *world, const struct packet *packet)
{
	world->ts_ns += (packet->after_us == 0 ? 10u : packet->after_us) * (uint64_t)US;
	return (struct ft_observed){
		.ts_ns = world->ts_ns,
		.frame = ++world->frame,
		.has = FT_OBSERVED_BTH | FT_OBSERVED_PAYLOAD | FT_OBSERVED_AETH |
		       (packet->more != 0 ? FT_OBSERVED_RETH : 0u) |
		       (packet->asks ? FT_OBSERVED_ACK_REQUEST : 0u),
		.opcode = packet->opcode,
		.psn = packet->psn,
		.payload = packet->opcode == READ || packet->opcode == ACK ? 0 : MTU,
		.length = packet->opcode == ACK ? packet->msn : packet->more,
		.syndrome = (uint8_t)packet->more,
	};
}

static struct ft_step send(struct world *world, const struct packet *packet)
{
	struct ft_observed observed = observe(world, packet);
	struct ft_flow_key key = key_of(packet->from);
	struct ft_flow *flow = ft_flow_find_or_create(
		world->table, &key, ft_flow_hash(world->table, &key), observed.ts_ns);
	struct ft_step step = { 0 };

	if (packet->damaged)
		ft_tracker_see_damaged(world->tracker, flow, &observed);
	else
		ft_tracker_step(world->tracker, flow, &observed, &step);
	flow->packets++;
	flow->bad_icrc += packet->damaged;
	flow->last_ns = observed.ts_ns;
	if (step.what & FT_STEP_MESSAGE) {
		world->messages[step.message_kind]++;
		world->bytes += step.message_bytes;
	}
	return step;
}

static void send_all(struct world *world, const struct packet *packets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		send(world, &packets[i]);
}

static void run(struct world *world, const struct script *script)
{
	for (const struct packet *packet = script->packets; packet->from != 0; packet++) {
		struct packet next = *packet;

		for (uint32_t i = 0; i <= packet->repeat; i++, next.psn++) {
			uint32_t what = send(world, &next).what;
			uint32_t shown = what & ~(uint32_t)FT_STEP_MESSAGE;

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

	open_world(&world, script->met);
	run(&world, script);
	check_totals(&world, script);
	check_messages(&world, script);
	check_evidence(&world, script);
	close_world(&world);
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
	open_world(&world, true);
	for (size_t i = 0; i < sizeof packets / sizeof packets[0]; i++)
		send(&world, &packets[i]);
	for (uint32_t i = 0; i < world.evidence->used; i++)
		spaces += world.evidence->bins[i].spaces;
	assert_int_equal(spaces, 1);
	assert_int_equal(ft_loss_seen(world.evidence), 6);
	close_world(&world);
}

/* Nothing is decided before late packets had time to come; then the packet that decides says so. */
static void a_loss_is_told_once_and_late(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };
	uint32_t told = 0, at = 0;
	struct ft_flow_key key = key_of('A');
	const struct ft_flow *flow;

	(void)state;
	open_world(&world, true);
	send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 10 });
	send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 13 });
	send(&world, &(struct packet){ .from = 'B', .opcode = ACK, .psn = 13 });
	flow = ft_flow_find(world.table, &key, ft_flow_hash(world.table, &key));
	assert_int_equal(ft_tracker_unsettled(world.tracker, flow).mirror_lost, 2);
	for (uint32_t psn = 14; psn < 300; psn++) {
		struct ft_step step = send(
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
	close_world(&world);
}

static struct ft_loss_bin total(const struct world *world)
{
	struct ft_loss_bin sum = { 0 };

	for (uint32_t i = 0; i < world->evidence->used; i++) {
		sum.spaces += world->evidence->bins[i].spaces;
		sum.silent += world->evidence->bins[i].silent;
		sum.again += world->evidence->bins[i].again;
	}
	return sum;
}

/* 11 and 12 are sent again: nobody has seen 11 before. */
static void go_back(struct world *world)
{
	send(world,
	     &(struct packet){ .from = 'B', .opcode = ACK, .psn = 11, .more = NAK_SEQUENCE });
	send(world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 11 });
	send(world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 12 });
}

static void what_passes_again_is_counted_by_how_often(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	open_world(&world, true);
	send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 10 });
	send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 12 });
	assert_int_equal(total(&world).spaces, 1);
	go_back(&world);
	assert_int_equal(total(&world).again, 1);
	assert_int_equal(world.evidence->twice, 1);
	assert_int_equal(world.evidence->filled, 1);
	go_back(&world);
	assert_int_equal(total(&world).spaces, 1);
	assert_int_equal(total(&world).again, 1);
	assert_int_equal(world.evidence->twice, 0);
	assert_int_equal(world.evidence->filled, 0);
	close_world(&world);
}

/* A READ for the rest of another one was never sent before; a response that came before was. */
static void a_read_for_the_rest_is_another_read(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	open_world(&world, true);
	send(&world, &(struct packet){ .from = 'A', .opcode = FIRST, .psn = 10 });
	send(&world, &(struct packet){ .from = 'A', .opcode = LAST, .psn = 11 });
	send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 12, .more = 3 * MTU });
	send(&world, &(struct packet){ .from = 'B', .opcode = RESP_FIRST, .psn = 12 });
	send(&world, &(struct packet){ .from = 'B', .opcode = RESP_LAST, .psn = 14 });
	send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 13, .more = 2 * MTU });
	assert_int_equal(total(&world).again, 0);
	send(&world, &(struct packet){ .from = 'B', .opcode = RESP_FIRST, .psn = 13 });
	send(&world, &(struct packet){ .from = 'B', .opcode = RESP_LAST, .psn = 14 });
	assert_int_equal(world.evidence->filled, 1);
	assert_int_equal(world.evidence->twice, 1);
	assert_int_equal(total(&world).again, 1);
	close_world(&world);
}

/* Its responses were all seen, and lost behind the tap: none was sent before with the PSN of the rest either. */
static void a_read_for_the_rest_of_what_was_answered_is_another_read(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	open_world(&world, true);
	send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 12, .more = 3 * MTU });
	send(&world, &(struct packet){ .from = 'B', .opcode = RESP_FIRST, .psn = 12 });
	send(&world, &(struct packet){ .from = 'B', .opcode = RESP_MIDDLE, .psn = 13 });
	send(&world, &(struct packet){ .from = 'B', .opcode = RESP_LAST, .psn = 14 });
	send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 13, .more = 2 * MTU });
	assert_int_equal(total(&world).again, 0);
	assert_int_equal(world.evidence->twice, 0);
	close_world(&world);
}

/* One that nothing was seen to answer, and one behind a write that is sent again with it, were sent before. */
static void a_whole_read_is_sent_again(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	open_world(&world, true);
	send(&world, &(struct packet){ .from = 'A', .opcode = FIRST, .psn = 10 });
	send(&world, &(struct packet){ .from = 'A', .opcode = LAST, .psn = 11 });
	send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 12, .more = 2 * MTU });
	send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 12, .more = 2 * MTU });
	assert_int_equal(total(&world).again, 1);
	assert_int_equal(world.evidence->twice, 1);
	send(&world, &(struct packet){ .from = 'B', .opcode = RESP_FIRST, .psn = 12 });
	send(&world, &(struct packet){ .from = 'B', .opcode = RESP_LAST, .psn = 13 });
	send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 14, .more = MTU });
	send(&world, &(struct packet){ .from = 'B', .opcode = RESP_ONLY, .psn = 14 });
	send(&world, &(struct packet){ .from = 'A', .opcode = LAST, .psn = 11 });
	send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 14, .more = MTU });
	assert_int_equal(total(&world).again, 3);
	assert_int_equal(world.evidence->twice, 3);
	close_world(&world);
}

/* Longer than a bin has frames, READs are answered after they were sent: there, not here, what is missing would have been. */
static void responses_are_lost_where_they_were_overtaken(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	open_world(&world, true);
	send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 10, .more = MTU });
	for (uint32_t psn = 11; psn < 100; psn++)
		send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = psn });
	send(&world, &(struct packet){ .from = 'B', .opcode = ACK, .psn = 99 });
	send(&world,
	     &(struct packet){ .from = 'A', .opcode = SEND, .psn = 100, .after_us = 2 * MS / US });
	ft_tracker_totals(world.tracker, world.evidence);
	assert_int_equal(world.evidence->bins[1].holes, 0);
	assert_int_equal(world.evidence->bins[91].holes, 1);
	close_world(&world);
}

/* Requests from `first` to `last`, all of which ask for an ACK; one comes for the last. */
static void ask_and_acknowledge(struct world *world, uint32_t first, uint32_t last)
{
	for (uint32_t psn = first; psn <= last; psn++)
		send(world,
		     &(struct packet){ .from = 'A', .opcode = SEND, .psn = psn, .asks = true });
	send(world, &(struct packet){ .from = 'B', .opcode = ACK, .psn = last });
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
	open_world(&world, false);
	for (uint32_t psn = 1; psn < 80000; psn++) {
		if (draw(&state) >= percent)
			send(&world, &(struct packet){ .from = 'B',
						       .opcode = response_at(psn, packets),
						       .psn = psn });
		else
			++*lost;
	}
	ft_tracker_totals(world.tracker, world.evidence);
	ft_loss_estimate(world.evidence, 0, estimate);
	close_world(&world);
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
	open_world(&world, true);
	ask_and_acknowledge(&world, 10, 10);
	ask_and_acknowledge(&world, 11, 12);
	ask_and_acknowledge(&world, 13, 13);
	assert_int_equal(world.evidence->timed, 3);
	assert_int_equal(world.evidence->passed_over, 1);
	close_world(&world);
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
	open_world(&world, true);
	send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 10, .more = MTU });
	assert_int_equal(ends(&world), 0);
	send(&world, &(struct packet){ .from = 'B', .opcode = RESP_ONLY, .psn = 10 });
	assert_int_equal(ends(&world), 1);
	ask_and_acknowledge(&world, 11, 11);
	assert_int_equal(ends(&world), 0);
	/* of three responses to a READ the first shows that it came: the request is not the last thing known of its half */
	send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 12, .more = 3 * MTU });
	assert_int_equal(ends(&world), 1);
	send(&world, &(struct packet){ .from = 'B', .opcode = RESP_FIRST, .psn = 12 });
	assert_int_equal(ends(&world), 1);
	/* nor did it close a space if nobody was seen to ask for it */
	send(&world, &(struct packet){ .from = 'B', .opcode = RESP_ONLY, .psn = 15 });
	assert_int_equal(ends(&world), 0);
	close_world(&world);
}

/*
 * Halves that their source ports join, of which nobody is seen to answer: responses take PSNs elsewhere. READs of four PSNs
 * pass, so that four PSNs left out are one such READ at least.
 */
static void where_no_answers_are_in_view_a_read_lost_is_one_packet(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };
	struct ft_flow_key there = key_of('A'), back = key_of('B');

	(void)state;
	open_world(&world, false);
	ft_tracker_pair(world.tracker, &there, &back, FT_PAIRED_SOURCE_PORT);
	send(&world, &(struct packet){ .from = 'B', .opcode = SEND, .psn = 70 });
	for (uint32_t psn = 0; psn < 100; psn++)
		send(&world, &(struct packet){ .from = 'A', .opcode = FIRST, .psn = psn });
	send(&world, &(struct packet){ .from = 'A', .opcode = LAST, .psn = 100 });
	send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 101, .more = 4 * MTU });
	send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 105, .more = 4 * MTU });
	for (uint32_t psn = 113; psn < 1300; psn++)
		send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = psn });
	assert_int_equal(ft_tracker_totals(world.tracker, NULL).mirror_lost, 1);
	close_world(&world);
}

/* What begins far behind the beginning of the capture begins with a message, unless packets are missing. */
static void a_half_met_within_a_message_lacks_a_packet(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };
	uint64_t missing = 0;

	(void)state;
	open_world(&world, false);
	send(&world, &(struct packet){ .from = 'A', .opcode = MIDDLE, .psn = 10 });
	world.frame = FT_LOSS_FIRST_FRAMES;
	assert_int_equal(world.evidence->opened, 0);
	send(&world, &(struct packet){ .from = 'B', .opcode = FIRST, .psn = 10 });
	send(&world, &(struct packet){ .from = 'C', .opcode = MIDDLE, .psn = 10 });
	send(&world, &(struct packet){ .from = 'C', .opcode = LAST, .psn = 11 });
	send(&world, &(struct packet){ .from = 'D', .opcode = RESP_FIRST, .psn = 50 });
	send(&world, &(struct packet){ .from = 'E', .opcode = RESP_MIDDLE, .psn = 80 });
	send(&world, &(struct packet){ .from = 'E', .opcode = RESP_LAST, .psn = 81 });
	assert_int_equal(world.evidence->opened, 4);
	for (uint32_t i = 0; i < world.evidence->used; i++)
		missing += world.evidence->bins[i].missing[FT_LOSS_CUT];
	assert_int_equal(missing, 2);
	close_world(&world);
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
	open_world(&world, JOINED);
	send_all(&world, packets, sizeof packets / sizeof *packets);
	assert_int_equal(world.evidence->acked_unseen, 1);
	assert_int_equal(world.evidence->ahead, 1);
	close_world(&world);
}

/* A loss that begins before the READ takes its responses as well, if it lasts. */
static void responses_are_as_near_to_the_beginning_as_requests(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };
	const uint8_t responses[] = { RESP_FIRST, RESP_MIDDLE, RESP_LAST };

	(void)state;
	open_world(&world, JOINED);
	send(&world, &(struct packet){ .from = 'A', .opcode = READ, .psn = 10, .more = 3 * MTU });
	for (uint32_t i = 0; i < 3; i++)
		send(&world,
		     &(struct packet){ .from = 'B', .opcode = responses[i], .psn = 10 + i });
	send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 13 });
	for (unsigned i = 0; i <= 4; i++)
		assert_int_equal(world.evidence->near[i], i >= 1);
	close_world(&world);
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

		open_world(&world, rows[i].met);
		send(&world, &(struct packet){ .from = 'A', .opcode = FIRST, .psn = 10 });
		send(&world, &(struct packet){ .from = 'A', .opcode = LAST, .psn = 11 });
		send(&world,
		     &(struct packet){ .from = 'B', .opcode = ACK, .psn = 11, .msn = rows[i].msn });
		send(&world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = 12 });
		send(&world, &(struct packet){ .from = 'B', .opcode = ACK, .psn = 12, .msn = 90 });
		for (uint32_t bin = 0; bin < world.evidence->used; bin++)
			older += world.evidence->bins[bin].missing[FT_LOSS_OLDER];
		assert_int_equal(world.evidence->counted, rows[i].counted);
		assert_int_equal(older, rows[i].older);
		close_world(&world);
	}
}

/* What is told of a half of 20 packets of which so many seem to have copies. */
static struct ft_loss_evidence *with_copies(struct world *world, unsigned copies)
{
	struct ft_flow_key key = key_of('A');
	struct ft_flow *flow;

	open_world(world, true);
	for (uint32_t psn = 10; psn < 30; psn++)
		send(world, &(struct packet){ .from = 'A', .opcode = SEND, .psn = psn });
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
	close_world(&few);
	assert_int_equal(with_copies(&many, 7)->alike, 0);
	assert_int_equal(many.evidence->models, 0);
	close_world(&many);
}

/* The time that the answer to an atomic operation tells, so long after the packet before it. */
static uint64_t answered_after(struct world *world, uint32_t psn, uint32_t us)
{
	const struct packet answer = {
		.from = 'B', .opcode = ATOMIC_ACK, .psn = psn, .after_us = us
	};

	return send(world, &answer).rtt_ns;
}

static void the_time_from_request_to_answer_is_measured(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	open_world(&world, true);
	send(&world, &(struct packet){ .from = 'A', .opcode = FETCH_ADD, .psn = 10 });
	assert_int_equal(answered_after(&world, 10, 7), 7 * US);
	/* sent again: which of the two was answered is not known */
	send(&world, &(struct packet){ .from = 'A', .opcode = FETCH_ADD, .psn = 11 });
	send(&world,
	     &(struct packet){ .from = 'A', .opcode = FETCH_ADD, .psn = 11, .after_us = 5000 });
	assert_int_equal(answered_after(&world, 11, 7), 0);
	close_world(&world);
}

/* The answer came before the halves were known to belong together: the next one is not for that request. */
static void an_answer_missed_before_pairing_is_not_waited_for(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };
	struct ft_flow_key there = key_of('A'), back = key_of('B');

	(void)state;
	open_world(&world, false);
	send(&world, &(struct packet){ .from = 'A', .opcode = FETCH_ADD, .psn = 10 });
	assert_int_equal(answered_after(&world, 10, 0), 0);
	ft_tracker_confirm(world.tracker, &there, &back, FT_PAIRED_NCCL);
	send(&world,
	     &(struct packet){ .from = 'A', .opcode = FETCH_ADD, .psn = 11, .after_us = 5000 });
	assert_int_equal(answered_after(&world, 11, 7), 7 * US);
	close_world(&world);
}

/* Of the half that this side sends. */
static int bits_of(const struct world *world, char from)
{
	const struct ft_flow_key key = key_of(from);
	const struct ft_flow *flow =
		ft_flow_find(world->table, &key, ft_flow_hash(world->table, &key));

	assert_non_null(flow);
	return flow->half.pair_bits;
}

enum { FAR_ON = 0x900000 }; /* a PSN that no two halves agree in by having begun at 0 */

static void each_answer_makes_a_pair_surer(void **state)
{
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	open_world(&world, false);
	for (unsigned answers = 1; answers <= 12; answers++) {
		int bits = 24 + 4 * ((int)answers - 1), sure = 60;

		ask_and_acknowledge(&world, FAR_ON + answers, FAR_ON + answers);
		assert_int_equal(bits_of(&world, 'A'), bits < sure ? bits : sure);
		assert_int_equal(bits_of(&world, 'B'), bits < sure ? bits : sure);
	}
	close_world(&world);
}

/* A READ of two packets, of a half whose path MTU is known, is answered; the next one is acknowledged. */
static void an_ack_for_a_read_takes_away_from_a_young_pair(void **state)
{
	static const struct packet packets[] = {
		{ .from = 'A', .opcode = FIRST, .psn = FAR_ON + 1 },
		{ .from = 'A', .opcode = LAST, .psn = FAR_ON + 2 },
		{ .from = 'A', .opcode = READ, .psn = FAR_ON + 3, .more = 2 * MTU },
		{ .from = 'B', .opcode = RESP_FIRST, .psn = FAR_ON + 3 },
		{ .from = 'B', .opcode = RESP_LAST, .psn = FAR_ON + 4 },
		{ .from = 'A', .opcode = READ, .psn = FAR_ON + 5, .more = 2 * MTU },
	};
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	open_world(&world, false);
	ask_and_acknowledge(&world, FAR_ON, FAR_ON);
	for (size_t i = 0; i < sizeof packets / sizeof packets[0]; i++)
		send(&world, &packets[i]);
	assert_int_equal(bits_of(&world, 'A'), 24 + 4);
	send(&world, &(struct packet){ .from = 'B', .opcode = ACK, .psn = FAR_ON + 5 });
	assert_int_equal(bits_of(&world, 'A'), 24 + 4 + 4 - 16);
	assert_int_equal(bits_of(&world, 'B'), 24 + 4 + 4 - 16);
	close_world(&world);
}

/* Had it been lost, the responses to the next READ would have told whose they are, and none to this one would be missing. */
static void the_response_that_tells_whose_it_is_would_not_show(void **state)
{
	static const struct packet packets[] = {
		{ .from = 'A', .opcode = FIRST, .psn = FAR_ON + 1 },
		{ .from = 'A', .opcode = LAST, .psn = FAR_ON + 2 },
		{ .from = 'A', .opcode = READ, .psn = FAR_ON + 3, .more = 2 * MTU },
		{ .from = 'B', .opcode = RESP_FIRST, .psn = FAR_ON + 3 },
		{ .from = 'B', .opcode = RESP_LAST, .psn = FAR_ON + 4 },
	};
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	open_world(&world, false);
	send_all(&world, packets, sizeof packets / sizeof packets[0]);
	assert_int_equal(world.evidence->replies, 1);
	assert_int_equal(world.evidence->answers_seen, 1);
	close_world(&world);
}

/* But where it is all that was answered the next one would show that it is missing. */
static void the_first_answer_would_show_if_it_is_whole(void **state)
{
	static const struct packet packets[] = {
		{ .from = 'A', .opcode = FETCH_ADD, .psn = FAR_ON + 1 },
		{ .from = 'A', .opcode = FETCH_ADD, .psn = FAR_ON + 2 },
		{ .from = 'B', .opcode = ATOMIC_ACK, .psn = FAR_ON + 2, .after_us = 10 },
		{ .from = 'A', .opcode = FETCH_ADD, .psn = FAR_ON + 3, .after_us = 2 * MS / US },
	};
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	open_world(&world, false);
	send_all(&world, packets, sizeof packets / sizeof packets[0]);
	assert_int_equal(world.evidence->answers_seen, 1);
	assert_int_equal(ft_tracker_totals(world.tracker, NULL).mirror_lost, 1);
	close_world(&world);
}

/*
 * The First and the Last response to a READ are lost, and whose the Middle is is not known. The rate of the others stands for both;
 * the Last is not due any more when the next READ tells.
 */
static void what_was_answered_before_the_halves_met_is_not_due(void **state)
{
	static const struct packet packets[] = {
		{ .from = 'A', .opcode = FIRST, .psn = FAR_ON + 1 },
		{ .from = 'A', .opcode = LAST, .psn = FAR_ON + 2 },
		{ .from = 'A', .opcode = READ, .psn = FAR_ON + 3, .more = 3 * MTU },
		{ .from = 'B', .opcode = RESP_MIDDLE, .psn = FAR_ON + 4 },
		{ .from = 'A', .opcode = READ, .psn = FAR_ON + 6, .more = 2 * MTU },
		{ .from = 'B', .opcode = RESP_FIRST, .psn = FAR_ON + 6 },
		{ .from = 'B', .opcode = RESP_LAST, .psn = FAR_ON + 7 },
		{ .from = 'A', .opcode = SEND, .psn = FAR_ON + 8, .after_us = 2 * MS / US },
	};
	struct world world = { .ts_ns = 1700000000000000000u };

	(void)state;
	open_world(&world, false);
	send_all(&world, packets, sizeof packets / sizeof packets[0]);
	assert_int_equal(world.evidence->replies, 1); /* the Middle */
	assert_int_equal(world.evidence->answers_seen, 2);
	assert_int_equal(ft_tracker_totals(world.tracker, NULL).mirror_lost, 0);
	close_world(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_script_is_read_as_it_was_meant),
		cmocka_unit_test(what_passes_again_is_counted_by_how_often),
		cmocka_unit_test(a_read_for_the_rest_is_another_read),
		cmocka_unit_test(a_read_for_the_rest_of_what_was_answered_is_another_read),
		cmocka_unit_test(a_whole_read_is_sent_again),
		cmocka_unit_test(responses_are_lost_where_they_were_overtaken),
		cmocka_unit_test(responses_alone_show_how_many_of_them_are_lost),
		cmocka_unit_test(where_no_answers_are_in_view_a_read_lost_is_one_packet),
		cmocka_unit_test(a_half_met_within_a_message_lacks_a_packet),
		cmocka_unit_test(an_ack_without_its_request_is_counted),
		cmocka_unit_test(responses_are_as_near_to_the_beginning_as_requests),
		cmocka_unit_test(the_first_count_tells_what_ended_before),
		cmocka_unit_test(nothing_would_show_that_the_last_response_is_missing),
		cmocka_unit_test(an_ack_passes_over_what_it_was_not_asked_for),
		cmocka_unit_test(copies_of_few_packets_may_be_none),
		cmocka_unit_test(the_first_packet_of_a_life_closes_no_space),
		cmocka_unit_test(a_loss_is_told_once_and_late),
		cmocka_unit_test(the_time_from_request_to_answer_is_measured),
		cmocka_unit_test(an_answer_missed_before_pairing_is_not_waited_for),
		cmocka_unit_test(each_answer_makes_a_pair_surer),
		cmocka_unit_test(an_ack_for_a_read_takes_away_from_a_young_pair),
		cmocka_unit_test(the_response_that_tells_whose_it_is_would_not_show),
		cmocka_unit_test(the_first_answer_would_show_if_it_is_whole),
		cmocka_unit_test(what_was_answered_before_the_halves_met_is_not_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
