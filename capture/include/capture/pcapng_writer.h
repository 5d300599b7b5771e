#pragma once

#include <capture/frame.h>

/*
 * Writes pcapng: one section, little-endian, nanosecond time stamps, one interface per
 * (input, section, interface, link type) met, named after the input. What a frame has that the format
 * can say is kept: bytes, both lengths, time, direction, FCS length. A frame without a time gets 0.
 *
 * A regular file appears under its name only on a successful close (it is written beside it, made
 * durable and renamed), so a failed run leaves nothing and may read the file it replaces. "-" (standard
 * output), pipes and devices are written to directly. The caller ignores SIGPIPE to get -EPIPE instead.
 */
struct ft_pcapng_writer;

struct ft_writer_complaint {
	char text[512];
};

/*
 * 0, or -errno and *complaint. `application` (may be NULL) goes into the section header; no text is needed afterwards.
 */
int ft_pcapng_create(struct ft_pcapng_writer **writer, const char *path, const char *application,
		     struct ft_writer_complaint *complaint);

/*
 * Append a frame; `comment` (may be NULL) becomes its opt_comment, cut to the 65535 bytes it may have.
 * 0, or -ENOMEM: then it is not in the file. That nothing can be written any more is no reason to stop whatever the frames
 * come from: it stays, is told by the next two, and frames are dropped from then on.
 */
int ft_pcapng_write(struct ft_pcapng_writer *writer, const struct ft_frame *frame,
		    const char *input_name, const char *comment);

/* -errno of the first failure so far, or 0. For any thread. */
int ft_pcapng_error(const struct ft_pcapng_writer *writer);

/* Flush, rename, free (in any case). 0 or -errno and *complaint; the target exists only after 0. */
int ft_pcapng_close(struct ft_pcapng_writer *writer, struct ft_writer_complaint *complaint);

/* Drop what was written and free. NULL is fine. */
void ft_pcapng_abandon(struct ft_pcapng_writer *writer);
