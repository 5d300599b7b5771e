#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <firmware-config/machine.h>

/* What a process may do and has open, as the kernel tells it. */

enum { FT_DESCRIPTOR_KINDS_MAX = 32, FT_DESCRIPTOR_KIND = 32 };

struct ft_descriptor_kind {
	/* "packet", "xdp", "netlink", "file", "pipe", "device", "anon:[eventfd]", ... */
	char name[FT_DESCRIPTOR_KIND];
	unsigned count;
};

struct ft_process_facts {
	bool status_known;     /* the next ones were read */
	uint64_t capabilities; /* effective, permitted, inheritable and ambient ones together */
	uint64_t bounding;
	unsigned no_new_privileges; /* 1: it cannot gain any */
	unsigned seccomp;           /* 2: a filter */
	bool descriptors_known;
	size_t kind_count;
	struct ft_descriptor_kind kinds[FT_DESCRIPTOR_KINDS_MAX];
};

/* What cannot be read, or is of more kinds than there is room for, is marked as not known. */
void ft_process_facts_read(const struct ft_machine *machine, pid_t process,
			   struct ft_process_facts *facts);
