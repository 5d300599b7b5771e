/* Between two addresses: bursts of remote access errors, and searches for queue pairs. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <capture/frame.h>

#include "suspects_parts.h"

enum {
	SETS = 1 << 13,
	WAYS = 4, /* 32768 address pairs at once; of a full set, the idlest makes room */
	BURST = 3,
	SEARCH = 32,         /* queue pairs within a second */
	SEARCH_UNSEEN = 512, /* likewise, if the other direction may not be mirrored at all */
	SEARCH_ANSWERED = 8, /* .. per half-connection that began the other way: not a search */
};

#define BURST_NS  UINT64_C(10000000000)
#define WINDOW_NS UINT64_C(1000000000)
#define ANSWER_NS UINT64_C(5000000) /* a first request unanswered for so long is counted */

/* Half-connections that one of the two addresses began, in this window; up to UINT16_MAX each. */
struct begun {
	uint16_t all;
	uint16_t waiting, due; /* with one request: young ones; older than ANSWER_NS */
	bool met;              /* in any window */
};

/* What they began: of the lower and the higher address. */
struct search {
	uint64_t window_ns, turn_ns;
	struct begun sides[2];
};
static_assert(sizeof(struct search) == 32, "with the line of its set, two cache lines");

/* The errors that one of the two sent. */
struct refusals {
	uint64_t ns[BURST - 1]; /* of the last ones, newest first */
	uint32_t half;          /* record number of the half-connection of the last one */
	uint32_t psn;
	uint32_t count; /* in the burst so far */
};

/* Seldom needed, so not reset with its pair. */
struct errors {
	uint64_t digest; /* of the pair they are about */
	struct refusals sides[2];
};

struct set {
	_Alignas(64) uint64_t digests[WAYS]; /* 0: free */
	uint64_t used_ns[WAYS];
	struct search searches[WAYS];
};

struct ft_suspect_pairs {
	struct set sets[SETS];
	struct errors errors[SETS][WAYS];
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

static uint64_t digest_of(const struct ft_flow *flow, const struct ft_observed *observed)
{
	return (observed->pair ^ (uint64_t)flow->key.vni * 0x9e3779b97f4a7c15u) | 1;
}

static unsigned set_of(uint64_t digest)
{
	return digest >> 32 & (SETS - 1);
}

/* Where the pair is, or is from now on. */
static unsigned way_of(struct set *set, uint64_t digest)
{
	unsigned idlest = 0;

	for (unsigned way = 0; way < WAYS; way++)
		if (set->digests[way] == digest)
			return way;
	for (unsigned way = 1; way < WAYS; way++)
		if (set->used_ns[way] < set->used_ns[idlest])
			idlest = way;
	set->digests[idlest] = digest;
	set->used_ns[idlest] = 0;
	set->searches[idlest] = (struct search){ 0 };
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

/* Times of a pair do not go back. */
static uint64_t use(struct set *set, unsigned way, uint64_t ts_ns)
{
	if (ts_ns > set->used_ns[way])
		set->used_ns[way] = ts_ns;
	return set->used_ns[way];
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
	uint64_t digest = digest_of(flow, observed), now_ns;
	struct set *set = &pairs->sets[set_of(digest)];
	unsigned way = way_of(set, digest);
	struct errors *errors = &pairs->errors[set_of(digest)][way];
	struct refusals *refusals = &errors->sides[side_of(&flow->key)];

	if (observed->ts_ns == FT_TS_UNKNOWN)
		return 0;
	if (errors->digest != digest)
		*errors = (struct errors){ .digest = digest };
	now_ns = use(set, way, observed->ts_ns);
	if (refusals->count != 0 && half == refusals->half && observed->psn == refusals->psn)
		return 0; /* said again */
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
	return refusals->count >= BURST ? refusals->count : 0;
}

static void add(uint16_t *count, uint16_t more)
{
	*count = (uint16_t)(*count > UINT16_MAX - more ? UINT16_MAX : *count + more);
}

/* A new window; or those that waited long enough are due. */
__attribute__((noinline)) static void turn(struct search *search, uint64_t now_ns)
{
	bool ended = now_ns - search->window_ns > WINDOW_NS;

	search->turn_ns = now_ns;
	if (ended)
		search->window_ns = now_ns;
	for (unsigned i = 0; i < 2; i++) {
		struct begun *side = &search->sides[i];

		if (ended)
			side->all = side->waiting = side->due = 0;
		add(&side->due, side->waiting);
		side->waiting = 0;
	}
}

uint32_t ft_suspect_pairs_begun(struct ft_suspect_pairs *pairs, const struct ft_flow *flow,
				const struct ft_observed *observed, bool probe)
{
	uint64_t digest = digest_of(flow, observed), now_ns;
	struct set *set = &pairs->sets[set_of(digest)];
	unsigned way, sender = side_of(&flow->key);
	struct begun *side, *other;

	if (observed->ts_ns == FT_TS_UNKNOWN)
		return 0;
	way = way_of(set, digest);
	side = &set->searches[way].sides[sender];
	other = &set->searches[way].sides[!sender];
	now_ns = use(set, way, observed->ts_ns);
	if (now_ns - set->searches[way].turn_ns > ANSWER_NS)
		turn(&set->searches[way], now_ns);
	side->met = true;
	add(&side->all, 1);
	if (!probe)
		return 0;
	add(&side->waiting, 1);
	if (side->due < (other->met ? SEARCH : SEARCH_UNSEEN) ||
	    other->all * SEARCH_ANSWERED > side->due)
		return 0;
	return (uint32_t)side->due + side->waiting;
}

void ft_suspect_pairs_used(struct ft_suspect_pairs *pairs, const struct ft_flow *flow,
			   const struct ft_observed *observed)
{
	uint64_t digest = digest_of(flow, observed);
	struct set *set = &pairs->sets[set_of(digest)];
	struct search *search;
	struct begun *side;
	uint16_t *counted;

	if (observed->ts_ns == FT_TS_UNKNOWN)
		return;
	search = &set->searches[way_of(set, digest)];
	side = &search->sides[side_of(&flow->key)];
	counted = flow->last_ns < search->turn_ns ? &side->due : &side->waiting;
	if (flow->last_ns >= search->window_ns && *counted != 0)
		--*counted;
}
