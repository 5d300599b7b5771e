#include "live_parts.h"

#include "complain.h"
#include "live_merge.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_EVERY = 256 }; /* calls that return frames at once, between looks at the clock */

#define COUNT_EVERY_NS UINT64_C(1000000000)
#define NS_PER_MS      UINT64_C(1000000)

static int refuse(struct ft_source_complaint *complaint, const char *name, int error,
		  const char *why)
{
	ft_complain(complaint->text, sizeof complaint->text, name, "%s", why);
	return error;
}

static int check_addresses(const struct ft_live_address *addresses, size_t count,
			   const struct ft_live_config *config,
			   struct ft_source_complaint *complaint)
{
	if (count == 0)
		return refuse(complaint, "source", -EINVAL, "no device is named");
	if (count > FT_LIVE_DEVICES_MAX)
		return refuse(complaint, addresses[FT_LIVE_DEVICES_MAX].name, -EINVAL,
			      "too many devices");
	if (config->keep == 0 || config->keep > FT_SOURCE_KEEP_MAX)
		return refuse(complaint, addresses[0].name, -EINVAL,
			      "frames cannot be kept for that many calls");
	for (size_t i = 1; i < count; i++)
		for (size_t other = 0; other < i; other++)
			if (strcmp(addresses[i].name, addresses[other].name) == 0)
				return refuse(complaint, addresses[i].name, -EINVAL,
					      "is named twice");
	return 0;
}

static struct ft_source *create(size_t count)
{
	struct ft_source *source = ft_source_create(count);
	struct ft_live *live = calloc(1, sizeof *live);

	if (source != NULL && live != NULL) {
		source->live = live;
		live->devices = calloc(count, sizeof *live->devices);
		if (live->devices != NULL)
			return source;
	} else {
		free(live);
	}
	ft_source_close(source);
	return NULL;
}

static int name_input(struct ft_input *input, const char *name)
{
	*input = (struct ft_input){ .fd = -1 };
	input->known.first_ts_ns = input->known.last_ts_ns = FT_TS_UNKNOWN;
	input->known.name = strdup(name);
	return input->known.name != NULL ? 0 : -ENOMEM;
}

static int open_device(struct ft_source *source, const struct ft_live_address *address,
		       const struct ft_device_config *config, struct ft_source_complaint *complaint)
{
	struct ft_live *live = source->live;
	struct ft_live_device *device = &live->devices[live->count];
	struct ft_input *input = &source->inputs[live->count];

	if (name_input(input, address->name) != 0)
		return refuse(complaint, address->name, -ENOMEM, "no memory");
	input->index = device->index = (uint32_t)live->count++;
	source->count = live->count;
	device->known = &input->known;
	return ft_live_device_open(device, address, config, complaint);
}

static int open_all(struct ft_source *source, const struct ft_live_address *addresses, size_t count,
		    const struct ft_live_config *config, struct ft_source_complaint *complaint)
{
	struct ft_live *live = source->live;
	const struct ft_device_config each = {
		.snap = config->snap,
		.filter = config->filter,
		.buffer_bytes = config->buffer_bytes,
		.keep = count == 1 ? config->keep : ft_live_merge_keep(config->keep),
		.allow_tx_queue = config->allow_tx_queue,
		.verbose = config->verbose,
	};
	int error = 0;

	live->keep = config->keep;
	for (size_t i = 0; i < count && error == 0; i++)
		error = open_device(source, &addresses[i], &each, complaint);
	if (error != 0 || count == 1)
		return error;
	live->merge = ft_live_merge_create(live->devices, count);
	return live->merge != NULL ? 0 : refuse(complaint, addresses[0].name, -ENOMEM, "no memory");
}

int ft_live_open_devices(struct ft_source **source, const struct ft_live_address *addresses,
			 size_t count, const struct ft_live_config *config,
			 struct ft_source_complaint *complaint)
{
	struct ft_source *opened;
	int error = check_addresses(addresses, count, config, complaint);

	if (error != 0)
		return error;
	opened = create(count);
	if (opened == NULL)
		return refuse(complaint, addresses[0].name, -ENOMEM, "no memory");
	error = open_all(opened, addresses, count, config, complaint);
	if (error != 0) {
		ft_source_close(opened);
		return error;
	}
	*source = opened;
	return 0;
}

int ft_live_open(struct ft_source **source, const char *const *addresses, size_t count,
		 const struct ft_live_config *config, struct ft_source_complaint *complaint)
{
	struct ft_live_address read[FT_LIVE_DEVICES_MAX + 1] = { 0 };

	for (size_t i = 0; i < count && i <= FT_LIVE_DEVICES_MAX; i++)
		if (!ft_live_address_read(&read[i], addresses[i]))
			return refuse(complaint, addresses[i], -EINVAL,
				      "not a live source: pcap:, dpdk: or verbs: and a device");
	return ft_live_open_devices(source, read, count, config, complaint);
}

int ft_live_start(struct ft_source *source, struct ft_source_complaint *complaint)
{
	struct ft_live *live = source->live;
	int error = 0;

	assert(live != NULL);
	for (size_t i = 0; i < live->count && error == 0; i++)
		error = live->devices[i].driver->start(live->devices[i].device, complaint);
	live->counted_ns = ft_live_now();
	return error;
}

void ft_source_stop(struct ft_source *source)
{
	if (source->live != NULL)
		atomic_store_explicit(&source->live->stopping, true, memory_order_relaxed);
}

static void count_all(struct ft_live *live)
{
	for (size_t i = 0; i < live->count; i++)
		if (!live->devices[i].ended)
			ft_live_device_count(&live->devices[i]);
}

const struct ft_device_facts *ft_live_facts(const struct ft_source *source, size_t index)
{
	if (source->live == NULL || index >= source->live->count)
		return NULL;
	return &source->live->devices[index].facts;
}

/* Seldom: what depends on the clock. */
__attribute__((noinline)) static uint64_t look_at_clock(struct ft_live *live)
{
	uint64_t now = ft_live_now();

	live->calls_since_look = 0;
	if (now - live->counted_ns < COUNT_EVERY_NS)
		return now;
	count_all(live);
	live->counted_ns = now;
	return now;
}

static bool is_stopping(struct ft_live *live)
{
	if (!atomic_load_explicit(&live->stopping, memory_order_relaxed))
		return false;
	if (live->stop.monotonic_ns == 0)
		live->stop = ft_live_stop_now();
	return true;
}

static bool must_poll(const struct ft_live *live)
{
	for (size_t i = 0; i < live->count; i++)
		if (!live->devices[i].ended && live->devices[i].facts.must_poll)
			return true;
	return false;
}

/* Wait for the only device, or for each of several for a moment. None may sleep if one must be polled. */
static void sleep_a_little(const struct ft_live *live, uint64_t left_ns)
{
	int ms = live->count == 1 ? (int)(left_ns / NS_PER_MS) + 1 : 1;

	if (must_poll(live))
		ms = 0;
	for (size_t i = 0; i < live->count; i++)
		if (!live->devices[i].ended)
			live->devices[i].driver->wait(live->devices[i].device, ms);
}

/* Frames whose turn it is; *idle: nothing came from any device. */
static int fetch(struct ft_live *live, struct ft_frame *frames, int room, bool *idle)
{
	struct ft_live_device *only = &live->devices[0];
	bool fetched = false;
	int count;

	if (live->merge != NULL) {
		count = ft_live_merge_next(live->merge, &live->stop, frames, room, &fetched);
		*idle = !fetched;
		return count;
	}
	count = only->ended ? 0 : ft_live_device_receive(only, &live->stop, frames, room);
	*idle = count == 0;
	return count == 0 && only->ended ? -ENODATA : count;
}

__attribute__((noinline)) static int fetch_patiently(struct ft_live *live, struct ft_frame *frames,
						     int room)
{
	uint64_t now = look_at_clock(live), end = now + FT_LIVE_WAIT_MS * NS_PER_MS;

	while (now < end) {
		bool idle;
		int count = fetch(live, frames, room, &idle);

		if (count != 0)
			return count;
		if (idle)
			sleep_a_little(live, is_stopping(live) ? 0 : end - now);
		now = look_at_clock(live);
	}
	return 0;
}

int ft_live_next(struct ft_live *live, struct ft_frame *frames, int room)
{
	bool idle;
	int count;

	is_stopping(live);
	count = fetch(live, frames, room, &idle);
	if (count > 0 && ++live->calls_since_look == LOOK_EVERY)
		look_at_clock(live);
	return count != 0 ? count : fetch_patiently(live, frames, room);
}

void ft_live_close(struct ft_live *live)
{
	if (live == NULL)
		return;
	ft_live_merge_destroy(live->merge);
	for (size_t i = 0; i < live->count; i++)
		ft_live_device_close(&live->devices[i]);
	free(live->devices);
	free(live);
}
