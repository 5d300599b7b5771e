#include <capture/source.h>

#include "complain.h"
#include "live_parts.h"
#include "merge.h"
#include "source_parts.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * One piece per input is held in memory, or a few in turn that are kept. They are small enough to stay in the
 * second-level cache beside what the flows of their frames need there. Many inputs share the room of some large
 * ones.
 */
enum {
	PIECE_MAX = 128 << 10,
	PIECE_MIN = 64 << 10,
	PIECES_TOTAL = 64 << 20,
	KEPT_TOTAL = 8 << 20,
};

static int out_of_memory(struct ft_source_complaint *complaint, const char *name)
{
	ft_complain(complaint->text, sizeof complaint->text, name, "no memory");
	return -ENOMEM;
}

struct ft_source *ft_source_create(size_t count)
{
	struct ft_source *source = calloc(1, sizeof *source);

	if (source == NULL)
		return NULL;
	source->inputs = calloc(count, sizeof *source->inputs);
	if (source->inputs == NULL) {
		free(source);
		return NULL;
	}
	return source;
}

static bool is_standard_input(const char *path)
{
	static const char *const names[] = { "-", "file:-", "/dev/stdin", "/dev/fd/0" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (strcmp(path, names[i]) == 0)
			return true;
	}
	return false;
}

static int check_paths(const char *const *paths, size_t count,
		       struct ft_source_complaint *complaint)
{
	size_t standard_inputs = 0;

	for (size_t i = 0; i < count; i++)
		standard_inputs += is_standard_input(paths[i]);
	if (count > 0 && standard_inputs <= 1)
		return 0;
	if (count == 0)
		ft_complain(complaint->text, sizeof complaint->text, "input", "no file is named");
	else
		ft_complain(complaint->text, sizeof complaint->text, "standard input",
			    "is named twice, but can be read only once");
	return -EINVAL;
}

static size_t piece_size(size_t total, size_t pieces)
{
	size_t share = total / pieces;

	if (share > PIECE_MAX)
		return PIECE_MAX;
	return share < PIECE_MIN ? PIECE_MIN : share;
}

/* Of several inputs. False: no memory. */
static bool merge(struct ft_source *source)
{
	if (source->count > 1)
		source->merge = ft_merge_create(source->inputs, source->count);
	return source->count <= 1 || source->merge != NULL;
}

/* Take in the input that was just opened, or pass on why it was not. */
static int add_input(struct ft_source *source, int error, struct ft_source_complaint *complaint)
{
	struct ft_input *input = &source->inputs[source->count];

	if (error != 0) {
		*complaint = input->known.complaint;
		return error;
	}
	input->index = (uint32_t)source->count++;
	return 0;
}

int ft_source_open_until(struct ft_source **source, const char *const *paths, size_t count,
			 const volatile sig_atomic_t *stop, struct ft_source_complaint *complaint)
{
	struct ft_source *opened;
	int error = check_paths(paths, count, complaint);

	if (error != 0)
		return error;
	opened = ft_source_create(count);
	if (opened == NULL)
		return out_of_memory(complaint, paths[0]);
	for (size_t i = 0; i < count && error == 0; i++) {
		error = ft_input_open_file(&opened->inputs[i], paths[i],
					   piece_size(PIECES_TOTAL, count), stop);
		error = add_input(opened, error, complaint);
	}
	if (error == 0 && !merge(opened))
		error = out_of_memory(complaint, paths[0]);
	if (error != 0) {
		ft_source_close(opened);
		return error;
	}
	*source = opened;
	return 0;
}

int ft_source_open_files(struct ft_source **source, const char *const *paths, size_t count,
			 struct ft_source_complaint *complaint)
{
	return ft_source_open_until(source, paths, count, NULL, complaint);
}

int ft_source_open_memory(struct ft_source **source, const uint8_t *bytes, size_t size,
			  struct ft_source_complaint *complaint)
{
	struct ft_source *opened = ft_source_create(1);
	int error;

	if (opened == NULL)
		return out_of_memory(complaint, "memory");
	error = ft_input_open_memory(&opened->inputs[0], bytes, size);
	error = add_input(opened, error, complaint);
	if (error != 0) {
		ft_source_close(opened);
		return error;
	}
	*source = opened;
	return 0;
}

int ft_source_keep(struct ft_source *source, unsigned calls)
{
	size_t pieces = source->count * ft_pieces_count(calls, true);
	int error = 0;

	if (source->live != NULL)
		return calls > 0 && calls <= source->live->keep ? 0 : -EINVAL;
	if (source->calls != 0 || calls == 0 || calls > FT_SOURCE_KEEP_MAX)
		return -EINVAL;
	for (size_t i = 0; i < source->count && calls > 1 && error == 0; i++)
		error = ft_stream_keep(&source->inputs[i].stream, calls, &source->calls,
				       piece_size(KEPT_TOTAL, pieces));
	return error;
}

static void note_link_type(struct ft_input *input, uint16_t link_type)
{
	struct ft_source_input *known = &input->known;

	input->link_type = link_type;
	for (unsigned i = 0; i < known->link_type_count; i++) {
		if (known->link_types[i] == link_type)
			return;
	}
	if (known->link_type_count < sizeof known->link_types / sizeof known->link_types[0])
		known->link_types[known->link_type_count++] = link_type;
}

/* No time, the first one, or one before that of an earlier frame. */
__attribute__((noinline)) static void note_odd_time(struct ft_input *input, uint64_t ts_ns)
{
	struct ft_source_input *known = &input->known;
	uint64_t previous = input->previous_ts_ns;

	if (ts_ns == FT_TS_UNKNOWN)
		return;
	known->clock_steps += ts_ns < previous && previous - ts_ns > FT_CLOCK_ERROR_NS;
	input->previous_ts_ns = ts_ns;
	if (ts_ns < known->first_ts_ns)
		known->first_ts_ns = ts_ns;
	if (known->last_ts_ns == FT_TS_UNKNOWN || ts_ns > known->last_ts_ns)
		known->last_ts_ns = ts_ns;
}

/* Returns its bytes. */
static inline uint32_t number_frame(struct ft_input *input, struct ft_frame *frame, uint64_t number)
{
	frame->number = number;
	if (frame->link_type != input->link_type)
		note_link_type(input, frame->link_type);
	return frame->wire;
}

/* There is a time, and it is none before that: one more than FT_TS_UNKNOWN, the largest number, is 0. */
static inline bool goes_on(uint64_t ts_ns, uint64_t newest)
{
	return ts_ns + 1 > newest;
}

/*
 * Frames in a row from one input: what is known of it is brought up to date. Times are noted where one does not go on;
 * true: each does.
 */
static bool account_run(struct ft_input *input, struct ft_frame *frames, int count, uint64_t number)
{
	uint64_t bytes = 0, newest = input->known.last_ts_ns;
	struct ft_frame *frame = frames, *end = frames + count;
	bool in_order = true;

	if (input->known.link_type_count == 0)
		note_link_type(input, frames[0].link_type);
	while (frame < end) {
		const struct ft_frame *from = frame;

		for (; frame < end && goes_on(frame->ts_ns, newest); frame++) {
			newest = frame->ts_ns;
			bytes += number_frame(input, frame, number++);
		}
		if (frame != from)
			input->previous_ts_ns = input->known.last_ts_ns = newest;
		if (frame == end)
			break;
		in_order = false;
		bytes += number_frame(input, frame, number++);
		note_odd_time(input, (frame++)->ts_ns);
		newest = input->known.last_ts_ns;
	}
	input->known.frames += (uint64_t)count;
	input->known.bytes += bytes;
	return in_order;
}

/* Number the frames and hand them to their inputs' accounts, run by run. */
static void account(struct ft_source *source, struct ft_frame *frames, int count)
{
	for (int at = 0; at < count;) {
		uint32_t input = frames[at].input;
		int end = source->count == 1 ? count : at;

		while (end < count && frames[end].input == input)
			end++;
		source->in_order = account_run(&source->inputs[input], frames + at, end - at,
					       source->frames + 1) &&
				   end - at == count;
		source->frames += (uint64_t)(end - at);
		at = end;
	}
}

int ft_source_next(struct ft_source *source, struct ft_frame *frames, int room)
{
	int count;

	assert(room > 0);
	source->calls++;
	if (source->live != NULL) {
		count = ft_live_next(source->live, frames, room);
		account(source, frames, count);
		return count;
	}
	if (source->count == 1)
		count = ft_input_next(&source->inputs[0], frames, room);
	else
		count = ft_merge_next(source->merge, frames, room);
	account(source, frames, count);
	return count != 0 ? count : -ENODATA;
}

bool ft_source_is_piped(const struct ft_source *source)
{
	bool piped = source->live == NULL;

	for (size_t i = 0; i < source->count; i++)
		piped = piped && !source->inputs[i].plain;
	return piped;
}

bool ft_source_read_ahead(struct ft_source *source)
{
	for (size_t i = 0; i < source->count; i++) {
		if (ft_stream_read_ahead(&source->inputs[i].stream))
			return true;
	}
	return false;
}

bool ft_source_in_order(const struct ft_source *source)
{
	return source->in_order;
}

size_t ft_source_input_count(const struct ft_source *source)
{
	return source->count;
}

const struct ft_source_input *ft_source_input(const struct ft_source *source, size_t index)
{
	return index < source->count ? &source->inputs[index].known : NULL;
}

void ft_source_progress(const struct ft_source *source, uint64_t *done, uint64_t *total)
{
	bool known = true;

	*done = *total = 0;
	for (size_t i = 0; i < source->count; i++) {
		const struct ft_stream *stream = &source->inputs[i].stream;

		*done += stream->taken;
		*total += stream->total;
		known = known && stream->total != 0;
	}
	if (!known)
		*total = 0;
}

void ft_source_close(struct ft_source *source)
{
	if (source == NULL)
		return;
	ft_merge_destroy(source->merge);
	ft_live_close(source->live);
	for (size_t i = 0; i < source->count; i++)
		ft_input_close(&source->inputs[i]);
	free(source->inputs);
	free(source);
}
