#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * One direction of a TCP connection, put together from segments in any order: repeated ones, overlapping ones (the first
 * copy of a byte stays), pieces of any size. Only a window is kept, with so many holes at most; what finds no room is lost
 * unless it is sent again.
 *
 *     base          ready                             FT_NCCL_WINDOW
 *      | bytes there  |  hole  | span |  hole  | span |
 */
enum { FT_NCCL_WINDOW = 8192, FT_NCCL_SPANS_MAX = 32 };

struct ft_nccl_half {
	uint8_t *window; /* FT_NCCL_WINDOW bytes, not the half's own */
	uint32_t start;  /* sequence number of the direction's first byte */
	uint32_t base;   /* of window[0] */
	int32_t reached; /* so many bytes from `base` were sent, as numbers say, captured or not */
	bool has_base;
	uint8_t span_count;
	struct {
		uint16_t from, to;
	} spans[FT_NCCL_SPANS_MAX]; /* in order, never touching */
	uint8_t waited;             /* segments that came in front of their time */
	bool is_lost;               /* where messages begin is not known */
	uint32_t process;           /* who sends: FT_NCCL_NONE, or of processes.h */
};

/* `sequence` is that of the first byte. What came before is forgotten if it was taken for another one. */
void ft_nccl_half_start(struct ft_nccl_half *half, uint32_t sequence);

/* The half must have begun. */
void ft_nccl_half_put(struct ft_nccl_half *half, uint32_t sequence, const uint8_t *bytes,
		      uint32_t size);

/* A number says that all bytes before `sequence` were sent. */
void ft_nccl_half_reach(struct ft_nccl_half *half, uint32_t sequence);

/* So many bytes of the window can be read, without a hole. */
uint32_t ft_nccl_half_ready(const struct ft_nccl_half *half);

/* So many bytes can be read from place `at` of the window on, a hole before it or not. */
uint32_t ft_nccl_half_ready_at(const struct ft_nccl_half *half, uint32_t at);

/* Move on by so many bytes, there or not. */
void ft_nccl_half_drop(struct ft_nccl_half *half, uint32_t bytes);

/* Forget what is there and go on at `sequence`. */
void ft_nccl_half_restart(struct ft_nccl_half *half, uint32_t sequence);
