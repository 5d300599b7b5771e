#include "bench.h"

#include <string.h>

/*
 * Packets to one queue pair in two VLANs: one half-connection whose VLAN changes on the way, or two that have the same
 * addresses and queue pair. docs/transport.md says which: by the PSNs, and by what came before in that VLAN.
 */

enum { RED };
enum { QP = 77, VLAN_A = 10, VLAN_B = 20, VLAN_C = 30, PAYLOAD = 8, MOST_PACKETS = 80 };
enum { SEND_ONLY = 0x04, READ_REQUEST = 0x0c, RETH_BYTES = 16 };
enum { FRAME_BYTES = 14 + 4 + 20 + 8 + 12 + RETH_BYTES + PAYLOAD + 4 };
enum { NOWHERE = 0, AGAIN = 0xffffff }; /* next_psn of who is not there; of who is not followed */

#define START UINT64_C(1795219200000000000)
#define US    UINT64_C(1000)

static const struct ft_declared pod = {
	TENANTS({ .name = "red", .class = FT_CUSTOMER }),
	PORTS(ROCE_PORT("r1", 10, 0, 0, 1), ROCE_PORT("r2", 10, 0, 0, 2)),
	SEGMENTS({ .name = "s", .tenant = RED, ALWAYS(EVERYONE(FT_FULL)) }),
};

struct desk {
	struct bench bench; /* first: bench_close() takes the desk for it */
	uint64_t now_ns;
};

static int set_up(void **state)
{
	static struct desk desk;

	desk = (struct desk){ .bench.config = FT_ENGINE_DEFAULTS, .now_ns = START };
	desk.bench.config.flows = 64;
	desk.bench.config.decode.check_icrc = false;
	bench_open(&desk.bench, &pod, 1);
	*state = &desk;
	return 0;
}

/* --- frames --- */

static uint8_t *put16(uint8_t *at, uint16_t value)
{
	*at++ = (uint8_t)(value >> 8);
	*at++ = (uint8_t)value;
	return at;
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
	return put16(put16(at, (uint16_t)(value >> 16)), (uint16_t)value);
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t size)
{
	memcpy(at, bytes, size);
	return at + size;
}

static uint8_t *put_ethernet(uint8_t *at, uint16_t vlan)
{
	static const uint8_t macs[12] = { 2, 0, 10, 0, 0, 2, 2, 0, 10, 0, 0, 1 };

	at = put(at, macs, sizeof macs);
	return put16(put16(put16(at, 0x8100), vlan), 0x0800);
}

static uint8_t *put_ip_udp(uint8_t *at, uint16_t length, uint16_t ident)
{
	static const uint8_t addresses[8] = { 10, 0, 0, 1, 10, 0, 0, 2 };

	at = put16(put16(at, 0x4500), length);
	at = put16(put16(at, ident), 0);
	at = put16(put16(at, 64 << 8 | 17), 0);
	at = put(at, addresses, sizeof addresses);
	at = put16(put16(at, 50000), 4791);
	return put16(put16(at, (uint16_t)(length - 20)), 0);
}

/* A packet of one kind from r1 to r2; its payload, or address, is like no other's. */
static void send(struct desk *desk, uint16_t vlan, uint8_t opcode, uint32_t psn)
{
	uint16_t body = opcode == READ_REQUEST ? RETH_BYTES : PAYLOAD;
	uint8_t bytes[FRAME_BYTES], *at = put_ethernet(bytes, vlan);

	desk->now_ns += 10 * US;
	at = put_ip_udp(at, (uint16_t)(20 + 8 + 12 + body + 4), (uint16_t)(desk->bench.sent + 1));
	at = put32(put32(put32(at, (uint32_t)opcode << 24 | 0xffff), QP), psn);
	at = put(at, &desk->now_ns, sizeof desk->now_ns);
	if (opcode == READ_REQUEST)
		at = put32(put32(at, 0x1234), 1024);
	at = put32(at, 0);
	bench_take(&desk->bench, bytes, (size_t)(at - bytes), FT_LINK_ETHERNET, desk->now_ns);
}

/* --- what they came to --- */

static const struct ft_flow *record(const struct desk *desk, uint16_t base, uint16_t vlan)
{
	const struct ft_flow_key key = {
		.src = { [10] = 0xff, 0xff, 10, 0, 0, 1 },
		.dst = { [10] = 0xff, 0xff, 10, 0, 0, 2 },
		.dest_qp = QP,
		.vni = FT_FLOW_NO_VNI,
		.base = base,
		.vlan = vlan,
	};

	return ft_flow_find(desk->bench.workers[0]->flows, &key,
			    ft_flow_hash(desk->bench.workers[0]->flows, &key));
}

/* Packets counted there; 0: there is no such record. */
static uint64_t packets_of(const struct ft_flow *flow)
{
	return flow == NULL ? 0 : flow->packets;
}

struct expected {
	uint64_t first, same,
		other; /* packets: in A, in the other VLAN as the same half-connection, as another one's */
	bool two;                  /* half-connections, known for sure */
	uint32_t next, other_next; /* PSN that each goes on with; NOWHERE, AGAIN: not known */
};

static void assert_came_to(const struct desk *desk, uint16_t vlan, const struct expected *expected)
{
	const struct ft_flow *first = record(desk, FT_FLOW_ANY_BASE, FT_FLOW_ANY_VLAN);
	const struct ft_flow *other = record(desk, FT_FLOW_ANY_BASE, vlan);

	assert_non_null(first);
	assert_int_equal(first->packets, expected->first);
	assert_int_equal(packets_of(record(desk, 0x7fff, vlan)), expected->same);
	assert_int_equal(packets_of(other), expected->other);
	assert_int_equal((first->elsewhere & FT_FLOW_SHARED) != 0, expected->two);
	assert_int_equal(first->half.next_psn, expected->next);
	if (expected->other_next == NOWHERE)
		assert_null(other);
	else if (expected->other_next == AGAIN)
		assert_int_equal(other->half.next_psn, FT_PSN_NONE);
	else
		assert_int_equal(other->half.next_psn, expected->other_next);
}

/* Letters are VLANs: a packet each; PSNs behind them. */
struct script {
	const char *what;
	const char *vlans;
	uint32_t psns[MOST_PACKETS];
	struct expected expected;
};

#define A4 100, 101, 102, 103

static const struct script scripts[] = {
	{ "in one VLAN", "aaaa", { A4 }, { 4, 0, 0, false, 104, NOWHERE } },
	{ "goes on in another", "aaaabb", { A4, 104, 105 }, { 4, 2, 0, false, 106, NOWHERE } },
	{ "and comes back", "aaaaba", { A4, 104, 105 }, { 5, 1, 0, false, 106, NOWHERE } },
	{ "goes on, with 256 missing", "aaaab", { A4, 360 }, { 4, 1, 0, false, 361, NOWHERE } },
	{ "far away", "aaaab", { A4, 5000000 }, { 4, 0, 1, true, 104, 5000001 } },
	{ "far away, and each goes on",
	  "aaaabab",
	  { A4, 5000000, 104, 5000001 },
	  { 5, 0, 2, true, 105, 5000002 } },
	{ "with 257 missing, that is not known yet",
	  "aaaab",
	  { A4, 361 },
	  { 4, 0, 1, false, 104, AGAIN } },
	{ "behind for no reason, likewise", "aaaab", { A4, 101 }, { 4, 0, 1, false, 104, AGAIN } },
	{ "one behind, and the next goes on",
	  "aaaabb",
	  { A4, 101, 104 },
	  { 4, 1, 1, false, 105, AGAIN } },
	{ "one behind, and the next follows that",
	  "aaaabb",
	  { A4, 103, 104 },
	  { 4, 0, 2, true, 104, 105 } },
	{ "two behind, and the next goes on",
	  "aaaabbb",
	  { A4, 101, 102, 104 },
	  { 4, 0, 3, true, 104, 105 } },
	{ "four behind", "aaaabbbb", { A4, 100, 101, 102, 100 }, { 4, 0, 4, false, 104, AGAIN } },
	{ "five behind",
	  "aaaabbbbb",
	  { A4, 100, 101, 102, 100, 101 },
	  { 4, 0, 5, true, 104, 102 } },
	{ "behind, in turns with those that go on",
	  "aaaabab",
	  { A4, 101, 104, 102 },
	  { 5, 0, 2, true, 105, 103 } },
	{ "goes on, then far away",
	  "aaaabb",
	  { A4, 104, 5000000 },
	  { 4, 1, 1, true, 105, 5000001 } },
};

static uint16_t vlan_of(char letter)
{
	return letter == 'a' ? VLAN_A : letter == 'b' ? VLAN_B : VLAN_C;
}

static void play(struct desk *desk, const struct script *script)
{
	for (size_t i = 0; script->vlans[i] != '\0'; i++)
		send(desk, vlan_of(script->vlans[i]), SEND_ONLY, script->psns[i]);
}

static void psns_tell_whose_a_packet_in_another_vlan_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
		void *desk;

		set_up(&desk);
		play(desk, &scripts[i]);
		print_message("%s\n", scripts[i].what);
		assert_came_to(desk, VLAN_B, &scripts[i].expected);
		bench_close(&desk);
	}
}

/* 32 packets that went on have shown that it is seen in both: wherever it jumps then. */
static void many_packets_that_went_on_are_proof(void **state)
{
	for (uint32_t many = 31; many <= 32; many++) {
		const struct expected expected = {
			.first = 1,
			.same = many == 32 ? 33 : 31,
			.other = many == 32 ? 0 : 1,
			.two = many != 32,
			.next = 101 + many,
			.other_next = many == 32 ? NOWHERE : 5000001,
		};
		void *desk;

		(void)state;
		set_up(&desk);
		send(desk, VLAN_A, SEND_ONLY, 100);
		for (uint32_t i = 0; i < many; i++)
			send(desk, VLAN_B, SEND_ONLY, 101 + i);
		send(desk, VLAN_B, SEND_ONLY, 5000000);
		assert_came_to(desk, VLAN_B, &expected);
		bench_close(&desk);
	}
}

/* Of READs more are behind, since they take the PSNs of their responses: 32 before it is told. */
static void reads_may_be_behind_more_often(void **state)
{
	for (uint32_t behind = 32; behind <= 33; behind++) {
		void *desk;

		(void)state;
		set_up(&desk);
		for (uint32_t i = 0; i < 40; i++)
			send(desk, VLAN_A, READ_REQUEST, 100 + i);
		for (uint32_t i = 0; i < behind; i++)
			send(desk, VLAN_B, READ_REQUEST, 101 + i);
		assert_int_equal(packets_of(record(desk, FT_FLOW_ANY_BASE, VLAN_B)), behind);
		assert_int_equal(
			(record(desk, FT_FLOW_ANY_BASE, VLAN_B)->elsewhere & FT_FLOW_SHARED) != 0,
			behind == 33);
		bench_close(&desk);
	}
}

/* Once two are known, what first shows in a third VLAN is a third one's, though it would go on. */
static void a_third_vlan_has_a_third_one(void **state)
{
	static const struct script two = { .vlans = "aaaabc", .psns = { A4, 5000000, 104 } };
	static const struct script one = { .vlans = "aaaabc", .psns = { A4, 104, 105 } };
	void *desk = *state;

	play(desk, &two);
	assert_int_equal(packets_of(record(desk, FT_FLOW_ANY_BASE, VLAN_C)), 1);
	assert_int_equal(record(desk, FT_FLOW_ANY_BASE, VLAN_C)->half.next_psn, 105);
	assert_int_equal(record(desk, FT_FLOW_ANY_BASE, FT_FLOW_ANY_VLAN)->half.next_psn, 104);
	bench_close(&desk);
	set_up(&desk);
	play(desk, &one);
	assert_null(record(desk, FT_FLOW_ANY_BASE, VLAN_C));
	assert_int_equal(record(desk, FT_FLOW_ANY_BASE, FT_FLOW_ANY_VLAN)->half.next_psn, 106);
}

/* Every packet is counted in one tenant pair, whoever's it is. */
static void none_is_left_out(void **state)
{
	struct desk *desk = *state;

	for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
		play(desk, &scripts[i]);
	assert_int_equal(ft_totals_sum(&desk->bench.workers[0]->tally.totals).packets,
			 desk->bench.sent);
	assert_int_equal(ft_totals_sum(&desk->bench.workers[0]->tally.totals).judged,
			 desk->bench.sent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(psns_tell_whose_a_packet_in_another_vlan_is),
		cmocka_unit_test(many_packets_that_went_on_are_proof),
		cmocka_unit_test(reads_may_be_behind_more_often),
		cmocka_unit_test_setup_teardown(a_third_vlan_has_a_third_one, set_up, bench_close),
		cmocka_unit_test_setup_teardown(none_is_left_out, set_up, bench_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
