#include "input.h"

#include "complain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *spoken_name(const struct ft_input *input)
{
	return strcmp(input->known.name, "-") == 0 ? "standard input" : input->known.name;
}

static void complain(struct ft_input *input, const char *text)
{
	ft_complain(input->known.complaint.text, sizeof input->known.complaint.text,
		    spoken_name(input), "%s", text);
}

int ft_input_refuse(struct ft_input *input, const char *format, ...)
{
	char text[256];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof text, format, values);
	va_end(values);
	complain(input, text);
	return -EINVAL;
}

bool ft_input_damaged(struct ft_input *input, uint64_t offset, const char *format, ...)
{
	char text[256];
	const char *packed = input->stream.unpacker != NULL ? " of the unpacked data" : "";
	int used = snprintf(text, sizeof text,
			    "damaged at byte %llu%s: ", (unsigned long long)offset, packed);
	va_list values;

	va_start(values, format);
	vsnprintf(text + used, sizeof text - (size_t)used, format, values);
	va_end(values);
	complain(input, text);
	input->known.damaged = true;
	input->ended = true;
	return false;
}

bool ft_input_need(struct ft_input *input, size_t size, const char *what, bool may_end)
{
	struct ft_stream *stream = &input->stream;
	size_t left;

	if (ft_stream_need(stream, size))
		return true;
	left = ft_stream_left(stream);
	if (stream->stopped) {
		input->ended = true;
		return false;
	}
	if (stream->fault[0] != '\0')
		return ft_input_damaged(input, ft_stream_offset(stream), "%s", stream->fault);
	if (left == 0 && may_end) {
		input->ended = true;
		return false;
	}
	return ft_input_damaged(input, ft_stream_offset(stream),
				"%s is %zu bytes long, but the rest of the file only %zu", what,
				size, left);
}

static int refuse_errno(struct ft_input *input, int error, const char *doing)
{
	ft_input_refuse(input, "%s: %s", doing, strerror(error));
	return -error;
}

static int open_path(struct ft_input *input, const char *path)
{
	struct stat status;

	if (strcmp(path, "-") == 0)
		input->fd = STDIN_FILENO;
	else
		input->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (input->fd < 0)
		return refuse_errno(input, errno, "cannot open");
	if (fstat(input->fd, &status) != 0)
		return refuse_errno(input, errno, "cannot read");
	if (S_ISDIR(status.st_mode))
		return refuse_errno(input, EISDIR, "cannot read");
	if (isatty(input->fd))
		return ft_input_refuse(input, "is a terminal, not a capture");
	input->plain = S_ISREG(status.st_mode);
	if (input->plain && status.st_size > 0)
		input->stream.total = (uint64_t)status.st_size;
	return 0;
}

/* The bytes are there: find their format and open its reader. */
static int open_format(struct ft_input *input)
{
	static const struct ft_format *const formats[] = { &ft_pcap, &ft_pcapng, &ft_erf };
	struct ft_stream *stream = &input->stream;
	const char *packing = stream->unpacker != NULL ? stream->unpacker->name : "";

	input->known.compression = stream->unpacker != NULL ? stream->unpacker->name : NULL;
	for (size_t i = 0; i < sizeof formats / sizeof formats[0] && input->format == NULL; i++) {
		if (formats[i]->recognises(input))
			input->format = formats[i];
	}
	if (input->format != NULL) {
		input->known.format = input->format->name;
		return input->format->open(input);
	}
	ft_stream_need(stream, 16);
	if (ft_stream_left(stream) == 0 && stream->fault[0] != '\0')
		return ft_input_refuse(input, "%s", stream->fault);
	if (stream->stopped)
		return ft_input_refuse(input, "interrupted before a capture began");
	return ft_input_refuse(input, "not a capture file: %s%s%s", packing,
			       packing[0] != '\0' ? "-packed, and " : "",
			       ft_recognise(stream->at, ft_stream_left(stream)));
}

static int open_stream(struct ft_input *input, int error)
{
	if (error != 0)
		return refuse_errno(input, -error, "cannot read");
	return open_format(input);
}

static int name_input(struct ft_input *input, const char *name, const char *kind)
{
	*input = (struct ft_input){ .fd = -1, .known = { .kind = kind } };
	input->known.first_ts_ns = input->known.last_ts_ns = FT_TS_UNKNOWN;
	input->known.name = strdup(name);
	if (input->known.name != NULL)
		return 0;
	ft_complain(input->known.complaint.text, sizeof input->known.complaint.text, name, "%s",
		    strerror(ENOMEM));
	return -ENOMEM;
}

int ft_input_open_file(struct ft_input *input, const char *path, size_t piece,
		       const volatile sig_atomic_t *stop)
{
	int error;

	if (strncmp(path, "file:", 5) == 0)
		path += 5;
	error = name_input(input, path, "file");
	if (error == 0)
		error = open_path(input, path);
	if (error == 0) {
		uint64_t total = input->stream.total;

		error = ft_stream_open_fd(&input->stream, input->fd, piece,
					  input->plain ? NULL : stop);
		input->stream.total = total;
		error = open_stream(input, error);
	}
	if (error != 0)
		ft_input_close(input);
	return error;
}

int ft_input_open_memory(struct ft_input *input, const uint8_t *bytes, size_t size)
{
	int error = name_input(input, "memory", "memory");

	input->plain = true;
	if (error == 0)
		error = open_stream(input, ft_stream_open_memory(&input->stream, bytes, size));
	if (error != 0)
		ft_input_close(input);
	return error;
}

int ft_input_next(struct ft_input *input, struct ft_frame *frames, int room)
{
	int count = input->ended ? 0 : input->format->next(input, frames, room);

	if (count > 0)
		ft_stream_lend(&input->stream);
	return count;
}

void ft_input_close(struct ft_input *input)
{
	if (input->reader != NULL)
		input->format->close(input);
	ft_stream_close(&input->stream);
	if (input->fd > STDERR_FILENO)
		close(input->fd);
	free((char *)(uintptr_t)input->known.name);
	input->known.name = NULL;
	input->reader = NULL;
	input->fd = -1;
}
