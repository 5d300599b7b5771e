#include "samples.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <partition/show.h>

struct ft_declared *load_sample(const char *map, const char *topology)
{
	struct ft_map_files files = { .map = map,
				      .topologies = &topology,
				      .topology_count = topology != NULL };
	struct ft_map_complaint complaint;
	struct ft_declared *declared = NULL;
	int failed = ft_map_load(&declared, &files, NULL, &complaint);

	if (failed != 0)
		fail_msg("%s", complaint.text);
	return declared;
}

json_t *expected_of(const char *map)
{
	char path[PATH_MAX];
	json_error_t error;
	json_t *document;

	snprintf(path, sizeof path, "%s", map);
	snprintf(strrchr(path, '.'), 16, ".expected.json");
	document = json_load_file(path, 0, &error);
	if (document == NULL)
		fail_msg("%s:%d: %s", path, error.line, error.text);
	return document;
}

json_t *shown(const struct ft_declared *declared)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *document;

	assert_non_null(out);
	assert_int_equal(ft_map_show(declared, true, out), 0);
	fclose(out);
	document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	assert_non_null(document);
	return document;
}

void assert_has(const json_t *have, const json_t *want)
{
	void *at = json_object_iter((json_t *)want);

	for (; at != NULL; at = json_object_iter_next((json_t *)want, at)) {
		const char *key = json_object_iter_key(at);
		char *left, *right;

		if (json_equal(json_object_get(have, key), json_object_iter_value(at)))
			continue;
		left = json_dumps(json_object_get(have, key), JSON_COMPACT | JSON_ENCODE_ANY);
		right = json_dumps(json_object_iter_value(at), JSON_COMPACT | JSON_ENCODE_ANY);
		fail_msg("\"%s\" is %s, not %s", key, left, right);
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "place code severity" lines, each once, sorted. */
static char *diagnostic_set(const json_t *diagnostics, const char *key)
{
	char *lines[256], *joined;
	size_t count = json_array_size(diagnostics), length = 1;

	assert_true(count <= 256);
	for (size_t i = 0; i < count; i++) {
		const json_t *one = json_array_get(diagnostics, i),
			     *place = json_object_get(one, key);
		char text[400];

		snprintf(text, sizeof text, "%s%lld %s %s\n",
			 json_is_string(place) ? json_string_value(place) : "",
			 (long long)json_integer_value(place),
			 json_string_value(json_object_get(one, "code")),
			 json_string_value(json_object_get(one, "severity")));
		lines[i] = strdup(text);
		length += strlen(text);
	}
	qsort(lines, count, sizeof *lines, by_text);
	joined = calloc(1, length);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(lines[i - 1], lines[i]) != 0)
			strcat(joined, lines[i]);
	for (size_t i = 0; i < count; i++)
		free(lines[i]);
	return joined;
}

void assert_same_diagnostics(const json_t *have, const json_t *want, const char *key)
{
	char *left = diagnostic_set(have, key), *right = diagnostic_set(want, key);

	assert_string_equal(left, right);
	free(left);
	free(right);
}

void list_samples(const char *folder, const char *ending, char first, char *names[MOST_SAMPLES])
{
	DIR *entries = opendir(folder);
	size_t count = 0;

	assert_non_null(entries);
	for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
		size_t length = strlen(entry->d_name), tail = strlen(ending);
		char path[PATH_MAX];

		if (entry->d_name[0] != first || length < tail ||
		    strstr(entry->d_name, ".expected.") != NULL ||
		    strcmp(entry->d_name + length - tail, ending) != 0)
			continue;
		assert_true(count + 1 < MOST_SAMPLES);
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		names[count++] = strdup(path);
	}
	closedir(entries);
	qsort(names, count, sizeof *names, by_text);
	names[count] = NULL;
}

void forget_samples(char *names[MOST_SAMPLES])
{
	for (size_t i = 0; names[i] != NULL; i++)
		free(names[i]);
}
