#pragma once

#include "extcap_line.h"

/*
 * Capture into standard output until its reader is gone or a signal says so; quiet unless something fails. A frame
 * that violates the map has its rules and tenants as a comment.
 */
enum ft_exit ft_extcap_capture(struct ft_extcap_line *line);
