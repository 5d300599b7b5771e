#include "frame_rows.h"

#include <string.h>

/* Datagrams are built around their samples, so that the rows show only what they are about. */

#define RAW(length, frame, stripped, header)                                                       \
	"00000001 000000" #length " 00000001 000000" #frame " 000000" #stripped " 000000" #header  \
	" "
#define FLOW(length, records)                                                                      \
	"00000001 000000" #length                                                                  \
	" 00000001 00000002 00000064 00000000 00000000 00000007 00000009 000000" #records " "
#define EXPANDED(length, records)                                                                  \
	"00000003 000000" #length                                                                  \
	" 00000001 00000000 00000002 00000065 00000000 00000000 00000000 00000008 00000000 "       \
	"0000000a 000000" #records " "
#define COUNTERS "00000002 00000004 00000000 "
#define DISCARD  "00000005 00000004 00000000 "
#define IPV4_TCP ETH(0800) IPV4(0014, 06) "0000 "
#define SAMPLE   FLOW(5c, 01) RAW(34, 22, 00, 22) IPV4_TCP

static const char *const stack = "eth,ipv4,udp,sflow5,eth,ipv4";

enum { UDP_AT = 34, IP_AT = 14 };

struct row {
	const char *sentence;
	const char *samples;
	uint8_t count;
	unsigned packets;
	enum ft_malformed last; /* what the last packet says */
};

static size_t build(const struct row *row, uint8_t *bytes)
{
	size_t size =
		frame_bytes(ETH(0800) IPV4(0000, 11)
				    UDP(18c7, 0000) "00000005 00000001 0a000003 00*12 00000000",
			    bytes);

	bytes[size - 1] = row->count;
	size += frame_bytes(row->samples, bytes + size);
	bytes[IP_AT + 2] = (uint8_t)((size - IP_AT) >> 8);
	bytes[IP_AT + 3] = (uint8_t)(size - IP_AT);
	bytes[UDP_AT + 4] = (uint8_t)((size - UDP_AT) >> 8);
	bytes[UDP_AT + 5] = (uint8_t)(size - UDP_AT);
	return size;
}

static bool row_holds(const struct row *row)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	static uint8_t bytes[FRAME_BYTES_MAX];
	struct ft_decode_input input = { .bytes = bytes, .link_type = 1, .ts_ns = UINT64_MAX };
	struct ft_decode_rest rest;
	struct ft_packet packet;
	unsigned packets = 1;
	char text[256];
	bool more, same = true;

	input.captured = input.wire = (uint32_t)build(row, bytes);
	more = ft_decode(&config, &input, &packet, &rest);
	while (more) {
		stack_text(&packet, text, sizeof text);
		same = same && strcmp(text, stack) == 0 && rest.sub == packets - 1;
		more = ft_decode_more(&config, &input, &packet, &rest);
		packets++;
	}
	if (same && packets == row->packets && packet.malformed == row->last)
		return true;
	print_error("%s: %u packets, the last %s\n", row->sentence, packets,
		    ft_malformed_name(packet.malformed));
	return false;
}

static void datagrams_are_walked_sample_by_sample(void **state)
{
	static const struct row rows[] = {
		{ "one sample", SAMPLE, 1, 1, FT_OK },
		{ "two samples", SAMPLE SAMPLE, 2, 2, FT_OK },
		{ "two records in one sample",
		  FLOW(98, 02) RAW(34, 22, 00, 22) IPV4_TCP RAW(34, 22, 00, 22) IPV4_TCP, 1, 2,
		  FT_OK },
		{ "an expanded sample", EXPANDED(68, 01) RAW(34, 22, 00, 22) IPV4_TCP, 1, 1,
		  FT_OK },
		{ "counters and discards hold no packet", COUNTERS DISCARD SAMPLE COUNTERS, 4, 1,
		  FT_OK },
		{ "none at all: the datagram itself", COUNTERS, 1, 1, FT_OK },
		{ "other records are stepped over",
		  FLOW(68, 02) "000003e9 00000004 00000000 " RAW(34, 22, 00, 22) IPV4_TCP, 1, 1,
		  FT_OK },
		{ "headers of an unknown protocol are stepped over",
		  FLOW(5c,
		       01) "00000001 00000034 00000002 00000022 00000000 00000022 " IPV4_TCP SAMPLE,
		  2, 1, FT_OK },
		{ "samples and records may be empty",
		  FLOW(20, 00) FLOW(28, 01) "000003e9 00000000 " SAMPLE "00000002 00000000 ", 4, 1,
		  FT_OK },
		{ "and end the datagram", SAMPLE FLOW(28, 01) "000003e9 00000000 ", 2, 1, FT_OK },
		{ "bytes behind the last record are stepped over",
		  FLOW(60, 01) RAW(34, 22, 00, 22) IPV4_TCP "00000000 " SAMPLE, 2, 2, FT_OK },
		{ "fewer samples than announced", SAMPLE, 2, 2, FT_SFLOW_BAD_LENGTH },
		{ "a sample past the datagram", FLOW(ff, 01), 1, 1, FT_SFLOW_BAD_LENGTH },
		{ "a sample too short for its own header", "00000001 00000004 00000000 ", 1, 1,
		  FT_SFLOW_BAD_LENGTH },
		{ "a record past its sample", FLOW(5c, 01) RAW(38, 22, 00, 22) IPV4_TCP, 1, 1,
		  FT_SFLOW_BAD_LENGTH },
		{ "a header past its record", FLOW(5c, 01) RAW(34, 22, 00, 28) IPV4_TCP, 1, 1,
		  FT_SFLOW_BAD_LENGTH },
		{ "more stripped than there was", FLOW(5c, 01) RAW(34, 22, 23, 22) IPV4_TCP, 1, 1,
		  FT_SFLOW_BAD_LENGTH },
		{ "more records than the sample holds", FLOW(5c, 02) RAW(34, 22, 00, 22) IPV4_TCP,
		  1, 2, FT_SFLOW_BAD_LENGTH },
	};
	unsigned wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		wrong += !row_holds(&rows[i]);
	assert_int_equal(wrong, 0);
}

static void check_only_packet(const struct row *row, const char *wanted)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	static uint8_t bytes[FRAME_BYTES_MAX];
	struct ft_decode_input input = { .bytes = bytes, .link_type = 1, .ts_ns = UINT64_MAX };
	struct ft_decode_rest rest;
	struct ft_packet packet;
	char text[256];

	input.captured = input.wire = (uint32_t)build(row, bytes);
	assert_false(ft_decode(&config, &input, &packet, &rest));
	stack_text(&packet, text, sizeof text);
	assert_string_equal(text, wanted);
	assert_int_equal(packet.malformed, FT_OK);
	assert_int_equal(packet.truncated, FT_COMPLETE);
}

/* A record of one header of `header` bytes, in a sample of its own. */
#define SAMPLED(sample, record, protocol, header)                                                  \
	FLOW(sample, 01)                                                                           \
	"00000001 000000" #record " 000000" #protocol " 000000" #header " 00000000 000000" #header \
	" "

static void the_header_may_be_of_another_link(void **state)
{
	static const struct {
		struct row row;
		const char *stack;
	} rows[] = {
		{ { "IPv4", SAMPLED(4c, 24, 0b, 14) IPV4(0014, 3b), 1, 1, FT_OK },
		  "eth,ipv4,udp,sflow5,ipv4" },
		{ { "IPv6", SAMPLED(60, 38, 0c, 28) IPV6(0000, 3b), 1, 1, FT_OK },
		  "eth,ipv4,udp,sflow5,ipv6" },
		{ { "MPLS", SAMPLED(50, 28, 0d, 18) "000111 40 " IPV4(0014, 3b), 1, 1, FT_OK },
		  "eth,ipv4,udp,sflow5,mpls:17,ipv4" },
		{ { "InfiniBand",
		    SAMPLED(50, 28, 12,
			    18) "00 02 0002 0006 0001 04 00 ffff 00 000011 00 000001 ba73c053",
		    1, 1, FT_OK },
		  "eth,ipv4,udp,sflow5,lrh,bth" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check_only_packet(&rows[i].row, rows[i].stack);
}

#define SEVEN(what) what what what what what what what
#define EIGHT(what) SEVEN(what) what
#define OTHER       "000003e9 00000000 "
#define PACKET      RAW(34, 22, 00, 22) IPV4_TCP

/* The sixty-fifth sample of a datagram and the sixty-fifth record of a sample are not looked at. */
static void no_more_than_64_are_walked(void **state)
{
#define WIDE_FLOW(length, records)                                                                 \
	"00000001 0000" #length                                                                    \
	" 00000001 00000002 00000064 00000000 00000000 00000007 00000009 000000" #records " "
	static const struct {
		struct row row;
		const char *stack;
	} rows[] = {
		{ { "64 samples", EIGHT(EIGHT(COUNTERS)) SAMPLE, 65, 1, FT_OK },
		  "eth,ipv4,udp,sflow5" },
		{ { "63 samples", EIGHT(SEVEN(COUNTERS)) SEVEN(COUNTERS) SAMPLE, 64, 1, FT_OK },
		  "eth,ipv4,udp,sflow5,eth,ipv4" },
		{ { "64 records", WIDE_FLOW(025c, 41) EIGHT(EIGHT(OTHER)) PACKET, 1, 1, FT_OK },
		  "eth,ipv4,udp,sflow5" },
		{ { "63 records", WIDE_FLOW(0254, 40) EIGHT(SEVEN(OTHER)) SEVEN(OTHER) PACKET, 1, 1,
		    FT_OK },
		  "eth,ipv4,udp,sflow5,eth,ipv4" },
	};
#undef WIDE_FLOW

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check_only_packet(&rows[i].row, rows[i].stack);
}

static void a_sample_tells_where_it_was_taken(void **state)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	static uint8_t bytes[FRAME_BYTES_MAX];
	const struct row row = { .samples = EXPANDED(68, 01) RAW(34, 22, 04, 22) IPV4_TCP,
				 .count = 1 };
	struct ft_decode_input input = { .bytes = bytes, .link_type = 1, .ts_ns = UINT64_MAX };
	struct ft_decode_rest rest;
	struct ft_packet packet;

	(void)state;
	input.captured = input.wire = (uint32_t)build(&row, bytes);
	assert_false(ft_decode(&config, &input, &packet, &rest));
	assert_int_equal(packet.tunnels[0].kind, FT_TUNNEL_SFLOW5);
	assert_int_equal(packet.tunnels[0].sampling_rate, 0x65);
	assert_int_equal(packet.tunnels[0].input, 8);
	assert_int_equal(packet.tunnels[0].output, 10);
	assert_int_equal(packet.tunnels[0].stripped, 4);
	assert_int_equal(packet.tunnels[0].outer_dst[15], 2);
	/* 34 bytes with their FCS: 16 of them behind Ethernet, too few for IPv4 */
	assert_int_equal(packet.malformed, FT_IP_SHORT);
}

/* Offsets of a datagram from an agent with an IPv4 address: its headers, its sample's, what was sampled. */
enum {
	SFLOW_AT = 42,
	SAMPLES_AT = SFLOW_AT + 28,
	SAMPLED_AT = SAMPLES_AT + 8 + 32 + 8 + 16,
	DATAGRAM_END = SAMPLED_AT + 36, /* with two bytes of padding */
	IPV6_MORE = 12,
};

/* Decoded as captured, of a frame that was `wire` bytes long. */
static void decode_first(const uint8_t *bytes, uint32_t captured, uint32_t wire,
			 struct ft_packet *packet, char text[256])
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	struct ft_decode_input input = { .bytes = bytes,
					 .captured = captured,
					 .wire = wire,
					 .link_type = 1,
					 .ts_ns = UINT64_MAX };
	struct ft_decode_rest rest;

	ft_decode(&config, &input, packet, &rest);
	stack_text(packet, text, 256);
}

/* The agent's address is an IPv6 one: 12 bytes more stand before the samples. */
static size_t widen_agent(uint8_t *bytes, size_t size)
{
	uint8_t *address = bytes + SFLOW_AT + 8;

	memmove(address + 16, address + 4, size - SFLOW_AT - 12);
	memset(address, 0xfd, 16);
	address[-1] = 2;
	bytes[IP_AT + 3] = (uint8_t)(bytes[IP_AT + 3] + IPV6_MORE);
	bytes[UDP_AT + 5] = (uint8_t)(bytes[UDP_AT + 5] + IPV6_MORE);
	return size + IPV6_MORE;
}

static const struct row one_sample = { .samples = SAMPLE, .count = 1 };

static void the_agent_has_an_address_of_either_kind(void **state)
{
	static uint8_t bytes[FRAME_BYTES_MAX];
	struct ft_packet packet;
	char text[256];
	size_t size = build(&one_sample, bytes);

	(void)state;
	assert_int_equal(size, DATAGRAM_END);
	size = widen_agent(bytes, size);
	decode_first(bytes, (uint32_t)size, (uint32_t)size, &packet, text);
	assert_string_equal(text, stack);
	assert_int_equal(packet.malformed, FT_OK);
	assert_int_equal(packet.truncated, FT_COMPLETE);
	assert_int_equal(packet.tunnels[0].sampling_rate, 0x64);

	bytes[SFLOW_AT + 7] = 3; /* of no kind that there is */
	decode_first(bytes, (uint32_t)size, (uint32_t)size, &packet, text);
	assert_string_equal(text, "eth,ipv4,udp");
	assert_int_equal(packet.malformed, FT_OK);
	bytes[SFLOW_AT + 7] = 2;
	bytes[SFLOW_AT + 3] = 4; /* another version */
	decode_first(bytes, (uint32_t)size, (uint32_t)size, &packet, text);
	assert_string_equal(text, "eth,ipv4,udp");
}

/* What the capture cut off is missing, and no fault of the datagram's. */
static void a_datagram_may_be_cut_anywhere(void **state)
{
	for (uint32_t more = 0; more <= IPV6_MORE; more += IPV6_MORE) {
		static uint8_t bytes[FRAME_BYTES_MAX];
		size_t size = build(&one_sample, bytes);

		(void)state;
		if (more != 0)
			size = widen_agent(bytes, size);
		for (uint32_t kept = SFLOW_AT; kept < size; kept++) {
			uint32_t at = kept < SAMPLES_AT + more ? kept : kept - more;
			struct ft_packet packet;
			char text[256];

			decode_first(bytes, kept, (uint32_t)size, &packet, text);
			assert_int_equal(packet.malformed, FT_OK);
			if (kept < SAMPLES_AT + more)
				assert_string_equal(text, "eth,ipv4,udp");
			else if (at < SAMPLED_AT)
				assert_string_equal(text, "eth,ipv4,udp,sflow5");
			else
				assert_ptr_equal(strstr(text, "eth,ipv4,udp,sflow5"), text);
			if (at < SAMPLED_AT)
				assert_int_equal(packet.truncated, FT_CUT_SFLOW5);
			else if (at < SAMPLED_AT + 14)
				assert_int_equal(packet.truncated, FT_CUT_ETH);
		}
	}
}

/* A datagram that ends before what it announces is broken wherever it ends. */
static void a_datagram_may_end_anywhere(void **state)
{
	for (uint32_t more = 0; more <= IPV6_MORE; more += IPV6_MORE) {
		static uint8_t bytes[FRAME_BYTES_MAX];
		size_t size = build(&one_sample, bytes);

		(void)state;
		if (more != 0)
			size = widen_agent(bytes, size);
		for (uint32_t end = SFLOW_AT; end < size; end++) {
			struct ft_packet packet;
			char text[256];

			bytes[IP_AT + 3] = (uint8_t)(end - IP_AT);
			bytes[UDP_AT + 5] = (uint8_t)(end - UDP_AT);
			decode_first(bytes, end, end, &packet, text);
			assert_int_equal(packet.malformed, FT_SFLOW_BAD_LENGTH);
			assert_int_equal(packet.truncated, FT_COMPLETE);
			assert_string_equal(text, end < SAMPLES_AT + more ? "eth,ipv4,udp"
									  : "eth,ipv4,udp,sflow5");
		}
	}
}

/* Packets of a frame would multiply. */
static void a_sampled_datagram_is_not_opened(void **state)
{
	static const struct row row = {
		"sFlow in sFlow",
		FLOW(80, 01) "00000001 00000058 00000001 00000046 00000000 00000046 " ETH(0800)
			IPV4(0038, 11)
				UDP(18c7, 0024) "00000005 00000001 0a000003 00*12 00000001 0000 ",
		1, 1, FT_OK
	};

	(void)state;
	check_only_packet(&row, "eth,ipv4,udp,sflow5,eth,ipv4,udp");
}

/* As long as a number can say. */
static void a_frame_of_any_length_may_be_sampled(void **state)
{
	static const struct row row = {
		.samples = FLOW(
			5c, 01) "00000001 00000034 00000001 ffffffff 00000000 00000022 " IPV4_TCP,
		.count = 1,
	};
	static uint8_t bytes[FRAME_BYTES_MAX];
	uint32_t size = (uint32_t)build(&row, bytes);
	struct ft_packet packet;
	char text[256];

	(void)state;
	decode_first(bytes, size, size, &packet, text);
	assert_string_equal(text, stack);
	assert_int_equal(packet.malformed, FT_OK);
	assert_int_equal(packet.tunnels[0].frame_length, UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(datagrams_are_walked_sample_by_sample),
		cmocka_unit_test(the_header_may_be_of_another_link),
		cmocka_unit_test(no_more_than_64_are_walked),
		cmocka_unit_test(a_sample_tells_where_it_was_taken),
		cmocka_unit_test(the_agent_has_an_address_of_either_kind),
		cmocka_unit_test(a_datagram_may_be_cut_anywhere),
		cmocka_unit_test(a_datagram_may_end_anywhere),
		cmocka_unit_test(a_sampled_datagram_is_not_opened),
		cmocka_unit_test(a_frame_of_any_length_may_be_sampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
