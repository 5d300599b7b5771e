#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <decode/psn.h>

/*
 * Packet sequence numbers of the requests that one queue pair sends: which were seen. A few holes are remembered, the
 * newest: what fills an older one counts as sent again.
 */
enum { FT_NCCL_HOLES = 32, FT_NCCL_PSN_WINDOW = 1 << 16 };

/* Packets in a row. */
struct ft_nccl_psn_range {
	uint32_t psn, count;
};

struct ft_nccl_psns {
	uint32_t next; /* behind the newest seen */
	bool known;    /* `next` is */
	uint8_t hole_count;
	uint32_t origin; /* the first one that was seen */
	/* oldest first; whatever from `hole_count` on */
	struct ft_nccl_psn_range holes[FT_NCCL_HOLES];
};

enum ft_nccl_turn {
	FT_NCCL_NEXT,  /* the one expected, or the first */
	FT_NCCL_AHEAD, /* some before it were not seen */
	FT_NCCL_LATE,  /* fills a hole */
	FT_NCCL_AGAIN, /* was seen before */
	FT_NCCL_APART, /* of another sequence: farther away than transport can be */
};

/* What the other side acknowledged of them. */
struct ft_nccl_acked {
	bool known;
	bool ordered; /* what was seen by then was acknowledged, too */
	uint32_t psn; /* the newest */
};

/* None was seen yet; they may be whatever. */
void ft_nccl_psns_clear(struct ft_nccl_psns *psns);

/* As far as it is used; not onto itself. */
void ft_nccl_psns_copy(struct ft_nccl_psns *to, const struct ft_nccl_psns *from);

/* What `psn` is; nothing is changed. */
enum ft_nccl_turn ft_nccl_psns_judge(const struct ft_nccl_psns *psns, uint32_t psn);

/* It was seen. Returns how many fewer (or, negative, more) packets are missing than before. */
int32_t ft_nccl_psns_take(struct ft_nccl_psns *psns, uint32_t psn, enum ft_nccl_turn turn);

/* Of those in `range` the ones that are remembered: seen before, or late; none of before the window. */
struct ft_nccl_psn_range ft_nccl_psns_remembered(const struct ft_nccl_psns *psns,
						 const struct ft_nccl_psn_range *range);

/* They were seen, all of which are remembered. Returns how many fewer packets are missing than before. */
uint32_t ft_nccl_psns_fill(struct ft_nccl_psns *psns, const struct ft_nccl_psn_range *range);

/* One of before `origin` was seen: that is the first now. Returns how many are missing between the two. */
uint32_t ft_nccl_psns_precede(struct ft_nccl_psns *psns, uint32_t psn);

/* `psn`, which is behind `origin`, is the next one, whatever was seen from there on. Returns how many more are missing than before. */
int32_t ft_nccl_psns_end(struct ft_nccl_psns *psns, uint32_t psn);

/* An ACK of all up to `psn`; and whether one that passes now had been acknowledged before. */
void ft_nccl_acknowledge(struct ft_nccl_acked *acked, const struct ft_nccl_psns *psns,
			 uint32_t psn);
bool ft_nccl_is_acknowledged(const struct ft_nccl_acked *acked, uint32_t psn,
			     enum ft_nccl_turn turn);
