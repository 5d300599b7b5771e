/*
 * Runs ft_holds() over every file of the corpus folders given, every file cut short and with bytes
 * changed, and over random bytes. The seed is fixed: a failure repeats.
 */
#include "holds.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 20, VARIANTS_PER_FILE = 60, RANDOM_RUNS = 3000, RANDOM_SIZE = 512 };

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* An exact-size copy, so that the address sanitizer sees a read past the end. */
static void try_bytes(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size != 0 ? size : 1);

	if (copy == NULL)
		abort();
	if (size != 0)
		memcpy(copy, bytes, size);
	ft_holds(copy, size);
	free(copy);
}

static void try_variants(uint8_t *bytes, size_t size)
{
	try_bytes(bytes, size);
	for (int variant = 0; variant < VARIANTS_PER_FILE && size != 0; variant++) {
		size_t at = next_random() % size;
		uint8_t kept = bytes[at];

		try_bytes(bytes, at);
		bytes[at] = (uint8_t)next_random();
		try_bytes(bytes, size);
		bytes[at] = kept;
	}
}

static int try_file(const char *path)
{
	static uint8_t bytes[LARGEST];
	FILE *file = fopen(path, "rb");
	size_t size;

	if (file == NULL)
		return 0;
	size = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	try_variants(bytes, size);
	return 1;
}

static int try_folder(const char *folder)
{
	char path[PATH_MAX];
	DIR *entries = opendir(folder);
	int files = 0;

	if (entries == NULL) {
		fprintf(stderr, "%s: cannot open the corpus folder\n", folder);
		exit(1);
	}
	for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		files += try_file(path);
	}
	closedir(entries);
	return files;
}

int main(int argc, char **argv)
{
	uint8_t bytes[RANDOM_SIZE];
	int files = 0;

	for (int i = 1; i < argc; i++)
		files += try_folder(argv[i]);
	for (int run = 0; run < RANDOM_RUNS; run++) {
		size_t size = next_random() % sizeof bytes;

		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)next_random();
		try_bytes(bytes, size);
	}
	printf("%d corpus files, %d random inputs\n", files, RANDOM_RUNS);
	return 0;
}
