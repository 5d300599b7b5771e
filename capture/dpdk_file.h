#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <capture/source.h>

/* The capture file that net_pcap replays, seen with our own reader beforehand. */
struct ft_dpdk_file {
	uint64_t frames;
	uint32_t longest; /* bytes captured of the longest one */
	/* length of each before it was cut, which net_pcap forgets; owned; NULL: none */
	uint32_t *originals;
};

/*
 * Read it once. 0, or -errno with *complaint: as ft_source_open_files(); -EOPNOTSUPP: frames are not Ethernet's, as
 * net_pcap takes for granted; -ENOMEM.
 */
int ft_dpdk_file_look(struct ft_dpdk_file *file, const char *path,
		      struct ft_source_complaint *complaint);
