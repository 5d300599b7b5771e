#pragma once

#include <partition/arena.h>

#include "coverage.h"
#include "engine_parts.h"
#include "second_findings.h"
#include "summary.h"

/* How summary.c and its parts share the model being filled. */
struct ft_summary {
	struct ft_report report;
	struct ft_arena *words; /* everything the report points to; NULL: nothing yet */
	struct ft_tally sum;    /* of all workers, if there are several */
	const struct ft_tally *tally;
	char not_enough[FT_COVERAGE_TEXT]; /* why the verdict cannot be `compliant` */
	double doubted; /* share of the RDMA frames lost, if all that is doubted was */
	/* of the frames, what may be missing in silences that no connection explains; and of the time, these */
	double silent_share, silent_time;
	bool masked;        /* losses would not show */
	bool faint;         /* .. seldom */
	double crowd_share; /* ft_loss_estimate.crowd_share */
	bool crowded;       /* likewise, for frames out of order */
	bool lasting;       /* losses outlast connections: there is no upper bound */
	bool filtered;      /* a filter by opcode took what is in the midst of messages */
	struct ft_second_findings second; /* with a map */
	const char *uncounted;            /* a source that does not know its losses; NULL: none */
};

/* Zeroed room for `count` things, freed with the report; never NULL. */
void *ft_summary_take(struct ft_summary *summary, size_t count, size_t size);

void ft_summary_fill_coverage(struct ft_summary *summary, const struct ft_engine *engine,
			      const struct ft_source *source);
/* After the estimate: what may be missing beyond it in silences. */
void ft_summary_look_for_silence(struct ft_summary *summary, const struct ft_engine *engine);

void ft_summary_fill_tenants(struct ft_summary *summary, const struct ft_account *account);
void ft_summary_fill_matrix(struct ft_summary *summary, const struct ft_account *account);
void ft_summary_fill_pkeys(struct ft_summary *summary);

enum { FT_COTENANCIES = 256 };

/* Pairs of tenants on leaves that the map forbids them to share; what is beyond the room is left out. */
struct ft_cotenancies {
	struct ft_cotenancy found[FT_COTENANCIES];
	size_t count;
};

/* In the time of the report. */
void ft_summary_find_cotenancies(const struct ft_summary *summary, const struct ft_map *map,
				 struct ft_cotenancies *shared);

/* Findings about the map itself, and quotas: returns how many, one more than there are tenants and `shared` at most. */
size_t ft_summary_fill_map_findings(struct ft_summary *summary, const struct ft_account *account,
				    const struct ft_cotenancies *shared,
				    struct ft_report_finding *rows);

/* Where the map says it; nothing is set where that is not known. */
void ft_summary_set_origin(struct ft_report_finding *row, const struct ft_declared *declared,
			   const struct ft_origin *origin);

/* All findings in report order: those of frames, of NCCL's framing, and those about the map itself. */
void ft_summary_fill_findings(struct ft_summary *summary, const struct ft_engine *engine,
			      const struct ft_source *source);
