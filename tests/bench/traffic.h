#pragma once

#include <stdint.h>
#include <stdio.h>

#include "site.h"

/*
 * RoCEv2 between the nodes of a site: reliable connections on which both sides write, read and acknowledge, seen in
 * runs of four frames per half-connection. PSNs, message boundaries, ICRCs and IP checksums are right; there is no
 * loss. The same numbers give the same file.
 */
struct traffic {
	const struct site *site;
	uint64_t frames;
	uint32_t flows; /* half-connections: even, 2 .. 2^24 - 256 */
	uint32_t
		payload; /* bytes per data packet: an MTU (256, 512, 1024, 2048, 4096), or a multiple of 4 below 256 */
	uint32_t slice; /* bytes kept of each frame; 0: all */
};

/* Nanosecond pcap. 0, or -errno. */
int traffic_write(FILE *file, const struct traffic *traffic);
