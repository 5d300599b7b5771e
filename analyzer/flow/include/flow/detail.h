#pragma once

#include <flow/observed.h>
#include <flow/tracker.h>

/*
 * What only the flow table's document shows of a half-connection: kept beside the records, by record
 * number, and only if asked for (`fabtap flows`). Reserved once for as many records as the table has.
 */
struct ft_details;

enum { FT_DETAIL_OPCODES = 28, FT_DETAIL_SIZES = 8, FT_DETAIL_RTTS = 16 };

/* Values seen, most often exact: when there are more than fit, the two nearest become one. */
struct ft_sample {
	uint32_t value, count;
};

struct ft_detail {
	uint64_t first_frame; /* number of the first frame; 0: the record is not in use */
	uint64_t first_ns, payload_bytes;
	uint64_t ce_marked, cnps, acks, rnr_naks;
	uint64_t retransmitted, reordered, copies, fabric_lost, mirror_lost;
	uint64_t messages[FT_MESSAGE_KINDS];
	uint32_t naks[5]; /* by code */
	uint32_t psn_first, psn_last;
	uint32_t size_min, size_max; /* of messages */
	uint32_t rtt_min_ns;
	uint16_t pkey; /* all 16 bits as first seen */
	uint8_t opcode_count, size_count, rtt_count;
	uint8_t opcodes[FT_DETAIL_OPCODES];
	uint32_t opcode_packets[FT_DETAIL_OPCODES];
	struct ft_sample sizes[FT_DETAIL_SIZES];
	struct ft_sample rtts[FT_DETAIL_RTTS]; /* ns, of requests sent on this half */
};

/* 0 or -ENOMEM. `capacity`: of the flow table. */
int ft_details_create(struct ft_details **details, uint32_t capacity);
void ft_details_destroy(struct ft_details *details); /* NULL is fine */

/* The record's, all zero at first; `number` from 1. */
struct ft_detail *ft_details_of(const struct ft_details *details, uint32_t number);

/* The record holds another half-connection from now on. */
void ft_details_clear(struct ft_details *details, uint32_t number);

/* Count a packet of the record: `copy` says that the mirror made it (then only that is counted; step is not read). */
void ft_details_count(struct ft_details *details, uint32_t number,
		      const struct ft_observed *observed, const struct ft_step *step, bool copy);

/* Median and 99th percentile of samples sorted by value; 0 if there are none. */
uint32_t ft_sample_quantile(const struct ft_sample *samples, unsigned count, double quantile);
