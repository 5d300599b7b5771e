#include "recorder_disk.h"

#include "byte_order.h"
#include "pcapng.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file of this run that is still there; the last one is open. */
struct stored {
	struct stored *next;
	struct ft_recorder_file file;
};

struct ft_disk {
	pthread_mutex_t mutex; /* guards all but fd and what is inside of handed-over chunks */
	pthread_cond_t ready, stocked;
	pthread_t thread;
	bool started, stopping;
	struct ft_chunk *queue, **queue_end;
	struct ft_chunk *stock;
	size_t in_stock;
	uint64_t limit, total; /* bytes of all files */
	uint64_t begun, removed, dropped;
	struct stored *oldest, *open;
	int fd;     /* of the open file; -1: none */
	char *part; /* its name until its first chunk is written; NULL: it has its own */
	int error;
};

int ft_disk_create(struct ft_disk **disk, size_t chunks, uint64_t limit)
{
	struct ft_disk *made = calloc(1, sizeof *made);

	if (made == NULL)
		return -ENOMEM;
	made->fd = -1;
	made->limit = limit;
	made->queue_end = &made->queue;
	pthread_mutex_init(&made->mutex, NULL);
	pthread_cond_init(&made->ready, NULL);
	pthread_cond_init(&made->stocked, NULL);
	for (; made->in_stock < chunks; made->in_stock++) {
		struct ft_chunk *chunk = malloc(sizeof *chunk);

		if (chunk == NULL) {
			ft_disk_destroy(made);
			return -ENOMEM;
		}
		chunk->begins = NULL;
		chunk->next = made->stock;
		made->stock = chunk;
	}
	*disk = made;
	return 0;
}

/* --- files --- */

static struct stored *add_file(struct ft_disk *disk, char *path)
{
	struct stored *added = calloc(1, sizeof *added);

	if (added == NULL)
		return NULL;
	added->file = (struct ft_recorder_file){ .path = path,
						 .first_ns = FT_TS_UNKNOWN,
						 .last_ns = FT_TS_UNKNOWN };
	pthread_mutex_lock(&disk->mutex);
	if (disk->open != NULL)
		disk->open->next = added;
	else
		disk->oldest = added;
	disk->open = added;
	pthread_mutex_unlock(&disk->mutex);
	return added;
}

static int close_file(struct ft_disk *disk)
{
	int fd = disk->fd;

	disk->fd = -1;
	return fd > STDERR_FILENO && close(fd) != 0 ? -errno : 0;
}

/* A file has its name only from its first chunk on, so that one of that name without a section is never seen. */
static int open_part(struct ft_disk *disk, const char *path)
{
	if (asprintf(&disk->part, "%s.part", path) < 0) {
		disk->part = NULL;
		return -ENOMEM;
	}
	unlink(disk->part); /* of an earlier run, or a link to anywhere */
	disk->fd = open(disk->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return disk->fd < 0 ? -errno : 0;
}

/* Standard output, pipes and devices are written to as they are. */
static int open_path(struct ft_disk *disk, const char *path)
{
	struct stat status;

	if (strcmp(path, "-") == 0) {
		disk->fd = STDOUT_FILENO;
		return 0;
	}
	if (stat(path, &status) != 0 || S_ISREG(status.st_mode))
		return open_part(disk, path);
	disk->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return disk->fd < 0 ? -errno : 0;
}

static void forget_part(struct ft_disk *disk)
{
	free(disk->part);
	disk->part = NULL;
}

static int begin_file(struct ft_disk *disk, struct ft_chunk *chunk)
{
	char *path = chunk->begins;
	int error = close_file(disk);

	chunk->begins = NULL;
	if (error == 0)
		error = open_path(disk, path);
	if (error == 0 && add_file(disk, path) == NULL)
		error = -ENOMEM;
	if (error != 0) {
		forget_part(disk);
		free(path);
	}
	return error;
}

/* Its first blocks were written, or none: then nothing is left of the file. */
static int name_file(struct ft_disk *disk)
{
	int error = 0;

	if (disk->part == NULL)
		return 0;
	if (disk->open->file.bytes == 0)
		unlink(disk->part);
	else if (rename(disk->part, disk->open->file.path) != 0)
		error = -errno;
	forget_part(disk);
	return error;
}

/* The oldest but the open one. False: there is none. */
static bool remove_oldest(struct ft_disk *disk)
{
	struct stored *oldest;

	pthread_mutex_lock(&disk->mutex);
	oldest = disk->oldest;
	if (oldest == disk->open) {
		pthread_mutex_unlock(&disk->mutex);
		return false;
	}
	disk->oldest = oldest->next;
	disk->total -= oldest->file.bytes;
	disk->removed++;
	pthread_mutex_unlock(&disk->mutex);
	unlink(oldest->file.path);
	free((char *)(uintptr_t)oldest->file.path);
	free(oldest);
	return true;
}

static void make_room(struct ft_disk *disk, size_t size)
{
	while (disk->limit != 0 && disk->total + size > disk->limit)
		if (!remove_oldest(disk))
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

static void count_written(struct ft_disk *disk, const struct ft_chunk *chunk)
{
	struct ft_recorder_file *file = &disk->open->file;

	pthread_mutex_lock(&disk->mutex);
	disk->begun += file->bytes == 0 && chunk->used != 0;
	disk->total += chunk->used;
	file->bytes += chunk->used;
	file->frames += chunk->frames;
	if (file->first_ns == FT_TS_UNKNOWN && chunk->frames != 0)
		file->first_ns = chunk->first_ns;
	if (chunk->last_ns != FT_TS_UNKNOWN)
		file->last_ns = chunk->last_ns;
	pthread_mutex_unlock(&disk->mutex);
}

/* What is left of a block would be damage. A pipe, which cannot be cut, has a reader that sees its end. */
static void cut_file(struct ft_disk *disk, size_t surplus)
{
	off_t at = surplus != 0 ? lseek(disk->fd, 0, SEEK_CUR) : -1;

	if (at < 0 || ftruncate(disk->fd, at - (off_t)surplus) != 0)
		return;
}

/* Of the chunk is left what is in the file. */
static int store(struct ft_disk *disk, struct ft_chunk *chunk)
{
	int error = chunk->begins != NULL ? begin_file(disk, chunk) : 0, named;
	size_t written;

	if (error != 0) {
		cut(chunk, 0);
		return error;
	}
	make_room(disk, chunk->used);
	written = write_bytes(disk->fd, chunk->bytes, chunk->used, &error);
	if (error != 0) {
		cut(chunk, written);
		cut_file(disk, written - chunk->used);
	}
	count_written(disk, chunk);
	named = name_file(disk);
	return error != 0 ? error : named;
}

/* --- chunks --- */

struct ft_chunk *ft_disk_take(struct ft_disk *disk, bool last)
{
	struct ft_chunk *chunk = NULL;

	pthread_mutex_lock(&disk->mutex);
	if (disk->in_stock > (last ? 0 : FT_CHUNK_RESERVE)) {
		chunk = disk->stock;
		disk->stock = chunk->next;
		disk->in_stock--;
	}
	pthread_mutex_unlock(&disk->mutex);
	if (chunk == NULL)
		return NULL;
	chunk->next = NULL;
	chunk->begins = NULL;
	chunk->frames = chunk->used = 0;
	chunk->first_ns = chunk->last_ns = FT_TS_UNKNOWN;
	return chunk;
}

static void put_back(struct ft_disk *disk, struct ft_chunk *chunk)
{
	free(chunk->begins);
	chunk->begins = NULL;
	pthread_mutex_lock(&disk->mutex);
	chunk->next = disk->stock;
	disk->stock = chunk;
	disk->in_stock++;
	pthread_cond_signal(&disk->stocked);
	pthread_mutex_unlock(&disk->mutex);
}

size_t ft_disk_stock(struct ft_disk *disk)
{
	size_t count;

	pthread_mutex_lock(&disk->mutex);
	count = disk->in_stock;
	pthread_mutex_unlock(&disk->mutex);
	return count;
}

void ft_disk_wait(struct ft_disk *disk, size_t stock)
{
	pthread_mutex_lock(&disk->mutex);
	while (disk->in_stock < stock && disk->error == 0)
		pthread_cond_wait(&disk->stocked, &disk->mutex);
	pthread_mutex_unlock(&disk->mutex);
}

void ft_disk_hand_over(struct ft_disk *disk, struct ft_chunk *chunk)
{
	pthread_mutex_lock(&disk->mutex);
	*disk->queue_end = chunk;
	disk->queue_end = &chunk->next;
	pthread_cond_signal(&disk->ready);
	pthread_mutex_unlock(&disk->mutex);
}

/* Wait for the next one; NULL: the end. */
static struct ft_chunk *next_chunk(struct ft_disk *disk)
{
	struct ft_chunk *chunk;

	pthread_mutex_lock(&disk->mutex);
	while (disk->queue == NULL && !disk->stopping)
		pthread_cond_wait(&disk->ready, &disk->mutex);
	chunk = disk->queue;
	if (chunk != NULL) {
		disk->queue = chunk->next;
		if (disk->queue == NULL)
			disk->queue_end = &disk->queue;
	}
	pthread_mutex_unlock(&disk->mutex);
	return chunk;
}

static void note_error(struct ft_disk *disk, int error, uint64_t frames)
{
	pthread_mutex_lock(&disk->mutex);
	if (disk->error == 0)
		disk->error = error;
	disk->dropped += frames;
	pthread_mutex_unlock(&disk->mutex);
}

static void write_chunk(struct ft_disk *disk, struct ft_chunk *chunk)
{
	uint64_t frames = chunk->frames;
	int error = disk->error;

	if (error == 0) {
		error = store(disk, chunk);
		frames -= chunk->frames;
	}
	if (error != 0)
		note_error(disk, error, frames);
	put_back(disk, chunk);
}

int ft_disk_write_now(struct ft_disk *disk, struct ft_chunk *chunk)
{
	write_chunk(disk, chunk);
	return disk->error;
}

static void *run(void *context)
{
	struct ft_disk *disk = context;
	struct ft_chunk *chunk;
	int error;

	while ((chunk = next_chunk(disk)) != NULL)
		write_chunk(disk, chunk);
	error = close_file(disk);
	if (error != 0)
		note_error(disk, error, 0);
	return NULL;
}

/* Signals are for the thread that started it. */
void ft_disk_start(struct ft_disk *disk)
{
	sigset_t all, before;
	int error;

	if (disk->started)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = -pthread_create(&disk->thread, NULL, run, disk);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	disk->started = error == 0;
	if (error != 0)
		note_error(disk, error, 0);
}

/* --- asking and ending --- */

int ft_disk_error(struct ft_disk *disk, uint64_t *dropped)
{
	int error;

	pthread_mutex_lock(&disk->mutex);
	error = disk->error;
	*dropped = disk->dropped;
	pthread_mutex_unlock(&disk->mutex);
	return error;
}

void ft_disk_files(struct ft_disk *disk, uint64_t *begun, uint64_t *removed)
{
	pthread_mutex_lock(&disk->mutex);
	*begun = disk->begun;
	*removed = disk->removed;
	pthread_mutex_unlock(&disk->mutex);
}

void ft_disk_each_file(struct ft_disk *disk,
		       void (*visit)(void *context, const struct ft_recorder_file *file),
		       void *context)
{
	pthread_mutex_lock(&disk->mutex);
	for (const struct stored *at = disk->oldest; at != NULL; at = at->next)
		if (at->file.bytes != 0)
			visit(context, &at->file);
	pthread_mutex_unlock(&disk->mutex);
}

int ft_disk_finish(struct ft_disk *disk)
{
	if (disk->started) {
		pthread_mutex_lock(&disk->mutex);
		disk->stopping = true;
		pthread_cond_signal(&disk->ready);
		pthread_mutex_unlock(&disk->mutex);
		pthread_join(disk->thread, NULL);
		disk->started = false;
	}
	return disk->error;
}

static void free_chunks(struct ft_chunk *chunk)
{
	while (chunk != NULL) {
		struct ft_chunk *next = chunk->next;

		free(chunk->begins);
		free(chunk);
		chunk = next;
	}
}

void ft_disk_destroy(struct ft_disk *disk)
{
	if (disk == NULL)
		return;
	ft_disk_finish(disk);
	close_file(disk);
	forget_part(disk);
	free_chunks(disk->stock);
	free_chunks(disk->queue);
	while (disk->oldest != NULL) {
		struct stored *next = disk->oldest->next;

		free((char *)(uintptr_t)disk->oldest->file.path);
		free(disk->oldest);
		disk->oldest = next;
	}
	pthread_cond_destroy(&disk->stocked);
	pthread_cond_destroy(&disk->ready);
	pthread_mutex_destroy(&disk->mutex);
	free(disk);
}
