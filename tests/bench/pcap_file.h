#pragma once

#include <stdint.h>
#include <stdio.h>

#include "site.h"

/* A nanosecond pcap file of a site's frames, in this machine's byte order. Errors stay with the stream. */

void pcap_begin(FILE *file, const struct site *site);

/* A frame of `size` bytes, `ns` after midnight of the day that the maps of the bench are made for; `slice`: 0, or bytes kept. */
void pcap_put(FILE *file, uint64_t ns, const uint8_t *frame, uint32_t size, uint32_t slice);
