#include "pcap_file.h"

enum { START_S = 1795219200 }; /* 2026-11-21T00:00:00Z, when the maps of the bench are in force */

enum { LINK_ETHERNET = 1, LINK_INFINIBAND = 247 };

void pcap_begin(FILE *file, const struct site *site)
{
	const uint32_t link = site->native ? LINK_INFINIBAND : LINK_ETHERNET;
	const uint32_t header[6] = { 0xa1b23c4d, 4 << 16 | 2, 0, 0, 262144, link };

	fwrite(header, sizeof header, 1, file);
}

void pcap_put(FILE *file, uint64_t ns, const uint8_t *frame, uint32_t size, uint32_t slice)
{
	uint32_t kept = slice != 0 && slice < size ? slice : size;
	uint32_t record[4] = { (uint32_t)(START_S + ns / 1000000000), (uint32_t)(ns % 1000000000),
			       kept, size };

	fwrite(record, sizeof record, 1, file);
	fwrite(frame, kept, 1, file);
}
