#pragma once

#include "straight.h"

/*
 * Lanes that take turns with messages, on the straight way: each message is brought by one of them, and is written to from
 * where it was asked for. Data asks for the cache line of its lane and half of one for its message, and for nothing of the
 * connection's.
 */

enum { FT_NCCL_ROTA_HALF = FT_NCCL_STRAIGHT_LEAST / 2 };
static_assert((int)FT_NCCL_ROTA_HALF == FT_NCCL_ASKED_AHEAD,
	      "a clear-to-send asks for the cache line of one message alone");

/* Where message k is: beside the one that may be over when it is asked for, and was asked for in the same place, mostly. */
static inline size_t ft_nccl_rota_place(uint64_t k)
{
	return k % FT_NCCL_ROTA_HALF * 2 + k / FT_NCCL_ROTA_HALF % 2;
}

static inline struct ft_nccl_rota_message *ft_nccl_rota_message(struct ft_nccl_straight *straight,
								uint64_t k)
{
	return &straight->rota[ft_nccl_rota_place(k)];
}

/* As ft_nccl_straight_take(); and the same of a packet to the receiver, on this lane. */
uintptr_t ft_nccl_rota_take(struct ft_nccl_straight *straight, uint32_t place,
			    const struct ft_nccl_glimpse *glimpse);
uintptr_t ft_nccl_rota_take_data(struct ft_nccl_straight_lane *lane,
				 const struct ft_nccl_glimpse *glimpse);

/*
 * The state of message k, asked for here, for which what of those before it is not over may have to be told from it: of so
 * many before it, at most.
 */
uint8_t ft_nccl_rota_ask(struct ft_nccl_straight *straight, uint64_t k, uint32_t va, uint64_t most);

/*
 * rota_turn.c: onto it and back, of what goes straight with several lanes. False: something of it does not fit. Messages from
 * `oldest` on have not all come yet.
 */
bool ft_nccl_rota_take_over(struct ft_nccl_followed *followed, uint64_t oldest);
void ft_nccl_rota_end(struct ft_nccl_followed *followed);

/* A message, and what its lane brought of it, as without a rota. */
struct ft_nccl_rota_told {
	struct ft_nccl_straight_whole whole;
	struct ft_nccl_straight_part part;
};
struct ft_nccl_rota_told ft_nccl_rota_tell(const struct ft_nccl_straight *straight, uint64_t k);
