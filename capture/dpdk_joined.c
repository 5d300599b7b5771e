#include "dpdk_joined.h"

#include <errno.h>
#include <string.h>

#include <sys/mman.h>

#include <rte_mbuf.h>

enum {
	ADDRESSES = 12, /* destination and source, before the first tag */
	TAG = 4,
	TAGS_MAX = 2 * TAG,
	CUSTOMER_TAG = 0x8100,
	SERVICE_TAG = 0x88a8,
	SIZE_MIN = 16 << 20,
	SIZE_PER_CALL = 1 << 20,
};

/* Address space is reserved; pages are touched when frames in pieces come. */
int ft_dpdk_joined_open(struct ft_dpdk_joined *joined, unsigned keep)
{
	uint64_t size = SIZE_MIN + (uint64_t)keep * SIZE_PER_CALL;
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (bytes == MAP_FAILED)
		return -ENOMEM;
	*joined = (struct ft_dpdk_joined){ .bytes = bytes, .size = size };
	return 0;
}

void ft_dpdk_joined_close(struct ft_dpdk_joined *joined)
{
	if (joined->bytes != NULL)
		munmap(joined->bytes, joined->size);
	joined->bytes = NULL;
}

/* `length` bytes in one piece, or NULL. */
static uint8_t *take(struct ft_dpdk_joined *joined, uint32_t length)
{
	uint64_t at = joined->head % joined->size;
	uint64_t skipped = at + length > joined->size ? joined->size - at : 0;

	if (length > joined->size || joined->head + skipped + length - joined->tail > joined->size)
		return NULL;
	at = skipped > 0 ? 0 : at;
	joined->head += skipped + length;
	return joined->bytes + at;
}

static uint8_t *write_tag(uint8_t *at, uint16_t type, uint16_t tag)
{
	at[0] = (uint8_t)(type >> 8);
	at[1] = (uint8_t)type;
	at[2] = (uint8_t)(tag >> 8);
	at[3] = (uint8_t)tag;
	return at + TAG;
}

/* The tags that were taken out, outer one first: how many bytes. */
static uint32_t stripped_tags(const struct rte_mbuf *buffer, uint8_t tags[TAGS_MAX])
{
	uint8_t *at = tags;

	if ((buffer->ol_flags & RTE_MBUF_F_RX_QINQ_STRIPPED) == RTE_MBUF_F_RX_QINQ_STRIPPED)
		at = write_tag(at, SERVICE_TAG, buffer->vlan_tci_outer);
	if ((buffer->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0)
		at = write_tag(at, CUSTOMER_TAG, buffer->vlan_tci);
	return (uint32_t)(at - tags);
}

/* Bytes that are there: a chain's own lengths count, whatever its head says. */
static uint32_t length_of(const struct rte_mbuf *buffer)
{
	uint32_t length = 0;

	for (; buffer != NULL; buffer = buffer->next)
		length += buffer->data_len;
	return length;
}

static void gather(uint8_t *to, uint32_t length, const struct rte_mbuf *buffer)
{
	for (; buffer != NULL && length > 0; buffer = buffer->next) {
		uint32_t piece = buffer->data_len < length ? buffer->data_len : length;

		memcpy(to, rte_pktmbuf_mtod(buffer, const uint8_t *), piece);
		to += piece;
		length -= piece;
	}
}

static bool is_ours_to_change(const struct rte_mbuf *buffer, uint32_t room)
{
	return buffer->nb_segs == 1 && RTE_MBUF_DIRECT(buffer) &&
	       rte_mbuf_refcnt_read(buffer) == 1 && rte_pktmbuf_headroom(buffer) >= room &&
	       buffer->data_len >= ADDRESSES;
}

/* The addresses move forward to make room for the tags. */
static uint8_t *insert(struct rte_mbuf *buffer, const uint8_t *tags, uint32_t tags_length)
{
	uint8_t *bytes = rte_pktmbuf_mtod(buffer, uint8_t *);

	memmove(bytes - tags_length, bytes, ADDRESSES);
	memcpy(bytes - tags_length + ADDRESSES, tags, tags_length);
	return bytes - tags_length;
}

static uint8_t *copy(struct ft_dpdk_joined *joined, const struct rte_mbuf *buffer, uint32_t length,
		     const uint8_t *tags, uint32_t tags_length)
{
	uint8_t *bytes = take(joined, length + tags_length);

	if (bytes == NULL)
		return NULL;
	gather(bytes + tags_length, length, buffer);
	if (tags_length > 0 && length >= ADDRESSES) {
		memmove(bytes, bytes + tags_length, ADDRESSES);
		memcpy(bytes + ADDRESSES, tags, tags_length);
	}
	return bytes;
}

bool ft_dpdk_joined_add(struct ft_dpdk_joined *joined, struct ft_frame *frame,
			struct rte_mbuf *buffer, uint32_t snap)
{
	uint8_t tags[TAGS_MAX], *bytes;
	uint32_t tags_length = stripped_tags(buffer, tags), length = length_of(buffer), whole;

	if (length < ADDRESSES)
		tags_length = 0;
	whole = length + tags_length;
	bytes = is_ours_to_change(buffer, tags_length)
			? insert(buffer, tags, tags_length)
			: copy(joined, buffer, length, tags, tags_length);
	if (bytes == NULL)
		return false;
	frame->bytes = bytes;
	frame->captured = whole < snap ? whole : snap;
	frame->original = frame->wire = whole;
	return true;
}
