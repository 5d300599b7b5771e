#pragma once

#include <assert.h>

#include <nccl/model.h>
#include <nccl/seen.h>

#include "packet_log.h"

/*
 * Queue pairs that packets are sent to and that are nobody's: each may turn out to be an end of a connection. A fixed
 * number is remembered, and of few of them packets. Of those without packets kept, who was silent longest makes room. A log
 * goes to somebody else once its owner was silent for longer than it takes to hear of all who are remembered, twice, so that
 * many that are idle, of whatever they are, do not keep others from being looked at; and that of data to who may be sent
 * clear-to-sends, which tell of a connection: its data is found without. Who is remembered, and in which order they stand, is
 * by the packets alone, and by no hash: they have places as they came.
 */
enum {
	FT_NCCL_STRANGERS = 8192,
	FT_NCCL_STRANGER_LOGS = 2048,       /* most .. */
	FT_NCCL_STRANGER_LOGS_BESIDE = 512, /* .. and where NCCL is looked for beside other work */
	FT_NCCL_STRANGER_CHAINS = 1024,
};

struct ft_nccl_stranger {
	uint8_t src[16], dst[16];
	uint32_t qpn; /* packets go to */
	uint32_t vni;
	uint32_t kept;         /* of the last write that was worth keeping, by the table's count */
	uint16_t next, before; /* places plus 1 of those with logs in its chain; 0: none */
	uint16_t udp_sport;
	bool used : 1, by_lid : 1;
	bool excluded : 1;       /* does what NCCL never does, or was watched long enough */
	bool asked : 1;          /* the last write may be clear-to-sends */
	bool unlogged : 1;       /* there was no log for some of its writes, or it was taken away */
	struct ft_nccl_log *log; /* NULL: none */
};
static_assert(sizeof(struct ft_nccl_stranger) == 64, "thousands are in memory");

/* Places of those without logs: silent for longer, and not so long. */
struct ft_nccl_stranger_turn {
	uint16_t older, newer;
};

struct ft_nccl_stranger_table {
	struct ft_nccl_stranger *strangers; /* as they came; NULL before the first */
	struct ft_nccl_log *free;           /* logs */
	/* places plus 1, 0: none. The first one of each chain, by hash; the next one of a chain, or of those given back */
	uint16_t homes[FT_NCCL_STRANGERS], behind[FT_NCCL_STRANGERS];
	/* a ring; at its end who was silent longest, and who was not */
	struct ft_nccl_stranger_turn order[FT_NCCL_STRANGERS + 1];
	uint64_t logged[FT_NCCL_STRANGERS / 64];      /* bit per stranger: has a log */
	uint64_t some[FT_NCCL_STRANGERS / (64 * 64)]; /* bit per word of `logged` that is not 0 */
	uint16_t first[FT_NCCL_STRANGER_CHAINS];      /* of those with logs, by both addresses */
	uint32_t most_logs;                           /* whoever makes the table says how many */
	uint32_t logs, kept;
	uint32_t used;   /* strangers */
	uint16_t met;    /* places that somebody is or was in: the first ones */
	uint16_t vacant; /* place plus 1 of one that was given back; 0: none */
	uint32_t hand;   /* whose log is looked at next for being taken away */
	uint64_t seed;
};

void ft_nccl_strangers_free(struct ft_nccl_stranger_table *table);

/* The one that the packet was sent to, made if it is new; NULL: no memory. */
struct ft_nccl_stranger *ft_nccl_stranger_of(struct ft_nccl_stranger_table *table,
					     const struct ft_nccl_seen *seen);

/* Keep a write of it, if there is a log for it. */
void ft_nccl_stranger_keep(struct ft_nccl_stranger_table *table, struct ft_nccl_stranger *stranger,
			   const struct ft_nccl_seen *seen);

/* The first one from *at on that has a log, and *at behind it; begin with *at = 0. NULL: none. */
struct ft_nccl_stranger *ft_nccl_stranger_logged(const struct ft_nccl_stranger_table *table,
						 uint32_t *at);

/*
 * All that have a log and are between the two addresses of this one, whichever way, and some others: the first one if `at` is
 * NULL, else the one behind it. NULL: no more.
 */
struct ft_nccl_stranger *ft_nccl_stranger_between(const struct ft_nccl_stranger_table *table,
						  const struct ft_nccl_stranger *stranger,
						  const struct ft_nccl_stranger *at);

/* Its packets are not needed any more, for it is known what it is. */
void ft_nccl_stranger_exclude(struct ft_nccl_stranger_table *table,
			      struct ft_nccl_stranger *stranger);
void ft_nccl_stranger_forget(struct ft_nccl_stranger_table *table,
			     struct ft_nccl_stranger *stranger);
