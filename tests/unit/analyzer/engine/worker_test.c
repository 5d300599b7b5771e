#include "bench.h"

#include <string.h>

enum { RED };
enum { BASE_1 = 0x8001, BASE_2 = 0x8002, FRAME_BYTES = 8 + 12 + 16 + 4 + 2, FLOWS = 4096 };

#define S       UINT64_C(1000000000)
#define START   (UINT64_C(1795219200) * S)
#define TIMEOUT (300 * S)

/* Two ports of one tenant that share two partitions. */
static const struct ft_declared pod = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }),
	PORTS(IB_PORT("r1", 1), IB_PORT("r2", 2)),
	PARTITIONS({ .base = 1, .tenant = RED, ALWAYS(FULL("r1"), FULL("r2")) },
		   { .base = 2, .tenant = RED, ALWAYS(FULL("r1"), FULL("r2")) }),
};

static int set_up(void **state)
{
	static struct bench bench;

	bench = (struct bench){ .config = FT_ENGINE_DEFAULTS };
	bench.config.flows = FLOWS;
	bench.config.flow_timeout_ns = TIMEOUT;
	bench.config.decode.check_icrc = false;
	bench_open(&bench, &pod, 1);
	*state = &bench;
	return 0;
}

/* A SEND-only from LID 1 to a queue pair of LID 2; the rules it breaks. */
static uint32_t send(struct bench *bench, uint64_t ts_ns, uint32_t dest_qp, uint16_t pkey,
		     uint32_t psn)
{
	uint8_t bytes[FRAME_BYTES] = { 0 };
	const uint8_t headers[20] = {
		0,
		2,
		0,
		2,
		0,
		(FRAME_BYTES - 2) / 4,
		0,
		1, /* LRH: BTH follows */
		0x04,
		0,
		(uint8_t)(pkey >> 8),
		(uint8_t)pkey,
		0,
		(uint8_t)(dest_qp >> 16),
		(uint8_t)(dest_qp >> 8),
		(uint8_t)dest_qp,
		0,
		(uint8_t)(psn >> 16),
		(uint8_t)(psn >> 8),
		(uint8_t)psn,
	};

	memcpy(bytes, headers, sizeof headers);
	/* payload that never repeats */
	memcpy(bytes + sizeof headers, &ts_ns, sizeof ts_ns);
	return bench_take(bench, bytes, sizeof bytes, FT_LINK_INFINIBAND, ts_ns)->rules;
}

/* Half-connections that fell silent: replaced, or begun anew. */
static uint64_t expired(const struct bench *bench)
{
	return bench->workers[0]->expired + ft_flow_table_stats(bench->workers[0]->flows).expired;
}

static void another_base_inside_a_connection_is_a_change(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(send(bench, START, 100, BASE_1, 1), 0);
	assert_int_equal(send(bench, START + TIMEOUT, 100, BASE_2, 2),
			 R(PKEY_CHANGED_ON_CONNECTION));
	assert_int_equal(send(bench, START + TIMEOUT + S, 100, BASE_1, 3), 0);
	assert_int_equal(expired(bench), 0);
}

static void what_comes_back_after_the_timeout_begins_anew(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(send(bench, START, 100, BASE_1, 1), 0);
	assert_int_equal(send(bench, START + TIMEOUT + 1, 100, BASE_2, 9000000), 0);
	assert_int_equal(expired(bench), 1);
	assert_int_equal(send(bench, START + TIMEOUT + S, 100, BASE_1, 9000001),
			 R(PKEY_CHANGED_ON_CONNECTION));
	assert_int_equal(expired(bench), 1);
}

/* A part of it under another base keeps the half-connection alive, too. */
static void any_packet_of_a_half_connection_keeps_it_alive(void **state)
{
	struct bench *bench = *state;

	send(bench, START, 100, BASE_1, 1);
	for (uint32_t i = 1; i <= 4; i++)
		assert_int_equal(send(bench, START + i * 200 * S, 100, BASE_2, 1 + i),
				 R(PKEY_CHANGED_ON_CONNECTION));
	assert_int_equal(expired(bench), 0);
}

/* Twenty new half-connections a minute; at any time those of the last five minutes matter. */
static void a_day_of_half_connections_that_come_and_go_stays_small(void **state)
{
	enum { MINUTES = 24 * 60, A_MINUTE = 20, PACKETS = 3, ROOM = 512 };
	struct bench *bench = *state;
	struct ft_flow_table_stats stats;

	for (uint32_t minute = 0; minute < MINUTES; minute++)
		for (uint32_t i = 0; i < A_MINUTE; i++)
			for (uint32_t nth = 0; nth < PACKETS; nth++)
				assert_int_equal(send(bench,
						      START + minute * 60 * S + i * S + nth * 1000,
						      2 + minute * A_MINUTE + i, BASE_1, 100 + nth),
						 0);
	stats = ft_flow_table_stats(bench->workers[0]->flows);
	assert_int_equal(stats.created, MINUTES * A_MINUTE);
	assert_int_equal(stats.evicted, 0);
	assert_true(stats.used <= ROOM);
	assert_int_equal(stats.expired, stats.created - stats.used);
	assert_int_equal(ft_totals_sum(&bench->workers[0]->tally.totals).packets, bench->sent);
	assert_int_equal(ft_totals_sum(&bench->workers[0]->tally.totals).judged, bench->sent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(another_base_inside_a_connection_is_a_change,
						set_up, bench_close),
		cmocka_unit_test_setup_teardown(what_comes_back_after_the_timeout_begins_anew,
						set_up, bench_close),
		cmocka_unit_test_setup_teardown(any_packet_of_a_half_connection_keeps_it_alive,
						set_up, bench_close),
		cmocka_unit_test_setup_teardown(
			a_day_of_half_connections_that_come_and_go_stays_small, set_up,
			bench_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
