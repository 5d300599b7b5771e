#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "site.h"

/*
 * NCCL between the nodes of a site: rings of ranks, one to a node, all of a ring in one partition. In each channel every
 * rank sends to the next over a connection of its own. The receiver asks for messages with clear-to-sends of family E
 * (NCCL 2.24 to 2.28), as many ahead as NCCL does; each is one write that ends with an immediate, or one on each of several
 * queue pairs. Path MTU 4096, PSNs from 0, both sides acknowledge. A mirror shows it in runs of at most five frames of one half-connection, chosen at
 * random, and the ranks of a ring do not wait for each other. The same numbers give the same file, and a shorter one is
 * the beginning of a longer one.
 */
struct rings {
	const struct site *site;
	uint64_t frames;
	uint32_t rings;
	uint32_t ranks; /* of a ring: 2 .. members of a partition */
	uint32_t channels;
	uint32_t queue_pairs; /* of a connection: 1, 2, 4 or 8, which take turns with messages .. */
	bool split;           /* .. or have a part of each */
	bool ll; /* messages of protocol LL with 32 KiB, a flag in every line; else SIMPLE of 512 KiB */
	bool marked;    /* each packet for congestion, by a switch */
	uint32_t slice; /* bytes kept of each frame; 0: all */
};

static inline uint64_t rings_connections(const struct rings *rings)
{
	return (uint64_t)rings->rings * rings->ranks * rings->channels;
}

/* Two to a queue pair of each connection; so many must be below 2^24 - 256. */
static inline uint64_t rings_halves(const struct rings *rings)
{
	return 2 * rings_connections(rings) * rings->queue_pairs;
}

/* Nanosecond pcap. 0, or -errno. */
int rings_write(FILE *file, const struct rings *rings);
