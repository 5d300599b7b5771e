#include "followed.h"

static bool has_vni(const struct ft_nccl_seen *seen)
{
	return seen->ends.vni != UINT32_MAX && !ft_nccl_is_vlan_apart(seen->ends.vni);
}

bool ft_nccl_was_in(const struct ft_nccl_connection *connection, uint32_t net)
{
	for (uint8_t i = 0; i < connection->net_count; i++)
		if (connection->nets[i] == net)
			return true;
	return net == 0 && connection->net_count == 0;
}

bool ft_nccl_was_in_vlan(const struct ft_nccl_followed *followed, uint32_t vni)
{
	return ft_nccl_is_vlan_apart(vni) && followed->vni == UINT32_MAX &&
	       ft_nccl_was_in(&followed->model, vni & 0xfff);
}

bool ft_nccl_connections_cross(const struct ft_nccl_connections *connections, uint16_t vlan)
{
	for (uint32_t i = 0; i < connections->count; i++) {
		const struct ft_nccl_connection *model = &connections->all[i]->model;

		if (model->net_count > 1 && ft_nccl_was_in(model, vlan))
			return true;
	}
	return false;
}

void ft_nccl_note_net(struct ft_nccl_connection *model, const struct ft_nccl_seen *seen)
{
	uint32_t net = has_vni(seen) ? FT_NCCL_NET_VNI | seen->ends.vni : seen->vlan;

	if (net == 0 || ft_nccl_was_in(model, net))
		return;
	if (model->net_count < FT_NCCL_NETS_MAX)
		model->nets[model->net_count++] = net;
}
