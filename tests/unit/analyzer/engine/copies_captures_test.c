/*
 * Real captures, once and with every frame twice. How many copies a capture has by itself was counted
 * by a program that compares whole frames within 1 ms, and read from the captures' own descriptions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <flow/copies.h>

#include "captures.h"

struct tally {
	unsigned copies, repeated;
};

static void check(struct ft_copies *copies, const struct ft_observed *observed, struct tally *tally)
{
	enum ft_copy_verdict verdict = ft_copies_check(copies, observed, 0);

	tally->copies += verdict == FT_COPY_YES;
	tally->repeated += verdict == FT_COPY_REPEATED;
}

static struct ft_copies *copies_made(void)
{
	struct ft_copies_config config = FT_COPIES_DEFAULTS;
	struct ft_copies *copies;

	assert_int_equal(ft_copies_create(&copies, &config), 0);
	return copies;
}

static struct tally once(const struct captured *frames)
{
	struct ft_copies *copies = copies_made();
	struct tally tally = { 0, 0 };

	for (size_t i = 0; i < frames->count; i++)
		check(copies, &frames->at[i], &tally);
	ft_copies_destroy(copies);
	return tally;
}

/* Every frame again, so much later. */
static struct tally twice(const struct captured *frames, uint64_t delay_ns)
{
	struct ft_copies *copies = copies_made();
	struct tally tally = { 0, 0 };

	for (size_t first = 0, again = 0; again < frames->count;) {
		struct ft_observed late = frames->at[again];

		late.ts_ns += delay_ns;
		if (first < frames->count &&
		    (first == again || (delay_ns > 0 && frames->at[first].ts_ns <= late.ts_ns))) {
			check(copies, &frames->at[first++], &tally);
		} else {
			check(copies, &late, &tally);
			again++;
		}
	}
	ft_copies_destroy(copies);
	return tally;
}

static const struct capture {
	const char *name;
	unsigned copies;
	bool plain; /* too little is left of a packet to be sure of a copy that comes late */
} captures[] = {
	{ "dup-openmpi.pcap", 800, false },
	{ "ecn-cnp-nccl-emul.pcap", 0, false },
	{ "gloo-ibverbs-3rank.pcap", 0, false },
	{ "loss-rc-v4.pcap", 0, false },
	{ "loss1pct-nccl-emul.pcap", 0, false },
	{ "mads.pcap", 0, false },
	{ "mirror-erspan2-cut128.pcap", 0, false },
	{ "mirror-erspan2.pcap", 0, false },
	{ "mirror-erspan3.pcap", 0, false },
	{ "mirror-vxlan.pcapng", 0, false },
	{ "mixed-v4.pcap", 0, false },
	{ "multicast-v4.pcap", 0, false },
	{ "nccl-emul-2rank.pcap", 0, false },
	{ "nccl-emul-3rank-checkpoint.pcap", 0, false },
	{ "nccl-emul-4rank-2qp-jumbo.pcap", 0, false },
	{ "nccl-emul-4rank-ar-oldfifo.pcap", 0, false },
	{ "nccl-emul-long-snap160.pcap", 0, false },
	{ "nvme-rdma.pcap", 0, false },
	{ "openmpi-ucx-allreduce-2rank.pcap", 0, false },
	{ "openmpi-ucx-allreduce-4rank.pcap", 0, false },
	{ "perftest-rc-v4.pcap", 0, false }, /* two TCP resets alike */
	{ "rc-verbs-v4-mtu1024.pcap", 0, false },
	{ "rc-verbs-v4-mtu4096.pcap", 0, false },
	{ "rc-verbs-v4.pcapng", 0, false },
	{ "rdmacm-pkey8002.pcap", 0, false },
	{ "rdmacm-v6.pcap", 0, false },
	{ "reorder-dup-v4.pcap", 3, false }, /* by the network emulator, within 1 ms */
	{ "rnr-nak-v4.pcap", 0, false },
	{ "roce-v6-linklocal.pcap", 0, false },
	{ "roce-v6.pcap", 0, false },
	{ "rocev1-rc-verbs.pcap", 0, false },
	{ "snap128-nccl-emul.pcap", 0, false },
	{ "ucx-perftest-v6.pcap", 0, false },
	{ "ud-uc-v4.pcap", 0, false },
	{ "vlan-v4.pcap", 0, false },
	{ "tenants/tenants-ib.pcap", 0, false },
	{ "tenants/tenants-ib-cut64.pcap", 0, false },
	{ "tenants/tenants-ib-erf.pcap", 0, false },
	{ "tenants/tenants-ib-erf-cut64.pcap", 0, true },
	{ "tenants/tenants-ib-doubled.pcap", 612, false },
	{ "tenants/tenants-segments.pcap", 0, false },
	{ "tenants/tenants-segments-clean-cut64.pcap", 0, true },
	{ "tenants/tenants-segments-cut96.pcap", 0, true },
	{ "tenants/tenants-segments-doubled.pcap", 485, false },
	{ "tenants/tenants-moving.pcap", 0, false },
	{ "nccl/single-2.30.7.pcap", 0, false },
	{ "nccl/loss-ring2-2.21.5.pcap", 0, false },
};

/* Calls `verify` with every capture that is there. */
static void each(void (*verify)(const struct capture *capture, const struct captured *frames))
{
	for (size_t i = 0; i < sizeof captures / sizeof *captures; i++) {
		struct captured frames;

		if (!captures_read(captures[i].name, &frames))
			continue;
		print_message("%s\n", captures[i].name);
		assert_true(frames.count > 0);
		verify(&captures[i], &frames);
		captures_free(&frames);
	}
}

static void verify_once(const struct capture *capture, const struct captured *frames)
{
	assert_int_equal(once(frames).copies, capture->copies);
	assert_int_equal(once(frames).repeated, 0);
}

static void verify_at_once(const struct capture *capture, const struct captured *frames)
{
	assert_int_equal(twice(frames, 0).copies, frames->count + capture->copies);
}

static void verify_delayed(const struct capture *capture, const struct captured *frames)
{
	if (capture->plain)
		return;
	assert_int_equal(twice(frames, 5000).copies, frames->count + capture->copies);
	assert_int_equal(twice(frames, 30000).copies, frames->count + capture->copies);
	assert_int_equal(twice(frames, 30000).repeated, 0);
}

static void captures_have_the_copies_they_have(void **state)
{
	(void)state;
	each(verify_once);
}

static void doubled_at_once_half_are_copies(void **state)
{
	(void)state;
	each(verify_at_once);
}

static void doubled_a_little_later_half_are_copies(void **state)
{
	(void)state;
	each(verify_delayed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures_have_the_copies_they_have),
		cmocka_unit_test(doubled_at_once_half_are_copies),
		cmocka_unit_test(doubled_a_little_later_half_are_copies),
	};

	return cmocka_run_group_tests_name("copies_captures", tests, NULL, NULL);
}
