#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/*
 * Memory that ends once: the allocation whose number FAKE_MEMORY_FAILS_AT gives, counted from 1, gets none. Those of
 * the loader, before this library is ready, are not counted. For programs of one thread.
 */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static unsigned long fails_at, allocations;

__attribute__((constructor)) static void read_number(void)
{
	const char *text = getenv("FAKE_MEMORY_FAILS_AT");

	fails_at = text != NULL ? strtoul(text, NULL, 10) : 0;
}

static int ends(void)
{
	if (fails_at == 0 || ++allocations != fails_at)
		return 0;
	errno = ENOMEM;
	return 1;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	return ends() ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
	return ends() ? NULL : __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *memory, size_t size)
{
	return ends() ? NULL : __libc_realloc(memory, size);
}

__attribute__((visibility("default"))) void *reallocarray(void *memory, size_t count, size_t size)
{
	return ends() ? NULL : __libc_realloc(memory, count * size);
}
