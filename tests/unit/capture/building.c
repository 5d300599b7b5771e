#include "building.h"

#include <stdlib.h>
#include <string.h>

void build_free(struct building *building)
{
	free(building->bytes);
	*building = (struct building){ 0 };
}

static uint8_t *grow(struct building *building, size_t size)
{
	if (building->size + size > building->room) {
		building->room = 2 * (building->size + size);
		building->bytes = realloc(building->bytes, building->room);
		if (building->bytes == NULL)
			abort();
	}
	building->size += size;
	return building->bytes + building->size - size;
}

void put_bytes(struct building *building, const void *bytes, size_t size)
{
	if (size > 0)
		memcpy(grow(building, size), bytes, size);
}

void put_fill(struct building *building, uint8_t value, size_t size)
{
	if (size > 0)
		memset(grow(building, size), value, size);
}

static void put_number(struct building *building, uint64_t value, unsigned size)
{
	uint8_t *at = grow(building, size);

	for (unsigned i = 0; i < size; i++) {
		unsigned byte = building->big ? size - 1 - i : i;

		at[i] = (uint8_t)(value >> 8 * byte);
	}
}

void put8(struct building *building, unsigned value)
{
	put_number(building, value, 1);
}

void put16(struct building *building, unsigned value)
{
	put_number(building, value, 2);
}

void put32(struct building *building, uint32_t value)
{
	put_number(building, value, 4);
}

void put64(struct building *building, uint64_t value)
{
	put_number(building, value, 8);
}

void put_pcap_header(struct building *building, uint32_t magic, unsigned minor, uint32_t link)
{
	put32(building, magic);
	put16(building, 2);
	put16(building, minor);
	put64(building, 0);
	put32(building, 65535);
	put32(building, link);
}

void put_pcap_record(struct building *building, uint32_t seconds, uint32_t fraction,
		     uint32_t captured, uint32_t original, uint8_t fill)
{
	put32(building, seconds);
	put32(building, fraction);
	put32(building, captured);
	put32(building, original);
	put_fill(building, fill, captured);
}

size_t begin_block(struct building *building, uint32_t type)
{
	size_t begin = building->size;

	put32(building, type);
	put32(building, 0);
	return begin;
}

void end_block(struct building *building, size_t begin)
{
	uint32_t length;
	size_t end;

	put_fill(building, 0, -building->size & 3);
	length = (uint32_t)(building->size + 4 - begin);
	put32(building, length);
	end = building->size;
	building->size = begin + 4;
	put32(building, length);
	building->size = end;
}

void put_section(struct building *building, bool big)
{
	size_t begin;

	building->big = big;
	begin = begin_block(building, 0x0a0d0d0a);
	put32(building, 0x1a2b3c4d);
	put16(building, 1);
	put16(building, 0);
	put64(building, UINT64_MAX);
	end_block(building, begin);
}

void put_interface(struct building *building, unsigned link_type, uint32_t snaplen)
{
	size_t begin = begin_block(building, 1);

	put16(building, link_type);
	put16(building, 0);
	put32(building, snaplen);
	end_block(building, begin);
}

void put_option(struct building *building, unsigned code, const void *value, unsigned length)
{
	put16(building, code);
	put16(building, length);
	put_bytes(building, value, length);
	put_fill(building, 0, -length & 3);
}

void put_enhanced(struct building *building, uint32_t interface, uint64_t ticks, uint32_t captured,
		  uint32_t original, uint8_t fill)
{
	size_t begin = begin_block(building, 6);

	put32(building, interface);
	put32(building, (uint32_t)(ticks >> 32));
	put32(building, (uint32_t)ticks);
	put32(building, captured);
	put32(building, original);
	put_fill(building, fill, captured);
	end_block(building, begin);
}

void put_erf_header(struct building *building, uint64_t time, unsigned type, unsigned rlen,
		    unsigned lctr, unsigned wlen)
{
	building->big = false;
	put64(building, time);
	building->big = true;
	put8(building, type);
	put8(building, 4);
	put16(building, rlen);
	put16(building, lctr);
	put16(building, wlen);
}
