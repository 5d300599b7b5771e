#include "group_claims.h"

#include "group_sites.h"
#include "group_tags.h"

/* As their set-ups name them. */
static bool are_of_two_hosts(const struct ft_nccl_connection *a, const struct ft_nccl_connection *b)
{
	return a->has_tcp && b->has_tcp && !ft_nccl_is_same_place(&a->connecting, &b->connecting);
}

static bool are_of_one_host(const struct ft_nccl_connection *a, const struct ft_nccl_connection *b)
{
	return a->has_tcp && b->has_tcp && ft_nccl_is_same_place(&a->connecting, &b->connecting);
}

/* Cards of one process send to different ones of another, each on its own rail. */
static bool send_to_one(const struct ft_nccl_connection *a, const struct ft_nccl_connection *b)
{
	return ft_nccl_is_same_place(&a->receiver.places[0], &b->receiver.places[0]);
}

/* claims[from..to) are of one rank. */
static bool may_be_several(const struct ft_nccl_claim *claims, size_t from, size_t to,
			   struct ft_nccl_connection *const *connections, const uint32_t *ranks_at)
{
	bool crowded = false, one_host = true;

	for (size_t i = from; i < to; i++) {
		crowded |= ranks_at[claims[i].site] > 1 ||
			   (i > from && send_to_one(connections[claims[from].seen],
						    connections[claims[i].seen]));
		one_host &= are_of_one_host(connections[claims[from].seen],
					    connections[claims[i].seen]);
	}
	return crowded && !one_host && to - from > 1;
}

void ft_nccl_claims_part(struct ft_nccl_claim *claims, size_t count,
			 struct ft_nccl_connection *const *connections, uint32_t *room)
{
	for (size_t i = 0; i < count; i++)
		room[claims[i].site]++;
	for (size_t i = 0, end; i < count; i = end) {
		bool parted;

		for (end = i + 1; end < count && ft_nccl_is_same_rank(&claims[i], &claims[end]);)
			end++;
		parted = may_be_several(claims, i, end, connections, room);
		for (size_t j = i; j < end; j++)
			claims[j].parted = parted;
	}
}

static void find_renumbered(const struct ft_nccl_claim *claims, size_t count,
			    struct ft_nccl_connection *const *connections, bool *renumbered)
{
	for (size_t i = 0; i < count; i++) {
		if (ft_nccl_tag_is_constant(claims[i].rank))
			continue;
		renumbered[claims[i].component] |=
			claims[i].doubted ||
			(i > 0 && ft_nccl_is_same_rank(&claims[i - 1], &claims[i]) &&
			 are_of_two_hosts(connections[claims[i - 1].seen],
					  connections[claims[i].seen]));
	}
}

void ft_nccl_claims_doubt(struct ft_nccl_claim *claims, size_t count,
			  struct ft_nccl_connection *const *connections, bool *renumbered)
{
	find_renumbered(claims, count, connections, renumbered);
	for (size_t i = 0; i < count; i++)
		claims[i].doubted |= renumbered[claims[i].component];
}
