#pragma once

#include <stddef.h>

/*
 * Memory of which the most that is needed is told once. Address space is taken for all of it; pages, all
 * zero, come as they are first written. What a page costs when it comes, on a virtual machine of 2026:
 * 2 us if it is written at once, 3 us if it is read before, 1 us with others in ft_reserve_fill(); a huge
 * page of 2 MiB 250 us, or ten times that if the host has to find it.
 */
#define FT_HUGE_PAGE   ((size_t)2 << 20)
#define FT_RESERVE_ALL ((size_t)-1)

/*
 * `small`: so many bytes at the start come in small pages, those behind them in huge ones, as far as the
 * kernel has any: for what is filled from the start, and will be filled or is used in no order. A multiple of
 * FT_HUGE_PAGE; FT_RESERVE_ALL: no huge ones. NULL: no memory.
 */
void *ft_reserve(size_t bytes, size_t small);

/* `bytes` as they were reserved. */
void ft_release(void *memory, size_t bytes);

/* All pages of these bytes are wanted soon: take them together. They stay what they are; a hint. */
void ft_reserve_fill(void *memory, size_t bytes);
