#pragma once

#include "followed.h"

/*
 * Where a connection's FIFO is, and how many slots it has: from the set-up, or learnt from the addresses of clear-to-sends.
 * Builds of NCCL may have other numbers of slots than its releases: those that no wrap has excluded yet stay possible. Slots of
 * another size are learnt where entries can be read (lock_agree.c, ft_nccl_fifo_learn()).
 */

/* Addresses of messages k and `other` are of one FIFO, with some number of slots. */
bool ft_nccl_fifo_agrees(uint16_t slot_bytes, uint64_t va, uint64_t k, uint64_t other_va,
			 uint64_t other);

/* Whether an address lies in the FIFO, as far as it is known. */
bool ft_nccl_fifo_has(const struct ft_nccl_followed *followed, uint64_t va);

/* Whether it is the key of the FIFO on one of its devices, or none is known yet. */
bool ft_nccl_fifo_has_key(const struct ft_nccl_followed *followed, uint32_t rkey);

/* The slot of message k is at `va`, as far as is known. */
bool ft_nccl_fifo_may_place(const struct ft_nccl_followed *followed, uint64_t va, uint64_t k);

/* Message k was announced at `va`: false if it cannot have been, and nothing is learnt. */
bool ft_nccl_fifo_place(struct ft_nccl_followed *followed, uint64_t va, uint32_t rkey, uint64_t k);

/* As the slots of a build of NCCL may be, of FIFOs with entries of `entry_bytes`. */
bool ft_nccl_fifo_may_step(uint64_t slot_bytes, uint16_t entry_bytes);

/*
 * After one clear-to-send alone, the next message's, number k, was announced at `va`, where it cannot be by the slots that releases
 * of `family` have: those of this build are learnt. False if it may not be so, and nothing is learnt.
 */
bool ft_nccl_fifo_learn(struct ft_nccl_followed *followed, enum ft_nccl_family family, uint64_t va,
			uint64_t k);

/* Choose the number of slots, by those that are possible and what the family has. */
void ft_nccl_fifo_tell(struct ft_nccl_followed *followed);

/* It is known from elsewhere how many slots it has: false if that cannot be, and nothing is learnt. */
bool ft_nccl_fifo_narrow(struct ft_nccl_followed *followed, uint16_t slots);

/* The fewest and the most slots that it may have; 0: not known. */
uint32_t ft_nccl_fifo_slots_least(const struct ft_nccl_followed *followed);
uint32_t ft_nccl_fifo_slots_most(const struct ft_nccl_followed *followed);

/* Its slots, if there is nothing left to be learnt of them and they are a power of two; else 0. */
uint16_t ft_nccl_fifo_slots_sure(const struct ft_nccl_followed *followed);
