#include "pairs_search.h"

#include <limits.h>

#include "pairs.h"
#include "pairs_weight.h"

#define SILENT_NS UINT64_C(2000000000)

enum {
	SURE_BY_PORT = FT_EVIDENCE_PORT + FT_PAIR_LEAD, /* none with another port could equal it */
	CLOSE = 12,      /* bits that hardly any half agrees by unless they began together */
	EARLY = 1 << 18, /* PSNs below which they may have begun together, at 0 */
	WALK_FIRST = 16,
	SWEEP = 1024, /* silent ones taken out on one walk; each was put in by a packet of its own */
};

struct contender {
	uint32_t number;
	int bits, second; /* the best and the next best */
};

struct search {
	struct ft_pair_question question;
	struct ft_groups *groups;
	unsigned left;                 /* halves that may yet be looked at */
	bool complete;                 /* all were */
	unsigned rivals;               /* halves of the same direction and port */
	unsigned sharing;              /* halves that face this one, with its port */
	unsigned facing, fellows;      /* of its service: against it, and beside it */
	struct contender same, unlike; /* with its port, and with another or none */
};

static struct search search_for(struct ft_groups *groups, const struct ft_pair_question *question)
{
	unsigned walk = (unsigned)WALK_FIRST << question->own->level;

	return (struct search){
		.question = *question,
		.groups = groups,
		.left = walk < FT_PAIRS_WALK ? walk : FT_PAIRS_WALK,
		.complete = true,
		.same = { .bits = INT_MIN, .second = INT_MIN },
		.unlike = { .bits = INT_MIN, .second = INT_MIN },
	};
}

static void contend(struct contender *contender, uint32_t number, int bits)
{
	if (bits > contender->bits) {
		contender->second = contender->bits;
		contender->bits = bits;
		contender->number = number;
	} else if (bits > contender->second) {
		contender->second = bits;
	}
}

static void consider(struct search *search, const struct ft_flow *candidate, uint32_t number,
		     uint16_t port, bool faces)
{
	const struct ft_pair_question *question = &search->question;
	bool same = question->port != 0 && port == question->port;
	bool like = candidate->half.service == question->flow->half.service;

	if (candidate == question->flow)
		return;
	search->facing += faces && like;
	search->fellows += !faces && like;
	if (faces) {
		search->sharing += same;
		contend(same ? &search->same : &search->unlike, number,
			ft_pair_weight(question, candidate, port));
	} else {
		search->rivals += port == question->port;
	}
}

/* Not the end of a list in either direction. */
static bool is_record(uint32_t number)
{
	return number != 0 && (number & FT_MEMBER_FIRST) == 0;
}

/* A group to walk: the halves that share the source port of the search, or those that face it without. */
static bool is_of(enum ft_place place, const struct search *search,
		  const struct ft_group_member *member)
{
	return member->place == place &&
	       (place != FT_PLACE_PORT || member->port == search->question.own->port);
}

/*
 * Consider a half and those behind it, towards the older or the newer end of their bucket. Those of
 * other groups, which the bucket's hash put there, are not counted as looked at.
 */
static void walk(struct search *search, uint32_t from, bool newer, enum ft_place place)
{
	const struct ft_flow *flow = search->question.flow;
	unsigned sweep = SWEEP;
	uint32_t following;

	for (uint32_t number = from; is_record(number); number = following) {
		const struct ft_group_member *member = ft_groups_at(search->groups, number);
		struct ft_flow *candidate = ft_groups_flow(search->groups, number);
		unsigned *left = &search->left;
		bool faces;

		following = newer ? member->prev : member->next;
		if (!is_of(place, search, member))
			continue;
		faces = ft_pair_faces(flow, candidate);
		if (!faces && (place != FT_PLACE_PORT || !ft_pair_goes_with(flow, candidate)))
			continue;
		if (candidate->last_ns < search->question.silent_ns && candidate != flow)
			left = &sweep;
		if (*left == 0) {
			search->complete = false;
			return;
		}
		--*left;
		if (left == &sweep)
			ft_groups_part(search->groups, candidate, FT_PLACE_DORMANT);
		else
			consider(search, candidate, number, member->port, faces);
	}
}

/* All that share its source port. A half in that group is a way into its list. */
static void walk_port(struct search *search)
{
	const struct ft_group_member *own = search->question.own;

	if (own->port == 0)
		return;
	if (own->place != FT_PLACE_PORT) {
		walk(search,
		     ft_groups_of_port(search->groups, &search->question.flow->key, own->port),
		     false, FT_PLACE_PORT);
		return;
	}
	walk(search, own->next, false, FT_PLACE_PORT);
	if (is_record(own->prev))
		walk(search, own->prev, true, FT_PLACE_PORT);
}

static int larger(int a, int b)
{
	return a > b ? a : b;
}

static bool is_named_by_port(const struct search *search, uint32_t number)
{
	const struct ft_flow *candidate = ft_groups_flow(search->groups, number);
	uint16_t port = ft_groups_at(search->groups, number)->port;

	return ft_pair_names(&search->question, candidate, port) ||
	       ft_pair_fits_both(&search->question, candidate, port);
}

static bool is_fellow(const struct search *search, const struct ft_group_member *member,
		      const struct ft_flow *other)
{
	const struct ft_flow *flow = search->question.flow;

	return member->place == FT_PLACE_WAY && other != flow &&
	       other->half.service == flow->half.service &&
	       other->last_ns >= search->question.silent_ns && ft_pair_goes_with(flow, other);
}

/*
 * Count the halves beside this one that look among all ports. Returns how well the candidate fits the
 * one of them that it fits best.
 */
static int walk_fellows(struct search *search, uint32_t candidate)
{
	const struct ft_half *half = &ft_groups_flow(search->groups, candidate)->half;
	struct ft_flow_key back = ft_flow_key_turned(&search->question.flow->key);
	uint32_t number = ft_groups_facing(search->groups, &back);
	unsigned left = FT_PAIRS_WALK;
	int best = 0;

	for (; number != 0 && left != 0; left--) {
		const struct ft_group_member *member = ft_groups_at(search->groups, number);
		const struct ft_flow *other = ft_groups_flow(search->groups, number);

		number = member->next;
		if (!is_fellow(search, member, other))
			continue;
		search->fellows++;
		if (other->half.answered != FT_PSN_NONE)
			best = larger(best, ft_pair_evidence(half, other->half.answered));
	}
	search->complete &= number == 0;
	return best;
}

/*
 * Whether the likeliest may only be in step with the one that asked, which is not in view. Connections
 * that began at one PSN and move alike agree without belonging together: then a lead over those in view
 * counts only while as many halves are in view each way.
 */
static bool may_be_hidden(struct search *search, uint32_t likeliest, int second)
{
	int best;

	if (is_named_by_port(search, likeliest))
		return false;
	best = larger(second, walk_fellows(search, likeliest));
	return (search->question.psn < EARLY || best >= CLOSE) &&
	       (!search->complete || search->facing != search->fellows + 1);
}

/* What the best of one kind leads by, given the best of the other kind. */
static struct ft_find lead_of(struct search *search, const struct contender *contender, int others)
{
	int second = larger(0, larger(contender->second, others));

	return (struct ft_find){
		.number = contender->number,
		.lead = contender->bits - second,
		.hidden = contender->bits > second &&
			  may_be_hidden(search, contender->number, second),
	};
}

/* Among all there are. */
__attribute__((noinline)) static struct ft_find find_among_all(
	struct ft_groups *groups, const struct ft_pair_question *question)
{
	struct search search = search_for(groups, question);
	const struct ft_flow_key *key = &question->flow->key;
	struct ft_find find = { 0 };
	bool alone;

	walk_port(&search);
	search.question.alone = search.complete && search.sharing == 0;
	if (search.same.bits < SURE_BY_PORT && *ft_groups_ways(groups, key) != 0)
		walk(&search, ft_groups_facing(groups, key), false, FT_PLACE_WAY);
	alone = search.complete && search.sharing == 0;
	if (search.complete && search.same.bits > search.unlike.bits)
		find = lead_of(&search, &search.same, search.unlike.bits);
	else if (search.complete && search.unlike.bits > search.same.bits)
		find = lead_of(&search, &search.unlike, search.same.bits);
	find.alone = alone;
	find.fits = !search.complete || larger(search.same.bits, search.unlike.bits) > 0;
	return find;
}

bool ft_is_looked_for(struct ft_groups *groups, const struct ft_flow *flow)
{
	unsigned left = WALK_FIRST;

	if (*ft_groups_ways(groups, &flow->key) == 0)
		return false;
	for (uint32_t number = ft_groups_facing(groups, &flow->key); number != 0 && left != 0;
	     number = ft_groups_at(groups, number)->next, left--) {
		const struct ft_flow *other = ft_groups_flow(groups, number);

		if (ft_groups_at(groups, number)->place == FT_PLACE_WAY &&
		    ft_pair_faces(flow, other))
			return true;
	}
	return false;
}

/* The record number of the half beside which there is no other that could be taken; 0: not so simple. */
static inline uint32_t only_one(struct ft_groups *groups, const struct ft_pair_question *question)
{
	const struct ft_group_member *own = question->own, *other;
	const struct ft_flow *candidate;

	if (own->place != FT_PLACE_PORT || own->next == 0 || (own->prev & FT_MEMBER_FIRST) == 0)
		return 0;
	other = ft_groups_at(groups, own->next);
	candidate = ft_groups_flow(groups, own->next);
	return other->next == 0 && other->place == FT_PLACE_PORT && other->port == own->port &&
			       ft_pair_faces(question->flow, candidate) &&
			       candidate->last_ns >= question->silent_ns &&
			       *ft_groups_ways(groups, &candidate->key) == 0
		       ? own->next
		       : 0;
}

struct ft_find ft_find_asker(struct ft_groups *groups, const struct ft_flow *flow,
			     const struct ft_observed *answer)
{
	struct ft_pair_question question = ft_pair_question(groups, flow);
	uint32_t number;
	int bits;

	question.psn = answer->psn;
	if (answer->ts_ns != UINT64_MAX && answer->ts_ns > SILENT_NS)
		question.silent_ns = answer->ts_ns - SILENT_NS;
	number = only_one(groups, &question);
	if (number == 0)
		return find_among_all(groups, &question);
	bits = ft_pair_weight(&question, ft_groups_flow(groups, number), question.own->port);
	return (struct ft_find){ .number = number, .lead = bits, .fits = bits > 0 };
}

struct ft_flow *ft_find_alone_with_port(struct ft_groups *groups, const struct ft_flow *flow)
{
	const struct ft_pair_question question = ft_pair_question(groups, flow);
	struct search search = search_for(groups, &question);
	struct ft_flow *other;

	if (question.port == 0)
		return NULL;
	walk_port(&search);
	if (!search.complete || search.sharing != 1 || search.rivals != 0)
		return NULL;
	other = ft_groups_flow(groups, search.same.number);
	return other->half.service == flow->half.service ? other : NULL;
}
