/* Between two addresses: bursts of remote access errors, and searches for queue pairs. */
#include <errno.h>
#include <string.h>

#include <capture/frame.h>
#include <flow/reserve.h>

#include "suspects_parts.h"

enum {
	SETS = 1 << 13,
	WAYS = 4, /* 32768 address pairs at once; of a full set, the idlest makes room */
	BURST = 3,
	SERIES = 12,
	SURE = 8,            /* pairs after which there will be some in most pages */
	SEARCH_ANSWERED = 8, /* .. per half-connection that began the other way: not a search */
	WINDOW_MASK = (1 << 30) - 1,
};

#define BURST_NS  UINT64_C(10000000000)
#define SERIES_NS UINT64_C(300000000000) /* at most, from one to the next of a series */
#define WINDOW_NS UINT64_C(1000000000)
#define ANSWER_NS UINT64_C(5000000) /* at least, between two counts of what waits */

/* Half-connections that one of the two addresses began, in this window; up to UINT16_MAX each. */
struct begun {
	uint16_t all;
	uint16_t waiting, due; /* with one request: since the last turn; since the one before it */
	uint16_t unanswered;   /* with one request, that waited from turn to turn */
};

/* What they began: of the lower and the higher address. Where the pair was used last, within ANSWER_NS. */
struct search {
	uint64_t turn_ns;
	uint32_t digest;      /* of the pair; 0: free */
	uint32_t window : 30; /* ns that it began before the turn, up to WINDOW_NS */
	uint32_t met : 2;     /* bit per side: began something, in any window */
	struct begun sides[2];
};
static_assert(sizeof(struct search) == 32, "two in a cache line");

/* The errors that one of the two sent. */
struct refusals {
	uint64_t ns[BURST - 1]; /* of the last ones, newest first */
	uint32_t half;          /* record number of the half-connection of the last one */
	uint32_t psn;
	uint32_t count;     /* in the burst so far */
	uint32_t series;    /* in the series so far .. */
	uint64_t series_ns; /* .. and the last one of it */
};

/* Seldom needed, so not reset with its pair. */
struct errors {
	uint64_t digest; /* of the pair they are about */
	struct refusals sides[2];
};

struct ft_suspect_pairs {
	_Alignas(64) struct search searches[SETS * WAYS];
	uint32_t entered; /* pairs so far, up to SURE */
	struct errors errors[SETS * WAYS];
};

/* Pages come as they are used. */
int ft_suspect_pairs_create(struct ft_suspect_pairs **pairs)
{
	void *memory = ft_reserve(sizeof **pairs);

	if (memory == NULL)
		return -ENOMEM;
	*pairs = memory;
	return 0;
}

void ft_suspect_pairs_destroy(struct ft_suspect_pairs *pairs)
{
	ft_release(pairs, sizeof *pairs);
}

static uint64_t digest_of(const struct ft_flow_key *key, const struct ft_observed *observed)
{
	return (observed->pair ^ (uint64_t)key->vni * 0x9e3779b97f4a7c15u) | 1;
}

static struct search *set_of(struct ft_suspect_pairs *pairs, uint64_t digest)
{
	return &pairs->searches[(digest >> 32 & (SETS - 1)) * WAYS];
}

void ft_suspect_pairs_prefetch(struct ft_suspect_pairs *pairs, const struct ft_flow_key *key,
			       const struct ft_observed *observed)
{
	const struct search *set = set_of(pairs, digest_of(key, observed));

	__builtin_prefetch(set, 1);
	__builtin_prefetch(set + WAYS / 2, 1);
}

/* Where the pair is, or is from now on. */
static struct search *search_of(struct ft_suspect_pairs *pairs, uint64_t digest)
{
	struct search *set = set_of(pairs, digest), *idlest = set;

	for (unsigned way = 0; way < WAYS; way++)
		if (set[way].digest == (uint32_t)digest)
			return &set[way];
	for (unsigned way = 1; way < WAYS; way++)
		if (set[way].turn_ns < idlest->turn_ns)
			idlest = &set[way];
	*idlest = (struct search){ .digest = (uint32_t)digest };
	if (pairs->entered < SURE && ++pairs->entered == SURE)
		ft_reserve_fill(pairs->searches, sizeof pairs->searches);
	return idlest;
}

/* Which of the two addresses sent it. */
static unsigned side_of(const struct ft_flow_key *key)
{
	uint64_t src[2], dst[2];

	memcpy(src, key->src, sizeof src);
	memcpy(dst, key->dst, sizeof dst);
	return src[0] != dst[0] ? src[0] > dst[0] : src[1] > dst[1];
}

static void add(uint16_t *count, uint16_t more)
{
	*count = (uint16_t)(*count > UINT16_MAX - more ? UINT16_MAX : *count + more);
}

/* Begin a new window, or go on to what is due in this one. */
static void turn(struct search *search, uint64_t now_ns)
{
	uint64_t window_ns = now_ns - search->turn_ns + search->window;
	bool ended = window_ns > WINDOW_NS;

	search->turn_ns = now_ns;
	search->window = ended ? 0 : (uint32_t)window_ns & WINDOW_MASK;
	for (unsigned i = 0; i < 2; i++) {
		struct begun *side = &search->sides[i];

		if (ended)
			*side = (struct begun){ 0 };
		add(&side->unanswered, side->due);
		side->due = side->waiting;
		side->waiting = 0;
	}
}

/* Times of a pair do not go back by more than ANSWER_NS. */
static void use(struct search *search, uint64_t now_ns)
{
	if (now_ns > search->turn_ns && now_ns - search->turn_ns > ANSWER_NS)
		turn(search, now_ns);
}

/* Errors in the series that this one belongs to. `alike`: not one of many connections that a job had used. */
static uint32_t go_on(struct refusals *refusals, uint64_t now_ns, bool alike)
{
	if (refusals->series == 0 || now_ns - refusals->series_ns > SERIES_NS)
		refusals->series = 0;
	else if (!alike)
		return 0;
	refusals->series_ns = now_ns;
	return ++refusals->series;
}

/*
 * A job that ends while its peers still write gets one error on each of its connections, each of which
 * carried much before. So a further error counts if it is on the same half-connection, which the
 * first one should have ended, or on one that carried next to nothing.
 */
uint32_t ft_suspect_pairs_refused(struct ft_suspect_pairs *pairs, const struct ft_flow *flow,
				  const struct ft_observed *observed, uint32_t half,
				  bool young_connection, bool *slow)
{
	uint32_t series;
	uint64_t digest = digest_of(&flow->key, observed), now_ns = observed->ts_ns;
	struct search *search = search_of(pairs, digest);
	struct errors *errors = &pairs->errors[search - pairs->searches];
	struct refusals *refusals = &errors->sides[side_of(&flow->key)];

	if (observed->ts_ns == FT_TS_UNKNOWN)
		return 0;
	if (errors->digest != digest)
		*errors = (struct errors){ .digest = digest };
	use(search, now_ns);
	if (refusals->count != 0 && now_ns < refusals->ns[0])
		now_ns = refusals->ns[0];
	if (refusals->count != 0 && half == refusals->half && observed->psn == refusals->psn)
		return 0; /* said again */
	series = go_on(refusals, now_ns, half == refusals->half || young_connection);
	*slow = series >= SERIES;
	if (refusals->count == 0 || now_ns - refusals->ns[0] > BURST_NS)
		refusals->count = 0;
	else if (half != refusals->half && !young_connection)
		return 0;
	refusals->half = half;
	refusals->psn = observed->psn;
	refusals->count++;
	if (refusals->count >= BURST && now_ns - refusals->ns[BURST - 2] > BURST_NS)
		refusals->count = BURST - 1;
	memmove(refusals->ns + 1, refusals->ns, sizeof refusals->ns - sizeof refusals->ns[0]);
	refusals->ns[0] = now_ns;
	*slow &= refusals->count < BURST;
	return *slow ? series : refusals->count >= BURST ? refusals->count : 0;
}

bool ft_suspects_begins_message(uint8_t opcode)
{
	static const uint32_t inside = 1u << 0x01 | 1u << 0x02 | 1u << 0x03 | /* SEND */
				       1u << 0x07 | 1u << 0x08 | 1u << 0x09 | /* WRITE */
				       1u << 0x16 | 1u << 0x17;

	return (inside >> (opcode & 0x1f) & 1) == 0;
}

uint32_t ft_suspect_pairs_begun(struct ft_suspect_pairs *pairs, const struct ft_flow *flow,
				const struct ft_observed *observed, bool probe, bool *unseen)
{
	unsigned sender = side_of(&flow->key);
	struct search *search;
	struct begun *side, *other;

	if (observed->ts_ns == FT_TS_UNKNOWN)
		return 0;
	search = search_of(pairs, digest_of(&flow->key, observed));
	side = &search->sides[sender];
	other = &search->sides[!sender];
	use(search, observed->ts_ns);
	search->met = (search->met | 1u << sender) & 3u;
	add(&side->all, 1);
	if (!probe)
		return 0;
	add(&side->waiting, 1);
	*unseen = (search->met >> !sender & 1) == 0;
	if (side->unanswered < (*unseen ? FT_SUSPECTS_SEARCH_UNSEEN : FT_SUSPECTS_SEARCH) ||
	    other->all * SEARCH_ANSWERED > side->unanswered)
		return 0;
	return (uint32_t)side->unanswered + side->due + side->waiting;
}

void ft_suspect_pairs_used(struct ft_suspect_pairs *pairs, const struct ft_flow *flow,
			   const struct ft_observed *observed)
{
	struct search *search;
	struct begun *side;
	uint16_t *counted;

	if (observed->ts_ns == FT_TS_UNKNOWN)
		return;
	search = search_of(pairs, digest_of(&flow->key, observed));
	side = &search->sides[side_of(&flow->key)];
	counted = &side->waiting;
	if (flow->last_ns < search->turn_ns)
		counted = search->turn_ns - flow->last_ns < ANSWER_NS || side->unanswered == 0
				  ? &side->due
				  : &side->unanswered;
	if (flow->last_ns >= search->turn_ns - search->window && *counted != 0)
		--*counted;
}
