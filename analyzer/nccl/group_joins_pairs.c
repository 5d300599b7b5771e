#include "group_joins_parts.h"

#include <string.h>

enum {
	SHARES_DIFFER = 16, /* bytes of a channel: one part in so many at most */
	ROUNDED_TO = 16,
};

/* --- hosts --- */

/* As a set-up has it; NULL: none was seen. */
static const struct ft_nccl_place *name_of(const struct ft_nccl_rail *rail, size_t host)
{
	for (size_t i = host * rail->each; i < (host + 1) * rail->each; i++)
		if (rail->senders[i].connection->has_tcp)
			return &rail->senders[i].connection->connecting;
	return NULL;
}

static bool same_hosts(const struct ft_nccl_rail *a, const struct ft_nccl_rail *b)
{
	for (size_t i = 0; i < a->hosts; i++) {
		const struct ft_nccl_place *one = name_of(a, i), *other = name_of(b, i);

		if (one != NULL && other != NULL && !ft_nccl_is_same_place(one, other))
			return false;
	}
	return true;
}

bool ft_nccl_rail_has_names(const struct ft_nccl_rail *rail)
{
	for (size_t i = 0; i < rail->hosts; i++)
		if (name_of(rail, i) == NULL)
			return false;
	return true;
}

/* --- ranks --- */

static int32_t rank_at(const struct ft_nccl_rail *rail, size_t host, size_t i)
{
	return rail->senders[host * rail->each + i].rank;
}

static int32_t highest(const struct ft_nccl_rail *rail, size_t host)
{
	return rank_at(rail, host, rail->each - 1);
}

/* Together their ranks stand host by host, too, and those of each leave no room for others between them. */
static bool interlock(const struct ft_nccl_rail *a, const struct ft_nccl_rail *b)
{
	const int64_t share = a->ranks / a->hosts;

	for (size_t i = 0; i < a->hosts; i++) {
		if (highest(a, i) - rank_at(b, i, 0) >= share ||
		    highest(b, i) - rank_at(a, i, 0) >= share)
			return false;
		if (i > 0 && (highest(a, i - 1) >= rank_at(b, i, 0) ||
			      highest(b, i - 1) >= rank_at(a, i, 0)))
			return false;
	}
	return true;
}

static bool have_rank_in_common(const struct ft_nccl_rail *a, const struct ft_nccl_rail *b)
{
	size_t i = 0, j = 0;

	while (i < a->hosts * a->each && j < b->hosts * b->each) {
		if (a->senders[i].rank == b->senders[j].rank)
			return true;
		if (a->senders[i].rank < b->senders[j].rank)
			i++;
		else
			j++;
	}
	return false;
}

/* The ranks are those of the job, which number its hosts one after the other. */
bool ft_nccl_rail_has_ranks_of_job(const struct ft_nccl_rail *rail)
{
	const size_t share = rail->ranks / rail->hosts;

	for (size_t i = 0; i < rail->hosts; i++)
		if (rank_at(rail, i, 0) < (int64_t)(i * share) ||
		    highest(rail, i) >= (int64_t)((i + 1) * share))
			return false;
	return true;
}

/* --- operations --- */

static bool overlap(const struct ft_nccl_collective *a, const struct ft_nccl_collective *b)
{
	return a->first_frame <= b->last_frame && b->first_frame <= a->last_frame;
}

static bool same_word(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Chunks are rounded up, so that all of what is small looks like the same. */
static uint64_t rounding(const struct ft_nccl_collective *a, const struct ft_nccl_collective *b)
{
	return (uint64_t)ROUNDED_TO * a->ranks * a->channels * b->channels;
}

/* Channels share an operation evenly, but for a chunk, and chunks are rounded up to 16 bytes. */
static bool same_share(const struct ft_nccl_collective *a, const struct ft_nccl_collective *b)
{
	const uint64_t left = a->wire_bytes * b->channels, right = b->wire_bytes * a->channels;

	return (left > right ? left - right : right - left) <=
	       (left + right) / SHARES_DIFFER + rounding(a, b);
}

static bool is_large(const struct ft_nccl_collective *a, const struct ft_nccl_collective *b)
{
	return a->wire_bytes * b->channels > SHARES_DIFFER * rounding(a, b);
}

static bool is_same(const struct ft_nccl_collective *a, const struct ft_nccl_collective *b)
{
	return b->ranks == a->ranks && a->protocol == b->protocol &&
	       same_word(a->collective, b->collective) && same_share(a, b);
}

/* Operations of one rail that show how many ranks take part: of which .. */
struct tally {
	size_t all, busy, same; /* .. the other does anything meanwhile; .. the same */
	size_t telling;         /* .. and more than is rounded up anyway */
};

static struct tally compare(const struct ft_nccl_rail *a, const struct ft_nccl_rail *b)
{
	struct tally tally = { 0 };
	size_t from = 0;

	for (size_t i = 0; i < a->row_count; i++) {
		const struct ft_nccl_collective *row = a->rows[i];
		bool busy = false, same = false, telling = false;

		if (row->ranks == 0)
			continue;
		while (from < b->row_count && b->rows[from]->last_frame < row->first_frame)
			from++;
		for (size_t j = from;
		     j < b->row_count && b->rows[j]->first_frame <= row->last_frame; j++) {
			const bool both = overlap(row, b->rows[j]);

			busy |= both;
			if (!both || !is_same(row, b->rows[j]))
				continue;
			same = true;
			telling |= is_large(row, b->rows[j]);
		}
		tally.all++;
		tally.busy += busy ? 1 : 0;
		tally.same += same ? 1 : 0;
		tally.telling += telling ? 1 : 0;
	}
	return tally;
}

/*
 * What both do at a time is mostly the same, and some of it large enough to show that; a small operation need not use all
 * rails, but one of the two is mostly along.
 */
static bool keep_step(const struct ft_nccl_rail *a, const struct ft_nccl_rail *b)
{
	const struct tally one = compare(a, b), other = compare(b, a);
	const size_t least = one.all < other.all ? one.all : other.all;

	return one.telling > 0 && 2 * one.same > one.busy && 2 * other.same > other.busy &&
	       2 * one.same >= least && 2 * other.same >= least;
}

bool ft_nccl_rails_can_be_one(const struct ft_nccl_rail *a, const struct ft_nccl_rail *b)
{
	return a->ranks == b->ranks && a->hosts == b->hosts && interlock(a, b) &&
	       !have_rank_in_common(a, b) && same_hosts(a, b) && keep_step(a, b);
}
