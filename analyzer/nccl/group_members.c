#include "group_members_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "group_forest.h"

/* Sites without a rank are somebody too. `seen`: connection i's sender is 2 i, its receiver 2 i + 1. */
static void add_stranger(struct ft_nccl_members_finder *finder, size_t seen,
			 const struct ft_nccl_party *party)
{
	const uint32_t site = ft_nccl_site_of(&finder->sites, seen / 2, party);

	if (site == FT_NCCL_NONE || finder->ranks_at[site] > 0)
		return;
	finder->ranks_at[site] = 1;
	finder->persons[finder->person_count++] =
		(struct ft_nccl_claim){ .component = ft_nccl_members_component(finder, site),
					.site = site,
					.seen = (uint32_t)seen };
}

static size_t person_of_rank(const struct ft_nccl_members_finder *finder, uint32_t component,
			     int32_t rank)
{
	size_t low = 0, high = finder->person_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct ft_nccl_claim *at = &finder->persons[middle];

		if (at->component < component ||
		    (at->component == component && at->has_rank && at->rank < rank))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_person(const struct ft_nccl_members_finder *finder, size_t at, uint32_t component,
		      int32_t rank)
{
	return at < finder->person_count && finder->persons[at].has_rank &&
	       finder->persons[at].component == component && finder->persons[at].rank == rank;
}

static void settle_sites(struct ft_nccl_members_finder *finder)
{
	for (size_t i = 0; i < finder->connection_count; i++) {
		add_stranger(finder, 2 * i, &finder->connections[i]->sender);
		add_stranger(finder, 2 * i + 1, &finder->connections[i]->receiver);
	}
	if (finder->person_count > 0)
		qsort(finder->persons, finder->person_count, sizeof *finder->persons,
		      ft_nccl_claims_compare);
	for (size_t i = 0; i < finder->person_count; i++)
		if (!finder->persons[i].has_rank)
			finder->member_at[finder->persons[i].site] = (uint32_t)i;
	for (size_t i = 0; i < finder->claim_count; i++) {
		const struct ft_nccl_claim *claim = &finder->claims[i];

		if (finder->ranks_at[claim->site] == 1)
			finder->member_at[claim->site] =
				(uint32_t)person_of_rank(finder, claim->component, claim->rank);
	}
}

static uint32_t sender_of(struct ft_nccl_members_finder *finder, size_t connection)
{
	const struct ft_nccl_tag *tag = &finder->tags[connection];
	const uint32_t component = finder->members->of[connection];
	const uint32_t site = ft_nccl_site_of(&finder->sites, connection,
					      &finder->connections[connection]->sender);

	if (site == FT_NCCL_NONE)
		return FT_NCCL_NONE;
	if (ft_nccl_tag_is_rank(tag)) {
		const size_t person = person_of_rank(finder, component, tag->tag);
		if (is_person(finder, person, component, tag->tag)) {
			finder->members->named[connection] = true;
			return (uint32_t)person;
		}
	}
	return finder->member_at[site];
}

static uint32_t receiver_of(struct ft_nccl_members_finder *finder, size_t connection)
{
	const uint32_t site = ft_nccl_site_of(&finder->sites, connection,
					      &finder->connections[connection]->receiver);

	return site == FT_NCCL_NONE ? FT_NCCL_NONE : finder->member_at[site];
}

static void add_place(struct ft_nccl_member *member, const struct ft_nccl_place *place,
		      uint32_t tied)
{
	for (size_t i = 0; i < member->place_count; i++)
		if (memcmp(member->places[i].address, place->address, sizeof place->address) == 0 &&
		    member->places[i].by_lid == place->by_lid)
			return;
	if (member->place_count == FT_NCCL_DEVICES_MAX)
		return;
	member->tied[member->place_count] = tied;
	member->places[member->place_count++] = *place;
}

static void join(struct ft_nccl_members_finder *finder, size_t connection,
		 struct ft_nccl_party *party, uint32_t person)
{
	const uint32_t site = ft_nccl_site_of(&finder->sites, connection, party);
	struct ft_nccl_member *member;

	party->has_rank = person != FT_NCCL_NONE && finder->persons[person].has_rank;
	party->rank = party->has_rank ? finder->persons[person].rank : 0;
	if (person == FT_NCCL_NONE)
		return;
	member = &finder->members->at[person];
	member->has_rank = party->has_rank;
	member->rank = party->rank;
	finder->members->component[person] = finder->persons[person].component;
	for (size_t i = 0; i < party->place_count; i++)
		add_place(member, &party->places[i], finder->before[site]);
}

/* Its one clear-to-send has the tag of another one: that may be of somebody else whom it serves, too, or the sender's. */
static bool is_contradicted(const struct ft_nccl_members_finder *finder, size_t connection)
{
	const struct ft_nccl_tag *tag = &finder->tags[connection];

	return !finder->members->named[connection] && tag->tagged > 0 && !tag->mixed &&
	       tag->tag != finder->connections[connection]->sender.rank;
}

/* Each communicator numbers its own: what it is sent with is its rank in that, though none here. */
static void name_by_tag(struct ft_nccl_members_finder *finder, size_t connection)
{
	const struct ft_nccl_tag *tag = &finder->tags[connection];
	struct ft_nccl_party *sender = &finder->connections[connection]->sender;

	if (!(finder->apart->renumbered[connection] || finder->members->parted[connection]) ||
	    !ft_nccl_tag_is_rank(tag) || ft_nccl_tag_is_constant(tag->tag))
		return;
	sender->has_rank = true;
	sender->rank = tag->tag;
}

static void join_all(struct ft_nccl_members_finder *finder)
{
	struct ft_nccl_members *members = finder->members;

	members->count = finder->person_count;
	for (size_t i = 0; i < finder->connection_count; i++) {
		members->sender[i] = sender_of(finder, i);
		members->receiver[i] = receiver_of(finder, i);
		join(finder, i, &finder->connections[i]->sender, members->sender[i]);
		if (is_contradicted(finder, i))
			finder->connections[i]->sender.has_rank = false;
		name_by_tag(finder, i);
		join(finder, i, &finder->connections[i]->receiver, members->receiver[i]);
	}
}

/* `joined` has numbers below that of connections. */
static int unite_joined(struct ft_nccl_members_finder *finder, const uint32_t *joined)
{
	uint32_t *first = malloc((finder->connection_count + 1) * sizeof *first);

	if (first == NULL)
		return -ENOMEM;
	memset(first, 0xff, finder->connection_count * sizeof *first); /* FT_NCCL_NONE */
	for (size_t i = 0; i < finder->connection_count; i++) {
		const uint32_t site =
			ft_nccl_site_of(&finder->sites, i, &finder->connections[i]->sender);

		if (joined[i] == FT_NCCL_NONE || site == FT_NCCL_NONE)
			continue;
		if (first[joined[i]] == FT_NCCL_NONE)
			first[joined[i]] = site;
		ft_nccl_unite(finder->sites.component, first[joined[i]], site);
	}
	free(first);
	return 0;
}

/* Fills `before`. */
static int find_rails(struct ft_nccl_members_finder *finder, const uint32_t *joined,
		      uint32_t *before)
{
	struct ft_nccl_sites *sites = &finder->sites;
	int error = before != NULL ? 0 : -ENOMEM;

	for (uint32_t i = 0; error == 0 && i < sites->count; i++)
		before[i] = ft_nccl_component_of(sites, i);
	finder->before = before;
	if (error == 0 && joined != NULL)
		error = unite_joined(finder, joined);
	if (error == 0)
		error = ft_nccl_rails_find(&finder->members->rails, sites, before,
					   finder->connections, finder->connection_count);
	return error;
}

static int reserve(struct ft_nccl_members_finder *finder, size_t connections)
{
	struct ft_nccl_members *members = finder->members;
	const size_t persons = 3 * connections + 1;

	members->at = calloc(persons, sizeof *members->at);
	members->component = calloc(persons, sizeof *members->component);
	members->sender = calloc(connections + 1, sizeof *members->sender);
	members->receiver = calloc(connections + 1, sizeof *members->receiver);
	members->named = calloc(connections + 1, sizeof *members->named);
	members->parted = calloc(connections + 1, sizeof *members->parted);
	members->of = malloc((connections + 1) * sizeof *members->of);
	finder->claims = calloc(connections + 1, sizeof *finder->claims);
	finder->persons = calloc(persons, sizeof *finder->persons);
	finder->ranks_at = calloc(finder->sites.count + 1, sizeof *finder->ranks_at);
	finder->claims_at = calloc(finder->sites.count + 1, sizeof *finder->claims_at);
	finder->varied = calloc(finder->sites.count + 1, sizeof *finder->varied);
	finder->renumbered = calloc(finder->sites.count + 1, sizeof *finder->renumbered);
	finder->member_at = malloc((finder->sites.count + 1) * sizeof *finder->member_at);
	finder->numbers = malloc((finder->sites.count + 1) * sizeof *finder->numbers);
	if (members->at == NULL || members->component == NULL || members->sender == NULL ||
	    members->receiver == NULL || members->named == NULL || members->parted == NULL ||
	    members->of == NULL || finder->claims_at == NULL || finder->claims == NULL ||
	    finder->persons == NULL || finder->ranks_at == NULL || finder->renumbered == NULL ||
	    finder->varied == NULL || finder->member_at == NULL || finder->numbers == NULL)
		return -ENOMEM;
	/* FT_NCCL_NONE is all bits set */
	memset(members->of, 0xff, connections * sizeof *members->of);
	memset(finder->member_at, 0xff, finder->sites.count * sizeof *finder->member_at);
	memset(finder->numbers, 0xff, finder->sites.count * sizeof *finder->numbers);
	return 0;
}

int ft_nccl_members_find(struct ft_nccl_members *members, struct ft_nccl_connection **connections,
			 size_t connection_count, const struct ft_nccl_apart *apart,
			 const uint32_t *joined, const struct ft_nccl_tag *tags)
{
	struct ft_nccl_members_finder finder = { .members = members,
						 .connections = connections,
						 .apart = apart,
						 .tags = tags,
						 .connection_count = connection_count };
	int error = ft_nccl_sites_find(&finder.sites, connections, connection_count, apart->life,
				       apart->part);
	uint32_t *before = malloc((finder.sites.count + 1) * sizeof *before);

	if (error == 0)
		error = find_rails(&finder, joined, before);
	if (error == 0)
		error = reserve(&finder, connection_count);
	if (error == 0) {
		ft_nccl_members_settle_ranks(&finder);
		settle_sites(&finder);
		join_all(&finder);
	}
	ft_nccl_sites_free(&finder.sites);
	free(before);
	free(finder.numbers);
	free(finder.ranks_at);
	free(finder.claims_at);
	free(finder.renumbered);
	free(finder.varied);
	free(finder.member_at);
	free(finder.claims);
	free(finder.persons);
	return error;
}

void ft_nccl_members_free(struct ft_nccl_members *members)
{
	free(members->at);
	free(members->component);
	free(members->sender);
	free(members->receiver);
	free(members->named);
	free(members->parted);
	free(members->of);
	ft_nccl_rails_free(&members->rails);
	*members = (struct ft_nccl_members){ 0 };
}

static bool share_place(const struct ft_nccl_member *a, const struct ft_nccl_member *b)
{
	for (size_t i = 0; i < a->place_count; i++)
		for (size_t j = 0; j < b->place_count; j++)
			if (ft_nccl_is_same_place(&a->places[i], &b->places[j]))
				return true;
	return false;
}

bool ft_nccl_members_may_be_several(const struct ft_nccl_member *member, size_t count)
{
	size_t known = 0;
	bool gapless = true;

	while (known < count && member[known].has_rank)
		known++;
	for (size_t i = 0; i < known; i++) {
		if (i > 0 && share_place(&member[i - 1], &member[i]))
			return true;
		gapless &= member[i].rank == (int32_t)i;
	}
	return known > 0 && (known < count || !gapless);
}
