#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest frames: jumbo ones in a mirror's encapsulation; MTU 4096 with every InfiniBand header. */
enum { LONGEST_ETHERNET = 10240, LONGEST_INFINIBAND = 4608 };

static int refuse_filter(const struct ft_device_config *config,
			 struct ft_source_complaint *complaint)
{
	struct ft_verbs_port named;

	snprintf(named.source, sizeof named.source, "verbs:%s", config->address);
	return ft_verbs_refuse(&named, complaint, -EOPNOTSUPP,
			       "has no kernel filter: leave -f out, or use pcap:");
}

static int create_ring(struct ft_verbs *verbs, const struct ft_device_config *config,
		       struct ft_source_complaint *complaint)
{
	struct ft_verbs_ring_config wanted = {
		.snap = config->snap,
		.bytes = config->buffer_bytes,
		.keep = config->keep,
		.longest =
			ft_verbs_is_ethernet(&verbs->port) ? LONGEST_ETHERNET : LONGEST_INFINIBAND,
		.buffers_max = ft_verbs_queue_buffers_max(&verbs->port),
		.parts_max = ft_verbs_queue_parts_max(&verbs->port),
	};
	int error = ft_verbs_ring_create(&verbs->ring, &wanted);

	if (error == -EINVAL)
		return ft_verbs_refuse(&verbs->port, complaint, error,
				       "--buffer is too small for a receive ring");
	if (error != 0)
		return ft_verbs_refuse(&verbs->port, complaint, error,
				       "no memory for receive buffers");
	return 0;
}

/* What the device tells unasked must not make anybody wait. */
static void make_events_nonblocking(const struct ft_verbs_port *port)
{
	fcntl(port->context->async_fd, F_SETFL,
	      fcntl(port->context->async_fd, F_GETFL) | O_NONBLOCK);
}

/* Whether the kernel interface beside the port takes frames to other stations; true if that is not known. */
static bool takes_all(const struct ft_verbs *verbs)
{
	char path[64], flags[32];
	FILE *file;
	bool all = true;

	if (verbs->port.interface[0] == '\0')
		return true;
	snprintf(path, sizeof path, "/sys/class/net/%s/flags", verbs->port.interface);
	file = fopen(path, "re");
	if (file == NULL)
		return true;
	if (fgets(flags, sizeof flags, file) != NULL)
		all = (strtoul(flags, NULL, 16) & IFF_PROMISC) != 0;
	fclose(file);
	return all;
}

static int open_port(struct ft_verbs *verbs, const struct ft_device_config *config,
		     struct ft_source_complaint *complaint)
{
	bool stamped;
	int error = ft_verbs_port_open(&verbs->port, config->address, complaint);

	if (error != 0)
		return error;
	make_events_nonblocking(&verbs->port);
	error = create_ring(verbs, config, complaint);
	if (error != 0)
		goto close_port;
	stamped = ft_verbs_clock_start(&verbs->clock, verbs->port.context, &verbs->port.limits);
	error = ft_verbs_queue_open(&verbs->queue, &verbs->port, &verbs->ring, stamped, complaint);
	if (error != 0)
		goto destroy_ring;
	ft_verbs_counters_open(&verbs->counters, &verbs->port);
	ft_verbs_counters_start(&verbs->counters);
	ft_verbs_tables_read(&verbs->tables, &verbs->port);
	verbs->link_type =
		ft_verbs_is_ethernet(&verbs->port) ? FT_LINK_ETHERNET : FT_LINK_INFINIBAND;
	verbs->port_down = verbs->port.attr.state != IBV_PORT_ACTIVE;
	verbs->promiscuous = takes_all(verbs);
	return 0;
destroy_ring:
	ft_verbs_ring_destroy(&verbs->ring);
close_port:
	ft_verbs_port_close(&verbs->port);
	return error;
}

static int verbs_open(void **device, const struct ft_device_config *config,
		      struct ft_source_complaint *complaint)
{
	struct ft_verbs *verbs;
	int error;

	if (config->filter != NULL)
		return refuse_filter(config, complaint);
	verbs = calloc(1, sizeof *verbs + FT_VERBS_NOTE);
	if (verbs == NULL)
		return -ENOMEM;
	verbs->note = (char *)(verbs + 1);
	error = open_port(verbs, config, complaint);
	if (error != 0) {
		free(verbs);
		return error;
	}
	*device = verbs;
	return 0;
}

static int verbs_start(void *device, struct ft_source_complaint *complaint)
{
	struct ft_verbs *verbs = device;

	ft_verbs_counters_start(&verbs->counters);
	return ft_verbs_queue_start(&verbs->queue, complaint);
}

static void verbs_wait(void *device, int ms)
{
	struct ft_verbs *verbs = device;

	if (verbs->gone != NULL || verbs->ring.taken != verbs->ring.lent)
		return;
	ft_verbs_queue_wait(&verbs->queue, ms);
	verbs->look_around = 0;
}

/*
 * A device that ran out of buffers and counted nothing for it is not believed; and while the queue pair
 * stood still, nobody counted.
 */
static void verbs_count(void *device, struct ft_device_counts *counts)
{
	struct ft_verbs *verbs = device;

	ft_verbs_counters_read(&verbs->counters, counts);
	if (verbs->restarts != 0 || (verbs->starved != 0 && counts->lost == 0))
		counts->lost = FT_LOST_UNKNOWN;
	counts->errors += verbs->errors;
}

/* One sentence put together of several. */
struct sentence {
	char *text;
	size_t size, used;
};

static __attribute__((format(printf, 2, 3))) void say(struct sentence *sentence, const char *format,
						      ...)
{
	size_t left = sentence->size - sentence->used;
	va_list values;
	int length;

	if (sentence->used != 0 && left > 2) {
		memcpy(sentence->text + sentence->used, "; ", 3);
		sentence->used += 2;
		left -= 2;
	}
	va_start(values, format);
	length = vsnprintf(sentence->text + sentence->used, left, format, values);
	va_end(values);
	sentence->used += length > 0 && (size_t)length < left ? (size_t)length : 0;
}

static void write_note(const struct ft_verbs *verbs, char *text, size_t size)
{
	struct sentence note = { .text = text, .size = size };
	const char *missing = ft_verbs_counters_missing(&verbs->counters);

	text[0] = '\0';
	if (verbs->gone != NULL)
		say(&note, "%s", verbs->gone);
	if (verbs->port_down)
		say(&note, "the port is down");
	if (!verbs->promiscuous)
		say(&note, "%s is not promiscuous, so frames to other stations may be missing",
		    verbs->port.interface);
	if (missing != NULL)
		say(&note, "losses are not known: no counter %s", missing);
	if (verbs->starved != 0)
		say(&note, "the device ran out of receive buffers: raise --buffer");
	if (verbs->restarts != 0)
		say(&note, "the queue pair stopped on an error and was started again %llu times",
		    (unsigned long long)verbs->restarts);
	if (verbs->odd_stamps != 0)
		say(&note, "the device's clock jumped: %llu frames have the program's time",
		    (unsigned long long)verbs->odd_stamps);
	if (verbs->tables_changed)
		say(&note, "P_Keys, GIDs or LID of the port changed");
}

static void verbs_describe(const void *device, struct ft_device_facts *facts)
{
	const struct ft_verbs *verbs = device;

	*facts = (struct ft_device_facts){
		.driver = verbs->port.driver,
		.interface = verbs->port.interface[0] != '\0' ? verbs->port.interface : NULL,
		.counts_losses = ft_verbs_counters_missing(&verbs->counters) == NULL,
		.stamps = verbs->queue.stamped != NULL ? FT_STAMP_ADAPTER : FT_STAMP_PROGRAM,
		.clock_error_ns = verbs->queue.stamped != NULL ? verbs->clock.error_ns : 0,
	};
	write_note(verbs, verbs->note, FT_VERBS_NOTE);
	facts->identities = verbs->tables.lines;
	facts->note = verbs->note[0] != '\0' ? verbs->note : NULL;
}

static void verbs_close(void *device)
{
	struct ft_verbs *verbs = device;

	if (verbs == NULL)
		return;
	ft_verbs_queue_close(&verbs->queue);
	ft_verbs_ring_destroy(&verbs->ring);
	ft_verbs_counters_close(&verbs->counters);
	ft_verbs_port_close(&verbs->port);
	free(verbs);
}

const struct ft_driver ft_driver_verbs = {
	.kind = "verbs",
	.open = verbs_open,
	.start = verbs_start,
	.receive = ft_verbs_receive,
	.wait = verbs_wait,
	.count = verbs_count,
	.describe = verbs_describe,
	.close = verbs_close,
	.list = ft_verbs_list,
};
