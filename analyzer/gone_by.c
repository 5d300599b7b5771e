#include "gone_by.h"

#include <errno.h>

#include <flow/reserve.h>

#define ALL_BYTES (FT_GONE_BY * sizeof(struct ft_cut_frame))

static_assert((int)FT_GONE_BY >
		      (int)FT_ENGINE_KEEP * (int)FT_BLOCK_FRAMES + (int)FT_SUSPECTS_PASSAGES,
	      "what is under way, and what its suspicions may name");

int ft_gone_by_init(struct ft_gone_by *gone_by)
{
	if (gone_by->frames == NULL)
		gone_by->frames = ft_reserve(ALL_BYTES);
	return gone_by->frames == NULL ? -ENOMEM : 0;
}

void ft_gone_by_free(struct ft_gone_by *gone_by)
{
	if (gone_by->frames != NULL)
		ft_release(gone_by->frames, ALL_BYTES);
}

static struct ft_cut_frame *place_of(const struct ft_gone_by *gone_by, uint64_t number)
{
	return &gone_by->frames[number % FT_GONE_BY];
}

void ft_gone_by_add(struct ft_gone_by *gone_by, const struct ft_batch *batch)
{
	for (unsigned i = 0; i < batch->count; i++) {
		const struct ft_item *item = &batch->items[i];

		if (item->followed && item->sub == 0)
			ft_cut_frame_fill(place_of(gone_by, item->frame->number), item->frame);
	}
}

const struct ft_cut_frame *ft_gone_by_find(const struct ft_gone_by *gone_by, uint64_t number)
{
	const struct ft_cut_frame *kept;

	if (gone_by->frames == NULL)
		return NULL;
	kept = place_of(gone_by, number);
	return kept->frame.number == number ? kept : NULL;
}
