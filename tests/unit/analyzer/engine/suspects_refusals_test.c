#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "suspects_refusals.h"

/* NAKs that end a connection: IBA vol. 1, table 45, codes 1 to 3. */
enum {
	SEQUENCE_ERROR = 0x60,
	INVALID = 0x61,
	ACCESS = 0x62,
	OPERATIONAL = 0x63,
	INVALID_RD = 0x64
};
enum { FLOW = 7, OTHER = 8, NAK_FRAME = 100 };

#define NAK_NS UINT64_C(1000000000000000000)
#define MS     UINT64_C(1000000)

static struct ft_observed answer(uint32_t psn, uint64_t ts_ns, uint8_t syndrome)
{
	return (struct ft_observed){
		.frame = NAK_FRAME, .ts_ns = ts_ns, .psn = psn, .syndrome = syndrome
	};
}

/* The frame of the NAK that an ACK shows, a NAK for `refused` on FLOW having been sent at NAK_NS. */
static uint64_t shown(uint8_t syndrome, uint32_t refused, uint32_t flow, uint32_t psn,
		      uint64_t ts_ns)
{
	struct ft_observed nak = answer(refused, NAK_NS, syndrome);
	struct ft_observed ack = answer(psn, ts_ns, 0);
	struct ft_refusals refusals = { .next = 0 };

	ft_refusals_see(&refusals, FLOW, &nak);
	if (ack.ts_ns > refusals.until_ns)
		return 0; /* nobody asks */
	return ft_refusals_outlived(&refusals, flow, &ack).frame;
}

static void an_ack_shows_what_had_refused_its_request(void **state)
{
	static const struct {
		const char *says;
		uint8_t syndrome;
		uint32_t refused, flow, psn;
		uint64_t after_ns;
		bool found;
	} rows[] = {
		{ "an invalid request", INVALID, 50, FLOW, 50, MS, true },
		{ "a remote access error", ACCESS, 50, FLOW, 50, MS, true },
		{ "a remote operational error", OPERATIONAL, 50, FLOW, 50, MS, true },
		{ "a missing request is sent again", SEQUENCE_ERROR, 50, FLOW, 50, MS, false },
		{ "RD has no such state", INVALID_RD, 50, FLOW, 50, MS, false },
		{ "what came before was executed", ACCESS, 50, FLOW, 49, MS, false },
		{ "what came behind was not", ACCESS, 50, FLOW, 50 + 1023, MS, true },
		{ "that far behind is another life", ACCESS, 50, FLOW, 50 + 1024, MS, false },
		{ "PSNs wrap", ACCESS, 0xffffff, FLOW, 3, MS, true },
		{ "another connection", ACCESS, 50, OTHER, 50, MS, false },
		{ "at once", ACCESS, 50, FLOW, 50, 0, true },
		{ "before a queue pair can be in use anew", ACCESS, 50, FLOW, 50, 10 * MS, true },
		{ "after that", ACCESS, 50, FLOW, 50, 10 * MS + 1, false },
		{ "the clock went back", ACCESS, 50, FLOW, 50, (uint64_t)-1, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t frame = shown(rows[i].syndrome, rows[i].refused, rows[i].flow, rows[i].psn,
				       NAK_NS + rows[i].after_ns);

		if (frame != (rows[i].found ? NAK_FRAME : 0))
			fail_msg("%s", rows[i].says);
	}
}

static void each_is_told_of_once_and_none_of_another_life(void **state)
{
	struct ft_observed nak = answer(50, NAK_NS, ACCESS), ack = answer(50, NAK_NS + MS, 0);
	struct ft_refusals refusals = { .next = 0 };

	(void)state;
	ft_refusals_see(&refusals, FLOW, &nak);
	assert_int_equal(ft_refusals_outlived(&refusals, FLOW, &ack).ts_ns, NAK_NS);
	assert_int_equal(ft_refusals_outlived(&refusals, FLOW, &ack).frame, 0);
	ft_refusals_see(&refusals, FLOW, &nak);
	ft_refusals_forget(&refusals, OTHER);
	ft_refusals_forget(&refusals, FLOW);
	assert_int_equal(ft_refusals_outlived(&refusals, FLOW, &ack).frame, 0);
}

static void the_newest_are_remembered(void **state)
{
	struct ft_observed nak = answer(50, NAK_NS, ACCESS), ack = answer(50, NAK_NS + MS, 0);
	struct ft_refusals refusals = { .next = 0 };

	(void)state;
	for (uint32_t flow = 1; flow <= FT_REFUSALS + 1; flow++)
		ft_refusals_see(&refusals, flow, &nak);
	assert_int_equal(ft_refusals_outlived(&refusals, 1, &ack).frame, 0);
	for (uint32_t flow = 2; flow <= FT_REFUSALS + 1; flow++)
		assert_int_equal(ft_refusals_outlived(&refusals, flow, &ack).frame, NAK_FRAME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ack_shows_what_had_refused_its_request),
		cmocka_unit_test(each_is_told_of_once_and_none_of_another_life),
		cmocka_unit_test(the_newest_are_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
