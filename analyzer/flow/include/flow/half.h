#pragma once

#include <assert.h>
#include <stdint.h>

/*
 * Transport state of a half-connection, 64 bytes: where its requests stand in PSN space, what of
 * them is not accounted for, and what it has answered to the other half. PSNs are 24-bit.
 */

#define FT_PSN_NONE UINT32_MAX
#define FT_PSN_ANEW (UINT32_MAX - 1) /* first_psn: another sequence was here before */

/* answer_first: added to the PSN of the first response seen, of a READ whose First was not */
#define FT_ANSWER_JOINED (UINT32_C(1) << 24)

/* message_bytes: of a READ whose length was cut away; of a message that is not told from others lost round it */
#define FT_LENGTH_CUT     UINT32_MAX
#define FT_LENGTH_UNKNOWN UINT32_MAX

/* How the two halves of a connection were found; the smaller the surer. */
enum ft_paired_by {
	FT_PAIRED_NOT,
	FT_PAIRED_CM,           /* REQ and REP named both queue pairs */
	FT_PAIRED_NCCL,         /* NCCL's set-up named them */
	FT_PAIRED_UD_SOURCE_QP, /* each names the other in its DETH */
	FT_PAIRED_TRANSPORT,    /* answers agree with requests in PSN */
	FT_PAIRED_SOURCE_PORT,  /* RoCEv2 source port, the same in both directions */
};

enum { FT_PAIRED_BITS = 7 }; /* that it needs */

enum ft_half_flags {
	FT_HALF_START_SEEN = 1u << 0, /* the set-up was seen: nothing was sent before it */
	FT_HALF_NAKED = 1u << 1,      /* the peer asked for nak_psn and what follows it again */
	FT_HALF_IN_MESSAGE = 1u << 2, /* First seen, Last not yet */
	FT_HALF_ANSWERING = 1u << 3,  /* READ response seen, its Last not yet */
	/* the last READ request: how many PSNs it takes is not known yet */
	FT_HALF_SPAN_UNKNOWN = 1u << 4,
	FT_HALF_GOING_BACK = 1u << 5,  /* sending again what passed before; until a new request */
	FT_HALF_MTU_GUESSED = 1u << 6, /* mtu is only known not to be smaller */
	FT_HALF_MET = 1u << 7,         /* has, or had, a peer */
};

enum { FT_OUTSIDE_RUN_SHIFT = 24 }; /* of ft_half.outside */

struct ft_half {
	uint32_t next_psn; /* expected of the next new request; FT_PSN_NONE: none seen */
	/* newest PSN of requests sent here that the peer answered for; FT_PSN_NONE */
	uint32_t acked;
	/* newest PSN of the peer's requests that this half answered for; FT_PSN_NONE */
	uint32_t answered;
	uint32_t answer_next; /* PSN expected of the next READ response packet; FT_PSN_NONE */
	/* both, from bit 24 on: how often requests were refused soon after that; 8: too often */
	union {
		uint32_t nak_psn; /* with FT_HALF_NAKED */
		/* without: first request seen of the first sequence; FT_PSN_NONE, FT_PSN_ANEW */
		uint32_t first_psn;
	};
	/* PSN ranges not accounted for: first of a list in the tracker; 0: none */
	uint32_t spans : 21;
	uint32_t span_traits : 11; /* what may be in it: enum ft_span_traits of the tracker */
	union {
		uint32_t message_psn; /* of the message being sent, its first; FT_PSN_NONE */
		/* no request is known to be its own yet (next_psn): the newest that may be; FT_PSN_NONE */
		uint32_t doubted_psn;
	};
	/* of the message being sent: RETH's, or so far; FT_LENGTH_CUT, _UNKNOWN */
	uint32_t message_bytes;
	uint32_t asked_psn; /* request whose answer is timed; FT_PSN_NONE */
	union {
		/* no peer yet: record number of the half that may be it; 0: none */
		uint32_t candidate;
		uint32_t msn; /* with a peer: newest MSN of the answers that moved on; 0: none */
	};
	uint64_t asked_ns;
	uint16_t mtu;           /* path MTU learnt, bytes; 0: not yet */
	uint8_t flags;          /* enum ft_half_flags */
	uint8_t pair_bits;      /* evidence for `paired_by`, in bits: certainty is 1 - 2^-bits */
	uint8_t candidate_bits; /* likewise for `candidate` */
	uint8_t service; /* enum ft_service of the first packet that was not a CNP; 0xff: none yet */
	uint16_t span_count : 12; /* ranges in the list of `spans` */
	uint16_t filling : 1;     /* of some: FT_SPAN_FILLING of the tracker */
	uint16_t paired_by : 3;   /* enum ft_paired_by */
	uint32_t answer_first;    /* of the READ being answered, its first; or FT_ANSWER_JOINED */
	/* another sequence: requests of it in a row, << 24, and the PSN it would go on with; 0: none */
	uint32_t outside;
};
static_assert(sizeof(struct ft_half) == 64, "a cache line");
