#include "moved.h"

#include <errno.h>
#include <stdlib.h>

#include <flow/hash.h>
#include <flow/reserve.h>

enum {
	MOST_ALIKE = 64, /* halves to queue pairs of one number that are compared with each other */
	/* packets of either where both are: chance does not leave as many out in turns */
	LEAST_HERE = 8,
	FEW_IN_COMMON = 3, /* of them, one in so many: sent again, or taken for those of a READ */
};

/* A half that asks, and its PSNs. */
struct moved_half {
	uint64_t digest;
	uint32_t dest_qp, first, count;
	size_t from, to; /* of the holes, its own */
};

struct ft_moved {
	struct moved_half *halves;
	struct ft_moved_hole *holes;
	size_t half_count, half_room, hole_count, hole_room;
	bool full; /* no memory: all counts as it is */
};

static uint64_t digest_of(const struct ft_flow *flow)
{
	return ft_flow_key_hash(&flow->key, 0) | (uint64_t)ft_flow_key_hash(&flow->key, 1) << 32;
}

static bool is_ipv4(const struct ft_flow_key *key)
{
	uint64_t address[2];

	memcpy(address, key->dst, sizeof address);
	return key->by_lid == 0 && ft_flow_is_ipv4(address);
}

static bool may_move(const struct ft_flow *flow)
{
	return (flow->half.service == FT_RC || flow->half.service == FT_XRC) &&
	       !is_ipv4(&flow->key);
}

static struct ft_moved_hole hole_of(const struct ft_flow *flow, const struct ft_span *span,
				    const struct ft_span_outcome *outcome)
{
	struct ft_moved_hole hole = { .half = digest_of(flow), .span = *span, .outcome = *outcome };

	if (span->kind == FT_SPAN_AHEAD) {
		hole.span.from = flow->half.next_psn;
		hole.span.count = outcome->lost + outcome->open;
	}
	return hole;
}

static bool is_missing(const struct ft_span *span, const struct ft_span_outcome *outcome)
{
	return outcome->lost + outcome->open != 0 && span->kind != FT_SPAN_SKIPPED;
}

/* --- of one engine --- */

int ft_moved_holes_init(struct ft_moved_holes *holes)
{
	*holes = (struct ft_moved_holes){ ft_reserve(FT_MOVED_KEPT * sizeof *holes->all), 0 };
	return holes->all == NULL ? -ENOMEM : 0;
}

void ft_moved_holes_free(struct ft_moved_holes *holes)
{
	ft_release(holes->all, FT_MOVED_KEPT * sizeof *holes->all);
}

bool ft_moved_holes_add(struct ft_moved_holes *holes, const struct ft_flow *flow,
			const struct ft_span *span, const struct ft_span_outcome *outcome)
{
	if (!may_move(flow) || !is_missing(span, outcome) || holes->count == FT_MOVED_KEPT)
		return false;
	holes->all[holes->count++] = hole_of(flow, span, outcome);
	return true;
}

/* --- of all --- */

struct ft_moved *ft_moved_create(void)
{
	return calloc(1, sizeof(struct ft_moved));
}

void ft_moved_destroy(struct ft_moved *moved)
{
	if (moved == NULL)
		return;
	free(moved->halves);
	free(moved->holes);
	free(moved);
}

/* Room for one thing more. */
static void *grow(struct ft_moved *moved, void *things, size_t *room, size_t count, size_t size)
{
	size_t wanted = *room == 0 ? 256 : 2 * *room;
	void *made = count < *room ? things : realloc(things, wanted * size);

	moved->full |= made == NULL;
	if (made == NULL)
		return things;
	*room = count < *room ? *room : wanted;
	return made;
}

static bool add_hole(struct ft_moved *moved, const struct ft_moved_hole *hole)
{
	moved->holes = grow(moved, moved->holes, &moved->hole_room, moved->hole_count,
			    sizeof *moved->holes);
	if (moved->hole_count == moved->hole_room)
		return false;
	moved->holes[moved->hole_count++] = *hole;
	return true;
}

bool ft_moved_add(struct ft_moved *moved, const struct ft_flow *flow, const struct ft_span *span,
		  const struct ft_span_outcome *outcome)
{
	struct ft_moved_hole hole = hole_of(flow, span, outcome);

	hole.open = true;
	return may_move(flow) && is_missing(span, outcome) && add_hole(moved, &hole);
}

void ft_moved_add_settled(struct ft_moved *moved, const struct ft_moved_holes *holes)
{
	for (uint32_t i = 0; i < holes->count; i++)
		add_hole(moved, &holes->all[i]);
}

void ft_moved_add_half(struct ft_moved *moved, const struct ft_flow *flow)
{
	const struct ft_half *half = &flow->half;

	if (!may_move(flow) || half->next_psn == FT_PSN_NONE ||
	    (half->flags & FT_HALF_NAKED) != 0 || half->first_psn > FT_PSN_MOST)
		return;
	moved->halves = grow(moved, moved->halves, &moved->half_room, moved->half_count,
			     sizeof *moved->halves);
	if (moved->half_count == moved->half_room)
		return;
	moved->halves[moved->half_count++] = (struct moved_half){
		.digest = digest_of(flow),
		.dest_qp = flow->key.dest_qp,
		.first = half->first_psn,
		.count = ft_psn_since(half->next_psn, half->first_psn),
	};
}

/* --- what is missing of one and here of the other --- */

static int by_half(const void *left, const void *right)
{
	const struct ft_moved_hole *a = left, *b = right;

	if (a->half != b->half)
		return a->half < b->half ? -1 : 1;
	if (a->open != b->open)
		return a->open ? 1 : -1;
	if (a->span.frame != b->span.frame)
		return a->span.frame < b->span.frame ? -1 : 1;
	return a->span.from < b->span.from ? -1 : a->span.from > b->span.from;
}

static int by_queue_pair(const void *left, const void *right)
{
	const struct moved_half *a = left, *b = right;

	if (a->dest_qp != b->dest_qp)
		return a->dest_qp < b->dest_qp ? -1 : 1;
	return a->digest < b->digest ? -1 : a->digest > b->digest;
}

static void find_holes(const struct ft_moved *moved, struct moved_half *half)
{
	size_t low = 0, high = moved->hole_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (moved->holes[middle].half < half->digest)
			low = middle + 1;
		else
			high = middle;
	}
	half->from = half->to = low;
	while (half->to < moved->hole_count && moved->holes[half->to].half == half->digest)
		half->to++;
}

/* PSNs that two ranges share. */
static uint32_t shared(uint32_t a, uint32_t a_count, uint32_t b, uint32_t b_count)
{
	int32_t begin = ft_psn_distance(b, a);
	int64_t end = (int64_t)begin + b_count, from = begin > 0 ? begin : 0;

	end = end < a_count ? end : a_count;
	return end > from ? (uint32_t)(end - from) : 0;
}

/* Of a range, the PSNs missing of a half; `all`: also requests that nothing but an answer shows. */
static uint32_t missing_of(const struct ft_moved *moved, const struct moved_half *half,
			   uint32_t from, uint32_t count, bool all)
{
	uint32_t missing = 0;

	for (size_t i = half->from; i < half->to; i++) {
		const struct ft_span *span = &moved->holes[i].span;

		if (!ft_span_is_answer(span) && (all || span->kind != FT_SPAN_IMPLIED))
			missing += shared(from, count, span->from, span->count);
	}
	return missing < count ? missing : count;
}

/* PSNs of a range that are here of a half. */
static uint32_t here_of(const struct ft_moved *moved, const struct moved_half *half, uint32_t from,
			uint32_t count, bool all)
{
	int32_t begin = ft_psn_distance(half->first, from);
	uint32_t within = shared(from, count, half->first, half->count);

	if (within == 0)
		return 0;
	if (begin > 0)
		from = half->first;
	return within - missing_of(moved, half, from, within, all);
}

/* PSNs that are missing of one half and here of the other. */
static uint32_t filled_by(const struct ft_moved *moved, const struct moved_half *half,
			  const struct moved_half *other)
{
	uint32_t filled = 0;

	for (size_t i = half->from; i < half->to; i++) {
		const struct ft_span *span = &moved->holes[i].span;

		if (!ft_span_is_answer(span))
			filled += here_of(moved, other, span->from, span->count, true);
	}
	return filled;
}

/* They have nearly nothing in common, where both are: each lacks what the other has. */
static bool are_one(const struct ft_moved *moved, const struct moved_half *half,
		    const struct moved_half *other)
{
	uint32_t both = shared(half->first, half->count, other->first, other->count);
	uint32_t from = ft_psn_distance(other->first, half->first) > 0 ? other->first : half->first;
	uint32_t here = here_of(moved, half, from, both, true);
	uint32_t there = here_of(moved, other, from, both, true);
	uint32_t fewer = here < there ? here : there, filled;

	if (fewer < LEAST_HERE || here + there > both + fewer / FEW_IN_COMMON)
		return false;
	filled = filled_by(moved, half, other);
	return filled >= there || there - filled <= fewer / FEW_IN_COMMON;
}

static void fill(struct ft_moved_hole *hole, uint32_t here)
{
	struct ft_span_outcome *outcome = &hole->outcome;
	uint32_t lost = outcome->lost < here ? outcome->lost : here;
	uint32_t open = outcome->open < here - lost ? outcome->open : here - lost;

	outcome->lost -= lost;
	outcome->open -= open;
	outcome->pending -= outcome->pending < open ? outcome->pending : open;
	outcome->vague = 0;
}

/*
 * `half` goes on as `other` and back. What is missing of both is `other`'s, if that is so told. A request that an answer shows there was
 * asked here.
 */
static void fill_from(struct ft_moved *moved, const struct moved_half *half,
		      const struct moved_half *other, bool others)
{
	for (size_t i = half->from; i < half->to; i++) {
		struct ft_moved_hole *hole = &moved->holes[i];
		const struct ft_span *span = &hole->span;
		bool answers = ft_span_is_answer(span);

		fill(hole, others && !answers
				   ? shared(span->from, span->count, other->first, other->count)
				   : here_of(moved, other, span->from, span->count, !answers));
	}
}

/* All to queue pairs of one number. */
static void compare(struct ft_moved *moved, struct moved_half *halves, size_t count)
{
	for (size_t i = 0; i < count; i++)
		find_holes(moved, &halves[i]);
	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count; k++) {
			if (!are_one(moved, &halves[i], &halves[k]))
				continue;
			fill_from(moved, &halves[i], &halves[k], true);
			fill_from(moved, &halves[k], &halves[i], false);
		}
}

static void count(const struct ft_moved *moved, struct ft_tracker_totals *totals,
		  struct ft_loss_evidence *evidence)
{
	uint64_t before = evidence->waiting;

	for (size_t i = 0; i < moved->hole_count; i++) {
		const struct ft_moved_hole *hole = &moved->holes[i];

		if (i == 0 || !hole->open || hole->half != hole[-1].half || !hole[-1].open)
			before = evidence->waiting;
		ft_outcome_add(totals, evidence, &hole->span, hole->outcome);
		/* of all responses that one requester lacks, each was told as if another one did */
		if (evidence->waiting > before)
			evidence->waiting = before + 1;
	}
}

void ft_moved_count(struct ft_moved *moved, struct ft_tracker_totals *totals,
		    struct ft_loss_evidence *evidence)
{
	if (moved->hole_count == 0)
		return;
	qsort(moved->holes, moved->hole_count, sizeof *moved->holes, by_half);
	if (moved->half_count != 0)
		qsort(moved->halves, moved->half_count, sizeof *moved->halves, by_queue_pair);
	for (size_t i = 0, next; i < moved->half_count && !moved->full; i = next) {
		next = i + 1;
		while (next < moved->half_count &&
		       moved->halves[next].dest_qp == moved->halves[i].dest_qp)
			next++;
		if (next - i >= 2 && next - i <= MOST_ALIKE)
			compare(moved, &moved->halves[i], next - i);
	}
	count(moved, totals, evidence);
}
