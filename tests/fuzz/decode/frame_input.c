#include "frame_input.h"

#include <stdlib.h>
#include <string.h>

enum { FLAG_FCS = 1, FLAG_NO_TIME = 2, FLAG_NO_CRC = 4, RD_SHIFT = 4, CAPTURE_TIME_S = 1700000693 };

static const uint16_t link_types[] = { 1, 113, 197, 247, 276, 0 };

bool frame_input_read(const uint8_t *bytes, size_t size, struct frame_input *frame)
{
	static const struct ft_decode_config defaults = FT_DECODE_DEFAULTS;
	uint32_t captured;

	if (size < FRAME_INPUT_HEADER)
		return false;
	captured = (uint32_t)(size - FRAME_INPUT_HEADER);
	frame->bytes = malloc(captured != 0 ? captured : 1);
	if (frame->bytes == NULL)
		abort();
	memcpy(frame->bytes, bytes + FRAME_INPUT_HEADER, captured);
	frame->config = defaults;
	frame->config.rd = (enum ft_rd_reading)((bytes[1] >> RD_SHIFT) % 3);
	frame->config.check_icrc = (bytes[1] & FLAG_NO_CRC) == 0;
	frame->input = (struct ft_decode_input){
		.bytes = frame->bytes,
		.captured = captured,
		.wire = captured + (uint32_t)(bytes[2] << 8 | bytes[3]),
		.link_type = link_types[bytes[0] % (sizeof link_types / sizeof *link_types)],
		.fcs_bytes = (bytes[1] & FLAG_FCS) != 0 ? 4 : 0,
		.ts_ns = (bytes[1] & FLAG_NO_TIME) != 0 ? UINT64_MAX
							: CAPTURE_TIME_S * 1000000000ull,
	};
	return true;
}
