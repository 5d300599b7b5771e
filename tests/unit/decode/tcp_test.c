#include "frame_rows.h"

#include <string.h>

#include <decode/tcp.h>

enum { UNTOUCHED = 77 };

/* Ports 0x1234 and 0x5678, sequence 0x01020304, acknowledgment 0x05060708; then header length and flags. */
#define TCP(length_flags) "1234 5678 01020304 05060708 " #length_flags " 0000 0000 0000 "

static void a_header_is_read(void **state)
{
	static const struct {
		const char *sentence, *hex;
		struct ft_tcp tcp;
	} rows[] = {
		{ "no flags",
		  TCP(5000),
		  { 0x1234, 0x5678, 0x01020304, 0x05060708, 20, false, false, false, false } },
		{ "SYN, with options",
		  TCP(6002) "020405b4",
		  { 0x1234, 0x5678, 0x01020304, 0x05060708, 24, false, true, false, false } },
		{ "options cut off",
		  TCP(8010) "0101080a",
		  { 0x1234, 0x5678, 0x01020304, 0x05060708, 32, false, false, false, true } },
		{ "FIN and ACK, payload behind",
		  TCP(5011) "ffff",
		  { 0x1234, 0x5678, 0x01020304, 0x05060708, 20, true, false, false, true } },
		{ "RST and PSH, reserved bits set",
		  TCP(5fcc),
		  { 0x1234, 0x5678, 0x01020304, 0x05060708, 20, false, false, true, false } },
		{ "the longest header",
		  TCP(f010) "01*40",
		  { 0x1234, 0x5678, 0x01020304, 0x05060708, 60, false, false, false, true } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint8_t bytes[FRAME_BYTES_MAX];
		uint32_t size = (uint32_t)frame_bytes(rows[i].hex, bytes);
		struct ft_tcp tcp;

		memset(&tcp, 0, sizeof tcp);
		if (!ft_tcp_read(bytes, size, &tcp) || tcp.sport != rows[i].tcp.sport ||
		    tcp.dport != rows[i].tcp.dport || tcp.sequence != rows[i].tcp.sequence ||
		    tcp.acknowledgment != rows[i].tcp.acknowledgment ||
		    tcp.header_bytes != rows[i].tcp.header_bytes || tcp.fin != rows[i].tcp.fin ||
		    tcp.syn != rows[i].tcp.syn || tcp.rst != rows[i].tcp.rst ||
		    tcp.ack != rows[i].tcp.ack)
			fail_msg("%s", rows[i].sentence);
	}
}

static void a_broken_header_is_refused(void **state)
{
	static const struct {
		const char *sentence, *hex;
	} rows[] = {
		{ "nothing", "" },
		{ "one byte short", "1234 5678 01020304 05060708 5002 0000 0000 00" },
		{ "shorter than it can be", TCP(4002) "00*20" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint8_t bytes[FRAME_BYTES_MAX];
		uint32_t size = (uint32_t)frame_bytes(rows[i].hex, bytes);
		struct ft_tcp tcp = { .header_bytes = UNTOUCHED };

		if (ft_tcp_read(bytes, size, &tcp) || tcp.header_bytes != UNTOUCHED)
			fail_msg("%s", rows[i].sentence);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_is_read),
		cmocka_unit_test(a_broken_header_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
