#include "live_pcap.h"

#include <errno.h>
#include <sys/mman.h>

enum { SLICE_MIN = 256 << 10 };

int ft_pcap_ring_open(struct ft_pcap_ring *ring, unsigned slices, size_t longest)
{
	size_t slice = 2 * longest > SLICE_MIN ? 2 * longest : SLICE_MIN;
	void *bytes = mmap(NULL, slice * slices, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (bytes == MAP_FAILED)
		return -ENOMEM;
	*ring = (struct ft_pcap_ring){ .bytes = bytes, .slice = slice, .slices = slices };
	return 0;
}

void ft_pcap_ring_close(struct ft_pcap_ring *ring)
{
	if (ring->bytes != NULL)
		munmap(ring->bytes, ring->slice * ring->slices);
	ring->bytes = NULL;
}
