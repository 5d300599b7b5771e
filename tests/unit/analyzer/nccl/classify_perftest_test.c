#include "qp_play.h"

#include <string.h>

/* perftest, with its TCP exchange and without. */

enum { TIMES = 20 };

static const struct words none;

/* An old and a new form, the latter with GID ::ffff:10.0.0.1. */
static const char exchange_lid[] = "0000:0001:000010:2c554d:00000000:0000559626ef3000:00000000";
static const char exchange_gid[] = "0000:0001:000010:2c554d:00000000:0000559626ef3000:"
				   "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:00:00:01:00000000:";

static void the_exchange_of_perftest_names_its_queue_pairs(void **state)
{
	static const struct {
		const char *sentence, *text;
		uint32_t length;
		uint8_t from;
		bool perftest;
	} rows[] = {
		{ "without GID", exchange_lid, 59, 1, true },
		{ "with GID, over another network", exchange_gid, 108, 7, true },
		{ "with a GID that was cut off", "0000:0001:000010:2c554d:00", 108, 1, true },
		{ "of another host", exchange_lid, 59, 7, false },
		{ "QPN in capitals", "0000:0001:00001F:2c554d:0000000", 59, 1, false },
		{ "QPN cut off", "0000:0001:00001", 59, 1, false },
		{ "another length", exchange_lid, 60, 1, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct play p = play_start(100);
		struct ft_nccl_queue_pair row;

		play_segment(&p, rows[i].from, 2, 19999, rows[i].text, rows[i].length);
		play_back(&p, SEND, 100, (struct words){ .size = 700 });
		row = play_end(&p, 1, ASKING);
		if ((row.class == FT_NCCL_CLASS_PERFTEST) != rows[i].perftest)
			fail_msg("%s", rows[i].sentence);
		ft_nccl_qps_destroy(p.qps);
	}
}

/* As libibverbs' examples print it; 52 bytes with the NUL. The GID is ::ffff:10.0.0.1, or none. */
static const char pingpong_gid[] = "0000:000010:fad0f6:00000000000000000000ffff0a000001";
static const char pingpong_two[] = "0000:00001f:fad0f6:00000000000000000000ffff0a000001\0"
				   "0000:000010:fad0f7:00000000000000000000ffff0a000001";
static const char pingpong_lid[] = "0001:000010:fad0f6:00000000000000000000000000000000";

static void the_exchange_of_pingpong_names_its_queue_pairs(void **state)
{
	static const struct {
		const char *sentence, *text;
		uint32_t length, cut;
		enum ft_nccl_class class;
	} rows[] = {
		{ "with GID", pingpong_gid, 52, 0, FT_NCCL_CLASS_PINGPONG },
		{ "of two queue pairs", pingpong_two, 104, 0, FT_NCCL_CLASS_PINGPONG },
		{ "by LID: another place", pingpong_lid, 52, 0, FT_NCCL_CLASS_UNKNOWN },
		{ "cut off", pingpong_gid, 52, 1, FT_NCCL_CLASS_UNKNOWN },
		{ "QPN in capitals", "0000:00001F:fad0f6:00000000000000000000ffff0a000001", 52, 0,
		  FT_NCCL_CLASS_UNKNOWN },
		{ "no PSN", "0000:000010:fad0f:000000000000000000000ffff0a000001", 52, 0,
		  FT_NCCL_CLASS_UNKNOWN },
		{ "no GID", "0000:000010:fad0f6:0000000000000000000:ffff0a000001", 52, 0,
		  FT_NCCL_CLASS_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct play p = play_start(100);
		struct ft_nccl_queue_pair row;

		play_segment_cut(&p, 1, 2, 18515, rows[i].text, rows[i].length,
				 rows[i].length - rows[i].cut);
		for (uint32_t psn = 100; psn < 100 + TIMES; psn++)
			play_back(&p, SEND, psn, (struct words){ .size = 700 });
		row = play_end(&p, 1, ASKING);
		if (row.class != rows[i].class)
			fail_msg("%s: %s", rows[i].sentence, ft_nccl_class_name(row.class));
		ft_nccl_qps_destroy(p.qps);
	}
}

static void one_operation_again_and_again_is_perftests(void **state)
{
	static const struct {
		const char *sentence;
		enum ft_nccl_class class;
		uint32_t va_step, step_ns;
		uint8_t opcode, traffic_class;
	} rows[] = {
		{ "writes to one address", FT_NCCL_CLASS_PERFTEST, 0, 1000, WRITE, 0 },
		{ "reads from one address", FT_NCCL_CLASS_PERFTEST, 0, 1000, READ, 0 },
		{ "writes here and there", FT_NCCL_CLASS_UNKNOWN, 64, 1000, WRITE, 0 },
		{ "a sign of life now and then", FT_NCCL_CLASS_UNKNOWN, 0, 100000000, WRITE, 0 },
		{ "in UCX's traffic class", FT_NCCL_CLASS_UNKNOWN, 0, 1000, WRITE, 106 },
		{ "with immediates", FT_NCCL_CLASS_UNKNOWN, 0, 1000, WRITE_IMM, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct play p = play_start(100);
		struct ft_nccl_queue_pair row;

		p.traffic_class = rows[i].traffic_class;
		p.step_ns = rows[i].step_ns;
		for (uint32_t psn = 50; psn < 50 + TIMES; psn++)
			play_there(&p, rows[i].opcode, psn,
				   (struct words){ 0x8000 + psn * rows[i].va_step, 7, 64,
						   .immdt = 64 });
		row = play_end(&p, 2, ASKED);
		if (row.class != rows[i].class)
			fail_msg("%s: %s", rows[i].sentence, ft_nccl_class_name(row.class));
		ft_nccl_qps_destroy(p.qps);
	}
}

/* Cut to headers, its TCP port must do: 5 seconds at most before the first packet. */
static void perftests_port_must_be_used_just_before(void **state)
{
	static const struct {
		uint64_t wait_ns;
		enum ft_nccl_class class;
		uint16_t port;
		uint8_t host;
	} rows[] = {
		{ 1000, FT_NCCL_CLASS_PERFTEST, 18515, 1 },
		{ 6000000000, FT_NCCL_CLASS_UNKNOWN, 18515, 1 },
		{ 1000, FT_NCCL_CLASS_UNKNOWN, 18515, 7 },
		{ 1000, FT_NCCL_CLASS_UNKNOWN, 18516, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct play p = play_start(100);

		play_segment(&p, rows[i].host, 2, rows[i].port, "", 16);
		p.ts_ns += rows[i].wait_ns;
		for (uint32_t psn = 50; psn < 50 + TIMES; psn++) {
			play_there(&p, SEND, psn, (struct words){ .size = 512 });
			play_back(&p, ACK, psn, none);
		}
		assert_both(&p, rows[i].class);
		ft_nccl_qps_destroy(p.qps);
	}
}

static void perftest_over_cm_has_its_port(void **state)
{
	struct play p = play_start(100);

	(void)state;
	play_set_up(&p, 18515);
	play_send(&p, false, 99, NULL, 0, 16);
	assert_both(&p, FT_NCCL_CLASS_PERFTEST);
	ft_nccl_qps_destroy(p.qps);
}

/* As qperf does. */
static void one_operation_of_another_service_is_not_perftests(void **state)
{
	struct play p = play_start(100);

	(void)state;
	p.step_ns = 1000;
	play_set_up(&p, 19766);
	for (uint32_t psn = 50; psn < 50 + TIMES; psn++)
		play_there(&p, READ, psn, (struct words){ 0x8000, 7, 64, .size = 0 });
	assert_class(&p, 2, ASKED, FT_NCCL_CLASS_RDMA_CM);
	ft_nccl_qps_destroy(p.qps);
}

/* A REQ whose path is another than that of its own packet: anybody may name anybody's queue pairs. */
static void a_req_for_others_says_nothing(void **state)
{
	struct play p = play_start(100);
	uint8_t mad[256] = { 1, 7, 0, 3, [17] = 0x10, [24 + 14] = 0x11, 0x44, [24 + 34] = ASKING };

	(void)state;
	play_packet(&p, 1, 2, 1, UD_SEND, 0,
		    (struct words){ .bytes = mad, .captured = sizeof mad });
	play_send(&p, false, 99, NULL, 0, 333);
	assert_both(&p, FT_NCCL_CLASS_UNKNOWN);
	ft_nccl_qps_destroy(p.qps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_exchange_of_perftest_names_its_queue_pairs),
		cmocka_unit_test(the_exchange_of_pingpong_names_its_queue_pairs),
		cmocka_unit_test(one_operation_again_and_again_is_perftests),
		cmocka_unit_test(perftests_port_must_be_used_just_before),
		cmocka_unit_test(perftest_over_cm_has_its_port),
		cmocka_unit_test(one_operation_of_another_service_is_not_perftests),
		cmocka_unit_test(a_req_for_others_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
