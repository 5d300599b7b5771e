#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include <flow/table.h>

enum { SEED = 12345 };

static struct ft_flow_key key_number(uint32_t number)
{
	struct ft_flow_key key = { .dest_qp = number & 0xffffff, .base = 0x7fff };

	memcpy(key.src, &number, sizeof number);
	return key;
}

static struct ft_flow *touch(struct ft_flow_table *table, uint32_t number, uint64_t ts_ns)
{
	struct ft_flow_key key = key_number(number);
	struct ft_flow *flow =
		ft_flow_find_or_create(table, &key, ft_flow_hash(table, &key), ts_ns);

	flow->last_ns = ts_ns;
	flow->packets++;
	return flow;
}

static struct ft_flow *look(struct ft_flow_table *table, uint32_t number)
{
	struct ft_flow_key key = key_number(number);

	return ft_flow_find(table, &key, ft_flow_hash(table, &key));
}

static void a_capacity_out_of_range_is_refused(void **state)
{
	struct ft_flow_table *table = NULL;

	(void)state;
	assert_int_equal(ft_flow_table_create(&table, 0, SEED), -EINVAL);
	assert_int_equal(ft_flow_table_create(&table, (1u << 28) + 1, SEED), -EINVAL);
	assert_null(table);
}

static void a_new_record_is_empty_and_found_again(void **state)
{
	struct ft_flow_table *table;
	struct ft_flow_key key = key_number(7);
	struct ft_flow *flow;

	(void)state;
	assert_int_equal(ft_flow_table_create(&table, 10, SEED), 0);
	assert_null(look(table, 7));
	flow = ft_flow_find_or_create(table, &key, ft_flow_hash(table, &key), 99);
	assert_int_equal(flow->packets, 0);
	assert_int_equal(flow->last_ns, 99);
	assert_int_equal(flow->first_base, FT_FLOW_NO_BASE);
	assert_ptr_equal(look(table, 7), flow);
	assert_null(look(table, 8));
	ft_flow_table_destroy(table);
}

static void keys_that_differ_in_one_field_are_apart(void **state)
{
	struct ft_flow_table *table;
	struct ft_flow_key keys[8];

	(void)state;
	assert_int_equal(ft_flow_table_create(&table, 16, SEED), 0);
	for (int i = 0; i < 8; i++)
		keys[i] = key_number(1);
	keys[1].src[15] = 1;
	keys[2].dst[0] = 1;
	keys[3].dest_qp = 2;
	keys[4].vni = 5;
	keys[5].base = 1;
	keys[6].vlan = 100;
	keys[7].by_lid = 1;
	for (int i = 0; i < 8; i++)
		ft_flow_find_or_create(table, &keys[i], ft_flow_hash(table, &keys[i]), 0);
	assert_int_equal(ft_flow_table_stats(table).used, 8);
	assert_int_equal(ft_flow_table_stats(table).created, 8);
	ft_flow_table_destroy(table);
}

static void a_full_table_evicts_the_idlest_and_counts_it(void **state)
{
	struct ft_flow_table *table;

	(void)state;
	assert_int_equal(ft_flow_table_create(&table, 4, SEED), 0);
	touch(table, 0, 100);
	touch(table, 1, 50);
	touch(table, 2, 200);
	touch(table, 3, 300);
	touch(table, 4, 400);
	assert_null(look(table, 1));
	for (uint32_t number = 2; number <= 4; number++)
		assert_non_null(look(table, number));
	assert_non_null(look(table, 0));
	assert_int_equal(ft_flow_table_stats(table).evicted, 1);
	assert_int_equal(ft_flow_table_stats(table).used, 4);
	ft_flow_table_destroy(table);
}

static void count_told(void *context, struct ft_flow *flow)
{
	uint32_t *told = context;

	(void)flow;
	++*told;
}

static void what_fell_silent_makes_room_before_memory_is_taken(void **state)
{
	struct ft_flow_table *table;
	uint32_t told = 0;

	(void)state;
	assert_int_equal(ft_flow_table_create(&table, 100, SEED), 0);
	ft_flow_expire_after(table, 1000);
	ft_flow_on_evict(table, count_told, &told);
	for (uint32_t number = 0; number < 10; number++)
		touch(table, number, 100);
	for (uint32_t number = 10; number < 20; number++) /* none is silent for longer yet */
		touch(table, number, 1100);
	assert_int_equal(ft_flow_table_stats(table).used, 20);
	for (uint32_t number = 20; number < 30; number++)
		touch(table, number, 1101);
	assert_int_equal(ft_flow_table_stats(table).used, 20);
	assert_int_equal(ft_flow_table_stats(table).expired, 10);
	assert_int_equal(ft_flow_table_stats(table).evicted, 0);
	assert_int_equal(told, 10);
	for (uint32_t number = 0; number < 30; number++)
		assert_true((look(table, number) != NULL) == (number >= 10));
	ft_flow_table_destroy(table);
}

/* A record that no frame with a time was of (0) may be in use: it goes when the table is full, and not before. */
static void what_has_no_time_is_not_taken_for_silent(void **state)
{
	struct ft_flow_table *table;

	(void)state;
	assert_int_equal(ft_flow_table_create(&table, 4, SEED), 0);
	ft_flow_expire_after(table, 1000);
	touch(table, 0, 0);
	touch(table, 1, 0);
	touch(table, 2, 100000);
	touch(table, 3, 200000);
	touch(table, 4, 200001);
	assert_null(look(table, 2)); /* it is the one that fell silent */
	assert_non_null(look(table, 0));
	assert_non_null(look(table, 1));
	assert_int_equal(ft_flow_table_stats(table).expired, 1);
	touch(table, 5, 200002);
	assert_true((look(table, 0) == NULL) != (look(table, 1) == NULL));
	assert_int_equal(ft_flow_table_stats(table).evicted, 1);
	ft_flow_table_destroy(table);
}

/* Every record that the table still holds is found, whatever was inserted and evicted before. */
static void ten_thousand_insertions_leave_a_table_that_finds_what_it_holds(void **state)
{
	enum { CAPACITY = 500, INSERTIONS = 10000 };
	struct ft_flow_table *table;
	uint64_t random = 88172645463325252u;
	uint32_t found = 0;

	(void)state;
	assert_int_equal(ft_flow_table_create(&table, CAPACITY, SEED), 0);
	for (uint32_t i = 0; i < INSERTIONS; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		touch(table, (uint32_t)(random % 2000), i);
		assert_non_null(look(table, (uint32_t)(random % 2000)));
	}
	for (uint32_t number = 0; number < 2000; number++)
		found += look(table, number) != NULL;
	assert_int_equal(found, CAPACITY);
	assert_int_equal(ft_flow_table_stats(table).created - ft_flow_table_stats(table).evicted,
			 CAPACITY);
	ft_flow_table_destroy(table);
}

/* Also when it outgrows its first, small index. */
static void nothing_is_lost_while_a_table_fills(void **state)
{
	enum { RECORDS = 20000, STEP = 7 };
	struct ft_flow_table *table;

	(void)state;
	assert_int_equal(ft_flow_table_create(&table, RECORDS, SEED), 0);
	for (uint32_t number = 0; number < RECORDS; number++) {
		touch(table, number, number)->packets = number;
		assert_int_equal(look(table, number)->packets, number);
		assert_int_equal(look(table, number / STEP)->packets, number / STEP);
	}
	assert_int_equal(ft_flow_table_stats(table).used, RECORDS);
	for (uint32_t number = 0; number < RECORDS; number++)
		assert_int_equal(look(table, number)->packets, number);
	assert_null(look(table, RECORDS));
	ft_flow_table_destroy(table);
}

/* Records visited, by what their keys are numbered with. */
struct visited {
	uint32_t numbers[64], count, most;
};

static bool note(void *context, const struct ft_flow *flow)
{
	struct visited *visited = context;

	assert_true(visited->count < visited->most);
	memcpy(&visited->numbers[visited->count++], flow->key.src, sizeof visited->numbers[0]);
	return visited->count < visited->most;
}

/* 300 halves of 0 to 9 packets: every tenth has 9, and the last of all. */
static void all_records_are_visited_in_order_until_told_to_stop(void **state)
{
	struct visited all = { .most = 64 }, three = { .most = 3 };
	struct ft_flow_table *table;

	(void)state;
	assert_int_equal(ft_flow_table_create(&table, 1000, SEED), 0);
	ft_flow_each(table, note, &all);
	assert_int_equal(all.count, 0);
	for (uint32_t number = 0; number < 50; number++)
		touch(table, number, 1);
	ft_flow_each(table, note, &all);
	assert_int_equal(all.count, 50);
	for (uint32_t i = 0; i < all.count; i++)
		assert_int_equal(all.numbers[i], i);
	ft_flow_each(table, note, &three);
	assert_int_equal(three.count, 3);
	ft_flow_table_destroy(table);
}

static void a_turned_key_is_that_of_the_other_way(void **state)
{
	const struct ft_flow_key key = { .src = { 1 },
					 .dst = { 2 },
					 .dest_qp = 3,
					 .vni = 4,
					 .base = 5,
					 .vlan = 6,
					 .by_lid = 1 };
	const struct ft_flow_key wanted = { .src = { 2 },
					    .dst = { 1 },
					    .dest_qp = 3,
					    .vni = 4,
					    .base = 5,
					    .vlan = 6,
					    .by_lid = 1 };
	const struct ft_flow_key turned = ft_flow_key_turned(&key);

	(void)state;
	assert_memory_equal(&turned, &wanted, sizeof turned);
}

static void a_record_that_comes_back_begins_anew_in_its_place(void **state)
{
	const struct ft_flow_key key = key_number(7);
	struct ft_flow_table *table;
	struct ft_flow *flow;
	uint32_t told = 0;

	(void)state;
	assert_int_equal(ft_flow_table_create(&table, 10, SEED), 0);
	ft_flow_on_evict(table, count_told, &told);
	flow = touch(table, 7, 100);
	ft_flow_renew(table, flow, 9000);
	assert_int_equal(told, 1);
	assert_ptr_equal(look(table, 7), flow);
	assert_memory_equal(&flow->key, &key, sizeof key);
	assert_int_equal(flow->packets, 0);
	assert_int_equal(flow->last_ns, 9000);
	assert_int_equal(ft_flow_table_stats(table).used, 1);
	assert_int_equal(ft_flow_table_stats(table).created, 2);
	assert_int_equal(ft_flow_table_stats(table).expired, 1);
	assert_int_equal(ft_flow_table_stats(table).evicted, 0);
	ft_flow_table_destroy(table);
}

/* Also where others have the same place. */
static void a_hash_leads_to_its_record(void **state)
{
	enum { MANY = 5000 };
	struct ft_flow_table *table;

	(void)state;
	assert_int_equal(ft_flow_table_create(&table, MANY, SEED), 0);
	for (uint32_t number = 0; number < MANY; number++)
		touch(table, number, 1);
	for (uint32_t number = 0; number < MANY; number++) {
		const struct ft_flow_key key = key_number(number);
		uint32_t record = ft_flow_likely(table, ft_flow_hash(table, &key));

		assert_int_equal(record, number + 1);
		assert_int_equal(ft_flow_peek(table, ft_flow_hash(table, &key)), record);
		assert_ptr_equal(ft_flow_confirm(table, record, &key), look(table, number));
		assert_null(ft_flow_confirm(table, (number + 1) % MANY + 1, &key));
		assert_null(ft_flow_confirm(table, 0, &key));
	}
	ft_flow_table_destroy(table);
}

/* Where the same addresses and queue pair are of several half-connections, each is found by its VLAN. */
static void a_half_connection_is_found_by_its_vlan_where_several_share_a_key(void **state)
{
	enum { FIRST = 10, SEEN_TOO = 11, OTHERS = 20, NOBODYS = 30 };
	struct ft_flow_key open = key_number(7), other, asked;
	struct ft_flow_table *table;
	struct ft_flow *whole, *apart;

	(void)state;
	assert_int_equal(ft_flow_table_create(&table, 10, SEED), 0);
	open.base = FT_FLOW_ANY_BASE;
	open.vlan = FT_FLOW_ANY_VLAN;
	asked = open;
	asked.base = 0x7fff;
	asked.vlan = OTHERS;
	assert_null(ft_flow_find_whole(table, &asked, OTHERS));
	whole = ft_flow_find_or_create(table, &open, ft_flow_hash(table, &open), 1);
	whole->vlan = FIRST;
	/* one alone has all VLANs */
	assert_ptr_equal(ft_flow_find_whole(table, &asked, OTHERS), whole);
	other = open;
	other.vlan = OTHERS;
	apart = ft_flow_find_or_create(table, &other, ft_flow_hash(table, &other), 1);
	whole->elsewhere = FT_FLOW_SHARED | FT_FLOW_SEEN | SEEN_TOO;
	assert_ptr_equal(ft_flow_find_whole(table, &asked, FIRST), whole);
	assert_ptr_equal(ft_flow_find_whole(table, &asked, SEEN_TOO), whole);
	assert_ptr_equal(ft_flow_find_whole(table, &asked, FT_FLOW_ANY_VLAN), whole);
	assert_ptr_equal(ft_flow_find_whole(table, &asked, OTHERS), apart);
	assert_null(ft_flow_find_whole(table, &asked, NOBODYS));
	ft_flow_table_destroy(table);
}

static void busy_records_are_visited_in_order_and_no_others(void **state)
{
	struct visited all = { .most = 64 }, three = { .most = 3 };
	struct ft_flow_table *table;

	(void)state;
	assert_int_equal(ft_flow_table_create(&table, 1000, SEED), 0);
	ft_flow_each_busy(table, 0, note, &all);
	assert_int_equal(all.count, 0);
	for (uint32_t number = 0; number < 300; number++)
		touch(table, number, 1)->packets = number % 10;
	ft_flow_each_busy(table, 9, note, &all);
	assert_int_equal(all.count, 30);
	for (uint32_t i = 0; i < all.count; i++)
		assert_int_equal(all.numbers[i], 10 * i + 9);
	ft_flow_each_busy(table, 9, note, &three);
	assert_int_equal(three.count, 3);
	ft_flow_table_destroy(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_capacity_out_of_range_is_refused),
		cmocka_unit_test(a_new_record_is_empty_and_found_again),
		cmocka_unit_test(keys_that_differ_in_one_field_are_apart),
		cmocka_unit_test(a_full_table_evicts_the_idlest_and_counts_it),
		cmocka_unit_test(what_fell_silent_makes_room_before_memory_is_taken),
		cmocka_unit_test(what_has_no_time_is_not_taken_for_silent),
		cmocka_unit_test(ten_thousand_insertions_leave_a_table_that_finds_what_it_holds),
		cmocka_unit_test(nothing_is_lost_while_a_table_fills),
		cmocka_unit_test(all_records_are_visited_in_order_until_told_to_stop),
		cmocka_unit_test(a_turned_key_is_that_of_the_other_way),
		cmocka_unit_test(a_record_that_comes_back_begins_anew_in_its_place),
		cmocka_unit_test(a_hash_leads_to_its_record),
		cmocka_unit_test(a_half_connection_is_found_by_its_vlan_where_several_share_a_key),
		cmocka_unit_test(busy_records_are_visited_in_order_and_no_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
