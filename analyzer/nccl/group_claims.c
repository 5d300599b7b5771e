#include "group_claims.h"

#include "group_sites.h"
#include "group_tags.h"

/* As their set-ups name them. */
static bool are_of_two_hosts(const struct ft_nccl_connection *a, const struct ft_nccl_connection *b)
{
	return a->has_tcp && b->has_tcp && !ft_nccl_is_same_place(&a->connecting, &b->connecting);
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
