#include "crew.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

enum {
	ALONE_FRAMES = 32, /* a block that stays in the first-level cache */
	SPINS = 64,        /* before a thread that has nothing to do lets others have the core */
};

int ft_crew_init(struct ft_crew *crew, struct ft_worker **workers, unsigned count)
{
	*crew = (struct ft_crew){
		.workers = workers,
		.count = count,
		.block_count = count == 1 ? 1 : FT_CREW_BLOCKS,
		.block_frames = count == 1 ? ALONE_FRAMES : FT_BLOCK_FRAMES,
	};
	crew->blocks = calloc(crew->block_count, sizeof *crew->blocks);
	if (crew->blocks == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < crew->block_count; i++)
		if (ft_block_init(&crew->blocks[i].block) != 0) {
			ft_crew_free(crew);
			return -ENOMEM;
		}
	pthread_mutex_init(&crew->reading, NULL);
	pthread_mutex_init(&crew->accounting, NULL);
	return 0;
}

void ft_crew_free(struct ft_crew *crew)
{
	if (crew->blocks == NULL)
		return;
	for (unsigned i = 0; i < crew->block_count; i++)
		ft_block_free(&crew->blocks[i].block);
	free(crew->blocks);
	crew->blocks = NULL;
}

static struct ft_crew_block *numbered(struct ft_crew *crew, uint64_t number)
{
	return &crew->blocks[number % crew->block_count];
}

/* The next block, filled with frames; NULL: the end, an error, no room, or `most` frames were read. */
static struct ft_crew_block *next_block(struct ft_crew *crew, uint64_t *number)
{
	uint64_t left = crew->most - crew->frames_read;
	struct ft_crew_block *slot;
	int count;

	if (crew->error != 0)
		crew->ended = true;
	*number = atomic_load_explicit(&crew->read, memory_order_relaxed);
	if (crew->ended || *number - atomic_load_explicit(&crew->accounted, memory_order_acquire) ==
				   crew->block_count)
		return NULL;
	slot = numbered(crew, *number);
	count = left == 0 ? -ENODATA
			  : ft_block_read(&slot->block, crew->source,
					  left < crew->block_frames ? (unsigned)left
								    : crew->block_frames);
	if (count <= 0) {
		crew->ended = true;
		return NULL;
	}
	crew->frames_read += (uint64_t)count;
	atomic_store_explicit(&crew->read, *number + 1, memory_order_release);
	return slot;
}

static bool read_and_decode(struct ft_crew *crew, unsigned index)
{
	const struct ft_worker *worker = crew->workers[index];
	struct ft_crew_block *slot;
	uint64_t number;

	if (pthread_mutex_trylock(&crew->reading) != 0)
		return false;
	slot = next_block(crew, &number);
	pthread_mutex_unlock(&crew->reading);
	if (slot == NULL)
		return false;
	ft_block_decode(&slot->block, &worker->config->decode, worker->config->seed);
	atomic_store_explicit(&slot->decoded, number + 1, memory_order_release);
	return true;
}

/* `*next`: number of the block that this worker has not worked on yet. */
static bool work(struct ft_crew *crew, unsigned index, uint64_t *next)
{
	struct ft_crew_block *slot = numbered(crew, *next);

	if (atomic_load_explicit(&slot->decoded, memory_order_acquire) != *next + 1)
		return false;
	ft_worker_run(crew->workers[index], &slot->block, index, crew->count);
	++*next;
	atomic_fetch_add_explicit(&slot->workers, 1, memory_order_release);
	return true;
}

static bool account(struct ft_crew *crew)
{
	uint64_t number;
	struct ft_crew_block *slot;
	bool ready;

	if (pthread_mutex_trylock(&crew->accounting) != 0)
		return false;
	number = atomic_load_explicit(&crew->accounted, memory_order_relaxed);
	slot = numbered(crew, number);
	ready = atomic_load_explicit(&slot->decoded, memory_order_acquire) == number + 1 &&
		atomic_load_explicit(&slot->workers, memory_order_acquire) == crew->count;
	if (ready) {
		int error = crew->error != 0
				    ? 0
				    : crew->account(crew->context, crew->source, &slot->block);

		if (error != 0)
			crew->error = error;
		atomic_store_explicit(&slot->workers, 0, memory_order_relaxed);
		atomic_store_explicit(&crew->accounted, number + 1, memory_order_release);
	}
	pthread_mutex_unlock(&crew->accounting);
	return ready;
}

static bool is_done(struct ft_crew *crew)
{
	return crew->ended && atomic_load_explicit(&crew->accounted, memory_order_acquire) ==
				      atomic_load_explicit(&crew->read, memory_order_acquire);
}

/* One round of whatever is ready; false: nothing was. */
static bool move_on(struct ft_crew *crew, unsigned index, uint64_t *next)
{
	bool moved = read_and_decode(crew, index);

	moved = work(crew, index, next) || moved;
	return account(crew) || moved;
}

struct hand {
	struct ft_crew *crew;
	unsigned index;
	uint64_t next;
	pthread_t thread;
};

static void rest(unsigned *idle)
{
	if (++*idle < SPINS)
		__builtin_ia32_pause();
	else
		sched_yield();
}

static void *run_hand(void *context)
{
	struct hand *hand = context;
	unsigned idle = 0;

	while (!is_done(hand->crew)) {
		if (move_on(hand->crew, hand->index, &hand->next))
			idle = 0;
		else
			rest(&idle);
	}
	return NULL;
}

/* Ask whether to go on, when nobody reads. */
static void ask(struct ft_crew *crew, const struct ft_crew_run *run)
{
	if (pthread_mutex_trylock(&crew->reading) != 0)
		return;
	if (!run->go_on(run->go_on_context, crew->frames_read))
		crew->ended = true;
	pthread_mutex_unlock(&crew->reading);
}

enum { ASK_EVERY = 64 }; /* rounds */

static void run_first(struct hand *hand, const struct ft_crew_run *run)
{
	unsigned idle = 0;

	for (uint64_t round = 0; !is_done(hand->crew); round++) {
		if (round % ASK_EVERY == 0)
			ask(hand->crew, run);
		if (move_on(hand->crew, hand->index, &hand->next))
			idle = 0;
		else
			rest(&idle);
	}
}

static void prepare(struct ft_crew *crew, const struct ft_crew_run *run)
{
	crew->source = run->source;
	crew->most = run->most;
	crew->account = run->account;
	crew->context = run->context;
	crew->frames_read = 0;
	crew->read = crew->accounted = 0;
	crew->error = 0;
	crew->ended = false;
	for (unsigned i = 0; i < crew->block_count; i++)
		crew->blocks[i].decoded = 0;
}

int ft_crew_run(struct ft_crew *crew, const struct ft_crew_run *run)
{
	struct hand hands[FT_CREW_MOST] = { { .crew = crew } };
	unsigned started = 1;
	int error = 0;

	if (crew->block_count > 1)
		error = ft_source_keep(run->source, crew->block_count);
	if (error != 0)
		return error;
	prepare(crew, run);
	for (unsigned i = 0; i < crew->count; i++)
		hands[i] = (struct hand){ .crew = crew, .index = i };
	pthread_mutex_lock(&crew->reading); /* nobody reads before all are there */
	for (; started < crew->count && error == 0; started += error == 0)
		error = -pthread_create(&hands[started].thread, NULL, run_hand, &hands[started]);
	crew->ended = error != 0;
	pthread_mutex_unlock(&crew->reading);
	if (error == 0)
		run_first(&hands[0], run);
	for (unsigned i = 1; i < started; i++)
		pthread_join(hands[i].thread, NULL);
	return error != 0 ? error : crew->error;
}
