#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <decode/layer.h>

/*
 * What the flow stage asks of a packet: taken from the decoder's result, small enough that blocks of
 * packets stay in the cache. Host byte order but for the MAC addresses.
 */

/* The first nine are where the decoder has them, in enum ft_has. */
enum ft_observed_has {
	FT_OBSERVED_ETH = 1u << 0,      /* dmac, smac */
	FT_OBSERVED_IPV4 = 1u << 1,     /* ip_id */
	FT_OBSERVED_UDP = 1u << 3,      /* sport */
	FT_OBSERVED_BTH = 1u << 6,      /* opcode, psn, dest_qp, pkey: all of it was captured */
	FT_OBSERVED_DETH = 1u << 8,     /* src_qp, qkey */
	FT_OBSERVED_RETH = 1u << 11,    /* va, rkey, length */
	FT_OBSERVED_ATOMIC = 1u << 12,  /* va, rkey */
	FT_OBSERVED_AETH = 1u << 13,    /* syndrome */
	FT_OBSERVED_PAYLOAD = 1u << 17, /* payload: known from the lengths, even if it was cut */
	FT_OBSERVED_IP = 1u << 2,       /* ttl, dscp, ecn */
	FT_OBSERVED_ACK_REQUEST = 1u << 18,
	FT_OBSERVED_BECN = 1u << 19,
	FT_OBSERVED_FECN = 1u << 20,
	/* no field can be trusted: the flow stage leaves it alone */
	FT_OBSERVED_BAD_ICRC = 1u << 21,
	/* content: enough was captured to tell packets apart by it */
	FT_OBSERVED_CONTENT = 1u << 22,
	FT_OBSERVED_WHOLE = 1u << 23,  /* nothing was cut off */
	FT_OBSERVED_MIRROR = 1u << 24, /* mirror, mirror_sequence */
	FT_OBSERVED_UPWARD = 1u << 25, /* tells the two directions of a pair apart, no more */
};

/* How sure it is that two packets with the same bytes are copies of one: analyzer/flow/copies.h. */
enum ft_alike {
	FT_ALIKE_SEQUENCED, /* has a PSN of its own: the same bytes again are a copy or sent again */
	FT_ALIKE_PLAIN, /* CNP, pause, link packet, TCP reset, or cut before a PSN: many of them are alike */
	FT_ALIKE_FOREIGN, /* not RDMA, with enough bytes to tell it from others */
};

/* What packets without an extended header do not have stands at the end. */
struct ft_observed {
	uint64_t ts_ns; /* since 1970; FT_TS_UNKNOWN (UINT64_MAX): none */
	uint64_t frame; /* number in the capture, from 1 */
	/* of all bytes that neither a mirror nor a hop changes: for finding copies */
	uint64_t digest;
	uint64_t pair; /* of the two addresses, in either order */
	uint32_t has;  /* enum ft_observed_has */
	/* digest of what a transport repeats unchanged: operation, extended headers, payload */
	uint32_t content;
	/* what only a hop changes: 24 bits of digest of the MAC addresses, time to live */
	uint32_t hop;
	uint32_t payload;      /* bytes, without pad */
	uint32_t icrc;         /* as it stands in memory; 0: not captured, or behind IP options */
	uint32_t dest_qp, psn; /* 24-bit */
	uint8_t dmac[6];
	uint8_t smac[6]; /* from here to dscp: as in struct ft_sender_look */
	uint16_t sport, ip_id;
	uint8_t ttl, dscp, ecn;
	uint8_t opcode;
	uint16_t pkey; /* all 16 bits */
	uint16_t vlan; /* 0: untagged */
	uint8_t alike; /* enum ft_alike */

	uint8_t syndrome;
	uint8_t mirror_sequence_bits; /* 16 or 32: where mirror_sequence wraps */
	uint32_t src_qp;              /* 24-bit */
	uint64_t va;
	union {
		uint32_t rkey; /* RETH, ATOMIC */
		uint32_t qkey; /* DETH without one of those */
	};
	union {
		uint32_t length; /* of the whole message, RETH */
		uint32_t msn;    /* 24-bit, AETH: messages the responder has completed */
	};
	uint32_t mirror; /* digest of the mirror session (outermost tunnel: addresses, kind, id) */
	uint32_t mirror_sequence; /* its own count of frames */
};

/* Met congestion: ECN says so or, without IP, FECN. */
static inline bool ft_is_marked(const struct ft_observed *observed)
{
	if ((observed->has & FT_OBSERVED_IP) != 0)
		return observed->ecn == FT_ECN_CE;
	return (observed->has & FT_OBSERVED_FECN) != 0;
}

/* Marked, or without IP one that tells of it. */
static inline bool ft_has_mark(const struct ft_observed *observed)
{
	if ((observed->has & FT_OBSERVED_IP) != 0)
		return observed->ecn == FT_ECN_CE;
	return (observed->has & (FT_OBSERVED_FECN | FT_OBSERVED_BECN)) != 0;
}

enum { FT_OPCODE_CNP = 0x81 };

/* Tells its receiver to slow down: a CNP or, without IP, BECN on any packet. */
static inline bool ft_is_notice(const struct ft_observed *observed)
{
	return observed->opcode == FT_OPCODE_CNP ||
	       (observed->has & (FT_OBSERVED_IP | FT_OBSERVED_BECN)) == FT_OBSERVED_BECN;
}
