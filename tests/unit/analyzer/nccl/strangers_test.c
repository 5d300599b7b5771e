#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <decode/packet.h>

#include "strangers.h"

enum { STEPS = 4000, QUEUE_PAIRS = 900 };

static struct ft_nccl_seen write_to(uint32_t qpn)
{
	return (struct ft_nccl_seen){
		.frame = 1,
		.dest_qp = qpn,
		.opcode = 0x0a,
		.ends = { .src = { [15] = (uint8_t)(1 + qpn % 3) },
			  .dst = { [15] = 2 },
			  .vni = UINT32_MAX },
	};
}

/* Among all that have logs between its two addresses, once. */
static void expect_it_is_between_its_own(const struct ft_nccl_stranger_table *table,
					 const struct ft_nccl_stranger *stranger)
{
	const struct ft_nccl_stranger *other = NULL;
	unsigned met = 0;

	while ((other = ft_nccl_stranger_between(table, stranger, other)) != NULL) {
		assert_non_null(other->log);
		met += other == stranger ? 1 : 0;
	}
	assert_int_equal(met, 1);
}

/* Each that has a log, in the order of their places, and none besides. */
static void expect_those_with_logs(const struct ft_nccl_stranger_table *table)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < FT_NCCL_STRANGERS; i++) {
		if (table->strangers[i].log == NULL)
			continue;
		assert_ptr_equal(ft_nccl_stranger_logged(table, &at), &table->strangers[i]);
		assert_int_equal(at, i + 1);
		expect_it_is_between_its_own(table, &table->strangers[i]);
	}
	assert_null(ft_nccl_stranger_logged(table, &at));
}

/* Few or many at a time: steps that forget outnumber the others now and then. */
static void those_with_logs_are_found_in_the_order_of_their_places(void **state)
{
	static struct ft_nccl_stranger_table table = { .seed = 7,
						       .most_logs = FT_NCCL_STRANGER_LOGS };
	uint32_t at = 0;

	(void)state;
	assert_null(ft_nccl_stranger_logged(&table, &at));
	srand(20261127);
	for (unsigned i = 0; i < STEPS; i++) {
		struct ft_nccl_seen seen = write_to((uint32_t)rand() % QUEUE_PAIRS);
		struct ft_nccl_stranger *stranger = ft_nccl_stranger_of(&table, &seen);
		unsigned kept = i / 1000 % 2 == 0 ? 80 : 5;

		assert_non_null(stranger);
		if ((unsigned)rand() % 100 < kept)
			ft_nccl_stranger_keep(&table, stranger, &seen);
		else if (rand() % 2 == 0)
			ft_nccl_stranger_forget(&table, stranger);
		else
			ft_nccl_stranger_exclude(&table, stranger);
		if (i % 16 == 0)
			expect_those_with_logs(&table);
	}
	ft_nccl_strangers_free(&table);
}

/* In each place in turn, the last of a word of bits and the very last of all among them. */
static void one_alone_is_found_wherever_it_is(void **state)
{
	static struct ft_nccl_stranger_table table = { .seed = 7,
						       .most_logs = FT_NCCL_STRANGER_LOGS };

	(void)state;
	for (uint32_t place = 0; place < FT_NCCL_STRANGERS; place++) {
		struct ft_nccl_seen seen = write_to(1 + place);
		struct ft_nccl_stranger *stranger = ft_nccl_stranger_of(&table, &seen);
		uint32_t at = 0;

		assert_non_null(stranger);
		assert_int_equal(stranger - table.strangers, place);
		ft_nccl_stranger_keep(&table, stranger, &seen);
		assert_ptr_equal(ft_nccl_stranger_logged(&table, &at), stranger);
		assert_int_equal(at, place + 1);
		assert_null(ft_nccl_stranger_logged(&table, &at));
		ft_nccl_stranger_exclude(&table, stranger);
	}
	ft_nccl_strangers_free(&table);
}

static struct ft_nccl_stranger *write_of(struct ft_nccl_stranger_table *table,
					 const struct ft_nccl_seen *seen)
{
	struct ft_nccl_stranger *stranger = ft_nccl_stranger_of(table, seen);

	assert_non_null(stranger);
	ft_nccl_stranger_keep(table, stranger, seen);
	return stranger;
}

/* All logs are theirs; how many there are. */
static uint32_t take_all_logs(struct ft_nccl_stranger_table *table, uint32_t first_qpn)
{
	uint32_t count = 0;

	for (bool all = false; !all; count++) {
		struct ft_nccl_seen seen = write_to(first_qpn + count);

		all = write_of(table, &seen)->log == NULL;
	}
	return count - 1;
}

static unsigned count_logged(const struct ft_nccl_stranger_table *table)
{
	unsigned count = 0;

	for (uint32_t at = 0; ft_nccl_stranger_logged(table, &at) != NULL;)
		count++;
	return count;
}

/* Each of a few writes once in a while, and the many that were met before not at all. */
static void logs_of_the_idle_go_to_others(void **state)
{
	static struct ft_nccl_stranger_table table = { .seed = 7,
						       .most_logs = FT_NCCL_STRANGER_LOGS };
	enum { BUSY = 64, ROUNDS = 2 * FT_NCCL_STRANGERS / BUSY };
	const uint32_t idle = take_all_logs(&table, 1);

	(void)state;
	assert_int_equal(idle, FT_NCCL_STRANGER_LOGS);
	for (unsigned round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < BUSY; i++) {
			struct ft_nccl_seen seen = write_to(1000000 + i);

			write_of(&table, &seen);
		}
	for (uint32_t i = 0; i < BUSY; i++) {
		struct ft_nccl_seen seen = write_to(1000000 + i);
		const struct ft_nccl_stranger *stranger = ft_nccl_stranger_of(&table, &seen);

		assert_non_null(stranger->log);
		assert_int_equal(stranger->log->restarts, 1); /* not all of its writes are in it */
	}
	assert_int_equal(count_logged(&table), FT_NCCL_STRANGER_LOGS);
	ft_nccl_strangers_free(&table);
}

/* As lengths show them; data keeps no log from those. */
static void clear_to_sends_have_the_logs_of_data(void **state)
{
	static struct ft_nccl_stranger_table table = { .seed = 7,
						       .most_logs = FT_NCCL_STRANGER_LOGS };
	struct ft_nccl_seen seen = write_to(1000000);

	(void)state;
	take_all_logs(&table, 1);
	seen.has = FT_HAS_RETH;
	seen.length = 4096;
	assert_null(write_of(&table, &seen)->log);
	seen.length = 64;
	assert_non_null(write_of(&table, &seen)->log);
	assert_int_equal(count_logged(&table), FT_NCCL_STRANGER_LOGS);
	ft_nccl_strangers_free(&table);
}

/* However many come behind those that are being looked at, these stay. */
static void who_has_packets_kept_is_not_pushed_out(void **state)
{
	static struct ft_nccl_stranger_table table = { .seed = 7,
						       .most_logs = FT_NCCL_STRANGER_LOGS_BESIDE };
	enum { MORE = 4 * FT_NCCL_STRANGERS };
	unsigned before;

	(void)state;
	take_all_logs(&table, 1);
	before = count_logged(&table);
	for (uint32_t i = 0; i < MORE; i++) {
		struct ft_nccl_seen seen = write_to(1000000 + i);

		assert_non_null(ft_nccl_stranger_of(&table, &seen));
	}
	assert_int_equal(count_logged(&table), before);
	ft_nccl_strangers_free(&table);
}

static void packet_to(struct ft_nccl_stranger_table *table, uint32_t qpn)
{
	struct ft_nccl_seen seen = write_to(qpn);

	assert_non_null(ft_nccl_stranger_of(table, &seen));
}

static bool is_remembered(const struct ft_nccl_stranger *stranger, uint32_t qpn)
{
	return stranger->used && stranger->qpn == qpn;
}

/* Of those without packets kept, by any packet: here all have one but the first few, which have more later. */
static void who_was_silent_longest_makes_room(void **state)
{
	static struct ft_nccl_stranger_table table = { .seed = 7, .most_logs = 1 };
	enum { FEW = 10 };

	(void)state;
	for (uint32_t qpn = 1; qpn <= FT_NCCL_STRANGERS; qpn++)
		packet_to(&table, qpn);
	for (uint32_t qpn = 1; qpn <= FEW; qpn++)
		packet_to(&table, qpn);
	for (uint32_t i = 0; i < FEW; i++) {
		struct ft_nccl_stranger *idlest = &table.strangers[FEW + i];
		struct ft_nccl_seen seen = write_to(1000000 + i);

		assert_true(is_remembered(idlest, FEW + i + 1));
		assert_ptr_equal(ft_nccl_stranger_of(&table, &seen), idlest);
		assert_true(is_remembered(idlest, 1000000 + i));
	}
	for (uint32_t qpn = 1; qpn <= FEW; qpn++)
		assert_true(is_remembered(&table.strangers[qpn - 1], qpn));
	ft_nccl_strangers_free(&table);
}

/* Any of them, and it is forgotten or excluded at times; of many more than there are places. */
static uint32_t step(struct ft_nccl_stranger_table *table, uint32_t qpn, unsigned what)
{
	struct ft_nccl_seen seen = write_to(qpn);
	struct ft_nccl_stranger *stranger = ft_nccl_stranger_of(table, &seen);
	const uint32_t place = (uint32_t)(stranger - table->strangers);

	if (what < 60)
		ft_nccl_stranger_keep(table, stranger, &seen);
	else if (what < 65)
		ft_nccl_stranger_forget(table, stranger);
	else if (what < 70)
		ft_nccl_stranger_exclude(table, stranger);
	return place;
}

static void who_stands_where_depends_on_no_seed(void **state)
{
	static struct ft_nccl_stranger_table one = { .seed = 7,
						     .most_logs = FT_NCCL_STRANGER_LOGS_BESIDE };
	static struct ft_nccl_stranger_table other = { .seed = 0xfeedbeef,
						       .most_logs = FT_NCCL_STRANGER_LOGS_BESIDE };

	(void)state;
	srand(20261130);
	for (unsigned i = 0; i < 20 * FT_NCCL_STRANGERS; i++) {
		const uint32_t qpn = (uint32_t)rand() % (2 * FT_NCCL_STRANGERS);
		const unsigned what = (unsigned)rand() % 100;

		assert_int_equal(step(&one, qpn, what), step(&other, qpn, what));
	}
	assert_memory_equal(one.logged, other.logged, sizeof one.logged);
	ft_nccl_strangers_free(&one);
	ft_nccl_strangers_free(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_with_logs_are_found_in_the_order_of_their_places),
		cmocka_unit_test(one_alone_is_found_wherever_it_is),
		cmocka_unit_test(logs_of_the_idle_go_to_others),
		cmocka_unit_test(clear_to_sends_have_the_logs_of_data),
		cmocka_unit_test(who_has_packets_kept_is_not_pushed_out),
		cmocka_unit_test(who_was_silent_longest_makes_room),
		cmocka_unit_test(who_stands_where_depends_on_no_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
