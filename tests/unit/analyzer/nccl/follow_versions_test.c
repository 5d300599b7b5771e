#include "follow_play.h"

#include <string.h>

/* Releases, by what the specification (sections 0, 3.3 and 3.4) says they do each in its own way. */

enum { MESSAGES = 8, LENGTH = 700, ENTRY = 64 };
#define SIZES_AT UINT64_C(0x00007e1000000b30)

static uint32_t swapped(uint32_t number)
{
	return __builtin_bswap32(number);
}

/* Message k, of one request or two, whose sizes then go to an array with so many bytes to a slot. */
static void ask_for(struct follow *follow, uint64_t k, uint32_t requests)
{
	struct packet packet = cts_of(follow, k);

	packet.bytes[32] = (uint8_t)requests;
	memcpy(packet.bytes + ENTRY, packet.bytes, ENTRY);
	packet.length = packet.captured = packet.payload = requests * ENTRY;
	follow->cts_psn++;
	follow_packet(follow, &packet);
}

static void write_data(struct follow *follow, uint64_t k, uint8_t opcode, uint32_t immdt)
{
	struct packet packet = data_of(follow, k, LENGTH, 0);

	packet.opcode = opcode;
	packet.immdt = immdt;
	follow->data_psn++;
	follow_packet(follow, &packet);
}

static void write_sizes(struct follow *follow, uint64_t k, uint32_t stride, uint32_t immdt)
{
	struct packet packet = data_of(follow, k, 8, 0);

	packet.immdt = immdt;
	packet.va = SIZES_AT + k % 256 * stride;
	packet.rkey = 0x77;
	packet.captured = packet.payload;
	packet.bytes[0] = packet.bytes[4] = LENGTH & 0xff;
	packet.bytes[1] = packet.bytes[5] = LENGTH >> 8;
	follow->data_psn++;
	follow_packet(follow, &packet);
}

static void releases_are_told_by_what_changed(void **state)
{
	static const struct row {
		bool by_id, big;
		uint32_t stride; /* 0: one request */
		int32_t first, last;
	} rows[] = {
		{ false, false, 0, 22403, 22809 },  { false, true, 0, 22902, 22907 },
		{ true, true, 0, 22907, 22907 },    { false, true, 32, 22902, 22903 },
		{ false, true, 160, 22907, 22907 }, { true, true, 160, 22907, 22907 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct follow *follow = follow_start('E');

		for (uint32_t k = 0; k < MESSAGES; k++) {
			uint32_t number = rows[i].by_id ? k : LENGTH;
			uint32_t immdt = rows[i].big ? number : swapped(number);

			ask_for(follow, k, rows[i].stride != 0 ? 2 : 1);
			write_data(follow, k, rows[i].stride != 0 ? 0x0a : 0x0b, immdt);
			if (rows[i].stride == 0)
				continue;
			write_data(follow, k, 0x0a, 0);
			write_sizes(follow, k, rows[i].stride, immdt);
		}
		follow_keep(follow);
		assert_int_equal(follow->kept.connection_count, 1);
		if (follow->kept.connections[0]->version_first != rows[i].first ||
		    follow->kept.connections[0]->version_last != rows[i].last)
			fail_msg("row %zu: %d to %d", i, follow->kept.connections[0]->version_first,
				 follow->kept.connections[0]->version_last);
		follow_stop(follow);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(releases_are_told_by_what_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
