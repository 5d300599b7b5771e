#include "followed.h"

#include <string.h>

/* The one of its places that has this name; NULL: none. */
static struct ft_nccl_place *place_at(struct ft_nccl_party *party, const uint8_t address[16],
				      bool by_lid)
{
	for (uint8_t i = 0; i < party->place_count; i++) {
		struct ft_nccl_place *place = &party->places[i];

		if (place->by_lid == by_lid &&
		    memcmp(place->address, address, sizeof place->address) == 0)
			return place;
	}
	return NULL;
}

static int move_end(struct ft_nccl_connections *connections, struct ft_nccl_end *end,
		    const uint8_t gid[16])
{
	struct ft_nccl_end moved = *end;

	ft_nccl_ends_remove(&connections->ends, end);
	moved.by_lid = false;
	memcpy(moved.address, gid, sizeof moved.address);
	return ft_nccl_ends_put(&connections->ends, &moved);
}

/* Its queue pairs are found there. */
static void move(struct ft_nccl_connections *connections, const struct ft_nccl_followed *followed,
		 struct ft_nccl_party *party, struct ft_nccl_place *place, const uint8_t gid[16])
{
	uint8_t device = (uint8_t)(place - party->places);

	for (uint8_t i = 0; i < followed->lane_count; i++) {
		struct ft_nccl_end *end;

		if (party->qp_device[i] != device || party->qpns[i] == FT_NCCL_NONE)
			continue;
		end = ft_nccl_ends_own(&connections->ends, place, party->qpns[i],
				       followed->model.connection);
		if (end != NULL && move_end(connections, end, gid) != 0)
			connections->dropped++;
	}
	place->by_lid = false;
	memcpy(place->address, gid, sizeof place->address);
}

/* What was told of its queue pairs by their LIDs. */
static void tell_again(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed)
{
	ft_nccl_announce_targets(connections, followed);
	for (uint8_t i = 0; i < followed->model.qp_count && i < followed->lane_count; i++) {
		followed->lanes[i].noted &= (uint16_t) ~(1u << FT_NCCL_N1);
		ft_nccl_note(connections, followed, i, FT_NCCL_N1);
	}
}

/*
 * Of a connection whose ends have names by LID: the places that the packet came from and went to, or one of them, if the
 * other has its global name already, as one device has that has several on the other side.
 */
static void rename_ends(struct ft_nccl_connections *connections, const struct ft_nccl_end *end,
			const struct ft_nccl_seen *seen, const struct ft_nccl_ends *lids)
{
	struct ft_nccl_followed *followed = connections->all[end->connection];
	bool is_data = end->role == FT_NCCL_AT_RECEIVER;
	struct ft_nccl_party *to = is_data ? &followed->model.receiver : &followed->model.sender;
	struct ft_nccl_party *from = is_data ? &followed->model.sender : &followed->model.receiver;
	struct ft_nccl_place *src = place_at(from, lids->src, true),
			     *dst = place_at(to, lids->dst, true);

	if (!followed->model.is_set_up || (src == NULL && dst == NULL))
		return;
	if ((src == NULL && place_at(from, seen->ends.src, false) == NULL) ||
	    (dst == NULL && place_at(to, seen->ends.dst, false) == NULL))
		return;
	ft_nccl_straight_leave(followed);
	if (src != NULL)
		move(connections, followed, from, src, seen->ends.src);
	if (dst != NULL)
		move(connections, followed, to, dst, seen->ends.dst);
	tell_again(connections, followed);
}

/* Of a set-up, of which a packet with global names has not come yet. */
static bool has_lids(const struct ft_nccl_connection *model)
{
	for (uint8_t i = 0; i < model->sender.place_count; i++) {
		if (model->sender.places[i].by_lid)
			return true;
	}
	for (uint8_t i = 0; i < model->receiver.place_count; i++) {
		if (model->receiver.places[i].by_lid)
			return true;
	}
	return false;
}

void ft_nccl_connections_name(struct ft_nccl_connections *connections,
			      const struct ft_nccl_seen *seen)
{
	struct ft_nccl_seen by_lid = { .vlan = seen->vlan, .dest_qp = seen->dest_qp };
	const struct ft_nccl_end *end = ft_nccl_end_of(connections, seen);

	if (end != NULL && !has_lids(&connections->all[end->connection]->model))
		return;
	by_lid.ends = ft_nccl_ends_by_lid(seen->slid, seen->dlid, seen->ends.vni);
	if (end == NULL)
		end = ft_nccl_end_of(connections, &by_lid);
	if (end != NULL)
		rename_ends(connections, end, seen, &by_lid.ends);
}
