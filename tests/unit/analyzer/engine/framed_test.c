#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "framed.h"

enum { OVERLAY = 5001 };

/*
 * Hosts are the last byte of an address. Connection 5 goes from hosts 1 and 3, two devices of one process, to hosts 2
 * and 4; connection 9, which no set-up named, from host 2 to host 1.
 */
static const struct ft_nccl_connection two_devices = {
	.connection = 5,
	.found_by = FT_NCCL_BY_METADATA,
	.is_set_up = true,
	.nets = { FT_NCCL_NET_VNI | OVERLAY },
	.net_count = 1,
	.qp_count = 2,
	.devices = 2,
	.channel = 1,
	.sender = { .places = { { .address = { [15] = 1 } }, { .address = { [15] = 3 } } },
		    .place_count = 2,
		    .has_rank = true,
		    .rank = 7,
		    .qpns = { 11, 12 },
		    .qp_device = { 0, 1 } },
	.receiver = { .places = { { .address = { [15] = 2 } }, { .address = { [15] = 4 } } },
		      .place_count = 2,
		      .qpns = { 21, 22 },
		      .qp_device = { 0, 1 } },
};
static const struct ft_nccl_connection by_cts = {
	.connection = 9,
	.found_by = FT_NCCL_BY_CTS,
	.nets = { FT_NCCL_NET_VNI | OVERLAY },
	.net_count = 1,
	.qp_count = 2,
	.devices = 1,
	.channel = FT_NCCL_NONE,
	.sender = { .places = { { .address = { [15] = 2 } } },
		    .place_count = 1,
		    .qpns = { 23, FT_NCCL_NONE } },
	.receiver = { .places = { { .address = { [15] = 1 } } },
		      .place_count = 1,
		      .has_rank = true,
		      .rank = 3,
		      .qpns = { 13, 14 } },
};
static const struct ft_nccl_connection native = {
	.connection = 2,
	.found_by = FT_NCCL_BY_METADATA,
	.is_set_up = true,
	.qp_count = 1,
	.devices = 1,
	.channel = FT_NCCL_NONE,
	.sender = { .places = { { { [14] = 0x12, [15] = 0x34 }, true } },
		    .place_count = 1,
		    .qpns = { 31 } },
	.receiver = { .places = { { { [15] = 17 }, true } }, .place_count = 1, .qpns = { 41 } },
};

static const struct ft_nccl_connection *const connections[] = { &two_devices, &by_cts, &native };

#define NCCL(host, number)                                                                         \
	{                                                                                          \
		.place.address = { [15] = (host) }, .qpn = (number), .class = FT_NCCL_CLASS_NCCL,  \
		.confidence = 0.75                                                                 \
	}

static const struct ft_nccl_queue_pair queue_pairs[] = {
	NCCL(1, 11),
	NCCL(3, 12),
	NCCL(2, 21),
	NCCL(4, 22),
	NCCL(2, 23),
	NCCL(1, 13),
	NCCL(1, 14),
	{ .place.address = { [15] = 1 }, .qpn = 50, .class = FT_NCCL_CLASS_UCX, .confidence = 0.5 },
	{ .place.address = { [15] = 1 }, .qpn = 51 },
	{ .place = { { [14] = 0x12, [15] = 0x34 }, true }, .qpn = 31, .class = FT_NCCL_CLASS_NCCL },
	{ .place = { { [15] = 17 }, true }, .qpn = 41, .class = FT_NCCL_CLASS_NCCL },
};

static const struct ft_nccl_report report = {
	.connections = connections,
	.connection_count = sizeof connections / sizeof connections[0],
	.queue_pairs = queue_pairs,
	.queue_pair_count = sizeof queue_pairs / sizeof queue_pairs[0],
};

static struct ft_framed *framed;

static int open_framed(void **state)
{
	(void)state;
	return ft_framed_create(&framed, &report, 4711);
}

static int close_framed(void **state)
{
	(void)state;
	ft_framed_destroy(framed);
	return 0;
}

static struct ft_flow_key key_of(uint8_t from, uint8_t to, uint32_t dest_qp)
{
	struct ft_flow_key key = { .dest_qp = dest_qp,
				   .vni = OVERLAY,
				   .base = FT_FLOW_ANY_BASE,
				   .vlan = FT_FLOW_ANY_VLAN };

	key.src[15] = from;
	key.dst[15] = to;
	return key;
}

static void a_half_is_told_by_its_queue_pair_and_by_who_sends_it(void **state)
{
	static const struct {
		const char *sentence;
		uint8_t from, to;
		uint32_t dest_qp;
		const char *class, *role;
		uint64_t connection, channel;
		bool has_rank;
		int32_t rank;
	} cases[] = {
		{ "data", 1, 2, 21, "nccl", "data", 5, 1, true, 7 },
		{ "clear-to-sends, of whom no rank is known", 2, 1, 11, "nccl", "cts", 5, 1, false,
		  0 },
		{ "of the other device", 3, 4, 22, "nccl", "data", 5, 1, true, 7 },
		{ "from a device to another one's", 1, 4, 22, "nccl", "data", 5, 1, true, 7 },
		{ "of a connection that clear-to-sends showed", 1, 2, 23, "nccl", "cts", 9,
		  FT_UNKNOWN, true, 3 },
		{ "whose other queue pair is not known", 2, 1, 14, "nccl", "data", 9, FT_UNKNOWN,
		  false, 0 },
		{ "by somebody else", 6, 2, 21, "nccl", NULL, FT_UNKNOWN, FT_UNKNOWN, false, 0 },
		{ "of another library", 2, 1, 50, "ucx", NULL, FT_UNKNOWN, FT_UNKNOWN, false, 0 },
		{ "of nobody known", 2, 1, 51, NULL, NULL, 0, 0, false, 0 },
		{ "of a queue pair not met", 2, 1, 99, NULL, NULL, 0, 0, false, 0 },
		{ "with the same number elsewhere", 1, 3, 11, NULL, NULL, 0, 0, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ft_flow_key key = key_of(cases[i].from, cases[i].to, cases[i].dest_qp);
		struct ft_report_flow_nccl told = { 0 };

		print_message("%s\n", cases[i].sentence);
		assert_int_equal(ft_framed_tell(framed, &key, 0, &told), cases[i].class != NULL);
		if (cases[i].class == NULL) {
			assert_null(told.class);
			continue;
		}
		assert_string_equal(told.class, cases[i].class);
		assert_true(told.confidence == (strcmp(told.class, "nccl") == 0 ? 0.75 : 0.5));
		assert_int_equal(told.role == NULL, cases[i].role == NULL);
		if (told.role != NULL)
			assert_string_equal(told.role, cases[i].role);
		assert_int_equal(told.connection, cases[i].connection);
		assert_int_equal(told.channel, cases[i].channel);
		assert_int_equal(told.has_rank, cases[i].has_rank);
		assert_int_equal(told.rank, cases[i].rank);
	}
}

static void only_a_setup_names_the_other_half(void **state)
{
	static const struct {
		uint8_t from, to;
		uint32_t dest_qp, back; /* 0: none */
	} cases[] = {
		{ 1, 2, 21, 11 }, { 2, 1, 11, 21 }, { 3, 4, 22, 12 },
		{ 4, 3, 12, 22 }, { 1, 4, 22, 0 }, /* not its device */
		{ 6, 2, 21, 0 },  { 1, 2, 23, 0 },  { 2, 1, 13, 0 },
		{ 2, 1, 50, 0 },  { 2, 1, 99, 0 },
	};

	(void)state;
	assert_true(ft_framed_has_setups(framed));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ft_flow_key key = key_of(cases[i].from, cases[i].to, cases[i].dest_qp);
		const struct ft_flow_key wanted = key_of(cases[i].to, cases[i].from, cases[i].back);
		struct ft_flow_key back;

		key.base = 0x7fff;
		key.vlan = 100;
		assert_int_equal(ft_framed_back(framed, &key, 0, &back), cases[i].back != 0);
		if (cases[i].back != 0)
			assert_memory_equal(&back, &wanted, sizeof back);
	}
}

static void lids_are_found_as_keys_hold_them(void **state)
{
	const uint16_t sender = 0x1234, receiver = 17;
	struct ft_flow_key key = { .dest_qp = 41, .vni = FT_FLOW_NO_VNI, .by_lid = 1 };
	struct ft_report_flow_nccl told = { 0 };
	struct ft_flow_key back;

	(void)state;
	memcpy(key.src + 14, &sender, sizeof sender);
	memcpy(key.dst + 14, &receiver, sizeof receiver);
	assert_true(ft_framed_tell(framed, &key, 0, &told));
	assert_int_equal(told.connection, 2);
	assert_string_equal(told.role, "data");
	assert_true(ft_framed_back(framed, &key, 0, &back));
	assert_int_equal(back.dest_qp, 31);
	assert_int_equal(back.by_lid, 1);
	assert_memory_equal(back.src, key.dst, sizeof back.src);
	assert_memory_equal(back.dst, key.src, sizeof back.dst);
	key.by_lid = 0;
	assert_false(ft_framed_tell(framed, &key, 0, &told));
}

static void a_later_connection_has_the_queue_pair(void **state)
{
	struct ft_nccl_connection later = two_devices;
	const struct ft_nccl_connection *const both[] = { &two_devices, &later };
	const struct ft_nccl_report again = { .connections = both,
					      .connection_count = 2,
					      .queue_pairs = queue_pairs,
					      .queue_pair_count = 1 };
	struct ft_flow_key key = key_of(2, 1, 11), back;
	struct ft_report_flow_nccl told = { 0 };

	(void)state;
	ft_framed_destroy(framed);
	later.connection = 6;
	later.receiver.qpns[0] = 29;
	assert_int_equal(ft_framed_create(&framed, &again, 1), 0);
	assert_true(ft_framed_tell(framed, &key, 0, &told));
	assert_int_equal(told.connection, 6);
	assert_true(ft_framed_back(framed, &key, 0, &back));
	assert_int_equal(back.dest_qp, 29);
}

static void connections_in_two_vlans_both_have_the_queue_pair(void **state)
{
	struct ft_nccl_connection red = two_devices, blue = two_devices;
	const struct ft_nccl_connection *const both[] = { &red, &blue };
	const struct ft_nccl_report twins = { .connections = both,
					      .connection_count = 2,
					      .queue_pairs = queue_pairs,
					      .queue_pair_count = 4 };
	struct ft_flow_key key = key_of(2, 1, 11), back;
	struct ft_report_flow_nccl told = { 0 };

	(void)state;
	ft_framed_destroy(framed);
	key.vni = FT_FLOW_NO_VNI;
	red.nets[0] = 77;
	blue.nets[0] = 78;
	red.net_count = blue.net_count = 1;
	blue.connection = 6;
	blue.receiver.qpns[0] = 22;
	assert_int_equal(ft_framed_create(&framed, &twins, 1), 0);
	assert_true(ft_framed_tell(framed, &key, 77, &told));
	assert_int_equal(told.connection, 5);
	assert_true(ft_framed_tell(framed, &key, 0, &told)); /* without the tag: one of the two */
	assert_string_equal(told.role, "cts");
	key.vlan = 78;
	assert_true(ft_framed_tell(framed, &key, 78, &told));
	assert_int_equal(told.connection, 6);
	assert_true(ft_framed_back(framed, &key, 78, &back));
	assert_int_equal(back.dest_qp, 22);
	key.vlan = 79;
	assert_true(ft_framed_tell(framed, &key, 79, &told));
	assert_int_equal(told.connection, FT_UNKNOWN);
	assert_false(ft_framed_back(framed, &key, 79, &back));
}

/* Its addresses and numbers are another tenant's. */
static void in_another_overlay_nothing_is_the_connections(void **state)
{
	static const uint32_t others[] = { OVERLAY + 1, FT_FLOW_NO_VNI };

	(void)state;
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		struct ft_flow_key key = key_of(1, 2, 21), back;
		struct ft_report_flow_nccl told = { 0 };

		key.vni = others[i];
		assert_true(ft_framed_tell(framed, &key, 0, &told));
		assert_string_equal(told.class, "nccl");
		assert_null(told.role);
		assert_int_equal(told.connection, FT_UNKNOWN);
		assert_false(ft_framed_back(framed, &key, 0, &back));
	}
}

static void an_empty_report_tells_nothing(void **state)
{
	static const struct ft_nccl_report empty;
	struct ft_flow_key key = key_of(1, 2, 21), back;
	struct ft_report_flow_nccl told = { 0 };

	(void)state;
	ft_framed_destroy(framed);
	assert_int_equal(ft_framed_create(&framed, &empty, 1), 0);
	assert_false(ft_framed_tell(framed, &key, 0, &told));
	assert_false(ft_framed_back(framed, &key, 0, &back));
	assert_false(ft_framed_has_setups(framed));
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, open_framed, close_framed)
	const struct CMUnitTest tests[] = {
		EACH(a_half_is_told_by_its_queue_pair_and_by_who_sends_it),
		EACH(only_a_setup_names_the_other_half),
		EACH(lids_are_found_as_keys_hold_them),
		EACH(a_later_connection_has_the_queue_pair),
		EACH(connections_in_two_vlans_both_have_the_queue_pair),
		EACH(in_another_overlay_nothing_is_the_connections),
		EACH(an_empty_report_tells_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
