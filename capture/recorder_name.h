#pragma once

#include <stdint.h>

/* "x.pcapng", 1, 2026-11-21 12:00 -> "x_00001_20261121T120000.pcapng" (UTC). The caller frees it; NULL: no memory. */
char *ft_recorder_name(const char *path, uint64_t number, uint64_t now_ns);

/* "x_00001.pcapng", 2 -> "x_00001_2.pcapng". The caller frees it; NULL: no memory. */
char *ft_recorder_other_name(const char *path, unsigned number);
