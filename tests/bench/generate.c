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
	      "       bench_generate traffic SITE FILE [--frames N] [--flows N] [--payload "
	      "BYTES] [--slice BYTES]\n"
	      "SITE: small, wide or big\n",
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
		default:
			return -EINVAL;
		}
	}
	return 0;
}

static bool is_possible(const struct traffic *traffic)
{
	uint32_t payload = traffic->payload;
	bool mtu = payload >= 256 && payload <= 4096 && (payload & (payload - 1)) == 0;

	return traffic->flows >= 2 && traffic->flows % 2 == 0 &&
	       traffic->flows <= (1u << 24) - 256 &&
	       (mtu || (payload < 256 && payload % 4 == 0 && payload != 0));
}

static int write_file(const char *path, const struct site *site, const struct traffic *traffic)
{
	FILE *file = fopen(path, "wb");
	int error = 0;

	if (file == NULL)
		return -errno;
	setvbuf(file, NULL, _IOFBF, 1 << 20);
	if (traffic != NULL)
		error = traffic_write(file, traffic);
	else
		declared_map_write(file, site);
	if (ferror(file) && error == 0)
		error = -EIO;
	if (fclose(file) != 0 && error == 0)
		error = -errno;
	return error;
}

int main(int argc, char **argv)
{
	struct traffic traffic = { .frames = 1000000, .flows = 1000, .payload = 1024 };
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
