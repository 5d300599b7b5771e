#include "followed.h"

enum { LINE = 64 }; /* bytes */

static void fetch(const void *from, size_t size)
{
	const char *at = from;

	for (size_t i = 0; i < size + LINE - 1; i += LINE)
		__builtin_prefetch(at + i, 1);
}

/* Message k, which is asked for, begins, or ends. */
static void fetch_message(const struct ft_nccl_ring *ring, uint64_t k)
{
	const struct ft_nccl_transfer *transfer;

	if (ring->slots == 0)
		return;
	transfer = &ring->transfers[k & (ring->slots - 1)];
	fetch(transfer, sizeof *transfer);
	fetch(ft_nccl_ring_requests(ring, transfer), sizeof *ring->requests);
	fetch(ft_nccl_ring_shares(ring, transfer), sizeof *ring->shares);
}

void ft_nccl_connections_prefetch(const struct ft_nccl_connections *connections,
				  const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_end *end = ft_nccl_ends_of(&connections->ends, seen);
	const struct ft_nccl_followed *followed;
	const struct ft_nccl_lane *lane;

	if (end == NULL)
		return;
	followed = connections->all[end->connection];
	lane = &followed->lanes[end->lane];
	fetch(&followed->model.qp_count,
	      sizeof *followed - offsetof(struct ft_nccl_followed, model.qp_count));
	fetch(lane, sizeof *lane);
	if (seen->opcode == FT_NCCL_ACK)
		return;
	if (end->role == FT_NCCL_AT_SENDER)
		fetch_message(&followed->ring, followed->newest + 1);
	else
		fetch_message(&followed->ring,
			      ft_nccl_begins(seen->opcode) ? lane->next : lane->at);
}
