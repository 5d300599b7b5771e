#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A capture file put together in memory, number by number, in either byte order. */
struct building {
	uint8_t *bytes;
	size_t size, room;
	bool big;
};

void build_free(struct building *building);

void put_bytes(struct building *building, const void *bytes, size_t size);
void put_fill(struct building *building, uint8_t value, size_t size);
void put8(struct building *building, unsigned value);
void put16(struct building *building, unsigned value);
void put32(struct building *building, uint32_t value);
void put64(struct building *building, uint64_t value);

/* pcap: magic as a number; `link` with its FCS bits. Frames are filled with `fill`. */
void put_pcap_header(struct building *building, uint32_t magic, unsigned minor, uint32_t link);
void put_pcap_record(struct building *building, uint32_t seconds, uint32_t fraction,
		     uint32_t captured, uint32_t original, uint8_t fill);

/* pcapng: a block from its type on; the closing call patches both lengths. */
size_t begin_block(struct building *building, uint32_t type);
void end_block(struct building *building, size_t begin);
void put_section(struct building *building, bool big);
void put_interface(struct building *building, unsigned link_type, uint32_t snaplen);
void put_option(struct building *building, unsigned code, const void *value, unsigned length);
void put_enhanced(struct building *building, uint32_t interface, uint64_t ticks, uint32_t captured,
		  uint32_t original, uint8_t fill);

/* ERF header; the caller puts rlen - 16 bytes after it. */
void put_erf_header(struct building *building, uint64_t time, unsigned type, unsigned rlen,
		    unsigned lctr, unsigned wlen);
