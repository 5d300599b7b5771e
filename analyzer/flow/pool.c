#include <flow/pool.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sanitizer/asan_interface.h>

#include <flow/reserve.h>

/* The address sanitizer is told whose each piece is, and that nobody has what lies between. */
#if defined(__SANITIZE_ADDRESS__)
#define GUARD FT_POOL_ALIGNMENT
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GUARD FT_POOL_ALIGNMENT
#endif
#endif
#ifndef GUARD
#define GUARD 0
#endif

enum {
	SIZES = FT_POOL_PIECE_MOST / FT_POOL_ALIGNMENT,
	/* bytes of address space; the sanitizer marks each of them, which takes longer than short runs do if there are many */
	REGION = GUARD == 0 ? 64 << 20 : 4 << 20,
	SMALL = 256 << 10, /* bytes that the first huge page is behind */
};

struct region {
	struct region *older;
	struct ft_growth growth;
	size_t used;
};

/* In a piece that nobody has. */
struct vacant {
	struct vacant *next;
};

struct ft_pool {
	struct region *newest;
	struct vacant *vacant[SIZES]; /* by size, in FT_POOL_ALIGNMENT, less one */
};

static size_t size_of(size_t bytes)
{
	return (bytes + GUARD + FT_POOL_ALIGNMENT - 1) & ~(size_t)(FT_POOL_ALIGNMENT - 1);
}

struct ft_pool *ft_pool_create(void)
{
	return calloc(1, sizeof(struct ft_pool));
}

void ft_pool_destroy(struct ft_pool *pool)
{
	if (pool == NULL)
		return;
	while (pool->newest != NULL) {
		struct region *region = pool->newest;

		pool->newest = region->older;
		ASAN_UNPOISON_MEMORY_REGION(region->growth.memory, REGION);
		ft_growth_release(&region->growth);
		free(region);
	}
	free(pool);
}

/* What is left of the one before stays unused: less than a piece. */
static struct region *add_region(struct ft_pool *pool)
{
	struct region *region = calloc(1, sizeof *region);

	if (region == NULL)
		return NULL;
	if (ft_growth_reserve(&region->growth, REGION) != 0) {
		free(region);
		return NULL;
	}
	ASAN_POISON_MEMORY_REGION(region->growth.memory, REGION);
	region->used = FT_HUGE_PAGE - SMALL;
	ft_growth_skip(&region->growth, region->used);
	region->older = pool->newest;
	pool->newest = region;
	return region;
}

/* Zero, as pages come. */
static void *take_fresh(struct ft_pool *pool, size_t size, size_t bytes)
{
	struct region *region = pool->newest;
	void *piece;

	if (region == NULL || region->used + size > REGION)
		region = add_region(pool);
	if (region == NULL)
		return NULL;
	piece = region->growth.memory + region->used;
	region->used += size;
	ft_growth_upto(&region->growth, region->used);
	ASAN_UNPOISON_MEMORY_REGION(piece, bytes);
	return piece;
}

static struct vacant *next_of(struct vacant *vacant)
{
	ASAN_UNPOISON_MEMORY_REGION(vacant, sizeof *vacant);
	return vacant->next;
}

/* Somebody had it. NULL: there is none of this size. */
static void *take_vacant(struct ft_pool *pool, size_t size, size_t bytes)
{
	struct vacant **vacant = &pool->vacant[size / FT_POOL_ALIGNMENT - 1];
	struct vacant *piece = *vacant;

	if (piece == NULL)
		return NULL;
	*vacant = next_of(piece);
	ASAN_UNPOISON_MEMORY_REGION(piece, bytes);
	return piece;
}

void *ft_pool_take_any(struct ft_pool *pool, size_t bytes, bool *is_zero)
{
	size_t size = size_of(bytes);
	void *piece;

	*is_zero = false;
	if (size > FT_POOL_PIECE_MOST)
		return aligned_alloc(FT_POOL_ALIGNMENT, size);
	piece = take_vacant(pool, size, bytes);
	if (piece != NULL)
		return piece;
	*is_zero = true;
	return take_fresh(pool, size, bytes);
}

void *ft_pool_take(struct ft_pool *pool, size_t bytes)
{
	bool is_zero;

	return ft_pool_take_any(pool, bytes, &is_zero);
}

void *ft_pool_take_zeroed(struct ft_pool *pool, size_t bytes)
{
	bool is_zero;
	void *piece = ft_pool_take_any(pool, bytes, &is_zero);

	return piece == NULL || is_zero ? piece : memset(piece, 0, bytes);
}

void ft_pool_give(struct ft_pool *pool, void *piece, size_t bytes)
{
	size_t size = size_of(bytes);
	struct vacant **vacant, *given = piece;

	if (size > FT_POOL_PIECE_MOST) {
		free(piece);
		return;
	}
	if (piece == NULL)
		return;
	vacant = &pool->vacant[size / FT_POOL_ALIGNMENT - 1];
	ASAN_UNPOISON_MEMORY_REGION(given, sizeof *given);
	given->next = *vacant;
	*vacant = given;
	ASAN_POISON_MEMORY_REGION(given, size);
}
