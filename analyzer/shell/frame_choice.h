#pragma once

#include <engine/flow_choice.h>
#include <report/frame.h>

/* Whether the packet is one of a half-connection that is chosen; an empty choice takes all. */
bool ft_frame_is_chosen(const struct ft_flow_choice *choice, const struct ft_frame_view *view);

/*
 * "pkey.undeclared, tenant.crossing (red to blue)": what a map holds against the packet; NULL: nothing. There is room for
 * 16 rules, which are no more than a packet can break, and two names of tenants, of 255 bytes each: none is cut.
 */
enum { FT_CHOICE_COMMENT = 1024 };
const char *ft_frame_comment(const struct ft_frame_view *view, char text[FT_CHOICE_COMMENT]);
