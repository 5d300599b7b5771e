#pragma once

#include <capture/pcapng_writer.h>
#include <capture/source.h>
#include <decode/packet.h>

#include "findings.h"
#include "judge.h"
#include "totals.h"

/* Adds up judged frames: totals, findings, coverage, and the frames kept as evidence. */
struct ft_account {
	const struct ft_map *map;
	struct ft_totals totals;
	struct ft_findings findings;
	struct ft_pcapng_writer *writer; /* NULL: no evidence is written */
	uint64_t seed;
	uint64_t never_judged, not_rdma; /* frames; the judged ones are in the totals */
	uint64_t undecided_bad_icrc, undecided_cut, undecided_malformed, undecided_untimed;
	uint64_t truncated;   /* cut below what a rule needs */
	uint64_t undecodable; /* claim to be RDMA and are broken */
};

int ft_account_init(struct ft_account *account, const struct ft_map *map, uint32_t findings,
		    uint64_t seed);
void ft_account_free(struct ft_account *account);

/* One packet of a frame; `first` for the frame's first, which places the frame in the totals. */
struct ft_account_item {
	const struct ft_frame *frame;
	const struct ft_source *source; /* that the frame came from */
	const struct ft_packet *packet;
	const struct ft_judgement *judgement;
	const struct ft_check_key *key;
	bool first;
};

/* 0 or -errno of the evidence writer. */
int ft_account_add(struct ft_account *account, const struct ft_account_item *item);
