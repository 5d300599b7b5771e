#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * What NCCL's InfiniBand transport puts into RDMA writes: the receiver's clear-to-send entries, and the sender's
 * answers. NCCL has no written specification: the layouts are the C structures of its releases (src/transport/net_ib.cc
 * and net_ib/), as a little-endian 64-bit host keeps them in memory. Checked against traffic of 2.10 to 2.30.
 */

enum ft_nccl_verdict {
	FT_NCCL_READ, /* the output is filled */
	FT_NCCL_CUT,  /* it can be, but more bytes are needed; the output is as it was */
	FT_NCCL_NOT,  /* the bytes cannot be of this form; the output is as it was */
};

/* The payload of one write. */
struct ft_nccl_write {
	const uint8_t *bytes;
	uint32_t captured; /* bytes that may be read, of the first packet at least */
	uint32_t length;   /* of the whole write, as RETH or the length fields say */
};

/*
 * Clear-to-send (CTS): the receiver of data writes one entry per expected request into a FIFO in the sender's memory,
 * which has a slot for every message under way. Entries of one slot are consecutive.
 */
enum ft_nccl_family {
	FT_NCCL_A, /* 2.3.5 - 2.7.8 */
	FT_NCCL_B, /* 2.8.3 - 2.11.4 */
	FT_NCCL_C, /* 2.12.7 - 2.19.4 */
	FT_NCCL_D, /* 2.20.3 - 2.23.4 */
	FT_NCCL_E, /* 2.24.3 - 2.29.7 */
	FT_NCCL_F, /* 2.30.3 - 2.30.7 */
	FT_NCCL_FAMILIES
};

enum { FT_NCCL_REQUESTS_MAX = 8, FT_NCCL_RKEYS_MAX = 8 };

/* How a family's FIFO is laid out. */
struct ft_nccl_fifo {
	uint16_t entry_bytes;
	uint16_t slot_bytes;  /* from slot to slot; a slot has room for the most entries */
	uint16_t entries;     /* of a slot, at most */
	uint16_t slots;       /* of the family's last release */
	uint16_t slots_first; /* of its first release; differs for C: 64 before 2.19 */
	uint8_t rkeys;        /* of an entry */
	uint8_t number_at;    /* where in an entry the message's number is .. */
	uint8_t number_bytes; /* .. little-endian; 4: counts from 0; 8: from 1 */
};

/* Static, never NULL. `family` is one of the six. */
const struct ft_nccl_fifo *ft_nccl_fifo(enum ft_nccl_family family);

/* 'A' .. 'F', as documents write it. `family` is one of the six. */
char ft_nccl_family_letter(enum ft_nccl_family family);

/* Where in a FIFO at `base` with `slots` slots (not 0) message `sequence`, from 0, is announced: its first entry. */
uint64_t ft_nccl_slot_va(enum ft_nccl_family family, uint64_t base, uint64_t sequence,
			 uint32_t slots);

/* Sets of families: bit 1 << family. */
struct ft_nccl_fits {
	uint8_t possible; /* nothing that was captured speaks against them */
	uint8_t shown;    /* of these: all telling fields were captured, and gaps are zero */
};

/*
 * The families that a WRITE without immediate can be a CTS of. One write is weak evidence for A (one word that is 1);
 * for all, two in a row whose addresses and sequence numbers agree (ft_nccl_slot_va()) are strong.
 */
struct ft_nccl_fits ft_nccl_cts_fits(const struct ft_nccl_write *write);

/* Some family is possible: nothing else is asked. */
bool ft_nccl_cts_may_be(const struct ft_nccl_write *write);

/*
 * What every layout has in front, those of no release, too: the address of a buffer, of 48 bits as they are in practice.
 * False where it was not captured.
 */
bool ft_nccl_begins_with_address(const struct ft_nccl_write *write);

enum ft_nccl_cts_has {
	FT_NCCL_CTS_SIZE = 1u << 0,
	FT_NCCL_CTS_REQUESTS = 1u << 1,
	FT_NCCL_CTS_TAG = 1u << 2, /* never in A and B */
};

struct ft_nccl_cts {
	uint64_t addr;     /* of the receive buffer; always known */
	uint64_t size;     /* what it holds at most, not the length of the message; 0 occurs */
	uint64_t sequence; /* of the message, from 0; the low `sequence_bits` bits of it */
	uint32_t rkeys[FT_NCCL_RKEYS_MAX]; /* by device of the receiver, unused ones 0; secrets */
	uint32_t requests;                 /* entries of this CTS, 1..8 */
	int32_t tag; /* normally the rank of the data's sender in the top-level communicator */
	uint8_t has; /* enum ft_nccl_cts_has: a member without its bit is 0 */
	uint8_t rkey_count;    /* captured ones, in front */
	uint8_t sequence_bits; /* 0: not captured; A and B have 32, the others 64; less if cut */
};

/*
 * Entry `index` of a CTS of `family`: FT_NCCL_NOT if the family is not possible for the write or has no such entry,
 * FT_NCCL_CUT if not even the address was captured.
 */
enum ft_nccl_verdict ft_nccl_cts_read(enum ft_nccl_family family, const struct ft_nccl_write *write,
				      uint32_t index, struct ft_nccl_cts *entry);

/* Tags with a meaning of their own, where they are not ranks: which they are only the connection's use tells. */
enum {
	FT_NCCL_TAG_SHARP = 0x69,      /* the SHARP plugin's out-of-band ring */
	FT_NCCL_TAG_GIN_GATHER = 0xa0, /* set-up of GPU-initiated networking, 2.28 and later */
	FT_NCCL_TAG_GIN = 0xa1,
	FT_NCCL_TAG_BOOTSTRAP = 0x40000000 /* bootstrap over this transport */
};

/*
 * Immediates. The decoder reads ImmDt as the big-endian number that the standard makes it. NCCL put its own number
 * there in the order of the host up to 2.28, and converts it since 2.29.2.
 */
enum ft_nccl_order { FT_NCCL_LITTLE, FT_NCCL_BIG };

/* The number that was meant. */
uint32_t ft_nccl_immediate(uint32_t immdt, enum ft_nccl_order order);

/* The orders, bits 1 << order, in which `immdt` means `number`: both for 0 and the like. */
uint8_t ft_nccl_immediate_orders(uint32_t immdt, uint32_t number);

/* Which of 2 to 8 requests sent together were not empty, as the immediate said it before 2.20. */
enum ft_nccl_mask {
	FT_NCCL_MASK_BYTES, /* 2.12: a byte each of the first four, the others are not told */
	FT_NCCL_MASK_BITS,  /* 2.13 - 2.19 */
};

/*
 * *filled has bit r for request r. FT_NCCL_NOT if the immediate says something else than so many yes and no, or
 * `requests` is not 2..8; never FT_NCCL_CUT.
 */
enum ft_nccl_verdict ft_nccl_mask_read(uint32_t immdt, enum ft_nccl_mask mask, uint32_t requests,
				       uint8_t *filled);

/* The lengths of 2 to 8 requests sent together: the payload of their last write, 2.20 and later. */
struct ft_nccl_sizes {
	uint32_t sizes[FT_NCCL_REQUESTS_MAX];
	uint8_t requests; /* in the write */
	uint8_t captured; /* sizes, in front; the others are 0 */
};

/*
 * FT_NCCL_NOT if the length is not that of 2 to 8 sizes or one is negative; FT_NCCL_CUT if not even one was captured.
 */
enum ft_nccl_verdict ft_nccl_sizes_read(const struct ft_nccl_write *write,
					struct ft_nccl_sizes *sizes);

/* From slot to slot of the receiver's array of sizes, and of its completion records since 2.29.7. */
enum { FT_NCCL_SIZES_BYTES = 32, FT_NCCL_RECORD_BYTES = 160 };

/*
 * Failover (2.29.7 and later): after an error the sender reads, on a queue pair for this alone, which queue pairs the
 * receiver has heard the end of a message on: the 128 flags behind the sizes of the message's completion record.
 */
enum { FT_NCCL_PROBE_AT = 32, FT_NCCL_PROBE_BYTES = 128 };

/* The slot such a READ asks about, given where the records begin; -1: it is no such READ. */
int32_t ft_nccl_probed_slot(uint64_t records, uint64_t va, uint32_t length);

/*
 * Port recovery (2.30): zero-length UC SENDs with immediate, in the order of the host. The sender counts from 0; the
 * receiver answers with one number, and the sender repeats it. A packet is of this form by its connection, not by its
 * number: any number counts.
 */
enum { FT_NCCL_RECOVERY_ANSWER = 0x1234 };

/* Whether the immediate, as the decoder reads it, is the answer's number in the order of a little-endian host. */
bool ft_nccl_is_recovery_answer(uint32_t immdt);

/*
 * Protocols with flags in the data, so that a receiver sees it come without being told. Every line of a message has the
 * same flag: the connection's step, from 1. SIMPLE data has no form.
 */
enum {
	FT_NCCL_LL_LINE = 16,         /* u32 data, flag, data, flag */
	FT_NCCL_LL_MAX = 65536,       /* bytes of a message */
	FT_NCCL_LL128_LINE = 128,     /* fifteen u64 of data, u64 flag */
	FT_NCCL_LL128_LINE_RCCL = 64, /* seven */
	/* a message is whole units of lines, the last one's rest undefined */
	FT_NCCL_LL128_UNIT = 2048,
	FT_NCCL_LL128_MAX = 614400,
};

struct ft_nccl_lines {
	uint64_t flag;
	uint32_t lines;     /* captured whole, each with this flag: the more, the surer */
	uint32_t data_most; /* bytes of data that the message can hold */
};

/*
 * A data write as LL: its flags are looked at in all lines captured. FT_NCCL_CUT if fewer than two whole lines of a
 * longer message were. The flag of a message in slot s of the eight is s + 1 modulo 8.
 */
enum ft_nccl_verdict ft_nccl_ll_read(const struct ft_nccl_write *write,
				     struct ft_nccl_lines *lines);

/* The same as LL128, with lines of FT_NCCL_LL128_LINE or FT_NCCL_LL128_LINE_RCCL bytes. One line is enough to read. */
enum ft_nccl_verdict ft_nccl_ll128_read(const struct ft_nccl_write *write, uint32_t line_bytes,
					struct ft_nccl_lines *lines);
