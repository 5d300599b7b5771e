#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "live_line.h"

/*
 * A process of its own that receives from live sources as every verb does, without rights, and keeps nothing.
 * The caller keeps its rights, and can look at what the process has.
 */
struct ft_receiver {
	pid_t process;
	int told; /* read end: what the process tells */
};

/* Of its first source, once it receives. */
struct ft_receiver_facts {
	char interface[16]; /* "": none, or not known */
	char driver[64];
	unsigned transmit_queues;
};

struct ft_receiver_end {
	uint64_t frames;
	bool lasted; /* the sources received until they were stopped */
};

/* 0 once all sources receive and the rights are gone; or -errno, told, and no process is left. */
int ft_receiver_start(struct ft_receiver *receiver, struct ft_live_line *line,
		      struct ft_receiver_facts *facts);

/* Wait until the time is over, a source ended, or somebody interrupts. */
void ft_receiver_wait(const struct ft_receiver *receiver, uint64_t duration_ns);

/* Stop and close the sources; the process is gone then. One that did not end as it should has not lasted. */
void ft_receiver_stop(struct ft_receiver *receiver, struct ft_receiver_end *end);
