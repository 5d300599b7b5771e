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

/* Clear-to-sends are the sender's bytes: any numbers in them. */
static void fill(const struct ft_frame *frame, struct ft_nccl_request requests[8],
		 struct ft_nccl_connection *connection, struct ft_nccl_shown *shown)
{
	const uint8_t *bytes = frame->bytes;

	for (uint32_t i = 0; i + 16 <= frame->captured && i < 8 * 16; i += 16) {
		struct ft_nccl_request *request = &requests[i / 16];

		request->has_tag = (bytes[i] & 1) != 0;
		request->has_offered = (bytes[i] & 2) != 0;
		request->has_written = (bytes[i] & 4) != 0;
		request->rkey_count = (uint8_t)(bytes[i + 1] % (FT_NCCL_RKEYS_MAX + 1));
		memcpy(&request->tag, bytes + i + 4, sizeof request->tag);
		memcpy(&request->va, bytes + i + 8, sizeof request->va);
		/* JSON readers stop at 63 bits */
		request->offered = request->written = request->va >> 1;
		memcpy(request->rkeys, bytes + i, 16);
		shown->request_count++;
	}
	if (frame->captured == 0)
		return;
	connection->has_family = (bytes[0] & 8) != 0;
	connection->family = (enum ft_nccl_family)(bytes[0] % FT_NCCL_FAMILIES);
	shown->role = (enum ft_nccl_frame_role)(bytes[0] >> 6);
	shown->again = (bytes[0] & 16) != 0;
	shown->has_k = (bytes[0] & 32) != 0;
	shown->k = requests[0].written;
	shown->protocol = (enum ft_nccl_protocol)(bytes[0] >> 2 & 3);
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
	struct ft_nccl_request requests[8] = { 0 };
	struct ft_nccl_connection connection = { 0 };
	struct ft_nccl_shown shown = { .connection = &connection, .requests = requests };
	struct ft_frame_view view = { frame, name, packet, sub, &verdict, true, &shown, true };

	fill(frame, requests, &connection, &shown);
	object_is_json(&view);
	line_is_harmless(&view);
	view.nccl = NULL;
	object_is_json(&view);
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
