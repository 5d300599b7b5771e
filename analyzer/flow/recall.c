#include "recall.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

enum { HEADS_PER_ENTRY = 4 }; /* so that one in four is taken */

static void *reserve(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static size_t heads_bytes(uint32_t entries)
{
	return (size_t)entries * HEADS_PER_ENTRY * sizeof(struct ft_recall_head);
}

static size_t ring_bytes(uint32_t entries)
{
	return (size_t)entries * sizeof(struct ft_recalled);
}

int ft_recall_init(struct ft_recall *recall, uint32_t entries, uint64_t seed)
{
	*recall = (struct ft_recall){
		.seed = { seed, ft_mix(seed ^ 0x9e3779b97f4a7c15u, 0xa0761d6478bd642fu) | 1 },
		.ring_mask = entries - 1,
		.shift = 64 - (uint32_t)__builtin_ctz(entries * HEADS_PER_ENTRY),
		.next = entries + 1,
	};
	recall->heads = reserve(heads_bytes(entries));
	if (recall->heads == NULL)
		return -ENOMEM;
	recall->ring = reserve(ring_bytes(entries));
	if (recall->ring == NULL)
		goto release_heads;
	return 0;

release_heads:
	munmap(recall->heads, heads_bytes(entries));
	return -ENOMEM;
}

void ft_recall_free(struct ft_recall *recall)
{
	munmap(recall->ring, ring_bytes(recall->ring_mask + 1));
	munmap(recall->heads, heads_bytes(recall->ring_mask + 1));
}
