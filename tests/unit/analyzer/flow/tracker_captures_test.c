#include "replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include <decode/opcode.h>
#include <flow/loss_estimate.h>

/* --- reference vectors: what each packet of a connection is --- */

/* A label of expected.jsonl, and what the tracker says of such a packet. */
static const struct label {
	const char *event;
	uint32_t what;
} labels[] = {
	{ "new", FT_STEP_NEW },
	{ "ack", FT_STEP_ANSWER | FT_STEP_ACK },
	{ "read_resp", FT_STEP_ANSWER | FT_STEP_NEW },
	{ "nak_sequence", FT_STEP_ANSWER | FT_STEP_NAK },
	{ "nak_remote_access", FT_STEP_ANSWER | FT_STEP_NAK },
	{ "rnr_nak", FT_STEP_ANSWER | FT_STEP_RNR },
	{ "retransmit", FT_STEP_RETRANSMITTED },
	{ "retransmit_fill", FT_STEP_FABRIC_LOST },
	{ "cnp", FT_STEP_CNP },
};

struct vector {
	const char *file;
	json_t *records[64]; /* by frame number */
	unsigned checked;
};

static bool is_true(const json_t *flow, const char *key)
{
	return json_is_true(json_object_get(flow, key));
}

static bool ends_message(const json_t *flow)
{
	const char *position = json_string_value(json_object_get(flow, "pos"));

	return position != NULL && (strcmp(position, "last") == 0 || strcmp(position, "only") == 0);
}

static uint32_t wanted_of_new(const json_t *flow, const struct ft_observed *observed)
{
	uint32_t wanted = FT_STEP_NEW;

	if (is_true(flow, "conflict")) /* an injected packet had its PSN before */
		return FT_STEP_RETRANSMITTED;
	if (json_object_get(flow, "gap") != NULL)
		wanted |= FT_STEP_GAP;
	if (ends_message(flow) && observed->opcode != 0x0c) /* a READ ends with its response */
		wanted |= FT_STEP_MESSAGE;
	return wanted;
}

/* Injected packets: what their PSN shows. */
static uint32_t wanted_of_injected(const json_t *flow)
{
	const json_t *indicators = json_object_get(flow, "indicators"), *indicator;
	size_t i;

	json_array_foreach(indicators, i, indicator)
	{
		if (strcmp(json_string_value(indicator), "psn_window") == 0)
			return FT_STEP_OUTSIDE;
		if (strcmp(json_string_value(indicator), "psn_conflict") == 0)
			return FT_STEP_RETRANSMITTED;
	}
	return FT_STEP_NEW;
}

static uint32_t wanted_of(const json_t *flow, const struct ft_observed *observed)
{
	const char *event = json_string_value(json_object_get(flow, "event"));

	if (strcmp(event, "new") == 0)
		return wanted_of_new(flow, observed);
	if (strcmp(event, "injected") == 0)
		return wanted_of_injected(flow);
	for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
		if (strcmp(event, labels[i].event) == 0)
			return labels[i].what |
			       (json_object_get(flow, "completes_msg") ? FT_STEP_MESSAGE : 0);
	fail_msg("unknown label %s", event);
	return 0;
}

static void check_label(void *context, const struct ft_flow *flow,
			const struct ft_observed *observed, const struct ft_step *step)
{
	const uint32_t told = FT_STEP_NEW | FT_STEP_GAP | FT_STEP_RETRANSMITTED |
			      FT_STEP_REORDERED | FT_STEP_FABRIC_LOST | FT_STEP_ACK | FT_STEP_NAK |
			      FT_STEP_RNR | FT_STEP_ANSWER | FT_STEP_CNP | FT_STEP_OUTSIDE |
			      FT_STEP_UNASKED;
	struct vector *vector = context;
	const json_t *label = json_object_get(vector->records[observed->frame], "flow");
	uint32_t wanted = wanted_of(label, observed), mask = told | (wanted & FT_STEP_MESSAGE);

	(void)flow;
	if ((step->what & mask) != wanted)
		fail_msg("%s frame %u: is 0x%x, wanted 0x%x", vector->file,
			 (unsigned)observed->frame, step->what, wanted);
	vector->checked++;
}

static void read_records(struct vector *vector)
{
	FILE *expected = fopen(FT_TEST_DATA "/vectors/expected.jsonl", "r");
	static char line[1 << 16];

	assert_non_null(expected);
	while (fgets(line, sizeof line, expected) != NULL) {
		json_t *record;

		if (strstr(line, vector->file) == NULL)
			continue;
		record = json_loads(line, 0, NULL);
		assert_non_null(record);
		vector->records[json_integer_value(json_object_get(record, "frame"))] = record;
	}
	fclose(expected);
}

static struct ft_flow_key key_of(const json_t *record)
{
	const json_t *ip = json_object_get(record, "ip");
	struct ft_flow_key key = { .vni = FT_FLOW_NO_VNI,
				   .base = FT_FLOW_ANY_BASE,
				   .vlan = FT_FLOW_ANY_VLAN };
	unsigned a, b, c, d;

	key.dest_qp = (uint32_t)json_integer_value(json_object_get(record, "dest_qp"));
	key.src[10] = key.src[11] = key.dst[10] = key.dst[11] = 0xff;
	assert_int_equal(sscanf(json_string_value(json_object_get(ip, "src")), "%u.%u.%u.%u", &a,
				&b, &c, &d),
			 4);
	memcpy(key.src + 12, (uint8_t[]){ (uint8_t)a, (uint8_t)b, (uint8_t)c, (uint8_t)d }, 4);
	assert_int_equal(sscanf(json_string_value(json_object_get(ip, "dst")), "%u.%u.%u.%u", &a,
				&b, &c, &d),
			 4);
	memcpy(key.dst + 12, (uint8_t[]){ (uint8_t)a, (uint8_t)b, (uint8_t)c, (uint8_t)d }, 4);
	return key;
}

/* The connection is made known as its CM handshake would. */
static void check_vector(const char *file)
{
	struct vector vector = { .file = file };
	struct replay replay = { .told = check_label, .context = &vector };
	struct ft_flow_key there, back;
	struct ft_tracker_totals totals;
	char path[512];

	read_records(&vector);
	replay_open(&replay);
	there = key_of(vector.records[4]);
	back = key_of(vector.records[8]);

	ft_tracker_pair(replay.tracker, &there, &back, FT_PAIRED_CM);
	snprintf(path, sizeof path, FT_TEST_DATA "/vectors/%s", file);
	assert_true(replay_file(&replay, path));
	totals = ft_tracker_totals(replay.tracker, NULL);
	assert_int_equal(vector.checked, 34);
	assert_int_equal(totals.mirror_lost, 0);
	assert_int_equal(totals.gaps_open, 0);
	assert_int_equal(totals.fabric_lost, 1);
	assert_int_equal(totals.acks, 5);
	assert_int_equal(totals.naks, 4);
	assert_int_equal(totals.rnr_naks, 1);
	assert_int_equal(totals.cnps, 1);
	assert_int_equal(totals.paired, 1);
	replay_close(&replay);
	for (size_t i = 0; i < sizeof vector.records / sizeof *vector.records; i++)
		json_decref(vector.records[i]);
}

static void every_packet_of_a_connection_is_what_its_author_meant(void **state)
{
	(void)state;
	check_vector("flow_rc_0.pcap");
	check_vector("flow_rc_1.pcap");
}

/* --- captures without mirror loss; counts made by an independent reader of the same files --- */

static const struct capture {
	const char *name;
	unsigned requests_again; /* requests whose PSN had been seen: sent again, or copies */
	unsigned naks, rnr_naks, cnps;
	unsigned connections; /* as the tools that made the capture set them up; 0: not told */
} captures[] = {
	{ "rc-verbs-v4-mtu1024.pcap", 0, 1, 0, 0, 3 },
	{ "rc-verbs-v4-mtu4096.pcap", 0, 0, 0, 0, 2 },
	{ "rdmacm-pkey8002.pcap", 0, 0, 0, 0, 0 },
	{ "rdmacm-v6.pcap", 0, 0, 0, 0, 0 },
	{ "reorder-dup-v4.pcap", 21, 3, 0, 0, 1 },
	{ "rnr-nak-v4.pcap", 53, 11, 39, 0, 2 },
	{ "roce-v6.pcap", 0, 0, 0, 0, 0 },
	{ "roce-v6-linklocal.pcap", 0, 0, 0, 0, 1 },
	{ "snap128-nccl-emul.pcap", 0, 0, 0, 0, 9 },
	{ "ud-uc-v4.pcap", 0, 0, 0, 0, 0 },
	{ "vlan-v4.pcap", 0, 0, 0, 0, 2 },
	{ "mirror-vxlan.pcapng", 0, 0, 0, 0, 0 },
	{ "mirror-erspan2-cut128.pcap", 0, 0, 0, 0, 2 },
};

static void a_complete_capture_has_lost_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof captures / sizeof *captures; i++) {
		const struct capture *capture = &captures[i];
		struct replay replay = { 0 };
		struct ft_tracker_totals totals;
		char path[512];

		snprintf(path, sizeof path, FT_TEST_DATA "/captures/%s", capture->name);
		replay_open(&replay);
		assert_true(replay_file(&replay, path));
		totals = ft_tracker_totals(replay.tracker, NULL);
		if (totals.mirror_lost + totals.gaps_open + totals.one_sided != 0)
			fail_msg("%s: %u lost, %u open, %u one-sided", capture->name,
				 (unsigned)totals.mirror_lost, (unsigned)totals.gaps_open,
				 (unsigned)totals.one_sided);
		if (capture->requests_again != 0)
			assert_int_equal(replay.requests_again + replay.copied,
					 capture->requests_again);
		assert_int_equal(totals.naks, capture->naks);
		assert_int_equal(totals.rnr_naks, capture->rnr_naks);
		assert_int_equal(totals.cnps, capture->cnps);
		if (capture->connections != 0)
			assert_int_equal(totals.paired, capture->connections);
		replay_close(&replay);
	}
}

/* Answers before their requests, requests and responses that overtake each other: none of it is loss. */
static void disorder_is_no_loss(void **state)
{
	static const char *const tidy[] = { "snap128-nccl-emul.pcap", "rc-verbs-v4-mtu1024.pcap",
					    "roce-v6.pcap", "rdmacm-pkey8002.pcap" };
	uint64_t reordered = 0;

	(void)state;
	for (size_t i = 0; i < sizeof tidy / sizeof *tidy; i++)
		for (uint64_t seed = 1; seed <= 5; seed++) {
			struct replay replay = { .disorder = seed * 0x9e3779b97f4a7c15u };
			struct ft_tracker_totals totals;
			char path[512];

			snprintf(path, sizeof path, FT_TEST_DATA "/captures/%s", tidy[i]);
			replay_open(&replay);
			assert_true(replay_file(&replay, path));
			totals = ft_tracker_totals(replay.tracker, NULL);
			if (totals.mirror_lost + totals.gaps_open != 0)
				fail_msg("%s, seed %u: %u lost, %u open", tidy[i], (unsigned)seed,
					 (unsigned)totals.mirror_lost, (unsigned)totals.gaps_open);
			reordered += totals.reordered;
			replay_close(&replay);
		}
	assert_true(reordered > 1000);
}

/* The fabric lost packets before the tap and behind it, requests and responses: none of it is the mirror's. */
static void what_the_fabric_lost_is_not_the_mirrors_loss(void **state)
{
	static const char *const lossy[] = { "captures/loss-rc-v4.pcap",
					     "captures/nccl/loss-ring2-2.21.5.pcap" };

	(void)state;
	for (size_t i = 0; i < sizeof lossy / sizeof *lossy; i++) {
		const char *path = replay_shared(lossy[i]);
		struct replay replay = { 0 };
		struct ft_tracker_totals totals;

		if (path == NULL)
			skip();
		replay_open(&replay);
		assert_true(replay_file(&replay, path));
		totals = ft_tracker_totals(replay.tracker, NULL);
		assert_int_equal(totals.mirror_lost, 0);
		assert_int_equal(totals.gaps_open, 0);
		assert_true(totals.fabric_lost > 0);
		assert_true(replay.requests_again > 100);
		replay_close(&replay);
	}
}

/* --- invented loss --- */

struct drill {
	uint64_t seed;
	double share;
};

static bool drawn(void *context, uint64_t frame)
{
	const struct drill *drill = context;
	uint64_t lot = frame * 0x9e3779b97f4a7c15u ^ drill->seed;

	lot = (lot ^ lot >> 31) * 0xbf58476d1ce4e5b9u;
	lot = (lot ^ lot >> 27) * 0x94d049bb133111ebu;
	return (double)((lot ^ lot >> 31) >> 11) / (double)(1u << 21) / (double)(1ull << 32) <
	       drill->share;
}

/* Frames that leave no hole are a fifth here: the mean over many drills shows whether the rest is counted right. */
static void the_mean_of_many_drills_is_the_true_loss(void **state)
{
	static const double shares[] = { 0.01, 0.1, 0.3 };

	(void)state;
	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
		double estimated = 0, truth = 0, proved = 0;

		for (uint64_t seed = 1; seed <= 20; seed++) {
			struct drill drill = { seed * 0x2545f4914f6cdd1du, shares[i] };
			struct replay replay = { .lost = drawn, .context = &drill };
			struct ft_loss_estimate estimate;

			replay_open(&replay);
			assert_true(replay_file(&replay,
						FT_TEST_DATA "/captures/snap128-nccl-emul.pcap"));
			proved += (double)ft_tracker_totals(replay.tracker, NULL).mirror_lost;
			assert_true(ft_tracker_totals(replay.tracker, NULL).mirror_lost <=
				    replay.lost_rdma);
			ft_tracker_totals(replay.tracker, replay.evidence);
			ft_loss_estimate(replay.evidence, 0, &estimate);
			estimated += (double)estimate.frames;
			truth += (double)replay.lost_rdma;
			replay_close(&replay);
		}
		if (estimated < 0.95 * truth || estimated > 1.05 * truth)
			fail_msg("share %g: %g estimated, %g lost", shares[i], estimated, truth);
		assert_true(proved > 0.6 * truth);
	}
}

/* 29 frames of this copy are lost; which ones its description says: 24 requests, 4 answers, one of TCP. */
static void a_lossy_copy_shows_what_it_lost(void **state)
{
	const char *path = replay_shared("captures/loss1pct-nccl-emul.pcap");
	struct replay replay = { 0 };
	struct ft_loss_estimate estimate;

	(void)state;
	if (path == NULL)
		skip();
	replay_open(&replay);
	assert_true(replay_file(&replay, path));
	assert_int_equal(ft_tracker_totals(replay.tracker, NULL).mirror_lost, 24);
	ft_tracker_totals(replay.tracker, replay.evidence);
	ft_loss_estimate(replay.evidence, 0, &estimate);
	assert_in_range(estimate.frames, 24, 32);
	assert_true(estimate.low <= 28 && estimate.high >= 28);
	replay_close(&replay);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_packet_of_a_connection_is_what_its_author_meant),
		cmocka_unit_test(a_complete_capture_has_lost_nothing),
		cmocka_unit_test(disorder_is_no_loss),
		cmocka_unit_test(what_the_fabric_lost_is_not_the_mirrors_loss),
		cmocka_unit_test(the_mean_of_many_drills_is_the_true_loss),
		cmocka_unit_test(a_lossy_copy_shows_what_it_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
