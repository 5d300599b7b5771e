#include "extcap_erf.h"

#include <decode/extremes.h>

#include <string.h>

enum { HEADER = 16, INFINIBAND = 21, VARYING_LENGTH = 1 << 2 };

static void put_be16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

/* Seconds since 1970 in the upper half, little-endian: the only field that is. */
static void put_time(uint8_t *at, uint64_t ns)
{
	uint64_t seconds = ns / 1000000000, rest = ns % 1000000000;
	uint64_t stamp = seconds << 32 | (rest << 32) / 1000000000;

	for (int i = 0; i < 8; i++)
		at[i] = (uint8_t)(stamp >> 8 * i);
}

struct ft_frame ft_extcap_frame(const struct ft_frame *frame, uint8_t record[FT_EXTCAP_RECORD])
{
	struct ft_frame written = *frame;
	uint32_t kept = ft_smaller(frame->captured, FT_EXTCAP_RECORD - HEADER);

	if (frame->link_type != FT_LINK_INFINIBAND)
		return written;
	memset(record, 0, HEADER);
	put_time(record, frame->ts_ns != FT_TS_UNKNOWN ? frame->ts_ns : 0);
	record[8] = INFINIBAND;
	record[9] = VARYING_LENGTH;
	put_be16(record + 10, HEADER + kept);
	put_be16(record + 14, ft_smaller(frame->original, UINT16_MAX));
	memcpy(record + HEADER, frame->bytes, kept);
	written.bytes = record;
	written.captured = HEADER + kept;
	written.original = HEADER + frame->original;
	written.link_type = FT_LINK_ERF;
	return written;
}
