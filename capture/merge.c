#include "merge.h"

#include <stdlib.h>

enum { LANE_FRAMES = 64 };

/* An input and its next frames. */
struct lane {
	struct ft_input *input;
	uint64_t time; /* of the head; a frame without one inherits its predecessor's */
	int head, count;
	struct ft_frame frames[LANE_FRAMES];
};

/* A binary heap of the lanes that have frames, the earliest on top. */
struct ft_merge {
	struct lane *lanes;
	struct lane **heap;
	size_t count, live;
	bool begun;
	bool drained; /* the top lane has handed out its last frame */
};

static bool earlier(const struct lane *a, const struct lane *b)
{
	return a->time < b->time || (a->time == b->time && a->input->index < b->input->index);
}

static void sift_down(struct ft_merge *merge, size_t at)
{
	struct lane *lane = merge->heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < merge->live && earlier(merge->heap[child + 1], merge->heap[child]))
			child++;
		if (child >= merge->live || !earlier(merge->heap[child], lane))
			break;
		merge->heap[at] = merge->heap[child];
		at = child;
	}
	merge->heap[at] = lane;
}

static void look_at_head(struct lane *lane)
{
	uint64_t time = lane->frames[lane->head].ts_ns;

	if (time != FT_TS_UNKNOWN)
		lane->time = time;
}

static bool refill(struct lane *lane)
{
	lane->head = 0;
	lane->count = ft_input_next(lane->input, lane->frames, LANE_FRAMES);
	if (lane->count == 0)
		return false;
	look_at_head(lane);
	return true;
}

static void refill_top(struct ft_merge *merge)
{
	merge->drained = false;
	if (!refill(merge->heap[0]))
		merge->heap[0] = merge->heap[--merge->live];
	if (merge->live > 0)
		sift_down(merge, 0);
}

static void fill_lanes(struct ft_merge *merge)
{
	merge->begun = true;
	for (size_t i = 0; i < merge->count; i++) {
		if (refill(&merge->lanes[i]))
			merge->heap[merge->live++] = &merge->lanes[i];
	}
	for (size_t at = merge->live / 2; at-- > 0;)
		sift_down(merge, at);
}

struct ft_merge *ft_merge_create(struct ft_input *inputs, size_t count)
{
	struct ft_merge *merge = calloc(1, sizeof *merge);

	if (merge == NULL)
		return NULL;
	merge->lanes = calloc(count, sizeof *merge->lanes);
	merge->heap = calloc(count, sizeof(struct lane *));
	if (merge->lanes == NULL || merge->heap == NULL) {
		ft_merge_destroy(merge);
		return NULL;
	}
	merge->count = count;
	for (size_t i = 0; i < count; i++)
		merge->lanes[i].input = &inputs[i];
	return merge;
}

/*
 * Refilling a lane moves the bytes of its earlier frames, so a burst ends where one runs dry, unless
 * the input keeps them.
 */
int ft_merge_next(struct ft_merge *merge, struct ft_frame *frames, int room)
{
	int count = 0;

	if (!merge->begun)
		fill_lanes(merge);
	if (merge->drained)
		refill_top(merge);
	while (count < room && merge->live > 0 && !merge->drained) {
		struct lane *lane = merge->heap[0];

		frames[count++] = lane->frames[lane->head++];
		if (lane->head < lane->count) {
			look_at_head(lane);
			sift_down(merge, 0);
		} else if (ft_stream_may_turn(&lane->input->stream)) {
			refill_top(merge);
		} else {
			merge->drained = true;
		}
	}
	return count;
}

void ft_merge_destroy(struct ft_merge *merge)
{
	if (merge == NULL)
		return;
	free(merge->heap);
	free(merge->lanes);
	free(merge);
}
