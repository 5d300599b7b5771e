#include "recorder_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recorder_name.h"

bool ft_recorder_rotates(const struct ft_recorder_config *config)
{
	return config->rotate_bytes != 0 || config->rotate_ns != 0 || config->rotate_frames != 0 ||
	       config->disk_limit != 0;
}

static size_t statistics_room(const struct ft_recorder *recorder)
{
	return (size_t)recorder->interface_count * FT_STATISTICS_ROOM;
}

void ft_recorder_append(struct ft_recorder *recorder, const uint8_t *bytes, size_t size)
{
	memcpy(recorder->chunk->bytes + recorder->chunk->used, bytes, size);
	recorder->chunk->used += size;
	recorder->file.bytes += size;
}

static char *next_name(struct ft_recorder *recorder)
{
	const char *path = recorder->config.path;

	recorder->file.number++;
	if (!ft_recorder_rotates(&recorder->config))
		return strdup(path);
	return ft_recorder_name(path, recorder->file.number, recorder->now_ns);
}

static bool take_chunk(struct ft_recorder *recorder, bool last)
{
	recorder->chunk = ft_disk_take(recorder->disk, last);
	return recorder->chunk != NULL;
}

int ft_recorder_begin_file(struct ft_recorder *recorder)
{
	char *name = next_name(recorder);

	if (name == NULL || !take_chunk(recorder, true)) {
		free(name);
		return -ENOMEM;
	}
	recorder->chunk->begins = name;
	recorder->chunk->fresh = ft_recorder_rotates(&recorder->config);
	recorder->file.bytes = recorder->file.frames = 0;
	recorder->file.since_ns = recorder->now_ns;
	memcpy(recorder->counted + recorder->config.input_count, recorder->counted,
	       recorder->config.input_count * sizeof *recorder->counted);
	ft_recorder_append(recorder, recorder->section, recorder->section_size);
	for (uint32_t i = 0; i < recorder->interface_count; i++)
		ft_recorder_append(recorder, recorder->interfaces[i].block,
				   recorder->interfaces[i].size);
	return 0;
}

/* The thread is made when there is first something for it: by then rights that it would keep have been given up. */
void ft_recorder_hand_over(struct ft_recorder *recorder)
{
	if (recorder->chunk == NULL)
		return;
	ft_disk_start(recorder->disk);
	ft_disk_hand_over(recorder->disk, recorder->chunk);
	recorder->chunk = NULL;
}

/* Room in the chunk at hand. False: there is none, and no other chunk. */
static bool make_room(struct ft_recorder *recorder, size_t size, bool last)
{
	if (recorder->chunk != NULL && recorder->chunk->used + size > FT_CHUNK_BYTES)
		ft_recorder_hand_over(recorder);
	return recorder->chunk != NULL || take_chunk(recorder, last);
}

const char *ft_recorder_remark(const struct ft_counted *counted)
{
	return counted->uncounted ? FT_PCAPNG_LOSSES_UNKNOWN : NULL;
}

/* What is told comes later than the frames. */
static uint64_t received(const struct ft_counted *counted)
{
	uint64_t least = counted->put + counted->dropped;

	if (counted->received == FT_PCAPNG_NOT_COUNTED || counted->dropped == FT_PCAPNG_NOT_COUNTED)
		return counted->received;
	return counted->received > least ? counted->received : least;
}

static uint64_t since(uint64_t before, uint64_t now)
{
	if (now == FT_PCAPNG_NOT_COUNTED || before == FT_PCAPNG_NOT_COUNTED)
		return now;
	return now > before ? now - before : 0;
}

/* Of several interfaces of one input the first has its losses. */
static bool is_first_of(const struct ft_recorder *recorder, uint32_t interface)
{
	for (uint32_t i = 0; i < interface; i++)
		if (recorder->interfaces[i].input == recorder->interfaces[interface].input)
			return false;
	return true;
}

/* Of this file alone: who reads a row of files adds up. */
static void put_statistics(struct ft_recorder *recorder)
{
	const struct ft_counted *begun = recorder->counted + recorder->config.input_count;
	uint8_t block[FT_PCAPNG_BLOCK_ROOM];

	for (uint32_t i = 0; i < recorder->interface_count; i++) {
		uint32_t input = recorder->interfaces[i].input;
		const struct ft_counted *now = &recorder->counted[input];
		bool first = is_first_of(recorder, i);
		const struct ft_pcapng_statistics statistics = {
			.interface = i,
			.from_ns = recorder->file.since_ns,
			.to_ns = recorder->now_ns,
			.received = since(received(&begun[input]), received(now)),
			.dropped = first ? since(begun[input].dropped, now->dropped) : 0,
			.left_out = first ? since(begun[input].left_out, now->left_out) : 0,
			.kept = recorder->interface_count == 1 ? recorder->file.frames
							       : FT_PCAPNG_NOT_COUNTED,
			.comment = first ? ft_recorder_remark(now) : NULL,
		};

		ft_recorder_append(recorder, block, ft_pcapng_put_statistics(block, &statistics));
	}
}

/* The file ends here. False: the disk is so far behind that not even that can be said yet. */
bool ft_recorder_end_file(struct ft_recorder *recorder)
{
	if (!make_room(recorder, statistics_room(recorder), true))
		return false;
	put_statistics(recorder);
	ft_recorder_hand_over(recorder);
	return true;
}

/* The next file takes over. False: not yet. What frames never take is enough for an end and a beginning. */
bool ft_recorder_turn(struct ft_recorder *recorder)
{
	return ft_disk_stock(recorder->disk) >= FT_CHUNK_RESERVE &&
	       ft_recorder_end_file(recorder) && ft_recorder_begin_file(recorder) == 0;
}

static bool is_full(const struct ft_recorder *recorder, size_t size)
{
	const struct ft_recorder_config *config = &recorder->config;
	uint64_t bytes = recorder->file.bytes + size + statistics_room(recorder);

	return (config->rotate_bytes != 0 && bytes > config->rotate_bytes) ||
	       (config->rotate_frames != 0 && recorder->file.frames >= config->rotate_frames);
}

/* Too large for any file. */
static bool fits_nowhere(const struct ft_recorder *recorder, size_t size)
{
	uint64_t bytes = recorder->section_size + size + statistics_room(recorder);

	for (uint32_t i = 0; i < recorder->interface_count; i++)
		bytes += recorder->interfaces[i].size;
	return recorder->config.rotate_bytes != 0 && bytes > recorder->config.rotate_bytes;
}

bool ft_recorder_find_room(struct ft_recorder *recorder, size_t size)
{
	if (is_full(recorder, size) &&
	    (fits_nowhere(recorder, size) || !ft_recorder_turn(recorder)))
		return false;
	return make_room(recorder, size, false);
}
