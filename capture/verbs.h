#pragma once

#include "verbs_clock.h"
#include "verbs_counters.h"
#include "verbs_port.h"
#include "verbs_queue.h"
#include "verbs_ring.h"
#include "verbs_tables.h"

enum { FT_VERBS_NOTE = 512 };

/* A raw-packet queue pair that hears what a port of an RDMA device hears. */
struct ft_verbs {
	struct ft_verbs_port port;
	struct ft_verbs_ring ring;
	struct ft_verbs_queue queue;
	struct ft_verbs_clock clock;
	struct ft_verbs_counters counters;
	struct ft_verbs_tables tables;
	uint16_t link_type;
	uint64_t look_around; /* calls of receive() until events and clock are looked at again */

	bool stopped;     /* the queue pair: its buffers come back without frames */
	const char *gone; /* why there will be no more frames; NULL: there may be */
	bool port_down;
	bool tables_changed; /* since they were read */
	uint64_t restarts;   /* of the queue pair */
	uint64_t starved;    /* times that the device was seen without buffers */
	uint64_t odd_stamps; /* completions with an impossible time, which got the program's */
	uint64_t errors;     /* completions with an error */
	bool promiscuous;    /* the kernel interface, as far as known */
	char *note;          /* FT_VERBS_NOTE bytes; the last one that was asked for */
};

/* As ft_driver.receive(). */
int ft_verbs_receive(void *device, struct ft_frame *frames, int room);

/* Take notice of what the device has to tell besides frames. */
void ft_verbs_events_take(struct ft_verbs *verbs);
