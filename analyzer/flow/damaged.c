#include "damaged.h"

#include "psn.h"

static const struct ft_damaged_packet *at(const struct ft_damaged *damaged, uint32_t number)
{
	return &damaged->kept[number % FT_DAMAGED_KEPT];
}

/* The first of the flow from `number` on, that first; 0: none. */
static uint32_t next_of(const struct ft_damaged *damaged, uint32_t flow, uint32_t number)
{
	while (number != 0 && damaged->newest - number < FT_DAMAGED_KEPT) {
		if (at(damaged, number)->flow == flow)
			return number;
		number = at(damaged, number)->older;
	}
	return 0;
}

void ft_damaged_add(struct ft_damaged *damaged, uint32_t flow, uint32_t psn)
{
	uint32_t *head = &damaged->heads[flow % FT_DAMAGED_HEADS];
	uint32_t number = next_of(damaged, flow, *head);

	while (number != 0 && at(damaged, number)->psn != psn)
		number = next_of(damaged, flow, at(damaged, number)->older);
	if (number != 0)
		return;
	damaged->newest += damaged->newest == UINT32_MAX ? 2 : 1;
	damaged->kept[damaged->newest % FT_DAMAGED_KEPT] =
		(struct ft_damaged_packet){ flow, psn, *head };
	*head = damaged->newest;
}

uint32_t ft_damaged_within(const struct ft_damaged *damaged, uint32_t flow, uint32_t from,
			   uint32_t count)
{
	const uint32_t kind = from & FT_DAMAGED_ANSWER;
	uint32_t number = next_of(damaged, flow, damaged->heads[flow % FT_DAMAGED_HEADS]);
	uint32_t found = 0;

	while (number != 0) {
		const struct ft_damaged_packet *packet = at(damaged, number);

		found += (packet->psn & FT_DAMAGED_ANSWER) == kind &&
			 ft_psn_within(packet->psn & FT_PSN_MOST, from & FT_PSN_MOST, count);
		number = next_of(damaged, flow, packet->older);
	}
	return found;
}
