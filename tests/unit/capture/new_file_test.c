#include "recorder_new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Each test has an empty folder, which is also where it is. */
static int begin(void **state)
{
	char folder[] = "/tmp/fabtap-test-XXXXXX";

	*state = NULL;
	if (mkdtemp(folder) == NULL || chdir(folder) != 0)
		return -1;
	*state = strdup(folder);
	return 0;
}

static int end(void **state)
{
	static const char *const names[] = { "x_1.pcapng",      "x_1_2.pcapng", "x_1_3.pcapng",
					     "x_1.pcapng.part", "link",         "second",
					     "far/x.pcapng",    "far",          "x.pcapng" };
	char *folder = *state;
	int error;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		remove(names[i]);
	error = chdir("/") != 0 || rmdir(folder) != 0;
	free(folder);
	return error;
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void holds(const char *path, const char *text)
{
	char found[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_true(fgets(found, sizeof found, file) != NULL || text[0] == '\0');
	fclose(file);
	assert_string_equal(found, text);
}

/* A file that is written and gets its name; the name. */
static char *write_file(const char *name, bool fresh)
{
	struct ft_new_file file = { 0 };
	char *path = strdup(name);
	int fd = ft_new_file_open(&file, &path, fresh);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "new", 3), 3);
	close(fd);
	assert_int_equal(ft_new_file_name(&file, false), 0);
	return path;
}

static void a_link_stays_and_what_it_leads_to_is_replaced(void **state)
{
	struct stat status;

	(void)state;
	assert_int_equal(mkdir("far", 0777), 0);
	put("far/x.pcapng", "old");
	assert_int_equal(symlink("far/x.pcapng", "second"), 0);
	assert_int_equal(symlink("second", "link"), 0);
	free(write_file("link", false));
	assert_int_equal(lstat("link", &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_int_equal(lstat("second", &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	holds("far/x.pcapng", "new");
}

static void a_link_to_nothing_yet_is_written_through(void **state)
{
	char absolute[PATH_MAX];

	snprintf(absolute, sizeof absolute, "%s/x.pcapng", (const char *)*state);
	assert_int_equal(symlink(absolute, "link"), 0);
	free(write_file("link", false));
	holds("x.pcapng", "new");
}

static void a_link_to_itself_is_refused(void **state)
{
	struct ft_new_file file = { 0 };
	char *path = strdup("link");

	(void)state;
	assert_int_equal(symlink("link", "link"), 0);
	assert_int_equal(ft_new_file_open(&file, &path, false), -ELOOP);
	free(path);
}

static void what_got_nothing_leaves_what_was_there(void **state)
{
	struct ft_new_file file = { 0 };
	char *path = strdup("x.pcapng");
	int fd;

	(void)state;
	put("x.pcapng", "old");
	fd = ft_new_file_open(&file, &path, false);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(ft_new_file_name(&file, true), 0);
	holds("x.pcapng", "old");
	assert_int_equal(access("x.pcapng.part", F_OK), -1);
	free(path);
}

static void a_fresh_file_takes_nobodys_name(void **state)
{
	struct ft_new_file other = { 0 };
	char *taken = strdup("x_1.pcapng"), *second, *third;
	int fd = ft_new_file_open(&other, &taken, true);

	(void)state;
	assert_true(fd >= 0);
	assert_string_equal(taken, "x_1.pcapng");
	second = write_file("x_1.pcapng", true); /* as long as the other one is only a part */
	assert_string_equal(second, "x_1_2.pcapng");
	assert_int_equal(write(fd, "first", 5), 5);
	close(fd);
	assert_int_equal(ft_new_file_name(&other, false), 0);
	third = write_file("x_1.pcapng", true); /* and when it has its name */
	assert_string_equal(third, "x_1_3.pcapng");
	holds("x_1.pcapng", "first");
	assert_int_equal(access("x_1.pcapng.part", F_OK), -1);
	free(third);
	free(second);
	free(taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_link_stays_and_what_it_leads_to_is_replaced,
						begin, end),
		cmocka_unit_test_setup_teardown(a_link_to_nothing_yet_is_written_through, begin,
						end),
		cmocka_unit_test_setup_teardown(a_link_to_itself_is_refused, begin, end),
		cmocka_unit_test_setup_teardown(what_got_nothing_leaves_what_was_there, begin, end),
		cmocka_unit_test_setup_teardown(a_fresh_file_takes_nobodys_name, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
