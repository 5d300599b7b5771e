#include "damaged.h"

#include <flow/hash.h>

#include "psn.h"

enum { ASKED_ONE_BY_ONE = 64 }; /* PSNs; of more, whatever is kept is looked through */

static uint32_t head_of(const struct ft_damaged *damaged, uint32_t flow, uint32_t psn)
{
	return (uint32_t)ft_mix((uint64_t)flow << 32 | psn, damaged->seed | 1) % FT_DAMAGED_HEADS;
}

static bool has(const struct ft_damaged *damaged, uint32_t flow, uint32_t psn)
{
	uint32_t number = damaged->heads[head_of(damaged, flow, psn)];

	while (number != 0 && damaged->newest - number < FT_DAMAGED_KEPT) {
		const struct ft_damaged_packet *packet = &damaged->kept[number % FT_DAMAGED_KEPT];

		if (packet->flow == flow && packet->psn == psn)
			return true;
		number = packet->older;
	}
	return false;
}

/* No packet has the number 0, and so none is where that would be. */
static void count_up(struct ft_damaged *damaged)
{
	if (++damaged->newest != 0)
		return;
	damaged->kept[0].flow = 0;
	damaged->newest = 1;
}

void ft_damaged_add(struct ft_damaged *damaged, uint32_t flow, uint32_t psn)
{
	uint32_t *head = &damaged->heads[head_of(damaged, flow, psn)];

	if (has(damaged, flow, psn))
		return;
	count_up(damaged);
	damaged->kept[damaged->newest % FT_DAMAGED_KEPT] =
		(struct ft_damaged_packet){ flow, psn, *head };
	*head = damaged->newest;
}

static uint32_t look_through(const struct ft_damaged *damaged, uint32_t flow, uint32_t from,
			     uint32_t count)
{
	const uint32_t kind = from & FT_DAMAGED_ANSWER;
	uint32_t found = 0;

	for (uint32_t i = 0; i < FT_DAMAGED_KEPT; i++) {
		const struct ft_damaged_packet *packet = &damaged->kept[i];

		found += packet->flow == flow && (packet->psn & FT_DAMAGED_ANSWER) == kind &&
			 ft_psn_within(packet->psn & FT_PSN_MOST, from & FT_PSN_MOST, count);
	}
	return found;
}

uint32_t ft_damaged_within(const struct ft_damaged *damaged, uint32_t flow, uint32_t from,
			   uint32_t count)
{
	const uint32_t kind = from & FT_DAMAGED_ANSWER;
	uint32_t found = 0;

	if (count > ASKED_ONE_BY_ONE)
		return look_through(damaged, flow, from, count);
	for (uint32_t i = 0; i < count; i++)
		found += has(damaged, flow, ((from + i) & FT_PSN_MOST) | kind);
	return found;
}
