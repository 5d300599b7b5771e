#pragma once

#include "findings.h"
#include "second_senders.h"

/* Findings about second senders, and about floods of CNPs: made anew for every report. */
enum {
	FT_SECOND_FINDINGS = 512, /* most, of both together */
	FT_SECOND_TEXT = 256,     /* bytes of a sentence */
};

struct ft_second_note {
	bool plausible;            /* of any of its packets: else it is a note */
	char text[FT_SECOND_TEXT]; /* of the first of them */
};

struct ft_second_findings {
	struct ft_findings findings;
	struct ft_second_note notes[FT_SECOND_FINDINGS]; /* beside findings.items */
	/* frames that are evidence already: a ring; 0: none */
	uint64_t written[FT_SECOND_FINDINGS];
	size_t written_count; /* that there ever were */
};

/* Where frames go that are found when they have gone by; no writer: nowhere. */
struct ft_second_evidence {
	struct ft_pcapng_writer *writer;
	const struct ft_source *source;
};

/* Those of all workers, each written as evidence once; 0 or -ENOMEM. ft_second_findings_free() it in either case. */
int ft_second_findings_fill(struct ft_second_findings *second, const struct ft_map *map,
			    struct ft_worker *const *workers, unsigned count,
			    const struct ft_second_evidence *evidence);
void ft_second_findings_free(struct ft_second_findings *second);
