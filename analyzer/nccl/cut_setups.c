#include "cut_setups.h"

#include <stdlib.h>
#include <string.h>

#include "learn.h"

struct ft_nccl_cut_setups {
	uint32_t next;                                           /* place of the next one */
	struct ft_nccl_cut_exchange waiting[FT_NCCL_CUT_SETUPS]; /* form NULL: none */
};

static bool has_vni(uint32_t vni)
{
	return vni != UINT32_MAX && !ft_nccl_is_vlan_apart(vni);
}

/* Addresses mean the same: in one overlay, or in VLANs that both are known to be seen in. */
static bool is_in_net(const struct ft_nccl_followed *followed, const struct ft_nccl_exchange *tcp)
{
	const struct ft_nccl_connection *model = &followed->model;

	if (has_vni(followed->vni) || has_vni(tcp->vni))
		return followed->vni == tcp->vni;
	return tcp->vlan == 0 || model->net_count == 0 || ft_nccl_was_in(model, tcp->vlan);
}

static bool is_at(const struct ft_nccl_party *party, const struct ft_nccl_place *tcp)
{
	const struct ft_nccl_place *place = &party->places[0];

	return !place->by_lid && memcmp(place->address, tcp->address, sizeof tcp->address) == 0;
}

/*
 * The first queue pair of each side is that of the first device. A connection whose clear-to-sends cannot be read has no
 * family that could contradict.
 */
static bool fits(const struct ft_nccl_followed *followed,
		 const struct ft_nccl_cut_exchange *exchange)
{
	const struct ft_nccl_connection *model = &followed->model;

	return exchange->form != NULL && model->sender.qpns[0] == exchange->sender_qpn &&
	       model->receiver.qpns[0] == exchange->receiver_qpn &&
	       model->first_frame > exchange->tcp.frames[0] &&
	       (followed->families == 0 || (followed->families & exchange->form->families) != 0) &&
	       is_at(&model->sender, &exchange->tcp.connecting) &&
	       is_at(&model->receiver, &exchange->tcp.listening) &&
	       is_in_net(followed, &exchange->tcp);
}

static void tell(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		 struct ft_nccl_cut_exchange *exchange)
{
	ft_nccl_straight_leave(followed);
	ft_nccl_tcp_tell(&followed->model, &exchange->tcp);
	ft_nccl_setup_narrow(followed, exchange->form);
	ft_nccl_note(connections, followed, 0, FT_NCCL_N1);
	exchange->form = NULL;
}

/* Of two that fit nobody knows which it was. */
void ft_nccl_cut_setup_find(struct ft_nccl_connections *connections,
			    struct ft_nccl_followed *followed)
{
	struct ft_nccl_cut_setups *setups = connections->cut_setups;
	struct ft_nccl_cut_exchange *found = NULL;

	if (setups == NULL || followed->model.has_tcp)
		return;
	for (uint32_t i = 0; i < FT_NCCL_CUT_SETUPS; i++) {
		struct ft_nccl_cut_exchange *exchange = &setups->waiting[i];

		if (!fits(followed, exchange))
			continue;
		if (found != NULL)
			return;
		found = exchange;
	}
	if (found != NULL)
		tell(connections, followed, found);
}

/* Whose it is, the last of those that wait, if that is known already. */
static void find_among_recent(struct ft_nccl_connections *connections,
			      const struct ft_nccl_cut_exchange *last)
{
	uint32_t recent = ft_nccl_recent(connections);

	for (uint32_t i = connections->count; i > recent; i--) {
		struct ft_nccl_followed *followed = connections->all[i - 1];

		if (!followed->retired && fits(followed, last))
			ft_nccl_cut_setup_find(connections, followed);
	}
}

void ft_nccl_connections_learn_cut(struct ft_nccl_connections *connections,
				   const struct ft_nccl_cut_exchange *exchange)
{
	struct ft_nccl_cut_setups *setups = connections->cut_setups;
	struct ft_nccl_cut_exchange *last;

	if (setups == NULL)
		setups = calloc(1, sizeof *setups);
	if (setups == NULL)
		return;
	connections->cut_setups = setups;
	last = &setups->waiting[setups->next++ % FT_NCCL_CUT_SETUPS];
	*last = *exchange;
	find_among_recent(connections, last);
}
