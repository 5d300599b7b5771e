#include "operation_list.h"

#include <stdlib.h>
#include <string.h>

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

/* What has no name so far, in order of first frame, and what begins behind all of that. */
struct unnamed {
	uint64_t last_frame;
	uint64_t named_end; /* the first last frame of what has a name there */
};

static void add_to_unnamed(struct unnamed *unnamed, const struct ft_nccl_collective *row)
{
	if (!is_named(row) && row->last_frame > unnamed->last_frame)
		*unnamed = (struct unnamed){ row->last_frame, UINT64_MAX };
	else if (is_named(row) && row->first_frame > unnamed->last_frame &&
		 row->last_frame < unnamed->named_end)
		unnamed->named_end = row->last_frame;
}

/* Nothing with a name is between it and something without one. */
static bool is_next_to_unnamed(const struct ft_nccl_operations *operations, size_t at,
			       const struct unnamed *before)
{
	const struct ft_nccl_collective *row = &operations->at[at].row;
	uint64_t named_end = UINT64_MAX;

	if (before->last_frame != 0 && before->named_end >= row->first_frame)
		return true;
	for (at++; at < operations->count; at++) {
		const struct ft_nccl_collective *next = &operations->at[at].row;

		if (next->first_frame > named_end)
			break;
		if (!is_named(next))
			return true;
		if (next->first_frame > row->last_frame && next->last_frame < named_end)
			named_end = next->last_frame;
	}
	return false;
}

static void forget_size(struct ft_nccl_collective *row)
{
	row->message_bytes = row->message_bytes_least = row->message_bytes_most = 0;
}

static bool same_words(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* One channel may show how an all-reduce of two went, while another does not. */
static bool may_be_same_algorithm(const struct ft_nccl_collective *a,
				  const struct ft_nccl_collective *b)
{
	return same_words(a->algorithm, b->algorithm) ||
	       (a->collective != NULL && (a->algorithm == NULL || b->algorithm == NULL));
}

static bool are_alike(const struct ft_nccl_collective *a, const struct ft_nccl_collective *b)
{
	return same_words(a->collective, b->collective) && may_be_same_algorithm(a, b) &&
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
	if (sum->algorithm == NULL)
		sum->algorithm = row->algorithm;
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

/* The first one, if not all channels have a part of it: some may have passed before a capture that begins in the middle. */
static void doubt_first(struct ft_nccl_operations *operations)
{
	size_t i = operations->begin;
	uint64_t all = 0;

	for (size_t j = i; j < operations->count; j++)
		all |= operations->at[j].sources;
	while (i < operations->count && !is_named(&operations->at[i].row))
		i++;
	if (i < operations->count && (operations->source > 64 || operations->at[i].sources != all))
		forget_size(&operations->at[i].row);
}

static bool is_of_sends(const struct ft_nccl_collective *row)
{
	return same_words(row->collective, "SendRecv");
}

/* Sends have connections that no collective uses: what looks like some on a channel of collectives is a part of these. */
static void doubt_sends(struct ft_nccl_operations *operations)
{
	uint64_t used = 0;

	for (size_t i = operations->begin; i < operations->count; i++) {
		const struct operation *operation = &operations->at[i];

		if (operation->row.collective != NULL && !is_of_sends(&operation->row))
			used |= operation->sources;
	}
	for (size_t i = operations->begin; i < operations->count; i++)
		if ((operations->at[i].sources & used) != 0 && is_of_sends(&operations->at[i].row))
			operations->at[i].row.collective = NULL;
}

void ft_nccl_operations_doubt(struct ft_nccl_operations *operations, bool from_start)
{
	struct unnamed unnamed = { 0, UINT64_MAX };

	doubt_sends(operations);
	join_same(operations);
	place_parts(operations);
	sort(operations); /* a part may be the first of it */
	if (!from_start)
		doubt_first(operations);
	for (size_t i = operations->begin; i < operations->count; i++) {
		struct ft_nccl_collective *row = &operations->at[i].row;
		const struct unnamed before = unnamed;

		add_to_unnamed(&unnamed, row);
		if (!is_named(row)) {
			forget_size(row); /* a part of its channels may have another row .. */
			row->ranks = 0;   /* .. and it may be of several operations */
		} else if (is_doubtful(operations, i, before.last_frame) ||
			   (is_short(operations, row) &&
			    is_next_to_unnamed(operations, i, &before))) {
			doubt(row);
		}
	}
}

void ft_nccl_operations_forget_sizes(struct ft_nccl_operations *operations)
{
	for (size_t i = operations->begin; i < operations->count; i++)
		forget_size(&operations->at[i].row);
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
