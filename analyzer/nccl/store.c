#include "store.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM_LEAST = 256, BLOCK_BYTES = 1 << 16 };

struct ft_nccl_block {
	struct ft_nccl_block *older;
	size_t used;
	_Alignas(16) uint8_t bytes[BLOCK_BYTES];
};

static void free_blocks(struct ft_nccl_block *block)
{
	while (block != NULL) {
		struct ft_nccl_block *older = block->older;

		free(block);
		block = older;
	}
}

void ft_nccl_store_free(struct ft_nccl_store *store)
{
	free_blocks(store->requests);
	free_blocks(store->parts);
	free(store->messages);
	*store = (struct ft_nccl_store){ 0 };
}

/* At most 128 parts of 24 bytes, or 8 requests of 72: they fit a block. */
static void *take(struct ft_nccl_block **newest, size_t bytes)
{
	struct ft_nccl_block *block = *newest;
	void *taken;

	if (block == NULL || block->used + bytes > BLOCK_BYTES) {
		block = malloc(sizeof *block);
		if (block == NULL)
			return NULL;
		block->older = *newest;
		block->used = 0;
		*newest = block;
	}
	taken = block->bytes + block->used;
	block->used += bytes;
	return taken;
}

uint8_t ft_nccl_shares_used(const struct ft_nccl_share *shares, uint32_t lanes)
{
	uint8_t used = 0;

	for (uint32_t i = 0; i < lanes; i++)
		used = (uint8_t)(used + (shares[i].used ? 1 : 0));
	return used;
}

/* Bytes of all requests; UINT64_MAX: not known. */
static uint64_t total_of(const struct ft_nccl_message *message)
{
	uint64_t total = 0;

	if (message->request_count == 0)
		return UINT64_MAX;
	for (uint8_t i = 0; i < message->request_count; i++) {
		if (!message->requests[i].has_written)
			return UINT64_MAX;
		total += message->requests[i].written;
	}
	return total;
}

/* Where a write began was missed: its part has what the others leave of the message, if it is the only such one. */
static void settle(const struct ft_nccl_shares *shares, const struct ft_nccl_message *message,
		   struct ft_nccl_part *parts, uint32_t count)
{
	uint64_t total = total_of(message), sum = 0;
	struct ft_nccl_part *open = NULL;
	uint32_t opens = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += parts[i].bytes;
	for (uint32_t i = 0; i < count; i++) {
		parts[i].has_bytes = parts[i].has_bytes || total == sum;
		if (!parts[i].has_bytes) {
			open = &parts[i];
			opens++;
		}
	}
	if (opens != 1 || !shares->all || total == UINT64_MAX || total <= sum)
		return;
	open->bytes += total - sum;
	open->has_bytes = true;
}

/* Where writes of one of several requests were missed, others may have been, too. */
static bool has_bytes(const struct ft_nccl_share *share, uint8_t request_count, bool uncounted)
{
	if (uncounted)
		return ft_nccl_share_is_whole(share);
	if (request_count == 1)
		return share->requests != 0;
	return ft_nccl_share_is_whole(share) && share->requests == (1u << request_count) - 1;
}

void ft_nccl_shares_tell(const struct ft_nccl_shares *shares, const struct ft_nccl_message *message,
			 struct ft_nccl_part *parts)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < shares->count; i++) {
		const struct ft_nccl_share *share = &shares->at[i];

		if (!share->used)
			continue;
		parts[count++] = (struct ft_nccl_part){
			.qp_index = shares->first + i,
			.packets = share->packets,
			.bytes = share->bytes,
			.has_bytes = has_bytes(share, message->request_count, shares->uncounted),
		};
	}
	settle(shares, message, parts, count);
}

static struct ft_nccl_message *grow(struct ft_nccl_store *store)
{
	size_t room = store->room != 0 ? 2 * store->room : ROOM_LEAST;
	struct ft_nccl_message *messages;

	if (store->count < store->room)
		return store->messages;
	messages = realloc(store->messages, room * sizeof *messages);
	if (messages == NULL)
		return NULL;
	store->messages = messages;
	store->room = room;
	return messages;
}

static void add(struct ft_nccl_store *store, const struct ft_nccl_message *message,
		const struct ft_nccl_shares *shares)
{
	size_t request_bytes = message->request_count * sizeof *message->requests;
	uint8_t used = ft_nccl_shares_used(shares->at, shares->count);
	struct ft_nccl_request *kept_requests;
	struct ft_nccl_part *kept_parts;
	struct ft_nccl_message *kept;

	if (store->count >= store->most || grow(store) == NULL) {
		store->dropped++;
		return;
	}
	kept_requests = take(&store->requests, request_bytes);
	kept_parts = take(&store->parts, used * sizeof *kept_parts);
	if (kept_requests == NULL || kept_parts == NULL) {
		store->dropped++;
		return;
	}
	memcpy(kept_requests, message->requests, request_bytes);
	ft_nccl_shares_tell(shares, message, kept_parts);
	kept = &store->messages[store->count++];
	*kept = *message;
	kept->requests = kept_requests;
	kept->parts = kept_parts;
	kept->part_count = used;
}

uint64_t ft_nccl_bytes_told(const struct ft_nccl_message *message)
{
	uint64_t told = 0;

	for (uint8_t i = 0; i < message->request_count; i++)
		told += message->requests[i].has_written ? message->requests[i].written : 0;
	return told;
}

uint64_t ft_nccl_store_add(struct ft_nccl_store *store, const struct ft_nccl_message *message,
			   const struct ft_nccl_shares *shares)
{
	if (store->most == 0)
		return 0;
	add(store, message, shares);
	return ft_nccl_bytes_told(message);
}
