#include "settle.h"

#include "anew.h"
#include "dispute.h"
#include "faults.h"

void ft_nccl_connections_set_lossy(struct ft_nccl_connections *connections, bool is_lossy)
{
	connections->is_lossy = is_lossy;
}

/* Whether packets of any of them are missing. A loss that takes several may leave no hole where it took the last. */
static bool misses_packets(const struct ft_nccl_connections *connections)
{
	if (connections->is_lossy)
		return true;
	for (uint32_t i = 0; i < connections->count; i++)
		if (!connections->all[i]->given_up && connections->all[i]->lacking != 0)
			return true;
	return false;
}

/* It goes straight, so all is as expected, and nothing waits to be told. */
static bool has_nothing(const struct ft_nccl_followed *followed)
{
	return followed->straight != NULL && followed->straight->is_on && !followed->has_nowhere &&
	       followed->disputes == 0;
}

static bool is_to_be_settled(const struct ft_nccl_followed *followed, bool all)
{
	return !followed->given_up && (all || !has_nothing(followed));
}

void ft_nccl_settle(struct ft_nccl_connections *connections, bool all)
{
	bool misses;

	for (uint32_t i = 0; i < connections->count; i++) {
		if (!is_to_be_settled(connections->all[i], all))
			continue;
		ft_nccl_straight_leave(connections->all[i]);
		ft_nccl_data_settle(connections, connections->all[i]);
	}
	misses = misses_packets(connections);
	for (uint32_t i = 0; i < connections->count; i++) {
		if (!is_to_be_settled(connections->all[i], all))
			continue;
		if (!misses)
			ft_nccl_fault_settle(connections, connections->all[i]);
		ft_nccl_anew_settle(connections, connections->all[i], false);
		ft_nccl_dispute_settle(connections, connections->all[i]);
	}
}

void ft_nccl_connections_settle(struct ft_nccl_connections *connections)
{
	ft_nccl_settle(connections, false);
}
