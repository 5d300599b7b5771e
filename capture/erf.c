#include "erf.h"

#include "byte_order.h"

#include <string.h>

enum {
	TYPE_META = 27,
	TYPE_PAD = 48,
	EXTENSION = 8,
	EXTENSIONS_MAX = 64, /* in one record; none has so many */
	MORE = 0x80,         /* in a type: an extension header follows */

	/* what tells ERF from other files */
	FLAGS_RESERVED = 0xc0,
	OLDEST_SECOND = 1 << 29, /* 1987, before there was ERF */
	YEAR_SECONDS = 365 * 24 * 3600,
};

/* What a record type means for reading the container; types not listed are unknown. */
static const struct {
	bool known;
	bool counts_loss;  /* the lctr field counts lost records; a colour or a hash elsewhere */
	uint8_t subheader; /* between the headers and the frame */
} types[128] = {
	[1] = { true, true, 0 },          /* HDLC_POS */
	[2] = { true, true, 2 },          /* ETH */
	[3] = { true, true, 0 },          /* ATM */
	[4] = { true, true, 0 },          /* AAL5 */
	[5] = { true, true, 4 },          /* MC_HDLC */
	[6] = { true, true, 4 },          /* MC_RAW */
	[7] = { true, true, 4 },          /* MC_ATM */
	[8] = { true, true, 4 },          /* MC_RAW_CHANNEL */
	[9] = { true, true, 4 },          /* MC_AAL5 */
	[10] = { true, false, 0 },        /* COLOR_HDLC_POS */
	[11] = { true, false, 2 },        /* COLOR_ETH */
	[12] = { true, true, 4 },         /* MC_AAL2 */
	[13] = { true, false, 0 },        /* IP_COUNTER */
	[14] = { true, false, 0 },        /* TCP_FLOW_COUNTER */
	[15] = { true, false, 0 },        /* DSM_COLOR_HDLC_POS */
	[16] = { true, false, 2 },        /* DSM_COLOR_ETH */
	[17] = { true, false, 4 },        /* COLOR_MC_HDLC_POS */
	[18] = { true, true, 4 },         /* AAL2 */
	[19] = { true, false, 0 },        /* COLOR_HASH_POS */
	[20] = { true, false, 2 },        /* COLOR_HASH_ETH */
	[21] = { true, true, 0 },         /* INFINIBAND */
	[22] = { true, true, 0 },         /* IPV4 */
	[23] = { true, true, 0 },         /* IPV6 */
	[24] = { true, true, 0 },         /* RAW_LINK */
	[25] = { true, true, 0 },         /* INFINIBAND_LINK */
	[TYPE_META] = { true, false, 0 }, /* about the capture, not a frame */
	[28] = { true, true, 0 },         /* OPA_SNC */
	[29] = { true, true, 0 },         /* OPA_9B */
	[TYPE_PAD] = { true, false, 0 },  /* filler */
};

static uint8_t type_of(const uint8_t *record)
{
	return record[8] & 0x7f;
}

static uint16_t rlen_of(const uint8_t *record)
{
	return ft_be16(record + 10);
}

/* Little-endian 32.32 fixed point, to the nearest ns. */
static uint64_t time_of(const uint8_t *record)
{
	uint64_t fraction = ft_le32(record), seconds = ft_le32(record + 4);

	return seconds * 1000000000 + ((fraction * 1000000000 + (UINT64_C(1) << 31)) >> 32);
}

bool ft_erf_sound(const uint8_t *record, uint32_t captured, uint32_t original)
{
	uint32_t rlen = rlen_of(record);
	uint32_t limit = rlen < original ? rlen : original;
	uint32_t at = FT_ERF_HEADER;
	uint8_t more = record[8] & MORE;

	for (int extensions = 0; more != 0; extensions++) {
		if (at + EXTENSION > limit || extensions == EXTENSIONS_MAX)
			return false;
		if (at >= captured)
			return true;
		more = record[at] & MORE;
		at += EXTENSION;
	}
	return at + types[type_of(record)].subheader <= limit;
}

void ft_erf_stamp(struct ft_input *input, struct ft_frame *frame)
{
	const uint8_t *record = frame->bytes;

	if (frame->captured < FT_ERF_HEADER ||
	    !ft_erf_sound(record, frame->captured, frame->original))
		return;
	frame->ts_ns = time_of(record);
	frame->wire = ft_be16(record + 14);
	if (types[type_of(record)].counts_loss)
		input->known.erf_lost += ft_be16(record + 12);
}

static bool possible(const uint8_t *record)
{
	return types[type_of(record)].known && rlen_of(record) >= FT_ERF_HEADER;
}

/* A header such as hardly any file but ERF has where a record should start. */
static bool plausible(const uint8_t *record)
{
	return possible(record) && (record[9] & FLAGS_RESERVED) == 0 &&
	       ft_erf_sound(record, FT_ERF_HEADER, rlen_of(record)) &&
	       ft_le32(record + 4) >= OLDEST_SECOND;
}

static bool close_in_time(const uint8_t *a, const uint8_t *b)
{
	uint32_t first = ft_le32(a + 4), second = ft_le32(b + 4);

	return (first < second ? second - first : first - second) < YEAR_SECONDS;
}

static bool named_erf(const char *name)
{
	size_t length = strlen(name);

	return (length >= 4 && strcmp(name + length - 4, ".erf") == 0) ||
	       strstr(name, ".erf.") != NULL;
}

/*
 * There is no magic number: two records in a row must look right, or one that ends where the file
 * ends. A file called .erf is believed after one that is possible, so that damage is reported as
 * damage.
 */
static bool recognises(struct ft_input *input)
{
	struct ft_stream *stream = &input->stream;
	size_t rlen;

	if (!ft_stream_need(stream, FT_ERF_HEADER) || !possible(stream->at))
		return false;
	rlen = rlen_of(stream->at);
	if (named_erf(input->known.name))
		return true;
	if (!plausible(stream->at))
		return false;
	if (ft_stream_need(stream, rlen + FT_ERF_HEADER))
		return plausible(stream->at + rlen) && close_in_time(stream->at, stream->at + rlen);
	return ft_stream_left(stream) == rlen;
}

static int open_reader(struct ft_input *input)
{
	input->reader = NULL; /* a record says everything itself */
	return 0;
}

static bool need_record(struct ft_input *input)
{
	struct ft_stream *stream = &input->stream;

	if (!ft_input_need(input, FT_ERF_HEADER, "an ERF header", true))
		return false;
	if (rlen_of(stream->at) < FT_ERF_HEADER)
		return ft_input_damaged(
			input, ft_stream_offset(stream),
			"an ERF record says it is %u bytes long, less than its header",
			rlen_of(stream->at));
	return ft_input_need(input, rlen_of(stream->at), "an ERF record", false);
}

/* The whole record is the frame: link type 197 starts at its header. */
static void fill(struct ft_input *input, struct ft_frame *frame, const uint8_t *record)
{
	*frame = (struct ft_frame){
		.bytes = record,
		.captured = rlen_of(record),
		.original = rlen_of(record),
		.wire = ft_be16(record + 14),
		.link_type = FT_LINK_ERF,
		.ts_ns = time_of(record),
		.input = input->index,
	};
	ft_erf_stamp(input, frame);
}

static int next(struct ft_input *input, struct ft_frame *frames, int room)
{
	struct ft_stream *stream = &input->stream;
	int count = 0;

	while (count == 0) {
		if (!need_record(input))
			return 0;
		while (count < room && ft_stream_left(stream) >= FT_ERF_HEADER) {
			const uint8_t *record = stream->at;
			size_t rlen = rlen_of(record);

			if (rlen < FT_ERF_HEADER || rlen > ft_stream_left(stream))
				break;
			if (type_of(record) != TYPE_META && type_of(record) != TYPE_PAD)
				fill(input, &frames[count++], record);
			stream->at += rlen;
		}
	}
	return count;
}

const struct ft_format ft_erf = {
	.name = "erf",
	.recognises = recognises,
	.open = open_reader,
	.next = next,
};
