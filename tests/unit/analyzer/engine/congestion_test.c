#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <partition/declared.h>

#include "congestion.h"

enum { RED, BLUE, GREEN, TENANTS };
enum { CNP = 0x81, WRITE_ONLY = 0x0a, ECT = 2, CE = 3, MOST_PACKETS = 6 };
enum how { END, PLAIN, MARKED, BY_FECN, TOLD, BY_BECN, BOTH };

/*
 * Packets from one tenant's host to another's, in order; hosts are numbers. TOLD is a CNP: from the receiver,
 * to the sender that is to slow down; BY_BECN any other packet that says so without IP; BOTH was marked on its way, too.
 * Expected: CNPs, or the like, that each tenant caused.
 */
static const struct row {
	const char *says;
	struct packet {
		enum how how;
		uint32_t from, to; /* tenants */
		uint8_t src, dst;  /* hosts */
	} packets[MOST_PACKETS];
	uint64_t caused[TENANTS];
} rows[] = {
	{ "a marked sender that is told itself",
	  { { MARKED, RED, RED, 1, 9 }, { TOLD, RED, RED, 9, 1 } },
	  { 1 } },
	{ "no mark was seen: the one that is told",
	  { { PLAIN, RED, RED, 1, 9 }, { TOLD, RED, RED, 9, 1 } },
	  { 1 } },
	{ "a neighbour filled the queue: the last that was marked there",
	  { { MARKED, RED, GREEN, 1, 9 },
	    { MARKED, BLUE, GREEN, 2, 9 },
	    { TOLD, GREEN, RED, 9, 1 } },
	  { [BLUE] = 1 } },
	{ "a mark towards another receiver says nothing",
	  { { MARKED, BLUE, GREEN, 2, 8 }, { TOLD, GREEN, RED, 9, 1 } },
	  { [RED] = 1 } },
	{ "a packet that was not marked says nothing",
	  { { MARKED, BLUE, GREEN, 2, 9 },
	    { PLAIN, RED, GREEN, 1, 9 },
	    { TOLD, GREEN, RED, 9, 1 } },
	  { [BLUE] = 1 } },
	{ "a mark stands for all CNPs until the next",
	  { { MARKED, BLUE, GREEN, 2, 9 },
	    { TOLD, GREEN, RED, 9, 1 },
	    { TOLD, GREEN, BLUE, 9, 2 },
	    { MARKED, RED, GREEN, 1, 9 },
	    { TOLD, GREEN, BLUE, 9, 2 } },
	  { [RED] = 1, [BLUE] = 2 } },
	{ "FECN where there is no IP",
	  { { BY_FECN, BLUE, GREEN, 2, 9 }, { TOLD, GREEN, RED, 9, 1 } },
	  { [BLUE] = 1 } },
	{ "BECN likewise: who answers tells who asked",
	  { { BY_FECN, BLUE, GREEN, 2, 9 },
	    { BY_BECN, GREEN, RED, 9, 1 },
	    { BY_BECN, GREEN, BLUE, 9, 2 } },
	  { [BLUE] = 2 } },
	{ "a packet tells of one way and was marked on the other",
	  { { BY_FECN, BLUE, GREEN, 2, 9 },
	    { BOTH, GREEN, RED, 9, 1 },
	    { BY_BECN, RED, BLUE, 1, 7 } },
	  { [BLUE] = 1, [GREEN] = 1 } },
	{ "nobody's packets fill queues, too: no tenant caused it",
	  { { MARKED, FT_NONE, GREEN, 7, 9 }, { TOLD, GREEN, RED, 9, 1 } },
	  { 0 } },
	{ "a CNP to nobody, and no mark", { { TOLD, GREEN, FT_NONE, 9, 7 } }, { 0 } },
};

static struct ft_item item_of(const struct packet *packet)
{
	struct ft_item item = {
		.has_flow = true,
		.from = packet->from,
		.to = packet->to,
		.flow_key = { .src = { [15] = packet->src }, .dst = { [15] = packet->dst } },
	};

	static const uint32_t bits[] = { [BY_FECN] = FT_OBSERVED_FECN,
					 [BY_BECN] = FT_OBSERVED_BECN,
					 [BOTH] = FT_OBSERVED_FECN | FT_OBSERVED_BECN };

	item.observed.has =
		FT_OBSERVED_BTH |
		(packet->how < BY_FECN || packet->how == TOLD ? FT_OBSERVED_IP : bits[packet->how]);
	item.observed.opcode = packet->how == TOLD ? CNP : WRITE_ONLY;
	item.observed.ecn = packet->how == MARKED ? CE : ECT;
	return item;
}

static bool row_holds(const struct row *row)
{
	struct ft_congestion congestion;
	bool same = true;

	assert_int_equal(ft_congestion_init(&congestion, TENANTS, 7), 0);
	for (unsigned i = 0; i < MOST_PACKETS && row->packets[i].how != END; i++) {
		struct ft_item item = item_of(&row->packets[i]);

		same = same && ft_tells_of_congestion(&item) == (row->packets[i].how != PLAIN);
		ft_congestion_see(&congestion, &item);
	}
	for (unsigned i = 0; i < TENANTS; i++)
		same = same && congestion.caused[i] == row->caused[i];
	if (!same)
		print_error("%s: red %ju, blue %ju, green %ju\n", row->says,
			    (uintmax_t)congestion.caused[RED], (uintmax_t)congestion.caused[BLUE],
			    (uintmax_t)congestion.caused[GREEN]);
	ft_congestion_free(&congestion);
	return same;
}

static void a_cnp_is_held_against_who_filled_the_queue(void **state)
{
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		wrong += !row_holds(&rows[i]);
	assert_int_equal(wrong, 0);
}

static void marks_are_those_of_ip_where_there_is_ip(void **state)
{
	(void)state;
	assert_true(ft_is_marked(&(struct ft_observed){ .has = FT_OBSERVED_IP, .ecn = CE }));
	assert_false(ft_is_marked(&(struct ft_observed){ .has = FT_OBSERVED_IP, .ecn = ECT }));
	assert_false(ft_is_marked(
		&(struct ft_observed){ .has = FT_OBSERVED_IP | FT_OBSERVED_FECN, .ecn = ECT }));
	assert_true(ft_is_marked(&(struct ft_observed){ .has = FT_OBSERVED_FECN }));
	assert_false(ft_is_marked(&(struct ft_observed){ .ecn = CE }));
}

static void notices_are_cnps_or_where_there_is_no_ip_becn(void **state)
{
	const uint32_t becn = FT_OBSERVED_BTH | FT_OBSERVED_BECN;

	(void)state;
	assert_true(ft_is_notice(
		&(struct ft_observed){ .has = FT_OBSERVED_BTH | FT_OBSERVED_IP, .opcode = CNP }));
	assert_true(ft_is_notice(&(struct ft_observed){ .has = becn, .opcode = CNP }));
	assert_true(ft_is_notice(&(struct ft_observed){ .has = becn, .opcode = WRITE_ONLY }));
	assert_false(ft_is_notice(
		&(struct ft_observed){ .has = becn | FT_OBSERVED_IP, .opcode = WRITE_ONLY }));
}

static void without_a_half_connection_nothing_is_told(void **state)
{
	struct ft_item item = item_of(&(struct packet){ TOLD, GREEN, RED, 9, 1 });

	(void)state;
	item.has_flow = false;
	assert_false(ft_tells_of_congestion(&item));
}

/* Red and blue both have a host 9. */
static void receivers_with_one_address_are_told_apart(void **state)
{
	static const struct {
		bool by_segment, by_lid;
		uint32_t vnis[2];
		uint64_t blue; /* of the CNP that red's host 9 sends after blue's was marked */
	} ways[] = {
		{ true, false, { 1, 1 }, 0 },  { true, false, { 1, 2 }, 0 },
		{ false, false, { 1, 1 }, 1 }, { false, false, { 1, 2 }, 0 },
		{ true, true, { 1, 1 }, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		struct ft_item marked = item_of(&(struct packet){ MARKED, BLUE, BLUE, 1, 9 });
		struct ft_item told = item_of(&(struct packet){ TOLD, RED, RED, 9, 1 });
		struct ft_congestion congestion;

		assert_int_equal(ft_congestion_init(&congestion, TENANTS, 7), 0);
		congestion.by_segment = ways[i].by_segment;
		marked.flow_key.by_lid = told.flow_key.by_lid = ways[i].by_lid;
		marked.flow_key.vni = ways[i].vnis[0];
		told.flow_key.vni = ways[i].vnis[1];
		ft_congestion_see(&congestion, &marked);
		ft_congestion_see(&congestion, &told);
		assert_int_equal(congestion.caused[BLUE], ways[i].blue);
		assert_int_equal(congestion.caused[RED], !ways[i].blue);
		ft_congestion_free(&congestion);
	}
}

/* Whatever the seed, receivers do not take each other's places. */
static void many_receivers_are_told_apart(void **state)
{
	enum { RECEIVERS = 20000 };

	(void)state;
	for (uint64_t seed = 0; seed < 3; seed++) {
		struct ft_congestion congestion;

		assert_int_equal(ft_congestion_init(&congestion, TENANTS, seed), 0);
		for (unsigned told = 0; told < 2; told++)
			for (unsigned i = 0; i < RECEIVERS; i++) {
				const struct packet packets[] = { { MARKED, BLUE, GREEN, 2, 9 },
								  { TOLD, GREEN, RED, 9, 1 } };
				struct ft_item item = item_of(&packets[told]);
				uint8_t *receiver =
					told == 0 ? item.flow_key.dst : item.flow_key.src;

				receiver[12] = (uint8_t)(i >> 8);
				receiver[13] = (uint8_t)i;
				ft_congestion_see(&congestion, &item);
			}
		assert_int_equal(congestion.caused[BLUE], RECEIVERS);
		assert_int_equal(congestion.caused[RED], 0);
		ft_congestion_free(&congestion);
	}
}

/* Forged marks, each to another address: those remembered before stay, and it ends. */
static void receivers_beyond_the_room_are_not_remembered(void **state)
{
	enum { FORGED = 300000 };
	const struct packet first = { MARKED, BLUE, GREEN, 2, 9 },
			    told = { TOLD, GREEN, RED, 9, 1 };
	struct ft_congestion congestion;
	struct ft_item item = item_of(&first);

	(void)state;
	assert_int_equal(ft_congestion_init(&congestion, TENANTS, 7), 0);
	ft_congestion_see(&congestion, &item);
	for (uint32_t i = 1; i <= FORGED; i++) {
		item.flow_key.dst[0] = (uint8_t)i;
		item.flow_key.dst[1] = (uint8_t)(i >> 8);
		item.flow_key.dst[2] = (uint8_t)(i >> 16);
		ft_congestion_see(&congestion, &item);
	}
	item = item_of(&told);
	ft_congestion_see(&congestion, &item);
	assert_int_equal(congestion.caused[BLUE], 1);
	item.flow_key.src[0] = (uint8_t)FORGED;
	item.flow_key.src[1] = (uint8_t)(FORGED >> 8);
	item.flow_key.src[2] = (uint8_t)(FORGED >> 16);
	ft_congestion_see(&congestion, &item);
	assert_int_equal(congestion.caused[RED], 1);
	ft_congestion_free(&congestion);
}

/* A map that is read again may have more tenants: nothing was held against them before, and what was against others stays. */
static void tenants_that_come_later_are_held_to_it_too(void **state)
{
	enum { NEW = TENANTS, MORE = 1000 };
	static const struct packet packets[] = { { TOLD, GREEN, RED, 9, 1 },
						 { TOLD, GREEN, NEW, 9, 1 } };
	struct ft_congestion congestion;
	struct ft_item items[] = { item_of(&packets[0]), item_of(&packets[1]) };

	(void)state;
	assert_int_equal(ft_congestion_init(&congestion, TENANTS, 7), 0);
	ft_congestion_see(&congestion, &items[0]);
	ft_congestion_see(&congestion, &items[1]);
	assert_int_equal(ft_congestion_grow(&congestion, TENANTS + MORE), 0);
	for (uint32_t tenant = NEW; tenant < TENANTS + MORE; tenant++)
		assert_int_equal(congestion.caused[tenant], 0);
	ft_congestion_see(&congestion, &items[1]);
	assert_int_equal(congestion.caused[RED], 1);
	assert_int_equal(congestion.caused[NEW], 1);
	ft_congestion_free(&congestion);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cnp_is_held_against_who_filled_the_queue),
		cmocka_unit_test(marks_are_those_of_ip_where_there_is_ip),
		cmocka_unit_test(notices_are_cnps_or_where_there_is_no_ip_becn),
		cmocka_unit_test(without_a_half_connection_nothing_is_told),
		cmocka_unit_test(receivers_with_one_address_are_told_apart),
		cmocka_unit_test(many_receivers_are_told_apart),
		cmocka_unit_test(receivers_beyond_the_room_are_not_remembered),
		cmocka_unit_test(tenants_that_come_later_are_held_to_it_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
