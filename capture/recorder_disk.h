#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <capture/recorder.h>

/*
 * The disk's side of a recorder: chunks of whole blocks go to files in the order in which they are handed over,
 * written by a thread of its own. Chunks are taken from a fixed stock and come back when written.
 */
enum {
	FT_CHUNK_BYTES = 1 << 20,
	FT_CHUNK_RESERVE = 2, /* for ends and beginnings of files, not for frames */
};

struct ft_chunk {
	struct ft_chunk *next;
	char *begins; /* name of the file that begins with it; NULL: the file goes on */
	bool fresh;   /* ... or one like it that no file has */
	uint64_t frames;
	uint64_t first_ns, last_ns; /* FT_TS_UNKNOWN */
	size_t used;
	uint8_t bytes[FT_CHUNK_BYTES];
};

struct ft_disk;

/* `limit` as ft_recorder_config.disk_limit. 0 or -ENOMEM. */
int ft_disk_create(struct ft_disk **disk, size_t chunks, uint64_t limit);

/* Write a chunk at once, before the thread is there: 0 or -errno. The chunk comes back to the stock. */
int ft_disk_write_now(struct ft_disk *disk, struct ft_chunk *chunk);

/* From now on chunks are written by a thread, if they are not yet. That it cannot be made is the disk's failure. */
void ft_disk_start(struct ft_disk *disk);

/* An empty chunk, NULL: none is left. `last`: also from the reserve. */
struct ft_chunk *ft_disk_take(struct ft_disk *disk, bool last);
size_t ft_disk_stock(struct ft_disk *disk); /* chunks that could be taken, the reserve included */
void ft_disk_wait(struct ft_disk *disk, size_t stock); /* until so many, or the disk has failed */

/* After ft_disk_start(). If the disk has failed, its frames are dropped. */
void ft_disk_hand_over(struct ft_disk *disk, struct ft_chunk *chunk);

/* -errno of the first failure so far, or 0. Chunks handed over after it are dropped: *dropped frames. */
int ft_disk_error(struct ft_disk *disk, uint64_t *dropped);
void ft_disk_files(struct ft_disk *disk, uint64_t *begun, uint64_t *removed);
void ft_disk_each_file(struct ft_disk *disk,
		       void (*visit)(void *context, const struct ft_recorder_file *file),
		       void *context);

/* Wait until all is written and the file is closed. 0 or -errno of the first failure. */
int ft_disk_finish(struct ft_disk *disk);
void ft_disk_destroy(struct ft_disk *disk); /* NULL is fine */
