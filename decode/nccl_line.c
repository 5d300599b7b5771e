#include <decode/nccl.h>

#include <assert.h>

#include <decode/little_endian.h>

enum { LL_FLAG_AT = 4, LL_FLAG_AGAIN_AT = 12, LL128_FLAG_BYTES = 8 };

/* A connection takes years for so many steps. */
#define LL128_FLAG_LIMIT (UINT64_C(1) << 40)

static bool is_whole(uint32_t length, uint32_t unit, uint32_t most)
{
	return length != 0 && length % unit == 0 && length <= most;
}

static uint32_t lines_captured(const struct ft_nccl_write *write, uint32_t line_bytes)
{
	return (write->captured < write->length ? write->captured : write->length) / line_bytes;
}

enum ft_nccl_verdict ft_nccl_ll_read(const struct ft_nccl_write *write, struct ft_nccl_lines *lines)
{
	uint32_t count = lines_captured(write, FT_NCCL_LL_LINE), flag;

	if (!is_whole(write->length, FT_NCCL_LL_LINE, FT_NCCL_LL_MAX))
		return FT_NCCL_NOT;
	if (count == 0)
		return FT_NCCL_CUT;
	flag = ft_le32(write->bytes + LL_FLAG_AT);
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *line = write->bytes + (size_t)i * FT_NCCL_LL_LINE;

		if (flag == 0 || ft_le32(line + LL_FLAG_AT) != flag ||
		    ft_le32(line + LL_FLAG_AGAIN_AT) != flag)
			return FT_NCCL_NOT;
	}
	if (count < 2 && write->length > FT_NCCL_LL_LINE)
		return FT_NCCL_CUT;
	*lines = (struct ft_nccl_lines){ flag, count, write->length / 2 };
	return FT_NCCL_READ;
}

enum ft_nccl_verdict ft_nccl_ll128_read(const struct ft_nccl_write *write, uint32_t line_bytes,
					struct ft_nccl_lines *lines)
{
	uint32_t count = lines_captured(write, line_bytes);
	uint32_t data_bytes = line_bytes - LL128_FLAG_BYTES;
	uint64_t flag;

	assert(line_bytes == FT_NCCL_LL128_LINE || line_bytes == FT_NCCL_LL128_LINE_RCCL);
	if (!is_whole(write->length, FT_NCCL_LL128_UNIT, FT_NCCL_LL128_MAX))
		return FT_NCCL_NOT;
	if (count == 0)
		return FT_NCCL_CUT;
	flag = ft_le64(write->bytes + data_bytes);
	if (flag == 0 || flag >= LL128_FLAG_LIMIT)
		return FT_NCCL_NOT;
	for (uint32_t i = 1; i < count; i++) {
		if (ft_le64(write->bytes + (size_t)i * line_bytes + data_bytes) != flag)
			return FT_NCCL_NOT;
	}
	*lines = (struct ft_nccl_lines){ flag, count, write->length / line_bytes * data_bytes };
	return FT_NCCL_READ;
}
