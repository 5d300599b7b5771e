#include <decode/nccl_setup.h>

#include <string.h>

#include <decode/little_endian.h>

/*
 * Offsets; 0 where a form lacks the field. Up to 2.19 a side has one device, whose fields are the structure's own: GID,
 * MTU, key and address in a row. Since 2.20 there are records of queue pairs and of devices.
 */
struct layout {
	struct ft_nccl_form form;
	uint16_t qps, qp_bytes, qps_at;
	uint16_t gid_at; /* of the one device */
	uint16_t probe_at, recovery_at, devices_at, name_at, addr_at, service_at;
};

enum {
	A = 1u << FT_NCCL_A,
	B = 1u << FT_NCCL_B,
	C = 1u << FT_NCCL_C,
	D = 1u << FT_NCCL_D,
	E = 1u << FT_NCCL_E,
	F = 1u << FT_NCCL_F,
	WITHOUT = 1,
	WITH = 2,
};

static const struct layout layouts[] = {
	/* bytes, releases, families, devices, list, hello;  queue pairs;  the rest */
	{ { 48, 3, 9, A | B, 1, 0, WITHOUT }, 1, 4, 8, 16, 0, 0, 0, 0, 40, 0 },
	{ { 552, 10, 18, B | C, 1, 0, WITHOUT | WITH }, 128, 4, 8, 520, 0, 0, 0, 0, 544, 0 },
	{ { 2600, 19, 19, C, 1, 0, WITH }, 128, 4, 8, 2568, 0, 0, 0, 0, 2592, 0 },
	{ { 3336, 20, 23, D, 2, 0, WITH }, 128, 24, 0, 0, 0, 0, 3072, 3184, 3320, 0 },
	{ { 3576, 24, 25, E, 4, 4, WITH }, 128, 24, 0, 0, 0, 0, 3072, 3296, 3560, 0 },
	{ { 3584, 26, 26, E, 4, 4, WITH }, 128, 24, 0, 0, 0, 0, 3072, 3296, 3560, 3572 },
	{ { 3648, 27, 29, E, 4, 4, WITH }, 128, 24, 0, 0, 0, 0, 3072, 3296, 3624, 3636 },
	{ { 3744, 29, 29, E, 4, 4, WITH }, 128, 24, 0, 0, 3072, 0, 3168, 3392, 3720, 3732 },
	{ { 4576, 30, 30, F, 8, 8, WITH }, 128, 24, 0, 0, 3072, 3264, 3456, 3904, 4552, 4564 },
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

/* In the structure of one device, and behind its GID. */
enum { LID_AT = 0, PORT_AT = 4, LINK_LAYER_AT = 5, MTU_BEHIND = 16, RKEY_BEHIND = 20 };

/* In the records. */
enum {
	QP_INDEX_AT = 20,
	QP_RECORD_BYTES = 24,
	DEVICE_LID_AT = 0,
	DEVICE_PORT_AT = 4,
	DEVICE_MTU_AT = 8,
	DEVICE_LINK_LAYER_AT = 12,
	DEVICE_GID_AT = 16,
	DEVICE_RKEY_AT = 32,
	DEVICE_BYTES = 56,
	COUNT_BEHIND_ADDR = 8,
	QPN_LIMIT = 1 << 24,
};

const struct ft_nccl_form *ft_nccl_form_find(uint32_t bytes)
{
	for (size_t i = 0; i < LAYOUTS; i++) {
		if (layouts[i].form.bytes == bytes)
			return &layouts[i].form;
	}
	return NULL;
}

const struct ft_nccl_form *ft_nccl_form_at(uint32_t index)
{
	return index < LAYOUTS ? &layouts[index].form : NULL;
}

static const struct layout *layout_of(const struct ft_nccl_form *form)
{
	size_t i = 0;

	while (i < LAYOUTS - 1 && layouts[i].form.bytes != form->bytes)
		i++;
	return &layouts[i];
}

/* The verbs' code of an MTU in bytes; 0 for none. */
static uint16_t mtu_of(uint32_t code)
{
	return (uint16_t)(code >= 1 && code <= 5 ? 128u << code : 0);
}

static uint8_t link_layer_of(uint8_t code)
{
	return code == 1 || code == 2 ? code : 0;
}

static struct ft_nccl_device only_device(const struct layout *layout, const uint8_t *bytes)
{
	const uint8_t *gid = bytes + layout->gid_at;
	struct ft_nccl_device device = {
		.lid = ft_le32(bytes + LID_AT),
		.rkey = ft_le32(gid + RKEY_BEHIND),
		.port = bytes[PORT_AT],
		.link_layer = layout->qps > 1 ? link_layer_of(bytes[LINK_LAYER_AT]) : 0,
		.mtu = mtu_of(ft_le32(gid + MTU_BEHIND)),
	};

	memcpy(device.gid, gid, sizeof device.gid);
	return device;
}

static struct ft_nccl_device device_record(const uint8_t *bytes)
{
	struct ft_nccl_device device = {
		.lid = ft_le32(bytes + DEVICE_LID_AT),
		.rkey = ft_le32(bytes + DEVICE_RKEY_AT),
		.port = bytes[DEVICE_PORT_AT],
		.link_layer = link_layer_of(bytes[DEVICE_LINK_LAYER_AT]),
		.mtu = mtu_of(ft_le32(bytes + DEVICE_MTU_AT)),
	};

	memcpy(device.gid, bytes + DEVICE_GID_AT, sizeof device.gid);
	return device;
}

static bool read_devices(const struct layout *layout, const uint8_t *bytes,
			 struct ft_nccl_metadata *metadata)
{
	uint32_t count =
		layout->devices_at == 0 ? 1 : ft_le32(bytes + layout->addr_at + COUNT_BEHIND_ADDR);

	if (count == 0 || count > layout->form.devices)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *record = bytes + layout->devices_at + (size_t)i * DEVICE_BYTES;
		struct ft_nccl_device device = layout->devices_at == 0 ? only_device(layout, bytes)
								       : device_record(record);

		if (device.mtu == 0 || device.port == 0)
			return false;
		metadata->devices[i] = device;
	}
	metadata->device_count = (uint8_t)count;
	return true;
}

static bool is_qp(const struct layout *layout, const uint8_t *record, uint32_t device)
{
	uint32_t qpn = ft_le32(record);

	return qpn != 0 && qpn < QPN_LIMIT &&
	       (layout->qp_bytes < QP_RECORD_BYTES || ft_le32(record + QP_INDEX_AT) == device);
}

/* Leading ones that could be. */
static bool read_qps(const struct layout *layout, const uint8_t *bytes,
		     struct ft_nccl_metadata *metadata)
{
	for (uint32_t i = 0; i < layout->qps; i++) {
		const uint8_t *record = bytes + layout->qps_at + (size_t)i * layout->qp_bytes;

		if (!is_qp(layout, record, i % metadata->device_count))
			break;
		metadata->qpns[i] = ft_le32(record);
		metadata->qp_count++;
	}
	return metadata->qp_count != 0;
}

static void read_spare_qps(const struct layout *layout, const uint8_t *bytes, uint16_t at,
			   uint32_t *qpns)
{
	for (uint32_t i = 0; at != 0 && i < layout->form.devices; i++) {
		uint32_t qpn = ft_le32(bytes + at + (size_t)i * QP_RECORD_BYTES);

		qpns[i] = qpn < QPN_LIMIT ? qpn : 0;
	}
}

static void read_rest(const struct layout *layout, const uint8_t *bytes,
		      struct ft_nccl_metadata *metadata)
{
	metadata->addr = ft_le64(bytes + layout->addr_at);
	read_spare_qps(layout, bytes, layout->probe_at, metadata->probe_qpns);
	read_spare_qps(layout, bytes, layout->recovery_at, metadata->recovery_qpns);
	if (layout->name_at != 0) {
		metadata->name = (const char *)bytes + layout->name_at;
		metadata->name_length =
			(uint32_t)strnlen(metadata->name, layout->addr_at - layout->name_at);
	}
	if (layout->service_at != 0) {
		metadata->has_service = true;
		metadata->traffic_class = (int32_t)ft_le32(bytes + layout->service_at);
		metadata->service_level = (int32_t)ft_le32(bytes + layout->service_at + 4);
	}
}

enum ft_nccl_verdict ft_nccl_metadata_read(const struct ft_nccl_form *form, const uint8_t *bytes,
					   uint32_t size, struct ft_nccl_metadata *metadata)
{
	const struct layout *layout = layout_of(form);
	struct ft_nccl_metadata read = { .form = &layout->form };

	if (size < layout->form.bytes)
		return FT_NCCL_CUT;
	if (!read_devices(layout, bytes, &read) || !read_qps(layout, bytes, &read))
		return FT_NCCL_NOT;
	read_rest(layout, bytes, &read);
	*metadata = read;
	return FT_NCCL_READ;
}

enum ft_nccl_verdict ft_nccl_first_qp_read(const struct ft_nccl_form *form, const uint8_t *bytes,
					   uint32_t size, uint32_t *qpn)
{
	const struct layout *layout = layout_of(form);

	if (size < (uint32_t)layout->qps_at + layout->qp_bytes)
		return FT_NCCL_CUT;
	if (!is_qp(layout, bytes + layout->qps_at, 0))
		return FT_NCCL_NOT;
	*qpn = ft_le32(bytes + layout->qps_at);
	return FT_NCCL_READ;
}
