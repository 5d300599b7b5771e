#pragma once

#include <capture/source.h>

#include "stream.h"

/*
 * The longest capture of one frame that is believed (tcpdump's and Wireshark's bound); a record that
 * says more is damage. A pcapng block that must be held whole may be longer, for its options.
 */
enum { FT_RECORD_MAX = 262144, FT_BLOCK_MAX = 1 << 20 };

struct ft_input;

/* A file format. Its reader keeps what it needs in input->reader. */
struct ft_format {
	const char *name;
	/* Whether the input, not yet read from, is of this format; leaves it so. */
	bool (*recognises)(struct ft_input *input);
	/* 0, or -errno with input->known.complaint. */
	int (*open)(struct ft_input *input);
	/*
	 * At most `room` frames, without their number. Waits for bytes only while it has none, because
	 * that moves the bytes of earlier frames. 0 when the input has ended, damaged or not.
	 */
	int (*next)(struct ft_input *input, struct ft_frame *frames, int room);
	void (*close)(struct ft_input *input); /* frees input->reader; NULL: it has none */
};

extern const struct ft_format ft_pcap, ft_pcapng, ft_erf;

/* One file or memory block on its way into frames. */
struct ft_input {
	struct ft_source_input known; /* the public part; its name is owned here */
	uint32_t index;
	uint64_t previous_ts_ns; /* of the frames handed out */
	uint16_t link_type;      /* of the last of them */
	int fd;                  /* -1: memory */
	struct ft_stream stream;
	const struct ft_format *format;
	void *reader;
	bool ended;
	bool plain; /* a file or memory, not something that others still write to */
};

/*
 * Open `path` as ft_source_open_files() describes it, to be read in pieces of `piece` bytes; or memory.
 * 0, or -errno with input->known.complaint and nothing open.
 */
int ft_input_open_file(struct ft_input *input, const char *path, size_t piece,
		       const volatile sig_atomic_t *stop);
int ft_input_open_memory(struct ft_input *input, const uint8_t *bytes, size_t size);
void ft_input_close(struct ft_input *input);

/* At most `room` frames, readable until the next call or as long as the stream keeps them; 0 at the end. */
int ft_input_next(struct ft_input *input, struct ft_frame *frames, int room);

/* Offset of bytes in the window, at or before stream.at or behind it. */
static inline uint64_t ft_input_offset_of(const struct ft_input *input, const uint8_t *bytes)
{
	return ft_stream_offset(&input->stream) + (uint64_t)(bytes - input->stream.at);
}

/* Refuse the input as a whole: complaint, -EINVAL. */
int ft_input_refuse(struct ft_input *input, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The rest of the input is unusable from `offset` on. Returns false, for readers that end so. */
bool ft_input_damaged(struct ft_input *input, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Wait until `size` bytes of `what`, which starts at stream->at, are readable. False ends the input:
 * cleanly when it has no byte left and `may_end`, else as damage.
 */
bool ft_input_need(struct ft_input *input, size_t size, const char *what, bool may_end);

/* What bytes that are no capture look like, for a complaint: "a ZIP archive". */
const char *ft_recognise(const uint8_t *bytes, size_t size);
