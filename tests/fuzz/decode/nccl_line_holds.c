/*
 * Any data write as lines: what is read carries its flag at the end of every line that was counted, and a write that is
 * read whole is not refused when it is cut.
 */
#undef NDEBUG
#include <assert.h>
#include <string.h>

#include <decode/little_endian.h>
#include <decode/nccl.h>

#include "../holds.h"

enum { LL = 0 };

static enum ft_nccl_verdict read_lines(const struct ft_nccl_write *write, uint32_t line_bytes,
				       struct ft_nccl_lines *lines)
{
	return line_bytes == LL ? ft_nccl_ll_read(write, lines)
				: ft_nccl_ll128_read(write, line_bytes, lines);
}

static void lines_hold(const struct ft_nccl_write *whole, uint32_t line_bytes, uint32_t captured)
{
	uint32_t bytes = line_bytes == LL ? FT_NCCL_LL_LINE : line_bytes;
	struct ft_nccl_lines lines = { .flag = 0 }, part = { .flag = 0 };
	struct ft_nccl_write cut = { whole->bytes, captured, whole->length };

	if (read_lines(whole, line_bytes, &lines) != FT_NCCL_READ) {
		assert(lines.flag == 0);
		return;
	}
	assert(lines.flag != 0 && lines.lines != 0 && lines.lines <= whole->captured / bytes);
	assert(lines.data_most < whole->length);
	for (uint32_t i = 1; i <= lines.lines; i++)
		assert(ft_le32(whole->bytes + (size_t)i * bytes - (line_bytes == LL ? 4 : 8)) ==
		       (uint32_t)lines.flag);
	if (read_lines(&cut, line_bytes, &part) == FT_NCCL_READ)
		assert(part.flag == lines.flag && part.lines <= lines.lines);
	else
		assert(read_lines(&cut, line_bytes, &part) == FT_NCCL_CUT);
}

/* A line repeated, so that writes of one flag come up. */
static void repeated_line_holds(const uint8_t *bytes, uint32_t line_bytes)
{
	uint8_t copies[512];
	struct ft_nccl_write write = { copies, sizeof copies, 2048 };

	for (size_t at = 0; at < sizeof copies; at += line_bytes)
		memcpy(copies + at, bytes, line_bytes);
	lines_hold(&write, line_bytes == FT_NCCL_LL_LINE ? LL : line_bytes, bytes[0]);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	static const uint32_t lines[] = { LL, FT_NCCL_LL128_LINE, FT_NCCL_LL128_LINE_RCCL };
	struct ft_nccl_write whole;

	if (size < 3)
		return;
	whole = (struct ft_nccl_write){ bytes + 3, (uint32_t)size - 3,
					(uint32_t)(bytes[0] << 8 | bytes[1]) * 16 };
	for (unsigned i = 0; i < 3; i++)
		lines_hold(&whole, lines[i], bytes[2] < whole.captured ? bytes[2] : whole.captured);
	if (whole.captured < FT_NCCL_LL128_LINE)
		return;
	repeated_line_holds(bytes + 3, FT_NCCL_LL_LINE);
	repeated_line_holds(bytes + 3, FT_NCCL_LL128_LINE);
	repeated_line_holds(bytes + 3, FT_NCCL_LL128_LINE_RCCL);
}
