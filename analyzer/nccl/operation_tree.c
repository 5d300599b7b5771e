#include "operation_ring.h"
#include "operation_steps.h"

static const struct ft_nccl_message *up(const struct ft_nccl_circle *circle, size_t edge, size_t i)
{
	return circle->tracks[2 * edge]->messages[circle->at[2 * edge] + i];
}

static const struct ft_nccl_message *down(const struct ft_nccl_circle *circle, size_t edge,
					  size_t i)
{
	return circle->tracks[2 * edge + 1]->messages[circle->at[2 * edge + 1] + i];
}

static bool is_after(const struct ft_nccl_message *message, const struct ft_nccl_message *before)
{
	return message->first_frame > before->last_frame;
}

/* Chunk `i` goes on where an edge ends that leads there from below: further up, or down from the root. */
static bool goes_on(const struct ft_nccl_circle *circle, size_t below, size_t i)
{
	const uint32_t above = circle->tree->edges[below].above;

	if (above == FT_NCCL_NONE)
		return is_after(down(circle, below, i), up(circle, below, i));
	return is_after(up(circle, above, i), up(circle, below, i)) &&
	       is_after(down(circle, below, i), down(circle, above, i));
}

/* Every edge carries the same, both ways. */
static bool is_chunk(const struct ft_nccl_circle *circle, size_t i)
{
	const uint64_t bytes = ft_nccl_message_bytes(up(circle, 0, i));

	for (size_t edge = 0; edge < circle->tree->edge_count; edge++)
		if (ft_nccl_message_bytes(up(circle, edge, i)) != bytes ||
		    ft_nccl_message_bytes(down(circle, edge, i)) != bytes ||
		    !goes_on(circle, edge, i))
			return false;
	return true;
}

bool ft_nccl_circle_climbs(const struct ft_nccl_circle_part *part, struct ft_nccl_collective *row)
{
	const struct ft_nccl_circle *circle = part->ring;

	if (circle->of_two && part->sum.protocol != FT_NCCL_SIMPLE)
		return false; /* lines of a ring go the same ways, and one may come after the other */
	if (!part->undivided || part->sum.seen != part->length * circle->ranks || part->sum.differs)
		return false;
	for (size_t i = 0; i < part->length; i++)
		if (!is_chunk(circle, i))
			return false;
	*row = ft_nccl_stretch_row(&part->sum);
	row->channels = 1;
	row->collective = "AllReduce";
	row->algorithm = "TREE";
	ft_nccl_tell_bytes(row, &part->sum, circle->ranks, 1);
	return true;
}
