#include "firsts.h"

#include <errno.h>
#include <stddef.h>

#include <flow/reserve.h>

int ft_firsts_init(struct ft_firsts *firsts)
{
	*firsts = (struct ft_firsts){ .items = ft_reserve(FT_FIRSTS * sizeof *firsts->items) };
	return firsts->items == NULL ? -ENOMEM : 0;
}

void ft_firsts_free(struct ft_firsts *firsts)
{
	ft_release(firsts->items, FT_FIRSTS * sizeof *firsts->items);
	ft_release(firsts->frames, FT_FIRSTS * sizeof *firsts->frames);
}

int ft_firsts_keep_frames(struct ft_firsts *firsts)
{
	if (firsts->frames == NULL)
		firsts->frames = ft_reserve(FT_FIRSTS * sizeof *firsts->frames);
	return firsts->frames == NULL ? -ENOMEM : 0;
}

void ft_firsts_keep(struct ft_firsts *firsts, const struct ft_frame *frame)
{
	ft_cut_frame_fill(&firsts->frames[(firsts->count - 1) % FT_FIRSTS], frame);
}

bool ft_firsts_frame(const struct ft_firsts *firsts, const struct ft_first *first,
		     struct ft_frame *frame)
{
	const struct ft_cut_frame *kept;

	if (firsts->frames == NULL)
		return false;
	kept = &firsts->frames[first - firsts->items];
	if (kept->frame.number != first->frame)
		return false; /* it began before frames were kept */
	*frame = ft_cut_frame_of(kept);
	return true;
}

const struct ft_first *ft_firsts_find(const struct ft_firsts *firsts, uint32_t record)
{
	for (uint64_t i = 1; i <= ft_firsts_kept(firsts); i++) {
		const struct ft_first *first = ft_firsts_at(firsts, i);

		if (first->record == record)
			return first;
	}
	return NULL;
}

uint64_t ft_firsts_since(const struct ft_firsts *firsts)
{
	return firsts->count < FT_FIRSTS ? 0 : firsts->items[firsts->count % FT_FIRSTS].frame;
}
