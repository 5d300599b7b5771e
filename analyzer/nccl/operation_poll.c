#include "operation_poll.h"

enum {
	SEEN_LEAST = 8, /* of so many messages all but one, at least */
	SHARE = 3,
};

/* --- who asks --- */

static void add(struct ft_nccl_poll *poll, uint32_t ranks)
{
	size_t i = 0;

	while (i < FT_NCCL_VOTES && poll->votes[i].ranks != 0 && poll->votes[i].ranks != ranks)
		i++;
	if (i < FT_NCCL_VOTES)
		poll->votes[i].ranks = ranks;
}

/* As far as they are known, ranks go up all around but once. */
static bool is_in_order(const struct ft_nccl_circle *ring)
{
	unsigned descents = 0;

	for (uint32_t i = 0; i < ring->ranks; i++) {
		const struct ft_nccl_party *one = &ring->tracks[i]->connection->sender;
		const struct ft_nccl_party *next =
			&ring->tracks[(i + 1) % ring->ranks]->connection->sender;

		descents += one->has_rank && next->has_rank && next->rank < one->rank ? 1 : 0;
	}
	return descents <= 1;
}

/* More passed than a message or two of each. */
static bool is_busy(const struct ft_nccl_circle *ring)
{
	size_t messages = 0;

	for (uint32_t i = 0; i < ring->ranks; i++)
		messages += ring->tracks[i]->count;
	return messages > 2 * (size_t)ring->ranks;
}

static bool are_set_up(const struct ft_nccl_circle *ring)
{
	for (uint32_t i = 0; i < ring->ranks; i++)
		if (!ring->tracks[i]->connection->has_tcp)
			return false;
	return true;
}

/* With so many ranks each, those of a host one after the other: none sends to another one of its own. */
static bool may_be_of_hosts(const struct ft_nccl_circle *ring, uint32_t each)
{
	for (uint32_t i = 0; i < ring->ranks; i++) {
		const struct ft_nccl_party *one = &ring->tracks[i]->connection->sender;
		const struct ft_nccl_party *next =
			&ring->tracks[(i + 1) % ring->ranks]->connection->sender;

		if (one->has_rank && next->has_rank &&
		    one->rank / (int32_t)each == next->rank / (int32_t)each)
			return false;
	}
	return true;
}

/* Nothing shows that these are ports of as many hosts. */
static bool may_be_of_fewer(const struct ft_nccl_circle *ring)
{
	if (are_set_up(ring))
		return false;
	for (uint32_t each = 2; 2 * each <= ring->ranks; each++)
		if (ring->ranks % each == 0 && may_be_of_hosts(ring, each))
			return true;
	return false;
}

bool ft_nccl_poll_ask(struct ft_nccl_poll *poll, const struct ft_nccl_circle *ring)
{
	struct ft_nccl_doubt doubt = { 0 };
	struct ft_nccl_circle asked = *ring;
	struct ft_nccl_poll told = *poll;
	struct ft_nccl_collective row;
	struct ft_nccl_stretch sum;
	size_t loops = 0, doubts;
	enum ft_nccl_step step;
	bool in_order, is_ring;

	asked.doubt = &doubt;
	ft_nccl_circle_begin(&asked);
	while ((step = ft_nccl_circle_take(&asked, &row, &sum)) != FT_NCCL_NO_MORE) {
		if (step != FT_NCCL_NAMED || row.ranks == 0)
			continue;
		add(&told, row.ranks);
		loops++;
	}
	in_order = is_in_order(ring);
	doubts = doubt.of_several + (in_order ? 0 : doubt.of_one);
	is_ring = doubts == 0 ? in_order || loops > 0 || !(is_busy(ring) || may_be_of_fewer(ring))
			      : doubts < loops;
	if (is_ring)
		*poll = told;
	return is_ring;
}

/* --- what they say --- */

static bool is_seen(const struct ft_nccl_stretch *sum, uint64_t messages)
{
	return SEEN_LEAST * (messages - sum->seen) <= messages;
}

/* With one number. What began before the capture is explained by none. */
static void weigh(struct ft_nccl_vote *vote, struct ft_nccl_circle *ring)
{
	struct ft_nccl_collective row;
	struct ft_nccl_stretch sum;
	enum ft_nccl_step step;
	bool begun;
	size_t at;

	ring->loop_ranks = vote->ranks;
	ft_nccl_circle_begin(ring);
	begun = ring->begun;
	at = ring->at[0];
	while ((step = ft_nccl_circle_take(ring, &row, &sum)) != FT_NCCL_NO_MORE) {
		if (step == FT_NCCL_NAMED)
			vote->explained += row.ranks != 0 ? row.messages : 0;
		else if (begun && is_seen(&sum, (ring->at[0] - at) * ring->ranks))
			vote->unexplained += sum.seen;
		begun = true;
		at = ring->at[0];
	}
	ring->loop_ranks = 0;
}

void ft_nccl_poll_weigh(struct ft_nccl_poll *poll, struct ft_nccl_circle *ring)
{
	for (size_t i = 0; i < FT_NCCL_VOTES && poll->votes[i].ranks != 0; i++)
		weigh(&poll->votes[i], ring);
}

/* The one that explains most; .explained 0: none, or several do. */
static struct ft_nccl_vote best_of(const struct ft_nccl_poll *poll)
{
	struct ft_nccl_vote most = { 0 };
	uint64_t second = 0;

	for (size_t i = 0; i < FT_NCCL_VOTES; i++) {
		const struct ft_nccl_vote *vote = &poll->votes[i];

		if (vote->explained > most.explained) {
			second = most.explained;
			most = *vote;
		} else if (vote->explained > second) {
			second = vote->explained;
		}
	}
	return most.explained > second ? most : (struct ft_nccl_vote){ 0 };
}

static uint64_t explained_by(const struct ft_nccl_poll *poll, uint32_t ranks)
{
	for (size_t i = 0; i < FT_NCCL_VOTES; i++)
		if (poll->votes[i].ranks == ranks)
			return poll->votes[i].explained;
	return 0;
}

uint32_t ft_nccl_poll_ranks(const struct ft_nccl_poll *poll, struct ft_nccl_circle *ring,
			    bool *silent)
{
	const struct ft_nccl_vote all = best_of(poll);
	const bool agreed = SHARE * all.explained > all.unexplained;
	struct ft_nccl_poll own = { 0 };
	struct ft_nccl_vote most;

	*silent = false;
	if (poll->votes[0].ranks == 0)
		return 0;
	for (size_t i = 0; i < FT_NCCL_VOTES; i++)
		own.votes[i].ranks = poll->votes[i].ranks;
	ft_nccl_poll_weigh(&own, ring);
	most = best_of(&own);
	if (most.explained > most.unexplained &&
	    most.explained > 2 * explained_by(&own, agreed ? all.ranks : FT_NCCL_NONE))
		return most.ranks;
	*silent = explained_by(&own, all.ranks) == 0;
	return agreed ? all.ranks : FT_NCCL_NONE;
}
