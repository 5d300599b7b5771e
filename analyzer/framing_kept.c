#include "framing_kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ft_kept_frame_set(struct ft_kept_frame *kept, const struct ft_frame *frame, uint32_t most)
{
	uint32_t bytes = frame->captured < most ? frame->captured : most;
	uint8_t *copy = bytes != 0 ? malloc(bytes) : NULL;

	ft_kept_frame_free(kept);
	kept->frame = *frame;
	kept->frame.bytes = kept->bytes = copy;
	kept->frame.captured = copy != NULL ? bytes : 0;
	if (copy != NULL)
		memcpy(copy, frame->bytes, bytes);
}

void ft_kept_frame_free(struct ft_kept_frame *kept)
{
	free(kept->bytes);
	*kept = (struct ft_kept_frame){ 0 };
}

const struct ft_kept_frame *ft_held_frames_find(const struct ft_held_frames *held, uint64_t number)
{
	for (uint32_t i = 0; held->items != NULL && i < FT_HELD_FRAMES; i++)
		if (held->items[i].frame.number == number)
			return &held->items[i];
	return NULL;
}

int ft_held_frames_add(struct ft_held_frames *held, const struct ft_frame *frame, bool with_bytes)
{
	if (held->items == NULL)
		held->items = calloc(FT_HELD_FRAMES, sizeof *held->items);
	if (held->items == NULL)
		return -ENOMEM;
	if (held->items[(held->next + FT_HELD_FRAMES - 1) % FT_HELD_FRAMES].frame.number ==
	    frame->number)
		return 0;
	ft_kept_frame_set(&held->items[held->next], frame, with_bytes ? UINT32_MAX : 0);
	held->next = (held->next + 1) % FT_HELD_FRAMES;
	return 0;
}

void ft_held_frames_free(struct ft_held_frames *held)
{
	for (uint32_t i = 0; held->items != NULL && i < FT_HELD_FRAMES; i++)
		ft_kept_frame_free(&held->items[i]);
	free(held->items);
	held->items = NULL;
}

int ft_latest_frames_init(struct ft_latest_frames *latest)
{
	latest->items = calloc(FT_LATEST_FRAMES, sizeof *latest->items);
	latest->bytes = calloc(FT_LATEST_FRAMES, sizeof *latest->bytes);
	return latest->items == NULL || latest->bytes == NULL ? -ENOMEM : 0;
}

void ft_latest_frames_free(struct ft_latest_frames *latest)
{
	free(latest->items);
	free(latest->bytes);
	*latest = (struct ft_latest_frames){ 0 };
}

void ft_latest_frames_add(struct ft_latest_frames *latest, const struct ft_frame *frame)
{
	size_t at = frame->number % FT_LATEST_FRAMES;
	struct ft_frame *kept = &latest->items[at];

	*kept = *frame;
	kept->bytes = latest->bytes[at];
	if (kept->captured > FT_LATEST_BYTES)
		kept->captured = FT_LATEST_BYTES;
	memcpy(latest->bytes[at], frame->bytes, kept->captured);
}

const struct ft_frame *ft_latest_frames_find(const struct ft_latest_frames *latest, uint64_t number)
{
	const struct ft_frame *kept;

	if (latest->items == NULL)
		return NULL;
	kept = &latest->items[number % FT_LATEST_FRAMES];
	return kept->number == number ? kept : NULL;
}
