#pragma once

#include <stddef.h>
#include <stdint.h>

#include <capture/frame.h>

/*
 * Blocks of pcapng (draft-ietf-opsawg-pcapng) as bytes in memory: little-endian, times in nanoseconds.
 * Each call writes one whole block at `to` and returns its size, a multiple of 4. Texts may be NULL or empty,
 * which leaves their option out; they are cut, at a whole UTF-8 character, where they are longer than
 * FT_PCAPNG_TEXT_MAX.
 */
enum { FT_PCAPNG_TEXT_MAX = 1024, FT_PCAPNG_BLOCK_ROOM = 8 << 10 };

/* How many bytes of a text fit, without cutting a UTF-8 character. */
size_t ft_pcapng_fitting(const char *text, size_t room);

/* At most FT_PCAPNG_BLOCK_ROOM bytes, like the next two. */
struct ft_pcapng_section {
	const char *application, *system, *comment;
};
size_t ft_pcapng_put_section(uint8_t *to, const struct ft_pcapng_section *section);

struct ft_pcapng_interface {
	uint16_t link_type;
	uint32_t snap; /* 0: no limit */
	const char *name, *description, *filter, *comment;
};
size_t ft_pcapng_put_interface(uint8_t *to, const struct ft_pcapng_interface *interface);

#define FT_PCAPNG_NOT_COUNTED UINT64_MAX

/* As the comment of an interface or its statistics: how many of its frames were lost nobody knows. */
#define FT_PCAPNG_LOSSES_UNKNOWN "fabtap: losses unknown"

/* Of the time in which the section was written; any count may be FT_PCAPNG_NOT_COUNTED. */
struct ft_pcapng_statistics {
	uint32_t interface;
	uint64_t from_ns, to_ns; /* FT_TS_UNKNOWN */
	uint64_t received;       /* frames the interface handed over or dropped */
	uint64_t dropped;        /* by the interface, its driver or the system */
	uint64_t left_out;       /* taken from the interface and not written */
	uint64_t kept;           /* frames in the section */
	const char *comment;
};
size_t ft_pcapng_put_statistics(uint8_t *to, const struct ft_pcapng_statistics *statistics);

/* The comment of a packet may be as long as an option's length field can say. */
enum { FT_PCAPNG_COMMENT_MAX = 65535 };

/* A frame without a time gets 0. `interface`: its number in the section. */
size_t ft_pcapng_packet_size(const struct ft_frame *frame, const char *comment);
size_t ft_pcapng_put_packet(uint8_t *to, const struct ft_frame *frame, uint32_t interface,
			    const char *comment);
