/*
 * Cutting a frame short hides things, but invents none: the prefix of a frame shows a part of what the
 * frame shows, and breaks a rule only if the whole frame breaks one.
 */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../holds.h"
#include "frame_input.h"

enum { DENSE = 120 }; /* bytes that are cut one by one: the headers of most frames */

/* Pad bytes are not looked at once a rule is broken, such as that of an ICRC which the prefix does not have. */
static uint8_t alerts_at_most(const struct ft_packet *whole)
{
	return whole->malformed != FT_OK ? whole->alerts | FT_ALERT_PAD_NONZERO : whole->alerts;
}

static void prefix_holds(const struct ft_packet *whole, const struct ft_packet *prefix)
{
	bool same_depth = whole->tunnel_count == prefix->tunnel_count;

	assert(prefix->malformed == FT_OK || whole->malformed != FT_OK);
	assert(prefix->truncated != FT_COMPLETE || whole->truncated == FT_COMPLETE);
	assert(prefix->layer_count <= whole->layer_count);
	assert(memcmp(prefix->layers, whole->layers,
		      prefix->layer_count * sizeof whole->layers[0]) == 0);
	if (same_depth) {
		assert((prefix->has & ~whole->has) == 0);
		assert((prefix->alerts & ~alerts_at_most(whole)) == 0);
		assert(prefix->transport == FT_TRANSPORT_NONE ||
		       prefix->transport == whole->transport);
	}
	if (same_depth && (prefix->has & FT_HAS_BTH) != 0) {
		assert(prefix->opcode == whole->opcode && prefix->pkey == whole->pkey &&
		       prefix->psn == whole->psn);
		assert(prefix->dest_qp == whole->dest_qp);
		assert(prefix->icrc_check == FT_CHECK_UNKNOWN ||
		       prefix->icrc_check == whole->icrc_check);
	}
	if (same_depth && (prefix->has & FT_HAS_PAYLOAD_LENGTH) != 0)
		assert(prefix->payload_length == whole->payload_length);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	static struct ft_packet whole, prefix;
	struct ft_decode_rest rest;
	struct frame_input frame;
	struct ft_decode_input cut;

	if (!frame_input_read(bytes, size, &frame))
		return;
	ft_decode(&frame.config, &frame.input, &whole, &rest);
	cut = frame.input;
	for (uint32_t captured = 0; captured < frame.input.captured;
	     captured += captured < DENSE ? 1 : 13) {
		uint8_t *copy = malloc(captured != 0 ? captured : 1);

		if (copy == NULL)
			abort();
		memcpy(copy, frame.bytes, captured);
		cut.bytes = copy;
		cut.captured = captured;
		ft_decode(&frame.config, &cut, &prefix, &rest);
		prefix_holds(&whole, &prefix);
		free(copy);
	}
	free(frame.bytes);
}
