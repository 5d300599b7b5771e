#pragma once

#include "recorder_disk.h"

/* The files of a recorder, the newest one open. One thread writes them; any may ask what there is. */
struct ft_files;

/* `limit` as ft_recorder_config.disk_limit. 0 or -ENOMEM. */
int ft_files_create(struct ft_files **files, uint64_t limit);
void ft_files_destroy(struct ft_files *files); /* NULL is fine */

/*
 * Write a chunk; a file that it begins takes over. 0 or -errno. Of the chunk (used, frames, last_ns) is left what
 * is in the file: whole blocks, all of them after 0.
 */
int ft_files_store(struct ft_files *files, struct ft_chunk *chunk);

/* Close the open file, if there is one. 0 or -errno. */
int ft_files_close(struct ft_files *files);

/* Files that hold something: begun, and of those removed for the limit. */
void ft_files_count(struct ft_files *files, uint64_t *begun, uint64_t *removed);
void ft_files_each(struct ft_files *files,
		   void (*visit)(void *context, const struct ft_recorder_file *file),
		   void *context);
