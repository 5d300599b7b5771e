#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Pieces of memory of what is learnt bit by bit, of a few sizes, by the thousand. They lie close together, in pages that are
 * taken ahead of use, most of them huge: a first touch of each small page costs as much as hundreds of frames (reserve.h). For
 * one thread at a time.
 */
struct ft_pool;

enum {
	FT_POOL_ALIGNMENT = 64,        /* bytes, of each piece: a cache line */
	FT_POOL_PIECE_MOST = 64 << 10, /* bytes; longer ones come from malloc() */
};

/* Takes no page before the first piece. NULL: no memory. */
struct ft_pool *ft_pool_create(void);

/* With all pieces up to FT_POOL_PIECE_MOST; longer ones are to be given back before. NULL is fine. */
void ft_pool_destroy(struct ft_pool *pool);

/* At least one byte, whatever is in them. They are the caller's until ft_pool_give(). NULL: no memory. */
void *ft_pool_take(struct ft_pool *pool, size_t bytes);

/*
 * Likewise. *is_zero: nobody had it before, as is so of nearly all where much is learnt at once, and all of it is zero: what is
 * not used of it need never be written.
 */
void *ft_pool_take_any(struct ft_pool *pool, size_t bytes, bool *is_zero);

/* Likewise, but all of it is zero. */
void *ft_pool_take_zeroed(struct ft_pool *pool, size_t bytes);

/* A piece of so many bytes is not used any more: the next one of its size may be it. NULL is fine. */
void ft_pool_give(struct ft_pool *pool, void *piece, size_t bytes);
