#include "reading.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* In bursts of 7, so that a test with a few frames sees several. */
static void read_all(struct reading *reading, struct ft_source *source)
{
	struct ft_frame burst[7];
	int count;

	while ((count = ft_source_next(source, burst, 7)) > 0) {
		for (int i = 0; i < count; i++) {
			assert_true(reading->count < 256);
			reading->frames[reading->count] = burst[i];
			reading->first[reading->count++] =
				burst[i].captured > 0 ? burst[i].bytes[0] : 0;
		}
	}
	reading->error = count;
	assert_int_equal(count, -ENODATA);
	assert_int_equal(ft_source_next(source, burst, 7), -ENODATA);
	reading->input = *ft_source_input(source, 0);
	reading->input.name = NULL;
	ft_source_close(source);
}

struct reading read_memory(const uint8_t *bytes, size_t size)
{
	struct reading reading = { 0 };
	struct ft_source *source;

	reading.error = ft_source_open_memory(&source, bytes, size, &reading.complaint);
	if (reading.error == 0)
		read_all(&reading, source);
	return reading;
}

struct reading read_files(const char *const *paths, size_t count)
{
	struct reading reading = { 0 };
	struct ft_source *source;

	reading.error = ft_source_open_files(&source, paths, count, &reading.complaint);
	if (reading.error == 0)
		read_all(&reading, source);
	return reading;
}

struct reading read_file(const char *path)
{
	return read_files(&path, 1);
}

struct reading read_building(struct building *building)
{
	struct reading reading = read_memory(building->bytes, building->size);

	build_free(building);
	return reading;
}

char *make_file(const char *name, const void *bytes, size_t size)
{
	const char *root = getenv("TMPDIR");
	char *path;
	FILE *file;

	assert_true(asprintf(&path, "%s/capture-test-XXXXXX/%s", root != NULL ? root : "/tmp",
			     name) > 0);
	*strrchr(path, '/') = '\0';
	assert_non_null(mkdtemp(path));
	path[strlen(path)] = '/';
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	return path;
}

void remove_file(char *path)
{
	unlink(path);
	*strrchr(path, '/') = '\0';
	assert_int_equal(rmdir(path), 0);
	free(path);
}

void assert_says(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", text, part);
}
