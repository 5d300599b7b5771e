#pragma once

#include "findings.h"
#include "second_senders.h"

/* Findings about second senders: made anew for every report. */
struct ft_second_note {
	bool plausible; /* of any of its packets */
	char text[192]; /* of the first of them */
};

struct ft_second_findings {
	struct ft_findings findings;
	struct ft_second_note notes[FT_SECOND_SENDERS]; /* beside findings.items */
};

/* Those of all workers; 0 or -ENOMEM. ft_second_findings_free() it in either case. */
int ft_second_findings_fill(struct ft_second_findings *second, const struct ft_map *map,
			    struct ft_worker *const *workers, unsigned count);
void ft_second_findings_free(struct ft_second_findings *second);
