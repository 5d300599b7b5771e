#include "operation_list.h"

#include <stdlib.h>
#include <string.h>

#include <capture/frame.h>

/* --- stretches --- */

static void widen(struct ft_nccl_stretch *sum, uint64_t first_frame, uint64_t last_frame,
		  uint64_t first_ts_ns, uint64_t last_ts_ns)
{
	if (sum->first_frame == 0 || first_frame < sum->first_frame) {
		sum->first_frame = first_frame;
		sum->first_ts_ns = first_ts_ns;
	}
	if (last_frame > sum->last_frame) {
		sum->last_frame = last_frame;
		sum->last_ts_ns = last_ts_ns;
	}
}

static void agree(struct ft_nccl_stretch *sum, enum ft_nccl_protocol protocol)
{
	if (protocol == FT_NCCL_PROTOCOL_UNKNOWN || sum->differs)
		return;
	sum->differs = sum->protocol != FT_NCCL_PROTOCOL_UNKNOWN && sum->protocol != protocol;
	sum->protocol = sum->differs ? FT_NCCL_PROTOCOL_UNKNOWN : protocol;
}

static void offer(struct ft_nccl_stretch *sum, const struct ft_nccl_request *request, bool first)
{
	if (!request->has_offered) {
		sum->asked = false;
		sum->offered = 0;
		return;
	}
	if (first)
		sum->offered = request->offered;
	else if (sum->offered != request->offered)
		sum->offered = 0;
	sum->offers_differ |= sum->offered_most != 0 && sum->offered_most != request->offered;
	if (request->offered > sum->offered_most)
		sum->offered_most = request->offered;
}

static void add_message(struct ft_nccl_stretch *sum, const struct ft_nccl_track *track,
			const struct ft_nccl_message *message)
{
	const bool first = sum->seen == 0;

	sum->bytes += ft_nccl_message_bytes(message);
	sum->seen++;
	sum->whole &= message->completed;
	sum->sized &= ft_nccl_message_is_sized(track, message);
	sum->grouped |= message->request_count > 1;
	agree(sum, message->protocol);
	for (size_t i = 0; i < message->request_count; i++)
		offer(sum, &message->requests[i], first && i == 0);
	widen(sum, message->first_frame, message->last_frame, message->first_ts_ns,
	      message->last_ts_ns);
}

static bool is_send_chunk(const struct ft_nccl_message *message)
{
	return message != NULL && message->request_count == 1 &&
	       ft_nccl_is_send_chunk(message->requests[0].offered);
}

struct ft_nccl_stretch ft_nccl_stretch_of(const struct ft_nccl_track *track, size_t from,
					  size_t count)
{
	struct ft_nccl_stretch sum = { .whole = true,
				       .sized = true,
				       .asked = true,
				       .cut_as_sends = true,
				       .first_ts_ns = FT_TS_UNKNOWN,
				       .last_ts_ns = FT_TS_UNKNOWN };

	for (size_t i = from; i < from + count && i < track->count; i++) {
		const struct ft_nccl_message *message = track->messages[i];

		if (message == NULL || message->first_frame == 0)
			sum.whole = sum.sized = false;
		else
			add_message(&sum, track, message);
		if (i + 1 < from + count)
			sum.cut_as_sends &= is_send_chunk(message);
	}
	return sum;
}

void ft_nccl_stretch_add(struct ft_nccl_stretch *sum, const struct ft_nccl_stretch *more)
{
	if (more->seen == 0) {
		sum->whole &= more->whole;
		sum->sized &= more->sized;
		return;
	}
	if (sum->seen > 0 && sum->offered != more->offered)
		sum->offered = 0;
	else
		sum->offered = more->offered;
	sum->offers_differ |=
		more->offers_differ || (sum->offered_most != 0 && more->offered_most != 0 &&
					sum->offered_most != more->offered_most);
	if (more->offered_most > sum->offered_most)
		sum->offered_most = more->offered_most;
	sum->differs |= more->differs;
	agree(sum, more->protocol);
	if (sum->differs)
		sum->protocol = FT_NCCL_PROTOCOL_UNKNOWN;
	sum->bytes += more->bytes;
	sum->seen += more->seen;
	sum->whole &= more->whole;
	sum->sized &= more->sized;
	sum->asked &= more->asked;
	sum->cut_as_sends &= more->cut_as_sends;
	sum->grouped |= more->grouped;
	widen(sum, more->first_frame, more->last_frame, more->first_ts_ns, more->last_ts_ns);
}

struct ft_nccl_collective ft_nccl_stretch_row(const struct ft_nccl_stretch *stretch)
{
	return (struct ft_nccl_collective){
		.protocol = stretch->protocol,
		.wire_bytes = stretch->bytes,
		.messages = stretch->seen,
		.first_frame = stretch->first_frame,
		.last_frame = stretch->last_frame,
		.first_ts_ns = stretch->first_ts_ns,
		.last_ts_ns = stretch->last_ts_ns,
		.complete = stretch->whole,
	};
}

/* --- the list --- */

static int compare(const void *a, const void *b)
{
	const struct operation *left = a, *right = b;

	if (left->row.first_frame != right->row.first_frame)
		return left->row.first_frame < right->row.first_frame ? -1 : 1;
	return (left->source > right->source) - (left->source < right->source);
}

static void sort(struct ft_nccl_operations *operations)
{
	if (operations->count > operations->begin)
		qsort(operations->at + operations->begin, operations->count - operations->begin,
		      sizeof *operations->at, compare);
	operations->sorted = operations->count;
	operations->from = operations->begin;
}

void ft_nccl_operations_begin(struct ft_nccl_operations *operations)
{
	operations->begin = operations->sorted = operations->from = operations->count;
	operations->source = operations->trees = 0;
	operations->has_trees = false;
}

void ft_nccl_operations_begin_trees(struct ft_nccl_operations *operations)
{
	if (!operations->has_trees)
		operations->trees = operations->source;
	operations->has_trees = true;
}

void ft_nccl_operations_next(struct ft_nccl_operations *operations)
{
	sort(operations);
	operations->source++;
}

static bool is_named(const struct ft_nccl_collective *row)
{
	return row->collective != NULL || row->algorithm != NULL;
}

/* They are sorted by first frame; `last_frame`: of the unnamed ones before it. */
static bool is_doubtful(const struct ft_nccl_operations *operations, size_t at, uint64_t last_frame)
{
	const struct ft_nccl_collective *row = &operations->at[at].row;

	if (last_frame >= row->first_frame)
		return true;
	for (at++; at < operations->count && operations->at[at].row.first_frame <= row->last_frame;
	     at++)
		if (!is_named(&operations->at[at].row))
			return true;
	return false;
}

/* Of hosts operations over trees may be short: what is left of their other channels need not pass at the same time. */
static bool is_short(const struct ft_nccl_operations *operations,
		     const struct ft_nccl_collective *row)
{
	return operations->has_trees && row->ranks == 0 && row->algorithm != NULL;
}

/* Nothing with a name is between it and something without one. */
static bool is_next_to_unnamed(const struct ft_nccl_operations *operations, size_t at)
{
	return (at > operations->begin && !is_named(&operations->at[at - 1].row)) ||
	       (at + 1 < operations->count && !is_named(&operations->at[at + 1].row));
}

static void forget_size(struct ft_nccl_collective *row)
{
	row->message_bytes = row->message_bytes_least = row->message_bytes_most = 0;
}

static bool same_words(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool are_alike(const struct ft_nccl_collective *a, const struct ft_nccl_collective *b)
{
	return same_words(a->collective, b->collective) && same_words(a->algorithm, b->algorithm) &&
	       (a->ranks == b->ranks || a->ranks == 0 || b->ranks == 0);
}

static void join(struct ft_nccl_collective *sum, const struct ft_nccl_collective *row)
{
	const bool sized = sum->message_bytes_most > 0 && row->message_bytes_most > 0;

	sum->message_bytes = sum->message_bytes > 0 && row->message_bytes > 0
				     ? sum->message_bytes + row->message_bytes
				     : 0;
	sum->message_bytes_least = sized ? sum->message_bytes_least + row->message_bytes_least : 0;
	sum->message_bytes_most = sized ? sum->message_bytes_most + row->message_bytes_most : 0;
	sum->wire_bytes += row->wire_bytes;
	sum->messages += row->messages;
	sum->channels += row->channels;
	if (sum->ranks == 0)
		sum->ranks = row->ranks;
	sum->complete &= row->complete;
	if (row->first_frame < sum->first_frame) {
		sum->first_frame = row->first_frame;
		sum->first_ts_ns = row->first_ts_ns;
	}
	if (row->last_frame > sum->last_frame) {
		sum->last_frame = row->last_frame;
		sum->last_ts_ns = row->last_ts_ns;
	}
}

static uint64_t bit_of(uint32_t source)
{
	return source < 64 ? UINT64_C(1) << source : 0;
}

/* Found in the first channel, of rings or of trees, whichever it is of. */
static bool has_first(const struct ft_nccl_operations *operations, const struct operation *part)
{
	return part->first == 0 || part->first == operations->trees;
}

/* The next one on a side that is alike and has the first channel, if it may lack those of the one at `at`; NULL: none. */
static struct operation *beside(const struct ft_nccl_operations *operations, size_t at, int step)
{
	const struct operation *part = &operations->at[at];

	for (at += (size_t)step; at >= operations->begin && at < operations->count;
	     at += (size_t)step) {
		struct operation *whole = &operations->at[at];

		if (has_first(operations, whole) && are_alike(&whole->row, &part->row))
			return (whole->sources & part->sources) == 0 &&
					       whole->row.protocol == part->row.protocol
				       ? whole
				       : NULL;
	}
	return NULL;
}

/* What was found without the first channel. */
static void place_part(struct ft_nccl_operations *operations, size_t at)
{
	struct operation *part = &operations->at[at];
	struct operation *before = beside(operations, at, -1), *behind = beside(operations, at, 1);
	struct operation *whole = before != NULL ? before : behind;

	if (whole != NULL && (before == NULL || behind == NULL) && part->sources != 0) {
		join(&whole->row, &part->row);
		whole->sources |= part->sources;
		part->row.messages = 0;
		return;
	}
	forget_size(&part->row);
	if (before != NULL)
		forget_size(&before->row);
	if (behind != NULL)
		forget_size(&behind->row);
}

static void place_parts(struct ft_nccl_operations *operations)
{
	size_t kept = operations->begin;
	uint64_t last_frame = 0; /* of unnamed ones so far */

	for (size_t i = operations->begin; i < operations->count; i++) {
		const struct ft_nccl_collective *row = &operations->at[i].row;

		if (!is_named(row) && row->last_frame > last_frame)
			last_frame = row->last_frame;
		else if (is_named(row) && !has_first(operations, &operations->at[i]) &&
			 row->message_bytes_most > 0 && !is_doubtful(operations, i, last_frame))
			place_part(operations, i);
	}
	for (size_t i = operations->begin; i < operations->count; i++)
		if (operations->at[i].row.messages != 0)
			operations->at[kept++] = operations->at[i];
	operations->count = kept;
}

/* A chain beside something else may be a part of that. */
static void doubt(struct ft_nccl_collective *row)
{
	forget_size(row);
	if (row->collective == NULL && row->ranks == 0)
		row->algorithm = NULL;
}

/* The same on other channels, at the same time: those between that tie them together were found later. */
static bool is_same(const struct operation *one, const struct operation *other)
{
	return is_named(&one->row) && are_alike(&one->row, &other->row) &&
	       one->row.protocol == other->row.protocol && one->sources != 0 &&
	       other->sources != 0 && (one->sources & other->sources) == 0;
}

static void join_same(struct ft_nccl_operations *operations)
{
	size_t kept = operations->begin;

	for (size_t i = operations->begin; i < operations->count; i++) {
		struct operation *one = &operations->at[i];

		for (size_t j = i + 1; one->row.messages > 0 && j < operations->count &&
				       operations->at[j].row.first_frame <= one->row.last_frame;
		     j++) {
			struct operation *other = &operations->at[j];

			if (other->row.messages == 0 || !is_same(one, other))
				continue;
			join(&one->row, &other->row);
			one->sources |= other->sources;
			one->first = other->first < one->first ? other->first : one->first;
			other->row.messages = 0;
		}
		if (one->row.messages > 0)
			operations->at[kept++] = *one;
	}
	operations->count = kept;
}

void ft_nccl_operations_doubt(struct ft_nccl_operations *operations)
{
	uint64_t last_frame = 0; /* of unnamed ones so far */

	join_same(operations);
	place_parts(operations);
	sort(operations); /* a part may be the first of it */
	for (size_t i = operations->begin; i < operations->count; i++) {
		struct ft_nccl_collective *row = &operations->at[i].row;

		if (!is_named(row) && row->last_frame > last_frame)
			last_frame = row->last_frame;
		else if (is_named(row) &&
			 (is_doubtful(operations, i, last_frame) ||
			  (is_short(operations, row) && is_next_to_unnamed(operations, i))))
			doubt(row);
	}
}

static bool can_join(const struct operation *there, const struct ft_nccl_collective *row,
		     uint32_t source)
{
	return there->source != source && there->row.protocol == row->protocol &&
	       there->row.first_frame <= row->last_frame &&
	       row->first_frame <= there->row.last_frame && are_alike(&there->row, row);
}

static bool joined(struct ft_nccl_operations *operations, const struct ft_nccl_collective *row)
{
	while (operations->from < operations->sorted &&
	       operations->at[operations->from].row.last_frame < row->first_frame)
		operations->from++;
	for (size_t i = operations->from; i < operations->sorted; i++) {
		struct operation *there = &operations->at[i];

		if (there->row.first_frame > row->last_frame)
			break;
		if (can_join(there, row, operations->source)) {
			join(&there->row, row);
			there->source = operations->source;
			there->sources |= bit_of(operations->source);
			return true;
		}
	}
	return false;
}

static bool reserve(struct ft_nccl_operations *operations)
{
	const size_t room = operations->room > 0 ? 2 * operations->room : 64;
	struct operation *at;

	if (operations->count < operations->room)
		return true;
	at = realloc(operations->at, room * sizeof *at);
	if (at == NULL) {
		operations->broken = true;
		return false;
	}
	operations->at = at;
	operations->room = room;
	return true;
}

void ft_nccl_operations_add(struct ft_nccl_operations *operations,
			    const struct ft_nccl_collective *row)
{
	if (row->messages == 0 || joined(operations, row) || !reserve(operations))
		return;
	operations->at[operations->count++] =
		(struct operation){ *row, operations->source, operations->source,
				    bit_of(operations->source) };
}
