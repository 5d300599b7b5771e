#include "inner_play.h"

#include <string.h>

#include <decode/packet.h>

#include "successor.h"

/*
 * Queue pair numbers that a later connection has by now: what goes where this one never asked for it is looked at as what
 * strangers send.
 */

enum { FIRST = 0x06, MIDDLE = 0x07, LAST = 0x08, ONLY = 0x0a, ONLY_IMM = 0x0b, READ = 0x0c };
enum { OTHER_KEY = 0x77, SIZES_KEY = 0x88 };

static struct inner *asking(void)
{
	struct inner *inner = inner_open(2);

	inner->followed->keys[0] = DATA_KEY;
	inner->followed->key_count = 1;
	inner->followed->model.sizes.rkeys[0] = SIZES_KEY;
	inner->followed->model.sizes.rkey_count = 1;
	return inner;
}

static struct ft_nccl_seen write_to(uint8_t opcode, uint32_t rkey, uint32_t psn)
{
	struct ft_nccl_seen seen = inner_write(opcode, 0, opcode == FIRST ? 4 * MTU : 64, psn + 1u);

	seen.rkey = rkey;
	seen.psn = psn;
	return seen;
}

static void see(struct inner *inner, uint8_t opcode, uint32_t rkey, uint32_t psn)
{
	const struct ft_nccl_seen seen = write_to(opcode, rkey, psn);
	const struct ft_nccl_moment moment = inner_moment(inner, 1, &seen);

	ft_nccl_successor_see(&moment);
}

static bool goes_on(struct inner *inner, uint8_t opcode, uint32_t rkey, uint32_t psn)
{
	const struct ft_nccl_seen seen = write_to(opcode, rkey, psn);
	const struct ft_nccl_moment moment = inner_moment(inner, 1, &seen);

	return ft_nccl_successor_goes_on(&moment);
}

/* Packets that were looked at as a stranger's; none of the tests shows more than one stranger. */
static unsigned strange(const struct inner *inner)
{
	const struct ft_nccl_stranger_table *table = &inner->connections->strangers;
	uint32_t at = 0;
	const struct ft_nccl_stranger *stranger = ft_nccl_stranger_logged(table, &at);
	struct ft_nccl_logged logged;
	unsigned packets = 0;

	if (table->strangers == NULL || stranger == NULL)
		return 0;
	for (uint32_t offset = 0; ft_nccl_log_next(stranger->log, &offset, &logged);)
		packets += logged.run;
	return packets;
}

static void what_goes_where_nobody_asked_for_it_is_a_strangers(void **state)
{
	static const struct {
		const char *what;
		uint32_t rkey;
		uint8_t opcode;
		bool is_strange;
	} rows[] = {
		{ "another key", OTHER_KEY, ONLY, true },
		{ "another key, of several packets", OTHER_KEY, FIRST, true },
		{ "another key, with an immediate", OTHER_KEY, ONLY_IMM, true },
		{ "a key that was announced", DATA_KEY, ONLY, false },
		{ "that of the sizes", SIZES_KEY, ONLY_IMM, false },
		{ "no key, as an end of its own has", 0, ONLY_IMM, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = asking();

		see(inner, rows[i].opcode, rows[i].rkey, 7);
		if (strange(inner) != (rows[i].is_strange ? 1 : 0))
			fail_msg("%s", rows[i].what);
		inner_close(inner);
	}
}

/* Where keys are not known, or cannot be read, nothing goes elsewhere; nor does what shows no key. */
static void without_keys_nothing_is_a_strangers(void **state)
{
	(void)state;
	for (unsigned lacks = 0; lacks < 3; lacks++) {
		struct inner *inner = asking();
		struct ft_nccl_seen seen = write_to(ONLY, OTHER_KEY, 7);
		const struct ft_nccl_moment moment = inner_moment(inner, 1, &seen);

		if (lacks == 0)
			inner->followed->key_count = 0;
		else if (lacks == 1)
			inner->followed->readable = 0;
		else
			seen.has &= ~(uint32_t)FT_HAS_RETH;
		ft_nccl_successor_see(&moment);
		assert_int_equal(strange(inner), 0);
		assert_false(moment.lane->succeeded);
		inner_close(inner);
	}
}

/* A sizes' key alone is no key of data: one that was announced long ago may have been forgotten. */
static void a_key_is_its_own_as_long_as_it_is_remembered(void **state)
{
	struct inner *inner = asking();

	(void)state;
	inner->followed->key_count = FT_NCCL_KEYS + 1;
	for (unsigned i = 0; i < FT_NCCL_KEYS; i++)
		inner->followed->keys[i] = 0x1000 + i;
	see(inner, ONLY, 0x1000 + FT_NCCL_KEYS - 1, 7);
	assert_int_equal(strange(inner), 0);
	see(inner, ONLY, DATA_KEY, 8);
	assert_int_equal(strange(inner), 1);
	inner_close(inner);
}

static void what_comes_behind_its_beginning_is_too(void **state)
{
	static const struct {
		const char *what;
		struct {
			uint8_t opcode;
			uint32_t rkey, psn;
		} packets[4];
		unsigned strange;
	} rows[] = {
		{ "all of it",
		  { { FIRST, OTHER_KEY, 7 }, { MIDDLE, 0, 8 }, { MIDDLE, 0, 9 }, { LAST, 0, 10 } },
		  4 },
		{ "not behind a hole",
		  { { FIRST, OTHER_KEY, 7 }, { MIDDLE, 0, 9 }, { LAST, 0, 10 } },
		  1 },
		{ "not once it went on elsewhere",
		  { { FIRST, OTHER_KEY, 7 }, { MIDDLE, 0, 9 }, { MIDDLE, 0, 8 } },
		  1 },
		{ "not its first packet again",
		  { { FIRST, OTHER_KEY, 7 }, { MIDDLE, 0, 7 }, { MIDDLE, 0, 8 } },
		  1 },
		{ "not what the connection's own began",
		  { { FIRST, DATA_KEY, 7 }, { MIDDLE, 0, 8 }, { LAST, 0, 9 } },
		  0 },
		{ "not behind the connection's own",
		  { { FIRST, OTHER_KEY, 7 }, { ONLY, DATA_KEY, 8 }, { MIDDLE, 0, 9 } },
		  1 },
		{ "the next one that begins, wherever its PSN is",
		  { { ONLY, OTHER_KEY, 7 }, { ONLY, OTHER_KEY, 100 } },
		  2 },
		{ "PSNs wrap",
		  { { FIRST, OTHER_KEY, 0xffffff }, { MIDDLE, 0, 0 }, { LAST, 0, 1 } },
		  3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = asking();

		for (unsigned n = 0; n < 4 && rows[i].packets[n].opcode != 0; n++)
			see(inner, rows[i].packets[n].opcode, rows[i].packets[n].rkey,
			    rows[i].packets[n].psn);
		if (strange(inner) != rows[i].strange)
			fail_msg("%s: %u", rows[i].what, strange(inner));
		inner_close(inner);
	}
}

static void its_next_write_goes_on_where_it_is_and_goes_elsewhere(void **state)
{
	struct inner *inner = asking();

	(void)state;
	assert_false(goes_on(inner, ONLY, OTHER_KEY, 8)); /* nothing began */
	see(inner, ONLY, OTHER_KEY, 7);
	assert_true(goes_on(inner, ONLY, OTHER_KEY, 8));
	assert_true(goes_on(inner, ONLY, OTHER_KEY, 8)); /* asking changes nothing */
	assert_false(goes_on(inner, ONLY, OTHER_KEY, 9));
	assert_false(goes_on(inner, ONLY, OTHER_KEY, 7));
	assert_false(goes_on(inner, ONLY, DATA_KEY, 8));
	see(inner, ONLY, DATA_KEY, 8);
	assert_false(goes_on(inner, ONLY, OTHER_KEY, 8));
	assert_false(goes_on(inner, ONLY, OTHER_KEY, 9));
	inner_close(inner);
}

static void queue_pairs_are_succeeded_one_by_one(void **state)
{
	struct inner *inner = asking();
	const struct ft_nccl_seen seen = write_to(ONLY, OTHER_KEY, 8);
	const struct ft_nccl_moment moment = inner_moment(inner, 0, &seen);

	(void)state;
	see(inner, ONLY, OTHER_KEY, 7);
	assert_false(ft_nccl_successor_goes_on(&moment));
	inner_close(inner);
}

/* --- to an end of the connection, but not from its peer --- */

#define SECOND_NS UINT64_C(1000000000)

/* Message 0 had its data at second 10. */
static struct inner *answered(void)
{
	struct inner *inner = asking();
	struct ft_nccl_transfer *transfer = inner_asked(inner, 0, 1);
	struct ft_nccl_share *share = inner_share(inner, transfer, 0);
	struct ft_nccl_party *receiver = &inner->followed->model.receiver;
	const struct ft_nccl_seen seen = inner_write(ONLY, 0, 64, 2);

	memcpy(receiver->places[0].address, seen.ends.dst, sizeof receiver->places[0].address);
	receiver->place_count = 1;
	transfer->message.first_frame = 2;
	share->used = share->begun = true;
	share->first.frame = 2;
	share->first.ts_ns = 10 * SECOND_NS;
	inner->followed->lanes[0].carried = true;
	return inner;
}

/* So many nanoseconds behind the message, from somebody else. */
static struct ft_nccl_seen other(uint8_t opcode, uint32_t rkey, uint64_t behind_ns)
{
	struct ft_nccl_seen seen = write_to(opcode, rkey, 7);

	seen.ends.src[15] = STRANGER;
	seen.ts_ns = 10 * SECOND_NS + behind_ns;
	return seen;
}

static void what_comes_from_others_is_a_strangers_once_messages_are_over(void **state)
{
	static const struct {
		const char *what;
		uint64_t behind_ns;
		bool is_strange;
	} rows[] = {
		{ "at once", 0, false },
		{ "within a second", SECOND_NS, false },
		{ "later", SECOND_NS + 1, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inner *inner = answered();
		const struct ft_nccl_seen seen = other(ONLY, OTHER_KEY, rows[i].behind_ns);

		ft_nccl_successor_see_other(inner->connections, inner->followed, &seen);
		if (strange(inner) != (rows[i].is_strange ? 1 : 0) || inner->found_count != 0)
			fail_msg("%s", rows[i].what);
		inner_close(inner);
	}
}

/* What was asked for, at the address that it was asked for at: forged, however much later. */
static void what_goes_to_the_connections_memory_is_never_a_strangers(void **state)
{
	struct inner *inner = answered();
	const struct ft_nccl_seen seen = other(ONLY, DATA_KEY, 5 * SECOND_NS);

	(void)state;
	ft_nccl_successor_see_other(inner->connections, inner->followed, &seen);
	assert_int_equal(strange(inner), 0);
	assert_int_equal(inner->found_count, 1);
	assert_int_equal(inner->found[0].fault, FT_NCCL_SECOND_WRITER);
	assert_int_equal(inner->found[0].frame, seen.frame);
	inner_close(inner);
}

/* A packet that shows no address goes nowhere of the connection's. */
static void only_what_begins_a_write_goes_to_memory(void **state)
{
	static const uint8_t opcodes[] = { MIDDLE, READ };

	(void)state;
	for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
		struct inner *inner = answered();
		struct ft_nccl_seen seen = other(opcodes[i], DATA_KEY, 0);

		ft_nccl_successor_see_other(inner->connections, inner->followed, &seen);
		assert_int_equal(inner->found_count, 0);
		inner_close(inner);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes_where_nobody_asked_for_it_is_a_strangers),
		cmocka_unit_test(without_keys_nothing_is_a_strangers),
		cmocka_unit_test(a_key_is_its_own_as_long_as_it_is_remembered),
		cmocka_unit_test(what_comes_behind_its_beginning_is_too),
		cmocka_unit_test(its_next_write_goes_on_where_it_is_and_goes_elsewhere),
		cmocka_unit_test(queue_pairs_are_succeeded_one_by_one),
		cmocka_unit_test(what_comes_from_others_is_a_strangers_once_messages_are_over),
		cmocka_unit_test(what_goes_to_the_connections_memory_is_never_a_strangers),
		cmocka_unit_test(only_what_begins_a_write_goes_to_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
