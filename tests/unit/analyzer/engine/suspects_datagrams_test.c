#include "suspects_wire.h"

static void many_senders_may_talk_to_a_datagram_queue_pair(void **state)
{
	struct wire *wire = *state;

	for (uint32_t nth = 0; nth < 4 * SETTLED; nth++) {
		struct ft_observed seen = request(nth / 2);

		seen.opcode = UD_SEND_ONLY;
		seen.content = nth;
		seen.ttl = nth % 16 == 15 ? 255 : 64;
		seen.sport = (uint16_t)(nth % 16 == 15);
		assert_int_equal(a_sends(wire, seen, FT_STEP_NEW), 0);
	}
}

/* `count` datagrams, each with the first of so many Q_Keys in turn, `gap_ns` apart; how many broke a rule. */
static unsigned guess(struct wire *wire, uint32_t count, uint32_t qkeys, uint64_t gap_ns,
		      uint32_t dest_qp)
{
	unsigned found = 0;

	for (uint32_t nth = 0; nth < count; nth++) {
		struct ft_observed seen = datagram(nth);

		seen.dest_qp = dest_qp;
		seen.qkey = nth % qkeys;
		found += a_sends(wire, seen, FT_STEP_NEW) == R(QKEY_GUESSES);
		wire->now_ns += gap_ns;
	}
	return found;
}

static void a_queue_pair_has_one_qkey(void **state)
{
	struct wire *wire = *state;

	assert_int_equal(guess(wire, 100, 100, 1 * MS, 17), 97);
	assert_int_equal(guess(wire, 100, 3, 1 * MS, 18), 0);
	assert_int_equal(guess(wire, 100, 100, UINT64_C(11000000000), 19), 0);
	assert_int_equal(guess(wire, 100, 100, 1 * MS, 0xffffff), 0);
}

static void the_fourth_qkey_is_told_whatever_passes_between(void **state)
{
	struct wire *wire = *state;

	for (uint32_t nth = 0; nth < 40; nth++) {
		struct ft_observed seen = datagram(nth);

		seen.qkey = nth % 10 == 9 ? nth : 0x11111111;
		assert_int_equal(a_sends(wire, seen, FT_STEP_NEW),
				 nth < 29 || nth % 10 != 9 ? 0 : R(QKEY_GUESSES));
		wire->now_ns += UINT64_C(900000000);
	}
	assert_int_equal(wire->suspicion.qkeys, 5);
}

/* The number of a queue pair may be that of another one later, which has messages of its own. */
static void a_queue_pair_of_datagrams_may_become_one_of_a_connection(void **state)
{
	struct wire *wire = *state;

	for (uint32_t nth = 0; nth < 3 * SETTLED; nth++) {
		struct ft_observed seen = datagram(nth);

		seen.qkey = 1u << 24 | nth % 3;
		assert_int_equal(a_sends(wire, seen, FT_STEP_NEW), 0);
	}
	talk(wire, SETTLED);
}

/* Datagrams 0 .. count - 1, a third of whose PSNs went elsewhere. */
static void send_datagrams(struct wire *wire, uint32_t count)
{
	for (uint32_t nth = 0; nth < count; nth++) {
		struct ft_observed own = datagram(nth);

		own.psn = (FIRST_PSN + nth * 3 / 2) & 0xffffff;
		assert_int_equal(send_datagram(wire, own), 0);
	}
}

/* The one after those. */
static struct ft_observed next_datagram(uint32_t count)
{
	struct ft_observed own = datagram(count);

	own.psn = (FIRST_PSN + count * 3 / 2) & 0xffffff;
	return own;
}

/* Each row: what is odd about a datagram in the midst of a sender's, and what is held against it. */
static void a_datagram_of_another_sender_is_told(void **state)
{
	static const struct {
		const char *what;
		uint32_t psns_ahead;
		uint32_t ids_ahead;
		uint8_t mac, ttl;
		uint16_t port, pkey;
		uint32_t has_not; /* enum ft_observed_has */
		uint32_t rules;
	} rows[] = {
		{ "the sender's", 0, 0, 1, 64, 50000, 0xffff, 0, 0 },
		{ "counted elsewhere", 900, 40, 1, 64, 50000, 0xffff, 0, 0 },
		{ "another handle of the sender", 0, 0, 1, 255, 40000, 0xffff, 0, 0 },
		{ "behind a router", 0, 0, 9, 63, 50000, 0xffff, 0, 0 },
		{ "behind another router", 0, 0, 9, 62, 50000, 0xffff, 0, 0 },
		{ "the card was changed", 0, 0, 9, 64, 50000, 0xffff, 0, 0 },
		{ "another PSN", 5000000, 0, 1, 64, 50000, 0xffff, 0, R(PSN_WINDOW) },
		{ "another PSN and port", 5000000, 0, 1, 64, 40000, 0xffff, 0, R(PSN_WINDOW) },
		{ "another card and PSN", 5000000, 0, 9, 64, 50000, 0xffff, 0, R(SENDER_CHANGED) },
		{ "another card and counter", 0, 20000, 9, 64, 50000, 0xffff, 0,
		  R(SENDER_CHANGED) },
		{ "another card and system", 0, 0, 9, 255, 50000, 0xffff, 0, R(SENDER_CHANGED) },
		{ "another system and PSN", 5000000, 0, 1, 128, 50000, 0xffff, 0,
		  R(SENDER_CHANGED) },
		{ "another P_Key and PSN", 5000000, 0, 1, 64, 50000, 0x8005, 0, R(SENDER_CHANGED) },
		{ "both counters", 5000000, 20000, 1, 64, 50000, 0xffff, 0, R(PSN_WINDOW) },
		{ "both counters and the port", 5000000, 20000, 1, 64, 40000, 0xffff, 0,
		  R(SENDER_CHANGED) },
		{ "both counters behind a router", 5000000, 20000, 9, 62, 50000, 0xffff, 0,
		  R(SENDER_CHANGED) },
		{ "another PSN behind a router", 5000000, 0, 9, 63, 50000, 0xffff, 0,
		  R(PSN_WINDOW) },
		{ "another card and PSN, RoCEv1", 5000000, 0, 9, 1, 0, 0xffff,
		  FT_OBSERVED_IP | FT_OBSERVED_IPV4 | FT_OBSERVED_UDP, R(SENDER_CHANGED) },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct wire *wire = *state;
		struct ft_observed other;

		tear_down(state);
		set_up(state);
		send_datagrams(wire, 2 * SETTLED);
		other = next_datagram(2 * SETTLED);
		other.psn = (other.psn + rows[i].psns_ahead) & 0xffffff;
		other.ip_id = (uint16_t)(other.ip_id + rows[i].ids_ahead);
		other.smac[5] = rows[i].mac;
		other.ttl = rows[i].ttl;
		other.sport = rows[i].port;
		other.pkey = rows[i].pkey;
		other.has &= ~rows[i].has_not;
		if (send_datagram(wire, other) != rows[i].rules)
			fail_msg("%s", rows[i].what);
		other = next_datagram(2 * SETTLED + 1);
		other.psn = (other.psn + (rows[i].psns_ahead == 900 ? 900 : 0)) & 0xffffff;
		assert_int_equal(send_datagram(wire, other), 0);
	}
}

static void datagrams_come_under_one_psn_once(void **state)
{
	struct wire *wire = *state;
	struct ft_observed other;

	send_datagrams(wire, SETTLED);
	other = next_datagram(SETTLED - 1);
	assert_int_equal(send_datagram(wire, other), 0); /* a copy that came late */
	other.content ^= 1;
	assert_int_equal(send_datagram(wire, other), R(PSN_CONFLICT));
	assert_int_equal(wire->suspicion.passed, wire->frame - 1);
	assert_false(wire->suspicion.grave);
	other.src_qp = 81; /* another queue pair of the same host */
	assert_int_equal(send_datagram(wire, other), 0);
	other = next_datagram(SETTLED);
	other.smac[5] = 9;
	assert_int_equal(send_datagram(wire, other), 0);
	other = next_datagram(SETTLED);
	other.content ^= 1;
	assert_int_equal(send_datagram(wire, other), R(PSN_CONFLICT));
	assert_true(wire->suspicion.grave);
}

static void a_queue_pair_may_have_another_life_after_a_pause(void **state)
{
	struct wire *wire = *state;

	for (uint32_t life = 0; life < 8; life++) {
		for (uint32_t nth = 0; nth < SETTLED; nth++) {
			struct ft_observed own = datagram(nth);

			own.psn = ((life % 2 == 0 ? 7000000u : 100u) + nth) & 0xffffff;
			own.ip_id = (uint16_t)(life * 9000 + nth);
			own.ttl = life % 2 == 0 ? 64 : 255;
			own.sport = (uint16_t)(50000 + life);
			own.pkey = (uint16_t)(0x8001 + life);
			own.content += life;
			assert_int_equal(send_datagram(wire, own), 0);
		}
		wire->now_ns += 11 * MS;
	}
}

/* Also after a pause, when the sender went on behind the first one. */
static void two_counters_in_turn_are_two_senders(void **state)
{
	struct wire *wire = *state;

	send_datagrams(wire, SETTLED);
	for (uint32_t turn = 0; turn < 4; turn++) {
		struct ft_observed other = datagram(turn);

		wire->now_ns += 20 * MS;
		other.psn = 9000000 + turn;
		assert_int_equal(send_datagram(wire, other), turn == 0 ? 0 : R(PSN_WINDOW));
		wire->now_ns += 20 * MS;
		assert_int_equal(send_datagram(wire, next_datagram(SETTLED + turn)), 0);
	}
}

static void a_mirror_that_lags_shows_the_sender_twice(void **state)
{
	struct wire *wire = *state;
	enum { LAG = 60 };

	for (uint32_t nth = 0; nth < 400; nth++) {
		struct ft_observed late = next_datagram(nth - LAG);

		assert_int_equal(send_datagram(wire, next_datagram(nth)), 0);
		wire->now_ns += 500 * US;
		late.ttl = 63;
		late.smac[5] = 9;
		if (nth >= 2 * LAG)
			assert_int_equal(send_datagram(wire, late), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(many_senders_may_talk_to_a_datagram_queue_pair),
		TEST(a_queue_pair_has_one_qkey),
		TEST(the_fourth_qkey_is_told_whatever_passes_between),
		TEST(a_queue_pair_of_datagrams_may_become_one_of_a_connection),
		TEST(a_datagram_of_another_sender_is_told),
		TEST(datagrams_come_under_one_psn_once),
		TEST(a_queue_pair_may_have_another_life_after_a_pause),
		TEST(two_counters_in_turn_are_two_senders),
		TEST(a_mirror_that_lags_shows_the_sender_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
