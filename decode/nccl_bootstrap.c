#include <decode/nccl_ras.h>

#include <stddef.h>
#include <string.h>

#include <decode/big_endian.h>
#include <decode/little_endian.h>

enum { LINUX_INET = 2, LINUX_INET6 = 10, NO_ADDRESS = 0, SENDER_BYTES = 8 };
enum { INET_BYTES = 8, INET6_BYTES = 24 }; /* of a sockaddr, as far as they mean something here */

enum ft_nccl_verdict ft_nccl_body_take(const uint8_t *bytes, uint32_t size, uint32_t most,
				       struct ft_nccl_body *body)
{
	uint32_t length;

	if (size < FT_NCCL_LENGTH_BYTES)
		return FT_NCCL_CUT;
	length = ft_le32(bytes);
	if (length > most)
		return FT_NCCL_NOT;
	if (length > size - FT_NCCL_LENGTH_BYTES)
		return FT_NCCL_CUT;
	*body = (struct ft_nccl_body){ bytes + FT_NCCL_LENGTH_BYTES, length };
	return FT_NCCL_READ;
}

/* What lies behind the address need not be there. */
static enum ft_nccl_verdict read_address(const uint8_t *bytes, uint32_t size,
					 struct ft_nccl_address *address)
{
	uint16_t family;

	if (size < INET_BYTES)
		return FT_NCCL_CUT;
	family = ft_le16(bytes);
	if (family != LINUX_INET && family != LINUX_INET6)
		return FT_NCCL_NOT;
	if (family == LINUX_INET6 && size < INET6_BYTES)
		return FT_NCCL_CUT;
	*address = (struct ft_nccl_address){ .port = ft_be16(bytes + 2),
					     .version = family == LINUX_INET ? 4 : 6 };
	if (family == LINUX_INET6) {
		memcpy(address->ip, bytes + 8, 16);
	} else {
		memset(address->ip + 10, 0xff, 2);
		memcpy(address->ip + 12, bytes + 4, 4);
	}
	return FT_NCCL_READ;
}

enum ft_nccl_verdict ft_nccl_address_read(const uint8_t *bytes, uint32_t size,
					  struct ft_nccl_address *address)
{
	return size < FT_NCCL_ADDRESS_BYTES ? FT_NCCL_CUT : read_address(bytes, size, address);
}

/* Where a release keeps what; 0 where it lacks it. Rank and number of ranks come first in all. */
struct layout {
	uint16_t bytes;
	uint8_t minor_first, minor_last;
	uint8_t root_at, offset_at, listen_root_at, listen_at;
	uint8_t handle_at; /* an address, or a handle of NCCL's network */
};

static const struct layout layouts[] = {
	{ 136, 6, 7, 0, 0, NO_ADDRESS, NO_ADDRESS, NO_ADDRESS },
	{ 64, 8, 22, 0, 0, 8, 36, NO_ADDRESS },
	{ 172, 23, 28, 8, 0, 16, NO_ADDRESS, 44 },
	{ 176, 29, 30, 8, 16, 20, NO_ADDRESS, 48 },
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static const struct layout *layout_of(uint32_t bytes)
{
	for (size_t i = 0; i < LAYOUTS; i++) {
		if (layouts[i].bytes == bytes)
			return &layouts[i];
	}
	return NULL;
}

static bool read_addresses(const struct layout *layout, const uint8_t *bytes,
			   struct ft_nccl_check_in *check_in)
{
	const uint8_t at[] = { layout->listen_root_at, layout->listen_at };
	struct ft_nccl_address *const to[] = { &check_in->listen_root, &check_in->listen };

	for (int i = 0; i < 2 && at[i] != NO_ADDRESS; i++) {
		if (ft_nccl_address_read(bytes + at[i], FT_NCCL_ADDRESS_BYTES, to[i]) !=
		    FT_NCCL_READ)
			return false;
		check_in->address_count++;
	}
	if (layout->handle_at != NO_ADDRESS &&
	    ft_nccl_address_read(bytes + layout->handle_at, FT_NCCL_ADDRESS_BYTES,
				 &check_in->listen) == FT_NCCL_READ)
		check_in->address_count++;
	return true;
}

static bool is_one_of(int32_t number, int32_t count)
{
	return number >= 0 && number < count;
}

/* They stand in front of the addresses. */
static bool read_numbers(const struct layout *layout, const uint8_t *bytes,
			 struct ft_nccl_check_in *check_in)
{
	*check_in = (struct ft_nccl_check_in){
		.rank = (int32_t)ft_le32(bytes),
		.ranks = (int32_t)ft_le32(bytes + 4),
		.roots = 1,
		.minor_first = layout->minor_first,
		.minor_last = layout->minor_last,
	};
	if (layout->root_at != 0) {
		check_in->root = (int32_t)ft_le32(bytes + layout->root_at);
		check_in->roots = (int32_t)ft_le32(bytes + layout->root_at + 4);
	}
	if (layout->offset_at != 0)
		check_in->offset = (int32_t)ft_le32(bytes + layout->offset_at);
	return is_one_of(check_in->rank, check_in->ranks) &&
	       is_one_of(check_in->root, check_in->roots);
}

enum ft_nccl_verdict ft_nccl_check_in_read(const struct ft_nccl_body *body,
					   struct ft_nccl_check_in *check_in)
{
	const struct layout *layout = layout_of(body->length);
	struct ft_nccl_check_in read;

	if (layout == NULL || !read_numbers(layout, body->bytes, &read) ||
	    !read_addresses(layout, body->bytes, &read))
		return FT_NCCL_NOT;
	*check_in = read;
	return FT_NCCL_READ;
}

enum ft_nccl_verdict ft_nccl_check_in_read_front(const struct ft_nccl_body *body, uint32_t captured,
						 struct ft_nccl_check_in *check_in)
{
	const struct layout *layout = layout_of(body->length);
	enum ft_nccl_verdict verdict;
	struct ft_nccl_check_in read;

	if (layout == NULL || layout->listen_root_at == NO_ADDRESS)
		return FT_NCCL_NOT;
	if (captured < layout->listen_root_at)
		return FT_NCCL_CUT;
	if (!read_numbers(layout, body->bytes, &read))
		return FT_NCCL_NOT;
	verdict = read_address(body->bytes + layout->listen_root_at,
			       captured - layout->listen_root_at, &read.listen_root);
	if (verdict != FT_NCCL_READ)
		return verdict;
	read.address_count = 1;
	*check_in = read;
	return FT_NCCL_READ;
}

enum ft_nccl_verdict ft_nccl_sender_read(const struct ft_nccl_body *body,
					 struct ft_nccl_sender *sender)
{
	int32_t rank;

	if (body->length != SENDER_BYTES)
		return FT_NCCL_NOT;
	rank = (int32_t)ft_le32(body->bytes);
	if (rank < 0)
		return FT_NCCL_NOT;
	*sender = (struct ft_nccl_sender){ rank, (int32_t)ft_le32(body->bytes + 4) };
	return FT_NCCL_READ;
}

/* Blocks of a ring; 0 where a release lacks the record. */
static const struct block {
	uint8_t bytes, minor_first, minor_last;
	uint8_t proxy_at, ras_at;
} blocks[] = {
	{ 28, 8, 22, 0, 0 },
	{ 64, 23, 23, 28, 0 },
	{ 120, 24, 30, 28, 64 },
};
enum {
	BLOCKS = sizeof blocks / sizeof blocks[0],
	MEMBER_PID_AT = 28,
	MEMBER_CUDA_AT = 32,
	MEMBER_NVML_AT = 36,
	MEMBER_HOST_AT = 40,
	MEMBER_PID_HASH_AT = 48,
	NEXT_BYTES = 28,        /* up to 2.22 */
	NEXT_HANDLE_BYTES = 128 /* 2.23 and later */
};

static bool read_member(const uint8_t *bytes, struct ft_nccl_ras_member *member)
{
	member->pid = (int32_t)ft_le32(bytes + MEMBER_PID_AT);
	member->cuda_device = (int32_t)ft_le32(bytes + MEMBER_CUDA_AT);
	member->nvml_device = (int32_t)ft_le32(bytes + MEMBER_NVML_AT);
	member->host_hash = ft_le64(bytes + MEMBER_HOST_AT);
	member->pid_hash = ft_le64(bytes + MEMBER_PID_HASH_AT);
	return ft_nccl_address_read(bytes, FT_NCCL_ADDRESS_BYTES, &member->listen) == FT_NCCL_READ;
}

static bool read_block(const struct block *layout, const uint8_t *bytes,
		       struct ft_nccl_ring_block *block)
{
	*block = (struct ft_nccl_ring_block){
		.minor_first = layout->minor_first,
		.minor_last = layout->minor_last,
		.has_proxy = layout->proxy_at != 0,
		.has_ras = layout->ras_at != 0,
	};
	return ft_nccl_address_read(bytes, FT_NCCL_ADDRESS_BYTES, &block->peer) == FT_NCCL_READ &&
	       (!block->has_proxy ||
		ft_nccl_address_read(bytes + layout->proxy_at, FT_NCCL_ADDRESS_BYTES,
				     &block->proxy) == FT_NCCL_READ) &&
	       (!block->has_ras || read_member(bytes + layout->ras_at, &block->ras));
}

enum ft_nccl_verdict ft_nccl_ring_block_read(const struct ft_nccl_body *body,
					     struct ft_nccl_ring_block *block)
{
	struct ft_nccl_ring_block read;

	for (size_t i = 0; i < BLOCKS; i++) {
		if (blocks[i].bytes != body->length || !read_block(&blocks[i], body->bytes, &read))
			continue;
		*block = read;
		return FT_NCCL_READ;
	}
	return FT_NCCL_NOT;
}

enum ft_nccl_verdict ft_nccl_next_read(const struct ft_nccl_body *body,
				       struct ft_nccl_address *next)
{
	if (body->length != NEXT_BYTES && body->length != NEXT_HANDLE_BYTES)
		return FT_NCCL_NOT;
	return ft_nccl_address_read(body->bytes, FT_NCCL_ADDRESS_BYTES, next);
}
