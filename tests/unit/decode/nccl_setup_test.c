#include "frame_rows.h"

#include <stdio.h>
#include <string.h>

#include <decode/nccl_setup.h>

enum { STREAM_MAX = 5000 };

static uint32_t load(const char *name, uint8_t *bytes)
{
	char path[512];
	FILE *file;
	size_t size;

	snprintf(path, sizeof path, "%s/nccl/setup-%s.bin", FT_TEST_DATA, name);
	file = fopen(path, "rb");
	assert_non_null(file);
	size = fread(bytes, 1, STREAM_MAX, file);
	fclose(file);
	return (uint32_t)size;
}

static void a_hello_tells_its_kind(void **state)
{
	static const struct {
		const char *sentence, *hex;
		enum ft_nccl_verdict verdict;
		uint64_t magic;
		enum ft_nccl_socket kind;
	} rows[] = {
		{ "of the InfiniBand transport", "6c9d4bfcf2b94a56 04000000", FT_NCCL_READ,
		  FT_NCCL_MAGIC_SOCKET, FT_NCCL_SOCKET_IB },
		{ "of a bootstrap", "8002800280028002 01000000", FT_NCCL_READ, FT_NCCL_MAGIC_COMM,
		  FT_NCCL_SOCKET_BOOTSTRAP },
		{ "of RAS, more behind it", "6c9d4bfcf2b94a56 05000000 38000000", FT_NCCL_READ,
		  FT_NCCL_MAGIC_SOCKET, FT_NCCL_SOCKET_RAS },
		{ "of no kind", "6c9d4bfcf2b94a56 06000000", FT_NCCL_NOT, 0, 0 },
		{ "only its first segment", "6c9d4bfcf2b94a56", FT_NCCL_CUT, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_nccl_hello hello = { 0 };
		uint8_t bytes[32];
		uint32_t size = (uint32_t)frame_bytes(rows[i].hex, bytes);

		if (ft_nccl_hello_read(bytes, size, &hello) != rows[i].verdict ||
		    hello.magic != rows[i].magic || hello.kind != rows[i].kind)
			fail_msg("%s", rows[i].sentence);
	}
}

static void a_device_list_is_short_or_long(void **state)
{
	static const struct {
		const char *sentence, *hex;
		uint32_t room;
		enum ft_nccl_verdict verdict;
		struct ft_nccl_device_list list;
	} rows[] = {
		{ "two of four",
		  "02000000 00000000 01000000 00*8",
		  4,
		  FT_NCCL_READ,
		  { { 0, 1 }, 2, false } },
		{ "one of eight",
		  "01000000 03000000 00*28 01",
		  8,
		  FT_NCCL_READ,
		  { { 3 }, 1, true } },
		{ "one short of eight",
		  "01000000 03000000 00*28",
		  8,
		  FT_NCCL_CUT,
		  { { 0 }, 0, 0 } },
		{ "none", "00*20", 4, FT_NCCL_NOT, { { 0 }, 0, 0 } },
		{ "five of four", "05000000 00*16", 4, FT_NCCL_NOT, { { 0 }, 0, 0 } },
		{ "a device behind the last",
		  "01000000 00000000 01000000 00*8",
		  4,
		  FT_NCCL_NOT,
		  { { 0 }, 0, 0 } },
		{ "a negative device", "01000000 ffffffff 00*12", 4, FT_NCCL_NOT, { { 0 }, 0, 0 } },
		{ "neither yes nor no", "01000000 00*32 02", 8, FT_NCCL_NOT, { { 0 }, 0, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_nccl_device_list list = { .count = 0 };
		uint8_t bytes[64];
		uint32_t size = (uint32_t)frame_bytes(rows[i].hex, bytes);

		if (ft_nccl_device_list_read(bytes, size, rows[i].room, &list) != rows[i].verdict ||
		    memcmp(list.devices, rows[i].list.devices, sizeof list.devices) != 0 ||
		    list.count != rows[i].list.count ||
		    list.out_of_order != rows[i].list.out_of_order)
			fail_msg("%s", rows[i].sentence);
	}
}

/* What each program of real set-ups knew itself: queue pairs, addresses, FIFO or sizes array, keys. */
struct side {
	const char *name;
	enum ft_nccl_side side;
	uint32_t metadata, list_at, metadata_at;
	uint32_t qpns[3]; /* 0 ends them */
	bool cleared;     /* nothing stands behind the queue pairs in use */
	uint64_t addr;    /* 0: not told */
	uint32_t rkeys[2];
	const char *addresses[2];
	const char *device;
};

static const struct side sides[] = {
	{ "2.10.3-connecting",
	  FT_NCCL_CONNECTING,
	  552,
	  0,
	  0,
	  { 24 },
	  false,
	  0x563668ce2120,
	  { 0xf18 },
	  { "0a3d030b" },
	  NULL },
	{ "2.10.3-listening",
	  FT_NCCL_LISTENING,
	  552,
	  0,
	  0,
	  { 35 },
	  false,
	  0,
	  { 0 },
	  { "0a3d030c" },
	  NULL },
	{ "2.19.3-connecting",
	  FT_NCCL_CONNECTING,
	  2600,
	  12,
	  12,
	  { 41 },
	  false,
	  0x55b0bf66d820,
	  { 0x1e4d },
	  { "0a3d030b" },
	  NULL },
	{ "2.19.3-listening",
	  FT_NCCL_LISTENING,
	  2600,
	  0,
	  0,
	  { 27 },
	  false,
	  0,
	  { 0 },
	  { "0a3d030c" },
	  NULL },
	{ "2.21.5-connecting",
	  FT_NCCL_CONNECTING,
	  3336,
	  12,
	  12,
	  { 17, 18 },
	  false,
	  0x7f7816b30100,
	  { 0x2ed },
	  { "0a3d030b" },
	  "rxe0" },
	{ "2.21.5-listening",
	  FT_NCCL_LISTENING,
	  3336,
	  0,
	  0,
	  { 17, 18 },
	  false,
	  0x7fea4da76258,
	  { 0x3c8 },
	  { "0a3d030c" },
	  "rxe0" },
	{ "2.27.7-connecting",
	  FT_NCCL_CONNECTING,
	  3648,
	  12,
	  32,
	  { 24, 17 },
	  true,
	  0x7f775b667180,
	  { 0xa90, 0x2b5 },
	  { "0a3d030b", "0a3d040b" },
	  "rxe0+rxe1" },
	{ "2.27.7-listening",
	  FT_NCCL_LISTENING,
	  3648,
	  0,
	  20,
	  { 50, 17 },
	  true,
	  0x7f3046b343d8,
	  { 0x250a },
	  { "0a3d030c", "0a3d040c" },
	  "rxe0+rxe1" },
	{ "2.30.7-connecting",
	  FT_NCCL_CONNECTING,
	  4576,
	  12,
	  49,
	  { 17 },
	  true,
	  0x7fe832d3aa80,
	  { 0x36c },
	  { "0a3d030b" },
	  "rxe0" },
	{ "2.30.7-listening",
	  FT_NCCL_LISTENING,
	  4576,
	  0,
	  37,
	  { 17 },
	  true,
	  0x7fb13370ab30,
	  { 0x3a7 },
	  { "0a3d030c" },
	  "rxe0" },
};

static bool device_agrees(const struct ft_nccl_device *device, const char *address, uint32_t rkey)
{
	char hex[64];
	uint8_t gid[16];

	snprintf(hex, sizeof hex, "00*10 ffff %s", address);
	frame_bytes(hex, gid);
	return memcmp(device->gid, gid, sizeof gid) == 0 && device->mtu == 1024 &&
	       device->port == 1 && device->lid == 0 && (rkey == 0 || device->rkey == rkey);
}

static bool devices_agree(const struct side *side, const struct ft_nccl_metadata *metadata)
{
	unsigned count = side->addresses[1] != NULL ? 2 : 1;

	if (metadata->device_count != count)
		return false;
	for (unsigned i = 0; i < count; i++) {
		if (!device_agrees(&metadata->devices[i], side->addresses[i], side->rkeys[i]))
			return false;
	}
	if (side->device == NULL)
		return metadata->name == NULL;
	return metadata->name_length == strlen(side->device) &&
	       memcmp(metadata->name, side->device, metadata->name_length) == 0;
}

static bool qps_agree(const struct side *side, const struct ft_nccl_metadata *metadata)
{
	unsigned count = 0;

	while (side->qpns[count] != 0) {
		if (metadata->qpns[count] != side->qpns[count])
			return false;
		count++;
	}
	return side->cleared ? metadata->qp_count == count : metadata->qp_count >= count;
}

static void real_set_ups_are_read(void **state)
{
	static uint8_t bytes[STREAM_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
		uint32_t size = load(sides[i].name, bytes);
		struct ft_nccl_setup setup = { 0 };
		struct ft_nccl_metadata metadata;

		assert_int_equal(ft_nccl_setup_find(sides[i].side, bytes, size, &setup),
				 FT_NCCL_READ);
		assert_int_equal(setup.form->bytes, sides[i].metadata);
		assert_int_equal(setup.list_at, sides[i].list_at);
		assert_int_equal(setup.metadata_at, sides[i].metadata_at);
		assert_int_equal(ft_nccl_metadata_read(setup.form, bytes + setup.metadata_at,
						       size - setup.metadata_at, &metadata),
				 FT_NCCL_READ);
		if (!devices_agree(&sides[i], &metadata) || !qps_agree(&sides[i], &metadata) ||
		    (sides[i].addr != 0 && metadata.addr != sides[i].addr))
			fail_msg("%s: something differs", sides[i].name);
	}
}

/* Sizes of which there is no traffic, built field by field. */
struct field {
	uint16_t at;
	const char *hex;
};

static void other_sizes_are_read(void **state)
{
	static const struct {
		uint32_t bytes, families;
		struct field fields[12];
		uint32_t qpn, lid, rkey, mtu, link_layer, probe;
		uint64_t addr;
		const char *device;
		int32_t traffic_class, service_level;
	} rows[] = {
		{ 48,
		  1u << FT_NCCL_A | 1u << FT_NCCL_B,
		  { { 0, "07000000" },
		    { 4, "01" },
		    { 8, "34120000" },
		    { 16, "fe80000000000000 0002c90300000001" },
		    { 32, "05000000" },
		    { 36, "441b2000" },
		    { 40, "002000a0107f0000" } },
		  0x1234,
		  7,
		  0x201b44,
		  4096,
		  0,
		  0,
		  0x7f10a0002000,
		  NULL,
		  0,
		  0 },
		{ 3576,
		  1u << FT_NCCL_E,
		  { { 0, "34120000" },
		    { 3072, "07000000 01" },
		    { 3080, "05000000 01" },
		    { 3088, "fe80000000000000 0002c90300000001" },
		    { 3104, "441b2000" },
		    { 3296, "6d6c78355f30" },
		    { 3560, "002000a0107f0000" },
		    { 3568, "01" } },
		  0x1234,
		  7,
		  0x201b44,
		  4096,
		  1,
		  0,
		  0x7f10a0002000,
		  "mlx5_0",
		  0,
		  0 },
		{ 3584,
		  1u << FT_NCCL_E,
		  { { 0, "34120000" },
		    { 3072, "07000000 01" },
		    { 3080, "05000000 01" },
		    { 3088, "fe80000000000000 0002c90300000001" },
		    { 3104, "441b2000" },
		    { 3296, "6d6c78355f30" },
		    { 3560, "002000a0107f0000" },
		    { 3568, "01" },
		    { 3572, "6a000000" },
		    { 3576, "03000000" } },
		  0x1234,
		  7,
		  0x201b44,
		  4096,
		  1,
		  0,
		  0x7f10a0002000,
		  "mlx5_0",
		  106,
		  3 },
		{ 3744,
		  1u << FT_NCCL_E,
		  { { 0, "34120000" },
		    { 3072, "99000000" },
		    { 3168, "07000000 01" },
		    { 3176, "05000000 01" },
		    { 3184, "fe80000000000000 0002c90300000001" },
		    { 3200, "441b2000" },
		    { 3392, "6d6c78355f30" },
		    { 3720, "002000a0107f0000" },
		    { 3728, "01" },
		    { 3732, "6a000000" },
		    { 3736, "03000000" } },
		  0x1234,
		  7,
		  0x201b44,
		  4096,
		  1,
		  0x99,
		  0x7f10a0002000,
		  "mlx5_0",
		  106,
		  3 },
	};
	static const uint8_t gid[] = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 2, 0xc9, 3, 0, 0, 0, 1 };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ft_nccl_form *form = ft_nccl_form_find(rows[i].bytes);
		struct ft_nccl_metadata m = { 0 };
		uint8_t bytes[STREAM_MAX] = { 0 };

		assert_non_null(form);
		assert_int_equal(form->families, rows[i].families);
		for (const struct field *field = rows[i].fields; field->hex != NULL; field++)
			frame_bytes(field->hex, bytes + field->at);
		assert_int_equal(ft_nccl_metadata_read(form, bytes, rows[i].bytes - 1, &m),
				 FT_NCCL_CUT);
		assert_int_equal(ft_nccl_metadata_read(form, bytes, rows[i].bytes, &m),
				 FT_NCCL_READ);
		assert_int_equal(m.qp_count, 1);
		assert_int_equal(m.qpns[0], rows[i].qpn);
		assert_int_equal(m.device_count, 1);
		assert_int_equal(m.devices[0].lid, rows[i].lid);
		assert_int_equal(m.devices[0].rkey, rows[i].rkey);
		assert_int_equal(m.devices[0].mtu, rows[i].mtu);
		assert_int_equal(m.devices[0].link_layer, rows[i].link_layer);
		assert_memory_equal(m.devices[0].gid, gid, sizeof gid);
		assert_int_equal(m.probe_qpns[0], rows[i].probe);
		assert_int_equal(m.addr, rows[i].addr);
		assert_int_equal(m.traffic_class, rows[i].traffic_class);
		assert_int_equal(m.service_level, rows[i].service_level);
		if (rows[i].device != NULL)
			assert_memory_equal(m.name, rows[i].device, m.name_length);
	}
}

static void impossible_metadata_is_refused(void **state)
{
	static const struct {
		const char *sentence;
		struct field change;
	} rows[] = {
		{ "no queue pair", { 0, "00000000" } },
		{ "a queue pair of 25 bits", { 0, "00000001" } },
		{ "a queue pair of another device", { 20, "01" } },
		{ "no device", { 3632, "00" } },
		{ "five devices of four", { 3632, "05" } },
		{ "no MTU", { 3080, "00" } },
		{ "an MTU of 8192", { 3080, "06" } },
		{ "no port", { 3076, "00" } },
	};
	static uint8_t bytes[STREAM_MAX];
	const struct ft_nccl_form *form = ft_nccl_form_find(3648);

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint32_t size = load("2.27.7-listening", bytes);
		struct ft_nccl_metadata metadata = { .qp_count = 77 };

		frame_bytes(rows[i].change.hex, bytes + 20 + rows[i].change.at);
		if (ft_nccl_metadata_read(form, bytes + 20, size - 20, &metadata) != FT_NCCL_NOT ||
		    metadata.qp_count != 77)
			fail_msg("%s", rows[i].sentence);
	}
}

static void a_set_up_is_found_by_its_size(void **state)
{
	static uint8_t bytes[STREAM_MAX];
	struct ft_nccl_setup setup = { .list_at = 77 };
	uint32_t size = load("2.30.7-connecting", bytes);

	(void)state;
	assert_int_equal(ft_nccl_setup_find(FT_NCCL_CONNECTING, bytes, size - 1, &setup),
			 FT_NCCL_CUT);
	assert_int_equal(ft_nccl_setup_find(FT_NCCL_CONNECTING, bytes, size + 1, &setup),
			 FT_NCCL_NOT);
	assert_int_equal(ft_nccl_setup_find(FT_NCCL_LISTENING, bytes, 552, &setup), FT_NCCL_READ);
	setup.list_at = 77;
	bytes[8] = FT_NCCL_SOCKET_RAS;
	assert_int_equal(ft_nccl_setup_find(FT_NCCL_CONNECTING, bytes, size, &setup), FT_NCCL_NOT);
	assert_int_equal(setup.list_at, 77);
	assert_null(ft_nccl_form_find(3640));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hello_tells_its_kind),
		cmocka_unit_test(a_device_list_is_short_or_long),
		cmocka_unit_test(real_set_ups_are_read),
		cmocka_unit_test(other_sizes_are_read),
		cmocka_unit_test(impossible_metadata_is_refused),
		cmocka_unit_test(a_set_up_is_found_by_its_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
