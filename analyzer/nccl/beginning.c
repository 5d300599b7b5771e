#include <decode/little_endian.h>

#include "side_parts.h"

enum {
	MAGIC_BYTES = 8,
	BARE_BYTES = FT_NCCL_HELLO_BYTES, /* as many as tell anything */
	LID_AT = 0,                       /* of metadata up to 2.18 */
	PORT_AT = 4,
	QPN_AT = 8,
	RANK_AT = 4, /* of a check-in, behind its length */
	RANKS_AT = 8,
	CHECK_IN_FIRST = 136, /* 2.6, 2.7 */
	CHECK_IN_BARE = 64,   /* 2.8 - 2.22 */
};

static bool is_known_magic(uint64_t magic)
{
	return magic == FT_NCCL_MAGIC_SOCKET || magic == FT_NCCL_MAGIC_COMM;
}

bool ft_nccl_beginning_is_known(const struct ft_nccl_segment *segment)
{
	return segment->captured >= MAGIC_BYTES && is_known_magic(ft_le64(segment->payload));
}

/* Releases before 2.16 begin with what they have to say. */
static bool may_be_bare(const uint8_t *bytes)
{
	uint32_t first = ft_le32(bytes + LID_AT), qpn = ft_le32(bytes + QPN_AT);
	uint32_t rank = ft_le32(bytes + RANK_AT), ranks = ft_le32(bytes + RANKS_AT);
	bool is_metadata =
		first <= UINT16_MAX && bytes[PORT_AT] != 0 && qpn != 0 && qpn <= 0xffffff;
	bool is_check_in = (first == CHECK_IN_BARE || first == CHECK_IN_FIRST) && rank < ranks &&
			   ranks <= INT32_MAX;

	return is_metadata || is_check_in;
}

static enum ft_nccl_stream_kind kind_of(enum ft_nccl_socket socket)
{
	switch (socket) {
	case FT_NCCL_SOCKET_BOOTSTRAP:
		return FT_NCCL_STREAM_BOOTSTRAP;
	case FT_NCCL_SOCKET_IB:
		return FT_NCCL_STREAM_SETUP;
	case FT_NCCL_SOCKET_RAS:
		return FT_NCCL_STREAM_RAS;
	default:
		return FT_NCCL_STREAM_NEW;
	}
}

enum ft_nccl_verdict ft_nccl_beginning_read(const uint8_t *bytes, uint32_t size,
					    struct ft_nccl_beginning *beginning)
{
	struct ft_nccl_hello hello;
	struct ft_nccl_beginning read;

	if (size < BARE_BYTES)
		return FT_NCCL_CUT;
	read = (struct ft_nccl_beginning){ .is_sure = is_known_magic(ft_le64(bytes)) };
	if (may_be_bare(bytes)) {
		read.kind = FT_NCCL_STREAM_BARE;
	} else if (ft_nccl_hello_read(bytes, size, &hello) == FT_NCCL_READ) {
		read.kind = kind_of(hello.kind);
		read.magic = hello.magic;
	}
	if (read.kind == FT_NCCL_STREAM_NEW)
		return FT_NCCL_NOT;
	*beginning = read;
	return FT_NCCL_READ;
}
