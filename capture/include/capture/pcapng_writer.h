#pragma once

#include <capture/frame.h>

/*
 * Writes pcapng (one section, little-endian, nanosecond time stamps, one interface per
 * (input, section, interface, link type) met). Output goes to a temporary name beside the target and is renamed
 * on a successful close, so a failed run leaves no half-written file; "-" is standard output.
 */
struct ft_pcapng_writer;

struct ft_writer_complaint {
	char text[512];
};

/* 0, or -errno and *complaint. `application` goes into the section header. */
int ft_pcapng_create(struct ft_pcapng_writer **writer, const char *path, const char *application,
                     struct ft_writer_complaint *complaint);

/* Append a frame; `comment` (may be NULL) becomes its opt_comment. 0 or -errno. */
int ft_pcapng_write(struct ft_pcapng_writer *writer, const struct ft_frame *frame, const char *input_name,
                    const char *comment);

/* Flush, rename, free. 0 or -errno and *complaint; the target exists only after 0. */
int ft_pcapng_close(struct ft_pcapng_writer *writer, struct ft_writer_complaint *complaint);

/* Drop what was written and free. */
void ft_pcapng_abandon(struct ft_pcapng_writer *writer);
