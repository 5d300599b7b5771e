#include "qp_play.h"

#include <stdlib.h>
#include <string.h>

#include "source_port.h"

static const struct words none;

static void every_queue_pair_sent_to_is_listed_in_order_of_its_first_frame(void **state)
{
	struct play p = play_start(100);
	struct ft_nccl_place named = { .address = { [10] = 0xff, 0xff, 10, 0, 0, 9 } };
	struct ft_nccl_queue_pair *rows;
	size_t count;

	(void)state;
	assert_non_null(ft_nccl_qps_of(p.qps, &named, 5)); /* nothing is sent to it */
	named.address[15] = 3;
	ft_nccl_qp_join(ft_nccl_qps_of(p.qps, &named, 7), 12);
	play_packet(&p, 1, 2, 0x10, SEND, 5, none);
	play_packet(&p, 2, 1, 0x11, ACK, 5, none);
	play_packet(&p, 1, 3, 7, UD_SEND, 5, none);
	play_packet(&p, 1, 2, 0xffffff, UD_SEND, 5, none);
	play_packet(&p, 1, 2, 0, UD_SEND, 5, none);
	play_packet(&p, 1, 2, 0x10, SEND, 6, none);
	rows = ft_nccl_qps_report(p.qps, &count);
	assert_int_equal(count, 5);
	assert_int_equal(rows[0].qpn, 0x10);
	assert_int_equal(rows[0].packets, 2);
	assert_int_equal(rows[0].first_frame, 1);
	assert_int_equal(rows[0].connection, FT_NCCL_NONE);
	assert_int_equal(rows[1].qpn, 0x11);
	assert_int_equal(rows[2].qpn, 7);
	assert_int_equal(rows[2].connection, 12);
	assert_int_equal(rows[3].qpn, 0xffffff);
	assert_int_equal(rows[4].qpn, 0);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(rows[i].class, FT_NCCL_CLASS_UNKNOWN);
		assert_true(rows[i].confidence == 0);
	}
	free(rows);
	ft_nccl_qps_destroy(p.qps);
}

static void an_address_is_not_a_lid(void **state)
{
	struct play p = play_start(100);
	struct ft_nccl_place place = { .address = { [15] = 4 } };
	struct ft_nccl_qp *by_address = ft_nccl_qps_of(p.qps, &place, 5);

	(void)state;
	assert_ptr_equal(ft_nccl_qps_of(p.qps, &place, 5), by_address);
	place.by_lid = true;
	assert_ptr_not_equal(ft_nccl_qps_of(p.qps, &place, 5), by_address);
	ft_nccl_qps_destroy(p.qps);
}

static void those_without_room_are_counted_once(void **state)
{
	struct play p = play_start(10);
	struct ft_nccl_queue_pair *rows;
	size_t count;

	(void)state;
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t qpn = 100; qpn < 115; qpn++)
			assert_true((play_packet(&p, 1, 2, qpn, SEND, round, none) != NULL) ==
				    (qpn < 110));
	assert_int_equal(ft_nccl_qps_dropped(p.qps), 5);
	rows = ft_nccl_qps_report(p.qps, &count);
	assert_int_equal(count, 10);
	assert_int_equal(rows[9].packets, 3);
	free(rows);
	ft_nccl_qps_destroy(p.qps);
}

static void thousands_are_told_apart(void **state)
{
	enum { MANY = 20000 };
	struct play p = play_start(MANY);
	struct ft_nccl_queue_pair *rows;
	size_t count;

	(void)state;
	for (uint32_t i = 0; i < 2 * MANY; i++)
		play_packet(&p, 1, (uint8_t)(2 + i % 50), i % MANY / 50, WRITE, i, none);
	rows = ft_nccl_qps_report(p.qps, &count);
	assert_int_equal(count, MANY);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(rows[i].packets, 2);
	free(rows);
	assert_int_equal(ft_nccl_qps_dropped(p.qps), 0);
	ft_nccl_qps_destroy(p.qps);
}

static void nothing_is_kept_if_nothing_may_be(void **state)
{
	struct play p = play_start(0);
	struct ft_nccl_place place = { .by_lid = true };
	struct ft_nccl_queue_pair *rows;
	size_t count;

	(void)state;
	assert_null(play_packet(&p, 1, 2, 3, SEND, 0, none));
	assert_null(ft_nccl_qps_of(p.qps, &place, 5));
	play_req(&p, 1, 2, 1, 3, 4420);
	play_segment(&p, 1, 2, 18515, "0000:0001:000034:2c554d:00000000:0000559626ef3000:00000000",
		     59);
	ft_nccl_qp_note(NULL, FT_NCCL_N1);
	ft_nccl_qp_join(NULL, 4);
	rows = ft_nccl_qps_report(p.qps, &count);
	assert_int_equal(count, 0);
	assert_int_equal(ft_nccl_qps_dropped(p.qps), 0);
	free(rows);
	ft_nccl_qps_destroy(p.qps);
}

/* Test vector 13 of what is known of NCCL, computed by hand from the rule. */
static void source_ports_follow_from_both_queue_pairs(void **state)
{
	static const struct {
		uint32_t one, other;
		uint16_t port;
	} rows[] = { { 0x000123, 0x000456, 60881 },
		     { 0x0000a1, 0x000b07, 61308 },
		     { 0x01c2d3, 0x01c3f4, 56255 } };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(ft_nccl_source_port(rows[i].one, rows[i].other), rows[i].port);
		assert_int_equal(ft_nccl_source_port(rows[i].other, rows[i].one), rows[i].port);
	}
}

/* Evidence noted about one end is the other's, too, however the ends were brought together. */
static bool is_noted(const struct play *p, uint32_t qpn)
{
	struct ft_nccl_queue_pair row = play_end(p, 1, qpn);

	return row.class == FT_NCCL_CLASS_NCCL && play_has(&row, "N1");
}

static void ends_meet_by_their_source_port(void **state)
{
	struct play p = play_start(100);

	(void)state;
	for (uint32_t psn = 0; psn < 4; psn++) {
		p.udp_sport = 60881;
		ft_nccl_qp_note(play_packet(&p, 1, 2, 0x123, WRITE_IMM, psn, none), FT_NCCL_N1);
		play_packet(&p, 2, 1, 0x456, WRITE, 100 + psn, none);
		p.udp_sport = 60882; /* not theirs by the rule, and answers nothing */
		play_packet(&p, 2, 1, 0x457, ACK, 0x800000 + psn, none);
	}
	assert_true(is_noted(&p, 0x456));
	assert_false(is_noted(&p, 0x457));
	ft_nccl_qps_destroy(p.qps);
}

static void ends_meet_by_what_is_answered(void **state)
{
	struct play p = play_start(100);

	(void)state;
	for (uint32_t psn = 0; psn < 9; psn++) {
		ft_nccl_qp_note(play_packet(&p, 1, 2, 0x20, WRITE_IMM, 700 + psn, none),
				FT_NCCL_N1);
		play_packet(&p, 1, 2, 0x21, WRITE_IMM, 5000 + psn, none);
		play_packet(&p, 2, 1, 0x30, ACK, 5000 + psn, none);
		play_packet(&p, 2, 1, 0x31, ACK, 700 + psn, none);
	}
	assert_true(is_noted(&p, 0x31));
	assert_false(is_noted(&p, 0x30));
	ft_nccl_qps_destroy(p.qps);
}

static void a_datagram_names_no_end_of_a_connection(void **state)
{
	struct play p = play_start(100);

	(void)state;
	play_packet(&p, 1, 2, 0x30, UD_SEND, 0, (struct words){ .src_qp = 0x456 });
	p.udp_sport = 60881;
	ft_nccl_qp_note(play_packet(&p, 1, 2, 0x123, WRITE_IMM, 3, none), FT_NCCL_N1);
	play_packet(&p, 2, 1, 0x456, ACK, 3, none);
	assert_true(is_noted(&p, 0x456));
	ft_nccl_qps_destroy(p.qps);
}

static void ends_that_may_be_anybodys_stay_alone(void **state)
{
	struct play p = play_start(100);

	(void)state;
	for (uint32_t psn = 0; psn < 9; psn++) {
		ft_nccl_qp_note(play_packet(&p, 1, 2, 0x20, WRITE_IMM, psn, none), FT_NCCL_N1);
		ft_nccl_qp_note(play_packet(&p, 1, 2, 0x21, WRITE_IMM, psn, none), FT_NCCL_N1);
		play_packet(&p, 2, 1, 0x30, ACK, psn, none);
		play_packet(&p, 2, 1, 0x31, ACK, psn, none);
	}
	assert_false(is_noted(&p, 0x30));
	assert_false(is_noted(&p, 0x31));
	ft_nccl_qps_destroy(p.qps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_queue_pair_sent_to_is_listed_in_order_of_its_first_frame),
		cmocka_unit_test(an_address_is_not_a_lid),
		cmocka_unit_test(those_without_room_are_counted_once),
		cmocka_unit_test(thousands_are_told_apart),
		cmocka_unit_test(nothing_is_kept_if_nothing_may_be),
		cmocka_unit_test(source_ports_follow_from_both_queue_pairs),
		cmocka_unit_test(ends_meet_by_their_source_port),
		cmocka_unit_test(ends_meet_by_what_is_answered),
		cmocka_unit_test(a_datagram_names_no_end_of_a_connection),
		cmocka_unit_test(ends_that_may_be_anybodys_stay_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
