#include "pcapng_blocks.h"

#include <string.h>

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_STATISTICS = 5,
	BLOCK_ENHANCED = 6,
	BYTE_ORDER_MAGIC = 0x1a2b3c4d,

	OPTION_END = 0,
	OPTION_COMMENT = 1,
	SHB_OS = 3,
	SHB_USERAPPL = 4,
	IF_NAME = 2,
	IF_DESCRIPTION = 3,
	IF_TSRESOL = 9,
	IF_FILTER = 11,
	EPB_FLAGS = 2,
	ISB_STARTTIME = 2,
	ISB_ENDTIME = 3,
	ISB_IFRECV = 4,
	ISB_IFDROP = 5,
	ISB_OSDROP = 7,
	ISB_USRDELIV = 8,

	NANOSECONDS = 9, /* 10^-9 */
	PACKET_HEAD = 28,
	TAIL = 4,
};

static uint8_t *put16(uint8_t *to, uint16_t value)
{
	to[0] = (uint8_t)value;
	to[1] = (uint8_t)(value >> 8);
	return to + 2;
}

static uint8_t *put32(uint8_t *to, uint32_t value)
{
	return put16(put16(to, (uint16_t)value), (uint16_t)(value >> 16));
}

/* As time stamps stand in blocks: the high half first. */
static uint8_t *put_time(uint8_t *to, uint64_t ts_ns)
{
	return put32(put32(to, (uint32_t)(ts_ns >> 32)), (uint32_t)ts_ns);
}

static uint8_t *put_padded(uint8_t *to, const void *bytes, size_t size)
{
	memcpy(to, bytes, size);
	for (to += size; size % 4 != 0; size++)
		*to++ = 0;
	return to;
}

static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

size_t ft_pcapng_fitting(const char *text, size_t room)
{
	size_t length = text == NULL ? 0 : strnlen(text, room + 1);

	if (length <= room)
		return length;
	for (length = room; length > 0 && (text[length] & 0xc0) == 0x80; length--)
		continue;
	return length;
}

/* Nothing if the value is empty. */
static uint8_t *put_option(uint8_t *to, uint16_t code, const void *value, size_t length)
{
	if (length == 0)
		return to;
	to = put16(put16(to, code), (uint16_t)length);
	return put_padded(to, value, length);
}

static uint8_t *put_text(uint8_t *to, uint16_t code, const char *text)
{
	return put_option(to, code, text, ft_pcapng_fitting(text, FT_PCAPNG_TEXT_MAX));
}

static uint8_t *put_count(uint8_t *to, uint16_t code, uint64_t count)
{
	uint8_t bytes[8];

	if (count == FT_PCAPNG_NOT_COUNTED)
		return to;
	put32(put32(bytes, (uint32_t)count), (uint32_t)(count >> 32));
	return put_option(to, code, bytes, sizeof bytes);
}

static uint8_t *put_moment(uint8_t *to, uint16_t code, uint64_t ts_ns)
{
	uint8_t bytes[8];

	if (ts_ns == FT_TS_UNKNOWN)
		return to;
	put_time(bytes, ts_ns);
	return put_option(to, code, bytes, sizeof bytes);
}

static uint8_t *begin(uint8_t *block, uint32_t type)
{
	return put32(block, type) + 4; /* its size is known at the end */
}

static size_t end(uint8_t *block, const uint8_t *at)
{
	uint32_t size = (uint32_t)(at - block) + TAIL;

	put32(block + 4, size);
	put32(block + size - TAIL, size);
	return size;
}

size_t ft_pcapng_put_section(uint8_t *to, const struct ft_pcapng_section *section)
{
	uint8_t *at = put32(begin(to, BLOCK_SECTION), BYTE_ORDER_MAGIC);

	at = put16(put16(at, 1), 0);                   /* version 1.0 */
	at = put32(put32(at, UINT32_MAX), UINT32_MAX); /* section length: not stated */
	at = put_text(at, OPTION_COMMENT, section->comment);
	at = put_text(at, SHB_OS, section->system);
	at = put_text(at, SHB_USERAPPL, section->application);
	return end(to, put32(at, OPTION_END));
}

size_t ft_pcapng_put_interface(uint8_t *to, const struct ft_pcapng_interface *interface)
{
	size_t filter = ft_pcapng_fitting(interface->filter, FT_PCAPNG_TEXT_MAX);
	char kernel_filter[1 + FT_PCAPNG_TEXT_MAX] = { 0 }; /* 0: in pcap's language */
	uint8_t *at = begin(to, BLOCK_INTERFACE);

	at = put32(put16(put16(at, interface->link_type), 0), interface->snap);
	at = put_text(at, OPTION_COMMENT, interface->comment);
	at = put_text(at, IF_NAME, interface->name);
	at = put_text(at, IF_DESCRIPTION, interface->description);
	at = put_option(at, IF_TSRESOL, (const uint8_t[]){ NANOSECONDS }, 1);
	if (filter != 0) {
		memcpy(kernel_filter + 1, interface->filter, filter);
		at = put_option(at, IF_FILTER, kernel_filter, 1 + filter);
	}
	return end(to, put32(at, OPTION_END));
}

size_t ft_pcapng_put_statistics(uint8_t *to, const struct ft_pcapng_statistics *statistics)
{
	uint64_t now_ns = statistics->to_ns == FT_TS_UNKNOWN ? 0 : statistics->to_ns;
	uint8_t *at = put32(begin(to, BLOCK_STATISTICS), statistics->interface);

	at = put_time(at, now_ns);
	at = put_text(at, OPTION_COMMENT, statistics->comment);
	at = put_moment(at, ISB_STARTTIME, statistics->from_ns);
	at = put_moment(at, ISB_ENDTIME, statistics->to_ns);
	at = put_count(at, ISB_IFRECV, statistics->received);
	at = put_count(at, ISB_IFDROP, statistics->dropped);
	at = put_count(at, ISB_OSDROP, statistics->left_out);
	at = put_count(at, ISB_USRDELIV, statistics->kept);
	return end(to, put32(at, OPTION_END));
}

/* Direction in bits 0 and 1, FCS length in bits 5 to 8. */
static uint32_t flags_of(const struct ft_frame *frame)
{
	return (uint32_t)frame->direction | (uint32_t)frame->fcs_bytes << 5;
}

static size_t options_size(uint32_t flags, size_t comment)
{
	size_t size = (flags != 0 ? 8 : 0) + (comment != 0 ? 4 + padded(comment) : 0);

	return size != 0 ? size + 4 : 0;
}

size_t ft_pcapng_packet_size(const struct ft_frame *frame, const char *comment)
{
	return PACKET_HEAD + padded(frame->captured) +
	       options_size(flags_of(frame), ft_pcapng_fitting(comment, FT_PCAPNG_COMMENT_MAX)) +
	       TAIL;
}

static uint8_t *put_packet_options(uint8_t *at, uint32_t flags, const char *comment)
{
	uint8_t bytes[4];

	at = put_option(at, OPTION_COMMENT, comment,
			ft_pcapng_fitting(comment, FT_PCAPNG_COMMENT_MAX));
	put32(bytes, flags);
	at = put_option(at, EPB_FLAGS, bytes, flags != 0 ? sizeof bytes : 0);
	return put32(at, OPTION_END);
}

size_t ft_pcapng_put_packet(uint8_t *to, const struct ft_frame *frame, uint32_t interface,
			    const char *comment)
{
	uint32_t flags = flags_of(frame);
	uint8_t *at = put32(begin(to, BLOCK_ENHANCED), interface);

	at = put_time(at, frame->ts_ns != FT_TS_UNKNOWN ? frame->ts_ns : 0);
	at = put32(put32(at, frame->captured), frame->original);
	at = put_padded(at, frame->bytes, frame->captured);
	if (flags != 0 || (comment != NULL && comment[0] != '\0'))
		at = put_packet_options(at, flags, comment);
	return end(to, at);
}
