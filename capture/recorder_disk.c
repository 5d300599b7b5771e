#include "recorder_disk.h"

#include "recorder_files.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct ft_disk {
	/* guards all but the files and what is inside of handed-over chunks */
	pthread_mutex_t mutex;
	pthread_cond_t ready, stocked;
	pthread_t thread;
	bool started, stopping;
	struct ft_chunk *queue, **queue_end;
	struct ft_chunk *stock;
	size_t in_stock;
	struct ft_files *files;
	uint64_t dropped; /* frames */
	int error;
};

int ft_disk_create(struct ft_disk **disk, size_t chunks, uint64_t limit)
{
	struct ft_disk *made = calloc(1, sizeof *made);

	if (made == NULL)
		return -ENOMEM;
	made->queue_end = &made->queue;
	pthread_mutex_init(&made->mutex, NULL);
	pthread_cond_init(&made->ready, NULL);
	pthread_cond_init(&made->stocked, NULL);
	if (ft_files_create(&made->files, limit) != 0) {
		ft_disk_destroy(made);
		return -ENOMEM;
	}
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
		error = ft_files_store(disk->files, chunk);
		frames -= chunk->frames;
	}
	if (error != 0)
		note_error(disk, error, frames);
	put_back(disk, chunk);
}

static void queue(struct ft_disk *disk, struct ft_chunk *chunk)
{
	pthread_mutex_lock(&disk->mutex);
	*disk->queue_end = chunk;
	disk->queue_end = &chunk->next;
	pthread_cond_signal(&disk->ready);
	pthread_mutex_unlock(&disk->mutex);
}

void ft_disk_hand_over(struct ft_disk *disk, struct ft_chunk *chunk)
{
	/* that there is no thread was noted as an error, after which frames are dropped */
	if (disk->started)
		queue(disk, chunk);
	else
		write_chunk(disk, chunk);
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
	error = ft_files_close(disk->files);
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
	ft_files_count(disk->files, begun, removed);
}

void ft_disk_each_file(struct ft_disk *disk,
		       void (*visit)(void *context, const struct ft_recorder_file *file),
		       void *context)
{
	ft_files_each(disk->files, visit, context);
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
	ft_files_destroy(disk->files);
	free_chunks(disk->stock);
	free_chunks(disk->queue);
	pthread_cond_destroy(&disk->stocked);
	pthread_cond_destroy(&disk->ready);
	pthread_mutex_destroy(&disk->mutex);
	free(disk);
}
