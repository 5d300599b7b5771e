#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <capture/frame.h>
#include <decode/packet.h>
#include <nccl/shown.h>

/* What a map says of a frame, for `decode -m`. */
struct ft_frame_verdict {
	const char *const *rules; /* names of the rules violated */
	size_t rule_count;
	const char *const *notes; /* decode.* remarks that are no violations */
	size_t note_count;
	const char *from, *to; /* tenants; "unknown" */
	const char *exception; /* id that permits the crossing, or NULL */
	/* NULL, or why: "bad_icrc", "truncated", "malformed", "no_timestamp" */
	const char *undecided;
	bool grace;
	bool judged;
};

/*
 * One frame as one line of people's text, as one JSON object (names of the wire-format vectors), or
 * as chosen fields. `sub` is the packet's index in its frame. `verdict` may be NULL. Memory
 * keys (R_Keys) are header fields here and shown, those that NCCL's clear-to-sends hold only with `keys`; reports
 * never hold them.
 */
struct ft_frame_view {
	const struct ft_frame *frame;
	const char *input; /* name of the file or device; NULL: none */
	const struct ft_packet *packet;
	unsigned sub;
	const struct ft_frame_verdict *verdict;
	bool followed;                    /* NCCL's framing was: what it says is shown */
	const struct ft_nccl_shown *nccl; /* NULL: the packet is nothing of it */
	bool keys;
};

/* One line for people. 0 or -errno of the handle. */
int ft_frame_text(FILE *out, const struct ft_frame_view *view);

/* One JSON object on one line. 0 or -errno of the handle. */
int ft_frame_json(FILE *out, const struct ft_frame_view *view);

/*
 * A field by one of our names, which are the keys of the JSON object ("psn", "reth.va"; value forms as there), or
 * by one of Wireshark's ("infiniband.bth.psn"; value forms as tshark 4.0 prints them). Both speak of
 * the innermost packet.
 */
struct ft_field;

/* The field of this name, in just this case; static. NULL: unknown. */
const struct ft_field *ft_field_find(const char *name);

/*
 * One line: the values with a tab between them, nothing for a value that the packet has not. 0 or -errno of the
 * handle.
 */
int ft_fields_write(FILE *out, const struct ft_field *const *chosen, size_t count,
		    const struct ft_frame_view *view);

/* All names, one a line, with a few words each. 0 or -errno of the handle. */
int ft_field_list(FILE *out);
