#include "share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <decode/brief.h>
#include <engine/no_memory.h>
#include <flow/reserve.h>

#include "glance.h"
#include "observe.h"

enum { WORD = 64 }; /* bits */

static size_t parcels_bytes(const struct ft_share *share)
{
	size_t most = (size_t)share->workers * share->room;

	return (most + FT_PARCELS_AHEAD) * sizeof *share->parcels;
}

static size_t wanted_words(const struct ft_share *share)
{
	return (share->room + WORD - 1) / WORD;
}

static void free_room(struct ft_share *share)
{
	free(share->wanted);
	free(share->places);
	free(share->outcomes);
	if (share->parcels != NULL)
		ft_release(share->parcels, parcels_bytes(share));
}

/* Room for as many packets as the batch has. */
static int make_room(struct ft_share *share)
{
	share->room = share->batch.room;
	share->wanted = calloc(wanted_words(share), sizeof *share->wanted);
	share->places = calloc(share->room, sizeof *share->places);
	share->outcomes = calloc((size_t)share->workers * share->room, sizeof *share->outcomes);
	share->parcels = ft_reserve(parcels_bytes(share));
	return share->wanted == NULL || share->places == NULL || share->outcomes == NULL ||
			       share->parcels == NULL
		       ? -ENOMEM
		       : 0;
}

int ft_share_init(struct ft_share *share, unsigned workers)
{
	int error = ft_batch_init(&share->batch, FT_BLOCK_FRAMES);

	share->workers = workers;
	share->numbers = calloc(FT_BLOCK_FRAMES, sizeof *share->numbers);
	if (share->numbers == NULL)
		return -ENOMEM;
	return error == 0 ? make_room(share) : error;
}

void ft_share_free(struct ft_share *share)
{
	ft_batch_free(&share->batch);
	free(share->numbers);
	free_room(share);
}

/* --- sharing out --- */

/* Both directions of a connection, and all copies of a packet, have one owner. */
static inline unsigned owner_of(uint64_t pair, unsigned workers)
{
	return (unsigned)((pair >> 32) * workers >> 32);
}

/* A block on its way into parcels. */
struct dealing {
	struct ft_share *share;
	const struct ft_decode_config *config;
	uint64_t seed;
	uint32_t next[FT_ENGINE_WORKERS_MAX]; /* of each worker: the place behind those it has */
};

static void note_number(struct ft_share *share, unsigned frame, uint32_t mirror, uint32_t sequence)
{
	share->numbers[share->numbered++] =
		(struct ft_share_number){ mirror, sequence, (uint16_t)frame };
}

/* A frame whose packets must be decoded to know whose they are. False: there are more than there is room for. */
__attribute__((noinline)) static bool decode(struct dealing *dealing, unsigned frame)
{
	struct ft_share *share = dealing->share;
	struct ft_batch *batch = &share->batch;
	const struct ft_observed *first;
	unsigned number = batch->count;

	ft_batch_add(batch, &share->block->frames[frame], dealing->config, dealing->seed);
	if (batch->count > share->room)
		return false;
	first = &batch->items[number].observed;
	if ((first->has & FT_OBSERVED_MIRROR) != 0)
		note_number(share, frame, first->mirror, first->mirror_sequence);
	for (; number < batch->count; number++) {
		unsigned owner = owner_of(batch->items[number].observed.pair, share->workers);

		share->parcels[dealing->next[owner]++] = (struct ft_parcel){
			.number = number, .frame = (uint16_t)frame, .decoded = true
		};
	}
	return true;
}

/*
 * Large frames whose ICRCs are checked where they were read, some at a time: to their owner's core go their headers alone
 * then.
 */
enum { LARGE = 512 };

struct unchecked {
	unsigned count;
	struct ft_parcel *parcels[FT_BRIEF_TOGETHER];
	struct ft_brief_cover covers[FT_BRIEF_TOGETHER];
};

/* Their owners check those again that are wrong. */
static void check(struct unchecked *unchecked)
{
	unsigned bad = ft_brief_bad_icrcs(unchecked->covers, unchecked->count);

	for (unsigned i = 0; i < unchecked->count; i++)
		unchecked->parcels[i]->checked = (bad >> i & 1) == 0;
	unchecked->count = 0;
}

static void leave_unchecked(struct unchecked *unchecked, const struct ft_frame *frame,
			    struct ft_parcel *parcel)
{
	const struct ft_decode_input input = ft_decode_input_of(frame);
	struct ft_brief brief;

	if (parcel->ip_at == 0 || !ft_brief_find_behind(&input, parcel->ip_at, &brief) ||
	    frame->captured < brief.end)
		return;
	unchecked->parcels[unchecked->count] = parcel;
	unchecked->covers[unchecked->count++] = ft_brief_cover(frame->bytes, &brief);
	if (unchecked->count == FT_BRIEF_TOGETHER)
		check(unchecked);
}

/* Those from frame `from` on that a glance suffices for; returns how many. */
static unsigned deal_plain(struct dealing *dealing, unsigned from)
{
	struct ft_share *share = dealing->share;
	const struct ft_decode_config *config = dealing->config;
	const struct ft_frame *frames = &share->block->frames[from];
	const unsigned workers = share->workers, number = share->batch.count;
	unsigned left = share->block->frame_count - from, room = share->room - number;
	const bool checks = config->check_icrc && config->mirror_vlan_count == 0;
	struct ft_parcel *parcels = share->parcels;
	struct unchecked unchecked;
	struct ft_glance glance;
	unsigned i;

	unchecked.count = 0;
	left = left < room ? left : room;
	for (i = 0; i < left && ft_glance_at(config, &frames[i], &glance); i++) {
		struct ft_parcel *parcel =
			&parcels[dealing->next[owner_of(glance.pair, workers)]++];

		/* a place that is soon written: another core has read it */
		__builtin_prefetch(parcel + FT_PARCELS_AHEAD, 1);
		parcel->pair = glance.pair;
		parcel->number = number + i;
		parcel->frame = (uint16_t)(from + i);
		parcel->ip_at = (uint8_t)glance.ip_at;
		parcel->decoded = parcel->checked = false;
		if (__builtin_expect(glance.ip_at == 0 && glance.numbered, 0))
			note_number(share, from + i, glance.mirror, glance.sequence);
		if (frames[i].captured >= LARGE && checks)
			leave_unchecked(&unchecked, &frames[i], parcel);
	}
	check(&unchecked);
	return i;
}

/* False: there is too little room. */
static bool deal(struct dealing *dealing)
{
	struct ft_share *share = dealing->share;
	const struct ft_block *block = share->block;

	for (unsigned i = 0; i < block->frame_count; i++) {
		unsigned plain = deal_plain(dealing, i);

		share->batch.count += plain;
		i += plain;
		if (i < block->frame_count && !decode(dealing, i))
			return false;
	}
	return true;
}

/* False: there is too little room. */
static bool share_out(struct ft_share *share, const struct ft_decode_config *config, uint64_t seed)
{
	struct dealing dealing = { share, config, seed, { 0 } };

	for (unsigned w = 0; w < share->workers; w++)
		dealing.next[w] = w * share->room;
	share->batch.count = share->numbered = 0;
	if (!deal(&dealing))
		return false;
	for (unsigned w = 0; w < share->workers; w++)
		share->parts[w] =
			(struct ft_share_part){ .count = dealing.next[w] - w * share->room };
	return true;
}

/* Seldom: sFlow datagrams with many samples. */
__attribute__((noinline)) static void grow(struct ft_share *share)
{
	free_room(share);
	if (share->batch.room == share->room)
		ft_batch_grow(&share->batch);
	if (make_room(share) != 0)
		ft_no_memory();
}

void ft_share_out(struct ft_share *share, const struct ft_block *block,
		  const struct ft_decode_config *config, uint64_t seed)
{
	share->block = block;
	while (!share_out(share, config, seed))
		grow(share);
	share->stretch = share->batch.count == block->frame_count ? ft_block_stretch(block)
								  : (struct ft_stretch){ 0 };
}

/* --- running a part --- */

static void take(const struct ft_share *share, struct ft_worker *worker,
		 const struct ft_parcel *parcel)
{
	if (parcel->decoded)
		*ft_batch_next(&worker->batch) = share->batch.items[parcel->number];
	else
		ft_batch_add(&worker->batch, &share->block->frames[parcel->frame],
			     &worker->config->decode, worker->config->seed);
}

/* The worker's batch: these packets. */
static void fill(const struct ft_share *share, struct ft_worker *worker,
		 const struct ft_parcel *parcels, unsigned count)
{
	struct ft_batch *batch = &worker->batch;

	ft_batch_begin(batch);
	while (batch->count < count) {
		unsigned done = batch->count;

		batch->count += ft_items_fill_parcels(
			batch->items + done, share->block->frames, parcels + done, count - done,
			&worker->config->decode, worker->config->seed, &batch->mirrored);
		if (batch->count < count)
			take(share, worker, &parcels[batch->count]);
	}
}

__attribute__((noinline)) static void tell(struct ft_share *share, const struct ft_worker *worker,
					   const struct ft_item *item, unsigned number)
{
	share->batch.items[number] = *item;
	if (item->rules != 0 || item->gap || item->anew || worker->tells_all)
		share->batch.more[number] = worker->batch.more[item - worker->batch.items];
}

/* What the worker's batch came to, from `place` on. */
static void leave(struct ft_share *share, const struct ft_worker *worker, unsigned place,
		  struct ft_share_part *part)
{
	part->copies |= worker->batch.copies;
	for (unsigned i = 0; i < worker->batch.count; i++) {
		const struct ft_item *item = &worker->batch.items[i];
		struct ft_outcome *outcome = &share->outcomes[place + i];

		outcome->from = item->from;
		outcome->wire = item->frame->wire;
		outcome->wants = worker->tells_all ? FT_ACCOUNT_ITEM : ft_account_wants(item);
		if (__builtin_expect(outcome->wants == FT_ACCOUNT_FRAME, 1))
			continue;
		part->most = outcome->wants > part->most ? outcome->wants : part->most;
		if (outcome->wants == FT_ACCOUNT_ITEM)
			tell(share, worker, item, share->parcels[place + i].number);
	}
}

/* What it comes to is told once: others read, meanwhile, what stands beside it. */
void ft_share_run(struct ft_share *share, struct ft_worker *worker, unsigned index)
{
	struct ft_share_part part = share->parts[index];
	unsigned place = index * share->room, end = place + part.count;

	while (place < end) {
		unsigned some = end - place < FT_WORKER_FRAMES ? end - place : FT_WORKER_FRAMES;

		fill(share, worker, &share->parcels[place], some);
		ft_worker_run(worker);
		leave(share, worker, place, &part);
		place += some;
	}
	share->parts[index] = part;
}

/* --- accounting for all parts --- */

void ft_share_see_numbers(const struct ft_share *share, struct ft_account *account)
{
	for (unsigned i = 0; i < share->numbered; i++) {
		const struct ft_share_number *at = &share->numbers[i];
		const struct ft_mirror_number number = { at->mirror, at->sequence, FT_MIRROR_BITS };

		ft_account_count(account, &share->block->frames[at->frame], &number);
	}
}

bool ft_share_see(const struct ft_share *share, struct ft_account *account)
{
	if (share->stretch.frames == 0)
		return false;
	for (unsigned w = 0; w < share->workers; w++)
		if (share->parts[w].copies)
			return false;
	if (!ft_account_stretch(account, &share->stretch))
		return false;
	for (unsigned w = 0; w < share->workers; w++)
		ft_account_see(account, &share->stretch, &share->outcomes[w * share->room],
			       share->parts[w].count);
	return true;
}

enum ft_account_wants ft_share_most(const struct ft_share *share)
{
	uint32_t most = FT_ACCOUNT_NOTHING;

	for (unsigned w = 0; w < share->workers; w++)
		most = share->parts[w].most > most ? share->parts[w].most : most;
	return most;
}

/* Places by the packets' numbers, of those of one worker that are asked for. */
static void find_places(struct ft_share *share, unsigned worker, enum ft_account_wants least)
{
	unsigned place = worker * share->room, end = place + share->parts[worker].count;

	for (; place < end; place++) {
		uint32_t number = share->parcels[place].number;

		if (share->outcomes[place].wants < least)
			continue;
		share->places[number] = place;
		share->wanted[number / WORD] |= UINT64_C(1) << number % WORD;
	}
}

unsigned ft_share_order(struct ft_share *share, enum ft_account_wants least)
{
	unsigned count = 0;

	memset(share->wanted, 0, wanted_words(share) * sizeof *share->wanted);
	for (unsigned w = 0; w < share->workers; w++)
		find_places(share, w, least);
	for (size_t word = 0; word < wanted_words(share); word++)
		for (uint64_t left = share->wanted[word]; left != 0; left &= left - 1)
			share->places[count++] =
				share->places[word * WORD + (unsigned)__builtin_ctzll(left)];
	return count;
}

const struct ft_item *ft_share_strange(struct ft_share *share, uint32_t place,
				       const struct ft_engine_config *config)
{
	const struct ft_parcel *parcel = &share->parcels[place];
	struct ft_item *item = &share->batch.items[parcel->number];

	if (!parcel->decoded)
		ft_items_fill_usual(item, &share->block->frames[parcel->frame], 1, &config->decode,
				    config->seed, &share->batch.mirrored);
	item->copy = false;
	item->framing = FT_FRAMING_STRANGE;
	return item;
}
