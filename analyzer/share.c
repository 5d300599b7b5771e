#include "share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "glance.h"

enum {
	FETCH_FRAMES = 2 * FT_WORKER_FRAMES, /* packets ahead: another core may have them .. */
	FETCH_BYTES = FT_WORKER_FRAMES,      /* .. in its cache */
	LINE = 64,
};

static int resize(struct ft_share *share)
{
	size_t most = (size_t)share->workers * share->batch.room;

	free(share->places);
	free(share->parcels);
	free(share->outcomes);
	share->room = share->batch.room;
	share->places = calloc(share->room, sizeof *share->places);
	share->parcels = calloc(most + FETCH_FRAMES, sizeof *share->parcels);
	share->outcomes = calloc(most, sizeof *share->outcomes);
	return share->places == NULL || share->parcels == NULL || share->outcomes == NULL ? -ENOMEM
											  : 0;
}

int ft_share_init(struct ft_share *share, unsigned workers)
{
	int error = ft_batch_init(&share->batch, FT_BLOCK_FRAMES);

	share->workers = workers;
	return error == 0 ? resize(share) : error;
}

void ft_share_free(struct ft_share *share)
{
	ft_batch_free(&share->batch);
	free(share->places);
	free(share->parcels);
	free(share->outcomes);
}

/* --- sharing out --- */

/* Both directions of a connection, and all copies of a packet, have one owner. */
static inline unsigned owner_of(uint64_t pair, unsigned workers)
{
	uint64_t mixed = pair * FT_SALT_SRC >> 32;

	return (unsigned)(mixed * workers >> 32);
}

static inline void address(struct ft_share *share, unsigned number, unsigned frame, uint64_t pair,
			   bool decoded)
{
	unsigned owner = owner_of(pair, share->workers);
	unsigned place = owner * share->room + share->counts[owner]++;

	share->places[number] = place;
	share->parcels[place] = (struct ft_parcel){ number, (uint16_t)frame, decoded };
}

/* A frame whose packets must be decoded to know whose they are. False: there are more than there is room for. */
__attribute__((noinline)) static bool decode(struct ft_share *share, unsigned frame,
					     const struct ft_decode_config *config, uint64_t seed)
{
	struct ft_batch *batch = &share->batch;
	unsigned number = batch->count;

	ft_batch_add(batch, &share->block.frames[frame], config, seed);
	if (batch->count > share->room)
		return false;
	for (; number < batch->count; number++)
		address(share, number, frame, batch->items[number].observed.pair, true);
	return true;
}

static bool share_out(struct ft_share *share, const struct ft_decode_config *config, uint64_t seed)
{
	unsigned frames = share->block.frame_count;
	uint64_t pair;

	share->batch.count = 0;
	memset(share->counts, 0, share->workers * sizeof *share->counts);
	for (unsigned i = 0; i < frames; i++) {
		if (!ft_glance_pair(config, &share->block.frames[i], &pair)) {
			if (!decode(share, i, config, seed))
				return false;
			continue;
		}
		if (share->batch.count == share->room)
			return false;
		address(share, share->batch.count++, i, pair, false);
	}
	return true;
}

/* Seldom: sFlow datagrams with many samples. */
__attribute__((noinline)) static void grow(struct ft_share *share)
{
	if (share->batch.room == share->room)
		ft_batch_grow(&share->batch);
	if (resize(share) != 0)
		abort();
}

void ft_share_out(struct ft_share *share, const struct ft_decode_config *config, uint64_t seed)
{
	while (!share_out(share, config, seed))
		grow(share);
}

/* --- running a part --- */

/* What the batches behind this one begin with. Behind the last there are parcels of no meaning, of frames of the block. */
static inline void fetch(const struct ft_share *share, const struct ft_parcel *parcels,
			 unsigned count)
{
	const struct ft_frame *frames = share->block.frames;

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *bytes = frames[parcels[i + FETCH_BYTES].frame].bytes;

		__builtin_prefetch(&frames[parcels[i + FETCH_FRAMES].frame]);
		__builtin_prefetch(bytes);
		__builtin_prefetch(bytes + LINE);
	}
}

static void take(const struct ft_share *share, struct ft_worker *worker,
		 const struct ft_parcel *parcel)
{
	if (parcel->decoded)
		*ft_batch_next(&worker->batch) = share->batch.items[parcel->number];
	else
		ft_batch_add(&worker->batch, &share->block.frames[parcel->frame],
			     &worker->config->decode, worker->config->seed);
}

/* The worker's batch: these packets. */
static void fill(const struct ft_share *share, struct ft_worker *worker,
		 const struct ft_parcel *parcels, unsigned count)
{
	struct ft_batch *batch = &worker->batch;

	batch->count = 0;
	while (batch->count < count) {
		unsigned done = batch->count;

		batch->count += ft_items_fill_parcels(
			batch->items + done, share->block.frames, parcels + done, count - done,
			&worker->config->decode, worker->config->seed);
		if (batch->count < count)
			take(share, worker, &parcels[batch->count]);
	}
}

__attribute__((noinline)) static void tell(struct ft_share *share, const struct ft_worker *worker,
					   const struct ft_item *item, unsigned number)
{
	share->batch.items[number] = *item;
	if (item->rules != 0 || item->gap || worker->tells_all)
		share->batch.more[number] = worker->batch.more[item - worker->batch.items];
}

/* What the worker's batch came to, from `place` on. */
static void leave(struct ft_share *share, const struct ft_worker *worker, unsigned place)
{
	for (unsigned i = 0; i < worker->batch.count; i++) {
		const struct ft_item *item = &worker->batch.items[i];
		struct ft_outcome *outcome = &share->outcomes[place + i];

		outcome->from = item->from;
		outcome->wants = worker->tells_all ? FT_ACCOUNT_ITEM : ft_account_wants(item);
		if (__builtin_expect(outcome->wants == FT_ACCOUNT_ITEM, 0))
			tell(share, worker, item, share->parcels[place + i].number);
	}
}

void ft_share_run(struct ft_share *share, struct ft_worker *worker, unsigned index)
{
	unsigned place = index * share->room, end = place + share->counts[index];

	while (place < end) {
		unsigned some = end - place < FT_WORKER_FRAMES ? end - place : FT_WORKER_FRAMES;

		fetch(share, &share->parcels[place], some);
		fill(share, worker, &share->parcels[place], some);
		ft_worker_run(worker);
		leave(share, worker, place);
		place += some;
	}
}
