#include "operation_tracks.h"

#include <errno.h>
#include <stdlib.h>

#include "group_tags.h"

/* A track has room for so many missing messages for each one seen: idx of forged clear-to-sends may be anything. */
enum { MISSING_MOST = 4 };

struct maker {
	struct ft_nccl_tracks *tracks;
	struct ft_nccl_connection *const *connections;
	const struct ft_nccl_id *ids;
	size_t connection_count;
	const struct ft_nccl_message *messages;
	size_t message_count;
	struct span {
		size_t numbered, unnumbered; /* messages */
		uint64_t first, last;        /* numbers */
		uint64_t begins,
			ends; /* frames: the first of numbered ones, the last to begin of the others */
	} * spans;
};

static struct span *span_of(struct maker *maker, const struct ft_nccl_message *message,
			    struct ft_nccl_track **track)
{
	uint32_t at = ft_nccl_ids_find(maker->ids, maker->connection_count, message->connection);

	if (at == FT_NCCL_NONE)
		return NULL;
	*track = &maker->tracks->at[at];
	return &maker->spans[at];
}

static void widen(struct span *span, const struct ft_nccl_message *message)
{
	const uint64_t frame = message->cts_frame != 0 ? message->cts_frame : message->first_frame;

	if (!message->has_k) {
		span->unnumbered++;
		if (message->first_frame > span->ends)
			span->ends = message->first_frame;
		return;
	}
	if (span->numbered == 0 || message->k < span->first)
		span->first = message->k;
	if (span->numbered == 0 || message->k > span->last)
		span->last = message->k;
	if (span->numbered == 0 || frame < span->begins)
		span->begins = frame;
	span->numbered++;
}

/* Its messages have numbers, but for some before all of these: a capture that begins in the middle shows no more of them. */
static bool is_numbered(const struct span *span)
{
	return span->numbered > 0 && (span->unnumbered == 0 || span->ends < span->begins) &&
	       span->last - span->first < span->numbered * (1 + MISSING_MOST);
}

static void measure(struct maker *maker)
{
	struct ft_nccl_track *track;

	for (size_t i = 0; i < maker->message_count; i++) {
		const struct ft_nccl_message *message = &maker->messages[i];
		struct span *span = span_of(maker, message, &track);

		if (span != NULL)
			widen(span, message);
	}
}

static size_t lay_out(struct maker *maker)
{
	size_t all = 0;

	for (size_t i = 0; i < maker->connection_count; i++) {
		struct ft_nccl_track *track = &maker->tracks->at[i];
		const struct span *span = &maker->spans[i];

		track->connection = maker->connections[i];
		track->numbered = is_numbered(span);
		track->first_k = track->numbered ? span->first : 0;
		track->count = track->numbered ? (size_t)(span->last - span->first) + 1
					       : span->numbered + span->unnumbered;
		all += track->count;
	}
	return all;
}

static void fill(struct maker *maker)
{
	const struct ft_nccl_message **next = maker->tracks->memory;
	struct ft_nccl_track *track;

	for (size_t i = 0; i < maker->connection_count; i++) {
		maker->tracks->at[i].messages = next;
		next += maker->tracks->at[i].count;
		maker->spans[i].numbered = 0;
	}
	for (size_t i = 0; i < maker->message_count; i++) {
		struct span *span = span_of(maker, &maker->messages[i], &track);
		size_t place;

		if (span == NULL)
			continue;
		if (track->numbered && !maker->messages[i].has_k) {
			track->lacks_numbers = true;
			continue;
		}
		place = track->numbered ? (size_t)(maker->messages[i].k - track->first_k)
					: span->numbered++;
		if (track->messages[place] == NULL)
			track->messages[place] = &maker->messages[i];
	}
}

static void leave_out_unanswered(struct ft_nccl_track *track)
{
	while (track->count > 0 && (track->messages[track->count - 1] == NULL ||
				    track->messages[track->count - 1]->first_frame == 0)) {
		track->count--;
		track->unanswered++;
	}
}

/* With numbers for all of them, or for none, all are. */
static size_t count_certain(const struct ft_nccl_track *track, const struct span *span)
{
	if (track->numbered || span->unnumbered == 0 || span->begins == 0)
		return track->count;
	for (size_t i = 0; i < track->count; i++)
		if (!track->messages[i]->has_k || track->messages[i]->first_frame == 0)
			return i;
	return track->count;
}

static int make(struct maker *maker)
{
	measure(maker);
	maker->tracks->memory = calloc(lay_out(maker) + 1, sizeof *maker->tracks->memory);
	if (maker->tracks->memory == NULL)
		return -ENOMEM;
	fill(maker);
	for (size_t i = 0; i < maker->connection_count; i++) {
		struct ft_nccl_track *track = &maker->tracks->at[i];

		leave_out_unanswered(track);
		track->certain = count_certain(track, &maker->spans[i]);
	}
	return 0;
}

int ft_nccl_tracks_make(struct ft_nccl_tracks *tracks,
			struct ft_nccl_connection *const *connections, size_t connection_count,
			const struct ft_nccl_message *messages, size_t message_count)
{
	struct ft_nccl_id *ids = ft_nccl_ids_sort(connections, connection_count);
	struct maker maker = {
		.tracks = tracks,
		.connections = connections,
		.ids = ids,
		.connection_count = connection_count,
		.messages = messages,
		.message_count = message_count,
		.spans = calloc(connection_count + 1, sizeof *maker.spans),
	};
	int error = -ENOMEM;

	*tracks = (struct ft_nccl_tracks){ .at = calloc(connection_count + 1, sizeof *tracks->at) };
	if (ids != NULL && maker.spans != NULL && tracks->at != NULL)
		error = make(&maker);
	free(ids);
	free(maker.spans);
	return error;
}

void ft_nccl_tracks_free(struct ft_nccl_tracks *tracks)
{
	free(tracks->at);
	free(tracks->memory);
	*tracks = (struct ft_nccl_tracks){ 0 };
}

bool ft_nccl_track_is_asked(const struct ft_nccl_track *track)
{
	for (size_t i = 0; i < track->count; i++)
		if (track->messages[i] != NULL && track->messages[i]->cts_frame != 0)
			return true;
	return false;
}

uint64_t ft_nccl_track_next(const struct ft_nccl_track *track, size_t at)
{
	for (; at < track->count; at++)
		if (track->messages[at] != NULL && track->messages[at]->first_frame != 0)
			return track->messages[at]->first_frame;
	return UINT64_MAX;
}

/* Its last packet was seen: what is missing is at most in the midst of it. */
static bool has_end(const struct ft_nccl_track *track, const struct ft_nccl_message *message)
{
	return message->completed || (message->has_imm && track->connection->qp_count == 1);
}

enum ft_nccl_border ft_nccl_track_border(const struct ft_nccl_track *track, size_t at)
{
	const struct ft_nccl_message *before, *after;

	if (at == 0 || at >= track->count + track->unanswered)
		return FT_NCCL_BORDER;
	before = track->messages[at - 1];
	after = track->messages[at];
	if (before == NULL || after == NULL || before->last_frame == 0 || after->cts_frame == 0)
		return FT_NCCL_BORDER_UNKNOWN;
	if (after->cts_frame <= before->last_frame)
		return FT_NCCL_INSIDE;
	return has_end(track, before) ? FT_NCCL_BORDER : FT_NCCL_BORDER_UNKNOWN;
}

uint64_t ft_nccl_message_bytes(const struct ft_nccl_message *message)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < message->request_count; i++)
		bytes += message->requests[i].written;
	return bytes;
}

static bool immediate_says(const struct ft_nccl_connection *connection,
			   const struct ft_nccl_message *message)
{
	const enum ft_nccl_order order =
		connection->imm_order == FT_NCCL_ORDER_LITTLE ? FT_NCCL_LITTLE : FT_NCCL_BIG;
	const uint8_t *imm = message->imm;
	const uint32_t immdt =
		(uint32_t)imm[0] << 24 | (uint32_t)imm[1] << 16 | (uint32_t)imm[2] << 8 | imm[3];

	return message->has_imm && connection->imm_content == FT_NCCL_IMM_LENGTH &&
	       connection->imm_order != FT_NCCL_ORDER_UNKNOWN && message->request_count == 1 &&
	       ft_nccl_immediate(immdt, order) == message->requests[0].written;
}

bool ft_nccl_message_is_sized(const struct ft_nccl_track *track,
			      const struct ft_nccl_message *message)
{
	for (size_t i = 0; i < message->request_count; i++)
		if (!message->requests[i].has_written)
			return false;
	return message->request_count > 0 &&
	       (message->completed || immediate_says(track->connection, message));
}
