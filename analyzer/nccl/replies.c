#include "replies.h"

#include <limits.h>
#include <string.h>

#include <decode/packet.h>

#include "answer.h"
#include "grid.h"
#include "order.h"
#include "source_port.h"
#include "turn_order.h"

enum {
	LENGTHS = 3, /* messages whose immediate must be their length */
	/* to the FIFO, if the ports of both directions do not agree, as adapters may have it */
	WRITES_ALONE = 8,
};

bool ft_nccl_is_opposite(const struct ft_nccl_stranger *a, const struct ft_nccl_stranger *b)
{
	return b->used && b->log != NULL && a->by_lid == b->by_lid && a->vni == b->vni &&
	       memcmp(a->src, b->dst, sizeof a->src) == 0 &&
	       memcmp(a->dst, b->src, sizeof a->dst) == 0;
}

/* Queue pairs that carry data the other way. */
struct found {
	struct ft_nccl_reply replies[FT_NCCL_REPLIES_MOST];
	unsigned count;
	bool is_more;   /* than there is room for */
	unsigned begun; /* others that have not ended a message yet */
	bool is_whole;  /* all logs are from their first packet on */
};

/* Clear-to-sends of a connection: a queue pair of each device that they take turns with. */
struct fifos {
	struct ft_nccl_stranger *const *strangers;
	unsigned devices, count; /* of clear-to-sends */
	bool is_whole;           /* their logs are from their first packet on */
	/* by k, their frames and the requests that they are for; 0: it is not in the logs */
	uint64_t frames[FT_NCCL_REPLY_MESSAGES];
	uint8_t requests[FT_NCCL_REPLY_MESSAGES];
};

/* What a device's clear-to-sends ask for. */
static void read_requests(const struct ft_nccl_log *log, const struct ft_nccl_grid *grid,
			  unsigned device, struct fifos *fifos)
{
	struct ft_nccl_logged logged;

	for (uint32_t at = 0; ft_nccl_log_next(log, &at, &logged);) {
		uint64_t k = (uint64_t)logged.seen.psn * grid->devices + device;

		if (k >= FT_NCCL_REPLY_MESSAGES)
			continue;
		fifos->frames[k] = logged.seen.frame;
		fifos->requests[k] = (uint8_t)(logged.seen.length / grid->entry_bytes);
	}
}

static struct fifos fifos_of(const struct ft_nccl_grid *grid)
{
	struct fifos fifos = { .strangers = grid->fifos,
			       .devices = grid->devices,
			       .is_whole = true };

	for (unsigned i = 0; i < fifos.devices; i++) {
		fifos.count += fifos.strangers[i]->log->count;
		fifos.is_whole = fifos.is_whole && fifos.strangers[i]->log->restarts == 0;
		read_requests(fifos.strangers[i]->log, grid, i, &fifos);
	}
	return fifos;
}

/* What was asked for before this frame, as far as it is known. */
static unsigned count_until(const struct fifos *fifos, uint64_t frame)
{
	unsigned count = 0;

	for (unsigned k = 0; k < FT_NCCL_REPLY_MESSAGES; k++) {
		if (fifos->frames[k] != 0 && fifos->frames[k] < frame)
			count = k + 1;
	}
	return count;
}

/*
 * Each message has the requests that it was asked for, where one has several: how many do. -1: one has not, or it is not
 * known which message each is.
 */
static int count_asked(const struct fifos *fifos, const struct ft_nccl_reply *reply)
{
	int right = 0;

	if (!reply->has_several)
		return 0;
	if (!reply->is_whole)
		return -1;
	for (unsigned k = 0; k < reply->unbroken; k++) {
		if (fifos->requests[k] != 0 && fifos->requests[k] != reply->requests[k])
			return -1;
		right += reply->requests[k] > 1 ? 1 : 0;
	}
	return right;
}

static bool goes_back(const struct fifos *fifos, const struct ft_nccl_stranger *stranger)
{
	for (unsigned i = 0; i < fifos->devices; i++) {
		if (ft_nccl_is_opposite(fifos->strangers[i], stranger))
			return true;
	}
	return false;
}

/* Something else than clear-to-sends of a connection the other way. */
static bool carries_data(const struct ft_nccl_stranger *stranger)
{
	struct ft_nccl_logged logged;

	for (uint32_t at = 0; ft_nccl_log_next(stranger->log, &at, &logged);) {
		if (!ft_nccl_may_be_on_grid(&logged.seen))
			return true;
	}
	return false;
}

static void find_all(const struct ft_nccl_connections *connections, const struct fifos *fifos,
		     struct found *found)
{
	struct ft_nccl_stranger *other;
	uint32_t at = 0;

	found->count = 0;
	found->is_more = false;
	found->begun = 0;
	found->is_whole = fifos->is_whole;
	while ((other = ft_nccl_stranger_logged(&connections->strangers, &at)) != NULL) {
		if (!goes_back(fifos, other))
			continue;
		if (found->count == FT_NCCL_REPLIES_MOST) {
			found->is_more = true;
			return;
		}
		if (other->log->ended == 0) {
			found->begun += carries_data(other) ? 1 : 0;
			continue;
		}
		ft_nccl_reply_read(other, connections->config.ends_only,
				   &found->replies[found->count]);
		found->is_whole = found->is_whole && other->log->restarts == 0;
		found->count++;
	}
}

/* As many messages as clear-to-sends, but for those that wait. */
static bool is_asked(const struct fifos *fifos, unsigned messages)
{
	return messages <= fifos->count && messages + FT_NCCL_ASKED_AHEAD >= fifos->count;
}

static struct counts {
	unsigned least, most;
} counts_of(const struct found *found)
{
	struct counts counts = { UINT_MAX, 0 };

	for (unsigned i = 0; i < found->count; i++) {
		unsigned count = found->replies[i].count;

		counts.least = count < counts.least ? count : counts.least;
		counts.most = count > counts.most ? count : counts.most;
	}
	return counts;
}

/* Each message went over all of them, as far as all have come: the same immediate, the length of all parts together. */
static bool are_shared(const struct fifos *fifos, const struct found *found)
{
	const struct counts counts = counts_of(found);
	const struct ft_nccl_reply *first = &found->replies[0];
	unsigned right = 0;

	for (unsigned i = 0; i < found->count; i++) {
		if (count_asked(fifos, &found->replies[i]) < 0)
			return false;
	}
	for (unsigned j = 0; j < counts.least; j++) {
		uint64_t length = 0;

		for (unsigned i = 0; i < found->count; i++) {
			if (found->replies[i].immdts[j] != first->immdts[j] ||
			    found->replies[i].requests[j] != first->requests[j])
				return false;
			length += found->replies[i].lengths[j];
		}
		if (length != 0 && first->requests[j] == 1 &&
		    !ft_nccl_is_length(first->immdts[j], length))
			return false;
		right += length != 0 ? 1 : 0;
	}
	return right >= LENGTHS && counts.most <= fifos->count && is_asked(fifos, counts.least);
}

static bool goes_along(const struct ft_nccl_stranger *a, const struct ft_nccl_stranger *b)
{
	return a->by_lid == b->by_lid && a->vni == b->vni &&
	       memcmp(a->src, b->src, sizeof a->src) == 0 &&
	       memcmp(a->dst, b->dst, sizeof a->dst) == 0;
}

/* Queue pairs with clear-to-sends that go the same way as the stranger's, or the opposite one: of so many connections. */
static unsigned count_fifos(const struct ft_nccl_connections *connections,
			    const struct ft_nccl_stranger *stranger, bool opposite)
{
	const struct ft_nccl_stranger *other = NULL;
	struct ft_nccl_logged logged;
	unsigned count = 0;

	while ((other = ft_nccl_stranger_between(&connections->strangers, stranger, other)) !=
	       NULL) {
		uint32_t first = 0;

		if ((opposite ? ft_nccl_is_opposite(stranger, other)
			      : goes_along(stranger, other)) &&
		    ft_nccl_log_next(other->log, &first, &logged) &&
		    ft_nccl_may_be_on_grid(&logged.seen))
			count++;
	}
	return count;
}

/* As many clear-to-sends as waited, at most, when the messages of a round began. */
static unsigned most_waiting(const struct fifos *fifos, const struct found *found, unsigned round)
{
	unsigned most = 0;

	for (unsigned i = 0; i < found->count; i++) {
		unsigned asked = count_until(fifos, found->replies[i].begun[round]);
		unsigned begun = round * found->count + i;

		most = asked > begun + most ? asked - begun : most;
	}
	return most;
}

/*
 * They go round together, and in this order no more clear-to-sends waited the second time; or they did so three times. Another
 * queue pair that takes turns with them, of which nothing was seen yet, would leave one more behind each time.
 */
static bool are_all(const struct fifos *fifos, const struct found *found)
{
	const struct counts counts = counts_of(found);

	return counts.most - counts.least <= 1 &&
	       (counts.least > 2 || most_waiting(fifos, found, 1) <= most_waiting(fifos, found, 0));
}

/* They take turns, and went round twice: each carried messages of its own, all of them together what was asked for. */
static bool take_turns(const struct fifos *fifos, struct found *found, bool *in_order)
{
	unsigned right = 0, messages = 0, several;
	enum ft_nccl_turn_order order;

	for (unsigned i = 0; i < found->count; i++) {
		if (found->replies[i].wrong != 0 ||
		    (found->replies[i].has_several && !found->replies[i].is_whole))
			return false;
		right += found->replies[i].right;
		messages += found->replies[i].count;
	}
	if (counts_of(found).least < 2 || !is_asked(fifos, messages))
		return false;
	order = ft_nccl_turn_order_find(fifos->requests, found->replies, found->count, &several);
	*in_order = order == FT_NCCL_TURNS_SURE;
	return order != FT_NCCL_TURNS_WRONG && right + several >= LENGTHS &&
	       (*in_order || are_all(fifos, found));
}

/* Both directions of a pair of queue pairs have one port. */
static bool is_pair(const struct ft_nccl_stranger *a, const struct ft_nccl_stranger *b)
{
	return a->udp_sport == b->udp_sport && a->udp_sport == ft_nccl_source_port(a->qpn, b->qpn);
}

/*
 * It has not fallen behind, as one would that takes turns with others that are there; nor, alone, by half, as it would with
 * another one of which nothing was seen yet.
 */
static bool keeps_up(const struct ft_nccl_stranger *fifo, const struct found *found,
		     const struct ft_nccl_reply *reply)
{
	bool is_alone = found->count == 1 && found->begun == 0;

	if (fifo->log->restarts != 0 || reply->stranger->log->restarts != 0)
		return true;
	return is_alone ? reply->count * 2 >= fifo->log->count
			: reply->count + FT_NCCL_ASKED_AHEAD >= fifo->log->count;
}

/* Of those whose lengths are right: the other end of the same pair; else the only one. NULL: it is not clear. */
static struct ft_nccl_stranger *only_one(const struct fifos *fifos, const struct found *found)
{
	const struct ft_nccl_stranger *stranger = fifos->strangers[0];
	struct ft_nccl_stranger *only = NULL;
	unsigned choices = 0;

	for (unsigned i = 0; i < found->count; i++) {
		const struct ft_nccl_reply *reply = &found->replies[i];
		int asked = count_asked(fifos, reply);

		if (asked < 0 || reply->right + (unsigned)asked < LENGTHS || reply->wrong != 0 ||
		    !keeps_up(stranger, found, reply))
			continue;
		if (is_pair(stranger, reply->stranger))
			return reply->stranger;
		only = reply->stranger;
		choices++;
	}
	return choices == 1 && stranger->log->count >= WRITES_ALONE ? only : NULL;
}

static void take_all(const struct found *found, enum ft_nccl_known split,
		     struct ft_nccl_replies *replies)
{
	replies->split = split;
	replies->count = found->count;
	for (unsigned i = 0; i < found->count; i++)
		replies->strangers[i] = found->replies[i].stranger;
}

static void take_one(const struct fifos *fifos, const struct found *found,
		     struct ft_nccl_replies *replies)
{
	replies->split = FT_NCCL_UNKNOWN;
	replies->in_order = false;
	replies->strangers[0] = only_one(fifos, found);
	replies->count = replies->strangers[0] != NULL ? 1 : 0;
}

bool ft_nccl_replies_find(const struct ft_nccl_connections *connections,
			  const struct ft_nccl_grid *grid, struct ft_nccl_replies *replies)
{
	const struct fifos fifos = fifos_of(grid);
	const unsigned devices = grid->devices;
	struct found found;
	bool are_several;

	find_all(connections, &fifos, &found);
	*replies = (struct ft_nccl_replies){ .count = 0 };
	are_several = found.count > 1 && !found.is_more && found.begun == 0 && found.is_whole;
	if (are_several && found.count % devices == 0 && are_shared(&fifos, &found))
		take_all(&found, FT_NCCL_YES, replies);
	else if (are_several && devices == 1 && take_turns(&fifos, &found, &replies->in_order) &&
		 count_fifos(connections, grid->fifos[0], false) == 1)
		take_all(&found, FT_NCCL_NO, replies);
	else if (devices == 1 &&
		 found.count + found.begun <= count_fifos(connections, grid->fifos[0], false))
		take_one(&fifos, &found, replies);
	return replies->count != 0;
}

void ft_nccl_replies_doubt(const struct ft_nccl_connections *connections,
			   const struct ft_nccl_stranger *stranger)
{
	uint32_t recent = ft_nccl_recent(connections);

	if (!connections->has_blind || stranger->log == NULL || stranger->log->count != 1 ||
	    !carries_data(stranger) || count_fifos(connections, stranger, true) != 0)
		return;
	for (uint32_t i = connections->count; i > recent; i--) {
		struct ft_nccl_followed *followed = connections->all[i - 1];

		if (!followed->blind || !ft_nccl_is_between(followed, stranger))
			continue;
		followed->crowded = true;
		ft_nccl_order_miscounted(followed);
	}
}
