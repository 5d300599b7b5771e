#include "share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "glance.h"

int ft_share_init(struct ft_share *share, unsigned workers)
{
	int error = ft_batch_init(&share->batch, FT_BLOCK_FRAMES);

	share->workers = workers;
	share->room = share->batch.room;
	share->parcels = calloc(share->room, sizeof *share->parcels);
	share->own = calloc(share->room, sizeof *share->own);
	share->outcomes = calloc(share->room, sizeof *share->outcomes);
	return error != 0 || share->parcels == NULL || share->own == NULL || share->outcomes == NULL
		       ? -ENOMEM
		       : 0;
}

void ft_share_free(struct ft_share *share)
{
	ft_batch_free(&share->batch);
	free(share->parcels);
	free(share->own);
	free(share->outcomes);
}

/* Seldom, with the batch: sFlow datagrams with many samples. */
__attribute__((noinline)) static void grow(struct ft_share *share)
{
	unsigned room = share->batch.room;

	share->parcels = reallocarray(share->parcels, room, sizeof *share->parcels);
	share->own = reallocarray(share->own, room, sizeof *share->own);
	share->outcomes = reallocarray(share->outcomes, room, sizeof *share->outcomes);
	if (share->parcels == NULL || share->own == NULL || share->outcomes == NULL)
		abort();
	share->room = room;
}

/* Both directions of a connection, and all copies of a packet, have one owner. */
static inline uint8_t owner_of(uint64_t pair, unsigned workers)
{
	uint64_t mixed = pair * FT_SALT_SRC >> 32;

	return (uint8_t)(mixed * workers >> 32);
}

static inline void address(struct ft_share *share, unsigned number, unsigned frame, uint64_t pair,
			   bool decoded)
{
	uint8_t owner = owner_of(pair, share->workers);

	share->parcels[number] = (struct ft_parcel){
		.frame = (uint16_t)frame,
		.owner = owner,
		.decoded = decoded,
	};
	share->first[owner + 1]++;
}

/* A frame whose packets must be decoded to know whose they are. */
__attribute__((noinline)) static void decode(struct ft_share *share, unsigned frame,
					     const struct ft_decode_config *config, uint64_t seed)
{
	struct ft_batch *batch = &share->batch;
	unsigned number = batch->count;

	ft_batch_add(batch, &share->block.frames[frame], config, seed);
	if (batch->room > share->room)
		grow(share);
	for (; number < batch->count; number++)
		address(share, number, frame, batch->items[number].observed.pair, true);
}

/* Owners are known: put the packets of each in a row. */
static void sort(struct ft_share *share)
{
	unsigned places[FT_ENGINE_WORKERS_MAX];

	for (unsigned i = 0; i < share->workers; i++) {
		share->first[i + 1] += share->first[i];
		places[i] = share->first[i];
	}
	for (unsigned i = 0; i < share->batch.count; i++) {
		struct ft_parcel *parcel = &share->parcels[i];

		parcel->place = places[parcel->owner]++;
		share->own[parcel->place] = i;
	}
}

void ft_share_out(struct ft_share *share, const struct ft_decode_config *config, uint64_t seed)
{
	share->batch.count = 0;
	memset(share->first, 0, sizeof share->first);
	for (unsigned i = 0; i < share->block.frame_count; i++) {
		uint64_t pair;

		if (!ft_glance_pair(config, &share->block.frames[i], &pair)) {
			decode(share, i, config, seed);
			continue;
		}
		ft_batch_next(&share->batch);
		if (share->batch.room > share->room)
			grow(share);
		address(share, share->batch.count - 1, i, pair, false);
	}
	sort(share);
}

static inline void take(const struct ft_share *share, struct ft_worker *worker, unsigned place)
{
	const struct ft_parcel *parcel = &share->parcels[share->own[place]];

	if (parcel->decoded)
		*ft_batch_next(&worker->batch) = share->batch.items[share->own[place]];
	else
		ft_batch_add(&worker->batch, &share->block.frames[parcel->frame],
			     &worker->config->decode, worker->config->seed);
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
		if (outcome->wants == FT_ACCOUNT_ITEM)
			tell(share, worker, item, share->own[place + i]);
	}
}

void ft_share_run(struct ft_share *share, struct ft_worker *worker, unsigned index)
{
	unsigned place = share->first[index], end = share->first[index + 1];

	while (place < end) {
		unsigned some = end - place < FT_WORKER_FRAMES ? end - place : FT_WORKER_FRAMES;

		worker->batch.count = 0;
		for (unsigned i = 0; i < some; i++)
			take(share, worker, place + i);
		ft_worker_run(worker);
		leave(share, worker, place);
		place += some;
	}
}
