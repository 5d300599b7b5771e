#pragma once

#include <stddef.h>

/* Memory that lives and dies together: all that a declared map, or a report, is made of. */
struct ft_arena;

/* Empty, for ft_arena_destroy(). NULL: no memory. */
struct ft_arena *ft_arena_create(void);

/* Frees all that was taken of it. NULL is fine. */
void ft_arena_destroy(struct ft_arena *arena);

/*
 * Zeroed, aligned for any object, in one place until the arena goes; a size of 0 gives a valid pointer. NULL: no
 * memory.
 */
void *ft_arena_take(struct ft_arena *arena, size_t size);

/* A copy of `length` bytes of text and a final NUL. NULL: no memory. */
char *ft_arena_text(struct ft_arena *arena, const char *text, size_t length);

/*
 * A growing array of one kind of item, for readers that do not know how many there will be.
 * Zero-initialise with the item's size; pointers to items move when it grows.
 */
struct ft_list {
	void *items;
	size_t item_size, count, room;
};

/* A zeroed item at the end, good until the next call; NULL: no memory, and the list as it was. */
void *ft_list_add(struct ft_list *list);

/* Frees the items; the list is empty then, and may be added to again. */
void ft_list_release(struct ft_list *list);

/* The items as an array in the arena, in their order; the list is released in any case. NULL: no memory. */
void *ft_list_settle(struct ft_list *list, struct ft_arena *arena);
