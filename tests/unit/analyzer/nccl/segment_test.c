#include <frame_rows.h>

#include <stdlib.h>
#include <string.h>

#include <nccl/seen.h>

#define SHORT_ETH(type) "020000000001 020000000002 " #type " "
/* ports 0x1234 and 0x5678, sequence 0x01020304, acknowledgment 0x05060708 */
#define TCP(length_flags) "1234 5678 01020304 05060708 " #length_flags " 0000 0000 0000 "
#define SEGMENT           ETH(0800) IPV4(0030, 06) TCP(5010) "aabbccddeeff0011"
#define OUTER(protocol, total)                                                                     \
	SHORT_ETH(0800) "4500 " #total " 0000 4000 40 " #protocol " 0000 0a090901 0a090902 "
#define ERSPAN2(total)       OUTER(2f, total) "1000 88be 00000001 1005 0001 00000000 "
#define VXLAN(total, length) OUTER(11, total) "c000 12b5 " #length " 0000 08000000 000005 00 "

/* What a frame says: `cut` bytes existed behind the captured ones. */
struct row {
	const char *sentence, *hex;
	uint32_t cut;
	uint32_t captured, length; /* of the payload */
	const char *payload;
};

static bool segment_of(const struct row *row, uint8_t **bytes, struct ft_nccl_segment *segment)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	uint8_t read[FRAME_BYTES_MAX];
	uint32_t size = (uint32_t)frame_bytes(row->hex, read);
	struct ft_decode_input input = { .captured = size,
					 .wire = size + row->cut,
					 .link_type = FT_LINK_ETHERNET,
					 .ts_ns = UINT64_MAX };
	struct ft_frame frame = { .captured = size, .ts_ns = 5, .number = 9 };
	static struct ft_packet packet;
	struct ft_decode_rest rest;

	/* of the frame's size, for the address sanitizer */
	*bytes = malloc(size);
	assert_non_null(*bytes);
	memcpy(*bytes, read, size);
	input.bytes = frame.bytes = *bytes;
	memset(&packet, 0xa5, sizeof packet);
	ft_decode(&config, &input, &packet, &rest);
	return ft_nccl_segment_of(&packet, &frame, segment);
}

static bool row_holds(const struct row *row)
{
	uint8_t *bytes, payload[FRAME_BYTES_MAX];
	struct ft_nccl_segment segment;
	bool is_one = segment_of(row, &bytes, &segment), holds;

	if (row->payload == NULL || !is_one) {
		free(bytes);
		return !is_one && row->payload == NULL;
	}
	holds = segment.frame == 9 && segment.ts_ns == 5 && segment.sport == 0x1234 &&
		segment.dport == 0x5678 && segment.sequence == 0x01020304 &&
		segment.acknowledgment == 0x05060708 && segment.captured == row->captured &&
		segment.length == row->length &&
		frame_bytes(row->payload, payload) == row->captured &&
		memcmp(segment.payload, payload, row->captured) == 0;
	free(bytes);
	return holds;
}

static void segments_are_taken_out_of_frames(void **state)
{
	static const struct row rows[] = {
		{ "IPv4", SEGMENT, 0, 8, 8, "aabbccddeeff0011" },
		{ "Ethernet padding behind it", ETH(0800) IPV4(0029, 06) TCP(5010) "aa 00*5", 0, 1,
		  1, "aa" },
		{ "a VLAN tag",
		  SHORT_ETH(8100) "0005 0800 " IPV4(0030, 06) TCP(5010) "aabbccddeeff0011", 0, 8, 8,
		  "aabbccddeeff0011" },
		{ "options of IP and of TCP",
		  ETH(0800) "4600 0032 0000 4000 40 06 0000 " ADDRESSES
			    "01010101 " TCP(6010) "01010101 aabb bbcc ccdd",
		  0, 2, 2, "aabb" },
		{ "IPv6", ETH(86dd) IPV6(0016, 06) TCP(5010) "aabb", 0, 2, 2, "aabb" },
		{ "IPv6 with two extension headers",
		  ETH(86dd) IPV6(002e, 00) "3c 00 000000000000 06 01 00*14 " TCP(5010) "aabb", 0, 2,
		  2, "aabb" },
		{ "no payload", ETH(0800) IPV4(0028, 06) TCP(5012), 0, 0, 0, "" },
		{ "payload cut off", ETH(0800) IPV4(05dc, 06) TCP(5010) "aabbcc", 1457, 3, 1460,
		  "aabbcc" },
		{ "options cut off, too", ETH(0800) IPV4(0030, 06) TCP(6010) "0101", 6, 0, 4, "" },
		{ "an ERSPAN copy", ERSPAN2(0062) SEGMENT, 0, 8, 8, "aabbccddeeff0011" },
		{ "a VXLAN copy", VXLAN(0062, 004e) SEGMENT, 0, 8, 8, "aabbccddeeff0011" },
		{ "a copy that the switch cut, and a trailer behind it",
		  ERSPAN2(005e) ETH(0800) IPV4(05dc, 06) TCP(5010) "aabbccdd 11223344", 0, 4, 1460,
		  "aabbccdd" },
		{ "GRE around IPv4", OUTER(2f, 0042) "0000 0800 " IPV4(002a, 06) TCP(5010) "aabb",
		  0, 2, 2, "aabb" },
	};
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!row_holds(&rows[i])) {
			print_error("%s\n", rows[i].sentence);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

static void other_packets_are_none(void **state)
{
	static const struct row rows[] = {
		{ .sentence = "ARP", .hex = ETH(0806) "00*28" },
		{ .sentence = "UDP", .hex = ETH(0800) IPV4(0030, 11) UDP(0035, 001c) "00*20" },
		{ .sentence = "RoCEv2",
		  .hex = ETH(0800) IPV4(002c, 11)
			  UDP(12b7, 0018) "04 00 ffff 00 000011 00 000001 00*4" },
		{ .sentence = "ICMP", .hex = ETH(0800) IPV4(0028, 01) TCP(5010) },
		{ .sentence = "the first fragment",
		  .hex = ETH(0800) "4500 0030 0000 2000 40 06 0000 " ADDRESSES TCP(5010) "00*8" },
		{ .sentence = "the last fragment",
		  .hex = ETH(0800) "4500 0030 0000 0001 40 06 0000 " ADDRESSES TCP(5010) "00*8" },
		{ .sentence = "a fragment of IPv6",
		  .hex = ETH(86dd) IPV6(001c, 2c) "06 00 0001 00000000 " TCP(5010) },
		{ .sentence = "IPv6 around UDP", .hex = ETH(86dd) IPV6(0008, 11) UDP(0035, 0008) },
		{ .sentence = "a header of which a byte was not captured",
		  .hex = ETH(0800) IPV4(0028, 06) "1234 5678 01020304 05060708 5010 0000 0000 00",
		  .cut = 1 },
		{ .sentence = "options behind the packet's end, in its padding",
		  .hex = ETH(0800) IPV4(0028, 06) TCP(6010) "01010101" },
		{ .sentence = "an IPv4 packet longer than the frame",
		  .hex = ETH(0800) IPV4(0100, 06) TCP(5010) },
		{ .sentence = "nothing behind IPv4", .hex = ETH(0800) IPV4(0014, 06) },
	};
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!row_holds(&rows[i])) {
			print_error("%s\n", rows[i].sentence);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

static void ends_and_flags_are_the_segments(void **state)
{
	static const uint8_t src[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
	static const uint8_t dst[16] = { [10] = 0xff, 0xff, 10, 0, 0, 2 };
	static const struct {
		const char *hex;
		bool syn, fin, rst, ack;
	} rows[] = {
		{ ERSPAN2(005a) ETH(0800) IPV4(0028, 06) TCP(5002), true, false, false, false },
		{ ETH(0800) IPV4(0028, 06) TCP(5012), true, false, false, true },
		{ ETH(0800) IPV4(0028, 06) TCP(5011), false, true, false, true },
		{ ETH(0800) IPV4(0028, 06) TCP(5004), false, false, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ft_nccl_segment segment;
		uint8_t *bytes;

		assert_true(segment_of(&(struct row){ .hex = rows[i].hex }, &bytes, &segment));
		assert_memory_equal(segment.src, src, sizeof src);
		assert_memory_equal(segment.dst, dst, sizeof dst);
		assert_int_equal(segment.syn, rows[i].syn);
		assert_int_equal(segment.fin, rows[i].fin);
		assert_int_equal(segment.rst, rows[i].rst);
		assert_int_equal(segment.ack, rows[i].ack);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_are_taken_out_of_frames),
		cmocka_unit_test(other_packets_are_none),
		cmocka_unit_test(ends_and_flags_are_the_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
