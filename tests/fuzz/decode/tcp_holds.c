/* Any bytes as a TCP header: one that is read lies inside them, but for its options. */
#undef NDEBUG
#include <assert.h>

#include <decode/tcp.h>

#include "../holds.h"

enum { UNTOUCHED = 77 };

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct ft_tcp tcp = { .header_bytes = UNTOUCHED };

	if (ft_tcp_read(bytes, (uint32_t)size, &tcp))
		assert(tcp.header_bytes >= FT_TCP_LEN && tcp.header_bytes <= 60 &&
		       FT_TCP_LEN <= size);
	else
		assert(tcp.header_bytes == UNTOUCHED);
}
