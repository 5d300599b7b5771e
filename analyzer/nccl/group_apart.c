#include "group_apart_pairs.h"

#include <errno.h>
#include <stdlib.h>

#include "group_apart_others.h"
#include "group_apart_rails.h"
#include "group_lives.h"
#include "group_strands.h"
#include "operation_steps.h"

/* They lead the same way, or are as busy as each other on what may be rails of the same hosts. */
static bool are_alike(const struct ft_nccl_apart_finder *finder, const struct ft_nccl_cluster *a,
		      const struct ft_nccl_cluster *b)
{
	return ft_nccl_clusters_common(a, b) > 0 ||
	       ft_nccl_rhythms_agree(ft_nccl_cluster_rhythm(finder, a),
				     ft_nccl_cluster_rhythm(finder, b));
}

static bool can_be_one(const struct ft_nccl_apart_finder *finder, const struct ft_nccl_cluster *a,
		       const struct ft_nccl_cluster *b)
{
	return ft_nccl_rings_can_be_one(finder, a, b) &&
	       (ft_nccl_clusters_common(a, b) > 0 ? !ft_nccl_rings_exclude_each_other(finder, a, b)
						  : ft_nccl_rings_can_be_rails(finder, a, b));
}

/* A ring can be of the communicator that these rings have, and is as busy as one of them, or leads the same way. */
static bool is_ring_of(const struct ft_nccl_apart_finder *finder,
		       const struct ft_nccl_cluster *ring, size_t begin, size_t end, uint32_t part)
{
	bool alike = false;

	for (size_t i = begin; i < end; i++) {
		const struct ft_nccl_cluster *other = &finder->clusters[i];

		if (!other->is_ring || other->part != part)
			continue;
		if (!can_be_one(finder, ring, other))
			return false;
		alike |= are_alike(finder, ring, other);
	}
	return alike;
}

static void part_rings(struct ft_nccl_apart_finder *finder, size_t begin, size_t rings)
{
	const uint32_t first = finder->parts + 1;

	for (size_t i = begin; i < rings; i++) {
		struct ft_nccl_cluster *ring = &finder->clusters[i];

		for (uint32_t part = first; part <= finder->parts; part++)
			if (is_ring_of(finder, ring, begin, i, part)) {
				ring->part = part;
				break;
			}
		if (ring->part == 0)
			ring->part = ++finder->parts;
	}
}

static void find_alone(struct ft_nccl_apart_finder *finder, size_t begin, size_t rings)
{
	for (size_t i = begin; i < rings; i++) {
		struct ft_nccl_cluster *ring = &finder->clusters[i];

		ring->alone |= ring->tangled;
		for (size_t j = begin; ring->shared && !ring->alone && j < rings; j++) {
			const struct ft_nccl_cluster *other = &finder->clusters[j];

			ring->alone = other->shared && other->part != ring->part &&
				      ft_nccl_clusters_common(ring, other) > 0 &&
				      !ft_nccl_rings_exclude_each_other(finder, ring, other);
		}
	}
}

/* No ring is in view all around; but parts of some are, and some of these are of two communicators. */
static bool are_several(const struct ft_nccl_apart_finder *finder, size_t begin, size_t end)
{
	bool asked;

	for (size_t i = begin; i < end; i++)
		for (size_t j = i + 1; finder->clusters[i].has_slices && j < end; j++)
			if (finder->clusters[j].has_slices &&
			    (ft_nccl_clusters_take_turns_beside(finder, &finder->clusters[i],
								&finder->clusters[j], &asked) ||
			     ft_nccl_clusters_clash(finder, &finder->clusters[i],
						    &finder->clusters[j])))
				return true;
	return false;
}

/* Nobody knows what else is of which. */
static void tangle(struct ft_nccl_apart_finder *finder, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		finder->clusters[i].tangled = finder->clusters[i].alone = true;
}

/* Those of one component stand in the order of their connections. */
static int compare_clusters(const void *a, const void *b)
{
	const struct ft_nccl_cluster *left = a, *right = b;

	if (left->is_ring != right->is_ring)
		return left->is_ring ? -1 : 1;
	return (left->at > right->at) - (left->at < right->at);
}

/* --- rings that lack packets --- */

struct doubt {
	size_t pairs, alike; /* of connections that go the same way */
	bool holey;
};

static void doubt_pairs(struct doubt *doubt, const struct ft_nccl_apart_finder *finder,
			const struct ft_nccl_cluster *a, const struct ft_nccl_cluster *b)
{
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = a == b ? i + 1 : 0; j < b->count; j++) {
			const uint32_t one = a->at[i], other = b->at[j];

			if (finder->from[one] != finder->from[other] ||
			    finder->to[one] != finder->to[other])
				continue;
			doubt->pairs++;
			doubt->alike += ft_nccl_are_busy_alike(finder, one, other) ? 1 : 0;
			doubt->holey |=
				finder->spells.at[one].holey || finder->spells.at[other].holey;
		}
}

/* What goes the same way in these rings, which nothing has told apart, is mostly not seen to be busy alike. */
static bool is_doubtful(const struct ft_nccl_apart_finder *finder, size_t begin, size_t rings,
			uint32_t part)
{
	struct doubt doubt = { 0 };

	for (size_t i = begin; i < rings; i++)
		for (size_t j = i; finder->clusters[i].part == part && j < rings; j++)
			if (finder->clusters[j].part == part)
				doubt_pairs(&doubt, finder, &finder->clusters[i],
					    &finder->clusters[j]);
	return doubt.holey && 3 * doubt.alike < 2 * doubt.pairs;
}

static void tangle_doubtful(struct ft_nccl_apart_finder *finder, size_t begin, size_t rings,
			    uint32_t first)
{
	for (uint32_t part = first; part <= finder->parts; part++) {
		const bool doubtful = is_doubtful(finder, begin, rings, part);

		for (size_t i = begin; doubtful && i < rings; i++)
			if (finder->clusters[i].part == part)
				tangle(finder, i, i + 1);
	}
}

/* Behind the last one: there may be as many other clusters as connections that nothing passed over. */
static size_t put_rings_first(struct ft_nccl_apart_finder *finder, size_t begin, size_t end)
{
	qsort(finder->clusters + begin, end - begin, sizeof *finder->clusters, compare_clusters);
	while (begin < end && finder->clusters[begin].is_ring)
		begin++;
	return begin;
}

static void part_component(struct ft_nccl_apart_finder *finder, size_t begin, size_t end)
{
	const uint32_t first = finder->parts + 1;
	const size_t rings = put_rings_first(finder, begin, end);

	part_rings(finder, begin, rings);
	tangle_doubtful(finder, begin, rings, first);
	find_alone(finder, begin, rings);
	if (rings > begin)
		ft_nccl_others_part(finder, &(struct ft_nccl_others){ begin, rings, end, first });
	else if (are_several(finder, begin, end))
		tangle(finder, begin, end);
}

static void tell(const struct ft_nccl_cluster *cluster, const struct ft_nccl_apart *apart)
{
	for (size_t i = 0; i < cluster->count; i++) {
		apart->part[cluster->at[i]] = cluster->part;
		apart->renumbered[cluster->at[i]] = cluster->renumbered;
		apart->alone[cluster->at[i]] = cluster->alone;
		apart->tangled[cluster->at[i]] = cluster->tangled;
	}
}

static void part_all(struct ft_nccl_apart_finder *finder, const struct ft_nccl_apart *apart)
{
	for (size_t begin = 0, end; begin < finder->count; begin = end) {
		for (end = begin + 1;
		     end < finder->count &&
		     finder->clusters[end].component == finder->clusters[begin].component;)
			end++;
		part_component(finder, begin, end);
	}
	for (size_t i = 0; i < finder->count; i++)
		tell(&finder->clusters[i], apart);
}

/* --- memory --- */

static int reserve(struct ft_nccl_apart_finder *finder)
{
	const size_t count = finder->input->connection_count;

	finder->from = calloc(count + 1, sizeof *finder->from);
	finder->to = calloc(count + 1, sizeof *finder->to);
	finder->root = calloc(count + 1, sizeof *finder->root);
	finder->sends = calloc(count + 1, sizeof *finder->sends);
	finder->order = calloc(count + 1, sizeof *finder->order);
	finder->site_room = calloc(2 * count + 1, sizeof *finder->site_room);
	finder->ends = calloc(2 * count + 1, sizeof *finder->ends);
	finder->clusters = calloc(count + 1, sizeof *finder->clusters);
	return finder->from != NULL && finder->to != NULL && finder->root != NULL &&
			       finder->sends != NULL && finder->order != NULL &&
			       finder->site_room != NULL && finder->ends != NULL &&
			       finder->clusters != NULL
		       ? 0
		       : -ENOMEM;
}

static int find(struct ft_nccl_apart_finder *finder, const struct ft_nccl_apart *apart)
{
	int error = 0;

	for (uint32_t i = 0; i < finder->input->connection_count; i++) {
		const struct ft_nccl_connection *connection = finder->input->connections[i];

		finder->from[i] = ft_nccl_site_of(&finder->sites, i, &connection->sender);
		finder->to[i] = ft_nccl_site_of(&finder->sites, i, &connection->receiver);
		finder->root[i] = i;
		finder->sends[i] = ft_nccl_is_of_sends(&finder->input->tracks[i]);
	}
	ft_nccl_clusters_list(finder);
	if (finder->input->ranks != NULL)
		error = ft_nccl_strands_part(finder);
	if (error == 0)
		part_all(finder, apart);
	return error;
}

int ft_nccl_apart_find(struct ft_nccl_apart *apart, const struct ft_nccl_apart_input *input)
{
	struct ft_nccl_apart_finder finder = { .input = input, .tags = input->tags };
	int error = 0;

	*apart = (struct ft_nccl_apart){
		.life = calloc(input->connection_count + 1, sizeof *apart->life),
		.part = calloc(input->connection_count + 1, sizeof *apart->part),
		.renumbered = calloc(input->connection_count + 1, sizeof *apart->renumbered),
		.alone = calloc(input->connection_count + 1, sizeof *apart->alone),
		.tangled = calloc(input->connection_count + 1, sizeof *apart->tangled),
	};
	if (apart->life == NULL || apart->part == NULL || apart->renumbered == NULL ||
	    apart->alone == NULL || apart->tangled == NULL)
		error = -ENOMEM;
	if (error == 0)
		error = ft_nccl_lives_find(apart->life, input->tracks, input->connection_count);
	if (error == 0)
		error = ft_nccl_sites_find(&finder.sites, input->connections,
					   input->connection_count, apart->life, NULL);
	if (error == 0)
		error = ft_nccl_rhythms_find(&finder.rhythms, input->tracks,
					     input->connection_count);
	if (error == 0)
		error = ft_nccl_spells_find(&finder.spells, input->tracks, input->connection_count);
	if (error == 0)
		error = ft_nccl_cycle_create(&finder.cycle, finder.sites.count);
	if (error == 0)
		error = reserve(&finder);
	if (error == 0)
		error = find(&finder, apart);
	ft_nccl_sites_free(&finder.sites);
	ft_nccl_rhythms_free(&finder.rhythms);
	ft_nccl_spells_free(&finder.spells);
	ft_nccl_cycle_free(&finder.cycle);
	free(finder.from);
	free(finder.to);
	free(finder.root);
	free(finder.sends);
	free(finder.order);
	free(finder.site_room);
	free(finder.ends);
	free(finder.clusters);
	return error;
}

void ft_nccl_apart_free(struct ft_nccl_apart *apart)
{
	free(apart->life);
	free(apart->part);
	free(apart->renumbered);
	free(apart->alone);
	free(apart->tangled);
	*apart = (struct ft_nccl_apart){ 0 };
}
