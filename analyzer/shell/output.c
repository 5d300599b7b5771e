#include "output.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

enum { NARROWEST = 60, PAGE = 100 }; /* columns */

static bool told; /* one line is enough */

/* Not every writer keeps the system's word: ask again, and whether a pipe's reader has gone. */
static int cause(int error)
{
	struct pollfd output = { .fd = STDOUT_FILENO };

	if (poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0)
		return -EPIPE;
	if (error == -EIO && fflush(stdout) != 0)
		return -errno;
	return error;
}

static enum ft_exit fail(int why)
{
	if (!told && why != -EPIPE)
		ft_log("standard output: %s", strerror(-why));
	told = true;
	return FT_EXIT_FAILED;
}

enum ft_exit ft_output_failed(int error)
{
	return fail(cause(error));
}

enum ft_exit ft_output_status(int error, enum ft_exit status)
{
	return error != 0 ? ft_output_failed(error) : status;
}

enum ft_exit ft_output_flush(enum ft_exit status)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	return ft_output_failed(errno != 0 ? -errno : -EIO);
}

enum ft_exit ft_output_finish(enum ft_exit status)
{
	status = ft_output_flush(status);
	errno = 0;
	if (fclose(stdout) != 0)
		return fail(errno != 0 ? -errno : -EIO);
	return status;
}

int ft_output_colour(void)
{
	const char *none = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	return isatty(STDOUT_FILENO) && (none == NULL || *none == 0) &&
	       (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

unsigned ft_output_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return 0;
	return size.ws_col < NARROWEST ? NARROWEST : size.ws_col < PAGE ? size.ws_col : 0;
}

static const char *bare_path(const char *input)
{
	return strncmp(input, "file:", 5) == 0 ? input + 5 : input;
}

static bool is_input(const struct stat *output, const char *input)
{
	struct stat state;
	int error = strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &state)
					    : stat(bare_path(input), &state);

	return error == 0 && S_ISREG(state.st_mode) && state.st_dev == output->st_dev &&
	       state.st_ino == output->st_ino;
}

const char *ft_output_overwrites(const char *path, const char *const *inputs, size_t count)
{
	struct stat output;
	int error = path == NULL ? fstat(STDOUT_FILENO, &output) : stat(path, &output);

	if (error != 0 || !S_ISREG(output.st_mode))
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (is_input(&output, inputs[i]))
			return inputs[i];
	return NULL;
}
