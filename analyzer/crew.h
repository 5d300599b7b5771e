#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "share.h"
#include "worker.h"

/*
 * Blocks of frames on their way through the engine, and the threads that move them. A lone worker reads a small block,
 * runs it and accounts for it. With several, a block is
 *   1. read, one thread at a time, in order;
 *   2. shared out by the thread that read it;
 *   3. run by every worker, each its part, each in the order of the blocks;
 *   4. accounted for, one thread at a time, in order.
 * Every thread does whichever step is ready. Nothing depends on who did it.
 */
enum { FT_CREW_AHEAD = 3, FT_CREW_MOST = FT_ENGINE_WORKERS_MAX, FT_CREW_LINE = 64 };

struct ft_crew_block {
	struct ft_block block;
	struct ft_share share;
	/* what threads write at the same time is in several cache lines */
	char apart[FT_CREW_LINE];
	_Atomic uint64_t shared; /* number of the block, from 1, that is here */
	char apart_too[FT_CREW_LINE];
	_Atomic unsigned done; /* workers that have run it */
	char end[FT_CREW_LINE];
};

/* Called with what was run, packets in the order of the capture. 0 or -errno, which ends the run. */
struct ft_crew_account {
	int (*batch)(void *context, const struct ft_source *source, const struct ft_batch *batch);
	int (*share)(void *context, const struct ft_source *source, struct ft_share *share);
	void *context;
};

struct ft_crew {
	struct ft_worker **workers;
	unsigned count;
	struct ft_block *read_into;   /* of a lone worker */
	struct ft_crew_block *blocks; /* of several, in turn: as many as are under way */
	unsigned block_count;
	const struct ft_crew_run *run;

	char apart[FT_CREW_LINE];
	pthread_mutex_t reading;
	uint64_t frames_read;
	_Atomic uint64_t read; /* blocks */
	/* nothing more will be read; set by whoever holds `reading`, so that no block comes after it */
	_Atomic bool ended;
	_Atomic bool silent; /* nothing came for a while */
	_Atomic bool asking; /* the first thread wants to hold `reading` */

	char apart_too[FT_CREW_LINE];
	pthread_mutex_t accounting;
	_Atomic uint64_t accounted; /* blocks */
	_Atomic int error;          /* of the account */
	char end[FT_CREW_LINE];
};

/* `workers` must outlive it. 0 or -ENOMEM. */
int ft_crew_init(struct ft_crew *crew, struct ft_worker **workers, unsigned count);
void ft_crew_free(struct ft_crew *crew);

/*
 * Run until the source ends, `most` frames were read, or `go_on` (called now and then by the calling thread, with the
 * frames read; nobody reads meanwhile) says false. 0, -errno of the account, or of starting a thread.
 */
struct ft_crew_run {
	struct ft_source *source;
	uint64_t most;
	struct ft_crew_account account; /* `batch` for a lone worker, `share` for several */
	bool (*go_on)(void *context, uint64_t frames);
	void *go_on_context;
};
int ft_crew_run(struct ft_crew *crew, const struct ft_crew_run *run);
