#include "psns.h"

#include <stddef.h>
#include <string.h>

void ft_nccl_psns_clear(struct ft_nccl_psns *psns)
{
	memset(psns, 0, offsetof(struct ft_nccl_psns, holes));
}

void ft_nccl_psns_copy(struct ft_nccl_psns *to, const struct ft_nccl_psns *from)
{
	memcpy(to, from,
	       offsetof(struct ft_nccl_psns, holes) + from->hole_count * sizeof from->holes[0]);
}

/* The hole that `psn` lies in, or hole_count. */
static uint8_t hole_of(const struct ft_nccl_psns *psns, uint32_t psn)
{
	uint8_t at = psns->hole_count;

	while (at > 0) {
		at--;
		if (ft_psn_since(psn, psns->holes[at].psn) < psns->holes[at].count)
			return at;
	}
	return psns->hole_count;
}

enum ft_nccl_turn ft_nccl_psns_judge(const struct ft_nccl_psns *psns, uint32_t psn)
{
	int32_t distance = ft_psn_distance(psn, psns->next);

	if (distance == 0 || !psns->known)
		return FT_NCCL_NEXT;
	if (distance >= FT_NCCL_PSN_WINDOW || distance < -FT_NCCL_PSN_WINDOW)
		return FT_NCCL_APART;
	if (distance > 0)
		return FT_NCCL_AHEAD;
	return hole_of(psns, psn) < psns->hole_count ? FT_NCCL_LATE : FT_NCCL_AGAIN;
}

static void remove_hole(struct ft_nccl_psns *psns, uint8_t at)
{
	psns->hole_count--;
	memmove(&psns->holes[at], &psns->holes[at + 1],
		(size_t)(psns->hole_count - at) * sizeof psns->holes[0]);
}

static void add_hole(struct ft_nccl_psns *psns, uint8_t at, uint32_t psn, uint32_t count)
{
	if (count == 0)
		return;
	if (psns->hole_count == FT_NCCL_HOLES) {
		if (at == 0)
			return;
		remove_hole(psns, 0);
		at--;
	}
	memmove(&psns->holes[at + 1], &psns->holes[at],
		(size_t)(psns->hole_count - at) * sizeof psns->holes[0]);
	psns->holes[at].psn = psn;
	psns->holes[at].count = count;
	psns->hole_count++;
}

/* So many packets of the hole were seen, behind the first `before` of it. */
static void narrow(struct ft_nccl_psns *psns, uint8_t at, uint32_t before, uint32_t count)
{
	const uint32_t behind = ft_psn_add(psns->holes[at].psn, before + count);
	const uint32_t after = psns->holes[at].count - before - count;

	if (before == 0 && after == 0) {
		remove_hole(psns, at);
	} else if (before == 0) {
		psns->holes[at].psn = behind;
		psns->holes[at].count = after;
	} else {
		psns->holes[at].count = before;
		add_hole(psns, (uint8_t)(at + 1), behind, after);
	}
}

static void fill(struct ft_nccl_psns *psns, uint32_t psn)
{
	const uint8_t at = hole_of(psns, psn);

	narrow(psns, at, ft_psn_since(psn, psns->holes[at].psn), 1);
}

struct ft_nccl_psn_range ft_nccl_psns_remembered(const struct ft_nccl_psns *psns,
						 const struct ft_nccl_psn_range *range)
{
	const uint32_t since = ft_psn_since(psns->next, psns->origin);
	const uint32_t first =
		ft_psn_back(psns->next, since < FT_NCCL_PSN_WINDOW ? since : FT_NCCL_PSN_WINDOW);
	const int32_t before = ft_psn_distance(first, range->psn);
	const uint32_t from = before > 0 ? first : range->psn;
	const int32_t room = ft_psn_distance(psns->next, from);
	int32_t left = (int32_t)range->count - (before > 0 ? before : 0);

	if (left > room)
		left = room;
	return (struct ft_nccl_psn_range){ from, left > 0 ? (uint32_t)left : 0 };
}

uint32_t ft_nccl_psns_fill(struct ft_nccl_psns *psns, const struct ft_nccl_psn_range *range)
{
	uint32_t filled = 0;

	for (uint8_t at = psns->hole_count; at-- > 0;) {
		const struct ft_nccl_psn_range *hole = &psns->holes[at];
		const int32_t into = ft_psn_distance(range->psn, hole->psn);
		const int32_t before = into > 0 ? into : 0;
		int32_t end = into + (int32_t)range->count;

		if (end > (int32_t)hole->count)
			end = (int32_t)hole->count;
		if (end <= before)
			continue;
		filled += (uint32_t)(end - before);
		narrow(psns, at, (uint32_t)before, (uint32_t)(end - before));
	}
	return filled;
}

int32_t ft_nccl_psns_take(struct ft_nccl_psns *psns, uint32_t psn, enum ft_nccl_turn turn)
{
	int32_t missing = 0;

	switch (turn) {
	case FT_NCCL_AGAIN:
		return 0;
	case FT_NCCL_LATE:
		fill(psns, psn);
		return 1;
	case FT_NCCL_AHEAD:
		missing = ft_psn_distance(psn, psns->next);
		add_hole(psns, psns->hole_count, psns->next, (uint32_t)missing);
		break;
	case FT_NCCL_APART:
		psns->hole_count = 0;
		psns->known = false;
		break;
	case FT_NCCL_NEXT:
		break;
	}
	if (!psns->known) {
		psns->origin = psn;
		psns->known = true;
	}
	psns->next = ft_psn_add(psn, 1);
	return -missing;
}

uint32_t ft_nccl_psns_precede(struct ft_nccl_psns *psns, uint32_t psn)
{
	const uint32_t from = ft_psn_add(psn, 1), missing = ft_psn_since(psns->origin, from);

	add_hole(psns, 0, from, missing);
	psns->origin = psn;
	return missing;
}

int32_t ft_nccl_psns_end(struct ft_nccl_psns *psns, uint32_t psn)
{
	int32_t missing = ft_psn_distance(psn, psns->next), beyond = 0;

	if (missing >= 0)
		add_hole(psns, psns->hole_count, psns->next, (uint32_t)missing);
	psns->next = psn;
	while (missing < 0 && psns->hole_count != 0) {
		const uint8_t last = psns->hole_count - 1;
		const int32_t within = ft_psn_distance(psn, psns->holes[last].psn);

		if (within >= (int32_t)psns->holes[last].count)
			break;
		if (within > 0) {
			beyond += (int32_t)psns->holes[last].count - within;
			psns->holes[last].count = (uint32_t)within;
			break;
		}
		beyond += (int32_t)psns->holes[last].count;
		remove_hole(psns, last);
	}
	return missing > 0 ? missing : -beyond;
}

void ft_nccl_acknowledge(struct ft_nccl_acked *acked, const struct ft_nccl_psns *psns, uint32_t psn)
{
	acked->known = true;
	acked->psn = psn;
	acked->ordered = acked->ordered || (psns->known && ft_psn_distance(psns->next, psn) > 0);
}

bool ft_nccl_is_acknowledged(const struct ft_nccl_acked *acked, uint32_t psn,
			     enum ft_nccl_turn turn)
{
	int32_t ahead = ft_psn_distance(acked->psn, psn);

	return acked->known && (turn == FT_NCCL_NEXT || turn == FT_NCCL_AHEAD) && ahead >= 0 &&
	       ahead < FT_NCCL_PSN_WINDOW;
}
