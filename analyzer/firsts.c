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
