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

/* What is expected of either end; of the one that is asked, its clear-to-send too. */
static void fetch_straight(const struct ft_nccl_straight *straight, uint8_t role)
{
	fetch(straight, role == FT_NCCL_AT_SENDER ? offsetof(struct ft_nccl_straight, request)
						  : offsetof(struct ft_nccl_straight, entry));
}

static void fetch_straight_message(const struct ft_nccl_straight *straight, uint8_t role)
{
	uint64_t k = role == FT_NCCL_AT_SENDER ? straight->newest + 1 : straight->next;

	__builtin_prefetch(&straight->messages[k & straight->mask], 1);
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

/* Packets whose connections are known, and these. */
struct known {
	struct {
		const struct ft_nccl_followed *followed;
		const struct ft_nccl_end *end;
		uint8_t opcode;
	} packets[FT_NCCL_TOGETHER];
	unsigned count;
};

static void look(const struct ft_nccl_connections *connections, struct ft_nccl_glimpse *glimpse,
		 struct known *known)
{
	const struct ft_nccl_end *end;

	ft_nccl_ends_look(&connections->ends, glimpse);
	end = ft_nccl_ends_glimpsed(&connections->ends, glimpse);
	if (end == NULL)
		return;
	known->packets[known->count].followed = connections->all[end->connection];
	known->packets[known->count].end = end;
	known->packets[known->count].opcode = glimpse->observed->opcode;
	fetch_straight(&connections->all[end->connection]->straight, end->role);
	known->count++;
}

/* Step by step for all of them, so that no step waits for memory; a connection that goes straight needs little. */
void ft_nccl_connections_prefetch(const struct ft_nccl_connections *connections,
				  struct ft_nccl_glimpse *glimpses, unsigned count)
{
	struct known known = { .count = 0 };
	unsigned others = 0;

	for (unsigned i = 0; i < count; i++)
		ft_nccl_ends_prefetch(&connections->ends, &glimpses[i]);
	for (unsigned i = 0; i < count; i++)
		look(connections, &glimpses[i], &known);
	for (unsigned i = 0; i < known.count; i++) {
		if (known.packets[i].followed->straight.is_on) {
			fetch_straight_message(&known.packets[i].followed->straight,
					       known.packets[i].end->role);
		} else {
			fetch_followed(known.packets[i].followed);
			known.packets[others++] = known.packets[i];
		}
	}
	for (unsigned i = 0; i < others; i++)
		fetch_lane(known.packets[i].followed, known.packets[i].end,
			   known.packets[i].opcode);
}
