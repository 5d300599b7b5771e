#include "recorder_new_file.h"

#include "recorder_name.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40, NAMES_MAX = 1000 };

void ft_new_file_forget(struct ft_new_file *file)
{
	free(file->part);
	free(file->target);
	file->part = file->target = NULL;
}

/* Where a link leads, next to it unless it says from the root; NULL: out of memory. */
static char *beside(const char *link, const char *leads_to)
{
	const char *slash = strrchr(link, '/');
	int folder = leads_to[0] != '/' && slash != NULL ? (int)(slash - link) + 1 : 0;
	char *path;

	return asprintf(&path, "%.*s%s", folder, link, leads_to) < 0 ? NULL : path;
}

/* What the name leads to through links, whether something is there or not. 0 or -errno. */
static int follow(const char *path, char **target)
{
	char *at = strdup(path), leads_to[PATH_MAX], *next;

	for (unsigned links = 0; at != NULL && links < LINKS_MAX; links++) {
		ssize_t length = readlink(at, leads_to, sizeof leads_to - 1);

		if (length < 0) {
			*target = at;
			return 0;
		}
		leads_to[length] = '\0';
		next = beside(at, leads_to);
		free(at);
		at = next;
	}
	free(at);
	return at == NULL ? -ENOMEM : -ELOOP;
}

/* A descriptor or -errno. */
static int create_part(struct ft_new_file *file, bool fresh)
{
	int fd;

	if (asprintf(&file->part, "%s.part", file->target) < 0) {
		file->part = NULL;
		return -ENOMEM;
	}
	if (!fresh)
		unlink(file->part); /* of an earlier run, or a link to anywhere */
	fd = open(file->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return fd < 0 ? -errno : fd;
}

/*
 * A name that nobody has. Whoever wants it too fails to create the part as long as that is there, and finds
 * the file itself after that: so looking for the file second is what makes it safe.
 */
static int create_fresh(struct ft_new_file *file, const char *path)
{
	struct stat status;
	int fd;

	file->target = strdup(path);
	if (file->target == NULL)
		return -ENOMEM;
	fd = create_part(file, true);
	if (fd < 0 || lstat(path, &status) != 0)
		return fd;
	close(fd);
	unlink(file->part);
	return -EEXIST;
}

static int open_fresh(struct ft_new_file *file, char **path)
{
	int fd = create_fresh(file, *path);

	for (unsigned i = 2; fd == -EEXIST && i < NAMES_MAX; i++) {
		char *other = ft_recorder_other_name(*path, i);

		ft_new_file_forget(file);
		if (other == NULL)
			return -ENOMEM;
		fd = create_fresh(file, other);
		if (fd == -EEXIST) {
			free(other);
			continue;
		}
		free(*path);
		*path = other;
	}
	return fd;
}

static int open_named(struct ft_new_file *file, const char *path)
{
	struct stat status;
	int fd;

	if (strcmp(path, "-") == 0)
		return STDOUT_FILENO;
	if (stat(path, &status) != 0 || S_ISREG(status.st_mode)) {
		int error = follow(path, &file->target);

		return error != 0 ? error : create_part(file, false);
	}
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int ft_new_file_open(struct ft_new_file *file, char **path, bool fresh)
{
	int fd = fresh ? open_fresh(file, path) : open_named(file, *path);

	if (fd < 0)
		ft_new_file_forget(file);
	return fd;
}

int ft_new_file_name(struct ft_new_file *file, bool empty)
{
	int error = 0;

	if (file->part == NULL)
		return 0;
	if (empty)
		unlink(file->part);
	else if (rename(file->part, file->target) != 0)
		error = -errno;
	ft_new_file_forget(file);
	return error;
}
