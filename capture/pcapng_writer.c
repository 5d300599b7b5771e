#include <capture/pcapng_writer.h>

#include "output.h"
#include "pcapng_blocks.h"
#include "pcapng_numbers.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ft_pcapng_writer {
	struct ft_output *output;
	struct ft_pcapng_numbers *numbers;
	uint8_t *block; /* being made */
	size_t room;
	atomic_int error;
};

static int make_room(struct ft_pcapng_writer *writer, size_t size)
{
	uint8_t *grown;

	if (size <= writer->room)
		return 0;
	grown = realloc(writer->block, size);
	if (grown == NULL)
		return -ENOMEM;
	writer->block = grown;
	writer->room = size;
	return 0;
}

static void discard(struct ft_pcapng_writer *writer)
{
	ft_pcapng_numbers_destroy(writer->numbers);
	free(writer->block);
	free(writer);
}

static struct ft_pcapng_writer *create(void)
{
	struct ft_pcapng_writer *created = calloc(1, sizeof *created);

	if (created == NULL)
		return NULL;
	if (ft_pcapng_numbers_create(&created->numbers) == 0 &&
	    make_room(created, FT_PCAPNG_BLOCK_ROOM) == 0)
		return created;
	discard(created);
	return NULL;
}

int ft_pcapng_create(struct ft_pcapng_writer **writer, const char *path, const char *application,
		     struct ft_writer_complaint *complaint)
{
	const struct ft_pcapng_section section = { .application = application };
	struct ft_pcapng_writer *created = create();
	int error;

	if (created == NULL) {
		snprintf(complaint->text, sizeof complaint->text, "no memory to write a capture");
		return -ENOMEM;
	}
	error = ft_output_create(&created->output, path, complaint->text, sizeof complaint->text);
	if (error != 0) {
		discard(created);
		return error;
	}
	ft_output_put(created->output, created->block,
		      ft_pcapng_put_section(created->block, &section));
	*writer = created;
	return 0;
}

/* Named after the input and, if that is pcapng, the interface in it. */
static void put_interface(struct ft_pcapng_writer *writer, const struct ft_frame *frame,
			  const char *input_name)
{
	char inside[32] = "", name[FT_PCAPNG_TEXT_MAX + 1];
	const struct ft_pcapng_interface interface = { .link_type = frame->link_type,
						       .name = name };
	size_t length;

	if (frame->is_pcapng)
		snprintf(inside, sizeof inside, "#%u.%u", frame->section, frame->interface);
	length = ft_pcapng_fitting(input_name, FT_PCAPNG_TEXT_MAX - strlen(inside));
	snprintf(name, sizeof name, "%.*s%s", (int)length, input_name, inside);
	ft_output_put(writer->output, writer->block,
		      ft_pcapng_put_interface(writer->block, &interface));
}

int ft_pcapng_write(struct ft_pcapng_writer *writer, const struct ft_frame *frame,
		    const char *input_name, const char *comment)
{
	uint32_t number;
	int found = ft_pcapng_numbers_find(writer->numbers, frame, &number);
	int error = found < 0 ? found : 0;

	if (found == 1)
		put_interface(writer, frame, input_name);
	if (error == 0)
		error = make_room(writer, ft_pcapng_packet_size(frame, comment));
	if (error != 0)
		return error;
	error = ft_output_put(writer->output, writer->block,
			      ft_pcapng_put_packet(writer->block, frame, number, comment));
	atomic_store_explicit(&writer->error, error, memory_order_relaxed);
	return 0;
}

int ft_pcapng_error(const struct ft_pcapng_writer *writer)
{
	return atomic_load_explicit(&writer->error, memory_order_relaxed);
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
