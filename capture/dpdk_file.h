#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <capture/source.h>

/* The capture file that net_pcap replays, seen with our own reader beforehand. */
struct ft_dpdk_file {
	uint64_t frames;  /* counted only if `whole` */
	uint32_t longest; /* bytes of the longest one seen */
};

/*
 * Look at the first frames, or at all of them (`whole`). 0, or -errno with *complaint: as ft_source_open_files();
 * -EOPNOTSUPP: frames are not Ethernet's, as net_pcap takes for granted.
 */
int ft_dpdk_file_look(struct ft_dpdk_file *file, const char *path, bool whole,
		      struct ft_source_complaint *complaint);
