#include "live_merge.h"

#include <errno.h>
#include <stdlib.h>

enum {
	BURST = 256,                          /* frames fetched at a time */
	BURSTS = FT_LIVE_HOLD_FRAMES / BURST, /* held at most, of a device */
	FINISHED = 2, /* bursts of a device whose last frame is handed out in one call, at most */
};

/* A device that waits for others is asked again so soon that its bursts last for the time that frames may be held. */
#define PACE_NS (FT_LIVE_HOLD_NS / BURSTS)
/* One that has to be polled loses frames meanwhile. */
#define POLL_PACE_NS UINT64_C(20000)

struct burst {
	int at, count;        /* frames handed out, frames */
	uint64_t received_ns; /* monotonic */
	struct ft_frame frames[BURST];
};

/* A device and what was fetched from it and not handed out, as a ring of bursts. */
struct lane {
	struct ft_live_device *device;
	struct burst *bursts;
	unsigned first, held;
	unsigned finished; /* in this call */
	uint64_t time;     /* of the next frame; one without a time inherits its predecessor's */
	uint64_t asked_ns;
	bool full_burst; /* the last one was: there is more at hand */
};

struct ft_live_merge {
	struct lane *lanes;
	size_t count;
};

unsigned ft_live_merge_keep(unsigned calls)
{
	return FINISHED * calls + BURSTS;
}

struct ft_live_merge *ft_live_merge_create(struct ft_live_device *devices, size_t count)
{
	struct ft_live_merge *merge = calloc(1, sizeof *merge);

	if (merge == NULL)
		return NULL;
	merge->lanes = calloc(count, sizeof *merge->lanes);
	merge->count = merge->lanes != NULL ? count : 0;
	for (size_t i = 0; i < merge->count; i++) {
		merge->lanes[i].device = &devices[i];
		merge->lanes[i].bursts = calloc(BURSTS, sizeof *merge->lanes[i].bursts);
		if (merge->lanes[i].bursts == NULL) {
			ft_live_merge_destroy(merge);
			return NULL;
		}
	}
	if (merge->lanes != NULL)
		return merge;
	free(merge);
	return NULL;
}

void ft_live_merge_destroy(struct ft_live_merge *merge)
{
	if (merge == NULL)
		return;
	for (size_t i = 0; i < merge->count; i++)
		free(merge->lanes[i].bursts);
	free(merge->lanes);
	free(merge);
}

static struct burst *first_burst(const struct lane *lane)
{
	return &lane->bursts[lane->first];
}

static void look_at_head(struct lane *lane)
{
	const struct burst *burst = first_burst(lane);
	uint64_t ts_ns = burst->frames[burst->at].ts_ns;

	if (ts_ns != FT_TS_UNKNOWN)
		lane->time = ts_ns;
}

static bool is_due(const struct lane *lane, uint64_t now)
{
	uint64_t pace = lane->device->facts.must_poll ? POLL_PACE_NS : PACE_NS;

	if (lane->device->ended || lane->held == BURSTS)
		return false;
	return lane->held == 0 || lane->full_burst || now - lane->asked_ns >= pace;
}

static bool fetch(struct lane *lane, const struct ft_live_stop *stop, uint64_t now)
{
	struct burst *burst = &lane->bursts[(lane->first + lane->held) % BURSTS];
	int count = ft_live_device_receive(lane->device, stop, burst->frames, BURST);

	lane->asked_ns = now;
	lane->full_burst = count == BURST;
	if (count == 0)
		return false;
	burst->at = 0;
	burst->count = count;
	burst->received_ns = now;
	if (lane->held++ == 0)
		look_at_head(lane);
	return true;
}

/* Whether frames have their turn even though a device is silent: one has waited, or waits with, long enough. */
static bool presses(const struct lane *lane, uint64_t now)
{
	return lane->held == BURSTS ||
	       (lane->held > 0 && now - first_burst(lane)->received_ns >= FT_LIVE_HOLD_NS);
}

static bool is_silent(const struct lane *lane)
{
	return lane->held == 0 && !lane->device->ended;
}

static bool may_hand_out(const struct ft_live_merge *merge, uint64_t now)
{
	bool silent = false, pressing = false;

	for (size_t i = 0; i < merge->count; i++) {
		silent = silent || is_silent(&merge->lanes[i]);
		pressing = pressing || presses(&merge->lanes[i], now);
	}
	return !silent || pressing;
}

/* The lane whose turn it is, the first of those on a tie, and until which time it is; NULL: nothing is held. */
static struct lane *earliest(const struct ft_live_merge *merge, uint64_t *until)
{
	struct lane *best = NULL;

	*until = UINT64_MAX;
	for (size_t i = 0; i < merge->count; i++) {
		struct lane *lane = &merge->lanes[i];

		if (lane->held == 0)
			continue;
		if (best == NULL || lane->time < best->time) {
			*until = best != NULL ? best->time - 1 : UINT64_MAX;
			best = lane;
		} else if (lane->time < *until) {
			*until = lane->time;
		}
	}
	return best;
}

/* Frames of one lane in a row, as long as it stays the earliest; ends with a burst. */
static int take_run(struct lane *lane, uint64_t until, struct ft_frame *frames, int room)
{
	struct burst *burst = first_burst(lane);
	int count = 0;

	while (count < room && lane->time <= until) {
		frames[count++] = burst->frames[burst->at++];
		if (burst->at == burst->count) {
			lane->first = (lane->first + 1) % BURSTS;
			lane->held--;
			lane->finished++;
			if (lane->held > 0)
				look_at_head(lane);
			break;
		}
		look_at_head(lane);
	}
	return count;
}

static bool has_ended(const struct ft_live_merge *merge)
{
	for (size_t i = 0; i < merge->count; i++)
		if (merge->lanes[i].held > 0 || !merge->lanes[i].device->ended)
			return false;
	return true;
}

int ft_live_merge_next(struct ft_live_merge *merge, const struct ft_live_stop *stop,
		       struct ft_frame *frames, int room, bool *fetched)
{
	uint64_t now = ft_live_now();
	int count = 0;

	*fetched = false;
	for (size_t i = 0; i < merge->count; i++) {
		merge->lanes[i].finished = 0;
		if (is_due(&merge->lanes[i], now))
			*fetched = fetch(&merge->lanes[i], stop, now) || *fetched;
	}
	while (count < room && may_hand_out(merge, now)) {
		uint64_t until;
		struct lane *lane = earliest(merge, &until);

		if (lane == NULL || lane->finished == FINISHED)
			break;
		count += take_run(lane, until, frames + count, room - count);
	}
	return count > 0 || !has_ended(merge) ? count : -ENODATA;
}
