#include "group_shared_ports.h"

#include <decode/extremes.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "group_apart_rails.h"
#include "group_forest.h"

enum { RINGS_MOST = 4096 /* each compared with each that shows more ranks than ports */ };

/* A port that a set-up names the host of. */
struct port {
	struct ft_nccl_place host;
	uint32_t site;
};

/* What is known of all that hangs together. */
struct told {
	uint32_t ports; /* of its hosts */
	uint32_t ranks; /* that there are at least, as the highest one tells */
	uint32_t
		rails; /* ports of one of its jobs, as ranks on several rails add up; 0: they do not */
};

struct counter {
	struct ft_nccl_apart_finder *finder;
	struct told *of;    /* by component */
	struct port *ports; /* by host, each once */
	size_t port_count;
	uint32_t *of_host; /* by site: ports of its host; 0: no set-up names it */
};

uint32_t ft_nccl_ranks_shown(const struct ft_nccl_apart_finder *finder,
			     const struct ft_nccl_cluster *ring)
{
	uint32_t ranks = 0;

	for (size_t i = 0; i < ring->count; i++) {
		const uint32_t own = finder->input->ranks[ring->at[i]];

		if (own == FT_NCCL_NONE || (own != 0 && ranks != 0 && own != ranks))
			return 0;
		ranks = own != 0 ? own : ranks;
	}
	return ranks;
}

static bool is_rank_at(const struct ft_nccl_apart_finder *finder, uint32_t at)
{
	return ft_nccl_tag_is_rank(&finder->tags[at]) &&
	       !ft_nccl_tag_is_constant(finder->tags[at].tag);
}

/* How many ranks there are at least, as the highest one that sends tells. */
static uint32_t ranks_told(const struct ft_nccl_apart_finder *finder, uint32_t at)
{
	return is_rank_at(finder, at) ? (uint32_t)finder->tags[at].tag + 1 : 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct port *left = a, *right = b;
	const int order = memcmp(&left->host, &right->host, sizeof left->host);

	return order != 0 ? order : (left->site > right->site) - (left->site < right->site);
}

static void name(struct counter *counter, uint32_t site, const struct ft_nccl_place *host)
{
	struct port *port = &counter->ports[counter->port_count++];

	memset(port, 0, sizeof *port); /* compared as a whole */
	ft_nccl_copy_place(&port->host, host);
	port->site = site;
}

/* Ports that set-ups name the host of, each once, host by host. */
static void list_ports(struct counter *counter)
{
	const struct ft_nccl_apart_finder *finder = counter->finder;
	size_t kept = 0;

	for (size_t i = 0; i < finder->input->connection_count; i++) {
		const struct ft_nccl_connection *connection = finder->input->connections[i];

		if (!connection->has_tcp || finder->from[i] == FT_NCCL_NONE ||
		    finder->to[i] == FT_NCCL_NONE)
			continue;
		name(counter, finder->from[i], &connection->connecting);
		name(counter, finder->to[i], &connection->listening);
	}
	if (counter->port_count > 0)
		qsort(counter->ports, counter->port_count, sizeof *counter->ports, compare_names);
	for (size_t i = 0; i < counter->port_count; i++)
		if (kept == 0 || compare_names(&counter->ports[i], &counter->ports[kept - 1]) != 0)
			counter->ports[kept++] = counter->ports[i];
	counter->port_count = kept;
}

/* How many the host of each port has. */
static void count_ports(struct counter *counter)
{
	struct ft_nccl_sites *sites = &counter->finder->sites;

	for (size_t i = 0, end; i < counter->port_count; i = end) {
		for (end = i + 1; end < counter->port_count &&
				  memcmp(&counter->ports[i].host, &counter->ports[end].host,
					 sizeof counter->ports[i].host) == 0;)
			end++;
		for (size_t j = i; j < end; j++)
			counter->of_host[counter->ports[j].site] = (uint32_t)(end - i);
	}
	for (uint32_t i = 0; i < sites->count; i++)
		if (ft_nccl_root_of(sites->site, i) == i)
			counter->of[ft_nccl_component_of(sites, i)].ports +=
				ft_larger(counter->of_host[i], 1);
}

/* Of the job that it is of, as far as its rails or their hosts are known: it leads through each host once. */
static uint32_t ports_of(const struct counter *counter, const struct ft_nccl_cluster *ring)
{
	uint32_t ports = 0;

	for (size_t i = 0; i < ring->site_count; i++)
		ports += ft_larger(counter->of_host[ring->sites[i]], 1);
	return ft_larger(ports, counter->finder->input->ports[ring->at[0]]);
}

static void look_at_components(struct counter *counter)
{
	struct ft_nccl_apart_finder *finder = counter->finder;

	list_ports(counter);
	count_ports(counter);
	for (uint32_t i = 0; i < finder->input->connection_count; i++) {
		struct told *told;

		if (finder->from[i] == FT_NCCL_NONE)
			continue;
		told = &counter->of[ft_nccl_component_of(&finder->sites, finder->from[i])];
		told->ports = ft_larger(told->ports, finder->input->ports[i]);
		told->ranks = ft_larger(told->ranks, ranks_told(finder, i));
	}
}

static uint32_t highest_of(const struct ft_nccl_apart_finder *finder,
			   const struct ft_nccl_cluster *ring)
{
	uint32_t ranks = 0;

	for (size_t i = 0; i < ring->count; i++)
		ranks = ft_larger(ranks, ranks_told(finder, ring->at[i]));
	return ranks;
}

static bool have_common_site(const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b)
{
	for (size_t i = 0; i < a->site_count; i++)
		if (ft_nccl_cluster_has_site(b, a->sites[i]))
			return true;
	return false;
}

/*
 * Rings through as many other ports whose highest rank is another one of the job's last host: on rails beside this one, which
 * nothing else ties together. So many of `ranks`, with its own; 0: it has none of the last host.
 */
static uint32_t count_rails(const struct counter *counter, const struct ft_nccl_cluster *ring,
			    uint32_t ranks)
{
	const struct ft_nccl_apart_finder *finder = counter->finder;
	const uint32_t sites = (uint32_t)ring->site_count, each = (ranks + sites - 1) / sites;
	const uint32_t all = each * sites, own = all - highest_of(finder, ring);
	uint64_t found = 0;

	if (own >= each || each > 64 || finder->count > RINGS_MOST)
		return 0;
	for (size_t i = 0; i < finder->count; i++) {
		const struct ft_nccl_cluster *other = &finder->clusters[i];
		const uint32_t place = other->is_ring && other->site_count == sites
					       ? all - highest_of(finder, other)
					       : each;

		if (place < each && place != own && !have_common_site(ring, other))
			found |= UINT64_C(1) << place;
	}
	return (uint32_t)__builtin_popcountll(found) + 1;
}

static void look_at_rails(struct counter *counter)
{
	const struct ft_nccl_apart_finder *finder = counter->finder;

	for (size_t i = 0; i < finder->count; i++) {
		const struct ft_nccl_cluster *ring = &finder->clusters[i];
		struct told *told = &counter->of[ring->component];
		const uint32_t shown = ring->is_ring ? ft_nccl_ranks_shown(finder, ring) : 0;
		const uint32_t ranks = ft_larger(shown, told->ranks);

		if (ring->is_ring && ranks > ports_of(counter, ring))
			told->rails =
				ft_larger(told->rails, (uint32_t)ring->site_count *
							       count_rails(counter, ring, ranks));
	}
}

/* How many ranks a job has that share the ports of this ring; 0: nothing shows that any do. */
static uint32_t ranks_sharing(const struct counter *counter, const struct ft_nccl_cluster *ring)
{
	const struct told *told = &counter->of[ring->component];
	const uint32_t shown = ring->is_ring ? ft_nccl_ranks_shown(counter->finder, ring) : 0;
	const uint32_t ports = ft_larger(ports_of(counter, ring), told->rails);

	return ft_larger(shown > ports ? shown : 0,
			 told->ranks > ft_larger(told->ports, told->rails) ? told->ranks : 0);
}

static void tell(const struct ft_nccl_cluster *ring, uint32_t ranks, uint32_t *ranks_at)
{
	for (size_t i = 0; i < ring->site_count; i++)
		ranks_at[ring->sites[i]] = ft_larger(ranks_at[ring->sites[i]], ranks);
}

/*
 * On another rail of hosts whose ports are shared, as set-ups name them; and its ranks, if any are known, are its own, one for
 * each port, as those of several such rings can be. The job's tell them apart.
 */
static bool is_beside(const struct ft_nccl_apart_finder *finder, const struct ft_nccl_cluster *ring,
		      const struct ft_nccl_cluster *shared)
{
	return ring->component != shared->component &&
	       highest_of(finder, ring) <= ring->site_count &&
	       ft_nccl_clusters_are_named(finder, ring, shared) &&
	       ft_nccl_clusters_have_common_host(finder, ring, shared);
}

/* All rails of a host are shared if one is, though nothing may tie them together. */
static void tell_beside(const struct counter *counter, const struct ft_nccl_cluster *shared,
			uint32_t ranks, uint32_t *ranks_at)
{
	const struct ft_nccl_apart_finder *finder = counter->finder;

	for (size_t i = 0; i < finder->count && finder->count <= RINGS_MOST; i++)
		if (finder->clusters[i].is_ring && is_beside(finder, &finder->clusters[i], shared))
			tell(&finder->clusters[i], ranks, ranks_at);
}

static void find(struct counter *counter, uint32_t *ranks_at)
{
	const struct ft_nccl_apart_finder *finder = counter->finder;

	look_at_components(counter);
	look_at_rails(counter);
	for (size_t i = 0; i < finder->count; i++) {
		const struct ft_nccl_cluster *ring = &finder->clusters[i];
		const uint32_t ranks = ranks_sharing(counter, ring);

		tell(ring, ranks, ranks_at);
		if (ranks > 0)
			tell_beside(counter, ring, ranks, ranks_at);
	}
}

int ft_nccl_shared_ports_find(struct ft_nccl_apart_finder *finder, uint32_t *ranks_at)
{
	struct counter counter = {
		.finder = finder,
		.of = calloc(finder->sites.count + 1, sizeof *counter.of),
		.ports = calloc(2 * finder->input->connection_count + 1, sizeof *counter.ports),
		.of_host = calloc(finder->sites.count + 1, sizeof *counter.of_host),
	};
	const bool has_room =
		counter.of != NULL && counter.ports != NULL && counter.of_host != NULL;

	if (has_room)
		find(&counter, ranks_at);
	free(counter.of);
	free(counter.ports);
	free(counter.of_host);
	return has_room ? 0 : -ENOMEM;
}

bool ft_nccl_has_two_at_a_site(const struct ft_nccl_apart_finder *finder,
			       const struct ft_nccl_cluster *ring)
{
	uint32_t *rank_at =
		finder->cycle.next; /* room by site, which nobody else needs meanwhile */

	for (size_t i = 0; i < ring->site_count; i++)
		rank_at[ring->sites[i]] = UINT32_MAX;
	for (size_t i = 0; i < ring->count; i++) {
		const uint32_t at = ring->at[i], site = finder->from[at];
		const uint32_t rank = (uint32_t)finder->tags[at].tag;

		if (!is_rank_at(finder, at))
			continue;
		if (rank_at[site] != UINT32_MAX && rank_at[site] != rank)
			return true;
		rank_at[site] = rank;
	}
	return false;
}

/*
 * The ranks are the job's, since they are not just those from 0 on: at each site one process sends. Only those of several
 * communicators that number their own can look like one.
 */
static bool has_ranks_of_job(const struct ft_nccl_apart_finder *finder,
			     const struct ft_nccl_cluster *ring, uint32_t shown, uint32_t highest)
{
	for (size_t i = 0; i < ring->count; i++)
		if (!is_rank_at(finder, ring->at[i]))
			return false;
	return shown != 0 && highest > shown && !ft_nccl_has_two_at_a_site(finder, ring);
}

bool ft_nccl_ring_is_shared(const struct ft_nccl_apart_finder *finder, const uint32_t *ranks_at,
			    const struct ft_nccl_cluster *ring)
{
	const uint32_t shown = ft_nccl_ranks_shown(finder, ring);
	const uint32_t ranks = ft_larger(shown, highest_of(finder, ring));

	if (has_ranks_of_job(finder, ring, shown, ranks))
		return false;
	for (size_t i = 0; i < ring->site_count; i++)
		if (ranks_at[ring->sites[i]] > ranks)
			return true;
	return shown == ring->site_count && ft_nccl_has_two_at_a_site(finder, ring);
}
