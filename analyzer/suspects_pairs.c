/* Between two addresses: bursts of remote access errors, and searches for queue pairs. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <capture/frame.h>

#include "suspects_parts.h"

enum {
	SETS = 1 << 12,
	WAYS = 8, /* 32768 address pairs at once; of a full set, the idlest makes room */
	BURST = 3,
	SEARCH = 32,         /* queue pairs within a second */
	SEARCH_UNSEEN = 512, /* likewise, if the other direction may not be mirrored at all */
	SEARCH_ANSWERED = 8, /* .. per half-connection that began the other way: not a search */
};

#define BURST_NS  UINT64_C(10000000000)
#define WINDOW_NS UINT64_C(1000000000)
#define ANSWER_NS UINT64_C(5000000) /* a first request unanswered for so long is counted */

/* What one of the two addresses sent. */
struct side {
	uint64_t errors_ns[BURST - 1]; /* of the last ones, newest first */
	uint32_t error_half;           /* record number of the half-connection of the last one */
	uint32_t error_psn;
	uint32_t errors; /* in the burst so far */
	uint32_t waiting,
		due;    /* half-connections with one request: young ones; older than ANSWER_NS */
	uint32_t begun; /* half-connections, in this window */
	bool met;
};

struct pair {
	uint64_t digest; /* 0: free */
	uint64_t used_ns, window_ns, turn_ns;
	struct side sides[2]; /* of the lower and the higher address */
};

struct ft_suspect_pairs {
	struct pair pairs[SETS][WAYS];
};

/* Pages come as they are used. */
int ft_suspect_pairs_create(struct ft_suspect_pairs **pairs)
{
	void *memory = mmap(NULL, sizeof **pairs, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -ENOMEM;
	*pairs = memory;
	return 0;
}

void ft_suspect_pairs_destroy(struct ft_suspect_pairs *pairs)
{
	munmap(pairs, sizeof *pairs);
}

static struct pair *pair_of(struct ft_suspect_pairs *pairs, const struct ft_flow_key *key,
			    const struct ft_observed *observed)
{
	uint64_t digest = (observed->pair ^ (uint64_t)key->vni * 0x9e3779b97f4a7c15u) | 1;
	struct pair *set = pairs->pairs[digest >> 32 & (SETS - 1)], *idlest = set;

	for (unsigned way = 0; way < WAYS; way++) {
		if (set[way].digest == digest)
			return &set[way];
		if (set[way].used_ns < idlest->used_ns)
			idlest = &set[way];
	}
	*idlest = (struct pair){ .digest = digest };
	return idlest;
}

static unsigned side_of(const struct ft_flow_key *key)
{
	return memcmp(key->src, key->dst, sizeof key->src) > 0;
}

static uint64_t moment(struct pair *pair, uint64_t ts_ns)
{
	if (ts_ns > pair->used_ns)
		pair->used_ns = ts_ns;
	return pair->used_ns;
}

/*
 * A job that ends while its peers still write gets one error on each of its connections, each of which
 * carried much before. So a further error counts if it is on the same half-connection, which the
 * first one should have ended, or on one that carried next to nothing.
 */
uint32_t ft_suspect_pairs_refused(struct ft_suspect_pairs *pairs, const struct ft_flow *flow,
				  const struct ft_observed *observed, uint32_t half,
				  bool young_connection)
{
	struct pair *pair = pair_of(pairs, &flow->key, observed);
	struct side *side = &pair->sides[side_of(&flow->key)];
	uint64_t now_ns;

	if (observed->ts_ns == FT_TS_UNKNOWN)
		return 0;
	now_ns = moment(pair, observed->ts_ns);
	if (side->errors != 0 && half == side->error_half && observed->psn == side->error_psn)
		return 0; /* said again */
	if (side->errors == 0 || now_ns - side->errors_ns[0] > BURST_NS)
		side->errors = 0;
	else if (half != side->error_half && !young_connection)
		return 0;
	side->error_half = half;
	side->error_psn = observed->psn;
	side->errors++;
	if (side->errors >= BURST && now_ns - side->errors_ns[BURST - 2] > BURST_NS)
		side->errors = BURST - 1;
	memmove(side->errors_ns + 1, side->errors_ns,
		sizeof side->errors_ns - sizeof side->errors_ns[0]);
	side->errors_ns[0] = now_ns;
	return side->errors >= BURST ? side->errors : 0;
}

static void start_window(struct pair *pair, uint64_t now_ns)
{
	pair->window_ns = pair->turn_ns = now_ns;
	for (unsigned i = 0; i < 2; i++)
		pair->sides[i].waiting = pair->sides[i].due = pair->sides[i].begun = 0;
}

static void turn(struct pair *pair, uint64_t now_ns)
{
	if (now_ns - pair->window_ns > WINDOW_NS)
		start_window(pair, now_ns);
	if (now_ns - pair->turn_ns <= ANSWER_NS)
		return;
	pair->turn_ns = now_ns;
	for (unsigned i = 0; i < 2; i++) {
		pair->sides[i].due += pair->sides[i].waiting;
		pair->sides[i].waiting = 0;
	}
}

uint32_t ft_suspect_pairs_begun(struct ft_suspect_pairs *pairs, const struct ft_flow *flow,
				const struct ft_observed *observed, bool probe)
{
	struct pair *pair;
	struct side *side, *other;

	if (observed->ts_ns == FT_TS_UNKNOWN)
		return 0;
	pair = pair_of(pairs, &flow->key, observed);
	side = &pair->sides[side_of(&flow->key)];
	other = &pair->sides[!side_of(&flow->key)];
	turn(pair, moment(pair, observed->ts_ns));
	side->met = true;
	side->begun++;
	if (!probe)
		return 0;
	side->waiting++;
	if (side->due < (other->met ? SEARCH : SEARCH_UNSEEN) ||
	    other->begun * SEARCH_ANSWERED > side->due)
		return 0;
	return side->due + side->waiting;
}

void ft_suspect_pairs_used(struct ft_suspect_pairs *pairs, const struct ft_flow *flow,
			   const struct ft_observed *observed)
{
	struct pair *pair;
	struct side *side;
	uint32_t *counted;

	if (observed->ts_ns == FT_TS_UNKNOWN)
		return;
	pair = pair_of(pairs, &flow->key, observed);
	side = &pair->sides[side_of(&flow->key)];
	counted = flow->last_ns < pair->turn_ns ? &side->due : &side->waiting;
	if (flow->last_ns >= pair->window_ns && *counted != 0)
		--*counted;
}
