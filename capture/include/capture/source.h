#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <capture/frame.h>

/*
 * Where frames come from. A source has one or more inputs (files, or devices: live.h); several inputs
 * are merged by time stamp, earlier inputs first on a tie, frames without a time stamp right after
 * the frame that preceded them in their own input.
 */
struct ft_source;

/*
 * Clock error of an input that states none, as files do. Captures of several queues step back by
 * microseconds all the time, which says nothing about the clock.
 */
#define FT_CLOCK_ERROR_NS UINT64_C(1000000)

#define FT_SOURCE_KEEP_MAX 1024

/* At most so long after it was asked to stop a pipe is read on. */
enum { FT_SOURCE_STOP_MS = 2000 };

/* Why something could not be opened or read on. One line, names input and place, no line end. */
struct ft_source_complaint {
	char text[512];
};

/* What is known of one input so far. Owned by the source; readable until it is closed. */
struct ft_source_input {
	const char *name;        /* as given on the command line; "-" for standard input */
	const char *kind;        /* "file" or "memory" ("pcap", "dpdk", "verbs": live sources) */
	const char *format;      /* "pcap", "pcapng", "erf" */
	const char *compression; /* NULL, "gzip", "zstd" */
	uint64_t frames, bytes;  /* handed out; bytes on the wire */
	uint64_t first_ts_ns,
		last_ts_ns; /* FT_TS_UNKNOWN before the first stamped frame; smallest and largest */
	uint16_t link_types[16];  /* in order of appearance */
	unsigned link_type_count; /* <= 16; further ones are read but not listed */
	uint64_t erf_lost;        /* sum of the ERF loss counters (lctr) of types that define it */
	/* by interfaces and their system, as pcapng statistics (2^48 at most) or the device say */
	uint64_t dropped;
	bool losses_unknown; /* a device that cannot count its losses, or a file captured from one: `dropped` is the least */
	/* times that went backwards by more than FT_CLOCK_ERROR_NS from frame to frame */
	uint64_t clock_steps;
	/* records read with a correction: fraction out of range, captured > original, unknown interface (dropped) */
	uint64_t odd_records;
	uint64_t dropped_records; /* of those, blocks that could not be used at all */
	/* live: who stamps, "kernel", "adapter", "program", "file"; NULL: not stated */
	const char *clock;
	uint64_t clock_error_ns; /* against wall time, as far as known; 0: not known */
	bool damaged; /* ended before its end; `complaint` says where: "NAME: damaged at byte N: ...", or that a device vanished */
	struct ft_source_complaint complaint;
};

/*
 * Open the files at `paths` ("-" is standard input, at most once; "file:PATH" is PATH). gzip and
 * zstd are recognised by content. 0, or -errno with *complaint set and *source untouched:
 * -ENOENT/-EACCES/... from the system, -EINVAL: not a capture (names what was found instead).
 * The source keeps its own copy of the names.
 *
 * Files are read in pieces of at most 128 KiB and to their end at that moment: they may grow or shrink
 * meanwhile. A record that claims to hold more than 256 KiB is damage, so memory per input is bounded
 * (zstd: by its window, of at most 128 MiB).
 */
int ft_source_open_files(struct ft_source **source, const char *const *paths, size_t count,
			 struct ft_source_complaint *complaint);

/*
 * The same, and whatever is no plain file (a pipe, a socket) can be stopped: once *stop is not 0, which a signal may set and
 * must outlive the source, it is read on to its end, but for FT_SOURCE_STOP_MS at most. What has not arrived whole by then
 * is left out, and is no damage. A source that is stopped before a capture began is refused.
 */
int ft_source_open_until(struct ft_source **source, const char *const *paths, size_t count,
			 const volatile sig_atomic_t *stop, struct ft_source_complaint *complaint);

/* Files, and none of them a plain one: frames come as somebody writes them. */
bool ft_source_is_piped(const struct ft_source *source);

/* The same over a capture file's bytes in memory, which must outlive the source. For tests and fuzzing. */
int ft_source_open_memory(struct ft_source **source, const uint8_t *bytes, size_t size,
			  struct ft_source_complaint *complaint);

/*
 * Keep the frames of the last `calls` calls of ft_source_next() readable (1..FT_SOURCE_KEEP_MAX;
 * without this call, 1), so that several threads can work on what was read one after the other. Bytes
 * are not copied for it: an input is read into some more buffers than calls instead of one. With more than
 * one call, pieces are smaller where 8 MiB for all buffers of all inputs demand it, down to 64 KiB.
 * Before the first ft_source_next(). 0; -EINVAL: too late or out of range; -ENOMEM: as before the call. A live
 * source keeps frames for as many calls as it was opened for anyway: it is never too late, and more are out of range.
 */
int ft_source_keep(struct ft_source *source, unsigned calls);

/*
 * Fill at most `room` frames, which is at least 1. Returns how many (>= 1), or -ENODATA at the end of all inputs;
 * 0 when nothing arrived at a live source for a while (live.h), files never return it. Such calls do not count for
 * ft_source_keep().
 * A damaged input ends early: it is marked in ft_source_input() and the others go on.
 * Frames of one call are all readable until the next call, or as long as ft_source_keep() was told.
 * A call hands out what is at hand, up to `room`; it waits for more only while it has none.
 */
int ft_source_next(struct ft_source *source, struct ft_frame *frames, int room);

/*
 * Read pieces of plain files ahead, of which ft_source_keep() keeps more than one call's, for the calls to come. Several
 * threads may call it beside the one in ft_source_next(), which waits for a piece that it needs. False: there is nothing
 * to do for now, as for other sources always.
 */
bool ft_source_read_ahead(struct ft_source *source);

/* All frames of the newest call are of one input, and have times that are none before its newest one. False: not known. */
bool ft_source_in_order(const struct ft_source *source);

/* Files or devices that were opened, at least 1; a damaged or ended one still counts. */
size_t ft_source_input_count(const struct ft_source *source);

/* What is known of input `index`, in the order in which they were named; NULL: there is no such. */
const struct ft_source_input *ft_source_input(const struct ft_source *source, size_t index);

/* Bytes read so far, packed ones as such, and their total (0: not known, as with a pipe or device among the inputs). */
void ft_source_progress(const struct ft_source *source, uint64_t *done, uint64_t *total);

/* Close all inputs and free everything: frames and what ft_source_input() gave go with it. NULL is fine. */
void ft_source_close(struct ft_source *source);
