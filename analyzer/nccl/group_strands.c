#include "group_strands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "group_shared_ports.h"
#include "group_waits.h"
#include "operation_steps.h"

enum { WAYS_MOST = 64 /* around one cluster, each compared with each */ };

struct parter {
	struct ft_nccl_apart_finder *finder;
	uint32_t *ranks_at;               /* by site: as ft_nccl_shared_ports_find() fills it */
	uint32_t *place;                  /* by site: its place on the way around */
	uint32_t *room;                   /* for the places of connections */
	struct ft_nccl_cluster *clusters; /* those that it makes */
	size_t count;
	uint32_t sets;
	/* connections to a site, and from there: what comes in over the one may be sent on over the other */
	bool may_wait[WAYS_MOST][WAYS_MOST];
};

/* Those around one cluster. */
struct ways {
	struct ft_nccl_cluster ring;
	uint32_t *at; /* connections of slices: those of the first site, of the next one .. */
	size_t each;  /* of a site */
};

static void place_sites(struct parter *parter, const struct ft_nccl_cluster *ring)
{
	struct ft_nccl_cycle *cycle = &parter->finder->cycle;
	uint32_t site = ring->sites[0];

	ft_nccl_clusters_go_around(parter->finder, ring);
	for (uint32_t i = 0; i < ring->site_count; i++) {
		parter->place[site] = i;
		site = cycle->next[site];
	}
}

static int compare_ways(const void *a, const void *b, void *context)
{
	const struct parter *parter = context;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	const bool one = ft_nccl_has_slice(&parter->finder->input->tracks[left]);
	const bool other = ft_nccl_has_slice(&parter->finder->input->tracks[right]);
	const uint32_t first = parter->place[parter->finder->from[left]];
	const uint32_t second = parter->place[parter->finder->from[right]];

	if (one != other)
		return one ? -1 : 1;
	if (first != second)
		return first < second ? -1 : 1;
	return (left > right) - (left < right);
}

/* False: not as many from each site. */
static bool list_ways(struct parter *parter, const struct ft_nccl_cluster *ring, struct ways *ways)
{
	const struct ft_nccl_apart_finder *finder = parter->finder;
	size_t count = 0;

	ways->ring = *ring;
	ways->at = finder->order + (ring->at - finder->order); /* not const */
	place_sites(parter, ring);
	qsort_r(ways->at, ring->count, sizeof *ways->at, compare_ways, parter);
	while (count < ring->count && ft_nccl_has_slice(&finder->input->tracks[ways->at[count]]))
		count++;
	ways->each = count / ring->site_count;
	if (ways->each * ring->site_count != count)
		return false;
	for (size_t i = 0; ways->each > 0 && i < count; i++)
		if (parter->place[finder->from[ways->at[i]]] != i / ways->each)
			return false;
	return true;
}

/*
 * The only one left that what comes in on connection `i` may be sent on over, or, of one that goes out, may come from; `each`:
 * none is, or several.
 */
static size_t find_only(const struct parter *parter, const struct ways *ways, size_t i, bool out)
{
	size_t found = ways->each;

	for (size_t j = 0; j < ways->each; j++) {
		if (!(out ? parter->may_wait[j][i] : parter->may_wait[i][j]))
			continue;
		if (found < ways->each)
			return ways->each;
		found = j;
	}
	return found;
}

static void settle(struct parter *parter, const struct ways *ways, size_t in, size_t out)
{
	for (size_t i = 0; i < ways->each; i++)
		parter->may_wait[in][i] = parter->may_wait[i][out] = false;
}

/*
 * next[in] is where each goes on; false: there are several ways to join them, or none. As long as there is one alone, some
 * connection has no choice.
 */
static bool join_at_site(struct parter *parter, const struct ways *ways, size_t *next)
{
	size_t left = ways->each;
	bool found = true;

	while (left > 0 && found) {
		found = false;
		for (size_t i = 0; i < 2 * ways->each && !found; i++) {
			const bool out = i >= ways->each;
			const size_t one = out ? i - ways->each : i;
			const size_t other = find_only(parter, ways, one, out);

			if (other == ways->each)
				continue;
			next[out ? other : one] = out ? one : other;
			settle(parter, ways, out ? other : one, out ? one : other);
			found = true;
			left--;
		}
	}
	return left == 0;
}

/*
 * Puts those of each site into the order of those of the site before, which they wait for; false: nothing tells all of them
 * apart.
 */
static bool sort_ways(struct parter *parter, const struct ways *ways)
{
	const size_t sites = ways->ring.site_count, each = ways->each;
	size_t next[WAYS_MOST];

	for (size_t i = 0; i < sites; i++) {
		const uint32_t *before = ways->at + i * each;
		uint32_t *behind = ways->at + (i + 1) % sites * each;

		for (size_t j = 0; j < each * each; j++)
			parter->may_wait[j / each][j % each] = ft_nccl_may_wait_for(
				parter->finder, &ways->ring, before[j / each], behind[j % each]);
		if (!join_at_site(parter, ways, next))
			return false;
		for (size_t j = 0; j < each; j++)
			parter->room[j] = behind[next[j]];
		if (i + 1 == sites && memcmp(parter->room, behind, each * sizeof *behind) != 0)
			return false;
		memcpy(behind, parter->room, each * sizeof *behind);
	}
	return true;
}

static void add(struct parter *parter, const struct ft_nccl_cluster *cluster)
{
	parter->clusters[parter->count++] = *cluster;
}

/* Each way is a ring of its own; what takes no slices is none. */
static void add_ways(struct parter *parter, const struct ways *ways)
{
	const size_t sites = ways->ring.site_count, in_ways = ways->each * sites;
	struct ft_nccl_cluster own = ways->ring;

	memcpy(parter->room, ways->at, in_ways * sizeof *parter->room);
	for (size_t i = 0; i < ways->each; i++)
		for (size_t j = 0; j < sites; j++)
			ways->at[i * sites + j] = parter->room[j * ways->each + i];
	own.count = sites;
	own.has_slices = true;
	for (size_t i = 0; i < ways->each; i++) {
		own.at = ways->at + i * sites;
		add(parter, &own);
	}
	own.at = ways->at + in_ways;
	own.count = ways->ring.count - in_ways;
	own.is_ring = own.shared = own.has_slices = false;
	if (own.count > 0)
		add(parter, &own);
}

static void part(struct parter *parter, struct ft_nccl_cluster *cluster)
{
	struct ways ways;

	if (!cluster->is_ring ||
	    !ft_nccl_ring_is_shared(parter->finder, parter->ranks_at, cluster)) {
		add(parter, cluster);
		return;
	}
	cluster->shared = true;
	cluster->set = ++parter->sets;
	cluster->named = ft_nccl_has_two_at_a_site(parter->finder, cluster);
	if (list_ways(parter, cluster, &ways) &&
	    (ways.each == 1 || (ways.each <= WAYS_MOST && sort_ways(parter, &ways)))) {
		add_ways(parter, &ways);
		return;
	}
	cluster->tangled = true;
	add(parter, cluster);
}

static void part_all(struct parter *parter)
{
	struct ft_nccl_apart_finder *finder = parter->finder;

	for (size_t i = 0; i < finder->count; i++)
		part(parter, &finder->clusters[i]);
	memcpy(finder->clusters, parter->clusters, parter->count * sizeof *parter->clusters);
	finder->count = parter->count;
}

int ft_nccl_strands_part(struct ft_nccl_apart_finder *finder)
{
	const size_t connections = finder->input->connection_count;
	struct parter parter = {
		.finder = finder,
		.ranks_at = calloc(finder->sites.count + 1, sizeof *parter.ranks_at),
		.place = calloc(finder->sites.count + 1, sizeof *parter.place),
		.room = calloc(connections + 1, sizeof *parter.room),
		.clusters = calloc(connections + 1, sizeof *parter.clusters),
	};
	int error = -ENOMEM;

	if (parter.ranks_at != NULL && parter.place != NULL && parter.room != NULL &&
	    parter.clusters != NULL)
		error = ft_nccl_shared_ports_find(finder, parter.ranks_at);
	if (error == 0)
		part_all(&parter);
	free(parter.ranks_at);
	free(parter.place);
	free(parter.room);
	free(parter.clusters);
	return error;
}
