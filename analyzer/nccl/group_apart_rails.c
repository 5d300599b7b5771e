#include "group_apart_rails.h"

#include "group_apart_pairs.h"

/* --- hosts that set-ups name --- */

static bool is_named(const struct ft_nccl_connection *connection)
{
	return connection->has_tcp &&
	       !ft_nccl_is_same_place(&connection->connecting, &connection->listening);
}

static bool are_all_named(const struct ft_nccl_apart_finder *finder,
			  const struct ft_nccl_cluster *ring)
{
	for (size_t i = 0; i < ring->count; i++)
		if (!is_named(finder->input->connections[ring->at[i]]))
			return false;
	return true;
}

static bool has_host(const struct ft_nccl_apart_finder *finder, const struct ft_nccl_cluster *ring,
		     const struct ft_nccl_place *host)
{
	for (size_t i = 0; i < ring->count; i++)
		if (ft_nccl_is_same_place(&finder->input->connections[ring->at[i]]->connecting,
					  host))
			return true;
	return false;
}

bool ft_nccl_clusters_are_named(const struct ft_nccl_apart_finder *finder,
				const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b)
{
	return are_all_named(finder, a) && are_all_named(finder, b);
}

static size_t count_hosts_of(const struct ft_nccl_apart_finder *finder,
			     const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b)
{
	size_t count = 0;

	for (size_t i = 0; i < a->count; i++)
		if (has_host(finder, b, &finder->input->connections[a->at[i]]->connecting))
			count++;
	return count;
}

bool ft_nccl_clusters_have_common_host(const struct ft_nccl_apart_finder *finder,
				       const struct ft_nccl_cluster *a,
				       const struct ft_nccl_cluster *b)
{
	return count_hosts_of(finder, a, b) > 0;
}

/* --- ranks --- */

struct range {
	int64_t least, most;
	bool known; /* all of them */
};

static struct range ranks_of(const struct ft_nccl_apart_finder *finder,
			     const struct ft_nccl_cluster *ring)
{
	struct range range = { INT64_MAX, INT64_MIN, true };

	for (size_t i = 0; i < ring->count; i++) {
		const struct ft_nccl_tag *tag = &finder->tags[ring->at[i]];

		range.known &= ft_nccl_tag_is_rank(tag) && !ft_nccl_tag_is_constant(tag->tag);
		range.least = tag->tag < range.least ? tag->tag : range.least;
		range.most = tag->tag > range.most ? tag->tag : range.most;
	}
	return range;
}

static bool have_rank_in_common(const struct ft_nccl_apart_finder *finder,
				const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b)
{
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++)
			if (finder->tags[a->at[i]].tag == finder->tags[b->at[j]].tag)
				return true;
	return false;
}

static bool can_ranks_alternate(const struct ft_nccl_apart_finder *finder,
				const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b)
{
	const struct range one = ranks_of(finder, a), other = ranks_of(finder, b);

	if (!one.known || !other.known)
		return true;
	return one.least < other.most && other.least < one.most &&
	       !have_rank_in_common(finder, a, b);
}

bool ft_nccl_rings_can_be_rails(const struct ft_nccl_apart_finder *finder,
				const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b)
{
	if (a->site_count != b->site_count || (ft_nccl_ring_has_one_rank_each(finder, a) &&
					       ft_nccl_ring_has_one_rank_each(finder, b)))
		return false;
	if (ft_nccl_clusters_are_named(finder, a, b))
		return count_hosts_of(finder, a, b) == a->count;
	return can_ranks_alternate(finder, a, b);
}
