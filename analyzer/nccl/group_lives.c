#include "group_lives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <decode/extremes.h>

#include "group_forest.h"
#include "group_sites.h"

/* A queue pair of a connection. */
struct use {
	struct ft_nccl_place place;
	uint32_t qpn, at;
	uint64_t from;
};

/* When a connection was busy. */
struct span {
	uint32_t at, root;
	uint64_t from, to; /* frames */
	uint32_t silent;   /* of these up to here: nothing was busy both before and here */
	bool begins;       /* another job */
};

struct finder {
	const struct ft_nccl_track *tracks;
	size_t count, use_count;
	uint32_t *root;     /* by place: what hangs together by addresses */
	uint32_t *position; /* by place, in `spans` */
	struct span *spans; /* by what hangs together, in order of first frame */
	struct use *uses;
};

static bool are_kept(const struct ft_nccl_track *tracks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tracks[i].count == 0 && tracks[i].connection->messages > 0)
			return false;
	return true;
}

static struct span span_of(const struct ft_nccl_track *track, uint32_t at)
{
	struct span span = { .at = at,
			     .from = track->connection->first_frame,
			     .to = track->connection->first_frame };

	for (size_t i = 0; i < track->count; i++) {
		const struct ft_nccl_message *message = track->messages[i];

		if (message == NULL)
			continue;
		span.to = ft_larger64(span.to, message->cts_frame);
		span.to = ft_larger64(span.to, message->last_frame);
		if (message->cts_frame == 0 && message->first_frame != 0)
			span.from = ft_smaller64(span.from, message->first_frame);
	}
	return span;
}

static void list_party(struct finder *finder, const struct ft_nccl_party *party,
		       const struct span *span)
{
	const uint8_t count = finder->tracks[span->at].connection->qp_count;

	for (uint8_t i = 0; i < count && party->place_count > 0; i++)
		if (party->qpns[i] != FT_NCCL_NONE && party->qp_device[i] < party->place_count) {
			struct use *use = &finder->uses[finder->use_count++];

			ft_nccl_copy_place(&use->place, &party->places[party->qp_device[i]]);
			use->qpn = party->qpns[i];
			use->at = span->at;
			use->from = span->from;
		}
}

static int compare_uses(const void *a, const void *b)
{
	const struct use *left = a, *right = b;
	const int order = memcmp(&left->place, &right->place, sizeof left->place);

	if (order != 0)
		return order;
	if (left->qpn != right->qpn)
		return left->qpn < right->qpn ? -1 : 1;
	return (left->from > right->from) - (left->from < right->from);
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *left = a, *right = b;

	if (left->root != right->root)
		return left->root < right->root ? -1 : 1;
	return (left->from > right->from) - (left->from < right->from);
}

static void list_uses(struct finder *finder)
{
	for (uint32_t i = 0; i < finder->count; i++) {
		finder->root[i] = i;
		finder->spans[i] = span_of(&finder->tracks[i], i);
		list_party(finder, &finder->tracks[i].connection->sender, &finder->spans[i]);
		list_party(finder, &finder->tracks[i].connection->receiver, &finder->spans[i]);
	}
	if (finder->use_count > 0)
		qsort(finder->uses, finder->use_count, sizeof *finder->uses, compare_uses);
	for (size_t i = 1; i < finder->use_count; i++)
		if (ft_nccl_is_same_place(&finder->uses[i].place, &finder->uses[i - 1].place))
			ft_nccl_unite(finder->root, finder->uses[i].at, finder->uses[i - 1].at);
}

/* Counts the silences. */
static void sort_spans(struct finder *finder)
{
	uint64_t reached = 0;

	for (size_t i = 0; i < finder->count; i++)
		finder->spans[i].root = ft_nccl_root_of(finder->root, finder->spans[i].at);
	qsort(finder->spans, finder->count, sizeof *finder->spans, compare_spans);
	for (size_t i = 0; i < finder->count; i++) {
		struct span *span = &finder->spans[i];
		const bool follows = i > 0 && span[-1].root == span->root;

		span->silent =
			(follows ? span[-1].silent : 0) + (follows && span->from > reached ? 1 : 0);
		reached = follows ? ft_larger64(reached, span->to) : span->to;
		finder->position[span->at] = (uint32_t)i;
	}
}

/* Two had the queue pair, and there was one silence between them: the later one's job began with the first behind that. */
static void part(struct finder *finder, const struct use *before, const struct use *behind)
{
	struct span *span = &finder->spans[finder->position[behind->at]];
	const struct span *first = &finder->spans[finder->position[before->at]];

	if (span->silent != first->silent + 1)
		return;
	while (span[-1].silent == span->silent)
		span--;
	span->begins = true;
}

static void find(struct finder *finder, uint32_t *life)
{
	list_uses(finder);
	sort_spans(finder);
	for (size_t i = 1; i < finder->use_count; i++) {
		const struct use *use = &finder->uses[i];

		if (use->qpn == use[-1].qpn && use->at != use[-1].at &&
		    ft_nccl_is_same_place(&use->place, &use[-1].place))
			part(finder, &use[-1], use);
	}
	for (size_t i = 1; i < finder->count; i++) {
		const struct span *span = &finder->spans[i];

		if (span->root == span[-1].root)
			life[span->at] = life[span[-1].at] + (span->begins ? 1 : 0);
	}
}

static size_t count_ends(const struct ft_nccl_track *tracks, size_t count)
{
	size_t ends = 0;

	for (size_t i = 0; i < count; i++)
		ends += 2 * (size_t)tracks[i].connection->qp_count;
	return ends;
}

int ft_nccl_lives_find(uint32_t *life, const struct ft_nccl_track *tracks, size_t count)
{
	struct finder finder = {
		.tracks = tracks,
		.count = count,
		.root = calloc(count + 1, sizeof *finder.root),
		.position = calloc(count + 1, sizeof *finder.position),
		.spans = calloc(count + 1, sizeof *finder.spans),
		.uses = calloc(count_ends(tracks, count) + 1, sizeof *finder.uses),
	};
	const bool has_memory = finder.root != NULL && finder.position != NULL &&
				finder.spans != NULL && finder.uses != NULL;

	if (has_memory && count > 0 && are_kept(tracks, count))
		find(&finder, life);
	free(finder.root);
	free(finder.position);
	free(finder.spans);
	free(finder.uses);
	return has_memory ? 0 : -ENOMEM;
}
