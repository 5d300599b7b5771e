#pragma once

#include "verbs_port.h"

enum { FT_VERBS_COUNTERS = 5 };

/* Counters of the port that say what never became a frame, read through descriptors opened beforehand. */
struct ft_verbs_counters {
	int file[FT_VERBS_COUNTERS]; /* -1: not a file, or there is none */
	/* place among the interface's; UINT32_MAX: there is none */
	uint32_t statistic[FT_VERBS_COUNTERS];
	uint64_t first[FT_VERBS_COUNTERS]; /* at the start */
	bool known[FT_VERBS_COUNTERS];     /* had a value at the start */
	int socket;                        /* a local one: only for the kernel's statistics call */
	uint32_t statistics;               /* of the interface */
	uint64_t *values;                  /* room for all of them */
	char interface[IF_NAMESIZE];
	bool ethernet;
};

/* Open what there is; what is not there is not known. */
void ft_verbs_counters_open(struct ft_verbs_counters *counters, const struct ft_verbs_port *port);
void ft_verbs_counters_close(struct ft_verbs_counters *counters);

/* From now on. */
void ft_verbs_counters_start(struct ft_verbs_counters *counters);

/* Since the start; lost is FT_LOST_UNKNOWN as soon as one of the counters it needs cannot be read. */
void ft_verbs_counters_read(struct ft_verbs_counters *counters, struct ft_device_counts *counts);

/* The name of a counter that is needed to know losses and is not there, or NULL. */
const char *ft_verbs_counters_missing(const struct ft_verbs_counters *counters);
