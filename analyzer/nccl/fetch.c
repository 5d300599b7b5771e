#include "followed.h"

enum { LINE = 64 }; /* bytes */

static void fetch(const void *from, size_t size)
{
	const char *at = from;

	for (size_t i = 0; i < size + LINE - 1; i += LINE)
		__builtin_prefetch(at + i, 1);
}

static void fetch_party(const struct ft_nccl_party *party)
{
	__builtin_prefetch(&party->places[0], 1);
	__builtin_prefetch(&party->place_count, 1);
	__builtin_prefetch(&party->qpns[0], 1);
}

/* All but queue pairs behind the first. */
static void fetch_followed(const struct ft_nccl_followed *followed)
{
	const size_t from = offsetof(struct ft_nccl_followed, model.qp_count);

	fetch((const char *)followed + from, sizeof *followed - from);
	fetch_party(&followed->model.sender);
	fetch_party(&followed->model.receiver);
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

static void fetch_lane(const struct ft_nccl_followed *followed, const struct ft_nccl_end *end,
		       uint8_t opcode)
{
	const struct ft_nccl_lane *lane = &followed->lanes[end->lane];

	fetch(lane, offsetof(struct ft_nccl_lane, odd));
	if (opcode == FT_NCCL_ACK)
		return;
	if (end->role == FT_NCCL_AT_SENDER)
		fetch_message(&followed->ring, followed->newest + 1);
	else
		fetch_message(&followed->ring, ft_nccl_begins(opcode) ? lane->next : lane->at);
}

/* Step by step for all of them, so that no step waits for memory. */
void ft_nccl_connections_prefetch(const struct ft_nccl_connections *connections,
				  const struct ft_nccl_seen *seen, unsigned count)
{
	const struct ft_nccl_end *ends[FT_NCCL_TOGETHER];

	for (unsigned i = 0; i < count; i++)
		ft_nccl_ends_prefetch(&connections->ends, &seen[i]);
	for (unsigned i = 0; i < count; i++) {
		ends[i] = ft_nccl_ends_of(&connections->ends, &seen[i]);
		if (ends[i] != NULL)
			fetch_followed(connections->all[ends[i]->connection]);
	}
	for (unsigned i = 0; i < count; i++) {
		if (ends[i] != NULL)
			fetch_lane(connections->all[ends[i]->connection], ends[i], seen[i].opcode);
	}
}
