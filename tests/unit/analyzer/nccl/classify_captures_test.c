#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <capture/source.h>
#include <decode/decode.h>

#include "queue_pairs.h"

/* Captures of programs that are not NCCL, whole, cut, with packets lost, and from the middle. */

enum { BURST = 64, MOST = 10000, GSI = 1, WHOLE = 0 };

struct way {
	const char *file;
	uint32_t cut;  /* bytes of each frame; WHOLE: all */
	unsigned lost; /* packets of 1000 */
	uint64_t from; /* the first frame that is seen */
	unsigned seed; /* of what is lost */
};

struct outcome {
	struct ft_nccl_queue_pair *rows;
	size_t count;
};

static void show(struct ft_nccl_qps *qps, struct ft_frame frame, uint32_t cut)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	static struct ft_packet packet;
	struct ft_decode_rest rest;
	struct ft_nccl_segment segment;
	struct ft_nccl_seen seen;

	if (cut != WHOLE && frame.captured > cut)
		frame.captured = cut;
	ft_decode(&config,
		  &(struct ft_decode_input){ frame.bytes, frame.captured, frame.wire,
					     frame.link_type, frame.fcs_bytes, frame.ts_ns },
		  &packet, &rest);
	if (ft_nccl_seen_of(&packet, &frame, &seen))
		ft_nccl_qps_see(qps, &seen);
	else if (ft_nccl_segment_of(&packet, &frame, &segment))
		ft_nccl_qps_see_tcp(qps, &segment);
}

/* Knuth's numbers for a sequence of 64 bits. */
static bool is_lost(uint64_t *chance, unsigned lost)
{
	*chance = *chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*chance >> 33) % 1000 < lost;
}

static struct outcome run(const char *path, const struct way *way)
{
	struct ft_source_complaint complaint;
	struct ft_frame frames[BURST];
	struct ft_source *source;
	struct ft_nccl_qps *qps;
	struct outcome outcome;
	uint64_t chance = way->seed;
	int count;

	assert_int_equal(ft_source_open_files(&source, &path, 1, &complaint), 0);
	assert_int_equal(ft_nccl_qps_create(&qps, MOST, 5), 0);
	while ((count = ft_source_next(source, frames, BURST)) > 0)
		for (int i = 0; i < count; i++)
			if (frames[i].number >= way->from && !is_lost(&chance, way->lost))
				show(qps, frames[i], way->cut);
	outcome.rows = ft_nccl_qps_report(qps, &outcome.count);
	assert_non_null(outcome.rows);
	ft_nccl_qps_destroy(qps);
	ft_source_close(source);
	return outcome;
}

static unsigned count_class(const struct outcome *outcome, enum ft_nccl_class class)
{
	unsigned count = 0;

	for (size_t i = 0; i < outcome->count; i++)
		count += outcome->rows[i].class == class && outcome->rows[i].qpn != GSI;
	return count;
}

/* All but QP 1, which CM has to itself here, are of the class, or else so many are unknown at most. */
static void check(const struct way *way, enum ft_nccl_class class, unsigned ends, unsigned unknown)
{
	char path[512];
	struct outcome outcome;
	unsigned found;

	snprintf(path, sizeof path, "%s/%s", FT_TEST_DATA, way->file);
	outcome = run(path, way);
	found = count_class(&outcome, class);
	if (found > ends || found + unknown < ends ||
	    found + count_class(&outcome, FT_NCCL_CLASS_UNKNOWN) != ends)
		fail_msg("%s, cut %u, %u lost, from %lu, seed %u: %u of %u", way->file, way->cut,
			 way->lost, (unsigned long)way->from, way->seed, found, ends);
	for (size_t i = 0; i < outcome.count; i++)
		if (outcome.rows[i].qpn == GSI)
			assert_int_equal(outcome.rows[i].class, FT_NCCL_CLASS_RDMA_CM);
	free(outcome.rows);
}

#define OTHERS(name) "nccl/others/" name "-cut160.pcap.gz"

/* `ends`: queue pairs that the captures' programs used, as many as are left behind the cut. */
static const struct {
	struct way way;
	enum ft_nccl_class class;
	unsigned ends;
} programs[] = {
	{ { OTHERS("gloo-ibverbs-3rank"), WHOLE, 0, 0, 0 }, FT_NCCL_CLASS_GLOO, 6 },
	{ { OTHERS("gloo-ibverbs-3rank"), 128, 0, 0, 0 }, FT_NCCL_CLASS_GLOO, 6 },
	{ { OTHERS("gloo-ibverbs-3rank"), 64, 0, 0, 0 }, FT_NCCL_CLASS_GLOO, 6 },
	{ { OTHERS("gloo-ibverbs-3rank"), WHOLE, 0, 1150, 0 }, FT_NCCL_CLASS_GLOO, 6 },
	{ { OTHERS("gloo-ibverbs-3rank"), 64, 0, 1150, 0 }, FT_NCCL_CLASS_GLOO, 6 },
	{ { OTHERS("nvme-rdma"), WHOLE, 0, 0, 0 }, FT_NCCL_CLASS_NVME, 4 },
	{ { OTHERS("nvme-rdma"), 128, 0, 0, 0 }, FT_NCCL_CLASS_NVME, 4 },
	{ { OTHERS("nvme-rdma"), 64, 0, 0, 0 }, FT_NCCL_CLASS_NVME, 4 },
	{ { OTHERS("nvme-rdma"), WHOLE, 0, 400, 0 }, FT_NCCL_CLASS_NVME, 4 },
	{ { OTHERS("nvme-rdma"), 64, 0, 400, 0 }, FT_NCCL_CLASS_NVME, 4 },
	{ { OTHERS("openmpi-ucx-allreduce-2rank"), WHOLE, 0, 0, 0 }, FT_NCCL_CLASS_UCX, 4 },
	{ { OTHERS("openmpi-ucx-allreduce-2rank"), 128, 0, 0, 0 }, FT_NCCL_CLASS_UCX, 4 },
	{ { OTHERS("openmpi-ucx-allreduce-2rank"), 128, 0, 450, 0 }, FT_NCCL_CLASS_UCX, 2 },
	{ { OTHERS("ucx-perftest-v6"), WHOLE, 0, 0, 0 }, FT_NCCL_CLASS_UCX, 24 },
	{ { OTHERS("ucx-perftest-v6"), 128, 0, 0, 0 }, FT_NCCL_CLASS_UCX, 24 },
	{ { OTHERS("perftest-rc-v4"), WHOLE, 0, 0, 0 }, FT_NCCL_CLASS_PERFTEST, 24 },
	{ { OTHERS("perftest-rc-v4"), 128, 0, 0, 0 }, FT_NCCL_CLASS_PERFTEST, 24 },
	{ { OTHERS("perftest-rc-v4"), 64, 0, 0, 0 }, FT_NCCL_CLASS_PERFTEST, 24 },
	{ { OTHERS("perftest-rc-v4"), 128, 0, 1046, 0 }, FT_NCCL_CLASS_PERFTEST, 20 },
	{ { "captures/rdmacm-v6.pcap", WHOLE, 0, 0, 0 }, FT_NCCL_CLASS_RDMA_CM, 6 },
	{ { "captures/multicast-v4.pcap", WHOLE, 0, 0, 0 }, FT_NCCL_CLASS_RDMA_CM, 1 },
};

static void programs_are_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
		check(&programs[i].way, programs[i].class, programs[i].ends, 0);
}

/* A tenth of the packets: what made one short connection known may be among them. */
static void programs_are_known_with_losses(void **state)
{
	enum { SEEDS = 4, FEW = 10, MANY = 100, SPARED = 4 };

	(void)state;
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		struct way way = programs[i].way;

		if (way.from != 0 || way.cut == 64 || strncmp(way.file, "nccl/", 5) != 0)
			continue;
		for (way.seed = 1; way.seed <= SEEDS; way.seed++) {
			way.lost = FEW;
			check(&way, programs[i].class, programs[i].ends, 0);
			way.lost = MANY;
			check(&way, programs[i].class, programs[i].ends, SPARED);
		}
	}
}

/*
 * What else ran in captures with several programs, by the numbers that these printed: perftest's. The rest is of
 * a test program that is in no list of libraries, or of the RDMA CM's own.
 */
static void perftest_is_known_among_others(void **state)
{
	static const struct {
		const char *file;
		uint32_t qpns[8]; /* of perftest; both ends */
		enum ft_nccl_class rest;
	} rows[] = {
		{ "captures/ud-uc-v4.pcap", { 0x37, 0x38, 0x39 }, FT_NCCL_CLASS_UNKNOWN },
		{ "captures/roce-v6.pcap",
		  { 0x35, 0x22, 0x36, 0x23, 0x37 },
		  FT_NCCL_CLASS_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct way way = { .file = rows[i].file };
		struct outcome outcome;
		char path[512];

		snprintf(path, sizeof path, "%s/%s", FT_TEST_DATA, way.file);
		outcome = run(path, &way);
		assert_true(outcome.count > 0);
		for (size_t row = 0; row < outcome.count; row++) {
			bool perftest = false;

			for (size_t at = 0; at < 8 && rows[i].qpns[at] != 0; at++)
				perftest |= rows[i].qpns[at] == outcome.rows[row].qpn;
			assert_int_equal(outcome.rows[row].class,
					 perftest ? FT_NCCL_CLASS_PERFTEST : rows[i].rest);
		}
		free(outcome.rows);
	}
}

static bool is_capture(const char *name)
{
	return strstr(name, ".pcap") != NULL || strstr(name, ".erf") != NULL;
}

static unsigned find_nccl_in(const char *folder)
{
	static const uint32_t cuts[] = { WHOLE, 128, 64 };
	struct dirent *entry;
	unsigned files = 0;
	DIR *listing = opendir(folder);

	assert_non_null(listing);
	while ((entry = readdir(listing)) != NULL) {
		char path[1024];

		if (!is_capture(entry->d_name))
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		files++;
		for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
			struct outcome outcome = run(path, &(struct way){ .cut = cuts[i] });

			if (count_class(&outcome, FT_NCCL_CLASS_NCCL) != 0)
				fail_msg("%s, cut %u", path, cuts[i]);
			free(outcome.rows);
		}
	}
	closedir(listing);
	return files;
}

/* Headers alone never make NCCL of anything: that takes what its followers find out. */
static void nothing_is_nccl_by_its_headers(void **state)
{
	const char *shared = getenv("FT_SHARED");
	char folder[512];

	(void)state;
	assert_true(find_nccl_in(FT_TEST_DATA "/captures") > 0);
	assert_true(find_nccl_in(FT_TEST_DATA "/vectors") > 0);
	assert_true(find_nccl_in(FT_TEST_DATA "/nccl/others") > 0);
	if (shared == NULL)
		return;
	snprintf(folder, sizeof folder, "%s/captures", shared);
	find_nccl_in(folder);
	snprintf(folder, sizeof folder, "%s/captures/tenants", shared);
	find_nccl_in(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_known),
		cmocka_unit_test(programs_are_known_with_losses),
		cmocka_unit_test(perftest_is_known_among_others),
		cmocka_unit_test(nothing_is_nccl_by_its_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
