#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Numbers of the command line: all of the text, within bounds. False leaves *value as it was. */
bool ft_number_read(const char *text, uint64_t least, uint64_t most, uint64_t *value);
bool ft_share_read(const char *text, double *value);    /* 0..1, "0.99" */
bool ft_positive_read(const char *text, double *value); /* above 0, up to 10^6 */

/* A size of at least 1 byte: "4096", "64K", "512M", "2G" (1024 each). */
bool ft_size_read(const char *text, uint64_t *bytes);
/* A time above 0: seconds with fraction, "2.5", or "90s", "5m", "2h". */
bool ft_duration_read(const char *text, uint64_t *ns);
