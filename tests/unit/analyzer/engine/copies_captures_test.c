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
	uint64_t which; /* digest of all verdicts in order */
};

enum { ENGINES_MAX = 3 };

/* Frames of an address pair always go to the same engine. */
struct engines {
	struct ft_copies *copies[ENGINES_MAX];
	unsigned count;
	struct tally tally;
};

static struct engines engines_made(unsigned count)
{
	struct engines engines = { .count = count };

	for (unsigned i = 0; i < count; i++) {
		struct ft_copies_config config = FT_COPIES_DEFAULTS;

		config.seed = i + count;
		assert_int_equal(ft_copies_create(&engines.copies[i], &config), 0);
	}
	return engines;
}

static struct tally engines_done(struct engines *engines)
{
	for (unsigned i = 0; i < engines->count; i++)
		ft_copies_destroy(engines->copies[i]);
	return engines->tally;
}

static void check(struct engines *engines, const struct ft_observed *observed)
{
	struct ft_copies *copies = engines->copies[observed->pair % engines->count];
	enum ft_copy_verdict verdict = ft_copies_check(copies, observed, 0);

	engines->tally.copies += verdict == FT_COPY_YES;
	engines->tally.repeated += verdict == FT_COPY_REPEATED;
	engines->tally.which = (engines->tally.which + (uint64_t)verdict) * 31 + 1;
}

static struct tally once(const struct captured *frames)
{
	struct engines engines = engines_made(1);

	for (size_t i = 0; i < frames->count; i++)
		check(&engines, &frames->at[i]);
	return engines_done(&engines);
}

/* Every frame again, so much later. */
static struct tally twice(const struct captured *frames, uint64_t delay_ns, unsigned engine_count)
{
	struct engines engines = engines_made(engine_count);

	for (size_t first = 0, again = 0; again < frames->count;) {
		struct ft_observed late = frames->at[again];

		late.ts_ns += delay_ns;
		if (first < frames->count &&
		    (first == again || (delay_ns > 0 && frames->at[first].ts_ns <= late.ts_ns))) {
			check(&engines, &frames->at[first++]);
		} else {
			check(&engines, &late);
			again++;
		}
	}
	return engines_done(&engines);
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
	assert_int_equal(twice(frames, 0, 1).copies, frames->count + capture->copies);
}

static void verify_delayed(const struct capture *capture, const struct captured *frames)
{
	if (capture->plain)
		return;
	assert_int_equal(twice(frames, 5000, 1).copies, frames->count + capture->copies);
	assert_int_equal(twice(frames, 30000, 1).copies, frames->count + capture->copies);
	assert_int_equal(twice(frames, 30000, 1).repeated, 0);
}

static void verify_spread(const struct capture *capture, const struct captured *frames)
{
	struct tally one = twice(frames, 30000, 1), spread = twice(frames, 30000, ENGINES_MAX);

	(void)capture;
	assert_true(spread.which == one.which && spread.copies == one.copies);
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

static void spread_over_engines_the_same_are_copies(void **state)
{
	(void)state;
	each(verify_spread);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captures_have_the_copies_they_have),
		cmocka_unit_test(doubled_at_once_half_are_copies),
		cmocka_unit_test(doubled_a_little_later_half_are_copies),
		cmocka_unit_test(spread_over_engines_the_same_are_copies),
	};

	return cmocka_run_group_tests_name("copies_captures", tests, NULL, NULL);
}
