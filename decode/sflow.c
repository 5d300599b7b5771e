#include "pass.h"

/*
 * sFlow version 5: a datagram of samples, a sample of records. Each raw packet header record is a
 * packet of its own. Between packets of a frame the place is kept in struct ft_decode_rest.
 */

enum { SAMPLES_MAX = 64, RECORDS_MAX = 64, SAMPLE_HEADER = 8, RECORD_HEADER = 8, RAW_HEADER = 16 };
enum { FLOW_SAMPLE = 1, EXPANDED_SAMPLE = 3, RAW_RECORD = 1 };

enum found { FOUND, NONE, BAD_LENGTH, CUT };

struct raw_header {
	enum ft_step step;
	uint32_t at, captured, frame_length, stripped;
};

static enum ft_step protocol_step(uint32_t protocol)
{
	switch (protocol) {
	case 1:
		return FT_STEP_ETHERNET;
	case 11:
		return FT_STEP_IPV4;
	case 12:
		return FT_STEP_IPV6;
	case 13:
		return FT_STEP_MPLS;
	case 18:
		return FT_STEP_LRH;
	default:
		return FT_STEP_DONE;
	}
}

/* Are `size` bytes at `at` inside `end` (else a bad length) and captured (else cut)? */
static enum found reach(const struct ft_cursor *cursor, uint32_t at, uint32_t size, uint32_t end)
{
	if (at > end || size > end - at)
		return BAD_LENGTH;
	return at <= cursor->captured && size <= cursor->captured - at ? FOUND : CUT;
}

/* Where sampling rate, input and output stand in a sample's body, and how long it is up to its records. */
static const struct layout {
	uint8_t size, rate, input, output, records;
} flow_layout = { 32, 8, 20, 24, 28 }, expanded_layout = { 44, 12, 28, 36, 40 };

/* Open the next sample. FOUND also for samples without records, such as counters. */
static enum found next_sample(const struct ft_cursor *cursor, struct ft_decode_rest *place)
{
	enum found found = reach(cursor, place->at, SAMPLE_HEADER, cursor->wire);
	const struct layout *layout;
	const uint8_t *b;
	uint32_t length;

	if (found != FOUND)
		return found;
	b = cursor->bytes + place->at;
	length = ft_be32(b + 4);
	place->at += SAMPLE_HEADER;
	place->samples--;
	if (length > cursor->wire - place->at)
		return BAD_LENGTH;
	place->sample_end = place->at + length;
	layout = ft_be32(b) == FLOW_SAMPLE       ? &flow_layout
		 : ft_be32(b) == EXPANDED_SAMPLE ? &expanded_layout
						 : NULL;
	if (layout == NULL) {
		place->at = place->sample_end;
		return FOUND;
	}
	found = reach(cursor, place->at, layout->size, place->sample_end);
	if (found != FOUND)
		return found;
	b = cursor->bytes + place->at;
	place->rate = ft_be32(b + layout->rate);
	place->input = ft_be32(b + layout->input);
	place->output = ft_be32(b + layout->output);
	place->records = ft_be32(b + layout->records);
	if (place->records > RECORDS_MAX)
		place->records = RECORDS_MAX;
	place->at += layout->size;
	return FOUND;
}

/* Read the next record. FOUND with raw->step == FT_STEP_DONE for records that hold no packet. */
static enum found next_record(const struct ft_cursor *cursor, struct ft_decode_rest *place,
			      struct raw_header *raw)
{
	enum found found = reach(cursor, place->at, RECORD_HEADER, place->sample_end);
	uint32_t body, length, padded;
	const uint8_t *b;

	raw->step = FT_STEP_DONE;
	if (found != FOUND)
		return found;
	b = cursor->bytes + place->at;
	body = place->at + RECORD_HEADER;
	length = ft_be32(b + 4);
	if (length > place->sample_end - body)
		return BAD_LENGTH;
	place->records--;
	place->at = body + length;
	if (ft_be32(b) != RAW_RECORD)
		return FOUND;
	found = reach(cursor, body, RAW_HEADER, place->at);
	if (found != FOUND)
		return found;
	b = cursor->bytes + body;
	padded = ft_be32(b + 12);
	if (padded > length - RAW_HEADER || ft_be32(b + 8) > ft_be32(b + 4))
		return BAD_LENGTH;
	*raw = (struct raw_header){
		.step = protocol_step(ft_be32(b)),
		.at = body + RAW_HEADER,
		.captured = ft_be32(b + 12),
		.frame_length = ft_be32(b + 4),
		.stripped = ft_be32(b + 8),
	};
	return FOUND;
}

/* Move on to the next sampled packet. Every turn uses up a sample or a record. */
static enum found next_packet(const struct ft_cursor *cursor, struct ft_decode_rest *place,
			      struct raw_header *raw)
{
	for (;;) {
		enum found found;

		if (place->records == 0 && place->sample_end != 0)
			place->at = place->sample_end;
		if (place->records == 0 && place->samples == 0)
			return NONE;
		if (place->records == 0) {
			found = next_sample(cursor, place);
			raw->step = FT_STEP_DONE;
		} else {
			found = next_record(cursor, place, raw);
		}
		if (found != FOUND || raw->step != FT_STEP_DONE)
			return found;
	}
}

/* Is there another packet, or a broken rest worth reporting? What was cut off is neither. */
static bool has_more(const struct ft_cursor *cursor, struct ft_decode_rest place)
{
	struct raw_header raw;
	enum found found = next_packet(cursor, &place, &raw);

	return found == FOUND || found == BAD_LENGTH;
}

static enum ft_step enter_sample(struct ft_pass *pass, const struct raw_header *raw)
{
	struct ft_tunnel *tunnel = ft_tunnel_open(pass, FT_TUNNEL_SFLOW5);
	struct ft_cursor *cursor = &pass->cursor;
	uint32_t wire = raw->frame_length - raw->stripped,
		 held = raw->captured < wire ? raw->captured : wire;

	tunnel->sampling_rate = pass->rest->rate;
	tunnel->input = pass->rest->input;
	tunnel->output = pass->rest->output;
	tunnel->frame_length = raw->frame_length;
	tunnel->stripped = raw->stripped;
	if (wire >= FT_WIRE_UNKNOWN - raw->at)
		wire = FT_WIRE_UNKNOWN - 1 - raw->at;
	cursor->at = raw->at;
	cursor->wire = raw->at + wire;
	if (cursor->captured > raw->at + held)
		cursor->captured = raw->at + held;
	return raw->step;
}

static enum ft_step read_packet(struct ft_pass *pass)
{
	struct raw_header raw;

	switch (next_packet(&pass->cursor, pass->rest, &raw)) {
	case FOUND:
		pass->more = has_more(&pass->cursor, *pass->rest);
		return enter_sample(pass, &raw);
	case BAD_LENGTH:
		return ft_stop(pass, FT_SFLOW_BAD_LENGTH);
	case CUT:
		pass->packet->truncated = FT_CUT_SFLOW5;
		return FT_STEP_DONE;
	case NONE:
		break;
	}
	return FT_STEP_DONE;
}

/* An sFlow datagram inside a sample is not opened: packets per frame would multiply. */
enum ft_step ft_read_sflow(struct ft_pass *pass)
{
	uint32_t at = pass->cursor.at, address_len, count;
	const uint8_t *b;

	if (pass->sampled || !ft_tunnel_allowed(pass))
		return FT_STEP_DONE;
	b = ft_take(&pass->cursor, 8);
	if (b == NULL)
		return ft_short(pass, 8, FT_SFLOW_BAD_LENGTH, FT_CUT_SFLOW5);
	address_len = ft_be32(b + 4) == 1 ? 4 : ft_be32(b + 4) == 2 ? 16 : 0;
	if (ft_be32(b) != 5 || address_len == 0)
		return FT_STEP_DONE;
	b = ft_take(&pass->cursor, address_len + 16);
	if (b == NULL)
		return ft_short(pass, address_len + 16, FT_SFLOW_BAD_LENGTH, FT_CUT_SFLOW5);
	ft_layer_push(pass, FT_LAYER_SFLOW5, at, 0);
	pass->sampled = true;
	if (pass->rest->sub == 0) {
		count = ft_be32(b + address_len + 12);
		*pass->rest = (struct ft_decode_rest){
			.at = pass->cursor.at,
			.samples = count < SAMPLES_MAX ? count : SAMPLES_MAX,
		};
	}
	return read_packet(pass);
}
