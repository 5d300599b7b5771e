#include "live_device.h"

#include "complain.h"

#include <errno.h>
#include <string.h>

#include <capture/clock.h>

/* Frames that arrived before the stop may reach us so long after it: a driver batches for some milliseconds. */
#define SETTLE_NS UINT64_C(20000000)

uint64_t ft_live_now(void)
{
	return ft_clock_monotonic_ns();
}

struct ft_live_stop ft_live_stop_now(void)
{
	return (struct ft_live_stop){ ft_live_now(), ft_clock_wall_ns() };
}

const char *ft_stamp_name(enum ft_stamp_source source)
{
	static const char *const names[] = {
		[FT_STAMP_PROGRAM] = "program",
		[FT_STAMP_KERNEL] = "kernel",
		[FT_STAMP_ADAPTER] = "adapter",
		[FT_STAMP_FILE] = "file",
	};

	return names[source];
}

static void describe(struct ft_live_device *device)
{
	device->driver->describe(device->device, &device->facts);
	device->known->clock = ft_stamp_name(device->facts.stamps);
	device->known->clock_error_ns = device->facts.clock_error_ns;
}

int ft_live_device_open(struct ft_live_device *device, const struct ft_live_address *address,
			const struct ft_device_config *config,
			struct ft_source_complaint *complaint)
{
	struct ft_device_config own = *config;
	const struct ft_driver *driver = ft_live_driver(address, complaint);
	int error;

	if (driver == NULL)
		return -EOPNOTSUPP;
	own.address = address->device;
	error = driver->open(&device->device, &own, complaint);
	if (error != 0)
		return error;
	device->driver = driver;
	describe(device);
	device->known->kind = device->driver->kind;
	device->known->losses_unknown = !device->facts.counts_losses;
	return 0;
}

void ft_live_device_close(struct ft_live_device *device)
{
	if (device->driver != NULL)
		device->driver->close(device->device);
}

/* A frame that arrived broken is one that was not seen, as one there was no room for. */
void ft_live_device_count(struct ft_live_device *device)
{
	struct ft_device_counts counts = { 0 };

	device->driver->count(device->device, &counts);
	describe(device);
	if (counts.lost == FT_LOST_UNKNOWN) {
		device->known->losses_unknown = true;
		counts.lost = 0;
	}
	device->known->dropped = counts.lost + counts.errors;
}

static void end(struct ft_live_device *device)
{
	ft_live_device_count(device);
	device->ended = true;
}

static void end_by_error(struct ft_live_device *device, int error)
{
	struct ft_source_input *known = device->known;

	end(device);
	if (error == -ENODATA)
		return;
	known->damaged = true;
	ft_complain(known->complaint.text, sizeof known->complaint.text, known->name, "%s",
		    error == -ENODEV ? "the device has vanished: it was removed or taken down"
				     : strerror(-error));
}

/* Whether all that arrived before the stop was handed out. */
static bool is_drained(const struct ft_live_device *device, const struct ft_live_stop *stop,
		       const struct ft_frame *last)
{
	uint64_t since_ns = ft_live_now() - stop->monotonic_ns;

	if (device->facts.stamps == FT_STAMP_FILE || since_ns > FT_LIVE_STOP_MS * UINT64_C(1000000))
		return true;
	if (last == NULL)
		return since_ns > SETTLE_NS;
	return last->ts_ns != FT_TS_UNKNOWN &&
	       last->ts_ns > stop->wall_ns + device->facts.clock_error_ns;
}

int ft_live_device_receive(struct ft_live_device *device, const struct ft_live_stop *stop,
			   struct ft_frame *frames, int room)
{
	int count = device->driver->receive(device->device, frames, room);

	for (int i = 0; i < count; i++)
		frames[i].input = device->index;
	if (count < 0) {
		end_by_error(device, count);
		return 0;
	}
	if (stop->monotonic_ns != 0 &&
	    is_drained(device, stop, count > 0 ? &frames[count - 1] : NULL))
		end(device);
	return count;
}
