#include "crew.h"

#include <errno.h>
#include <time.h>

#include <flow/reserve.h>

enum {
	SPINS = 1024,    /* before a thread that has nothing to do leaves the core to others .. */
	REST_NS = 50000, /* .. for so long, and again: a slow source keeps no core busy */
	ASK_EVERY = 64,  /* rounds */
};

/* One for each worker and those that are read ahead, but no more than sources keep. */
static unsigned blocks_for(unsigned workers)
{
	unsigned wanted = workers + FT_CREW_AHEAD;

	return wanted < FT_ENGINE_KEEP ? wanted : FT_ENGINE_KEEP;
}

static int init_blocks(struct ft_crew *crew)
{
	crew->block_count = blocks_for(crew->count);
	crew->blocks = ft_reserve(crew->block_count * sizeof *crew->blocks);
	if (crew->blocks == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < crew->block_count; i++)
		if (ft_share_init(&crew->blocks[i].share, crew->count) != 0)
			return -ENOMEM;
	return 0;
}

int ft_crew_init(struct ft_crew *crew, struct ft_worker **workers, unsigned count)
{
	int error = 0;

	*crew = (struct ft_crew){ .workers = workers, .count = count };
	if (count > 1)
		error = init_blocks(crew);
	else if ((crew->read_into = ft_reserve(sizeof *crew->read_into)) == NULL)
		error = -ENOMEM;
	pthread_mutex_init(&crew->reading, NULL);
	pthread_mutex_init(&crew->accounting, NULL);
	if (error != 0)
		ft_crew_free(crew);
	return error;
}

void ft_crew_free(struct ft_crew *crew)
{
	for (unsigned i = 0; crew->blocks != NULL && i < crew->block_count; i++)
		ft_share_free(&crew->blocks[i].share);
	ft_release(crew->blocks, crew->block_count * sizeof *crew->blocks);
	ft_release(crew->read_into, sizeof *crew->read_into);
	crew->blocks = NULL;
	crew->read_into = NULL;
}

/* Frames as far as they are wanted: how many, 0: none for a while, < 0: the end. */
static int read_block(struct ft_crew *crew, struct ft_block *block, unsigned most)
{
	uint64_t left = crew->run->most - crew->frames_read;
	int count = left == 0 ? -ENODATA
			      : ft_block_read(block, crew->run->source,
					      left < most ? (unsigned)left : most);

	if (count > 0)
		crew->frames_read += (uint64_t)count;
	return count;
}

static bool goes_on(const struct ft_crew *crew)
{
	return crew->run->go_on(crew->run->go_on_context, crew->frames_read);
}

/* --- a lone worker --- */

static int run_alone(struct ft_crew *crew)
{
	const struct ft_crew_account *account = &crew->run->account;
	struct ft_worker *worker = crew->workers[0];
	struct ft_block *block = crew->read_into;
	int count = FT_WORKER_FRAMES, error = 0;

	for (uint64_t round = 0; error == 0; round++) {
		/* a batch that is not full was all there was: there is time */
		if ((round % ASK_EVERY == 0 || count < FT_WORKER_FRAMES) && !goes_on(crew))
			break;
		count = read_block(crew, block, FT_WORKER_FRAMES);
		if (count < 0)
			break;
		if (count == 0)
			continue;
		ft_batch_fill(&worker->batch, block, &worker->config->decode, worker->config->seed);
		ft_worker_run(worker);
		error = account->batch(account->context, crew->run->source, &worker->batch);
	}
	return error;
}

/* --- several --- */

static struct ft_crew_block *numbered(struct ft_crew *crew, uint64_t number)
{
	return &crew->blocks[number % crew->block_count];
}

/* The block just read; NULL: the end, an error, no room, none for a while, or `most` were read. */
static struct ft_crew_block *next_block(struct ft_crew *crew, uint64_t *number)
{
	struct ft_crew_block *slot;
	int count;

	if (crew->error != 0)
		crew->ended = true;
	*number = atomic_load_explicit(&crew->read, memory_order_relaxed);
	if (crew->ended || *number - atomic_load_explicit(&crew->accounted, memory_order_acquire) ==
				   crew->block_count)
		return NULL;
	slot = numbered(crew, *number);
	count = read_block(crew, &slot->block, FT_BLOCK_FRAMES);
	crew->ended = count < 0;
	crew->silent = count == 0;
	if (count <= 0)
		return NULL;
	atomic_store_explicit(&crew->read, *number + 1, memory_order_release);
	return slot;
}

static bool read_and_share(struct ft_crew *crew, unsigned index)
{
	const struct ft_worker *worker = crew->workers[index];
	struct ft_crew_block *slot;
	uint64_t number;

	if (index != 0 && crew->asking)
		return false;
	ft_source_read_ahead(crew->run->source);
	if (pthread_mutex_trylock(&crew->reading) != 0)
		return false;
	slot = next_block(crew, &number);
	pthread_mutex_unlock(&crew->reading);
	if (slot == NULL)
		return false;
	ft_share_out(&slot->share, &slot->block, &worker->config->decode, worker->config->seed);
	atomic_store_explicit(&slot->shared, number + 1, memory_order_release);
	return true;
}

/* `*next`: number of the block that this worker has not run yet. */
static bool run_part(struct ft_crew *crew, unsigned index, uint64_t *next)
{
	struct ft_crew_block *slot = numbered(crew, *next);

	if (atomic_load_explicit(&slot->shared, memory_order_acquire) != *next + 1)
		return false;
	ft_share_run(&slot->share, crew->workers[index], index);
	++*next;
	atomic_fetch_add_explicit(&slot->done, 1, memory_order_release);
	return true;
}

static bool is_run(struct ft_crew *crew, uint64_t number)
{
	struct ft_crew_block *slot = numbered(crew, number);

	return atomic_load_explicit(&slot->done, memory_order_acquire) == crew->count &&
	       atomic_load_explicit(&slot->shared, memory_order_acquire) == number + 1;
}

static void account_for(struct ft_crew *crew, uint64_t number)
{
	const struct ft_crew_account *account = &crew->run->account;
	struct ft_crew_block *slot = numbered(crew, number);

	if (crew->error == 0)
		crew->error = account->share(account->context, crew->run->source, &slot->share);
	atomic_store_explicit(&slot->done, 0, memory_order_relaxed);
	atomic_store_explicit(&crew->accounted, number + 1, memory_order_release);
}

static bool account(struct ft_crew *crew)
{
	uint64_t number = atomic_load_explicit(&crew->accounted, memory_order_relaxed);
	bool ready;

	if (!is_run(crew, number) || pthread_mutex_trylock(&crew->accounting) != 0)
		return false;
	number = atomic_load_explicit(&crew->accounted, memory_order_relaxed);
	ready = is_run(crew, number);
	if (ready)
		account_for(crew, number);
	pthread_mutex_unlock(&crew->accounting);
	return ready;
}

static bool is_done(struct ft_crew *crew)
{
	return crew->ended && atomic_load_explicit(&crew->accounted, memory_order_acquire) ==
				      atomic_load_explicit(&crew->read, memory_order_acquire);
}

/* One thing that is ready; false: nothing was. Blocks are read ahead, so that nobody waits for one. */
static bool move_on(struct ft_crew *crew, unsigned index, uint64_t *next)
{
	uint64_t ahead = atomic_load_explicit(&crew->read, memory_order_relaxed) - *next;

	if (account(crew))
		return true;
	if (ahead < FT_CREW_AHEAD && read_and_share(crew, index))
		return true;
	return run_part(crew, index, next) || read_and_share(crew, index);
}

static void rest(unsigned *idle)
{
	if (++*idle < SPINS)
		__builtin_ia32_pause();
	else
		nanosleep(&(struct timespec){ .tv_nsec = REST_NS }, NULL);
}

struct hand {
	struct ft_crew *crew;
	unsigned index;
	uint64_t next;
	pthread_t thread;
};

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

/* Ask whether to go on, when nobody reads; the others leave that to the first until it has. */
static void ask(struct ft_crew *crew)
{
	crew->asking = pthread_mutex_trylock(&crew->reading) != 0;
	if (crew->asking)
		return;
	crew->silent = false;
	if (!goes_on(crew))
		crew->ended = true;
	pthread_mutex_unlock(&crew->reading);
}

static void run_first(struct hand *hand)
{
	unsigned idle = 0;

	for (uint64_t round = 0; !is_done(hand->crew); round++) {
		if (round % ASK_EVERY == 0 || hand->crew->silent || hand->crew->asking)
			ask(hand->crew);
		if (move_on(hand->crew, hand->index, &hand->next))
			idle = 0;
		else
			rest(&idle);
	}
}

static int run_together(struct ft_crew *crew)
{
	struct hand hands[FT_CREW_MOST] = { { .crew = crew } };
	unsigned started = 1;
	int error = ft_source_keep(crew->run->source, crew->block_count);

	if (error != 0)
		return error;
	for (unsigned i = 0; i < crew->count; i++)
		hands[i] = (struct hand){ .crew = crew, .index = i };
	pthread_mutex_lock(&crew->reading); /* nobody reads before all are there */
	for (; started < crew->count && error == 0; started += error == 0)
		error = -pthread_create(&hands[started].thread, NULL, run_hand, &hands[started]);
	crew->ended = error != 0;
	pthread_mutex_unlock(&crew->reading);
	if (error == 0)
		run_first(&hands[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(hands[i].thread, NULL);
	return error != 0 ? error : crew->error;
}

int ft_crew_run(struct ft_crew *crew, const struct ft_crew_run *run)
{
	crew->run = run;
	crew->frames_read = 0;
	crew->read = crew->accounted = 0;
	crew->error = 0;
	crew->ended = crew->silent = crew->asking = false;
	for (unsigned i = 0; crew->blocks != NULL && i < crew->block_count; i++)
		crew->blocks[i].shared = 0;
	return crew->count == 1 ? run_alone(crew) : run_together(crew);
}
