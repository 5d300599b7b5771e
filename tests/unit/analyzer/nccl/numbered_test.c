#include "inner_play.h"

#include "numbered.h"

/* Where immediates are the numbers of messages (nccl-wire.md, section 3.4), data is of the message that it ends with. */

enum { ONLY_IMMEDIATE = 0x0b, LAST_IMMEDIATE = 0x09, ASKED = 10, PASSED = 20 };

static struct inner *open_numbered(uint8_t lanes)
{
	struct inner *inner = inner_open(lanes);

	inner->followed->model.imm_content = FT_NCCL_IMM_ID;
	return inner;
}

/* --- which message a write that begins and ends one is of --- */

static void a_write_of_one_packet_is_of_the_message_of_its_number(void **state)
{
	enum { NOT_YET = PASSED, DATA = 1, PACKETS = 2, NO_CTS = 4, LENGTHS = 8, FAILING = 16 };
	static const struct {
		const char *what;
		uint8_t opcode;
		uint64_t cts_frame, offset;
		uint32_t length, number;
		unsigned odd;
		bool is_of;
	} rows[] = {
		{ "of message 5", ONLY_IMMEDIATE, ASKED, 0, 64, 5, 0, true },
		{ "of another part of its buffer", ONLY_IMMEDIATE, ASKED, 64, 64, 5, 0, true },
		{ "asked for right before", ONLY_IMMEDIATE, PASSED - 1, 0, 64, 5, 0, true },
		{ "not asked for yet", ONLY_IMMEDIATE, NOT_YET, 0, 64, 5, 0, false },
		{ "not asked for at all", ONLY_IMMEDIATE, ASKED, 0, 64, 5, NO_CTS, false },
		{ "nobody asked for that number", ONLY_IMMEDIATE, ASKED, 0, 64, 6, 0, false },
		{ "it has data already", ONLY_IMMEDIATE, ASKED, 0, 64, 5, DATA, false },
		{ "of it came without a beginning", ONLY_IMMEDIATE, ASKED, 0, 64, 5, PACKETS,
		  false },
		{ "to elsewhere", ONLY_IMMEDIATE, ASKED, OFFERED, 64, 5, 0, false },
		{ "the end of a longer write", LAST_IMMEDIATE, ASKED, 0, 64, 5, 0, false },
		{ "immediates are lengths", ONLY_IMMEDIATE, ASKED, 0, 64, 5, LENGTHS, false },
		{ "a port has failed", ONLY_IMMEDIATE, ASKED, 0, 64, 5, FAILING, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = open_numbered(1);
		struct ft_nccl_transfer *transfer = inner_asked(inner, 5, rows[i].cts_frame);
		struct ft_nccl_seen seen = inner_write(rows[i].opcode, 5, rows[i].length, PASSED);
		const struct ft_nccl_moment moment = inner_moment(inner, 0, &seen);
		uint64_t k = 77;
		uint8_t request = 77;

		seen.va += rows[i].offset;
		seen.immdt = rows[i].number;
		transfer->has_cts = (rows[i].odd & NO_CTS) == 0;
		inner_share(inner, transfer, 0)->used = (rows[i].odd & DATA) != 0;
		inner_share(inner, transfer, 0)->packets = (rows[i].odd & PACKETS) != 0;
		if ((rows[i].odd & LENGTHS) != 0)
			inner->followed->model.imm_content = FT_NCCL_IMM_LENGTH;
		inner->followed->failing = (rows[i].odd & FAILING) != 0;
		if (ft_nccl_number_of(&moment, &k, &request) != rows[i].is_of)
			fail_msg("%s", rows[i].what);
		if (rows[i].is_of)
			assert_true(k == 5 && request == 0);
		inner_close(inner);
	}
}

/* The immediate has the low 32 bits of it: the message nearest to the next one of the queue pair. */
static void numbers_are_those_nearest_to_the_next_message(void **state)
{
	static const struct {
		uint64_t next, k;
	} rows[] = {
		{ 5, 5 },
		{ 5, 4 },
		{ UINT64_C(0x100000000), UINT64_C(0xffffffff) },
		{ UINT64_C(0xffffffff), UINT64_C(0x100000001) },
		{ UINT64_C(0x700000000), UINT64_C(0x700000007) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = open_numbered(1);
		struct ft_nccl_seen seen = inner_write(ONLY_IMMEDIATE, rows[i].k, 64, PASSED);
		const struct ft_nccl_moment moment = inner_moment(inner, 0, &seen);
		uint64_t k;
		uint8_t request;

		inner_asked(inner, rows[i].k, ASKED);
		inner->followed->lanes[0].next = rows[i].next;
		seen.immdt = (uint32_t)rows[i].k;
		assert_true(ft_nccl_number_of(&moment, &k, &request));
		assert_int_equal(k, rows[i].k);
		inner_close(inner);
	}
}

static void several_requests_and_bare_ends_do_not_tell_by_number(void **state)
{
	struct inner *inner = open_numbered(1);
	struct ft_nccl_transfer *transfer = inner_asked(inner, 5, ASKED);
	struct ft_nccl_seen seen = inner_write(ONLY_IMMEDIATE, 5, 64, PASSED);
	const struct ft_nccl_moment moment = inner_moment(inner, 0, &seen);
	uint64_t k;
	uint8_t request;

	(void)state;
	seen.immdt = 5;
	transfer->message.request_count = 2;
	assert_false(ft_nccl_number_of(&moment, &k, &request));
	transfer->message.request_count = 1;
	assert_true(ft_nccl_number_of(&moment, &k, &request));
	seen.has &= ~(uint32_t)FT_HAS_RETH;
	assert_false(ft_nccl_number_of(&moment, &k, &request));
	seen.has |= FT_HAS_RETH;
	seen.va = seen.length = seen.rkey = 0; /* section 3.2: the RETH all zero */
	assert_false(ft_nccl_number_of(&moment, &k, &request));
	inner_close(inner);
}

/* --- where what has ended belongs --- */

/* All of a message, as it was taken: so many bytes in two packets, from PSN 100 on, that end with this number. */
static struct ft_nccl_transfer *taken(struct inner *inner, uint64_t k, uint8_t lane,
				      uint32_t number)
{
	struct ft_nccl_transfer *transfer = inner_asked(inner, k, ASKED);
	struct ft_nccl_share *share = inner_share(inner, transfer, lane);
	struct ft_nccl_request *request = inner_request(inner, transfer);

	*share = (struct ft_nccl_share){
		.bytes = 1500,
		.first = { .va = buffer_of(number), .frame = 21, .length = 1500, .psn = 100 },
		.packets = 2,
		.from = 100,
		.to = 101,
		.used = true,
		.begun = true,
		.ended = true,
		.immdt = number,
		.requests = 1,
	};
	request->written = 1500;
	request->has_written = true;
	transfer->written = 1500;
	transfer->immdt = number;
	transfer->message.packets = 2;
	transfer->message.first_frame = 21;
	transfer->message.first_ts_ns = 21000;
	transfer->message.last_frame = 22;
	transfer->message.last_ts_ns = 22000;
	transfer->message.has_imm = true;
	ft_nccl_put_immediate(transfer->message.imm, number);
	transfer->message.protocol = FT_NCCL_LL;
	transfer->message.flag = 9;
	inner->followed->model.messages = 1;
	inner->followed->lanes[lane].at = k;
	inner->followed->lanes[lane].next = k + 1;
	inner->followed->lanes[lane].slack = 3;
	return transfer;
}

static struct ft_nccl_transfer *numbered(struct inner *inner, struct ft_nccl_transfer *transfer,
					 uint8_t lane)
{
	const struct ft_nccl_seen seen = inner_write(LAST_IMMEDIATE, 0, 0, 22);
	struct ft_nccl_moment moment = inner_moment(inner, lane, &seen);

	return ft_nccl_numbered(&moment, transfer);
}

static void data_taken_for_another_message_moves_to_its_own(void **state)
{
	struct inner *inner = open_numbered(1);
	struct ft_nccl_transfer *from = taken(inner, 5, 0, 7);
	struct ft_nccl_transfer *own = inner_asked(inner, 7, ASKED + 1);

	(void)state;
	from->doubtful = from->guessed = from->bare = own->adrift = true;
	assert_ptr_equal(numbered(inner, from, 0), own);
	assert_int_equal(own->message.k, 7);
	assert_int_equal(own->message.cts_frame, ASKED + 1);
	assert_int_equal(own->message.packets, 2);
	assert_int_equal(own->message.first_frame, 21);
	assert_int_equal(own->message.first_ts_ns, 21000);
	assert_int_equal(own->message.last_frame, 22);
	assert_int_equal(own->message.last_ts_ns, 22000);
	assert_true(own->message.has_imm);
	assert_memory_equal(own->message.imm, "\0\0\0\7", 4);
	assert_int_equal(own->message.protocol, FT_NCCL_LL);
	assert_int_equal(own->message.flag, 9);
	assert_int_equal(own->written, 1500);
	assert_int_equal(own->immdt, 7);
	assert_true(own->doubtful && own->guessed && own->bare);
	assert_false(own->adrift || own->sized);
	assert_int_equal(inner_request(inner, own)->written, 1500);
	assert_true(inner_request(inner, own)->has_written);
	assert_int_equal(inner_request(inner, own)->va, buffer_of(7));
	assert_int_equal(inner_share(inner, own, 0)->packets, 2);
	assert_int_equal(inner->followed->model.messages, 1);
	/* message 5 is asked for as before, and has nothing */
	assert_true(from->used && from->has_cts);
	assert_int_equal(from->message.packets, 0);
	assert_int_equal(from->message.first_frame, 0);
	assert_false(inner_share(inner, from, 0)->used);
	/* the lane is behind message 7 */
	assert_int_equal(inner->followed->lanes[0].at, 7);
	assert_int_equal(inner->followed->lanes[0].next, 8);
	assert_true(inner->followed->lanes[0].exact);
	assert_int_equal(inner->followed->lanes[0].slack, 0);
	inner_close(inner);
}

/* Another queue pair has brought its part of message 7 before: the two are one message. */
static void parts_of_a_message_come_together(void **state)
{
	struct inner *inner = open_numbered(2);
	struct ft_nccl_transfer *from, *own = taken(inner, 7, 1, 7);

	(void)state;
	own->message.first_frame = 15;
	own->message.last_frame = 16;
	own->message.protocol = FT_NCCL_SIMPLE;
	own->message.flag = 0;
	from = taken(inner, 5, 0, 7);
	inner->followed->model.messages = 2;
	assert_ptr_equal(numbered(inner, from, 0), own);
	assert_int_equal(inner->followed->model.messages, 1);
	assert_int_equal(own->message.packets, 4);
	assert_int_equal(own->written, 3000);
	assert_int_equal(inner_request(inner, own)->written, 3000);
	assert_int_equal(own->message.first_frame, 15);
	assert_int_equal(own->message.last_frame, 22);
	assert_int_equal(own->message.protocol, FT_NCCL_SIMPLE);
	assert_int_equal(own->message.flag, 0);
	assert_int_equal(inner_share(inner, own, 0)->packets, 2);
	assert_int_equal(inner_share(inner, own, 1)->packets, 2);
	inner_close(inner);
}

static void data_stays_where_it_cannot_be_anothers(void **state)
{
	enum { WHOLE = 1, OTHERS = 2, REQUESTS = 4, UNNUMBERED = 8, LENGTHS = 16, FULL = 32 };
	static const struct {
		const char *what;
		uint64_t asked;
		unsigned odd;
		int64_t offset;
		bool moves;
	} rows[] = {
		{ "message 7 asked for it", 7, WHOLE, 0, true },
		{ "it fills what was offered", 7, WHOLE, OFFERED - 1500, true },
		{ "it goes beyond", 7, WHOLE, OFFERED - 1499, false },
		{ "it goes before", 7, WHOLE, -1, false },
		{ "nobody asked for that number", 8, WHOLE, 0, false },
		{ "a packet of it is missing", 7, 0, 0, false },
		{ "another queue pair has a part of it here", 7, WHOLE | OTHERS, 0, false },
		{ "of several requests", 7, WHOLE | REQUESTS, 0, false },
		{ "of no known number", 7, WHOLE | UNNUMBERED, 0, false },
		{ "immediates are lengths", 7, WHOLE | LENGTHS, 0, false },
		{ "message 7 has data", 7, WHOLE | FULL, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = open_numbered(2);
		struct ft_nccl_transfer *from = taken(inner, 5, 0, 7);
		struct ft_nccl_transfer *other = inner_asked(inner, rows[i].asked, ASKED);
		const unsigned odd = rows[i].odd;

		inner_share(inner, from, 0)->first.va += (uint64_t)rows[i].offset;
		inner_share(inner, from, 0)->packets -= (odd & WHOLE) == 0;
		inner_share(inner, from, 1)->packets = (odd & OTHERS) != 0;
		other->message.request_count = (odd & REQUESTS) != 0 ? 2 : 1;
		from->message.has_k = (odd & UNNUMBERED) == 0;
		inner_share(inner, other, 0)->used = (odd & FULL) != 0;
		if ((odd & LENGTHS) != 0)
			inner->followed->model.imm_content = FT_NCCL_IMM_LENGTH;
		if (numbered(inner, from, 0) != (rows[i].moves ? other : from))
			fail_msg("%s", rows[i].what);
		if (!rows[i].moves)
			assert_int_equal(inner->followed->lanes[0].at, 5);
		inner_close(inner);
	}
}

/* A part that nothing was left for lies behind the end: section 2.4. */
static void an_empty_part_may_lie_behind_what_was_offered(void **state)
{
	static const struct {
		uint64_t offset;
		bool moves;
	} rows[] = { { OFFERED, true },
		     { OFFERED + (uint64_t)FT_NCCL_QPS_MAX * 128, true },
		     { OFFERED + (uint64_t)FT_NCCL_QPS_MAX * 128 + 1, false } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = open_numbered(1);
		struct ft_nccl_transfer *from = taken(inner, 5, 0, 7);
		struct ft_nccl_transfer *own = inner_asked(inner, 7, ASKED);

		inner_share(inner, from, 0)->first.length = 0;
		inner_share(inner, from, 0)->first.va += rows[i].offset;
		assert_ptr_equal(numbered(inner, from, 0), rows[i].moves ? own : from);
		inner_close(inner);
	}
}

/* What a clear-to-send asked for is not known: any address may be of it. */
static void what_was_not_read_may_be_anywhere(void **state)
{
	(void)state;
	for (unsigned what = 0; what < 3; what++) {
		struct inner *inner = open_numbered(1);
		struct ft_nccl_transfer *from = taken(inner, 5, 0, 7);
		struct ft_nccl_transfer *own = inner_asked(inner, 7, ASKED);
		struct ft_nccl_request *request = inner_request(inner, own);

		inner_share(inner, from, 0)->first.va = 0x1000;
		request->va = what == 0 ? 0 : request->va;
		request->by_data = what == 1;
		request->has_offered = what != 2;
		assert_ptr_equal(numbered(inner, from, 0), own);
		inner_close(inner);
	}
}

/* Lengths that the array of sizes told are the message's, whatever was written. */
static void lengths_that_were_told_move_with_it(void **state)
{
	struct inner *inner = open_numbered(1);
	struct ft_nccl_transfer *from = taken(inner, 5, 0, 7);
	struct ft_nccl_transfer *own = inner_asked(inner, 7, ASKED);

	(void)state;
	from->sized = true;
	inner_request(inner, from)->written = 4000;
	inner_request(inner, own)->written = 9;
	assert_ptr_equal(numbered(inner, from, 0), own);
	assert_int_equal(inner_request(inner, own)->written, 4000);
	assert_true(own->sized);
	inner_close(inner);
}

/* Nobody was seen to ask for either: where data went moves along. */
static void an_address_known_by_data_moves_if_none_is_known(void **state)
{
	(void)state;
	for (unsigned known = 0; known < 2; known++) {
		struct inner *inner = open_numbered(1);
		struct ft_nccl_transfer *from = taken(inner, 5, 0, 7);
		struct ft_nccl_transfer *own = inner_asked(inner, 7, ASKED);
		struct ft_nccl_request *request = inner_request(inner, own);

		inner_request(inner, from)->va = buffer_of(7) + 64;
		inner_request(inner, from)->by_data = true;
		request->va = known != 0 ? request->va : 0;
		assert_ptr_equal(numbered(inner, from, 0), own);
		assert_int_equal(request->va, buffer_of(7) + (known != 0 ? 0 : 64));
		assert_int_equal(request->by_data, known == 0);
		inner_close(inner);
	}
}

/* It was a guess which message each part is of; now every one has said so. */
static void a_message_is_adrift_until_each_part_has_its_number(void **state)
{
	static const struct {
		const char *what;
		uint32_t packets, number;
		bool adrift;
	} rows[] = {
		{ "the other part has its number", 2, 5, false },
		{ "it has another one", 2, 6, true },
		{ "it is not whole", 1, 5, true },
		{ "there is none", 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = open_numbered(2);
		struct ft_nccl_transfer *transfer = taken(inner, 5, 0, 5);
		struct ft_nccl_share *other = inner_share(inner, transfer, 1);

		*other = *inner_share(inner, transfer, 0);
		other->packets = rows[i].packets;
		other->immdt = rows[i].number;
		transfer->adrift = true;
		inner->followed->lanes[0].at = 6; /* behind it already */
		assert_ptr_equal(numbered(inner, transfer, 0), transfer);
		if (transfer->adrift != rows[i].adrift)
			fail_msg("%s", rows[i].what);
		assert_int_equal(inner->followed->lanes[0].at, 6);
		assert_int_equal(inner->followed->lanes[0].slack, 3);
		inner_close(inner);
	}
}

/* --- how queue pairs take turns --- */

/*
 * Bit 0: all share each message; bit n: n sets take turns. The third message of the second queue pair is number 2, 5 or 7, as
 * all share each, or two or three take turns.
 */
static void numbers_rule_out_ways_of_taking_turns(void **state)
{
	static const struct {
		enum ft_nccl_imm_content content;
		uint64_t left;
	} rows[] = {
		{ FT_NCCL_IMM_ID, 1 << 2 },
		{ FT_NCCL_IMM_LENGTH, 1 << 3 | 1 << 2 | 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = open_numbered(3);
		const struct ft_nccl_seen seen = inner_write(ONLY_IMMEDIATE, 5, 64, PASSED);
		struct ft_nccl_moment moment = inner_moment(inner, 1, &seen);

		inner->followed->model.imm_content = rows[i].content;
		moment.is_behind = moment.lane->counted = true;
		moment.lane->turns = 3;
		inner->followed->ways = 1 << 3 | 1 << 2 | 1;
		ft_nccl_numbered_weigh(&moment, 5);
		assert_int_equal(inner->followed->ways, rows[i].left);
		inner_close(inner);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_of_one_packet_is_of_the_message_of_its_number),
		cmocka_unit_test(numbers_are_those_nearest_to_the_next_message),
		cmocka_unit_test(several_requests_and_bare_ends_do_not_tell_by_number),
		cmocka_unit_test(data_taken_for_another_message_moves_to_its_own),
		cmocka_unit_test(parts_of_a_message_come_together),
		cmocka_unit_test(data_stays_where_it_cannot_be_anothers),
		cmocka_unit_test(an_empty_part_may_lie_behind_what_was_offered),
		cmocka_unit_test(what_was_not_read_may_be_anywhere),
		cmocka_unit_test(lengths_that_were_told_move_with_it),
		cmocka_unit_test(an_address_known_by_data_moves_if_none_is_known),
		cmocka_unit_test(a_message_is_adrift_until_each_part_has_its_number),
		cmocka_unit_test(numbers_rule_out_ways_of_taking_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
