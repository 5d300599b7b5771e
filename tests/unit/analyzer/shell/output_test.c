#include "cmocka_headers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "output.h"

/* A folder with capture, a hard link and a symbolic link to it, and another file of the same content. */
static int make_folder(void **state)
{
	static char folder[] = "/tmp/fabtap-output-XXXXXX";
	const char *names[] = { "capture", "other" };

	if (mkdtemp(folder) == NULL || chdir(folder) != 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		FILE *file = fopen(names[i], "w");

		if (file == NULL || fputs("bytes", file) < 0 || fclose(file) != 0)
			return -1;
	}
	*state = folder;
	return link("capture", "hard") != 0 || symlink("capture", "soft") != 0;
}

static int remove_folder(void **state)
{
	static const char *const names[] = { "capture", "other", "hard", "soft", "stderr" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(names[i]);
	return rmdir(*state);
}

static void an_input_is_known_under_every_name(void **state)
{
	static const char *const inputs[] = { "other", "file:capture" };
	static const char *const same[] = { "capture", "hard", "soft", "./capture" };

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		assert_string_equal(ft_output_overwrites(same[i], inputs, 2), "file:capture");
	assert_null(ft_output_overwrites("capture", inputs, 1));
	assert_null(ft_output_overwrites("not-there", inputs, 2));
	assert_null(ft_output_overwrites("/dev/null", (const char *const[]){ "/dev/null" }, 1));
	assert_null(ft_output_overwrites("capture", (const char *const[]){ "not-there" }, 1));
}

static void standard_input_is_an_input_too(void **state)
{
	static const char *const inputs[] = { "-" };
	int kept = dup(STDIN_FILENO);

	(void)state;
	assert_non_null(freopen("hard", "r", stdin));
	assert_string_equal(ft_output_overwrites("soft", inputs, 1), "-");
	assert_null(ft_output_overwrites("other", inputs, 1));
	assert_true(kept < 0 || dup2(kept, STDIN_FILENO) == STDIN_FILENO);
}

/* What ft_log() writes for one text with control characters. */
static void a_complaint_is_one_line_without_control_characters(void **state)
{
	char line[256] = "";
	int kept = dup(STDERR_FILENO);
	FILE *file;

	(void)state;
	assert_non_null(freopen("stderr", "w", stderr));
	ft_log("%s: %s", "bad\nname\033[2J", "caf\xc3\xa9");
	fflush(stderr);
	assert_true(dup2(kept, STDERR_FILENO) == STDERR_FILENO);
	file = fopen("stderr", "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_string_equal(line, "fabtap: bad\\x0aname\\x1b[2J: caf\xc3\xa9\n");
	assert_null(fgets(line, sizeof(line), file));
	fclose(file);
}

static void no_colour_where_the_owner_wants_none(void **state)
{
	(void)state;
	setenv("NO_COLOR", "1", 1);
	assert_false(ft_output_colour());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_input_is_known_under_every_name),
		cmocka_unit_test(standard_input_is_an_input_too),
		cmocka_unit_test(a_complaint_is_one_line_without_control_characters),
		cmocka_unit_test(no_colour_where_the_owner_wants_none),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
