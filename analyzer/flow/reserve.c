#include <flow/reserve.h>

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

/* Of this thread's time: small pages for as much as a huge one holds cost half of it. */
#define SLOW_HUGE_NS UINT64_C(1000000)
#define SMALL_STEP   ((size_t)256 << 10)
#define PAUSE_MOST   (8 * FT_HUGE_PAGE)
#define PAGE         ((size_t)4096)

void *ft_reserve(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void ft_release(void *memory, size_t bytes)
{
	if (memory != NULL)
		munmap(memory, bytes);
}

/* The pages that the bytes lie in, as the kernel wants them told. */
void ft_reserve_fill(void *memory, size_t bytes)
{
	uintptr_t start = (uintptr_t)memory & ~(uintptr_t)(PAGE - 1);

	madvise((void *)start, (uintptr_t)memory + bytes - start, MADV_POPULATE_WRITE);
}

void ft_reserve_give_back(void *memory, size_t bytes)
{
	uintptr_t start = ((uintptr_t)memory + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	uintptr_t end = ((uintptr_t)memory + bytes) & ~(uintptr_t)(PAGE - 1);

	if (start < end)
		madvise((void *)start, end - start, MADV_DONTNEED);
}

static size_t whole_pages(size_t bytes)
{
	return (bytes + PAGE - 1) & ~(PAGE - 1);
}

/* What lies around is given back. */
int ft_growth_reserve(struct ft_growth *growth, size_t bytes)
{
	size_t kept = whole_pages(bytes), before;
	unsigned char *memory = ft_reserve(kept + FT_HUGE_PAGE);

	if (memory == NULL)
		return -ENOMEM;
	before = -(uintptr_t)memory & (FT_HUGE_PAGE - 1);
	if (before != 0)
		munmap(memory, before);
	munmap(memory + before + kept, FT_HUGE_PAGE - before);
	*growth = (struct ft_growth){
		.memory = memory + before,
		.bytes = bytes,
		.small_until = FT_HUGE_PAGE,
	};
	return 0;
}

/* Kernels that give huge pages unasked are told not to. */
static void keep_small(struct ft_growth *growth)
{
	if (growth->taken < growth->small_until)
		madvise(growth->memory + growth->taken, growth->small_until - growth->taken,
			MADV_NOHUGEPAGE);
}

void ft_growth_stay_small(struct ft_growth *growth, size_t bytes)
{
	growth->small_until = bytes < growth->bytes ? bytes : growth->bytes;
	keep_small(growth);
}

void ft_growth_be_huge(struct ft_growth *growth)
{
	growth->small_until = 0;
}

void ft_growth_skip(struct ft_growth *growth, size_t bytes)
{
	growth->taken = bytes < growth->bytes ? bytes : growth->bytes;
}

void ft_growth_release(struct ft_growth *growth)
{
	ft_release(growth->memory, growth->bytes);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A virtual machine's host may have to find the memory first. */
static bool is_slow(unsigned char *from)
{
	uint64_t before = now_ns();

	madvise(from, FT_HUGE_PAGE, MADV_HUGEPAGE);
	ft_reserve_fill(from, FT_HUGE_PAGE);
	return now_ns() - before > SLOW_HUGE_NS;
}

static void take(struct ft_growth *growth, size_t bytes)
{
	ft_reserve_fill(growth->memory + growth->taken, bytes);
	growth->taken += bytes;
}

void ft_growth_learn(struct ft_growth *growth, bool slow)
{
	size_t left = growth->bytes - growth->taken;

	if (!slow)
		growth->pause = 0;
	else if (growth->pause < PAUSE_MOST)
		growth->pause = growth->pause == 0 ? FT_HUGE_PAGE : 2 * growth->pause;
	growth->small_until = growth->taken + (growth->pause < left ? growth->pause : left);
}

void ft_growth_step(struct ft_growth *growth)
{
	unsigned char *at = growth->memory + growth->taken;
	size_t left = growth->bytes - growth->taken;

	if (growth->taken < growth->small_until || left < FT_HUGE_PAGE) {
		take(growth, left < SMALL_STEP ? left : SMALL_STEP);
		return;
	}
	growth->taken += FT_HUGE_PAGE;
	ft_growth_learn(growth, is_slow(at));
	keep_small(growth);
}
