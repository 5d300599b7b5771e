#pragma once

#include "input.h"

/* ERF record header (Endace), as it starts every record of an .erf file and of link type 197. */
enum { FT_ERF_HEADER = 16 };

/*
 * Whether the record's own lengths agree: rlen covers header, extension headers and sub-header.
 * `captured` bytes are readable of a record that was `original` long. Says nothing of cut records.
 */
bool ft_erf_sound(const uint8_t *record, uint32_t captured, uint32_t original);

/*
 * Take time, wire length and loss counter of an ERF frame from its header, if it is captured and sound;
 * otherwise the frame keeps what its container says.
 */
void ft_erf_stamp(struct ft_input *input, struct ft_frame *frame);
