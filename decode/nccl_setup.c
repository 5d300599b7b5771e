#include <decode/nccl_setup.h>

#include <assert.h>
#include <stddef.h>

#include <decode/little_endian.h>

enum { LONGEST_METADATA = 4576 };

enum ft_nccl_verdict ft_nccl_hello_read(const uint8_t *bytes, uint32_t size,
					struct ft_nccl_hello *hello)
{
	uint32_t kind;

	if (size < FT_NCCL_HELLO_BYTES)
		return FT_NCCL_CUT;
	kind = ft_le32(bytes + 8);
	if (kind >= FT_NCCL_SOCKET_KINDS)
		return FT_NCCL_NOT;
	*hello = (struct ft_nccl_hello){ ft_le64(bytes), (enum ft_nccl_socket)kind };
	return FT_NCCL_READ;
}

/* The longer list is of 2.30, which appends a byte. */
static uint32_t list_bytes(uint32_t room)
{
	return room == 0 ? 0 : 4 + 4 * room + (room == FT_NCCL_DEVICES_MAX ? 1 : 0);
}

enum ft_nccl_verdict ft_nccl_device_list_read(const uint8_t *bytes, uint32_t size, uint32_t room,
					      struct ft_nccl_device_list *list)
{
	struct ft_nccl_device_list read = { .count = 0 };
	uint32_t count;

	assert(room == 4 || room == FT_NCCL_DEVICES_MAX);
	if (size < list_bytes(room))
		return FT_NCCL_CUT;
	count = ft_le32(bytes);
	if (count == 0 || count > room)
		return FT_NCCL_NOT;
	for (uint32_t i = 0; i < room; i++) {
		read.devices[i] = (int32_t)ft_le32(bytes + 4 + (size_t)i * 4);
		if (read.devices[i] < 0 || (i >= count && read.devices[i] != 0))
			return FT_NCCL_NOT;
	}
	if (room == FT_NCCL_DEVICES_MAX) {
		if (bytes[4 + 4 * room] > 1)
			return FT_NCCL_NOT;
		read.out_of_order = bytes[4 + 4 * room] != 0;
	}
	read.count = (uint8_t)count;
	*list = read;
	return FT_NCCL_READ;
}

static struct ft_nccl_setup setup_of(const struct ft_nccl_form *form, bool has_hello)
{
	uint32_t list_at = has_hello ? FT_NCCL_HELLO_BYTES : 0;

	return (struct ft_nccl_setup){ form, list_at, list_at + list_bytes(form->list_room),
				       has_hello };
}

/* With a ready word behind it or not. */
static bool is_sum(const struct ft_nccl_setup *setup, enum ft_nccl_side side, uint32_t size)
{
	uint32_t sum = setup->metadata_at + setup->form->bytes;

	return size == sum || (side == FT_NCCL_CONNECTING && size == sum + FT_NCCL_READY_BYTES);
}

static bool has_hello(const struct ft_nccl_setup *setup, const uint8_t *bytes, uint32_t size)
{
	struct ft_nccl_hello hello;

	return !setup->has_hello || (ft_nccl_hello_read(bytes, size, &hello) == FT_NCCL_READ &&
				     hello.kind == FT_NCCL_SOCKET_IB);
}

/* FT_NCCL_CUT: it is not there to the end. */
static enum ft_nccl_verdict read_list(const struct ft_nccl_setup *setup, const uint8_t *bytes,
				      uint32_t size)
{
	struct ft_nccl_device_list list;

	if (setup->form->list_room == 0)
		return FT_NCCL_READ;
	if (size < setup->list_at)
		return FT_NCCL_CUT;
	return ft_nccl_device_list_read(bytes + setup->list_at, size - setup->list_at,
					setup->form->list_room, &list);
}

/* The listening side sends no hello, the connecting one what its release does. */
static bool is_sent(const struct ft_nccl_form *form, enum ft_nccl_side side, unsigned with_hello)
{
	return side == FT_NCCL_LISTENING ? with_hello == 0 : (form->hello >> with_hello & 1) != 0;
}

static bool find_sum(enum ft_nccl_side side, uint32_t size, struct ft_nccl_setup *found)
{
	const struct ft_nccl_form *form;

	for (uint32_t i = 0; (form = ft_nccl_form_at(i)) != NULL; i++) {
		for (unsigned with_hello = 0; with_hello <= 1; with_hello++) {
			*found = setup_of(form, with_hello != 0);
			if (is_sent(form, side, with_hello) && is_sum(found, side, size))
				return true;
		}
	}
	return false;
}

enum ft_nccl_verdict ft_nccl_setup_find(enum ft_nccl_side side, const uint8_t *bytes, uint32_t size,
					struct ft_nccl_setup *setup)
{
	uint32_t extra = side == FT_NCCL_CONNECTING ? FT_NCCL_HELLO_BYTES + FT_NCCL_READY_BYTES : 0;
	uint32_t longest = list_bytes(FT_NCCL_DEVICES_MAX) + LONGEST_METADATA + extra;
	struct ft_nccl_setup found;

	if (!find_sum(side, size, &found))
		return size < longest ? FT_NCCL_CUT : FT_NCCL_NOT;
	if (!has_hello(&found, bytes, size) || read_list(&found, bytes, size) != FT_NCCL_READ)
		return FT_NCCL_NOT;
	*setup = found;
	return FT_NCCL_READ;
}

enum ft_nccl_verdict ft_nccl_setup_find_cut(enum ft_nccl_side side, const uint8_t *bytes,
					    uint32_t ready, uint32_t size,
					    struct ft_nccl_setup *setup)
{
	struct ft_nccl_setup found;

	if (!find_sum(side, size, &found) || (found.has_hello && ready < FT_NCCL_HELLO_BYTES))
		return FT_NCCL_CUT;
	if (!has_hello(&found, bytes, ready) || read_list(&found, bytes, ready) == FT_NCCL_NOT)
		return FT_NCCL_NOT;
	*setup = found;
	return FT_NCCL_READ;
}
