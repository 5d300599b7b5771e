#include "../holds.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <decode/decode.h>
#include <report/frame.h>

/*
 * Whatever a frame holds, and whatever the map's names hold: its object is valid JSON on one line, and
 * its line for people is one line that no terminal acts on. Byte 0: link type; byte 1 on: the frame,
 * and the names.
 */

static const uint16_t link_types[] = { FT_LINK_ETHERNET, FT_LINK_SLL, FT_LINK_ERF,
				       FT_LINK_INFINIBAND, FT_LINK_SLL2 };

static char *written(int (*write)(FILE *, const struct ft_frame_view *),
		     const struct ft_frame_view *view)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert(out != NULL);
	assert(write(out, view) == 0);
	assert(fclose(out) == 0);
	assert(size == strlen(text) && size > 0 && strchr(text, '\n') == text + size - 1);
	return text;
}

static void object_is_json(const struct ft_frame_view *view)
{
	char *text = written(ft_frame_json, view);
	json_t *object = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, NULL);

	assert(json_is_object(object));
	assert(json_array_size(json_object_get(object, "encap")) == view->packet->layer_count);
	assert((uint64_t)json_integer_value(json_object_get(object, "frame")) ==
	       view->frame->number);
	json_decref(object);
	free(text);
}

static void line_is_harmless(const struct ft_frame_view *view)
{
	char *text = written(ft_frame_text, view);

	for (const char *at = text; at[1] != 0; at++)
		assert(!iscntrl((unsigned char)*at));
	free(text);
}

static void check(const struct ft_frame *frame, const struct ft_packet *packet, unsigned sub,
		  const char *name)
{
	const char *rules[] = { name, "pkey.undeclared" };
	struct ft_frame_verdict verdict = { .rules = rules,
					    .rule_count = 2,
					    .from = name,
					    .to = name,
					    .exception = name,
					    .undecided = "truncated" };
	struct ft_frame_view view = { frame, name, packet, sub, &verdict, false, NULL, false };

	object_is_json(&view);
	line_is_harmless(&view);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	static struct ft_packet packet;
	struct ft_decode_rest rest;
	struct ft_frame frame = { .number = 1,
				  .ts_ns = size % 2 != 0 ? FT_TS_UNKNOWN : 1795250704000000000 };
	struct ft_decode_input input;
	char name[64] = "";
	bool more;

	if (size == 0)
		return;
	memcpy(name, bytes, size < sizeof(name) ? size : sizeof(name) - 1);
	frame.link_type = link_types[bytes[0] % (sizeof(link_types) / sizeof(link_types[0]))];
	frame.bytes = bytes + 1;
	frame.captured = (uint32_t)(size - 1);
	frame.original = frame.wire = frame.captured + bytes[0] / 5;
	frame.fcs_bytes = bytes[0] & 4;
	input = (struct ft_decode_input){ .bytes = frame.bytes,
					  .captured = frame.captured,
					  .wire = frame.original,
					  .link_type = frame.link_type,
					  .fcs_bytes = frame.fcs_bytes,
					  .ts_ns = frame.ts_ns };
	more = ft_decode(&config, &input, &packet, &rest);
	check(&frame, &packet, rest.sub, name);
	for (unsigned count = 0; more && count < 100; count++) {
		more = ft_decode_more(&config, &input, &packet, &rest);
		check(&frame, &packet, rest.sub, name);
	}
}
