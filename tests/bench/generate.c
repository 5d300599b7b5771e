#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "declared_map.h"
#include "rings.h"
#include "rdma_frame.h"
#include "traffic.h"

/* Makes the inputs of the bench: captures and the maps that declare them. */

static int usage(void)
{
	fputs("usage: bench_generate map SITE FILE\n"
	      "       bench_generate traffic SITE FILE [OPTIONS]\n"
	      "       bench_generate nccl SITE FILE [OPTIONS]\n"
	      "SITE: small, wide, big or native; FILE: - is standard output\n"
	      "  --frames N       in all, lost ones included (1000000)\n"
	      "  --slice BYTES    kept of each frame\n"
	      "traffic:\n"
	      "  --flows N        half-connections at a time (1000)\n"
	      "  --payload BYTES  of a data packet (1024)\n"
	      "  --in-turn        connections one after the other, not at random\n"
	      "  --day N          24 hours are N frames long, and connections come and go\n"
	      "  --loss SHARE     leave out frames as a mirror does that loses this share\n"
	      "  --burst N        ... in bursts of so many (1)\n"
	      "  --damaged        each ICRC is wrong\n"
	      "  --mirrored       a switch sends what is kept on in ERSPAN II\n"
	      "  --overlay        the fabric carries frames in VXLAN; a slice keeps as much of "
	      "them\n"
	      "nccl:\n"
	      "  --rings N        (4)\n"
	      "  --ranks N        of a ring, one to a node (16)\n"
	      "  --channels N     connections from each rank to the next (8)\n"
	      "  --queue-pairs N  of a connection, which take turns: 1, 2, 4 or 8 (1)\n"
	      "  --split          ... or have a part of each message\n"
	      "  --ll             messages of 32 KiB by protocol LL, not of 512 KiB by SIMPLE\n"
	      "  --marked         a switch marks each packet for congestion\n",
	      stderr);
	return 2;
}

/* What can be asked for; which of it, the first argument says. */
struct order {
	struct traffic traffic;
	struct rings rings;
};

static int read_traffic_option(int option, const char *text, struct traffic *traffic)
{
	unsigned long long number = text == NULL ? 0 : strtoull(text, NULL, 10);

	switch (option) {
	case 'n':
		traffic->flows = (uint32_t)number;
		return 0;
	case 'p':
		traffic->payload = (uint32_t)number;
		return 0;
	case 't':
		traffic->in_turn = true;
		return 0;
	case 'd':
		traffic->day = number;
		return 0;
	case 'l':
		traffic->loss = text == NULL ? 0 : strtod(text, NULL);
		return 0;
	case 'b':
		traffic->burst = (uint32_t)number;
		return 0;
	case 'D':
		traffic->damaged = true;
		return 0;
	case 'M':
		traffic->mirrored = true;
		return 0;
	case 'O':
		traffic->overlay = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static int read_option(int option, const char *text, struct order *order)
{
	unsigned long long number = text == NULL ? 0 : strtoull(text, NULL, 10);

	switch (option) {
	case 'f':
		order->traffic.frames = order->rings.frames = number;
		return 0;
	case 's':
		order->traffic.slice = order->rings.slice = (uint32_t)number;
		return 0;
	case 'R':
		order->rings.rings = (uint32_t)number;
		return 0;
	case 'r':
		order->rings.ranks = (uint32_t)number;
		return 0;
	case 'c':
		order->rings.channels = (uint32_t)number;
		return 0;
	case 'q':
		order->rings.queue_pairs = (uint32_t)number;
		return 0;
	case 'S':
		order->rings.split = true;
		return 0;
	case 'L':
		order->rings.ll = true;
		return 0;
	case 'm':
		order->rings.marked = true;
		return 0;
	default:
		return read_traffic_option(option, text, &order->traffic);
	}
}

static int read_options(int argc, char **argv, struct order *order)
{
	static const struct option options[] = {
		{ "frames", required_argument, NULL, 'f' },
		{ "slice", required_argument, NULL, 's' },
		{ "flows", required_argument, NULL, 'n' },
		{ "payload", required_argument, NULL, 'p' },
		{ "in-turn", no_argument, NULL, 't' },
		{ "day", required_argument, NULL, 'd' },
		{ "loss", required_argument, NULL, 'l' },
		{ "burst", required_argument, NULL, 'b' },
		{ "damaged", no_argument, NULL, 'D' },
		{ "mirrored", no_argument, NULL, 'M' },
		{ "overlay", no_argument, NULL, 'O' },
		{ "rings", required_argument, NULL, 'R' },
		{ "ranks", required_argument, NULL, 'r' },
		{ "channels", required_argument, NULL, 'c' },
		{ "queue-pairs", required_argument, NULL, 'q' },
		{ "split", no_argument, NULL, 'S' },
		{ "ll", no_argument, NULL, 'L' },
		{ "marked", no_argument, NULL, 'm' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (read_option(option, optarg, order) != 0)
			return -EINVAL;
	return optind == argc ? 0 : -EINVAL;
}

enum { HALVES_MAX = (1 << 24) - FIRST_QP };

static bool is_possible(const struct traffic *traffic)
{
	uint32_t payload = traffic->payload;
	bool mtu = payload >= 256 && payload <= 4096 && (payload & (payload - 1)) == 0;
	uint64_t flows = traffic->flows;

	if (traffic->day != 0) /* those of all lives */
		flows += flows * 144 * traffic->frames / traffic->day;
	return traffic->mirrored + traffic->overlay + traffic->site->native <= 1 &&
	       traffic->flows >= 2 && traffic->flows % 2 == 0 && flows <= HALVES_MAX &&
	       traffic->loss >= 0 && traffic->loss < 1 && traffic->burst >= 1 &&
	       (mtu || (payload < 256 && payload % 4 == 0 && payload != 0));
}

static bool are_possible(const struct rings *rings)
{
	uint32_t queue_pairs = rings->queue_pairs;

	return rings->rings >= 1 && rings->rings <= HALVES_MAX && rings->ranks >= 2 &&
	       rings->ranks <= rings->site->members && rings->channels >= 1 &&
	       rings->channels <= 64 && queue_pairs >= 1 && queue_pairs <= 8 &&
	       (queue_pairs & (queue_pairs - 1)) == 0 && rings_halves(rings) <= HALVES_MAX;
}

/* Where it went is told on the other stream. */
static void say_lost(FILE *file, const struct traffic *traffic, uint64_t lost)
{
	if (traffic->loss > 0)
		fprintf(file == stdout ? stderr : stdout, "%llu of %llu RDMA frames lost\n",
			(unsigned long long)lost, (unsigned long long)traffic->frames);
}

static int write_traffic(FILE *file, const struct order *order)
{
	uint64_t lost = 0;
	int error = traffic_write(file, &order->traffic, &lost);

	if (error == 0)
		say_lost(file, &order->traffic, lost);
	return error;
}

static int write_rings(FILE *file, const struct order *order)
{
	return rings_write(file, &order->rings);
}

static int write_map(FILE *file, const struct order *order)
{
	declared_map_write(file, order->traffic.site);
	return ferror(file) ? -EIO : 0;
}

typedef int writer(FILE *file, const struct order *order);

/* NULL: there is no such kind, or not as it is asked for. */
static writer *writer_of(const char *kind, int options, const struct order *order)
{
	if (strcmp(kind, "map") == 0)
		return options == 0 ? write_map : NULL;
	if (strcmp(kind, "traffic") == 0)
		return is_possible(&order->traffic) ? write_traffic : NULL;
	if (strcmp(kind, "nccl") == 0)
		return are_possible(&order->rings) ? write_rings : NULL;
	return NULL;
}

static int write_file(const char *path, writer *write, const struct order *order)
{
	FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
	int error;

	if (file == NULL)
		return -errno;
	setvbuf(file, NULL, _IOFBF, 1 << 20);
	error = write(file, order);
	if (fclose(file) != 0 && error == 0)
		error = -errno;
	return error;
}

int main(int argc, char **argv)
{
	struct order order = {
		.traffic = { .frames = 1000000, .flows = 1000, .payload = 1024, .burst = 1 },
		.rings = { .frames = 1000000,
			   .rings = 4,
			   .ranks = 16,
			   .channels = 8,
			   .queue_pairs = 1 },
	};
	writer *write;
	int error;

	if (argc < 4)
		return usage();
	order.traffic.site = order.rings.site = site_find(argv[2]);
	if (order.rings.site == NULL || read_options(argc - 3, argv + 3, &order) != 0)
		return usage();
	write = writer_of(argv[1], argc - 4, &order);
	if (write == NULL)
		return usage();
	error = write_file(argv[3], write, &order);
	if (error != 0)
		fprintf(stderr, "bench_generate: %s: %s\n", argv[3], strerror(-error));
	return error == 0 ? 0 : 2;
}
