#pragma once

#include <engine/engine.h>

#include "block.h"
#include "cut_frame.h"

/*
 * The frames that a worker has run, for who finds later that one of them is evidence. The account comes after the workers,
 * as many blocks as an engine of several has under way; what it is told of, from up to FT_SUSPECTS_PASSAGES frames before, is
 * still here then.
 */
enum { FT_GONE_BY = (FT_ENGINE_KEEP + 2) * FT_BLOCK_FRAMES };

struct ft_gone_by {
	struct ft_cut_frame *frames; /* by number; NULL: none is kept */
};

/* Keep those to come. 0 or -ENOMEM. */
int ft_gone_by_init(struct ft_gone_by *gone_by);
void ft_gone_by_free(struct ft_gone_by *gone_by);

/* Those of connections; only once they are kept. */
void ft_gone_by_add(struct ft_gone_by *gone_by, const struct ft_batch *batch);

/* NULL: it is not kept. */
const struct ft_cut_frame *ft_gone_by_find(const struct ft_gone_by *gone_by, uint64_t number);
