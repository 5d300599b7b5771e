#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include <flow/detail.h>

enum { WRITE_ONLY = 0x0a, READ_REQUEST = 0x0c, ACKNOWLEDGE = 0x11, CNP = 0x81, CAPACITY = 4 };

static struct ft_details *details;

static int open_details(void **state)
{
	(void)state;
	return ft_details_create(&details, CAPACITY);
}

static int close_details(void **state)
{
	(void)state;
	ft_details_destroy(details);
	return 0;
}

static struct ft_observed packet(uint64_t frame, uint8_t opcode, uint32_t psn)
{
	return (struct ft_observed){
		.ts_ns = 1000 * frame,
		.frame = frame,
		.has = FT_OBSERVED_BTH | FT_OBSERVED_PAYLOAD | FT_OBSERVED_IP,
		.opcode = opcode,
		.psn = psn,
		.pkey = 0xffff,
		.payload = 100,
		.dest_qp = 17,
		.vlan = (uint16_t)(frame % 4096),
	};
}

static struct ft_detail *count(uint32_t number, struct ft_observed observed, struct ft_step step)
{
	ft_details_count(details, number, &observed, &step, false);
	return ft_details_of(details, number);
}

static void no_record_is_refused(void **state)
{
	struct ft_details *none = NULL;

	(void)state;
	assert_int_equal(ft_details_create(&none, 0), -EINVAL);
	assert_null(none);
	ft_details_destroy(NULL);
}

static void the_first_packet_gives_what_is_first(void **state)
{
	struct ft_detail *detail;

	(void)state;
	count(1, packet(7, WRITE_ONLY, 50), (struct ft_step){ .what = FT_STEP_NEW });
	detail = count(1, packet(9, WRITE_ONLY, 51), (struct ft_step){ .what = FT_STEP_NEW });
	assert_int_equal(detail->first_frame, 7);
	assert_int_equal(detail->first_ns, 7000);
	assert_int_equal(detail->vlan, 7);
	assert_int_equal(detail->psn_first, 50);
	assert_int_equal(detail->psn_last, 51);
	assert_int_equal(detail->pkey, 0xffff);
	assert_int_equal(detail->payload_bytes, 200);
	assert_int_equal(detail->src_tenant, FT_DETAIL_NOBODY);
}

static void the_last_time_is_the_newest_there_is(void **state)
{
	static const uint64_t times[] = { UINT64_MAX, 5000, 9000, 7000, UINT64_MAX };
	static const uint64_t last[] = { UINT64_MAX, 5000, 9000, 9000, 9000 };
	struct ft_observed observed = packet(1, WRITE_ONLY, 1);

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		observed.ts_ns = times[i];
		assert_int_equal(count(1, observed, (struct ft_step){ 0 })->last_ns, last[i]);
	}
	assert_int_equal(ft_details_of(details, 1)->first_ns, UINT64_MAX);
}

static void a_packet_without_bth_has_no_psn(void **state)
{
	struct ft_observed cut = { .ts_ns = 5, .frame = 1, .has = FT_OBSERVED_IP };
	struct ft_detail *detail;

	(void)state;
	detail = count(1, cut, (struct ft_step){ 0 });
	assert_int_equal(detail->psn_first, FT_PSN_NONE);
	assert_int_equal(detail->psn_last, FT_PSN_NONE);
	assert_int_equal(detail->opcode_count, 0);
	detail = count(1, packet(2, WRITE_ONLY, 0), (struct ft_step){ 0 });
	assert_int_equal(detail->psn_first, 0);
	assert_int_equal(detail->first_frame, 1);
}

static void opcodes_are_counted_in_order_of_appearance(void **state)
{
	struct ft_detail *detail;

	(void)state;
	count(1, packet(1, CNP, 0), (struct ft_step){ .what = FT_STEP_CNP });
	count(1, packet(2, WRITE_ONLY, 1), (struct ft_step){ 0 });
	detail = count(1, packet(3, CNP, 0), (struct ft_step){ .what = FT_STEP_CNP });
	assert_int_equal(detail->opcode_count, 2);
	assert_int_equal(detail->opcodes[0], CNP);
	assert_int_equal(detail->opcode_packets[0], 2);
	assert_int_equal(detail->opcodes[1], WRITE_ONLY);
	assert_int_equal(detail->opcode_packets[1], 1);
	assert_int_equal(detail->cnps, 2);
}

static void a_full_opcode_slot_goes_on_in_another(void **state)
{
	struct ft_detail *detail = count(1, packet(1, WRITE_ONLY, 1), (struct ft_step){ 0 });

	(void)state;
	detail->opcode_packets[0] = UINT32_MAX;
	count(1, packet(2, WRITE_ONLY, 2), (struct ft_step){ 0 });
	assert_int_equal(detail->opcode_count, 2);
	assert_int_equal(detail->opcodes[1], WRITE_ONLY);
	assert_int_equal(detail->opcode_packets[0], UINT32_MAX);
	assert_int_equal(detail->opcode_packets[1], 1);
}

static void all_opcodes_there_are_do_not_overrun_the_record(void **state)
{
	struct ft_detail *detail = ft_details_of(details, 1);

	(void)state;
	for (unsigned opcode = 0; opcode < 256; opcode++)
		count(1, packet(opcode + 1, (uint8_t)opcode, opcode), (struct ft_step){ 0 });
	assert_int_equal(detail->opcode_count, FT_DETAIL_OPCODES);
	assert_int_equal(detail->opcodes[FT_DETAIL_OPCODES - 1], FT_DETAIL_OPCODES - 1);
	assert_int_equal(detail->judged, 0);
	assert_int_equal(detail->payload_bytes, 25600);
}

static void copies_count_for_nothing_else(void **state)
{
	struct ft_observed copy = packet(2, WRITE_ONLY, 1);
	struct ft_detail *detail = count(1, packet(1, WRITE_ONLY, 1), (struct ft_step){ 0 });

	(void)state;
	ft_details_count(details, 1, &copy, NULL, true);
	assert_int_equal(detail->copies, 1);
	assert_int_equal(detail->payload_bytes, 100);
	assert_int_equal(detail->opcode_packets[0], 1);
}

static void sent_again_is_either_seen_before_or_lost_before(void **state)
{
	struct ft_detail *detail = ft_details_of(details, 1);

	(void)state;
	count(1, packet(1, WRITE_ONLY, 1), (struct ft_step){ .what = FT_STEP_RETRANSMITTED });
	count(1, packet(2, WRITE_ONLY, 2),
	      (struct ft_step){ .what = FT_STEP_RETRANSMITTED | FT_STEP_FABRIC_LOST });
	count(1, packet(3, WRITE_ONLY, 3), (struct ft_step){ .what = FT_STEP_FABRIC_LOST });
	count(1, packet(4, WRITE_ONLY, 4), (struct ft_step){ .what = FT_STEP_REORDERED });
	assert_int_equal(detail->retransmitted, 1);
	assert_int_equal(detail->fabric_lost, 2);
	assert_int_equal(detail->reordered, 1);
}

static struct ft_detail *answer(uint8_t syndrome, uint32_t what)
{
	struct ft_observed observed = packet(1, ACKNOWLEDGE, 1);

	observed.syndrome = syndrome;
	return count(1, observed, (struct ft_step){ .what = FT_STEP_ANSWER | what });
}

static void answers_are_counted_by_kind(void **state)
{
	struct ft_detail *detail = ft_details_of(details, 1);

	(void)state;
	answer(0x1f, FT_STEP_ACK);
	answer(0x00, FT_STEP_ACK);
	answer(0x2e, FT_STEP_RNR);
	answer(0x60, FT_STEP_NAK); /* PSN sequence error */
	answer(0x62, FT_STEP_NAK); /* remote access error */
	answer(0x7f, FT_STEP_NAK); /* a code that nobody defined */
	assert_int_equal(detail->acks, 2);
	assert_int_equal(detail->rnr_naks, 1);
	assert_int_equal(detail->naks[0], 1);
	assert_int_equal(detail->naks[1], 0);
	assert_int_equal(detail->naks[2], 1);
	assert_int_equal(detail->naks[3] + detail->naks[4], 0);
}

static void marks_are_ce_in_ip_and_fecn_where_there_is_no_ip(void **state)
{
	static const struct {
		uint32_t has;
		uint8_t ecn;
		uint64_t marked;
	} cases[] = {
		{ FT_OBSERVED_IP, 3, 1 },   { FT_OBSERVED_IP, 2, 0 },
		{ FT_OBSERVED_IP, 1, 0 },   { FT_OBSERVED_IP | FT_OBSERVED_FECN, 2, 0 },
		{ FT_OBSERVED_FECN, 0, 1 }, { FT_OBSERVED_BTH, 3, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ft_observed observed = { .frame = 1,
						.has = cases[i].has,
						.ecn = cases[i].ecn };

		ft_details_clear(details, 1);
		assert_int_equal(count(1, observed, (struct ft_step){ 0 })->ce_marked,
				 cases[i].marked);
	}
}

static void what_a_packet_proves_goes_to_the_record_it_is_about(void **state)
{
	const struct ft_step step = {
		.what = FT_STEP_ANSWER | FT_STEP_MESSAGE,
		.message_kind = FT_MESSAGE_READ,
		.message_bytes = 4096,
		.message_flow = 2,
		.mirror_lost = 3,
		.lost_flow = 2,
		.answers_lost = 5,
		.answers_flow = 1,
		.rtt_ns = 1500,
	};
	const struct ft_detail *there = ft_details_of(details, 2);
	struct ft_detail *here;

	(void)state;
	here = count(1, packet(1, 0x10, 1), step);
	assert_int_equal(there->messages[FT_MESSAGE_READ], 1);
	assert_int_equal(there->sizes.kinds, 1);
	assert_int_equal(there->sizes.most, 4096);
	assert_int_equal(there->mirror_lost, 3);
	assert_int_equal(there->first_frame, 0);
	assert_int_equal(here->messages[FT_MESSAGE_READ], 0);
	assert_int_equal(here->mirror_lost, 5);
	assert_int_equal(here->rtts.kinds, 1);
	assert_int_equal(here->rtts.least, 1500);
	/* and another one adds to it */
	count(1, packet(2, 0x10, 2), step);
	assert_int_equal(there->messages[FT_MESSAGE_READ], 2);
	assert_int_equal(there->mirror_lost, 6);
	assert_int_equal(here->mirror_lost, 10);
}

static void an_atomic_operation_is_on_eight_bytes(void **state)
{
	const struct ft_step step = { .what = FT_STEP_MESSAGE,
				      .message_kind = FT_MESSAGE_ATOMIC,
				      .message_flow = 2 };
	const struct ft_detail *there = ft_details_of(details, 2);

	(void)state;
	count(1, packet(1, 0x12, 1), step);
	assert_int_equal(there->messages[FT_MESSAGE_ATOMIC], 1);
	assert_int_equal(there->sizes.most, 8);
}

static void the_pkey_of_a_wrong_icrc_stands_until_another_is_seen(void **state)
{
	struct ft_observed damaged = packet(1, WRITE_ONLY, 1), sound = packet(2, WRITE_ONLY, 2);
	const struct ft_detail *detail = ft_details_of(details, 1);

	(void)state;
	damaged.has |= FT_OBSERVED_BAD_ICRC;
	damaged.pkey = 0;
	count(1, damaged, (struct ft_step){ 0 });
	damaged.pkey = 0x8007;
	count(1, damaged, (struct ft_step){ 0 });
	assert_int_equal(detail->pkey, 0);
	count(1, sound, (struct ft_step){ 0 });
	count(1, damaged, (struct ft_step){ 0 });
	assert_int_equal(detail->pkey, 0xffff);
}

static void datagrams_to_management_queue_pairs_are_messages(void **state)
{
	struct ft_observed management = packet(1, 0x64, 1);
	struct ft_detail *detail = ft_details_of(details, 1);

	(void)state;
	management.dest_qp = 1;
	management.payload = 256;
	ft_details_count(details, 1, &management, NULL, false);
	management.dest_qp = 0;
	ft_details_count(details, 1, &management, NULL, false);
	management.has |= FT_OBSERVED_BAD_ICRC;
	ft_details_count(details, 1, &management, NULL, false);
	management.has &= ~(uint32_t)FT_OBSERVED_BAD_ICRC;
	management.opcode = WRITE_ONLY;
	ft_details_count(details, 1, &management, NULL, false);
	assert_int_equal(detail->messages[FT_MESSAGE_SEND], 2);
	assert_int_equal(detail->sizes.kinds, 1);
	assert_int_equal(detail->sizes.least, 256);
	assert_int_equal(detail->payload_bytes, 1024);
}

static void what_is_about_an_unknown_record_goes_nowhere(void **state)
{
	const struct ft_step step = {
		.what = FT_STEP_MESSAGE,
		.message_kind = FT_MESSAGE_READ,
		.mirror_lost = 1,
		.answers_lost = 1,
	};

	(void)state;
	count(1, packet(1, 0x10, 1), step);
	for (uint32_t number = 1; number <= CAPACITY; number++) {
		assert_int_equal(ft_details_of(details, number)->messages[FT_MESSAGE_READ], 0);
		assert_int_equal(ft_details_of(details, number)->mirror_lost, 0);
	}
}

static void a_cleared_record_begins_anew(void **state)
{
	struct ft_detail *detail = count(1, packet(3, WRITE_ONLY, 9), (struct ft_step){ 0 });

	(void)state;
	ft_details_clear(details, 1);
	assert_int_equal(detail->payload_bytes, 0);
	count(1, packet(8, READ_REQUEST, 4), (struct ft_step){ 0 });
	assert_int_equal(detail->first_frame, 8);
	assert_int_equal(detail->psn_first, 4);
	assert_int_equal(detail->opcodes[0], READ_REQUEST);
}

static void what_nobody_known_had_asked_for_is_kept_apart(void **state)
{
	const struct ft_step read = { .what = FT_STEP_MESSAGE,
				      .message_kind = FT_MESSAGE_READ,
				      .message_bytes = 300 };
	const struct ft_step atomic = { .what = FT_STEP_MESSAGE,
					.message_kind = FT_MESSAGE_ATOMIC,
					.message_bytes = 1 };
	const struct ft_step claimed = { .what = FT_STEP_MESSAGE, .message_flow = 2 };
	const struct ft_step other = { .what = FT_STEP_ANSWER };
	const struct ft_unclaimed *kept;

	(void)state;
	assert_false(ft_step_is_unclaimed(&claimed));
	assert_false(ft_step_is_unclaimed(&other));
	assert_true(ft_step_is_unclaimed(&read));
	assert_null(ft_details_unclaimed(details, 1));
	ft_details_keep(details, 1, &read);
	ft_details_keep(details, 1, &read);
	ft_details_keep(details, 1, &atomic);
	kept = ft_details_unclaimed(details, 1);
	assert_non_null(kept);
	assert_int_equal(kept->messages[FT_MESSAGE_READ], 2);
	assert_int_equal(kept->messages[FT_MESSAGE_ATOMIC], 1);
	assert_int_equal(kept->sizes.least, 8);
	assert_int_equal(kept->sizes.most, 300);
	assert_null(ft_details_unclaimed(details, 2));
	ft_details_clear(details, 1);
	assert_null(ft_details_unclaimed(details, 1));
	ft_details_keep(details, 1, &read);
	assert_int_equal(ft_details_unclaimed(details, 1)->messages[FT_MESSAGE_READ], 1);
}

/* So many packets of record 2 that passed before, or are another life's; the last one completes a SEND. */
static void withhold(unsigned packets, uint32_t bytes)
{
	struct ft_step step = { .what = FT_STEP_WITHHELD | FT_STEP_RETRANSMITTED };

	for (unsigned i = 0; i < packets; i++) {
		if (i == packets - 1) {
			step.what |= FT_STEP_MESSAGE;
			step.message_kind = FT_MESSAGE_SEND;
			step.message_bytes = bytes;
			step.message_flow = 2;
		}
		count(2, packet(10 + i, WRITE_ONLY, i), step);
	}
}

static void what_may_be_another_life_counts_when_it_is_told(void **state)
{
	const struct ft_step sent = { .what = FT_STEP_MESSAGE,
				      .message_kind = FT_MESSAGE_SEND,
				      .message_bytes = 500,
				      .message_flow = 2 };
	const struct ft_detail *detail = count(2, packet(1, WRITE_ONLY, 1), sent);

	(void)state;
	withhold(3, 20);
	assert_int_equal(ft_details_withheld(details, 2), 3);
	assert_int_equal(ft_details_withheld(details, 1), 0);
	assert_int_equal(detail->messages[FT_MESSAGE_SEND], 1);
	assert_int_equal(detail->retransmitted, 0);
	/* they were new: their message counts beside the one before */
	ft_details_tell(details, 2, false);
	assert_int_equal(detail->messages[FT_MESSAGE_SEND], 2);
	assert_int_equal(detail->sizes.least, 20);
	assert_int_equal(detail->sizes.most, 500);
	assert_int_equal(detail->retransmitted, 0);
	assert_int_equal(ft_details_withheld(details, 2), 0);
	/* others were sent again: no message */
	withhold(4, 7);
	assert_int_equal(ft_details_withheld(details, 2), 4);
	ft_details_tell(details, 2, true);
	ft_details_tell(details, 2, true);
	assert_int_equal(detail->retransmitted, 4);
	assert_int_equal(detail->messages[FT_MESSAGE_SEND], 2);
	assert_int_equal(detail->sizes.least, 20);
	assert_int_equal(ft_details_withheld(details, 2), 0);
}

/* Where no packet was judged, it is not known whose they are. */
static void the_ends_are_nobody_before_a_verdict(void **state)
{
	const struct ft_detail *detail = count(1, packet(1, WRITE_ONLY, 1), (struct ft_step){ 0 });

	(void)state;
	assert_int_equal(detail->src_endpoint, FT_DETAIL_NOBODY);
	assert_int_equal(detail->src_tenant, FT_DETAIL_NOBODY);
	assert_int_equal(detail->dst_endpoint, FT_DETAIL_NOBODY);
	assert_int_equal(detail->dst_tenant, FT_DETAIL_NOBODY);
}

static void a_cut_packet_tells_its_p_key_and_transport(void **state)
{
	struct ft_observed cut = packet(1, 0, 0);
	struct ft_detail *detail;

	(void)state;
	cut.has &= ~(uint32_t)FT_OBSERVED_BTH;
	detail = count(1, cut, (struct ft_step){ 0 });
	assert_false(detail->has_pkey);
	ft_detail_note_cut(detail, 0x8001, 3);
	ft_detail_note_cut(detail, 0x8002, 5);
	count(1, packet(2, WRITE_ONLY, 7), (struct ft_step){ 0 });
	assert_true(detail->has_pkey && detail->cut);
	assert_int_equal(detail->pkey, 0x8001);
	assert_int_equal(detail->service, 3);
	assert_int_equal(detail->psn_first, 7);
}

static void the_ends_are_those_of_the_first_verdict(void **state)
{
	const uint32_t red[2] = { 4, 1 }, blue[2] = { 5, 2 };
	struct ft_detail *detail = ft_details_of(details, 1);

	(void)state;
	ft_detail_place(detail, red, blue);
	ft_detail_place(detail, blue, red);
	ft_detail_judge(detail, 0x10, false);
	ft_detail_judge(detail, 0x01, true);
	count(1, packet(1, WRITE_ONLY, 1), (struct ft_step){ 0 });
	assert_int_equal(detail->src_endpoint, 4);
	assert_int_equal(detail->src_tenant, 1);
	assert_int_equal(detail->dst_endpoint, 5);
	assert_int_equal(detail->dst_tenant, 2);
	assert_int_equal(detail->rules, 0x11);
	assert_int_equal(detail->judged, 1);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, open_details, close_details)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_record_is_refused),
		EACH(the_first_packet_gives_what_is_first),
		EACH(the_last_time_is_the_newest_there_is),
		EACH(a_packet_without_bth_has_no_psn),
		EACH(opcodes_are_counted_in_order_of_appearance),
		EACH(a_full_opcode_slot_goes_on_in_another),
		EACH(all_opcodes_there_are_do_not_overrun_the_record),
		EACH(copies_count_for_nothing_else),
		EACH(sent_again_is_either_seen_before_or_lost_before),
		EACH(answers_are_counted_by_kind),
		EACH(marks_are_ce_in_ip_and_fecn_where_there_is_no_ip),
		EACH(what_a_packet_proves_goes_to_the_record_it_is_about),
		EACH(an_atomic_operation_is_on_eight_bytes),
		EACH(the_pkey_of_a_wrong_icrc_stands_until_another_is_seen),
		EACH(datagrams_to_management_queue_pairs_are_messages),
		EACH(what_is_about_an_unknown_record_goes_nowhere),
		EACH(a_cleared_record_begins_anew),
		EACH(what_nobody_known_had_asked_for_is_kept_apart),
		EACH(what_may_be_another_life_counts_when_it_is_told),
		EACH(the_ends_are_nobody_before_a_verdict),
		EACH(a_cut_packet_tells_its_p_key_and_transport),
		EACH(the_ends_are_those_of_the_first_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
