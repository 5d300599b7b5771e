#include "extcap_install.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"

static const char name[] = "fabtap";

/* A path that does not fit is cut, and does not exist then. */
struct path {
	char text[PATH_MAX];
};

/* --- where --- */

/* What stands behind the label of a line of `tshark -G folders`. False: it is another line. */
static bool read_folder(const char *line, const char *label, const char *more, struct path *folder)
{
	size_t size = strlen(label);

	if (strncmp(line, label, size) != 0)
		return false;
	line += size + strspn(line + size, " \t");
	snprintf(folder->text, sizeof folder->text, "%.*s%s", (int)strcspn(line, "\r\n"), line,
		 more);
	return folder->text[0] == '/';
}

/* tshark's word on its folders, to be read from *answer. The process, or -errno. */
static pid_t start_tshark(FILE **answer)
{
	static char *const words[] = { "tshark", "-G", "folders", NULL };
	posix_spawn_file_actions_t actions;
	pid_t process = -1;
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	error = posix_spawnp(&process, words[0], &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	*answer = error == 0 ? fdopen(ends[0], "r") : NULL;
	if (*answer == NULL)
		close(ends[0]);
	return error == 0 ? process : -error;
}

/* Newer versions name the folder; for those before it lies beside the user's settings. */
static bool read_folders(FILE *answer, struct path *folder)
{
	char line[PATH_MAX + 64];
	bool named = false, found = false;

	while (fgets(line, sizeof line, answer) != NULL) {
		if (!named && read_folder(line, "Personal configuration:", "/extcap", folder))
			found = true;
		if (read_folder(line, "Personal Extcap path:", "", folder))
			found = named = true;
	}
	return found;
}

static bool ask_tshark(struct path *folder)
{
	FILE *answer = NULL;
	pid_t process = start_tshark(&answer);
	bool found = false;

	if (process < 0)
		return false;
	if (answer != NULL) {
		found = read_folders(answer, folder);
		fclose(answer);
	}
	waitpid(process, NULL, 0);
	return found;
}

static bool ask_environment(struct path *folder)
{
	const char *settings = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (settings != NULL && *settings == '/')
		snprintf(folder->text, sizeof folder->text, "%s/wireshark/extcap", settings);
	else if (home != NULL && *home == '/')
		snprintf(folder->text, sizeof folder->text, "%s/.config/wireshark/extcap", home);
	else
		return false;
	return true;
}

/* --- the link --- */

static enum ft_exit fail(const char *path, const char *what)
{
	ft_log("%s: %s: %s", path, what, strerror(errno));
	return FT_EXIT_FAILED;
}

/* The folder and those above it. 0 or -1 with errno. */
static int make_folder(const struct path *folder)
{
	struct path part = *folder;

	for (char *slash = strchr(part.text + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(part.text, 0777) != 0 && errno != EEXIST)
			return -1;
		*slash = '/';
	}
	return mkdir(part.text, 0777) != 0 && errno != EEXIST ? -1 : 0;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* What a symbolic link says. False: it is none. */
static bool read_link(const char *path, struct path *target)
{
	ssize_t size = readlink(path, target->text, sizeof target->text - 1);

	if (size < 0)
		return false;
	target->text[size] = 0;
	return true;
}

/* At once, so that there is always a link or the other. */
static enum ft_exit put_link(const char *program, const char *link)
{
	char made[PATH_MAX + 32];

	snprintf(made, sizeof made, "%s.%ld", link, (long)getpid());
	if (symlink(program, made) != 0)
		return fail(made, "cannot link");
	if (rename(made, link) == 0)
		return FT_EXIT_CLEAN;
	fail(link, "cannot link");
	unlink(made);
	return FT_EXIT_FAILED;
}

static enum ft_exit link_into(const struct path *folder, const struct path *program)
{
	char link[PATH_MAX + sizeof name];
	struct path target;
	struct stat state;
	bool there, linked;

	snprintf(link, sizeof link, "%s/%s", folder->text, name);
	there = lstat(link, &state) == 0;
	linked = there && read_link(link, &target);
	if (linked && strcmp(target.text, program->text) == 0) {
		printf("%s links to %s already\n", link, program->text);
		return FT_EXIT_CLEAN;
	}
	if (there && !(linked && strcmp(base_of(target.text), name) == 0)) {
		ft_log("%s is there already and no link to %s: move it away", link, name);
		return FT_EXIT_FAILED;
	}
	if (put_link(program->text, link) != FT_EXIT_CLEAN)
		return FT_EXIT_FAILED;
	printf("%s links to %s now\n", link, program->text);
	return FT_EXIT_CLEAN;
}

enum ft_exit ft_extcap_install(void)
{
	struct path folder, program;

	if (!read_link("/proc/self/exe", &program))
		return fail("/proc/self/exe", "cannot read");
	if (!ask_tshark(&folder) && !ask_environment(&folder)) {
		ft_log("no folder for the link: HOME is not set");
		return FT_EXIT_FAILED;
	}
	if (make_folder(&folder) != 0)
		return fail(folder.text, "cannot make the folder");
	return link_into(&folder, &program);
}
