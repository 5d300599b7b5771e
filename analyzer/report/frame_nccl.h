#pragma once

#include <nccl/shown.h>

#include "line.h"

/* What a packet is of NCCL's framing, for the renderers of packets. */

/* As the value of a member: an object; null for NULL. */
void ft_frame_nccl_json(struct ft_line *line, const struct ft_nccl_shown *shown, bool keys);

/* For people: " nccl 3 cts k 41 E offered 8192 tag 1". */
void ft_frame_nccl_text(struct ft_line *line, const struct ft_nccl_shown *shown, bool keys);

/* "cts", "data", "sizes", "completion". */
const char *ft_frame_role_word(enum ft_nccl_frame_role role);

/* Whether it is of the data of a message, which has a protocol; else it has requests. */
bool ft_frame_is_data(const struct ft_nccl_shown *shown);

/* What is known of a request. */
enum ft_frame_request_value {
	FT_FRAME_TAG,
	FT_FRAME_OFFERED,
	FT_FRAME_WRITTEN,
	FT_FRAME_VA,
	FT_FRAME_RKEYS, /* joined by '/' */
};
bool ft_frame_request_has(const struct ft_nccl_request *request, enum ft_frame_request_value value);
void ft_frame_request_write(struct ft_line *line, const struct ft_nccl_request *request,
			    enum ft_frame_request_value value);
