#include "output.h"

#include "complain.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 256 << 10, NAMES_TRIED = 100 };

struct ft_output {
	int fd;
	int error;       /* -errno of the first failure */
	char *path;      /* as given, for complaints */
	char *target;    /* what gets replaced; NULL: written to directly */
	char *temporary; /* beside the target, until the commit */
	size_t used;
	uint8_t buffer[BUFFER];
};

static void discard(struct ft_output *output)
{
	if (output->fd > STDERR_FILENO)
		close(output->fd);
	if (output->temporary != NULL)
		unlink(output->temporary);
	free(output->temporary);
	free(output->target);
	free(output->path);
	free(output);
}

/* A descriptor that somebody set to non-blocking is waited for. */
static int write_all(int fd, const uint8_t *bytes, size_t size)
{
	while (size > 0) {
		ssize_t wrote = write(fd, bytes, size);

		if (wrote >= 0) {
			bytes += wrote;
			size -= (size_t)wrote;
		} else if (errno == EAGAIN) {
			poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

static void flush(struct ft_output *output)
{
	if (output->error == 0)
		output->error = write_all(output->fd, output->buffer, output->used);
	output->used = 0;
}

/* A new file beside the target; somebody else's leftovers are not touched. */
static int create_temporary(struct ft_output *output)
{
	for (unsigned i = 0; i < NAMES_TRIED; i++) {
		if (asprintf(&output->temporary, "%s.%u.tmp", output->target, i) < 0) {
			output->temporary = NULL;
			return -ENOMEM;
		}
		output->fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (output->fd >= 0)
			return 0;
		free(output->temporary);
		output->temporary = NULL;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* A link is followed: the file it names is replaced, not the link. */
static char *final_name(const char *path)
{
	char *resolved = realpath(path, NULL);

	return resolved != NULL ? resolved : strdup(path);
}

static int open_output(struct ft_output *output)
{
	struct stat status;

	if (output->path[0] == '\0')
		return -ENOENT;
	if (strcmp(output->path, "-") == 0) {
		output->fd = STDOUT_FILENO;
		return 0;
	}
	if (stat(output->path, &status) == 0 && !S_ISREG(status.st_mode)) {
		output->fd = open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return output->fd >= 0 ? 0 : -errno;
	}
	output->target = final_name(output->path);
	return output->target != NULL ? create_temporary(output) : -ENOMEM;
}

int ft_output_create(struct ft_output **output, const char *path, char *complaint, size_t size)
{
	struct ft_output *created = calloc(1, sizeof *created);
	int error = -ENOMEM;

	if (created != NULL) {
		created->fd = -1;
		created->path = strdup(path);
		if (created->path != NULL)
			error = open_output(created);
		if (error == 0) {
			*output = created;
			return 0;
		}
		discard(created);
	}
	ft_complain(complaint, size, path, "cannot create: %s", strerror(-error));
	return error;
}

int ft_output_put(struct ft_output *output, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;

	while (size > 0 && output->error == 0) {
		size_t room = BUFFER - output->used;
		size_t part = size < room ? size : room;

		memcpy(output->buffer + output->used, from, part);
		output->used += part;
		from += part;
		size -= part;
		if (output->used == BUFFER)
			flush(output);
	}
	return output->error;
}

/* Some errors, such as those of a network disk, show only here. */
static int settle(struct ft_output *output)
{
	int fd = output->fd;

	flush(output);
	if (output->error != 0 || output->target == NULL)
		return output->error;
	if (fsync(fd) != 0)
		return -errno;
	output->fd = -1;
	if (close(fd) != 0)
		return -errno;
	if (rename(output->temporary, output->target) != 0)
		return -errno;
	free(output->temporary);
	output->temporary = NULL;
	return 0;
}

int ft_output_commit(struct ft_output *output, char *complaint, size_t size)
{
	int error = settle(output);

	if (error != 0)
		ft_complain(complaint, size,
			    output->fd == STDOUT_FILENO ? "standard output" : output->path,
			    "cannot write: %s", strerror(-error));
	discard(output);
	return error;
}

void ft_output_abandon(struct ft_output *output)
{
	if (output != NULL)
		discard(output);
}
