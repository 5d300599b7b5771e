#include "frame_rows.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_TEXT_MAX = 2048 };

static unsigned digit(char c)
{
	return isdigit((unsigned char)c) ? (unsigned)(c - '0')
					 : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
}

size_t frame_bytes(const char *hex, uint8_t *bytes)
{
	size_t size = 0;

	while (*hex != '\0') {
		unsigned long repeat = 1;
		uint8_t byte;

		if (*hex == ' ') {
			hex++;
			continue;
		}
		assert_true(isxdigit((unsigned char)hex[0]) && isxdigit((unsigned char)hex[1]));
		byte = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
		hex += 2;
		if (*hex == '*')
			repeat = strtoul(hex + 1, (char **)&hex, 10);
		assert_true(size + repeat <= FRAME_BYTES_MAX);
		memset(bytes + size, byte, repeat);
		size += repeat;
	}
	return size;
}

void stack_text(const struct ft_packet *packet, char *text, size_t room)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < packet->layer_count; i++) {
		if (i > 0)
			text[used++] = ',';
		used += ft_layer_text(&packet->layers[i], text + used, room - used);
	}
}

static bool row_holds(const struct frame_row *row)
{
	struct ft_decode_config config = FT_DECODE_DEFAULTS;
	static uint8_t bytes[FRAME_BYTES_MAX];
	struct ft_decode_input input = { .bytes = bytes,
					 .link_type = row->link_type,
					 .ts_ns = UINT64_MAX };
	char stack[STACK_TEXT_MAX];
	struct ft_decode_rest rest;
	struct ft_packet packet;
	bool good;

	memset(&packet, 0xa5, sizeof packet);
	config.check_icrc = false;
	input.captured = (uint32_t)frame_bytes(row->hex, bytes);
	input.wire = input.captured + row->cut;
	ft_decode(&config, &input, &packet, &rest);
	stack_text(&packet, stack, sizeof stack);
	good = strcmp(stack, row->stack) == 0 && packet.malformed == row->malformed &&
	       packet.truncated == row->truncated && packet.unopened == row->unopened &&
	       (packet.alerts & ~FT_ALERT_IP_BAD_CHECKSUM) == row->alerts;
	if (!good)
		print_error("%s: %s, malformed %s, truncated %s, unopened %s, alerts %02x\n",
			    row->sentence, stack, ft_malformed_name(packet.malformed),
			    ft_truncated_name(packet.truncated), ft_unopened_name(packet.unopened),
			    packet.alerts);
	return good;
}

void check_frame_rows(const struct frame_row *rows, size_t count)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < count; i++)
		wrong += !row_holds(&rows[i]);
	assert_int_equal(wrong, 0);
}
