/*
 * Any bytes as a set-up: what is found lies inside them, and metadata that is read is within its bounds, also when the
 * bytes are laid over a possible one of each size.
 */
#undef NDEBUG
#include <assert.h>
#include <string.h>

#include <decode/nccl_setup.h>

#include "../holds.h"

enum { UNTOUCHED = 77 };

static void metadata_holds(const struct ft_nccl_form *form, const uint8_t *bytes, uint32_t size)
{
	struct ft_nccl_metadata metadata = { .qp_count = UNTOUCHED };
	enum ft_nccl_verdict verdict = ft_nccl_metadata_read(form, bytes, size, &metadata);

	assert((verdict == FT_NCCL_CUT) == (size < form->bytes));
	if (verdict != FT_NCCL_READ) {
		assert(metadata.qp_count == UNTOUCHED);
		return;
	}
	assert(metadata.form == form);
	assert(metadata.qp_count >= 1 && metadata.qp_count <= FT_NCCL_QPS_MAX);
	for (unsigned i = 0; i < metadata.qp_count; i++)
		assert(metadata.qpns[i] != 0 && metadata.qpns[i] <= 0xffffff);
	assert(metadata.device_count >= 1 && metadata.device_count <= form->devices);
	for (unsigned i = 0; i < metadata.device_count; i++)
		assert(metadata.devices[i].mtu >= 256 && metadata.devices[i].mtu <= 4096 &&
		       metadata.devices[i].link_layer <= 2);
	for (unsigned i = 0; i < FT_NCCL_DEVICES_MAX; i++)
		assert(metadata.probe_qpns[i] <= 0xffffff && metadata.recovery_qpns[i] <= 0xffffff);
	if (metadata.name != NULL) {
		const uint8_t *name = (const uint8_t *)metadata.name;

		assert(name >= bytes && name + metadata.name_length <= bytes + form->bytes);
		assert(memchr(name, 0, metadata.name_length) == NULL);
	}
}

/* The input's first bytes over words of 1, which every form takes for a queue pair, a device and an MTU. */
static void laid_over_holds(const uint8_t *input, size_t size)
{
	uint8_t bytes[4576];
	const struct ft_nccl_form *form;
	uint32_t at = (uint32_t)(input[0] << 8 | input[1]) % sizeof bytes;

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = i % 4 == 0 && (i < 3072 ? i % 24 == 0 || i % 24 == 4 : true);
	if (size > sizeof bytes - at)
		size = sizeof bytes - at;
	memcpy(bytes + at, input, size);
	for (uint32_t i = 0; (form = ft_nccl_form_at(i)) != NULL; i++)
		metadata_holds(form, bytes, form->bytes);
}

static void setup_holds(enum ft_nccl_side side, const uint8_t *bytes, uint32_t size)
{
	struct ft_nccl_setup setup = { .list_at = UNTOUCHED };
	uint32_t ready = size == 0 ? 0 : bytes[0] % (size + 1);

	if (ft_nccl_setup_find_cut(side, bytes, ready, size, &setup) == FT_NCCL_READ)
		assert(setup.list_at <= setup.metadata_at &&
		       setup.metadata_at + setup.form->bytes <= size);
	else
		assert(setup.list_at == UNTOUCHED);
	setup.list_at = UNTOUCHED;
	if (ft_nccl_setup_find(side, bytes, size, &setup) != FT_NCCL_READ) {
		assert(setup.list_at == UNTOUCHED);
		return;
	}
	assert(setup.list_at <= setup.metadata_at &&
	       setup.has_hello <= (side == FT_NCCL_CONNECTING));
	assert(setup.metadata_at + setup.form->bytes <= size);
	metadata_holds(setup.form, bytes + setup.metadata_at, size - setup.metadata_at);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct ft_nccl_hello hello;
	struct ft_nccl_device_list list;

	if (ft_nccl_hello_read(bytes, (uint32_t)size, &hello) == FT_NCCL_READ)
		assert(size >= FT_NCCL_HELLO_BYTES && hello.kind < FT_NCCL_SOCKET_KINDS);
	for (uint32_t room = 4; room <= 8; room += 4) {
		if (ft_nccl_device_list_read(bytes, (uint32_t)size, room, &list) == FT_NCCL_READ)
			assert(list.count >= 1 && list.count <= room);
	}
	setup_holds(FT_NCCL_CONNECTING, bytes, (uint32_t)size);
	setup_holds(FT_NCCL_LISTENING, bytes, (uint32_t)size);
	if (size >= 2)
		laid_over_holds(bytes, size);
}
