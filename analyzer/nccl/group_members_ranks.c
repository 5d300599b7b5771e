#include "group_members_parts.h"

#include <stdlib.h>

int ft_nccl_claims_compare(const void *a, const void *b)
{
	const struct ft_nccl_claim *left = a, *right = b;

	if (left->component != right->component)
		return left->component < right->component ? -1 : 1;
	if (left->has_rank != right->has_rank)
		return left->has_rank ? -1 : 1;
	if (!left->has_rank)
		return (left->seen > right->seen) - (left->seen < right->seen);
	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	return (left->site > right->site) - (left->site < right->site);
}

uint32_t ft_nccl_members_component(struct ft_nccl_members_finder *finder, uint32_t site)
{
	uint32_t *number = &finder->numbers[ft_nccl_component_of(&finder->sites, site)];

	if (*number == FT_NCCL_NONE)
		*number = finder->members->components++;
	return *number;
}

static void claim_ranks(struct ft_nccl_members_finder *finder)
{
	for (size_t i = 0; i < finder->connection_count; i++) {
		const struct ft_nccl_connection *connection = finder->connections[i];
		const uint32_t site = ft_nccl_site_of(&finder->sites, i, &connection->sender);
		const uint32_t other = ft_nccl_site_of(&finder->sites, i, &connection->receiver);

		if (site != FT_NCCL_NONE || other != FT_NCCL_NONE)
			finder->members->of[i] = ft_nccl_members_component(
				finder, site != FT_NCCL_NONE ? site : other);
		if (site != FT_NCCL_NONE && ft_nccl_tag_is_rank(&finder->tags[i]))
			finder->claims[finder->claim_count++] =
				(struct ft_nccl_claim){ finder->members->of[i],
							site,
							(uint32_t)i,
							finder->tags[i].tag,
							true,
							false,
							false };
	}
	if (finder->claim_count > 0)
		qsort(finder->claims, finder->claim_count, sizeof *finder->claims,
		      ft_nccl_claims_compare);
}

static bool same_claim(const struct ft_nccl_claim *a, const struct ft_nccl_claim *b)
{
	return ft_nccl_is_same_rank(a, b) && a->site == b->site;
}

static struct ft_nccl_claim *find_claim(const struct ft_nccl_members_finder *finder,
					const struct ft_nccl_claim *key)
{
	return finder->claim_count > 0 ? bsearch(key, finder->claims, finder->claim_count,
						 sizeof *finder->claims, ft_nccl_claims_compare)
				       : NULL;
}

/*
 * Nobody sends to himself over a network: a tag that both ends of a connection send with is not a rank, as those of the
 * SHARP plugin, of GPU-initiated networking, and of programs that leave the field alone.
 */
static void doubt(struct ft_nccl_members_finder *finder)
{
	for (size_t i = 0; i < finder->connection_count; i++) {
		const struct ft_nccl_claim key = {
			.component = finder->members->of[i],
			.site = ft_nccl_site_of(&finder->sites, i,
						&finder->connections[i]->receiver),
			.rank = finder->tags[i].tag,
			.has_rank = true,
		};
		struct ft_nccl_claim *found =
			ft_nccl_tag_is_rank(&finder->tags[i]) && key.component != FT_NCCL_NONE
				? find_claim(finder, &key)
				: NULL;

		if (found != NULL)
			found->doubted = true;
	}
}

/* The claims of a rank from `at` on, and whether one of them is doubted. */
static size_t rank_end(const struct ft_nccl_members_finder *finder, size_t at, bool *doubted)
{
	const struct ft_nccl_claim *first = &finder->claims[at];

	*doubted = false;
	for (; at < finder->claim_count && ft_nccl_is_same_rank(first, &finder->claims[at]); at++)
		*doubted |= finder->claims[at].doubted;
	return at;
}

static void list_once(struct ft_nccl_members_finder *finder)
{
	size_t kept = 0;

	for (size_t i = 0; i < finder->claim_count; i++)
		if (kept == 0 || !same_claim(&finder->claims[i], &finder->claims[kept - 1]))
			finder->claims[kept++] = finder->claims[i];
	finder->claim_count = kept;
}

/* Of which components tags are not all the same, as those are of programs that leave the field alone. */
static void find_varied(struct ft_nccl_members_finder *finder)
{
	const struct ft_nccl_claim *one = NULL;

	for (size_t i = 0; i < finder->claim_count; i++) {
		const struct ft_nccl_claim *claim = &finder->claims[i];

		if (ft_nccl_tag_is_constant(claim->rank))
			continue;
		if (one == NULL || one->component != claim->component)
			one = claim;
		else if (one->rank != claim->rank)
			finder->varied[claim->component] = true;
	}
}

/*
 * A rank of several processes, perhaps, is none, nor is one that is in doubt; but its connections name who sends, each in its
 * own communicator.
 */
static void part_ranks(struct ft_nccl_members_finder *finder)
{
	ft_nccl_claims_part(finder->claims, finder->claim_count, finder->connections,
			    finder->claims_at);
	for (size_t i = 0; i < finder->connection_count; i++) {
		const struct ft_nccl_claim key = {
			.component = finder->members->of[i],
			.site = ft_nccl_site_of(&finder->sites, i, &finder->connections[i]->sender),
			.rank = finder->tags[i].tag,
			.has_rank = true,
		};
		const struct ft_nccl_claim *found;

		if (!ft_nccl_tag_is_rank(&finder->tags[i]) || key.component == FT_NCCL_NONE)
			continue;
		found = find_claim(finder, &key);
		finder->members->parted[i] =
			found != NULL ? found->parted : finder->varied[key.component];
	}
}

/* Of processes; and where one is, those of several, too: who receives there may be any of them. */
static void count_ranks(struct ft_nccl_members_finder *finder)
{
	for (size_t i = 0; i < finder->claim_count; i++)
		if (!finder->claims[i].parted)
			finder->ranks_at[finder->claims[i].site]++;
	for (size_t i = 0; i < finder->claim_count; i++)
		if (finder->claims[i].parted && finder->ranks_at[finder->claims[i].site] > 0)
			finder->ranks_at[finder->claims[i].site]++;
}

static void leave_out_doubted(struct ft_nccl_members_finder *finder)
{
	size_t kept = 0, end;
	bool doubted;

	for (size_t i = 0; i < finder->claim_count; i = end) {
		end = rank_end(finder, i, &doubted);
		for (size_t j = i; !doubted && j < end; j++)
			finder->claims[kept++] = finder->claims[j];
	}
	finder->claim_count = kept;
}

/* Each rank is a person, and at each of its sites once. */
static void add_persons(struct ft_nccl_members_finder *finder)
{
	size_t kept = 0;

	for (size_t i = 0; i < finder->claim_count; i++) {
		const struct ft_nccl_claim *claim = &finder->claims[i];

		if (claim->parted)
			continue;
		if (kept == 0 || !ft_nccl_is_same_rank(claim, &finder->claims[kept - 1]))
			finder->persons[finder->person_count++] = *claim;
		finder->claims[kept++] = *claim;
	}
	finder->claim_count = kept;
}

void ft_nccl_members_settle_ranks(struct ft_nccl_members_finder *finder)
{
	claim_ranks(finder);
	list_once(finder);
	find_varied(finder);
	doubt(finder);
	for (size_t i = 0; i < finder->connection_count; i++)
		if (finder->apart->renumbered[i])
			finder->renumbered[finder->members->of[i]] = true;
	ft_nccl_claims_doubt(finder->claims, finder->claim_count, finder->connections,
			     finder->renumbered);
	leave_out_doubted(finder);
	part_ranks(finder);
	count_ranks(finder);
	add_persons(finder);
}
