#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "site.h"

/*
 * RDMA between the nodes of a site: reliable connections on which both sides write, read and acknowledge, seen in
 * runs of four frames per half-connection; each run is answered some runs later, in a day within 32 frames. PSNs, message
 * boundaries, acknowledgements, ICRCs and IP checksums are right, and stay so when the file ends early. Nothing is lost, unless a
 * mirror that loses frames is asked for. The same numbers give the same file.
 */
struct traffic {
	const struct site *site;
	uint64_t frames; /* lost ones included */
	uint32_t flows;  /* half-connections at a time: even, 2 .. 2^24 - 256 */
	/* bytes per data packet: an MTU (256, 512, 1024, 2048, 4096), or a multiple of 4 below 256 */
	uint32_t payload;
	uint32_t slice; /* bytes kept of each frame; 0: all */
	bool in_turn;   /* connections one after the other instead of at random */
	/* frames in 24 hours, in whose course connections come and go after 10 minutes; 0: one per 100 ns */
	uint64_t day;
	double loss;    /* share of the frames that the mirror loses, 0 .. below 1 */
	uint32_t burst; /* so many in a row, from 1 */
	bool mirrored;  /* a switch sends on what is kept of each frame, in ERSPAN II; not native */
	bool overlay; /* the fabric carries frames in VXLAN; a slice keeps that, too; not native */
	bool damaged; /* each ICRC is wrong, as behind a mirror that rewrites headers */
};

/* Nanosecond pcap; *lost: frames left out. 0, or -errno. */
int traffic_write(FILE *file, const struct traffic *traffic, uint64_t *lost);
