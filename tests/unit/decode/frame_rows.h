#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <decode/decode.h>

/*
 * Frames in hexadecimal, and what their first packet must say. Blanks are skipped; "00*12" is twelve
 * zero bytes. CRCs are not computed: those have tests of their own.
 */
struct frame_row {
	const char *sentence;
	uint16_t link_type;
	uint32_t cut; /* bytes that existed behind the captured ones */
	const char *hex;
	const char *stack; /* "eth,vlan:5,ipv4" */
	enum ft_malformed malformed;
	enum ft_truncated truncated;
	enum ft_unopened unopened;
	uint8_t alerts; /* FT_ALERT_IP_BAD_CHECKSUM is not compared: the rows' IPv4 headers have none */
};

void check_frame_rows(const struct frame_row *rows, size_t count);
#define CHECK_FRAME_ROWS(rows) check_frame_rows(rows, sizeof(rows) / sizeof *(rows))

/* Decode one such frame; returns what ft_decode() does. `bytes` has room for FRAME_BYTES_MAX. */
enum { FRAME_BYTES_MAX = 4096 };
size_t frame_bytes(const char *hex, uint8_t *bytes);
void stack_text(const struct ft_packet *packet, char *text, size_t room);

#define MACS                  "020000000001 020000000002 "
#define ETH(type)             MACS #type " "
#define ADDRESSES             "0a000001 0a000002 "
#define IPV4(total, protocol) "4500 " #total " 0000 4000 40 " #protocol " 0000 " ADDRESSES
#define IPV6(payload, next)   "60000000 " #payload " " #next " 40 fd*16 fe*16 "
#define UDP(port, length)     "c000 " #port " " #length " 0000 "
#define GRH(payload, next)    "60000000 " #payload " " #next " 40 fd*16 fe*16 "
