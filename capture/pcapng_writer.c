#include <capture/pcapng_writer.h>

#include "output.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_ENHANCED = 6,
	BYTE_ORDER_MAGIC = 0x1a2b3c4d,

	OPTION_END = 0,
	OPTION_COMMENT = 1,
	IF_NAME = 2,
	EPB_FLAGS = 2,
	SHB_USERAPPL = 4,
	IF_TSRESOL = 9,

	NANOSECONDS = 9, /* 10^-9 */
	OPTION_MAX = 65535,
	NAME_MAX_BYTES = 1024,
};

/* An interface block written so far, found by where its frames come from. */
struct written {
	uint32_t input, section, interface;
	uint16_t link_type;
	uint32_t number;
};

struct ft_pcapng_writer {
	struct ft_output *output;
	void *interfaces; /* tsearch() tree of struct written */
	uint32_t interface_count;
};

static void put(struct ft_pcapng_writer *writer, const void *bytes, size_t size)
{
	ft_output_put(writer->output, bytes, size);
}

static void put16(struct ft_pcapng_writer *writer, uint16_t value)
{
	put(writer, (const uint8_t[]){ (uint8_t)value, (uint8_t)(value >> 8) }, 2);
}

static void put32(struct ft_pcapng_writer *writer, uint32_t value)
{
	put16(writer, (uint16_t)value);
	put16(writer, (uint16_t)(value >> 16));
}

static uint32_t padded(size_t size)
{
	return (uint32_t)((size + 3) & ~(size_t)3);
}

static void put_padded(struct ft_pcapng_writer *writer, const void *bytes, size_t size)
{
	put(writer, bytes, size);
	put(writer, "\0\0", padded(size) - size);
}

static uint32_t option_size(size_t length)
{
	return length != 0 ? 4 + padded(length) : 0;
}

/* Nothing if the value is empty. */
static void put_option(struct ft_pcapng_writer *writer, uint16_t code, const void *value,
		       size_t length)
{
	if (length == 0)
		return;
	put16(writer, code);
	put16(writer, (uint16_t)length);
	put_padded(writer, value, length);
}

/* As many bytes of the text as fit, without cutting a UTF-8 character. */
static size_t fitting(const char *text, size_t room)
{
	size_t length = strlen(text);

	if (length <= room)
		return length;
	for (length = room; length > 0 && (text[length] & 0xc0) == 0x80; length--)
		continue;
	return length;
}

static void put_section(struct ft_pcapng_writer *writer, const char *application)
{
	size_t length = fitting(application, NAME_MAX_BYTES);
	uint32_t size = 28 + option_size(length) + 4;

	put32(writer, BLOCK_SECTION);
	put32(writer, size);
	put32(writer, BYTE_ORDER_MAGIC);
	put16(writer, 1); /* version 1.0 */
	put16(writer, 0);
	put32(writer, UINT32_MAX); /* section length: not stated */
	put32(writer, UINT32_MAX);
	put_option(writer, SHB_USERAPPL, application, length);
	put32(writer, OPTION_END);
	put32(writer, size);
}

static void put_interface(struct ft_pcapng_writer *writer, const struct ft_frame *frame,
			  const char *input_name)
{
	char name[NAME_MAX_BYTES + 32];
	size_t length = fitting(input_name, NAME_MAX_BYTES);
	uint32_t size;

	memcpy(name, input_name, length);
	if (frame->is_pcapng)
		length += (size_t)snprintf(name + length, sizeof name - length, "#%u.%u",
					   frame->section, frame->interface);
	size = 20 + option_size(length) + option_size(1) + 4;
	put32(writer, BLOCK_INTERFACE);
	put32(writer, size);
	put16(writer, frame->link_type);
	put16(writer, 0);
	put32(writer, 0); /* no snaplen */
	put_option(writer, IF_NAME, name, length);
	put_option(writer, IF_TSRESOL, (const uint8_t[]){ NANOSECONDS }, 1);
	put32(writer, OPTION_END);
	put32(writer, size);
}

static int compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_written(const void *left, const void *right)
{
	const struct written *a = left, *b = right;
	int order = compare(a->input, b->input);

	if (order == 0)
		order = compare(a->section, b->section);
	if (order == 0)
		order = compare(a->interface, b->interface);
	return order != 0 ? order : compare(a->link_type, b->link_type);
}

/* The interface of the frame, described first if it is new. */
static int find_interface(struct ft_pcapng_writer *writer, const struct ft_frame *frame,
			  const char *input_name, uint32_t *number)
{
	struct written key = { frame->input, frame->section, frame->interface, frame->link_type,
			       writer->interface_count };
	struct written *const *found = tfind(&key, &writer->interfaces, compare_written);
	struct written *added;

	if (found != NULL) {
		*number = (*found)->number;
		return 0;
	}
	added = malloc(sizeof *added);
	if (added == NULL)
		return -ENOMEM;
	*added = key;
	if (tsearch(added, &writer->interfaces, compare_written) == NULL) {
		free(added);
		return -ENOMEM;
	}
	put_interface(writer, frame, input_name);
	*number = writer->interface_count++;
	return 0;
}

/* Direction in bits 0 and 1, FCS length in bits 5 to 8. */
static uint32_t flags_of(const struct ft_frame *frame)
{
	return (uint32_t)frame->direction | (uint32_t)frame->fcs_bytes << 5;
}

int ft_pcapng_create(struct ft_pcapng_writer **writer, const char *path, const char *application,
		     struct ft_writer_complaint *complaint)
{
	struct ft_pcapng_writer *created = calloc(1, sizeof *created);
	int error;

	if (created == NULL) {
		snprintf(complaint->text, sizeof complaint->text, "no memory to write a capture");
		return -ENOMEM;
	}
	error = ft_output_create(&created->output, path, complaint->text, sizeof complaint->text);
	if (error != 0) {
		free(created);
		return error;
	}
	put_section(created, application);
	*writer = created;
	return 0;
}

int ft_pcapng_write(struct ft_pcapng_writer *writer, const struct ft_frame *frame,
		    const char *input_name, const char *comment)
{
	uint32_t flags = flags_of(frame), number, options, size;
	uint64_t ts_ns = frame->ts_ns != FT_TS_UNKNOWN ? frame->ts_ns : 0;
	size_t length = comment != NULL ? fitting(comment, OPTION_MAX) : 0;
	int error = find_interface(writer, frame, input_name, &number);

	if (error != 0)
		return error;
	options = option_size(length) + (flags != 0 ? option_size(4) : 0);
	size = 32 + padded(frame->captured) + (options != 0 ? options + 4 : 0);
	put32(writer, BLOCK_ENHANCED);
	put32(writer, size);
	put32(writer, number);
	put32(writer, (uint32_t)(ts_ns >> 32));
	put32(writer, (uint32_t)ts_ns);
	put32(writer, frame->captured);
	put32(writer, frame->original);
	put_padded(writer, frame->bytes, frame->captured);
	put_option(writer, OPTION_COMMENT, comment, length);
	if (flags != 0)
		put_option(writer, EPB_FLAGS,
			   (const uint8_t[]){ (uint8_t)flags, (uint8_t)(flags >> 8), 0, 0 }, 4);
	if (options != 0)
		put32(writer, OPTION_END);
	put32(writer, size);
	return ft_output_put(writer->output, "", 0);
}

static void discard(struct ft_pcapng_writer *writer)
{
	tdestroy(writer->interfaces, free);
	free(writer);
}

int ft_pcapng_close(struct ft_pcapng_writer *writer, struct ft_writer_complaint *complaint)
{
	int error = ft_output_commit(writer->output, complaint->text, sizeof complaint->text);

	discard(writer);
	return error;
}

void ft_pcapng_abandon(struct ft_pcapng_writer *writer)
{
	if (writer == NULL)
		return;
	ft_output_abandon(writer->output);
	discard(writer);
}
