#include "byte_order.h"
#include "erf.h"
#include "input.h"

#include <errno.h>
#include <stdlib.h>

/* pcap as draft-ietf-opsawg-pcap has it: a file header, then records, in the writer's byte order. */

enum {
	FILE_HEADER = 24,
	RECORD_HEADER = 16,
	MICROSECONDS = 0xa1b2c3d4,
	NANOSECONDS = 0xa1b23c4d,
	FCS_PRESENT = 1 << 26,
	ETHERNET_FCS = 4,
	FETCH_RECORDS = 16, /* ahead */
	FETCH_LINE = 64,
};

struct pcap {
	bool big;
	uint32_t units_per_s;
	uint32_t ns_per_unit;
	uint16_t minor; /* version 2.minor: the lengths changed places before 2.4 */
	uint16_t link_type;
	uint8_t fcs_bytes;
};

struct record {
	uint32_t seconds, fraction, captured, original;
};

static bool is_magic(uint32_t magic)
{
	return magic == (uint32_t)MICROSECONDS || magic == (uint32_t)NANOSECONDS;
}

static bool recognises(struct ft_input *input)
{
	const struct ft_stream *stream = &input->stream;

	return ft_stream_need(&input->stream, 4) &&
	       (is_magic(ft_le32(stream->at)) || is_magic(ft_be32(stream->at)));
}

/* Bits 31 to 28 give the FCS length in 16-bit words. */
static uint8_t fcs_bytes(uint32_t link)
{
	return (link & FCS_PRESENT) != 0 && (link >> 28) * 2 == ETHERNET_FCS ? ETHERNET_FCS : 0;
}

static int open_reader(struct ft_input *input)
{
	struct ft_stream *stream = &input->stream;
	const uint8_t *b;
	struct pcap *pcap;
	bool big, nanoseconds;
	uint32_t link;

	if (!ft_stream_need(stream, FILE_HEADER))
		return ft_input_refuse(input,
				       "ends inside the pcap file header, after %zu of %d bytes",
				       ft_stream_left(stream), FILE_HEADER);
	b = stream->at;
	big = is_magic(ft_be32(b));
	nanoseconds = ft_u32(b, big) == (uint32_t)NANOSECONDS;
	link = ft_u32(b + 20, big);
	if (ft_u16(b + 4, big) != 2)
		return ft_input_refuse(input, "pcap version %u.%u is not 2.x", ft_u16(b + 4, big),
				       ft_u16(b + 6, big));
	pcap = malloc(sizeof *pcap);
	if (pcap == NULL) {
		ft_input_refuse(input, "no memory");
		return -ENOMEM;
	}
	*pcap = (struct pcap){
		.big = big,
		.units_per_s = nanoseconds ? 1000000000 : 1000000,
		.ns_per_unit = nanoseconds ? 1 : 1000,
		.minor = ft_u16(b + 6, big),
		.link_type = (uint16_t)link,
		.fcs_bytes = fcs_bytes(link),
	};
	input->reader = pcap;
	stream->at += FILE_HEADER;
	return 0;
}

/* Versions before 2.3 wrote the original length first; at 2.3 it depended on the writer. */
static bool lengths_swapped(const struct pcap *pcap, uint32_t first, uint32_t second)
{
	return pcap->minor < 3 || (pcap->minor == 3 && first > second);
}

static inline struct record read_record(const struct pcap *pcap, const uint8_t *b)
{
	uint32_t first = ft_u32(b + 8, pcap->big), second = ft_u32(b + 12, pcap->big);
	bool swapped = pcap->minor < 4 && lengths_swapped(pcap, first, second);

	return (struct record){
		.seconds = ft_u32(b, pcap->big),
		.fraction = ft_u32(b + 4, pcap->big),
		.captured = swapped ? second : first,
		.original = swapped ? first : second,
	};
}

/* Broken writers exist: what has only one reading is put right, and counted. */
static inline bool is_odd(const struct record *record, uint32_t units_per_s)
{
	return record->original < record->captured || record->fraction >= units_per_s;
}

static inline uint32_t most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static inline uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Wait for a whole record; false at the end of the input. */
static bool need_record(struct ft_input *input)
{
	struct record record;

	if (!ft_input_need(input, RECORD_HEADER, "a record header", true))
		return false;
	record = read_record(input->reader, input->stream.at);
	if (record.captured > FT_RECORD_MAX)
		return ft_input_damaged(input, ft_stream_offset(&input->stream),
					"a record says it holds %u bytes, more than %d",
					record.captured, FT_RECORD_MAX);
	return ft_input_need(input, RECORD_HEADER + record.captured, "a record", false);
}

/* Mostly a record is as long as the one before: what stands at the start of one further on will be read soon. */
static inline void fetch_ahead(const uint8_t *at, size_t size, size_t left)
{
	size_t ahead = FETCH_RECORDS * size;

	if (ahead + 3 * FETCH_LINE > left)
		return;
	__builtin_prefetch(at + ahead);
	__builtin_prefetch(at + ahead + FETCH_LINE);
	__builtin_prefetch(at + ahead + 2 * FETCH_LINE);
}

/*
 * The whole records in the window. The hot loop: what it needs of the reader and of the stream is
 * copied, because frames could overlap them for all C knows.
 */
static inline __attribute__((always_inline)) int take_records(struct ft_input *input,
							      struct pcap pcap,
							      struct ft_frame *frames, int room)
{
	const uint8_t *at = input->stream.at;
	size_t left = ft_stream_left(&input->stream);
	uint32_t index = input->index;
	int count = 0;

	for (; count < room && left >= RECORD_HEADER; count++) {
		struct record record = read_record(&pcap, at);
		size_t size = RECORD_HEADER + (size_t)record.captured;

		if (size > left || record.captured > FT_RECORD_MAX)
			break;
		fetch_ahead(at, size, left);
		if (__builtin_expect(is_odd(&record, pcap.units_per_s), 0)) {
			record.original = most(record.original, record.captured);
			record.fraction = least(record.fraction, pcap.units_per_s - 1);
			input->known.odd_records++;
		}
		frames[count] = (struct ft_frame){
			.bytes = at + RECORD_HEADER,
			.captured = record.captured,
			.original = record.original,
			.wire = record.original,
			.link_type = pcap.link_type,
			.fcs_bytes = pcap.fcs_bytes,
			.ts_ns = record.seconds * UINT64_C(1000000000) +
				 record.fraction * (uint64_t)pcap.ns_per_unit,
			.input = index,
		};
		if (pcap.link_type == FT_LINK_ERF)
			ft_erf_stamp(input, &frames[count]);
		at += size;
		left -= size;
	}
	input->stream.at = at;
	return count;
}

/* What nearly all files are is told to the compiler, which makes a loop of its own for them. */
static int take(struct ft_input *input, struct ft_frame *frames, int room)
{
	struct pcap pcap = *(const struct pcap *)input->reader;

	if (pcap.big || pcap.minor < 4 || pcap.link_type != FT_LINK_ETHERNET)
		return take_records(input, pcap, frames, room);
	pcap.big = false;
	pcap.minor = 4;
	pcap.link_type = FT_LINK_ETHERNET;
	return take_records(input, pcap, frames, room);
}

static int next(struct ft_input *input, struct ft_frame *frames, int room)
{
	int count = take(input, frames, room);

	if (count == 0 && need_record(input))
		count = take(input, frames, room);
	return count;
}

static void close_reader(struct ft_input *input)
{
	free(input->reader);
}

const struct ft_format ft_pcap = {
	.name = "pcap",
	.recognises = recognises,
	.open = open_reader,
	.next = next,
	.close = close_reader,
};
