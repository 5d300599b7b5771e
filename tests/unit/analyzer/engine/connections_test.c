#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "connections.h"

enum {
	SEED = 12345,
	MAD = 256,
	HEADER = 24,
	PAYLOAD_AT = 62,
	REQ = 0x10,
	REP = 0x13,
	RTU = 0x14,
	SECOND = 1000000000,
	REQUESTS = 4096,
};

/* What the tracker was told last, in place of a tracker. */
static struct {
	unsigned times;
	struct ft_flow_key there, back;
	enum ft_paired_by by;
} told;

void ft_tracker_pair(struct ft_tracker *tracker, const struct ft_flow_key *there,
		     const struct ft_flow_key *back, enum ft_paired_by by)
{
	(void)tracker;
	told.times++;
	told.there = *there;
	told.back = *back;
	told.by = by;
}

static void put32(uint8_t *b, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		b[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void put24(uint8_t *b, uint32_t value)
{
	for (int i = 0; i < 3; i++)
		b[i] = (uint8_t)(value >> (16 - 8 * i));
}

/* A frame that holds a CM message between hosts 1 and 2, as the decoder would describe it. */
struct message {
	uint8_t frame[PAYLOAD_AT + MAD];
	struct ft_packet packet;
	struct ft_flow_key key;
};

static void start(struct message *message, uint16_t attribute, uint8_t from, uint8_t to)
{
	memset(message, 0, sizeof *message);
	message->packet.has = FT_HAS_IPV4 | FT_HAS_BTH | FT_HAS_DETH | FT_HAS_PAYLOAD | FT_HAS_MAD;
	message->packet.payload_offset = PAYLOAD_AT;
	message->packet.payload_captured = MAD;
	message->packet.mad.mgmt_class = 7;
	message->packet.mad.method = 3;
	message->packet.mad.attr_id = attribute;
	message->packet.src[15] = from;
	message->packet.dst[15] = to;
	message->key = (struct ft_flow_key){ .dest_qp = 1, .base = 0x7fff, .vlan = 9, .vni = 5 };
	message->key.src[15] = from;
	message->key.dst[15] = to;
}

/* IBA vol. 1, 12.6.5 */
static void start_req(struct message *message, uint32_t id, uint32_t qpn)
{
	uint8_t *req = message->frame + PAYLOAD_AT + HEADER;

	start(message, REQ, 1, 2);
	put32(req, id);
	put24(req + 32, qpn);
	req[56 + 15] = 1; /* primary path: local and remote GID */
	req[72 + 15] = 2;
}

/* IBA vol. 1, 12.6.8 */
static void start_rep(struct message *message, uint32_t id, uint32_t req_id, uint32_t qpn)
{
	uint8_t *rep = message->frame + PAYLOAD_AT + HEADER;

	start(message, REP, 2, 1);
	put32(rep, id);
	put32(rep + 4, req_id);
	put24(rep + 12, qpn);
}

static struct ft_connections *begin(void)
{
	struct ft_connections *connections;

	memset(&told, 0, sizeof told);
	assert_int_equal(ft_connections_create(&connections, SEED), 0);
	return connections;
}

static void see(struct ft_connections *connections, const struct message *message, uint64_t ts_ns)
{
	struct ft_connection_setup setup =
		ft_connection_setup_read(&message->packet, message->frame);

	ft_connections_see(connections, &setup, &message->key, ts_ns, NULL);
}

static void a_rep_that_answers_a_req_names_both_halves(void **state)
{
	struct ft_connections *connections = begin();
	struct message message;

	(void)state;
	start_req(&message, 0x11223344, 0x000abc);
	see(connections, &message, SECOND);
	assert_int_equal(told.times, 0);
	start_rep(&message, 0x55667788, 0x11223344, 0xfffdef);
	see(connections, &message, 2 * (uint64_t)SECOND);
	assert_int_equal(told.times, 1);
	assert_int_equal(told.by, FT_PAIRED_CM);
	assert_int_equal(told.there.src[15], 1);
	assert_int_equal(told.there.dst[15], 2);
	assert_int_equal(told.there.dest_qp, 0xfffdef);
	assert_int_equal(told.back.src[15], 2);
	assert_int_equal(told.back.dst[15], 1);
	assert_int_equal(told.back.dest_qp, 0x000abc);
	assert_int_equal(told.there.vni, 5);
	assert_int_equal(told.there.base, FT_FLOW_ANY_BASE);
	assert_int_equal(told.there.vlan, 9);
	ft_connections_destroy(connections);
}

static void a_rep_to_nobody_is_passed_over(void **state)
{
	static const struct {
		uint8_t from, to;
		uint32_t id;
		uint32_t vni;
	} cases[] = {
		{ 2, 1, 0x99999999, 5 }, /* another number */
		{ 3, 1, 0x11223344, 5 }, /* from another host */
		{ 1, 2, 0x11223344, 5 }, /* from the host that asked */
		{ 2, 1, 0x11223344, 6 }, /* in another overlay */
	};
	struct ft_connections *connections = begin();
	struct message message;

	(void)state;
	start_req(&message, 0x11223344, 10);
	see(connections, &message, SECOND);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		start_rep(&message, 7, cases[i].id, 20);
		message.key.src[15] = cases[i].from;
		message.key.dst[15] = cases[i].to;
		message.key.vni = cases[i].vni;
		see(connections, &message, SECOND);
	}
	assert_int_equal(told.times, 0);
	ft_connections_destroy(connections);
}

static void a_req_sent_again_is_the_same_connection(void **state)
{
	struct ft_connections *connections = begin();
	struct message message;

	(void)state;
	start_req(&message, 1, 10);
	see(connections, &message, SECOND);
	see(connections, &message, SECOND);
	start_rep(&message, 2, 1, 20);
	see(connections, &message, SECOND);
	see(connections, &message, SECOND);
	assert_int_equal(told.times, 2);
	assert_int_equal(told.there.dest_qp, 20);
	assert_int_equal(told.back.dest_qp, 10);
	ft_connections_destroy(connections);
}

static void a_req_grows_old(void **state)
{
	struct ft_connections *connections = begin();
	struct message message;

	(void)state;
	start_req(&message, 1, 10);
	see(connections, &message, SECOND);
	start_rep(&message, 2, 1, 20);
	see(connections, &message, 200 * (uint64_t)SECOND);
	assert_int_equal(told.times, 0);
	see(connections, &message, 100 * (uint64_t)SECOND);
	assert_int_equal(told.times, 1);
	ft_connections_destroy(connections);
}

static void a_flood_of_reqs_pushes_out_the_oldest(void **state)
{
	struct ft_connections *connections = begin();
	struct message message;

	(void)state;
	for (uint32_t id = 0; id <= REQUESTS; id++) {
		start_req(&message, id, 10 + id);
		see(connections, &message, SECOND);
	}
	start_rep(&message, 7, 0, 20);
	see(connections, &message, SECOND);
	assert_int_equal(told.times, 0);
	for (uint32_t id = 1; id <= REQUESTS; id++) {
		start_rep(&message, 7, id, 20);
		see(connections, &message, SECOND);
		assert_int_equal(told.times, id);
		assert_int_equal(told.back.dest_qp, 10 + id);
	}
	ft_connections_destroy(connections);
}

static void a_path_that_leads_elsewhere_is_passed_over(void **state)
{
	struct ft_connections *connections = begin();
	struct message message;

	(void)state;
	start_req(&message, 1, 10);
	message.frame[PAYLOAD_AT + HEADER + 72 + 15] = 3;
	see(connections, &message, SECOND);
	start_rep(&message, 2, 1, 20);
	see(connections, &message, SECOND);
	assert_int_equal(told.times, 0);
	ft_connections_destroy(connections);
}

static void a_native_path_is_compared_by_lid(void **state)
{
	struct message message;
	uint8_t *req = message.frame + PAYLOAD_AT + HEADER;

	(void)state;
	start_req(&message, 1, 10);
	message.packet.has = FT_HAS_LRH | FT_HAS_BTH | FT_HAS_DETH | FT_HAS_PAYLOAD | FT_HAS_MAD;
	message.packet.lrh.slid = 0x0102;
	message.packet.lrh.dlid = 0x0304;
	put32(req + 52, 0x01020304);
	assert_false(ft_connection_setup_read(&message.packet, message.frame).elsewhere);
	put32(req + 52, 0x01020305);
	assert_true(ft_connection_setup_read(&message.packet, message.frame).elsewhere);
}

/* Slices of 128 bytes end inside the REQ, behind its queue pair. */
static void a_path_that_was_cut_off_is_taken_for_the_same(void **state)
{
	struct message message;
	struct ft_connection_setup setup;

	(void)state;
	start_req(&message, 1, 10);
	message.frame[PAYLOAD_AT + HEADER + 72 + 15] = 3;
	message.packet.payload_captured = HEADER + 88;
	assert_true(ft_connection_setup_read(&message.packet, message.frame).elsewhere);
	for (uint32_t captured = 35; captured < 88; captured++) {
		message.packet.payload_captured = HEADER + captured;
		setup = ft_connection_setup_read(&message.packet, message.frame);
		assert_int_equal(setup.kind, FT_SETUP_REQUEST);
		assert_int_equal(setup.qpn, 10);
		assert_false(setup.elsewhere);
	}
}

static void what_is_no_whole_req_or_rep_says_nothing(void **state)
{
	struct message message;

	(void)state;
	start_req(&message, 1, 10);
	assert_int_equal(ft_connection_setup_read(&message.packet, message.frame).kind,
			 FT_SETUP_REQUEST);
	message.packet.payload_captured = HEADER + 34;
	assert_int_equal(ft_connection_setup_read(&message.packet, message.frame).kind,
			 FT_SETUP_NONE);
	start_rep(&message, 2, 1, 20);
	message.packet.payload_captured = HEADER + 15;
	assert_int_equal(ft_connection_setup_read(&message.packet, message.frame).qpn, 20);
	message.packet.payload_captured--;
	assert_int_equal(ft_connection_setup_read(&message.packet, message.frame).kind,
			 FT_SETUP_NONE);

	start_req(&message, 1, 10);
	message.packet.mad.attr_id = RTU;
	assert_int_equal(ft_connection_setup_read(&message.packet, message.frame).kind,
			 FT_SETUP_NONE);
	start_req(&message, 1, 10);
	message.packet.mad.mgmt_class = 3;
	assert_int_equal(ft_connection_setup_read(&message.packet, message.frame).kind,
			 FT_SETUP_NONE);
	start_req(&message, 1, 10);
	message.packet.has &= ~(uint32_t)FT_HAS_MAD;
	assert_int_equal(ft_connection_setup_read(&message.packet, message.frame).kind,
			 FT_SETUP_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rep_that_answers_a_req_names_both_halves),
		cmocka_unit_test(a_rep_to_nobody_is_passed_over),
		cmocka_unit_test(a_req_sent_again_is_the_same_connection),
		cmocka_unit_test(a_req_grows_old),
		cmocka_unit_test(a_flood_of_reqs_pushes_out_the_oldest),
		cmocka_unit_test(a_path_that_leads_elsewhere_is_passed_over),
		cmocka_unit_test(a_native_path_is_compared_by_lid),
		cmocka_unit_test(a_path_that_was_cut_off_is_taken_for_the_same),
		cmocka_unit_test(what_is_no_whole_req_or_rep_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
