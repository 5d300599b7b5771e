#include "turn_order.h"

#include <assert.h>
#include <stdlib.h>

/* Turns, bits 1 << turn, that each of the queue pairs can have. */
struct choices {
	uint16_t turns[FT_NCCL_REPLIES_MOST];
	unsigned count;
};

static int by_number(const void *a, const void *b)
{
	const struct ft_nccl_reply *left = a, *right = b;

	return left->stranger->qpn < right->stranger->qpn
		       ? -1
		       : left->stranger->qpn > right->stranger->qpn;
}

static int by_turn(const void *a, const void *b)
{
	const struct ft_nccl_reply *left = a, *right = b;

	return left->turn < right->turn ? -1 : left->turn > right->turn;
}

/* All messages whose place is known have the requests that they were asked for. */
static bool can_have_turn(const uint8_t *requests, const struct ft_nccl_reply *reply,
			  unsigned count, unsigned turn)
{
	for (unsigned j = 0, k = turn;
	     reply->is_whole && j < reply->unbroken && k < FT_NCCL_REPLY_MESSAGES;
	     j++, k += count) {
		if (requests[k] != 0 && requests[k] != reply->requests[j])
			return false;
	}
	return true;
}

static struct choices choices_of(const uint8_t *requests, const struct ft_nccl_reply *replies,
				 unsigned count)
{
	struct choices choices = { .count = count };

	for (unsigned i = 0; i < count; i++) {
		for (unsigned turn = 0; turn < count; turn++) {
			if (can_have_turn(requests, &replies[i], count, turn))
				choices.turns[i] |= (uint16_t)(1u << turn);
		}
	}
	return choices;
}

static bool is_one(uint16_t turns)
{
	return turns != 0 && (turns & (turns - 1)) == 0;
}

/* No other can have the turn of this one, if it has one alone. False: that was known. */
static bool leave_to(struct choices *choices, unsigned one)
{
	const uint16_t turn = choices->turns[one];
	bool is_new = false;

	for (unsigned i = 0; i < choices->count && is_one(turn); i++) {
		if (i == one || (choices->turns[i] & turn) == 0)
			continue;
		choices->turns[i] &= (uint16_t)~turn;
		is_new = true;
	}
	return is_new;
}

static void narrow(struct choices *choices)
{
	bool goes_on = true;

	while (goes_on) {
		goes_on = false;
		for (unsigned i = 0; i < choices->count; i++)
			goes_on = leave_to(choices, i) || goes_on;
	}
}

static bool is_only_order(const struct choices *choices)
{
	for (unsigned i = 0; i < choices->count; i++) {
		if (!is_one(choices->turns[i]))
			return false;
	}
	return true;
}

static bool is_by_number(const struct choices *choices)
{
	for (unsigned i = 0; i < choices->count; i++) {
		if ((choices->turns[i] & 1u << i) == 0)
			return false;
	}
	return true;
}

static unsigned count_several(const struct ft_nccl_reply *replies, unsigned count)
{
	unsigned several = 0;

	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = 0; j < replies[i].unbroken; j++)
			several += replies[i].requests[j] > 1 ? 1 : 0;
	}
	return several;
}

enum ft_nccl_turn_order ft_nccl_turn_order_find(const uint8_t *requests,
						struct ft_nccl_reply *replies, unsigned count,
						unsigned *several)
{
	struct choices choices;

	assert(count <= FT_NCCL_REPLIES_MOST);
	qsort(replies, count, sizeof *replies, by_number);
	choices = choices_of(requests, replies, count);
	narrow(&choices);
	*several = count_several(replies, count);
	if (!is_only_order(&choices))
		return is_by_number(&choices) ? FT_NCCL_TURNS_BY_NUMBER : FT_NCCL_TURNS_WRONG;
	for (unsigned i = 0; i < count; i++)
		replies[i].turn = (unsigned)__builtin_ctz(choices.turns[i]);
	qsort(replies, count, sizeof *replies, by_turn);
	return FT_NCCL_TURNS_SURE;
}
