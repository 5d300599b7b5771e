#include "operations_parts.h"

#include "operation_beside.h"
#include "operation_mixed.h"
#include "operation_poll.h"

static bool are_asked_if_used(const struct ft_nccl_circle *circle)
{
	for (uint32_t i = 0; i < circle->ranks; i++)
		if (circle->tracks[i]->count > 0 && !ft_nccl_track_is_asked(circle->tracks[i]))
			return false;
	return true;
}

static void keep_loops(const struct ft_nccl_operations_maker *maker,
		       const struct ft_nccl_circle *ring, struct ft_nccl_loops told)
{
	for (uint32_t i = 0; i < ring->ranks; i++)
		maker->input->loops[ring->tracks[i] - maker->input->tracks->at] = told;
}

/* The first message of all there is. */
static bool is_from_start(const struct ft_nccl_circle *circle)
{
	for (uint32_t i = 0; i < circle->ranks; i++)
		if (circle->tracks[i]->count > 0 &&
		    (!circle->tracks[i]->numbered || circle->tracks[i]->first_k != 0))
			return false;
	return true;
}

/* Connections of what is no ring have operations of their own. */
static void ring_alone(struct ft_nccl_operations_maker *maker,
		       const struct ft_nccl_channel *channel, struct ft_nccl_circle *ring)
{
	const struct ft_nccl_loops *loops =
		&maker->input->loops[ring->tracks[0] - maker->input->tracks->at];

	ring->loop_ranks = loops->ranks;
	if (!loops->refuted)
		ft_nccl_maker_add_alone(maker, *ring);
	else
		ft_nccl_maker_add_connections(maker, channel->connections,
					      channel->connection_count);
}

/* Both are used: what is of which is known only if nothing is before the capture. */
static void mixed_channel(struct ft_nccl_operations_maker *maker,
			  const struct ft_nccl_channel *channel,
			  struct ft_nccl_mixed_circles *circles)
{
	if (are_asked_if_used(&circles->ring) && are_asked_if_used(&circles->tree) &&
	    is_from_start(&circles->ring) && is_from_start(&circles->tree)) {
		ft_nccl_mixed_operations(&maker->operations, circles);
		keep_loops(maker, &circles->ring,
			   (struct ft_nccl_loops){ .ranks = circles->ring.shown });
		return;
	}
	ft_nccl_maker_add_connections(maker, channel->connections, channel->connection_count);
}

/* Of a channel's ring its tree, if it has one; both at their first messages. */
static struct ft_nccl_mixed_circles circles_of(struct ft_nccl_operations_maker *maker,
					       const struct ft_nccl_communicator *communicator,
					       const struct ft_nccl_channel *channel)
{
	struct ft_nccl_mixed_circles circles = { .shared = maker->shared,
						 .is_shared = maker->is_shared };
	const struct ft_nccl_tree *tree;
	uint32_t lane;

	circles.ring = ft_nccl_maker_ring(maker, communicator, channel);
	tree = ft_nccl_tree_beside(communicator, channel->channel, &lane);
	if (tree == NULL)
		tree = ft_nccl_tree_of_ring(communicator, channel, &lane);
	if (tree != NULL) {
		circles.tree = ft_nccl_maker_tree(maker, communicator, tree, lane);
		circles.ring.is_shared = circles.is_shared;
	}
	ft_nccl_mixed_begin(&circles);
	return circles;
}

static bool is_alone(const struct ft_nccl_mixed_circles *circles)
{
	return circles->tree.tree == NULL || !ft_nccl_mixed_uses_tree(circles);
}

/* A tree's channel that another ring has a connection in common with is not its own: then nobody knows what went over which. */
void ft_nccl_maker_add_ring(struct ft_nccl_operations_maker *maker,
			    const struct ft_nccl_communicator *communicator,
			    const struct ft_nccl_channel *channel)
{
	struct ft_nccl_mixed_circles circles;

	if (channel->ring_count == 0)
		return;
	circles = circles_of(maker, communicator, channel);
	if (circles.tree.tree != NULL && circles.tree.tree->of_hosts)
		ft_nccl_operations_begin_trees(&maker->operations);
	if (ft_nccl_maker_is_told(maker, &circles.tree)) {
		ft_nccl_maker_add_untold(maker, channel->connections, channel->connection_count);
		return;
	}
	ft_nccl_maker_tell(maker, &circles.ring);
	ft_nccl_maker_tell(maker, &circles.tree);
	if (is_alone(&circles))
		ring_alone(maker, channel, &circles.ring);
	else if (!ft_nccl_mixed_uses_ring(&circles))
		ft_nccl_maker_add_alone(maker, circles.tree);
	else
		mixed_channel(maker, channel, &circles);
}

/* One step of a poll of all rings that no tree has messages beside. */
static void ask_rings(struct ft_nccl_operations_maker *maker,
		      const struct ft_nccl_communicator *communicator, struct ft_nccl_poll *poll,
		      void (*step)(struct ft_nccl_operations_maker *maker,
				   struct ft_nccl_poll *poll, struct ft_nccl_circle *ring))
{
	for (size_t i = 0; i < communicator->channel_count; i++) {
		const struct ft_nccl_channel *channel = maker->channels[i];
		struct ft_nccl_mixed_circles circles;

		if (channel->ring_count == 0)
			continue;
		circles = circles_of(maker, communicator, channel);
		if (is_alone(&circles))
			step(maker, poll, &circles.ring);
	}
}

static void ask(struct ft_nccl_operations_maker *maker, struct ft_nccl_poll *poll,
		struct ft_nccl_circle *ring)
{
	struct ft_nccl_loops told = { 0 };

	told.refuted = ft_nccl_circle_is_asked(ring) && !ft_nccl_poll_ask(poll, ring);
	keep_loops(maker, ring, told);
}

static bool is_refuted(const struct ft_nccl_operations_maker *maker,
		       const struct ft_nccl_circle *ring)
{
	return maker->input->loops[ring->tracks[0] - maker->input->tracks->at].refuted;
}

static void weigh(struct ft_nccl_operations_maker *maker, struct ft_nccl_poll *poll,
		  struct ft_nccl_circle *ring)
{
	if (ft_nccl_circle_is_asked(ring) && !is_refuted(maker, ring))
		ft_nccl_poll_weigh(poll, ring);
}

static void keep(struct ft_nccl_operations_maker *maker, struct ft_nccl_poll *poll,
		 struct ft_nccl_circle *ring)
{
	struct ft_nccl_loops told = { 0 };

	if (!ft_nccl_circle_is_asked(ring) || is_refuted(maker, ring))
		return;
	told.ranks = ft_nccl_poll_ranks(poll, ring, &told.silent);
	keep_loops(maker, ring, told);
}

/* How many ranks there are: all rings see the same operations. */
void ft_nccl_maker_poll_rings(struct ft_nccl_operations_maker *maker,
			      const struct ft_nccl_communicator *communicator)
{
	struct ft_nccl_poll poll = { 0 };

	ask_rings(maker, communicator, &poll, ask);
	ask_rings(maker, communicator, &poll, weigh);
	ask_rings(maker, communicator, &poll, keep);
}
