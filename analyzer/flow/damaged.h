#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Packets that came with a wrong ICRC, by the half-connection and the PSN they seem to have. Nothing else of them is
 * believed; but where that PSN turns out to be missing, and was delivered, it is this packet that is here: damaged behind
 * the point where it was mirrored, and not lost. The last so many are remembered. Where something on the way rewrites all
 * packets of a half-connection, all of them are damaged: none costs more than another.
 */
enum { FT_DAMAGED_KEPT = 1 << 12, FT_DAMAGED_HEADS = 1 << 12 };

struct ft_damaged_packet {
	uint32_t flow; /* record number of the half that sent it; 0: nothing is here */
	/* 24-bit; answers with FT_DAMAGED_ANSWER: they count by the other half's requests */
	uint32_t psn;
	uint32_t older; /* number of the next of its chain, which may be gone */
};
#define FT_DAMAGED_ANSWER (UINT32_C(1) << 31)

/* All zero, but for the seed, is empty. Packets are numbered as they come, from 1; the numbers wrap. */
struct ft_damaged {
	uint64_t seed; /* decides which packets share a chain, never a result */
	struct ft_damaged_packet kept[FT_DAMAGED_KEPT];
	uint32_t heads[FT_DAMAGED_HEADS]; /* by flow and PSN: number of the newest; 0: none */
	uint32_t newest;
};

void ft_damaged_add(struct ft_damaged *damaged, uint32_t flow, uint32_t psn);

/* How many of `count` PSNs from `from` came damaged, each counted once. */
uint32_t ft_damaged_within(const struct ft_damaged *damaged, uint32_t flow, uint32_t from,
			   uint32_t count);
