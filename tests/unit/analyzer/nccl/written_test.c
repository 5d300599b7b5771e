#include "inner_play.h"

#include "numbered.h"
#include "written.h"

/* What a packet adds to its message: nccl-wire.md, sections 3.2 to 3.4 and 6. */

enum { FIRST = 0x06, MIDDLE = 0x07, LAST_IMMEDIATE = 0x09, ONLY = 0x0a, ONLY_IMMEDIATE = 0x0b };

/* --- where a write ends --- */

static void a_write_ends_by_its_length_and_the_path_mtu(void **state)
{
	static const struct {
		const char *what;
		uint8_t opcode;
		uint32_t psn, length, payload, end;
		uint16_t pmtu, learnt;
	} rows[] = {
		{ "a packet and a byte more", FIRST, 10, 1025, 1024, 11, 0, 1024 },
		{ "two whole packets", FIRST, 10, 2048, 1024, 11, 0, 1024 },
		{ "three, at the wrap", FIRST, 0xffffff, 3000, 1024, 1, 0, 1024 },
		{ "the least MTU there is", FIRST, 10, 1024, 256, 13, 0, 256 },
		{ "shorter than any MTU: that of before counts", FIRST, 10, 2048, 255, 11, 1024,
		  1024 },
		{ "no MTU is known", FIRST, 10, 2048, 255, 10, 0, 0 },
		{ "an empty first packet", FIRST, 10, 0, 0, 10, 1024, 1024 },
		{ "one packet", ONLY, 10, 4000, 1024, 10, 512, 512 },
		{ "one with an immediate", ONLY_IMMEDIATE, 10, 4000, 1024, 10, 512, 512 },
		{ "in the midst", MIDDLE, 10, 4000, 1024, 10, 512, 512 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = inner_open(1);
		struct ft_nccl_seen seen = inner_write(rows[i].opcode, 0, rows[i].length, 1);

		seen.psn = rows[i].psn;
		seen.payload_length = rows[i].payload;
		inner->followed->pmtu = rows[i].pmtu;
		if (ft_nccl_write_end(inner->followed, &seen) != rows[i].end ||
		    inner->followed->pmtu != rows[i].learnt)
			fail_msg("%s: MTU %u", rows[i].what, inner->followed->pmtu);
		inner_close(inner);
	}
}

static void a_packet_without_its_lengths_tells_no_end(void **state)
{
	struct inner *inner = inner_open(1);
	struct ft_nccl_seen seen = inner_write(FIRST, 0, 4000, 1);

	(void)state;
	seen.psn = 10;
	seen.has &= ~(uint32_t)FT_HAS_PAYLOAD_LENGTH;
	assert_int_equal(ft_nccl_write_end(inner->followed, &seen), 10);
	assert_int_equal(inner->followed->pmtu, 0);
	seen.has |= FT_HAS_PAYLOAD_LENGTH;
	seen.has &= ~(uint32_t)FT_HAS_RETH;
	inner->followed->pmtu = 1024;
	assert_int_equal(ft_nccl_write_end(inner->followed, &seen), 10);
	inner_close(inner);
}

/* --- counting --- */

static void packets_are_counted_by_message_and_queue_pair(void **state)
{
	struct inner *inner = inner_open(2);
	struct ft_nccl_transfer *transfer = inner_asked(inner, 3, 1);
	static const struct {
		uint8_t lane;
		uint64_t frame;
	} passed[] = { { 1, 20 }, { 0, 10 }, { 1, 30 } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const struct ft_nccl_seen seen = inner_write(MIDDLE, 3, 0, passed[i].frame);
		struct ft_nccl_moment moment = inner_moment(inner, passed[i].lane, &seen);

		ft_nccl_data_count(&moment, transfer);
		assert_int_equal(inner->followed->model.messages, 1);
	}
	assert_int_equal(transfer->message.packets, 3);
	assert_int_equal(inner_share(inner, transfer, 0)->packets, 1);
	assert_int_equal(inner_share(inner, transfer, 1)->packets, 2);
	assert_int_equal(transfer->message.first_frame, 10);
	assert_int_equal(transfer->message.first_ts_ns, 10000);
	assert_int_equal(transfer->message.last_frame, 30);
	assert_int_equal(transfer->message.last_ts_ns, 30000);
	inner_close(inner);
}

/* --- writes --- */

static void a_write_counts_for_its_request(void **state)
{
	struct inner *inner = inner_open(2);
	struct ft_nccl_transfer *transfer = inner_asked(inner, 3, 1);
	struct ft_nccl_request *requests = inner_request(inner, transfer);
	const struct ft_nccl_seen seen = inner_write(ONLY, 3, 700, 2);
	struct ft_nccl_moment moment = inner_moment(inner, 1, &seen);

	(void)state;
	requests[1] = requests[0];
	transfer->message.request_count = 2;
	ft_nccl_data_write(&moment, transfer, 1);
	ft_nccl_data_write(&moment, transfer, 1);
	ft_nccl_data_write(&moment, transfer, 0);
	assert_int_equal(transfer->written, 2100);
	assert_int_equal(inner->followed->model.payload_bytes, 2100);
	assert_int_equal(inner_share(inner, transfer, 1)->bytes, 2100);
	assert_int_equal(inner_share(inner, transfer, 1)->requests, 3);
	assert_int_equal(inner_share(inner, transfer, 0)->bytes, 0);
	assert_int_equal(requests[0].written, 700);
	assert_int_equal(requests[1].written, 1400);
	assert_true(requests[0].has_written && requests[1].has_written);
	assert_false(requests[0].by_data);
	inner_close(inner);
}

/* Lengths that the array of sizes told are not counted on. */
static void lengths_that_were_told_stay(void **state)
{
	struct inner *inner = inner_open(1);
	struct ft_nccl_transfer *transfer = inner_asked(inner, 3, 1);
	const struct ft_nccl_seen seen = inner_write(ONLY, 3, 700, 2);
	struct ft_nccl_moment moment = inner_moment(inner, 0, &seen);

	(void)state;
	transfer->sized = true;
	inner_request(inner, transfer)->written = 5000;
	ft_nccl_data_write(&moment, transfer, 0);
	assert_int_equal(inner_request(inner, transfer)->written, 5000);
	assert_int_equal(transfer->written, 700);
	inner_close(inner);
}

/* Section 3.4: an immediate that is not 0 says that more was written than the empty write shows. */
static void an_empty_write_says_how_much_there_is_only_if_its_immediate_does_not(void **state)
{
	static const struct {
		const char *what;
		uint32_t length, immdt;
		uint8_t requests;
		bool has_written;
	} rows[] = {
		{ "nothing, and that is all", 0, 0, 1, true },
		{ "nothing, of 1000 bytes", 0, 1000, 1, false },
		{ "nothing, of several requests, whose immediate is no length", 0, 3, 2, true },
		{ "one byte", 1, 1000, 1, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = inner_open(1);
		struct ft_nccl_transfer *transfer = inner_asked(inner, 3, 1);
		struct ft_nccl_seen seen = inner_write(ONLY_IMMEDIATE, 3, rows[i].length, 2);
		struct ft_nccl_moment moment = inner_moment(inner, 0, &seen);

		seen.immdt = rows[i].immdt;
		transfer->message.request_count = rows[i].requests;
		ft_nccl_data_write(&moment, transfer, 0);
		if (inner_request(inner, transfer)->has_written != rows[i].has_written)
			fail_msg("%s", rows[i].what);
		inner_close(inner);
	}
}

/* Nobody was seen to ask: what was written says where it went. */
static void without_a_clear_to_send_the_lowest_address_written_counts(void **state)
{
	struct inner *inner = inner_open(1);
	struct ft_nccl_transfer *transfer = ft_nccl_ring_begin(&inner->followed->ring, 3);
	static const int32_t offsets[] = { 4096, 8192, 1024, 2048 };
	static const uint64_t lowest[] = { 4096, 4096, 1024, 1024 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct ft_nccl_seen seen = inner_write(ONLY, 3, 64, 2);
		struct ft_nccl_moment moment = inner_moment(inner, 0, &seen);

		seen.va += (uint64_t)offsets[i];
		ft_nccl_data_write(&moment, transfer, i == 0 ? 2 : 0); /* it has no third one */
		assert_int_equal(transfer->message.request_count, 1);
		assert_int_equal(inner_request(inner, transfer)->va, buffer_of(3) + lowest[i]);
		assert_true(inner_request(inner, transfer)->by_data);
	}
	assert_int_equal(inner_request(inner, transfer)->written, 4 * 64);
	inner_close(inner);
}

static void what_was_asked_for_keeps_its_address(void **state)
{
	struct inner *inner = inner_open(1);
	struct ft_nccl_transfer *transfer = inner_asked(inner, 3, 1);
	struct ft_nccl_seen seen = inner_write(ONLY, 3, 64, 2);
	struct ft_nccl_moment moment = inner_moment(inner, 0, &seen);

	(void)state;
	seen.va -= 64;
	ft_nccl_data_write(&moment, transfer, 0);
	assert_int_equal(inner_request(inner, transfer)->va, buffer_of(3));
	assert_false(inner_request(inner, transfer)->by_data);
	inner_close(inner);
}

/* A further write of a message that nobody was seen to ask for: which of its requests it answers is not known. */
static void more_of_an_unknown_message_leaves_the_lengths_of_requests_open(void **state)
{
	static const struct {
		const char *what;
		uint32_t from, origin;
		bool begun;
	} rows[] = {
		{ "from where the queue pair was first seen", 100, 100, false },
		{ "behind that", 101, 100, true },
		{ "from its first packet of all", 0, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = inner_open(1);
		struct ft_nccl_transfer *transfer = ft_nccl_ring_begin(&inner->followed->ring, 3);
		struct ft_nccl_share *share = inner_share(inner, transfer, 0);
		const struct ft_nccl_seen seen = inner_write(ONLY, 3, 300, 2);
		struct ft_nccl_moment moment = inner_moment(inner, 0, &seen);

		inner_request(inner, transfer)->has_written = true;
		share->begun = true;
		share->from = rows[i].from;
		moment.lane->data.origin = rows[i].origin;
		ft_nccl_data_write_more(&moment, transfer);
		if (share->begun != rows[i].begun)
			fail_msg("%s", rows[i].what);
		assert_true(transfer->partial);
		assert_false(inner_request(inner, transfer)->has_written);
		assert_int_equal(transfer->written, 300);
		assert_int_equal(share->bytes, 300);
		assert_int_equal(inner->followed->model.payload_bytes, 300);
		inner_close(inner);
	}
}

/* --- the end --- */

static void an_immediate_ends_the_message_on_its_queue_pair(void **state)
{
	struct inner *inner = inner_open(2);
	struct ft_nccl_transfer *transfer = inner_asked(inner, 3, 1);
	struct ft_nccl_seen seen = inner_write(ONLY_IMMEDIATE, 3, 700, 9);
	struct ft_nccl_moment moment = inner_moment(inner, 1, &seen);

	(void)state;
	seen.immdt = 0x01020304;
	moment.lane->open = moment.lane->writing = true;
	moment.lane->at = 3;
	ft_nccl_data_end(&moment, transfer);
	assert_true(inner_share(inner, transfer, 1)->ended);
	assert_false(inner_share(inner, transfer, 0)->ended);
	assert_int_equal(inner_share(inner, transfer, 1)->immdt, 0x01020304);
	assert_int_equal(inner_share(inner, transfer, 1)->imm_frame, 9);
	assert_true(transfer->message.has_imm);
	assert_memory_equal(transfer->message.imm, "\1\2\3\4", 4);
	assert_int_equal(transfer->immdt, 0x01020304);
	assert_false(moment.lane->open || moment.lane->writing);
	inner_close(inner);
}

static void the_end_of_an_earlier_message_leaves_the_one_under_way_open(void **state)
{
	struct inner *inner = inner_open(1);
	struct ft_nccl_transfer *transfer = inner_asked(inner, 3, 1);
	const struct ft_nccl_seen seen = inner_write(ONLY_IMMEDIATE, 3, 700, 9);
	struct ft_nccl_moment moment = inner_moment(inner, 0, &seen);

	(void)state;
	moment.lane->open = moment.lane->writing = true;
	moment.lane->at = 4;
	ft_nccl_data_end(&moment, transfer);
	assert_true(inner_share(inner, transfer, 0)->ended);
	assert_true(moment.lane->open && moment.lane->writing);
	inner_close(inner);
}

/* --- protocols --- */

/*
 * Section 5 and 6: LL offers 65536 bytes and writes two for each, a multiple of 16; LL128 offers 614400 and writes in lines
 * of 2048 bytes; what ring SIMPLE offers is 1 MiB.
 */
static void a_message_over_several_queue_pairs_has_its_protocol_by_its_length(void **state)
{
	static const struct {
		const char *what;
		uint64_t offered, written;
		uint8_t requests;
		bool has_offered, has_written;
		enum ft_nccl_protocol protocol;
	} rows[] = {
		{ "a MiB was offered", 1 << 20, 1000, 1, true, true, FT_NCCL_SIMPLE },
		{ "a step of LL128 was", 614400, 2048, 1, true, true, FT_NCCL_LL128 },
		{ "a step of LL was", 65536, 64, 1, true, true, FT_NCCL_LL },
		{ "several requests", 1 << 20, 1000, 2, true, true, FT_NCCL_PROTOCOL_UNKNOWN },
		{ "an empty message", 1 << 20, 0, 1, true, true, FT_NCCL_PROTOCOL_UNKNOWN },
		{ "nothing is known of its size", 0, 1000, 1, false, false,
		  FT_NCCL_PROTOCOL_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = inner_open(2);
		struct ft_nccl_transfer *transfer = inner_asked(inner, 3, 1);
		struct ft_nccl_request *request = inner_request(inner, transfer);

		transfer->message.request_count = rows[i].requests;
		request->offered = rows[i].offered;
		request->has_offered = rows[i].has_offered;
		request->written = rows[i].written;
		request->has_written = rows[i].has_written;
		if (ft_nccl_protocol_of_whole(inner->followed, transfer) != rows[i].protocol)
			fail_msg("%s", rows[i].what);
		inner_close(inner);
	}
}

/* 8 bytes of data, a flag of 4 behind each 4 of them: section 6.1. */
static void put_ll(uint8_t line[16], uint8_t flag)
{
	memset(line, 0x11, 16);
	memset(line + 4, 0, 4);
	memset(line + 12, 0, 4);
	line[4] = line[12] = flag;
}

/* Only the first packet of a message tells its protocol, and only where payload can be read. */
static void the_first_packet_tells_the_protocol(void **state)
{
	static const struct {
		const char *what;
		bool blind, begun, straight, has_reth;
		uint8_t requests;
		enum ft_nccl_protocol protocol;
		uint64_t flag;
	} rows[] = {
		{ "lines of LL", false, false, false, true, 1, FT_NCCL_LL, 9 },
		{ "payload is encrypted", true, false, false, true, 1, FT_NCCL_LL, 0 },
		{ "messages go straight", false, false, true, true, 1, FT_NCCL_PROTOCOL_UNKNOWN,
		  0 },
		{ "a later packet", false, true, false, true, 1, FT_NCCL_PROTOCOL_UNKNOWN, 0 },
		{ "several requests", false, false, false, true, 2, FT_NCCL_PROTOCOL_UNKNOWN, 0 },
		{ "no RETH", false, false, false, false, 1, FT_NCCL_PROTOCOL_UNKNOWN, 0 },
	};
	static struct ft_nccl_straight straight; /* not looked at */
	uint8_t line[32];

	(void)state;
	put_ll(line, 9);
	put_ll(line + 16, 9);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = inner_open(1);
		struct ft_nccl_transfer *transfer = inner_asked(inner, 3, 1);
		struct ft_nccl_seen seen = inner_write(ONLY_IMMEDIATE, 3, sizeof line, 2);
		struct ft_nccl_moment moment = inner_moment(inner, 0, &seen);

		inner_request(inner, transfer)->offered = 65536;
		seen.payload = line;
		seen.captured = sizeof line;
		if (!rows[i].has_reth)
			seen.has &= ~(uint32_t)FT_HAS_RETH;
		inner->followed->blind = rows[i].blind;
		transfer->message.request_count = rows[i].requests;
		transfer->message.first_frame = rows[i].begun ? 1 : 0;
		inner->connections->straights = rows[i].straight ? &straight : NULL;
		ft_nccl_data_write(&moment, transfer, 0);
		inner->connections->straights = NULL;
		if (transfer->message.protocol != rows[i].protocol ||
		    transfer->message.flag != rows[i].flag)
			fail_msg("%s: %d, %d", rows[i].what, (int)transfer->message.protocol,
				 (int)transfer->message.flag);
		inner_close(inner);
	}
}

/* Before 2.12 parts are cut anywhere: no line is to be looked for in one. */
static void parts_of_old_releases_are_not_read(void **state)
{
	uint8_t line[32];

	(void)state;
	put_ll(line, 9);
	put_ll(line + 16, 9);
	for (uint8_t lanes = 1; lanes <= 2; lanes++) {
		struct inner *inner = inner_open(lanes);
		struct ft_nccl_transfer *transfer = inner_asked(inner, 3, 1);
		struct ft_nccl_seen seen = inner_write(ONLY_IMMEDIATE, 3, sizeof line, 2);
		struct ft_nccl_moment moment = inner_moment(inner, 0, &seen);

		inner->followed->model.has_family = true;
		inner->followed->model.family = FT_NCCL_B;
		inner_request(inner, transfer)->offered = 65536;
		seen.payload = line;
		seen.captured = sizeof line;
		ft_nccl_data_write(&moment, transfer, 0);
		assert_int_equal(transfer->message.flag, lanes == 1 ? 9 : 0);
		inner_close(inner);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_ends_by_its_length_and_the_path_mtu),
		cmocka_unit_test(a_packet_without_its_lengths_tells_no_end),
		cmocka_unit_test(packets_are_counted_by_message_and_queue_pair),
		cmocka_unit_test(a_write_counts_for_its_request),
		cmocka_unit_test(lengths_that_were_told_stay),
		cmocka_unit_test(
			an_empty_write_says_how_much_there_is_only_if_its_immediate_does_not),
		cmocka_unit_test(without_a_clear_to_send_the_lowest_address_written_counts),
		cmocka_unit_test(what_was_asked_for_keeps_its_address),
		cmocka_unit_test(more_of_an_unknown_message_leaves_the_lengths_of_requests_open),
		cmocka_unit_test(an_immediate_ends_the_message_on_its_queue_pair),
		cmocka_unit_test(the_end_of_an_earlier_message_leaves_the_one_under_way_open),
		cmocka_unit_test(a_message_over_several_queue_pairs_has_its_protocol_by_its_length),
		cmocka_unit_test(the_first_packet_tells_the_protocol),
		cmocka_unit_test(parts_of_old_releases_are_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
