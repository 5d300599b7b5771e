#include "nccl_words.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *ft_nccl_place_text(struct ft_nccl_text *to, const struct ft_nccl_place *place)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (place->by_lid)
		snprintf(to->text, sizeof to->text, "lid:%u",
			 (unsigned)place->address[14] << 8 | place->address[15]);
	else if (memcmp(place->address, mapped, sizeof mapped) == 0)
		inet_ntop(AF_INET, place->address + sizeof mapped, to->text, sizeof to->text);
	else
		inet_ntop(AF_INET6, place->address, to->text, sizeof to->text);
	return to->text;
}

const char *ft_nccl_release_text(struct ft_nccl_text *to, int32_t release)
{
	if (release <= 0)
		return NULL;
	snprintf(to->text, sizeof to->text, "%" PRId32 ".%" PRId32 ".%" PRId32, release / 10000,
		 release / 100 % 100, release % 100);
	return to->text;
}

const char *ft_nccl_protocol_word(enum ft_nccl_protocol protocol)
{
	static const char *const words[] = {
		[FT_NCCL_PROTOCOL_UNKNOWN] = "unknown",
		[FT_NCCL_SIMPLE] = "SIMPLE",
		[FT_NCCL_LL] = "LL",
		[FT_NCCL_LL128] = "LL128",
	};

	return words[protocol];
}

const char *ft_nccl_found_by_word(enum ft_nccl_found_by found_by)
{
	static const char *const words[] = {
		[FT_NCCL_BY_LENGTHS] = "lengths",
		[FT_NCCL_BY_CTS] = "cts",
		[FT_NCCL_BY_METADATA] = "metadata",
	};

	return words[found_by];
}

bool ft_nccl_is_of_blocks(const struct ft_nccl_collective *row)
{
	return row->collective != NULL && (strcmp(row->collective, "AllGather") == 0 ||
					   strcmp(row->collective, "ReduceScatter") == 0);
}

uint64_t ft_nccl_volume(const struct ft_nccl_collective *row)
{
	return ft_nccl_is_of_blocks(row) ? row->message_bytes * row->ranks : row->message_bytes;
}
