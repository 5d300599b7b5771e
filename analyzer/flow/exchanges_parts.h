#pragma once

#include <flow/loss.h>

#include "lonely.h"
#include "tracker_parts.h"

/* The parts of ft_count_exchanges(): who is alone, which of these belong together, and what that tells. */

/* Packets of a half that answers several requests, which are not all lost. */
enum { FT_LONG_ANSWERS = 4 };

/* A half that has no other: it asks, or else it answers and has asked for nothing. */
struct ft_lone {
	uint64_t way; /* digest of the addresses that its requests go between */
	/* PSNs that it asked for; or answered: of its newest READ, or the newest */
	uint32_t from, to;
	uint32_t flow; /* number of its record */
	uint16_t port; /* UDP source port; 0: none, or they tell nothing */
	bool answers;
};

struct ft_exchanges {
	const struct ft_tracker *tracker;
	struct ft_loss_evidence *evidence;
	struct ft_lonely halves; /* all there are, by addresses */
	struct ft_lone *lone;
	size_t lone_count;
	struct ft_tracker_totals *totals;
};

/* The half's key as its requests go, or, of one that answers, those that it answers. */
static inline struct ft_flow_key ft_asking_key(const struct ft_flow *flow, bool answers)
{
	return answers ? ft_flow_key_turned(&flow->key) : flow->key;
}

/* Tell of all->lone which belong together, and which are alone; leaves them in another order. */
void ft_exchanges_match(struct ft_exchanges *all);

/* A request that an answer would have shown. `flow`: that it is all of; `sure`: the answer is its own. */
void ft_exchange_tell(struct ft_exchanges *all, const struct ft_flow *flow,
		      const struct ft_flow *answers, bool sure);

/* A half that no other belongs to: if it is a request, or an answer, by itself. */
void ft_lone_tell(struct ft_exchanges *all, const struct ft_lone *lone);

/* The answers are to what lies behind all of `asks`: up to there all were asked for, and what is not here is lost. */
void ft_behind_tell(struct ft_exchanges *all, const struct ft_lone *asks,
		    const struct ft_lone *answers);
