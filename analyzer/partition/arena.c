#include <partition/arena.h>

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST_BLOCK = 16 << 10, LARGEST_BLOCK = 4 << 20 };

struct block {
	struct block *next;
	size_t used, size;
	alignas(max_align_t) unsigned char bytes[];
};

struct ft_arena {
	struct block *newest;
	size_t next_size; /* blocks double, so that a large map needs few of them */
};

static struct block *add_block(struct ft_arena *arena, size_t least)
{
	size_t size = arena->next_size > least ? arena->next_size : least;
	struct block *block = calloc(1, sizeof *block + size);

	if (block == NULL)
		return NULL;
	block->size = size;
	block->next = arena->newest;
	arena->newest = block;
	if (arena->next_size < LARGEST_BLOCK)
		arena->next_size *= 2;
	return block;
}

struct ft_arena *ft_arena_create(void)
{
	struct ft_arena *arena = calloc(1, sizeof *arena);

	if (arena != NULL)
		arena->next_size = SMALLEST_BLOCK;
	return arena;
}

void ft_arena_destroy(struct ft_arena *arena)
{
	struct block *next;

	if (arena == NULL)
		return;
	for (struct block *block = arena->newest; block != NULL; block = next) {
		next = block->next;
		free(block);
	}
	free(arena);
}

static void *take_aligned(struct ft_arena *arena, size_t size, size_t alignment)
{
	struct block *block = arena->newest;
	size_t start = 0;

	if (block != NULL)
		start = (block->used + alignment - 1) & ~(alignment - 1);
	if (block == NULL || start > block->size || size > block->size - start) {
		block = add_block(arena, size);
		start = 0;
	}
	if (block == NULL)
		return NULL;
	block->used = start + size;
	return block->bytes + start;
}

void *ft_arena_take(struct ft_arena *arena, size_t size)
{
	return take_aligned(arena, size, alignof(max_align_t));
}

char *ft_arena_text(struct ft_arena *arena, const char *text, size_t length)
{
	char *copy = take_aligned(arena, length + 1, 1);

	if (copy != NULL)
		memcpy(copy, text, length);
	return copy;
}

void *ft_list_add(struct ft_list *list)
{
	unsigned char *item;

	if (list->count == list->room) {
		size_t room = list->room != 0 ? 2 * list->room : 16;
		void *items = reallocarray(list->items, room, list->item_size);

		if (items == NULL)
			return NULL;
		list->items = items;
		list->room = room;
	}
	item = (unsigned char *)list->items + list->count++ * list->item_size;
	return memset(item, 0, list->item_size);
}

void ft_list_release(struct ft_list *list)
{
	free(list->items);
	*list = (struct ft_list){ .item_size = list->item_size };
}

void *ft_list_settle(struct ft_list *list, struct ft_arena *arena)
{
	void *settled = ft_arena_take(arena, list->count * list->item_size);

	if (settled != NULL && list->count != 0)
		memcpy(settled, list->items, list->count * list->item_size);
	ft_list_release(list);
	return settled;
}
