#include "group_joins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "group_forest.h"
#include "group_tags.h"

enum {
	SHARES_DIFFER = 16, /* bytes of a channel: one part in so many at most */
	ROUNDED_TO = 16,
};

/* A rank that sends on a ring. */
struct sender {
	int32_t rank;
	const struct ft_nccl_connection *connection; /* one of those that it sends on */
};

/* A communicator that may be a part of one. */
struct rail {
	const struct ft_nccl_communicator *communicator;
	const struct ft_nccl_collective **rows; /* its operations, in their order */
	size_t row_count;
	uint32_t ranks, hosts;
	struct sender *senders; /* by rank: host by host, as many of each */
	size_t each;
};

struct finder {
	const struct ft_nccl_joins_input *input;
	const struct ft_nccl_collective **rows; /* by communicator, then in their order */
	const struct ft_nccl_id *ids;
	struct sender *senders; /* the next ones */
	struct rail *rails;
	size_t count;
	uint32_t *cluster; /* by rail: a forest */
	uint32_t *fits;    /* by rail: how many others it fits */
	uint32_t *sizes;   /* by root: rails of the cluster */
	uint32_t *each;    /* by root: ranks of a host */
	uint32_t *ports;   /* by root: of all rails of the cluster */
	bool *broken;      /* by root: not all of them are certainly one */
};

/* --- what can be a rail of several --- */

/* How many ranks all loops show; 0: none does, or not the same. */
static uint32_t ranks_of(const struct rail *rail)
{
	uint32_t ranks = 0;

	for (size_t i = 0; i < rail->row_count; i++) {
		const uint32_t own = rail->rows[i]->ranks;

		if (own != 0 && ranks != 0 && own != ranks)
			return 0;
		ranks = own != 0 ? own : ranks;
	}
	return ranks;
}

static int compare_senders(const void *a, const void *b)
{
	const struct sender *left = a, *right = b;

	return (left->rank > right->rank) - (left->rank < right->rank);
}

/* Those of all channels of a ring, each rank once; false: some have none. */
static bool list_senders(const struct finder *finder, struct rail *rail)
{
	const struct ft_nccl_joins_input *input = finder->input;
	const struct ft_nccl_communicator *communicator = rail->communicator;
	size_t count = 0, kept = 0;

	rail->senders = finder->senders;
	for (size_t i = 0; i < communicator->channel_count; i++)
		for (size_t j = 0; j < communicator->channels[i].ring_count; j++) {
			const uint32_t at =
				ft_nccl_ids_find(finder->ids, input->connection_count,
						 communicator->channels[i].connections[j]);
			const struct ft_nccl_connection *connection = input->connections[at];

			if (!connection->sender.has_rank)
				return false;
			rail->senders[count++] =
				(struct sender){ connection->sender.rank, connection };
		}
	qsort(rail->senders, count, sizeof *rail->senders, compare_senders);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || rail->senders[i].rank != rail->senders[kept - 1].rank)
			rail->senders[kept++] = rail->senders[i];
	rail->each = kept / rail->hosts;
	return kept % rail->hosts == 0;
}

static bool is_host_by_host(const struct rail *rail)
{
	for (size_t i = 0; i < rail->hosts * rail->each; i++) {
		const struct sender *sender = &rail->senders[i];
		const struct sender *first = sender - i % rail->each;

		if (!ft_nccl_is_same_place(&sender->connection->sender.places[0],
					   &first->connection->sender.places[0]))
			return false;
	}
	return true;
}

static bool is_rail(const struct finder *finder, struct rail *rail)
{
	const struct ft_nccl_communicator *communicator = rail->communicator;

	if (communicator->channel_count == 0 || communicator->channels[0].ring_count == 0 ||
	    (communicator->tree_count > 0 && !communicator->trees[0].of_hosts))
		return false;
	rail->hosts = (uint32_t)communicator->channels[0].ring_count;
	rail->ranks = ranks_of(rail);
	return rail->ranks > rail->hosts && rail->ranks % rail->hosts == 0 &&
	       list_senders(finder, rail) && is_host_by_host(rail);
}

static int compare_rows(const void *a, const void *b)
{
	const struct ft_nccl_collective *left = *(const struct ft_nccl_collective *const *)a;
	const struct ft_nccl_collective *right = *(const struct ft_nccl_collective *const *)b;

	if (left->communicator != right->communicator)
		return left->communicator < right->communicator ? -1 : 1;
	return (left->sequence > right->sequence) - (left->sequence < right->sequence);
}

static void list_rails(struct finder *finder)
{
	const struct ft_nccl_joins_input *input = finder->input;
	size_t row = 0;

	for (size_t i = 0; i < input->collective_count; i++)
		finder->rows[i] = &input->collectives[i];
	if (input->collective_count > 0)
		qsort(finder->rows, input->collective_count, sizeof *finder->rows, compare_rows);
	for (size_t i = 0; i < input->communicator_count; i++) {
		struct rail rail = { .communicator = &input->communicators[i],
				     .rows = finder->rows + row };

		while (row < input->collective_count && finder->rows[row]->communicator == i)
			row++;
		rail.row_count = (size_t)(finder->rows + row - rail.rows);
		if (!is_rail(finder, &rail))
			continue;
		finder->senders += rail.hosts * rail.each;
		finder->rails[finder->count++] = rail;
	}
}

/* --- hosts --- */

/* As a set-up has it; NULL: none was seen. */
static const struct ft_nccl_place *name_of(const struct rail *rail, size_t host)
{
	for (size_t i = host * rail->each; i < (host + 1) * rail->each; i++)
		if (rail->senders[i].connection->has_tcp)
			return &rail->senders[i].connection->connecting;
	return NULL;
}

static bool same_hosts(const struct rail *a, const struct rail *b)
{
	for (size_t i = 0; i < a->hosts; i++) {
		const struct ft_nccl_place *one = name_of(a, i), *other = name_of(b, i);

		if (one != NULL && other != NULL && !ft_nccl_is_same_place(one, other))
			return false;
	}
	return true;
}

static bool has_names(const struct rail *rail)
{
	for (size_t i = 0; i < rail->hosts; i++)
		if (name_of(rail, i) == NULL)
			return false;
	return true;
}

/* --- ranks --- */

static int32_t rank_at(const struct rail *rail, size_t host, size_t i)
{
	return rail->senders[host * rail->each + i].rank;
}

static int32_t highest(const struct rail *rail, size_t host)
{
	return rank_at(rail, host, rail->each - 1);
}

/* Together their ranks stand host by host, too, and those of each leave no room for others between them. */
static bool interlock(const struct rail *a, const struct rail *b)
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

static bool have_rank_in_common(const struct rail *a, const struct rail *b)
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
static bool has_ranks_of_job(const struct rail *rail)
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

static struct tally compare(const struct rail *a, const struct rail *b)
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

/* What both do at a time is mostly the same, and some of it large enough to show that; a small operation need not use all rails, but one of the two is mostly along. */
static bool keep_step(const struct rail *a, const struct rail *b)
{
	const struct tally one = compare(a, b), other = compare(b, a);
	const size_t least = one.all < other.all ? one.all : other.all;

	return one.telling > 0 && 2 * one.same > one.busy && 2 * other.same > other.busy &&
	       2 * one.same >= least && 2 * other.same >= least;
}

/* --- what belongs together --- */

static bool can_be_one(const struct rail *a, const struct rail *b)
{
	return a->ranks == b->ranks && a->hosts == b->hosts && interlock(a, b) &&
	       !have_rank_in_common(a, b) && same_hosts(a, b) && keep_step(a, b);
}

static void unite(struct finder *finder)
{
	for (uint32_t i = 0; i < finder->count; i++)
		finder->cluster[i] = i;
	for (uint32_t i = 0; i < finder->count; i++)
		for (uint32_t j = i + 1; j < finder->count; j++) {
			if (!can_be_one(&finder->rails[i], &finder->rails[j]))
				continue;
			ft_nccl_unite(finder->cluster, i, j);
			finder->fits[i]++;
			finder->fits[j]++;
		}
}

/* Where one fits two that do not fit each other, nobody knows which of them it belongs to. */
static void find_broken(struct finder *finder)
{
	for (uint32_t i = 0; i < finder->count; i++) {
		const uint32_t root = ft_nccl_root_of(finder->cluster, i);

		finder->sizes[root]++;
		finder->ports[root] +=
			finder->rails[i].hosts; /* a ring leads through one of each */
	}
	for (uint32_t i = 0; i < finder->count; i++) {
		const uint32_t root = ft_nccl_root_of(finder->cluster, i);

		if (finder->fits[i] + 1 != finder->sizes[root])
			finder->broken[root] = true;
	}
}

/* A job's own ranks, or hosts that set-ups name; else all ranks have to be there. */
static void find_doubtful(struct finder *finder)
{
	for (uint32_t i = 0; i < finder->count; i++)
		finder->each[ft_nccl_root_of(finder->cluster, i)] +=
			(uint32_t)finder->rails[i].each;
	for (uint32_t i = 0; i < finder->count; i++) {
		const uint32_t root = ft_nccl_root_of(finder->cluster, i);
		const struct rail *rail = &finder->rails[i];
		const uint32_t share = rail->ranks / rail->hosts;

		finder->broken[root] |=
			finder->each[root] > share ||
			(finder->each[root] < share && !has_ranks_of_job(rail) && !has_names(rail));
	}
}

static int hand_over(struct finder *finder, struct ft_nccl_joins *joins)
{
	const struct ft_nccl_joins_input *input = finder->input;
	uint32_t *root_of = malloc((input->communicator_count + 1) * sizeof *root_of);

	if (root_of == NULL)
		return -ENOMEM;
	memset(root_of, 0xff, input->communicator_count * sizeof *root_of); /* FT_NCCL_NONE */
	for (uint32_t i = 0; i < finder->count; i++) {
		const uint32_t root = ft_nccl_root_of(finder->cluster, i);

		if (finder->broken[root])
			continue;
		root_of[finder->rails[i].communicator->communicator] = root;
		joins->count += root != i ? 1 : 0;
	}
	for (size_t i = 0; i < input->connection_count; i++) {
		const uint32_t of = input->members->of[i];

		joins->of[i] = of != FT_NCCL_NONE ? root_of[of] : FT_NCCL_NONE;
		joins->ports[i] = joins->of[i] != FT_NCCL_NONE ? finder->ports[joins->of[i]] : 0;
	}
	free(root_of);
	return 0;
}

static int find(struct finder *finder, struct ft_nccl_joins *joins)
{
	list_rails(finder);
	unite(finder);
	find_broken(finder);
	find_doubtful(finder);
	return hand_over(finder, joins);
}

int ft_nccl_joins_find(struct ft_nccl_joins *joins, const struct ft_nccl_joins_input *input)
{
	const size_t most = input->communicator_count + 1;
	struct finder finder = {
		.input = input,
		.rows = calloc(input->collective_count + 1, sizeof *finder.rows),
		.rails = calloc(most, sizeof *finder.rails),
		.cluster = calloc(most, sizeof *finder.cluster),
		.fits = calloc(most, sizeof *finder.fits),
		.sizes = calloc(most, sizeof *finder.sizes),
		.each = calloc(most, sizeof *finder.each),
		.ports = calloc(most, sizeof *finder.ports),
		.broken = calloc(most, sizeof *finder.broken),
	};
	struct ft_nccl_id *ids = ft_nccl_ids_sort(input->connections, input->connection_count);
	struct sender *senders = calloc(input->connection_count + 1, sizeof *senders);
	int error = -ENOMEM;

	*joins = (struct ft_nccl_joins){
		.of = calloc(input->connection_count + 1, sizeof *joins->of),
		.ports = calloc(input->connection_count + 1, sizeof *joins->ports),
	};
	finder.ids = ids;
	finder.senders = senders;
	if (joins->of != NULL && joins->ports != NULL && finder.rows != NULL &&
	    finder.rails != NULL && finder.cluster != NULL && finder.fits != NULL &&
	    finder.sizes != NULL && finder.each != NULL && finder.ports != NULL &&
	    finder.broken != NULL && ids != NULL && senders != NULL)
		error = find(&finder, joins);
	free(finder.rows);
	free(finder.rails);
	free(finder.cluster);
	free(finder.fits);
	free(finder.sizes);
	free(finder.each);
	free(finder.ports);
	free(finder.broken);
	free(ids);
	free(senders);
	return error;
}

void ft_nccl_joins_free(struct ft_nccl_joins *joins)
{
	free(joins->of);
	free(joins->ports);
	*joins = (struct ft_nccl_joins){ 0 };
}
