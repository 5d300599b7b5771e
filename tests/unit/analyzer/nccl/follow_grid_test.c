#include "follow_play.h"

#include <string.h>

/*
 * A connection whose clear-to-sends are laid out as in no release, so that their PSNs number them: what is told of one that has not
 * its place, and that those behind it are none the less known.
 */

enum {
	SLOTS = 16,
	SLOT = 512,
	BEFORE = 40,
	AFTER = 20,
	KEY_AT = 16,
	COUNT_AT = 24,
	NUMBER_AT = 32
};

static struct packet own_of(const struct follow *follow, uint64_t k, unsigned slots)
{
	struct packet packet = clear_to_send('D', k, follow->cts_psn);
	const uint64_t va = buffer_of(k);
	const uint32_t size = OFFERED, key = DATA_KEY;

	memset(packet.bytes, 0, sizeof packet.bytes);
	memcpy(packet.bytes, &va, sizeof va);
	memcpy(packet.bytes + 8, &size, sizeof size);
	memcpy(packet.bytes + KEY_AT, &key, sizeof key);
	packet.bytes[COUNT_AT] = 1;
	packet.bytes[NUMBER_AT] = (uint8_t)(k + 1);
	packet.va = FIFO_AT + k % slots * SLOT;
	return packet;
}

static void talk(struct follow *follow, uint64_t from, uint64_t count, unsigned slots)
{
	for (uint64_t k = from; k < from + count; k++) {
		const struct packet packet = own_of(follow, k, slots);

		follow->cts_psn++;
		follow_packet(follow, &packet);
		answer(follow, k, 1500 + (uint32_t)k % 64 * 256);
		acknowledge_both(follow);
	}
}

/* Messages have their data, but for one that two asked for. */
static void expect(struct follow *follow, enum ft_nccl_fault fault, uint64_t frame,
		   uint64_t disputed)
{
	assert_int_equal(follow->found_count, 1);
	assert_int_equal(follow->found[0].fault, fault);
	assert_int_equal(follow->found[0].frame, frame);
	follow_keep(follow);
	for (uint64_t k = 8; k < BEFORE + AFTER; k++)
		assert_int_equal(follow_message(follow, k)->completed, k != disputed);
	follow_stop(follow);
}

/* Between two messages. `is_counted`: those behind it have the next PSNs. */
static void one_more(uint64_t of, uint64_t slot, uint32_t key, bool is_counted,
		     enum ft_nccl_fault fault)
{
	struct follow *follow = follow_start('D');
	struct packet packet;
	uint64_t frame;

	talk(follow, 0, BEFORE, SLOTS);
	packet = own_of(follow, of, SLOTS);
	packet.va = FIFO_AT + slot % SLOTS * SLOT;
	packet.rkey = key;
	frame = follow_packet(follow, &packet);
	follow->cts_psn += is_counted;
	talk(follow, BEFORE, AFTER, SLOTS);
	expect(follow, fault, frame, of != slot && slot + 1 == BEFORE ? slot : UINT64_MAX);
}

static void one_that_has_not_its_place(void **state)
{
	(void)state;
	for (unsigned counted = 0; counted < 2; counted++) {
		one_more(BEFORE - 1, BEFORE - 1, FIFO_KEY, counted, FT_NCCL_REPLAY);
		one_more(BEFORE - 4, BEFORE - 4, FIFO_KEY, counted, FT_NCCL_REPLAY);
		one_more(BEFORE, BEFORE + 6, FIFO_KEY, counted, FT_NCCL_CONTRADICTION);
		one_more(BEFORE, BEFORE, FIFO_KEY + 1, counted, FT_NCCL_CONTRADICTION);
		/* two ask for the same slot, and for different buffers */
		one_more(BEFORE, BEFORE - 1, FIFO_KEY, counted, FT_NCCL_CONTRADICTION);
	}
}

/* The clear-to-send itself has another key: its message is as if it had been missed. */
static void one_in_anothers_place(void **state)
{
	struct follow *follow = follow_start('D');
	struct packet packet;
	uint64_t frame;

	(void)state;
	talk(follow, 0, BEFORE, SLOTS);
	packet = own_of(follow, BEFORE, SLOTS);
	packet.rkey++;
	frame = follow_packet(follow, &packet);
	follow->cts_psn++;
	answer(follow, BEFORE, 3000);
	talk(follow, BEFORE + 1, AFTER, SLOTS);
	assert_int_equal(follow->found_count, 1);
	assert_int_equal(follow->found[0].fault, FT_NCCL_CONTRADICTION);
	assert_int_equal(follow->found[0].frame, frame);
	follow_stop(follow);
}

/* .. whose number of slots is none of those that releases have: behind the wrap nothing has its place. */
static void another_grid_is_no_fault(void **state)
{
	static const unsigned slots[] = { 6, 12, 24, 40, 48 };

	(void)state;
	for (unsigned i = 0; i < sizeof slots / sizeof slots[0]; i++) {
		struct follow *follow = follow_start('D');

		talk(follow, 0, 200, slots[i]);
		assert_int_equal(follow->found_count, 0);
		follow_stop(follow);
	}
}

/* Likewise, but of 11 clear-to-sends one is not shown, and the next two change places. */
static void talk_badly(struct follow *follow, uint64_t count, unsigned slots, uint64_t lost)
{
	struct packet late = { 0 };

	for (uint64_t k = 0; k < count; k++) {
		const struct packet packet = own_of(follow, k, slots);

		follow->cts_psn++;
		if (k % 11 == (lost + 1) % 11)
			late = packet;
		else if (k % 11 != lost)
			follow_packet(follow, &packet);
		if (k % 11 == (lost + 2) % 11 && late.length != 0)
			follow_packet(follow, &late);
		answer(follow, k, 1500 + (uint32_t)k % 64 * 256);
		acknowledge_both(follow);
	}
}

/* PSNs that do not begin with the FIFO: in each round one or more have not the slot that theirs says. */
static void psns_that_begin_elsewhere_are_no_fault(void **state)
{
	(void)state;
	for (uint32_t slots = 8; slots <= 32; slots *= 2) {
		for (uint32_t i = 0; i < 12 * slots; i++) {
			struct follow *follow = follow_start('D');

			follow->cts_psn = 256 - slots + i % slots;
			if (i < slots)
				talk(follow, 0, 200, slots);
			else
				talk_badly(follow, 200, slots, i / slots - 1);
			assert_int_equal(follow->found_count, 0);
			follow_stop(follow);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_has_not_its_place),
		cmocka_unit_test(one_in_anothers_place),
		cmocka_unit_test(another_grid_is_no_fault),
		cmocka_unit_test(psns_that_begin_elsewhere_are_no_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
