#include "dpdk_ring.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "dpdk.h"

/* Blocks are whole pages and hold frames without a gap. */
enum { PER_BLOCK = 12, BLOCK = FT_DPDK_FRAME_MAX * PER_BLOCK, BLOCKS = 171, BLOCKS_MAX = 10922 };

static_assert(BLOCK % 4096 == 0, "the kernel takes only whole pages");

static bool may_lock_all(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capget, &header, data) == 0 &&
	       (data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK)) != 0;
}

static uint64_t bytes_to_lock(void)
{
	struct rlimit limit;

	if (may_lock_all() || getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
		return UINT64_MAX;
	return limit.rlim_cur;
}

static uint64_t choose_blocks(uint64_t bytes, unsigned queues)
{
	uint64_t lockable = bytes_to_lock() / 2 / BLOCK / (queues > 0 ? queues : 1);
	uint64_t blocks = bytes > 0 ? bytes / BLOCK : BLOCKS;

	if (blocks > lockable)
		blocks = lockable;
	if (blocks > BLOCKS_MAX)
		blocks = BLOCKS_MAX;
	return blocks > 0 ? blocks : 1;
}

static bool is_sized(const char *arguments)
{
	static const char *const keys[] = { "framesz=", "blocksz=", "framecnt=" };

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		if (strstr(arguments, keys[i]) != NULL)
			return true;
	}
	return false;
}

bool ft_dpdk_ring_size(struct ft_dpdk_address *address, uint64_t bytes)
{
	char frame[16], block[16], count[16];

	if (is_sized(address->arguments))
		return true;
	snprintf(frame, sizeof frame, "%d", FT_DPDK_FRAME_MAX);
	snprintf(block, sizeof block, "%d", BLOCK);
	snprintf(count, sizeof count, "%u",
		 (unsigned)choose_blocks(bytes, address->queues) * PER_BLOCK);
	return ft_dpdk_address_add(address, "framesz", frame) &&
	       ft_dpdk_address_add(address, "blocksz", block) &&
	       ft_dpdk_address_add(address, "framecnt", count);
}
