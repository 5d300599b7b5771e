#include "recorder_files.h"

#include "byte_order.h"
#include "pcapng.h"
#include "recorder_new_file.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* A file of this run that is still there; the last one is open. */
struct stored {
	struct stored *next;
	struct ft_recorder_file file;
};

struct ft_files {
	pthread_mutex_t mutex; /* guards the list and the counts, which others ask for */
	uint64_t limit, total; /* bytes of all files */
	uint64_t begun, removed;
	struct stored *oldest, *open;
	int fd; /* of the open file; < 0: none */
	struct ft_new_file new_file;
};

int ft_files_create(struct ft_files **files, uint64_t limit)
{
	struct ft_files *made = calloc(1, sizeof *made);

	if (made == NULL)
		return -ENOMEM;
	made->fd = -1;
	made->limit = limit;
	pthread_mutex_init(&made->mutex, NULL);
	*files = made;
	return 0;
}

static struct stored *add_file(struct ft_files *files, char *path)
{
	struct stored *added = calloc(1, sizeof *added);

	if (added == NULL)
		return NULL;
	added->file = (struct ft_recorder_file){ .path = path,
						 .first_ns = FT_TS_UNKNOWN,
						 .last_ns = FT_TS_UNKNOWN };
	pthread_mutex_lock(&files->mutex);
	if (files->open != NULL)
		files->open->next = added;
	else
		files->oldest = added;
	files->open = added;
	pthread_mutex_unlock(&files->mutex);
	return added;
}

int ft_files_close(struct ft_files *files)
{
	int fd = files->fd;

	files->fd = -1;
	return fd > STDERR_FILENO && close(fd) != 0 ? -errno : 0;
}

static int begin_file(struct ft_files *files, struct ft_chunk *chunk)
{
	char *path = chunk->begins;
	int error = ft_files_close(files);

	chunk->begins = NULL;
	if (error == 0) {
		files->fd = ft_new_file_open(&files->new_file, &path, chunk->fresh);
		error = files->fd < 0 ? files->fd : 0;
	}
	if (error == 0 && add_file(files, path) == NULL)
		error = -ENOMEM;
	if (error != 0) {
		ft_new_file_forget(&files->new_file);
		free(path);
	}
	return error;
}

/* The oldest but the open one. False: there is none. */
static bool remove_oldest(struct ft_files *files)
{
	struct stored *oldest;

	pthread_mutex_lock(&files->mutex);
	oldest = files->oldest;
	if (oldest == files->open) {
		pthread_mutex_unlock(&files->mutex);
		return false;
	}
	files->oldest = oldest->next;
	files->total -= oldest->file.bytes;
	files->removed++;
	pthread_mutex_unlock(&files->mutex);
	unlink(oldest->file.path);
	free((char *)(uintptr_t)oldest->file.path);
	free(oldest);
	return true;
}

static void make_room(struct ft_files *files, size_t size)
{
	while (files->limit != 0 && files->total + size > files->limit)
		if (!remove_oldest(files))
			return;
}

/* How many bytes were written; fewer than asked for: *error. A descriptor that somebody set to non-blocking is waited for. */
static size_t write_bytes(int fd, const uint8_t *bytes, size_t size, int *error)
{
	size_t done = 0;

	*error = 0;
	while (done < size) {
		ssize_t wrote = write(fd, bytes + done, size - done);

		if (wrote >= 0) {
			done += (size_t)wrote;
		} else if (errno == EAGAIN) {
			poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1);
		} else if (errno != EINTR) {
			*error = -errno;
			return done;
		}
	}
	return done;
}

/* Only so much of the chunk was written: it ends with the last block that is whole. */
static void cut(struct ft_chunk *chunk, size_t written)
{
	size_t whole = 0, size;

	chunk->frames = 0;
	chunk->last_ns = FT_TS_UNKNOWN;
	for (; whole + 8 <= written; whole += size) {
		const uint8_t *block = chunk->bytes + whole;

		size = ft_le32(block + 4);
		if (whole + size > written)
			break;
		if (ft_le32(block) != FT_BLOCK_ENHANCED)
			continue;
		chunk->frames++;
		chunk->last_ns = (uint64_t)ft_le32(block + 12) << 32 | ft_le32(block + 16);
	}
	chunk->used = whole;
}

static void count_written(struct ft_files *files, const struct ft_chunk *chunk)
{
	struct ft_recorder_file *file = &files->open->file;

	pthread_mutex_lock(&files->mutex);
	files->begun += file->bytes == 0 && chunk->used != 0;
	files->total += chunk->used;
	file->bytes += chunk->used;
	file->frames += chunk->frames;
	if (file->first_ns == FT_TS_UNKNOWN && chunk->frames != 0)
		file->first_ns = chunk->first_ns;
	if (chunk->last_ns != FT_TS_UNKNOWN)
		file->last_ns = chunk->last_ns;
	pthread_mutex_unlock(&files->mutex);
}

/* What is left of a block would be damage. A pipe, which cannot be cut, has a reader that sees its end. */
static void cut_file(struct ft_files *files, size_t surplus)
{
	off_t at = surplus != 0 ? lseek(files->fd, 0, SEEK_CUR) : -1;

	if (at < 0 || ftruncate(files->fd, at - (off_t)surplus) != 0)
		return;
}

int ft_files_store(struct ft_files *files, struct ft_chunk *chunk)
{
	int error = chunk->begins != NULL ? begin_file(files, chunk) : 0, named;
	size_t written;

	if (error != 0) {
		cut(chunk, 0);
		return error;
	}
	make_room(files, chunk->used);
	written = write_bytes(files->fd, chunk->bytes, chunk->used, &error);
	if (error != 0) {
		cut(chunk, written);
		cut_file(files, written - chunk->used);
	}
	count_written(files, chunk);
	named = ft_new_file_name(&files->new_file, files->open->file.bytes == 0);
	return error != 0 ? error : named;
}

void ft_files_count(struct ft_files *files, uint64_t *begun, uint64_t *removed)
{
	pthread_mutex_lock(&files->mutex);
	*begun = files->begun;
	*removed = files->removed;
	pthread_mutex_unlock(&files->mutex);
}

void ft_files_each(struct ft_files *files,
		   void (*visit)(void *context, const struct ft_recorder_file *file), void *context)
{
	pthread_mutex_lock(&files->mutex);
	for (const struct stored *at = files->oldest; at != NULL; at = at->next)
		if (at->file.bytes != 0)
			visit(context, &at->file);
	pthread_mutex_unlock(&files->mutex);
}

void ft_files_destroy(struct ft_files *files)
{
	if (files == NULL)
		return;
	ft_files_close(files);
	ft_new_file_forget(&files->new_file);
	while (files->oldest != NULL) {
		struct stored *next = files->oldest->next;

		free((char *)(uintptr_t)files->oldest->file.path);
		free(files->oldest);
		files->oldest = next;
	}
	pthread_mutex_destroy(&files->mutex);
	free(files);
}
