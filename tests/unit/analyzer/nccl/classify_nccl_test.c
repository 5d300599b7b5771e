#include "qp_play.h"

#include <string.h>

/* NCCL, by what its followers note and by headers, and GIN beside it. */

enum { TIMES = 20 };

static const struct words none;

/* What an NCCL connection is without anything noted: plain writes and immediates from PSN 0. */
static struct ft_nccl_qp *write_back_and_forth(struct play *p)
{
	struct ft_nccl_qp *asked = NULL;

	for (uint32_t psn = 0; psn < TIMES; psn++) {
		play_back(p, WRITE, psn,
			  (struct words){
				  .va = 0x1000 + 512 * psn, .rkey = 7, .length = 64, .size = 64 });
		play_there(p, ACK, psn, none);
		asked = play_there(p, WRITE_IMM, psn,
				   (struct words){ .va = 0x90000,
						   .rkey = 8,
						   .length = 800,
						   .immdt = 0x20030000,
						   .size = 800 });
		play_back(p, ACK, psn, none);
	}
	return asked;
}

static void what_is_noted_at_one_end_makes_both_nccl(void **state)
{
	static const struct {
		const char *sentence;
		uint16_t noted;
		bool nccl;
		double confidence;
	} rows[] = {
#define N(number) (1u << FT_NCCL_N##number)
		{ "nothing", 0, false, 0 },
		{ "metadata", N(1), true, 1 },
		{ "clear-to-sends", N(2), true, 1 },
		{ "windows", N(4), true, 1 },
		{ "a ring of writes", N(5), false, 0 },
		{ "a ring of writes, one before each message", N(5) | N(8), false, 0 },
		{ "lengths in immediates", N(6), false, 0 },
		{ "a ring, lengths in immediates", N(5) | N(6), true, 1 },
		{ "a ring, buffers", N(5) | N(7), true, 1 },
		{ "one write before each message, lines", N(8) | N(10), true, 1 },
		{ "lengths, and one write before each message", N(6) | N(8), true, 1 },
		{ "buffers alone", N(7), false, 0 },
		{ "lines alone", N(10), false, 0 },
#undef N
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct play p = play_start(100);
		struct ft_nccl_qp *qp = write_back_and_forth(&p);
		struct ft_nccl_queue_pair row;

		for (unsigned evidence = 0; evidence < FT_NCCL_EVIDENCES; evidence++)
			if ((rows[i].noted & 1u << evidence) != 0)
				ft_nccl_qp_note(qp, evidence);
		row = play_end(&p, 1, ASKING);
		if ((row.class == FT_NCCL_CLASS_NCCL) != rows[i].nccl ||
		    row.confidence != rows[i].confidence ||
		    (play_has(&row, "N9") && play_has(&row, "N11")) != (rows[i].noted != 0))
			fail_msg("%s", rows[i].sentence);
		ft_nccl_qps_destroy(p.qps);
	}
}

static void headers_show_evidence_of_nccl(void **state)
{
	struct play p = play_start(100);
	struct ft_nccl_queue_pair row;

	(void)state;
	play_there(&p, WRITE_IMM, 5, none); /* RETH all zero */
	play_back(&p, WRITE, 0, (struct words){ .va = 0x1000, .rkey = 7, .length = 64 });
	play_there(&p, ACK, 0, (struct words){ .syndrome = 0x2c });
	play_back(&p, ACK, 5, none);
	ft_nccl_qp_note(play_there(&p, WRITE_IMM, 6, none), FT_NCCL_N6);
	row = play_end(&p, 2, ASKED);
	assert_int_equal(row.class, FT_NCCL_CLASS_NCCL);
	assert_true(play_has(&row, "N3") && play_has(&row, "N6") && play_has(&row, "N12"));
	assert_false(play_has(&row, "N9")); /* 5 is not 0 */
	ft_nccl_qps_destroy(p.qps);
}

/* Even with metadata that names it. */
static void what_nccl_never_does_rules_it_out(void **state)
{
	static const struct {
		const char *rule;
		uint8_t opcode;
		bool turned;
		struct words words;
	} rows[] = {
		{ "X1", SEND, false, { .size = 8 } },
		{ "X1", SEND_IMM, true, { .size = 8 } },
		{ "X1", SEND_INVALIDATE, true, { .size = 8 } },
		{ "X2", COMPARE_SWAP, false, { .va = 8 } },
		{ "X3", FETCH_ADD, true, { .va = 8 } },
		{ "X4", READ, false, { .va = 8, .rkey = 8, .length = 4096 } },
		{ "X5", XRC | WRITE, false, { .va = 8, .rkey = 8, .length = 64 } },
		{ "X5", UD_SEND, false, { .size = 8 } },
		{ NULL, READ, false, { .va = 8, .rkey = 8, .length = 1 } },
		{ NULL, READ, true, { .va = 8, .rkey = 8, .length = 128 } },
		{ NULL, UC | WRITE, false, { .va = 8, .rkey = 8, .length = 64 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct play p = play_start(100);
		struct ft_nccl_queue_pair row;

		ft_nccl_qp_note(write_back_and_forth(&p), FT_NCCL_N1);
		(rows[i].turned ? play_back : play_there)(&p, rows[i].opcode, TIMES, rows[i].words);
		row = play_end(&p, 2, ASKED);
		if ((row.class == FT_NCCL_CLASS_NCCL) != (rows[i].rule == NULL))
			fail_msg("row %zu", i);
		ft_nccl_qps_destroy(p.qps);
	}
}

/* Nor with metadata that names them; but what is written as NCCL does is of another one with the number, or CM's is forged. */
static void connections_that_cm_made_are_not_nccls(void **state)
{
	static const struct {
		enum ft_nccl_evidence noted;
		enum ft_nccl_class class;
	} rows[] = {
		{ FT_NCCL_N1, FT_NCCL_CLASS_RDMA_CM },
		{ FT_NCCL_N2, FT_NCCL_CLASS_NCCL },
		{ FT_NCCL_N4, FT_NCCL_CLASS_NCCL },
		{ FT_NCCL_N5, FT_NCCL_CLASS_RDMA_CM },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct play p = play_start(100);

		play_set_up(&p, 5000);
		ft_nccl_qp_note(write_back_and_forth(&p), rows[i].noted);
		assert_both(&p, rows[i].class);
		assert_class(&p, 1, 1, FT_NCCL_CLASS_RDMA_CM);
		ft_nccl_qps_destroy(p.qps);
	}
}

static void writes_that_signal_beside_nccl_are_gins(void **state)
{
	struct play p = play_start(100);

	(void)state;
	for (uint32_t psn = 0; psn < TIMES; psn += 2) {
		play_packet(&p, 1, 2, 0x30, WRITE, psn,
			    (struct words){
				    .va = 0x5000 + psn, .rkey = 7, .length = 4096, .size = 4096 });
		play_packet(&p, 1, 2, 0x30, FETCH_ADD, psn + 1, (struct words){ .va = 0x100 });
		play_packet(&p, 2, 1, 0x31, ACK, psn + 1, none);
	}
	write_back_and_forth(&p);
	assert_class(&p, 2, 0x30, FT_NCCL_CLASS_UNKNOWN);
	ft_nccl_qp_note(play_there(&p, WRITE_IMM, TIMES, none), FT_NCCL_N2);
	assert_class(&p, 2, 0x30, FT_NCCL_CLASS_GIN);
	assert_class(&p, 1, 0x31, FT_NCCL_CLASS_GIN);
	assert_class(&p, 2, ASKED, FT_NCCL_CLASS_NCCL);
	ft_nccl_qps_destroy(p.qps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_noted_at_one_end_makes_both_nccl),
		cmocka_unit_test(headers_show_evidence_of_nccl),
		cmocka_unit_test(what_nccl_never_does_rules_it_out),
		cmocka_unit_test(connections_that_cm_made_are_not_nccls),
		cmocka_unit_test(writes_that_signal_beside_nccl_are_gins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
