#include <flow/reserve.h>

#include <stdint.h>
#include <sys/mman.h>

static void *map(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static size_t whole_pages(size_t bytes)
{
	const size_t page = 4096;

	return (bytes + page - 1) & ~(page - 1);
}

/* At a boundary of huge pages: what lies around is given back. */
static void *map_aligned(size_t bytes)
{
	size_t kept = whole_pages(bytes);
	unsigned char *memory = map(kept + FT_HUGE_PAGE);
	size_t before;

	if (memory == NULL)
		return NULL;
	before = -(uintptr_t)memory & (FT_HUGE_PAGE - 1);
	if (before != 0)
		munmap(memory, before);
	munmap(memory + before + kept, FT_HUGE_PAGE - before);
	return memory + before;
}

void *ft_reserve(size_t bytes, size_t small)
{
	unsigned char *memory = small < bytes ? map_aligned(bytes) : map(bytes);

	if (memory != NULL && small < bytes)
		madvise(memory + small, bytes - small, MADV_HUGEPAGE);
	return memory;
}

void ft_release(void *memory, size_t bytes)
{
	munmap(memory, bytes);
}

/* The pages that the bytes lie in, as the kernel wants them told. */
void ft_reserve_fill(void *memory, size_t bytes)
{
	uintptr_t start = (uintptr_t)memory & ~(uintptr_t)4095;

	madvise((void *)start, (uintptr_t)memory + bytes - start, MADV_POPULATE_WRITE);
}
