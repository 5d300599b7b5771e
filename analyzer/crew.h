#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "block.h"
#include "worker.h"

/*
 * Blocks of frames on their way through the engine, and the threads that move them. A block is
 *   1. read, one thread at a time, in order;
 *   2. decoded by the thread that read it;
 *   3. worked on by every worker, each in the order of the blocks;
 *   4. accounted for, one thread at a time, in order.
 * Every thread does whichever step is ready. Nothing depends on who did it.
 */
enum { FT_CREW_BLOCKS = 32, FT_CREW_MOST = FT_ENGINE_WORKERS_MAX };

struct ft_crew_block {
	struct ft_block block;
	_Atomic uint64_t decoded; /* number of the block, from 1, that is decoded here */
	_Atomic unsigned workers; /* that are done with it */
};

struct ft_crew {
	struct ft_worker **workers;
	unsigned count;
	struct ft_crew_block *blocks;
	unsigned block_count, block_frames;

	pthread_mutex_t reading;
	struct ft_source *source;
	uint64_t most, frames_read; /* frames to read at most; read so far */
	_Atomic uint64_t read;      /* blocks */
	_Atomic bool
		ended; /* nothing more will be read; set by whoever holds `reading`, so that no block comes after it */

	pthread_mutex_t accounting;
	_Atomic uint64_t accounted; /* blocks */
	int (*account)(void *context, const struct ft_source *source, const struct ft_block *block);
	void *context;
	_Atomic int error; /* of `account` */
};

/* `workers` must outlive it. 0 or -ENOMEM. */
int ft_crew_init(struct ft_crew *crew, struct ft_worker **workers, unsigned count);
void ft_crew_free(struct ft_crew *crew);

/*
 * Run until the source ends, `most` frames were read, or `go_on` (called now and then by the calling thread, with the
 * frames read; nobody reads meanwhile) says false. 0, -errno of `account`, or of starting a thread.
 */
struct ft_crew_run {
	struct ft_source *source;
	uint64_t most;
	int (*account)(void *context, const struct ft_source *source, const struct ft_block *block);
	void *context;
	bool (*go_on)(void *context, uint64_t frames);
	void *go_on_context;
};
int ft_crew_run(struct ft_crew *crew, const struct ft_crew_run *run);
