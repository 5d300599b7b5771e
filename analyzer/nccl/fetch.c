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

static void fetch_lane(const struct ft_nccl_followed *followed,
		       const struct ft_nccl_glimpse *glimpse)
{
	const struct ft_nccl_lane *lane = &followed->lanes[glimpse->lane];
	uint8_t opcode = glimpse->observed->opcode;

	fetch(lane, offsetof(struct ft_nccl_lane, odd));
	if (opcode == FT_NCCL_ACK)
		return;
	if (glimpse->role == FT_NCCL_AT_SENDER)
		fetch_message(&followed->ring, followed->newest + 1);
	else
		fetch_message(&followed->ring, ft_nccl_begins(opcode) ? lane->next : lane->at);
}

/* What is expected of either end. */
static void fetch_straight(const struct ft_nccl_straight *straight)
{
	__builtin_prefetch(straight, 1);
	__builtin_prefetch(&straight->messages, 1);
	__builtin_prefetch(straight->entry, 1);
}

/* A connection that goes straight needs no more than that, and its message. False: it does not. */
static bool fetch_straight_message(const struct ft_nccl_straight *straight, uint8_t role)
{
	uint64_t k = role == FT_NCCL_AT_SENDER ? straight->newest + 1 : straight->next;

	if (straight->is_on)
		__builtin_prefetch(&straight->messages[k & straight->mask], 1);
	return straight->is_on;
}

/* Step by step for all of them, so that no step waits for memory. */
void ft_nccl_connections_prefetch(const struct ft_nccl_connections *connections,
				  struct ft_nccl_glimpse *glimpses, unsigned count)
{
	const struct ft_nccl_end_table *ends = &connections->ends;
	const struct ft_nccl_glimpse *others[FT_NCCL_TOGETHER];
	size_t homes[FT_NCCL_TOGETHER];
	unsigned other_count = 0;

	if (ends->slots == 0 || connections->straights == NULL)
		return;
	for (unsigned i = 0; i < count; i++) {
		homes[i] = ft_nccl_ends_home(ends, glimpses[i].key);
		__builtin_prefetch(&ends->ends[homes[i]]);
	}
	for (unsigned i = 0; i < count; i++) {
		ft_nccl_look_up(ends, &glimpses[i], homes[i]);
		if (glimpses[i].connection != FT_NCCL_NONE)
			fetch_straight(&connections->straights[glimpses[i].connection]);
	}
	for (unsigned i = 0; i < count; i++) {
		uint32_t id = glimpses[i].connection;

		if (id == FT_NCCL_NONE ||
		    fetch_straight_message(&connections->straights[id], glimpses[i].role))
			continue;
		fetch_followed(connections->all[id]);
		others[other_count++] = &glimpses[i];
	}
	for (unsigned i = 0; i < other_count; i++)
		fetch_lane(connections->all[others[i]->connection], others[i]);
}
