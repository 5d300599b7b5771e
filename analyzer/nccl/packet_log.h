#pragma once

#include <nccl/seen.h>

#include "history.h"

/*
 * Packets of one direction of a queue pair, kept until it turns out what they are of: writes only, with the first bytes
 * of their payload where they begin; packets in the middle of a write take one entry together. When it is full it begins
 * anew; most are forgotten after a few packets, so all of its memory is taken only where there are more.
 */
enum {
	FT_NCCL_LOG_BYTES = 12288, /* three messages of eight requests, and more */
	FT_NCCL_LOG_FIRST = 1024,  /* taken at first */
	FT_NCCL_LOG_CTS = 512,     /* payload kept of a write that may be clear-to-sends .. */
	FT_NCCL_LOG_DATA = 128     /* .. and of others */
};

struct ft_nccl_logged {
	struct ft_nccl_seen seen; /* its payload is what was kept */
	uint32_t run;             /* so many packets in a row, PSNs counting up from the first .. */
	uint64_t last_frame, last_ts_ns; /* .. until this one */
};

struct ft_nccl_log {
	struct ft_nccl_log *free; /* for whoever keeps logs that nobody needs */
	uint32_t used, count;
	uint32_t newest;   /* where its entry is, if count is not 0; .. */
	uint32_t first;    /* .. and the PSN of the oldest */
	uint32_t reached;  /* behind the highest PSN */
	uint32_t restarts; /* times it was full */
	uint32_t ended;    /* immediates in it */
	uint32_t room;     /* bytes taken so far */
	struct ft_nccl_history
		history; /* of what was in it when it was full, or had no room in it */
	uint8_t *bytes;
};

/* An empty log, whose memory ft_nccl_log_destroy() frees; NULL: there is none. */
struct ft_nccl_log *ft_nccl_log_create(void);
void ft_nccl_log_destroy(struct ft_nccl_log *log); /* NULL is fine */

/* It is empty again, and keeps its memory and how often it was full. */
void ft_nccl_log_clear(struct ft_nccl_log *log);

/* PSNs of all that passed before the offset `end`, back to when it was empty first. */
struct ft_nccl_history ft_nccl_log_history(const struct ft_nccl_log *log, uint32_t end);

/* Where it is full, or there is no memory for more, the packet begins it anew, unless it is there already. */
void ft_nccl_log_add(struct ft_nccl_log *log, const struct ft_nccl_seen *seen);

/*
 * The PSN behind the entry, if no hole comes between. With `ends_only` packets in the middle of a write are not in the log: the
 * last of the write is next.
 */
uint32_t ft_nccl_log_psn_behind(const struct ft_nccl_logged *logged, bool ends_only);

/* The entry at *at, and step over it; begin with *at = 0. False: behind the newest. Points into the log. */
bool ft_nccl_log_next(const struct ft_nccl_log *log, uint32_t *at, struct ft_nccl_logged *logged);

/* An entry before the offset `end` that has the packet `psn` of those that `seen` begins. False: there is none. */
bool ft_nccl_log_find(const struct ft_nccl_log *log, uint32_t end, const struct ft_nccl_seen *seen,
		      uint32_t psn, struct ft_nccl_logged *found);
