#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Memory of which the most that is needed is told once. Address space is taken for all of it; pages, all
 * zero, come as they are first written. What a page costs when it comes, on a virtual machine of 2026:
 * 2 us if it is written at once, 3 us if it is read before, 1 us with others in ft_reserve_fill(); a huge
 * page of 2 MiB 250 us, or twenty times that if the host has to find it.
 */
#define FT_HUGE_PAGE ((size_t)2 << 20)

/* In small pages. NULL: no memory. */
void *ft_reserve(size_t bytes);

/* `bytes` as they were reserved; NULL is fine. */
void ft_release(void *memory, size_t bytes);

/* All pages of these bytes are wanted soon: take them together. They stay what they are; a hint. */
void ft_reserve_fill(void *memory, size_t bytes);

/* These bytes are not needed any more: whole pages of them are given back, and are zero when they are next read. */
void ft_reserve_give_back(void *memory, size_t bytes);

/*
 * Reserved memory that is filled from the start, or will be used in no order but as a whole. It takes its
 * pages ahead of use, a step at a time: small ones up to FT_HUGE_PAGE, for what stays small; behind it huge
 * ones. Where one comes slower than small pages do, small ones come next: for as much as a huge page holds,
 * and twice as much after each that is slow again, up to eight times. No result depends on it.
 */
struct ft_growth {
	unsigned char *memory; /* at a boundary of huge pages */
	size_t bytes, taken;   /* reserved; of which, from the start, have their pages */
	size_t small_until;    /* in small pages up to here */
	size_t pause; /* bytes in small pages after the newest huge one; 0: that was not slow */
};

/* 0 or -ENOMEM. */
int ft_growth_reserve(struct ft_growth *growth, size_t bytes);

/* Before any is taken: small pages for so much from the start, at most for all. */
void ft_growth_stay_small(struct ft_growth *growth, size_t bytes);

/* Before any is taken: huge pages from the start, for what is large as soon as there is any of it. */
void ft_growth_be_huge(struct ft_growth *growth);

/*
 * Before any is taken: so much at the start is never used, and gets no pages, but counts as taken. Whatever is used is in huge
 * pages the sooner for it.
 */
void ft_growth_skip(struct ft_growth *growth, size_t bytes);

/* All of it, taken or not; of what was reserved only. */
void ft_growth_release(struct ft_growth *growth);

/* A huge page, the newest that is taken, came slowly or not. Of ft_growth_step(). */
void ft_growth_learn(struct ft_growth *growth, bool slow);

/* One step more, up to all of it; not beyond. */
void ft_growth_step(struct ft_growth *growth);

/* The first `bytes` are about to be written: at most all of them. */
static inline void ft_growth_upto(struct ft_growth *growth, size_t bytes)
{
	while (bytes > growth->taken)
		ft_growth_step(growth);
}
