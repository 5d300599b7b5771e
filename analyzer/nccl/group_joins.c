#include "group_joins_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "group_forest.h"
#include "group_tags.h"

struct finder {
	const struct ft_nccl_joins_input *input;
	const struct ft_nccl_collective **rows; /* by communicator, then in their order */
	const struct ft_nccl_id *ids;
	struct ft_nccl_rail_sender *senders; /* the next ones */
	struct ft_nccl_rail *rails;
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
static uint32_t ranks_of(const struct ft_nccl_rail *rail)
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
	const struct ft_nccl_rail_sender *left = a, *right = b;

	return (left->rank > right->rank) - (left->rank < right->rank);
}

/* Those of all channels of a ring, each rank once; false: some have none. */
static bool list_senders(const struct finder *finder, struct ft_nccl_rail *rail)
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
				(struct ft_nccl_rail_sender){ connection->sender.rank, connection };
		}
	qsort(rail->senders, count, sizeof *rail->senders, compare_senders);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || rail->senders[i].rank != rail->senders[kept - 1].rank)
			rail->senders[kept++] = rail->senders[i];
	rail->each = kept / rail->hosts;
	return kept % rail->hosts == 0;
}

static bool is_host_by_host(const struct ft_nccl_rail *rail)
{
	for (size_t i = 0; i < rail->hosts * rail->each; i++) {
		const struct ft_nccl_rail_sender *sender = &rail->senders[i];
		const struct ft_nccl_rail_sender *first = sender - i % rail->each;

		if (!ft_nccl_is_same_place(&sender->connection->sender.places[0],
					   &first->connection->sender.places[0]))
			return false;
	}
	return true;
}

static bool is_rail(const struct finder *finder, struct ft_nccl_rail *rail)
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
		struct ft_nccl_rail rail = { .communicator = &input->communicators[i],
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

/* --- what belongs together --- */

static void unite(struct finder *finder)
{
	for (uint32_t i = 0; i < finder->count; i++)
		finder->cluster[i] = i;
	for (uint32_t i = 0; i < finder->count; i++)
		for (uint32_t j = i + 1; j < finder->count; j++) {
			if (!ft_nccl_rails_can_be_one(&finder->rails[i], &finder->rails[j]))
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
		const struct ft_nccl_rail *rail = &finder->rails[i];
		const uint32_t share = rail->ranks / rail->hosts;

		finder->broken[root] |=
			finder->each[root] > share ||
			(finder->each[root] < share && !ft_nccl_rail_has_ranks_of_job(rail) &&
			 !ft_nccl_rail_has_names(rail));
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
	struct ft_nccl_rail_sender *senders = calloc(input->connection_count + 1, sizeof *senders);
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
