#pragma once

#include <stdbool.h>
#include <stdint.h>

#define FT_TS_UNKNOWN UINT64_MAX

/* LINKTYPE_ values that the readers hand on; any other number is passed through unchanged. */
enum ft_link_type {
	FT_LINK_ETHERNET = 1,
	FT_LINK_SLL = 113,
	FT_LINK_ERF = 197,
	FT_LINK_INFINIBAND = 247,
	FT_LINK_SLL2 = 276,
};

/* Direction as pcapng's epb_flags state it (bits 0-1). */
enum ft_direction { FT_DIRECTION_UNKNOWN = 0, FT_DIRECTION_IN = 1, FT_DIRECTION_OUT = 2 };

/*
 * One captured record. Everything is in host byte order except the bytes themselves, which are
 * borrowed from the source: they stay readable until the next call of ft_source_next() on it, or
 * longer, see ft_source_keep(). 64 bytes: a cache line each where the first of a row begins one.
 */
struct ft_frame {
	_Alignas(16) const uint8_t *bytes;
	uint32_t captured;  /* bytes at `bytes` */
	uint32_t original;  /* length before cutting, as the container states it; >= captured */
	uint32_t wire;      /* length on the wire that totals count: `original`, for ERF its wlen */
	uint16_t link_type; /* enum ft_link_type, or another LINKTYPE_ value */
	uint8_t direction;  /* enum ft_direction */
	uint8_t fcs_bytes; /* trailing FCS announced by the container: 0 or 4 (pcap header, if_fcslen, epb_flags) */
	/* since 1970; the ERF record's own time for ERF; FT_TS_UNKNOWN if it has none */
	uint64_t ts_ns;
	/* from 1, in the order in which this source hands them out, over all its inputs */
	uint64_t number;
	uint32_t input;     /* index of the input (file, device) it came from: ft_source_input() */
	uint32_t section;   /* pcapng section, from 0 */
	uint32_t interface; /* pcapng interface within the section, else 0 */
	bool is_pcapng;     /* section and interface mean something */
};
