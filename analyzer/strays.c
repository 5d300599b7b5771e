#include "strays.h"

#include <errno.h>
#include <stdlib.h>

#include <decode/psn.h>

enum {
	PSN_WINDOW = 1 << 16,
	WAITING_MOST = 1 << 13, /* PSNs of requests that may wait for an answer at a time */
};

int ft_strays_init(struct ft_strays *strays)
{
	*strays = (struct ft_strays){ .items = calloc(FT_STRAYS, sizeof *strays->items) };
	return strays->items == NULL ? -ENOMEM : 0;
}

void ft_strays_free(struct ft_strays *strays)
{
	free(strays->items);
}

static struct ft_stray *stray_at(const struct ft_strays *strays, uint32_t index)
{
	return &strays->items[(strays->first + index) % FT_STRAYS];
}

static void settle_oldest(struct ft_strays *strays, struct ft_findings *findings)
{
	const struct ft_stray *oldest = stray_at(strays, 0);
	struct ft_finding *finding = &findings->items[oldest->finding];
	const struct ft_frame frame = {
		.number = oldest->number,
		.ts_ns = oldest->ts_ns,
		.wire = oldest->wire,
	};

	if (!oldest->excused) {
		if (finding->packets == 0)
			finding->suspicion = oldest->suspicion;
		ft_finding_add(finding, &frame, oldest->dest_qp);
	}
	strays->first = (strays->first + 1) % FT_STRAYS;
	strays->count--;
}

void ft_strays_add(struct ft_strays *strays, const struct ft_stray *stray,
		   struct ft_findings *findings)
{
	if (strays->count == FT_STRAYS)
		settle_oldest(strays, findings);
	*stray_at(strays, strays->count++) = *stray;
}

/* The first is behind the second by no more than so much. */
static bool is_soon_before(uint32_t psn, uint32_t next_psn, uint32_t most)
{
	return ft_psn_since(next_psn, psn) <= most;
}

/*
 * The first that began another sequence, but the connection is back where it was then: what it has sent since then was
 * not answered until now. FT_STRAYS: none did.
 */
static uint32_t find_left(const struct ft_strays *strays, uint64_t half, uint32_t next_psn)
{
	for (uint32_t i = 0; i < strays->count; i++) {
		const struct ft_stray *stray = stray_at(strays, i);

		if (stray->half == half && stray->excused &&
		    is_soon_before(stray->suspicion.expected_psn, next_psn, WAITING_MOST))
			return i;
	}
	return FT_STRAYS;
}

void ft_strays_answered(struct ft_strays *strays, uint64_t half, uint32_t next_psn)
{
	uint32_t left = find_left(strays, half, next_psn);

	for (uint32_t i = 0; i < strays->count; i++) {
		struct ft_stray *stray = stray_at(strays, i);

		if (stray->half != half)
			continue;
		if (is_soon_before(stray->suspicion.psn, next_psn, PSN_WINDOW))
			stray->excused = true;
		else if (i >= left)
			stray->excused = false;
	}
}

void ft_strays_settle(struct ft_strays *strays, struct ft_findings *findings)
{
	while (strays->count != 0)
		settle_oldest(strays, findings);
}
