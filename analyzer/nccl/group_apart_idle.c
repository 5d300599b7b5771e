#include "group_apart_idle.h"

#include "group_apart_pairs.h"

/* Its set-up was over before the other one's began; both were seen. */
static bool is_before(const struct ft_nccl_connection *one, const struct ft_nccl_connection *other)
{
	return one->has_tcp && other->has_tcp && one->tcp_frames[1] < other->tcp_frames[0];
}

bool ft_nccl_cluster_is_idle(const struct ft_nccl_apart_finder *finder,
			     const struct ft_nccl_cluster *cluster)
{
	const struct ft_nccl_connection *connection = finder->input->connections[cluster->at[0]];

	return cluster->count == 1 && finder->input->tracks[cluster->at[0]].count == 0 &&
	       connection->cts == 0 && connection->messages == 0;
}

/* Of those whose set-up was seen, one at least. */
static bool is_before_all(const struct ft_nccl_apart_finder *finder, uint32_t at,
			  const struct ft_nccl_cluster *ring)
{
	bool seen = false;

	for (size_t i = 0; i < ring->count; i++) {
		const struct ft_nccl_connection *other = finder->input->connections[ring->at[i]];

		if (!other->has_tcp)
			continue;
		if (!is_before(finder->input->connections[at], other))
			return false;
		seen = true;
	}
	return seen;
}

static bool is_before_those_beside(const struct ft_nccl_apart_finder *finder, uint32_t at,
				   const struct ft_nccl_cluster *ring)
{
	bool beside = false;

	for (size_t i = 0; i < ring->count; i++) {
		const uint32_t other = ring->at[i];

		if (finder->from[other] != finder->from[at] || finder->to[other] != finder->to[at])
			continue;
		if (!is_before(finder->input->connections[at], finder->input->connections[other]))
			return false;
		beside = true;
	}
	return beside;
}

bool ft_nccl_idle_is_before(const struct ft_nccl_apart_finder *finder,
			    const struct ft_nccl_cluster *cluster,
			    const struct ft_nccl_cluster *ring)
{
	const uint32_t at = cluster->at[0];

	return ft_nccl_cluster_is_idle(finder, cluster) &&
	       (is_before_all(finder, at, ring) || is_before_those_beside(finder, at, ring));
}
