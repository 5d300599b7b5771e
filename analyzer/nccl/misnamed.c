#include "misnamed.h"

#include <string.h>

#include "anchor.h"
#include "anew.h"
#include "faults.h"

static bool has_place(const struct ft_nccl_party *party, const uint8_t address[16])
{
	for (uint8_t i = 0; i < party->place_count; i++)
		if (memcmp(party->places[i].address, address, sizeof party->places[i].address) == 0)
			return true;
	return false;
}

/* Nothing came on one of the queue pairs that clear-to-sends go to. */
static bool lacks_asking(const struct ft_nccl_followed *followed)
{
	for (uint8_t i = 0; i < followed->lane_count && i < followed->model.devices; i++)
		if (!followed->lanes[i].asked)
			return true;
	return false;
}

/* Of those that metadata names beyond one of each device some may be none: then messages come whole without them. */
bool ft_nccl_lacks_data(const struct ft_nccl_followed *followed)
{
	const bool may_be_fewer = followed->unsure && !ft_nccl_has_guessed_lanes(followed) &&
				  ft_nccl_had_all(followed);
	const uint8_t sure = may_be_fewer ? followed->model.devices : followed->lane_count;

	for (uint8_t i = 0; i < followed->lane_count && i < sure; i++)
		if (!followed->lanes[i].carried)
			return true;
	return false;
}

bool ft_nccl_may_be_misnamed(const struct ft_nccl_followed *followed,
			     const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_party *sender = &followed->model.sender;
	const struct ft_nccl_party *receiver = &followed->model.receiver;

	if (!followed->model.is_set_up)
		return false;
	return (has_place(receiver, seen->ends.src) && has_place(sender, seen->ends.dst) &&
		lacks_asking(followed)) ||
	       (has_place(sender, seen->ends.src) && has_place(receiver, seen->ends.dst) &&
		ft_nccl_lacks_data(followed));
}

/* Of several, which share messages or take turns, it is not known which one is meant. */
static bool is_refuted(const struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen)
{
	struct ft_nccl_anchor anchor = { 0 };

	return followed->model.is_set_up && followed->lane_count == 1 && followed->lanes[0].asked &&
	       !followed->lanes[0].carried && followed->has_newest &&
	       followed->newest - followed->oldest >= FT_NCCL_ASKED_AHEAD &&
	       ft_nccl_asked_by(followed, seen, &anchor) != NULL;
}

void ft_nccl_misnamed_see(struct ft_nccl_connections *connections,
			  struct ft_nccl_followed *followed,
			  const struct ft_nccl_stranger *stranger, const struct ft_nccl_seen *seen)
{
	struct ft_nccl_party *receiver = &followed->model.receiver;
	struct ft_nccl_lane *lane = &followed->lanes[0];
	struct ft_nccl_end *end;

	if (!is_refuted(followed, seen))
		return;
	ft_nccl_anew_settle(connections, followed, true);
	end = ft_nccl_ends_own(&connections->ends, &receiver->places[0], receiver->qpns[0],
			       followed->model.connection);
	if (end != NULL)
		ft_nccl_ends_remove(&connections->ends, end);
	receiver->qpns[0] = FT_NCCL_NONE;
	ft_nccl_psns_clear(&lane->data);
	lane->counted = false;
	lane->udp_sport = stranger->udp_sport;
	followed->model.is_set_up = followed->named = followed->numbered = false;
	followed->ways = 0;
}
