#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include <decode/opcode.h>
#include <flow/copies.h>

#define SECOND UINT64_C(1000000000)
#define US     UINT64_C(1000)

enum {
	WRITE_MIDDLE = 0x07,
	READ_REQUEST = 0x0c,
	READ_RESPONSE_ONLY = 0x10,
	ACKNOWLEDGE = 0x11,
	CNP = 0x81,
	NAK_SEQUENCE = 0x60,
	RNR = 0x25,
	PAIR = 4711,
	OTHER_PAIR = 815,
	HOP = 0xabcdef40, /* MAC addresses abcdef, time to live 64 */
};

static struct ft_copies *copies_with(uint32_t entries, uint64_t seed)
{
	struct ft_copies_config config = FT_COPIES_DEFAULTS;
	struct ft_copies *copies;

	config.entries = entries;
	config.seed = seed;
	assert_int_equal(ft_copies_create(&copies, &config), 0);
	return copies;
}

static struct ft_copies *copies_made(void)
{
	return copies_with(1u << 12, 1);
}

/* A RoCEv2 packet from the lower address; the same opcode and PSN are the same bytes. */
static struct ft_observed packet(uint8_t opcode, uint32_t psn, uint64_t us)
{
	return (struct ft_observed){
		.has = FT_OBSERVED_BTH | FT_OBSERVED_UPWARD,
		.ts_ns = SECOND + us * US,
		.digest = (uint64_t)psn << 8 | opcode,
		.pair = PAIR,
		.hop = HOP,
		.opcode = opcode,
		.psn = psn,
		.alike = opcode == CNP ? FT_ALIKE_PLAIN : FT_ALIKE_SEQUENCED,
	};
}

/* From the higher address. */
static struct ft_observed answer(uint8_t opcode, uint8_t syndrome, uint32_t psn, uint64_t us)
{
	struct ft_observed answer = packet(opcode, psn, us);

	answer.has &= ~(uint32_t)FT_OBSERVED_UPWARD;
	answer.digest ^= UINT64_C(1) << 63 | (uint64_t)syndrome << 40;
	answer.syndrome = syndrome;
	return answer;
}

static enum ft_copy_verdict check(struct ft_copies *copies, struct ft_observed observed)
{
	return ft_copies_check(copies, &observed, 0);
}

/* --- one original, one candidate --- */

static void a_candidate_is_a_copy_or_not(void **state)
{
	static const struct {
		const char *what;
		uint64_t after_ns, window_ns;
		uint32_t rules_first, rules_second;
		uint32_t hop_changed;
		uint16_t vlan_first, vlan_second;
		uint8_t alike;
		bool other_bytes;
		enum ft_copy_verdict verdict;
	} rows[] = {
		{ "at once", .verdict = FT_COPY_YES },
		{ "within the window", .after_ns = 1000000, .verdict = FT_COPY_YES },
		{ "later", .after_ns = 1000001, .verdict = FT_COPY_NO },
		{ "window of 5 us", .after_ns = 5001, .window_ns = 5000, .verdict = FT_COPY_NO },
		{ "other bytes", .other_bytes = true, .verdict = FT_COPY_NO },
		{ "breaks a rule its original did not", .rules_second = 4, .verdict = FT_COPY_NO },
		{ "breaks the same rules", .rules_first = 6, .rules_second = 6,
		  .verdict = FT_COPY_YES },
		{ "breaks fewer rules", .rules_first = 6, .rules_second = 2,
		  .verdict = FT_COPY_YES },
		{ "breaks others", .rules_first = 2, .rules_second = 4, .verdict = FT_COPY_NO },
		{ "a router's hop", .hop_changed = 0x12345601, .verdict = FT_COPY_YES },
		{ "other time to live only", .hop_changed = 0x01, .verdict = FT_COPY_NO },
		{ "other MAC addresses only", .hop_changed = 0x12345600, .verdict = FT_COPY_NO },
		{ "tagged on the way", .vlan_second = 7, .verdict = FT_COPY_YES },
		{ "untagged on the way", .vlan_first = 7, .verdict = FT_COPY_YES },
		{ "in another VLAN", .vlan_first = 7, .vlan_second = 8, .verdict = FT_COPY_NO },
		{ "routed to another VLAN", .vlan_first = 7, .vlan_second = 8,
		  .hop_changed = 0x12345601, .verdict = FT_COPY_YES },
		{ "not RDMA", .after_ns = 500000, .alike = FT_ALIKE_FOREIGN,
		  .verdict = FT_COPY_YES },
		{ "one of many alike, at once", .after_ns = 1000, .alike = FT_ALIKE_PLAIN,
		  .verdict = FT_COPY_YES },
		{ "one of many alike, later", .after_ns = 1001, .alike = FT_ALIKE_PLAIN,
		  .verdict = FT_COPY_NO },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_copies_config config = FT_COPIES_DEFAULTS;
		struct ft_observed first = packet(WRITE_MIDDLE, 5, 0), second;
		struct ft_copies *copies;

		print_message("%s\n", rows[i].what);
		if (rows[i].window_ns != 0)
			config.window_ns = rows[i].window_ns;
		assert_int_equal(ft_copies_create(&copies, &config), 0);
		first.alike = rows[i].alike;
		first.vlan = rows[i].vlan_first;
		second = first;
		second.ts_ns += rows[i].after_ns;
		second.hop ^= rows[i].hop_changed;
		second.vlan = rows[i].vlan_second;
		second.digest += rows[i].other_bytes;
		assert_int_equal(ft_copies_check(copies, &first, rows[i].rules_first), FT_COPY_NO);
		assert_int_equal(ft_copies_check(copies, &second, rows[i].rules_second),
				 rows[i].verdict);
		ft_copies_destroy(copies);
	}
}

static void a_clock_that_steps_back_keeps_copies(void **state)
{
	struct ft_copies *copies = copies_made();

	(void)state;
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 5, 5000)), FT_COPY_NO);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 5, 4500)), FT_COPY_YES);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 5, 3999)), FT_COPY_NO);
	ft_copies_destroy(copies);
}

static void without_a_time_stamp_nothing_is_a_copy(void **state)
{
	struct ft_copies *copies = copies_made();
	struct ft_observed timeless = packet(WRITE_MIDDLE, 5, 0);

	(void)state;
	timeless.ts_ns = UINT64_MAX;
	assert_int_equal(check(copies, timeless), FT_COPY_NO);
	assert_int_equal(check(copies, timeless), FT_COPY_NO);
	ft_copies_destroy(copies);
}

static void without_a_window_nothing_is_a_copy(void **state)
{
	struct ft_copies_config config = { .window_ns = 0, .entries = 256 };
	struct ft_copies *copies;

	(void)state;
	assert_int_equal(ft_copies_create(&copies, &config), 0);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 5, 0)), FT_COPY_NO);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 5, 0)), FT_COPY_NO);
	ft_copies_destroy(copies);
}

static void a_copy_is_no_original(void **state)
{
	struct ft_copies *copies = copies_made();

	(void)state;
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 5, 0)), FT_COPY_NO);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 5, 900)), FT_COPY_YES);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 5, 1001)), FT_COPY_NO);
	ft_copies_destroy(copies);
}

/* --- frames of which many are alike --- */

/* Frames at these times, all alike; how many are copies? */
static unsigned alike_copies(struct ft_copies *copies, uint8_t opcode, const uint64_t *us,
			     size_t count)
{
	unsigned found = 0;

	for (size_t i = 0; i < count; i++)
		found += check(copies, packet(opcode, 0, us[i])) == FT_COPY_YES;
	return found;
}

static void congestion_notices_alike_are_no_copies(void **state)
{
	static const uint64_t us[] = { 0, 7, 30, 53, 200, 207 };
	struct ft_copies *copies = copies_made();

	(void)state;
	assert_int_equal(alike_copies(copies, CNP, us, 6), 0);
	ft_copies_destroy(copies);
}

static void where_others_are_copied_each_notice_has_one_copy(void **state)
{
	static const uint64_t in_turn[] = { 0, 30, 40, 70 };      /* A A' B B' */
	static const uint64_t delayed[] = { 500, 507, 530, 537 }; /* A B A' B' */
	static const uint64_t alone[] = { 3000, 3500, 4100 };
	struct ft_copies *copies = copies_made();

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		check(copies, packet(WRITE_MIDDLE, i, 0));
		check(copies, packet(WRITE_MIDDLE, i, 20));
	}
	assert_int_equal(alike_copies(copies, CNP, in_turn, 4), 2);
	assert_int_equal(alike_copies(copies, CNP, delayed, 4), 2);
	assert_int_equal(alike_copies(copies, CNP, alone, 3), 1);
	ft_copies_destroy(copies);
}

static void only_the_direction_that_is_copied_counts(void **state)
{
	struct ft_copies *copies = copies_made();
	struct ft_observed notice = answer(CNP, 0, 0, 100);

	(void)state;
	for (uint32_t i = 0; i < 20; i++) {
		check(copies, packet(WRITE_MIDDLE, i, i));
		check(copies, packet(WRITE_MIDDLE, i, i));
		check(copies, answer(ACKNOWLEDGE, 0x1f, i, i)); /* the other way: once each */
	}
	assert_int_equal(check(copies, notice), FT_COPY_NO);
	notice.ts_ns += 20 * US;
	assert_int_equal(check(copies, notice), FT_COPY_NO);
	ft_copies_destroy(copies);
}

static void three_mirrored_ports_make_two_copies_of_each(void **state)
{
	static const uint64_t us[] = { 10000, 10020, 10040, 10060 };
	struct ft_copies *copies = copies_made();

	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		for (uint32_t port = 0; port < 3; port++)
			assert_int_equal(check(copies, packet(WRITE_MIDDLE, i, 5 * i + port)),
					 port == 0 ? FT_COPY_NO : FT_COPY_YES);
	assert_int_equal(alike_copies(copies, CNP, us, 4), 2);
	ft_copies_destroy(copies);
}

static void a_burst_copied_after_its_end_is_copied_once(void **state)
{
	static const uint64_t us[] = { 500, 520, 540, 560 };
	struct ft_copies *copies = copies_made();

	(void)state;
	for (uint32_t i = 0; i < 400; i++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, i % 200, i)),
				 i < 200 ? FT_COPY_NO : FT_COPY_YES);
	assert_int_equal(alike_copies(copies, CNP, us, 4), 2);
	ft_copies_destroy(copies);
}

/* Requests, two copies of each or none, so far apart that windows do not meet. */
static uint64_t run_copied(struct ft_copies *copies, unsigned count, bool copied, uint64_t us)
{
	for (uint32_t i = 0; i < count; i++, us += 2000) {
		check(copies, packet(WRITE_MIDDLE, i, us));
		if (copied)
			check(copies, packet(WRITE_MIDDLE, i, us + 20));
	}
	return us;
}

static void a_mirror_that_changes_its_ways_is_noticed(void **state)
{
	struct ft_copies *copies = copies_made();
	uint64_t us = run_copied(copies, 300, true, 0);

	(void)state;
	us = run_copied(copies, 1000, false, us);
	assert_int_equal(check(copies, packet(CNP, 0, us)), FT_COPY_NO);
	assert_int_equal(check(copies, packet(CNP, 0, us + 20)), FT_COPY_NO);
	us = run_copied(copies, 1000, true, us + 2000);
	assert_int_equal(check(copies, packet(CNP, 0, us)), FT_COPY_NO);
	assert_int_equal(check(copies, packet(CNP, 0, us + 20)), FT_COPY_YES);
	us += 61000000; /* a minute of silence */
	assert_int_equal(check(copies, packet(CNP, 0, us)), FT_COPY_NO);
	assert_int_equal(check(copies, packet(CNP, 0, us + 20)), FT_COPY_NO);
	ft_copies_destroy(copies);
}

static void other_pairs_do_not_count(void **state)
{
	static const uint64_t us[] = { 100, 120 };
	struct ft_copies *copies = copies_made();
	struct ft_observed other = packet(WRITE_MIDDLE, 1, 0);

	(void)state;
	other.pair = OTHER_PAIR;
	check(copies, other);
	assert_int_equal(check(copies, other), FT_COPY_YES);
	assert_int_equal(alike_copies(copies, CNP, us, 2), 0);
	ft_copies_destroy(copies);
}

/* --- sent again --- */

/* A window of requests of which the first was lost: NAK, and all of them again. */
static void what_a_nak_asked_for_is_sent_again(void **state)
{
	struct ft_copies *copies = copies_made();

	(void)state;
	for (uint32_t psn = 10; psn < 20; psn++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, psn)), FT_COPY_NO);
	assert_int_equal(check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 13, 30)), FT_COPY_NO);
	for (uint32_t psn = 13; psn < 20; psn++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, psn + 30)),
				 FT_COPY_REPEATED);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 12, 80)), FT_COPY_YES);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 13, 90)), FT_COPY_YES);
	ft_copies_destroy(copies);
}

/* What passed behind the NAK had been sent before it arrived. */
static void what_was_on_its_way_when_refused_is_sent_again(void **state)
{
	struct ft_copies *copies = copies_made();

	(void)state;
	for (uint32_t psn = 10; psn < 20; psn++)
		check(copies, packet(WRITE_MIDDLE, psn, psn));
	check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 13, 20));
	for (uint32_t psn = 20; psn < 30; psn++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, psn + 1)), FT_COPY_NO);
	for (uint32_t psn = 13; psn < 30; psn++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, psn + 30)),
				 FT_COPY_REPEATED);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 13, 90)), FT_COPY_YES);
	ft_copies_destroy(copies);
}

/* Refused once more while the sender goes back: it goes back again, and that was on its way, too. */
static void a_sender_may_go_back_while_it_goes_back(void **state)
{
	struct ft_copies *copies = copies_made();

	(void)state;
	for (uint32_t psn = 10; psn < 20; psn++)
		check(copies, packet(WRITE_MIDDLE, psn, psn));
	check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 11, 20));
	for (uint32_t psn = 11; psn < 16; psn++)
		check(copies, packet(WRITE_MIDDLE, psn, psn + 20));
	check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 12, 36));
	for (uint32_t psn = 16; psn < 20; psn++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, psn + 22)),
				 FT_COPY_REPEATED);
	for (uint32_t psn = 12; psn < 20; psn++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, psn + 40)),
				 FT_COPY_REPEATED);
	ft_copies_destroy(copies);
}

/* Responses to a READ that was sent again while the first ones were still coming. */
static void responses_on_their_way_when_asked_again_are_sent_again(void **state)
{
	struct ft_copies *copies = copies_made();

	(void)state;
	check(copies, packet(WRITE_MIDDLE, 9, 0));
	check(copies, packet(READ_REQUEST, 10, 1));
	check(copies, answer(READ_RESPONSE_ONLY, 0, 10, 5));
	check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 9, 8));
	assert_int_equal(check(copies, packet(READ_REQUEST, 10, 21)), FT_COPY_REPEATED);
	check(copies, answer(READ_RESPONSE_ONLY, 0, 11, 22));
	assert_int_equal(check(copies, answer(READ_RESPONSE_ONLY, 0, 10, 25)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, answer(READ_RESPONSE_ONLY, 0, 11, 26)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, answer(READ_RESPONSE_ONLY, 0, 11, 27)), FT_COPY_YES);
	ft_copies_destroy(copies);
}

static enum ft_copy_verdict acknowledged(struct ft_copies *copies, uint32_t psn, uint64_t us)
{
	return check(copies, answer(ACKNOWLEDGE, 0, psn, us));
}

/* Requests 10 .. 13 are sent again, and each is acknowledged with the newest PSN. */
static struct ft_copies *copies_with_four_again(bool answered)
{
	struct ft_copies *copies = copies_made();

	for (uint32_t psn = 10; psn < 14; psn++)
		check(copies, packet(WRITE_MIDDLE, psn, psn));
	for (uint32_t psn = 10; psn < 14; psn++) {
		const struct ft_observed again = packet(WRITE_MIDDLE, psn, 60000 + psn);

		assert_int_equal(check(copies, again), FT_COPY_NO);
		ft_copies_see_again(copies, &again, answered);
	}
	return copies;
}

static void each_request_sent_again_is_acknowledged(void **state)
{
	(void)state;
	for (unsigned unanswered = 0; unanswered < 2; unanswered++) {
		struct ft_copies *copies = copies_with_four_again(unanswered == 0);

		assert_int_equal(acknowledged(copies, 13, 70000), FT_COPY_NO);
		for (uint64_t us = 70001; us < 70004 + unanswered; us++)
			assert_int_equal(acknowledged(copies, 13, us), FT_COPY_REPEATED);
		assert_int_equal(acknowledged(copies, 13, 70010), FT_COPY_YES);
		ft_copies_destroy(copies);
	}
}

/* Whoever goes back for one goes on from there: what had just passed comes again, too. */
static void what_follows_a_request_sent_again_is_sent_again(void **state)
{
	struct ft_copies *copies = copies_made();
	const struct ft_observed again = packet(WRITE_MIDDLE, 10, 60020);

	(void)state;
	check(copies, packet(WRITE_MIDDLE, 10, 10));
	for (uint32_t psn = 9; psn < 14; psn++)
		if (psn != 10)
			check(copies, packet(WRITE_MIDDLE, psn, 60000 + psn - 10));
	assert_int_equal(check(copies, again), FT_COPY_NO);
	ft_copies_see_again(copies, &again, false);
	for (uint32_t psn = 11; psn < 14; psn++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, 60020 + psn - 10)),
				 FT_COPY_REPEATED);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 9, 60030)), FT_COPY_YES);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 13, 60031)), FT_COPY_YES);
	ft_copies_destroy(copies);
}

static void an_acknowledgement_before_them_is_none_of_theirs(void **state)
{
	struct ft_copies *copies = copies_made();
	const struct ft_observed again = packet(WRITE_MIDDLE, 10, 60000);

	(void)state;
	assert_int_equal(acknowledged(copies, 10, 59900), FT_COPY_NO);
	check(copies, again);
	ft_copies_see_again(copies, &again, true);
	assert_int_equal(acknowledged(copies, 10, 60010), FT_COPY_REPEATED);
	assert_int_equal(acknowledged(copies, 10, 60011), FT_COPY_YES);
	ft_copies_destroy(copies);
}

static void only_what_they_ask_for_is_due(void **state)
{
	const struct {
		const char *sentence;
		struct ft_observed answer;
	} rows[] = {
		{ "of PSNs before them", answer(ACKNOWLEDGE, 0, 9, 70000) },
		{ "of the same side", packet(ACKNOWLEDGE, 13, 70000) },
		{ "a tenth of a second later", answer(ACKNOWLEDGE, 0, 13, 160100) },
		{ "no acknowledgement", answer(READ_RESPONSE_ONLY, 0, 13, 70000) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_copies *copies = copies_with_four_again(true);

		check(copies, rows[i].answer);
		if (check(copies, rows[i].answer) != FT_COPY_YES)
			fail_msg("%s", rows[i].sentence);
		ft_copies_destroy(copies);
	}
}

/* Where the mirror copies each frame, that many more of them are alike. */
static void due_acknowledgements_have_copies_too(void **state)
{
	struct ft_copies *copies = copies_made();
	struct ft_observed again;

	(void)state;
	for (uint32_t psn = 100; psn < 140; psn++)
		for (unsigned times = 0; times < 2; times++)
			check(copies, answer(ACKNOWLEDGE, 0, psn - 1000, psn));
	for (uint32_t psn = 10; psn < 12; psn++) {
		again = packet(WRITE_MIDDLE, psn, 60000 + psn);
		check(copies, again);
		ft_copies_see_again(copies, &again, true);
	}
	assert_int_equal(acknowledged(copies, 13, 70000), FT_COPY_NO);
	assert_int_equal(acknowledged(copies, 13, 70001), FT_COPY_YES);
	assert_int_equal(acknowledged(copies, 13, 70002), FT_COPY_REPEATED);
	assert_int_equal(acknowledged(copies, 13, 70003), FT_COPY_YES);
	ft_copies_destroy(copies);
}

static void psns_wrap_between_a_nak_and_what_it_asked_for(void **state)
{
	struct ft_copies *copies = copies_made();

	(void)state;
	check(copies, packet(WRITE_MIDDLE, 0xffffff, 0));
	check(copies, packet(WRITE_MIDDLE, 0, 1));
	check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 0xffffff, 10));
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 0xffffff, 20)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 0, 21)), FT_COPY_REPEATED);
	ft_copies_destroy(copies);
}

static void a_nak_of_the_same_side_asks_for_nothing(void **state)
{
	struct ft_copies *copies = copies_made();
	struct ft_observed nak = packet(ACKNOWLEDGE, 10, 5);

	(void)state;
	nak.syndrome = NAK_SEQUENCE;
	check(copies, packet(WRITE_MIDDLE, 10, 0));
	check(copies, nak);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 10, 10)), FT_COPY_YES);
	ft_copies_destroy(copies);
}

static void a_nak_before_the_original_explains_nothing(void **state)
{
	struct ft_copies *copies = copies_made();

	(void)state;
	check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 10, 0));
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 10, 5)), FT_COPY_NO);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 10, 10)), FT_COPY_YES);
	ft_copies_destroy(copies);
}

static void a_receiver_not_ready_refuses_twice(void **state)
{
	struct ft_copies *copies = copies_made();

	(void)state;
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 10, 0)), FT_COPY_NO);
	assert_int_equal(check(copies, answer(ACKNOWLEDGE, RNR, 10, 5)), FT_COPY_NO);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 10, 100)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, answer(ACKNOWLEDGE, RNR, 10, 105)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 10, 200)), FT_COPY_REPEATED);
	ft_copies_destroy(copies);
}

static void a_read_asked_for_again_is_answered_again(void **state)
{
	struct ft_copies *copies = copies_made();

	(void)state;
	check(copies, packet(WRITE_MIDDLE, 9, 0));
	check(copies, packet(READ_REQUEST, 10, 1));
	assert_int_equal(check(copies, answer(READ_RESPONSE_ONLY, 0, 10, 5)), FT_COPY_NO);
	check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 9, 8));
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 9, 20)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, packet(READ_REQUEST, 10, 21)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, answer(READ_RESPONSE_ONLY, 0, 10, 25)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, answer(READ_RESPONSE_ONLY, 0, 10, 26)), FT_COPY_YES);
	ft_copies_destroy(copies);
}

static void a_nak_asks_for_requests_not_for_responses(void **state)
{
	struct ft_copies *copies = copies_made();
	struct ft_observed nak = packet(ACKNOWLEDGE, 15, 5);

	(void)state;
	nak.syndrome = NAK_SEQUENCE;
	check(copies, answer(READ_RESPONSE_ONLY, 0, 20, 0));
	check(copies, answer(WRITE_MIDDLE, 0, 20, 1));
	check(copies, nak);
	assert_int_equal(check(copies, answer(WRITE_MIDDLE, 0, 20, 10)), FT_COPY_REPEATED);
	assert_int_equal(check(copies, answer(READ_RESPONSE_ONLY, 0, 20, 11)), FT_COPY_YES);
	ft_copies_destroy(copies);
}

static void a_wrong_icrc_asks_for_nothing(void **state)
{
	struct ft_copies *copies = copies_made();
	struct ft_observed nak = answer(ACKNOWLEDGE, NAK_SEQUENCE, 10, 5);

	(void)state;
	nak.has |= FT_OBSERVED_BAD_ICRC;
	check(copies, packet(WRITE_MIDDLE, 10, 0));
	check(copies, nak);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 10, 10)), FT_COPY_YES);
	ft_copies_destroy(copies);
}

/* --- a lossy fabric, mirrored once or twice --- */

enum { LOSSY_FRAMES = 1400 };

/* Bursts of 100 requests; each burst has a NAK for its middle, and what follows it again. */
static size_t lossy(struct ft_observed *frames)
{
	size_t count = 0;

	for (uint32_t burst = 0; burst < 8; burst++) {
		uint32_t first = burst * 100, middle = first + 50;
		uint64_t us = burst * 3000;

		for (uint32_t i = 0; i < 100; i++)
			frames[count++] = packet(WRITE_MIDDLE, first + i, us + i);
		frames[count++] = answer(ACKNOWLEDGE, NAK_SEQUENCE, middle, us + 103);
		for (uint32_t i = 0; i < 50; i++)
			frames[count++] = packet(WRITE_MIDDLE, middle + i, us + 110 + i);
		frames[count++] = answer(ACKNOWLEDGE, 0x1f, first + 99, us + 170);
	}
	return count;
}

struct tally {
	unsigned by_verdict[3];
};

/* The frames, each again `delay_us` later (0: at once); by time. */
static struct tally doubled(const struct ft_observed *frames, size_t count, uint64_t delay_us)
{
	struct ft_copies *copies = copies_made();
	struct tally tally = { { 0 } };
	size_t originals = 0, again = 0;

	while (again < count) {
		struct ft_observed late = frames[again];

		late.ts_ns += delay_us * US;
		if (originals < count &&
		    (again == originals || frames[originals].ts_ns < late.ts_ns)) {
			tally.by_verdict[check(copies, frames[originals++])]++;
		} else {
			tally.by_verdict[check(copies, late)]++;
			again++;
		}
	}
	ft_copies_destroy(copies);
	return tally;
}

static void doubling_changes_nothing_but_the_copies(void **state)
{
	static const uint64_t delays_us[] = { 0, 1, 5, 20, 40, 70, 200 };
	static struct ft_observed frames[LOSSY_FRAMES];
	struct ft_copies *copies = copies_made();
	struct tally once = { { 0 } };
	size_t count = lossy(frames);

	(void)state;
	for (size_t i = 0; i < count; i++)
		once.by_verdict[check(copies, frames[i])]++;
	ft_copies_destroy(copies);
	assert_int_equal(once.by_verdict[FT_COPY_YES], 0);
	assert_int_equal(once.by_verdict[FT_COPY_REPEATED], 8 * 50);
	for (size_t i = 0; i < sizeof delays_us / sizeof *delays_us; i++) {
		struct tally twice = doubled(frames, count, delays_us[i]);

		print_message("%u us\n", (unsigned)delays_us[i]);
		assert_int_equal(twice.by_verdict[FT_COPY_YES], count);
		assert_int_equal(twice.by_verdict[FT_COPY_REPEATED], 8 * 50);
		assert_int_equal(twice.by_verdict[FT_COPY_NO], count - 8 * 50);
	}
}

/*
 * A request, and after a while bursts of 40, each refused from its middle on. The first NAK comes before any copy of its
 * burst: so many originals and one copy look as if little were copied.
 */
static size_t often_refused(struct ft_observed *frames, bool counting)
{
	size_t count = 0;

	frames[count++] = packet(WRITE_MIDDLE, 0xfffff0, 0);
	for (uint32_t burst = 0; burst < 20; burst++) {
		uint32_t first = burst * 40;
		uint64_t us = 3000 + burst * 150;

		for (uint32_t i = 0; i < 30; i++)
			frames[count++] = packet(WRITE_MIDDLE, first + i, us + i);
		frames[count++] = answer(ACKNOWLEDGE, NAK_SEQUENCE, first + 20, us + 31);
		for (uint32_t i = 30; i < 40; i++)
			frames[count++] = packet(WRITE_MIDDLE, first + i, us + 2 + i);
		for (uint32_t i = 20; i < 40; i++)
			frames[count++] = packet(WRITE_MIDDLE, first + i, us + 50 + i);
		frames[count++] = answer(ACKNOWLEDGE, 0x1f, first + 39, us + 100);
	}
	for (size_t i = 0; i < count; i++) {
		frames[i].has |= FT_OBSERVED_IPV4;
		frames[i].ip_id = counting ? (uint16_t)(i + 65000) : 0x4242;
		frames[i].digest ^= (uint64_t)frames[i].ip_id << 44;
	}
	return count;
}

static void where_identifications_count_the_same_one_is_a_copy(void **state)
{
	static const uint64_t delays_us[] = { 0, 1, 5, 10, 30, 100, 300, 900, 1000 };
	static struct ft_observed frames[LOSSY_FRAMES];
	size_t count = often_refused(frames, true);

	(void)state;
	for (size_t i = 0; i < sizeof delays_us / sizeof *delays_us; i++) {
		struct tally twice = doubled(frames, count, delays_us[i]);

		print_message("%u us\n", (unsigned)delays_us[i]);
		assert_int_equal(twice.by_verdict[FT_COPY_NO], count);
		assert_int_equal(twice.by_verdict[FT_COPY_YES], count);
	}
}

static void where_they_are_constant_a_reason_tells(void **state)
{
	static struct ft_observed frames[LOSSY_FRAMES];
	struct ft_copies *copies = copies_made();
	struct tally once = { { 0 } };
	size_t count = often_refused(frames, false);

	(void)state;
	for (size_t i = 0; i < count; i++)
		once.by_verdict[check(copies, frames[i])]++;
	assert_int_equal(once.by_verdict[FT_COPY_REPEATED], 20 * 20);
	assert_int_equal(once.by_verdict[FT_COPY_YES], 0);
	ft_copies_destroy(copies);
}

/* 20 requests to four queue pairs, each of which has an identification of its own. */
static void check_flows(struct ft_copies *copies, uint64_t us, enum ft_copy_verdict expected)
{
	for (uint32_t i = 0; i < 20; i++) {
		struct ft_observed frame = packet(WRITE_MIDDLE, 10 + i, us + i);

		frame.has |= FT_OBSERVED_IPV4;
		frame.dest_qp = i % 4;
		frame.ip_id = (uint16_t)(100 + i % 4);
		assert_int_equal(check(copies, frame), expected);
	}
}

static void a_constant_of_each_queue_pair_does_not_count(void **state)
{
	struct ft_copies *copies = copies_made();

	(void)state;
	check(copies, answer(ACKNOWLEDGE, NAK_SEQUENCE, 10, 1));
	check_flows(copies, 2, FT_COPY_NO);
	check(copies, answer(ACKNOWLEDGE, RNR, 10, 30));
	check_flows(copies, 40, FT_COPY_REPEATED);
	ft_copies_destroy(copies);
}

/* --- memory --- */

static uint64_t next_random(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 33;
}

/* 100000 frames, 40 in a window; a third are copies of one of the last 30 or so. */
static void run_random(uint64_t seed, uint32_t entries, uint8_t *verdicts)
{
	struct ft_copies *copies = copies_with(entries, seed);
	uint64_t random = 99;

	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t psn = i;
		struct ft_observed frame;

		if (next_random(&random) % 3 == 0)
			psn = i - (uint32_t)(next_random(&random) % 30);
		frame = packet(WRITE_MIDDLE, psn & 0xffffff, 25 * i);
		verdicts[i] = (uint8_t)check(copies, frame);
	}
	ft_copies_destroy(copies);
}

static void neither_seed_nor_room_change_a_verdict(void **state)
{
	static uint8_t expected[100000], got[100000];

	(void)state;
	run_random(1, 256, expected);
	for (uint64_t seed = 2; seed < 6; seed++) {
		run_random(seed * 0x123456789abcdefu, seed == 2 ? 1u << 16 : 256, got);
		assert_memory_equal(got, expected, sizeof got);
	}
}

static void the_oldest_is_forgotten_first(void **state)
{
	struct ft_copies *copies = copies_with(256, 3);

	(void)state;
	for (uint32_t psn = 0; psn < 257; psn++)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, 0)), FT_COPY_NO);
	for (uint32_t psn = 256; psn > 0; psn--)
		assert_int_equal(check(copies, packet(WRITE_MIDDLE, psn, 0)), FT_COPY_YES);
	assert_int_equal(check(copies, packet(WRITE_MIDDLE, 0, 0)), FT_COPY_NO);
	ft_copies_destroy(copies);
}

static void sizes_out_of_range_are_refused(void **state)
{
	static const uint32_t refused[] = { 0, 255, 257, 128, 1u << 25 };
	struct ft_copies *copies = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct ft_copies_config config = { .window_ns = 1, .entries = refused[i] };

		assert_int_equal(ft_copies_create(&copies, &config), -EINVAL);
	}
	assert_null(copies);
	ft_copies_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_candidate_is_a_copy_or_not),
		cmocka_unit_test(a_clock_that_steps_back_keeps_copies),
		cmocka_unit_test(without_a_time_stamp_nothing_is_a_copy),
		cmocka_unit_test(without_a_window_nothing_is_a_copy),
		cmocka_unit_test(a_copy_is_no_original),
		cmocka_unit_test(congestion_notices_alike_are_no_copies),
		cmocka_unit_test(where_others_are_copied_each_notice_has_one_copy),
		cmocka_unit_test(only_the_direction_that_is_copied_counts),
		cmocka_unit_test(three_mirrored_ports_make_two_copies_of_each),
		cmocka_unit_test(a_burst_copied_after_its_end_is_copied_once),
		cmocka_unit_test(a_mirror_that_changes_its_ways_is_noticed),
		cmocka_unit_test(other_pairs_do_not_count),
		cmocka_unit_test(what_a_nak_asked_for_is_sent_again),
		cmocka_unit_test(what_was_on_its_way_when_refused_is_sent_again),
		cmocka_unit_test(a_sender_may_go_back_while_it_goes_back),
		cmocka_unit_test(responses_on_their_way_when_asked_again_are_sent_again),
		cmocka_unit_test(each_request_sent_again_is_acknowledged),
		cmocka_unit_test(what_follows_a_request_sent_again_is_sent_again),
		cmocka_unit_test(an_acknowledgement_before_them_is_none_of_theirs),
		cmocka_unit_test(only_what_they_ask_for_is_due),
		cmocka_unit_test(due_acknowledgements_have_copies_too),
		cmocka_unit_test(psns_wrap_between_a_nak_and_what_it_asked_for),
		cmocka_unit_test(a_nak_of_the_same_side_asks_for_nothing),
		cmocka_unit_test(a_nak_before_the_original_explains_nothing),
		cmocka_unit_test(a_receiver_not_ready_refuses_twice),
		cmocka_unit_test(a_read_asked_for_again_is_answered_again),
		cmocka_unit_test(a_nak_asks_for_requests_not_for_responses),
		cmocka_unit_test(a_wrong_icrc_asks_for_nothing),
		cmocka_unit_test(doubling_changes_nothing_but_the_copies),
		cmocka_unit_test(where_identifications_count_the_same_one_is_a_copy),
		cmocka_unit_test(where_they_are_constant_a_reason_tells),
		cmocka_unit_test(a_constant_of_each_queue_pair_does_not_count),
		cmocka_unit_test(neither_seed_nor_room_change_a_verdict),
		cmocka_unit_test(the_oldest_is_forgotten_first),
		cmocka_unit_test(sizes_out_of_range_are_refused),
	};

	return cmocka_run_group_tests_name("copies", tests, NULL, NULL);
}
