#include "operation_mixed.h"

static void find_shared(struct ft_nccl_mixed_circles *circles)
{
	for (uint32_t i = 0; i < circles->ring.ranks; i++)
		circles->is_shared[i] = false;
	for (uint32_t i = 0; i < circles->tree.ranks; i++) {
		circles->shared[i] = FT_NCCL_NONE;
		for (uint32_t j = 0; j < circles->ring.ranks; j++)
			if (circles->ring.tracks[j] == circles->tree.tracks[i]) {
				circles->shared[i] = j;
				circles->is_shared[j] = true;
			}
	}
}

static uint64_t next_of_ring(const struct ft_nccl_mixed_circles *circles)
{
	const struct ft_nccl_circle *ring = &circles->ring;
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < ring->ranks; i++) {
		const uint64_t frame = ft_nccl_track_next(ring->tracks[i], ring->at[i]);

		if (frame < next && !circles->is_shared[i])
			next = frame;
	}
	return next;
}

static uint64_t next_of_tree(const struct ft_nccl_mixed_circles *circles)
{
	const struct ft_nccl_circle *tree = &circles->tree;
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < tree->ranks; i++) {
		const uint64_t frame = ft_nccl_track_next(tree->tracks[i], tree->at[i]);

		if (frame < next && circles->shared[i] == FT_NCCL_NONE)
			next = frame;
	}
	return next;
}

void ft_nccl_mixed_begin(struct ft_nccl_mixed_circles *circles)
{
	for (uint32_t i = 0; i < circles->ring.ranks; i++)
		circles->ring.at[i] = 0;
	for (uint32_t i = 0; i < circles->tree.ranks; i++)
		circles->tree.at[i] = 0;
	circles->ring.begun = circles->tree.begun = true;
	find_shared(circles);
}

/* What one has stepped over the other has, too. */
static void follow(struct ft_nccl_mixed_circles *circles, bool tree_went)
{
	for (uint32_t i = 0; i < circles->tree.ranks; i++) {
		const uint32_t place = circles->shared[i];

		if (place == FT_NCCL_NONE)
			continue;
		if (tree_went)
			circles->ring.at[place] = circles->tree.at[i];
		else
			circles->tree.at[i] = circles->ring.at[place];
	}
}

/* What both have is told with the ring. */
static void end(struct ft_nccl_operations *operations, struct ft_nccl_mixed_circles *circles)
{
	ft_nccl_circle_end(operations, &circles->ring);
	for (uint32_t i = 0; i < circles->tree.ranks; i++)
		if (circles->shared[i] != FT_NCCL_NONE)
			circles->tree.at[i] = circles->tree.tracks[i]->count;
	ft_nccl_circle_end(operations, &circles->tree);
}

void ft_nccl_mixed_operations(struct ft_nccl_operations *operations,
			      struct ft_nccl_mixed_circles *circles)
{
	bool goes_on = true;

	while (goes_on) {
		const bool is_tree = next_of_tree(circles) < next_of_ring(circles);

		goes_on =
			ft_nccl_circle_step(operations, is_tree ? &circles->tree : &circles->ring);
		follow(circles, is_tree);
	}
	end(operations, circles);
}

bool ft_nccl_mixed_uses_ring(const struct ft_nccl_mixed_circles *circles)
{
	return next_of_ring(circles) != UINT64_MAX;
}

bool ft_nccl_mixed_uses_tree(const struct ft_nccl_mixed_circles *circles)
{
	return next_of_tree(circles) != UINT64_MAX;
}
