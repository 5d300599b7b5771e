#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "declared_map.h"
#include "traffic.h"

/* Makes the inputs of the bench: captures and the maps that declare them. */

static int usage(void)
{
	fputs("usage: bench_generate map SITE FILE\n"
	      "       bench_generate traffic SITE FILE [OPTIONS]\n"
	      "SITE: small, wide or big; FILE: - is standard output\n"
	      "  --frames N       in all, lost ones included (1000000)\n"
	      "  --flows N        half-connections at a time (1000)\n"
	      "  --payload BYTES  of a data packet (1024)\n"
	      "  --slice BYTES    kept of each frame\n"
	      "  --in-turn        connections one after the other, not at random\n"
	      "  --day N          24 hours are N frames long, and connections come and go\n"
	      "  --loss SHARE     leave out frames as a mirror does that loses this share\n"
	      "  --burst N        ... in bursts of so many (1)\n",
	      stderr);
	return 2;
}

static int read_options(int argc, char **argv, struct traffic *traffic)
{
	static const struct option options[] = {
		{ "frames", required_argument, NULL, 'f' },
		{ "flows", required_argument, NULL, 'n' },
		{ "payload", required_argument, NULL, 'p' },
		{ "slice", required_argument, NULL, 's' },
		{ "in-turn", no_argument, NULL, 't' },
		{ "day", required_argument, NULL, 'd' },
		{ "loss", required_argument, NULL, 'l' },
		{ "burst", required_argument, NULL, 'b' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		unsigned long long number = optarg == NULL ? 0 : strtoull(optarg, NULL, 10);

		switch (option) {
		case 'f':
			traffic->frames = number;
			break;
		case 'n':
			traffic->flows = (uint32_t)number;
			break;
		case 'p':
			traffic->payload = (uint32_t)number;
			break;
		case 's':
			traffic->slice = (uint32_t)number;
			break;
		case 't':
			traffic->in_turn = true;
			break;
		case 'd':
			traffic->day = number;
			break;
		case 'l':
			traffic->loss = strtod(optarg, NULL);
			break;
		case 'b':
			traffic->burst = (uint32_t)number;
			break;
		default:
			return -EINVAL;
		}
	}
	return optind == argc ? 0 : -EINVAL;
}

static bool is_possible(const struct traffic *traffic)
{
	uint32_t payload = traffic->payload;
	bool mtu = payload >= 256 && payload <= 4096 && (payload & (payload - 1)) == 0;
	uint64_t flows = traffic->flows;

	if (traffic->day != 0) /* those of all lives */
		flows += flows * 144 * traffic->frames / traffic->day;
	return traffic->flows >= 2 && traffic->flows % 2 == 0 && flows <= (1u << 24) - 256 &&
	       traffic->loss >= 0 && traffic->loss < 1 && traffic->burst >= 1 &&
	       (mtu || (payload < 256 && payload % 4 == 0 && payload != 0));
}

/* Where it went is told on the other stream. */
static void say_lost(FILE *file, const struct traffic *traffic, uint64_t lost)
{
	if (traffic->loss > 0)
		fprintf(file == stdout ? stderr : stdout, "%llu of %llu RDMA frames lost\n",
			(unsigned long long)lost, (unsigned long long)traffic->frames);
}

static int write_file(const char *path, const struct site *site, const struct traffic *traffic)
{
	FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
	uint64_t lost = 0;
	int error = 0;

	if (file == NULL)
		return -errno;
	setvbuf(file, NULL, _IOFBF, 1 << 20);
	if (traffic != NULL)
		error = traffic_write(file, traffic, &lost);
	else
		declared_map_write(file, site);
	if (ferror(file) && error == 0)
		error = -EIO;
	if (traffic != NULL && error == 0)
		say_lost(file, traffic, lost);
	if (fclose(file) != 0 && error == 0)
		error = -errno;
	return error;
}

int main(int argc, char **argv)
{
	struct traffic traffic = { .frames = 1000000, .flows = 1000, .payload = 1024, .burst = 1 };
	bool makes_map = argc == 4 && strcmp(argv[1], "map") == 0;
	int error;

	if (argc < 4 || (!makes_map && strcmp(argv[1], "traffic") != 0))
		return usage();
	traffic.site = site_find(argv[2]);
	if (traffic.site == NULL || read_options(argc - 3, argv + 3, &traffic) != 0 ||
	    !is_possible(&traffic))
		return usage();
	error = write_file(argv[3], traffic.site, makes_map ? NULL : &traffic);
	if (error != 0)
		fprintf(stderr, "bench_generate: %s: %s\n", argv[3], strerror(-error));
	return error == 0 ? 0 : 2;
}
