#include "copies_parts.h"

#include "psn.h"

enum {
	ASKS = 1u << 12, /* remembered */
	DUES = 1u << 10, /* likewise */
	PSN_NONE = FT_PSN_MOST + 1,
	OPERATION = 0x1f, /* of an opcode */
	ACKNOWLEDGE = 0x11,
	ATOMIC_ACKNOWLEDGE = 0x12,
	RESPONSE_FIRST = 0x0d,   /* operations from here .. */
	RESPONSE_LAST = 0x12,    /* .. to here are responses */
	SYNDROME_REFUSED = 0x20, /* NAK or RNR NAK */
};

enum kind { REQUESTS, RESPONSES }; /* which are to be sent again */

/* An answer takes no longer, where it comes. */
#define DUE_NS UINT64_C(100000000)

int ft_asks_init(struct ft_asks *asks, uint64_t window_ns, uint64_t seed)
{
	int error;

	asks->window_ns = window_ns;
	asks->until = 0;
	error = ft_recall_init(&asks->asks, ASKS, seed);
	if (error != 0)
		return error;
	error = ft_recall_init(&asks->dues, DUES, seed);
	if (error != 0)
		ft_recall_free(&asks->asks);
	return error;
}

void ft_asks_free(struct ft_asks *asks)
{
	ft_recall_free(&asks->dues);
	ft_recall_free(&asks->asks);
}

static bool is_response(const struct ft_observed *observed)
{
	uint8_t operation = observed->opcode & OPERATION;

	return operation >= RESPONSE_FIRST && operation <= RESPONSE_LAST;
}

static bool is_refusal(const struct ft_observed *observed)
{
	return (observed->syndrome & SYNDROME_REFUSED) != 0 &&
	       (observed->opcode & OPERATION) == ACKNOWLEDGE;
}

/* Of a direction of an address pair and a kind: who is to send what again. */
static uint64_t key_of(uint64_t pair, bool upward, enum kind kind)
{
	uint64_t direction = upward ? pair : ~pair;

	return kind == REQUESTS ? direction : ft_mix(direction, 0x8ebc6af09c88c6e3u);
}

static struct ft_recalled *find_within(const struct ft_recall *recall, uint64_t key,
				       const struct ft_observed *observed, uint64_t span_ns)
{
	struct ft_recall_walk walk = ft_recall_walk(recall, key);
	struct ft_recalled *ask;

	while ((ask = ft_recall_next(&walk)) != NULL)
		if (ft_copies_is_recent(ask->ts_ns, observed->ts_ns, span_ns) &&
		    ft_psn_since(observed->psn, ask->ask.psn) < FT_PSN_WINDOW)
			return ask;
	return NULL;
}

static struct ft_recalled *find(const struct ft_asks *asks, uint64_t key,
				const struct ft_observed *observed)
{
	return find_within(&asks->asks, key, observed, asks->window_ns);
}

const struct ft_recalled *ft_asks_find(const struct ft_asks *asks,
				       const struct ft_observed *observed)
{
	enum kind kind = is_response(observed) ? RESPONSES : REQUESTS;

	return find(asks, key_of(observed->pair, ft_copies_is_upward(observed), kind), observed);
}

/* It is for what came before this frame. */
static void renew(struct ft_asks *asks, struct ft_recalled *ask, const struct ft_observed *observed,
		  uint32_t frame)
{
	ask->ts_ns = observed->ts_ns;
	ask->ask.frame = frame;
	if (asks->until < observed->ts_ns + asks->window_ns)
		asks->until = observed->ts_ns + asks->window_ns;
}

/* One that reaches this PSN already is only renewed. */
static void ask_other_side(struct ft_asks *asks, const struct ft_observed *observed, enum kind kind,
			   uint32_t frame)
{
	uint64_t key = key_of(observed->pair, !ft_copies_is_upward(observed), kind);
	struct ft_recalled *ask = find(asks, key, observed);

	if (ask == NULL) {
		ask = ft_recall_add(&asks->asks, key);
		ask->ask.psn = observed->psn;
	}
	ask->ask.again = PSN_NONE;
	renew(asks, ask, observed, frame);
}

void ft_asks_repeated(struct ft_asks *asks, const struct ft_observed *observed, uint32_t frame)
{
	enum kind kind = is_response(observed) ? RESPONSES : REQUESTS;
	uint64_t key = key_of(observed->pair, ft_copies_is_upward(observed), kind);
	struct ft_recalled *ask = find(asks, key, observed);

	if (ask == NULL)
		return;
	if (ask->ask.again == PSN_NONE ||
	    ft_psn_since(ask->ask.again, observed->psn) < FT_PSN_WINDOW)
		renew(asks, ask, observed, frame);
	ask->ask.again = observed->psn;
}

void ft_asks_follow(struct ft_asks *asks, const struct ft_observed *observed, uint32_t frame)
{
	if (is_refusal(observed))
		ask_other_side(asks, observed, REQUESTS, frame);
	else if (!is_response(observed) && ft_asks_find(asks, observed) != NULL)
		ask_other_side(asks, observed, RESPONSES, frame);
}

/* From here on its sender sends again what passed before. */
static void go_back(struct ft_asks *asks, const struct ft_observed *observed, uint32_t frame)
{
	uint64_t key = key_of(observed->pair, ft_copies_is_upward(observed), REQUESTS);
	struct ft_recalled *ask = find(asks, key, observed);

	if (ask == NULL) {
		ask = ft_recall_add(&asks->asks, key);
		ask->ask.psn = observed->psn;
	}
	ask->ask.again = observed->psn;
	renew(asks, ask, observed, frame);
}

void ft_asks_owe(struct ft_asks *asks, const struct ft_observed *observed, bool answered,
		 uint32_t frame)
{
	uint64_t key;
	struct ft_recalled *due;

	if (is_response(observed))
		return;
	go_back(asks, observed, frame);
	key = key_of(observed->pair, !ft_copies_is_upward(observed), RESPONSES);
	due = find_within(&asks->dues, key, observed, DUE_NS);
	if (due == NULL || due->due.answers == 0) {
		due = ft_recall_add(&asks->dues, key);
		due->due.psn = observed->psn;
		due->due.frame = frame + 1;
		due->due.answers = !answered;
	}
	due->due.answers++;
	due->ts_ns = observed->ts_ns;
}

bool ft_asks_settle(struct ft_asks *asks, const struct ft_observed *observed, uint32_t original)
{
	uint8_t operation = observed->opcode & OPERATION;
	struct ft_recalled *due;
	uint32_t settled;

	if (operation != ACKNOWLEDGE && operation != ATOMIC_ACKNOWLEDGE)
		return false;
	due = find_within(&asks->dues,
			  key_of(observed->pair, ft_copies_is_upward(observed), RESPONSES),
			  observed, DUE_NS);
	if (due == NULL)
		return false;
	settled = (int32_t)(original - due->due.frame) >= 0;
	if (due->due.answers <= settled)
		return false;
	due->due.answers--;
	return true;
}
