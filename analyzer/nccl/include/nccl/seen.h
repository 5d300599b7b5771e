#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <capture/frame.h>
#include <decode/packet.h>

/*
 * What NCCL's follower asks of an RDMA packet and of a TCP segment. Host byte order; bytes are the frame's, and
 * are looked at only during the call they are handed to.
 */

/* Where a packet comes from and goes to: as in struct ft_flow_key. */
struct ft_nccl_ends {
	uint8_t src[16],
		dst[16]; /* IP (IPv4 in ::ffff:0:0/96) or GID; LIDs in the last two bytes */
	uint32_t by_lid; /* 1: they hold LIDs */
	uint32_t vni;    /* of the overlay, 24-bit; UINT32_MAX: none; or ft_nccl_vlan_apart() */
};

/* A LID as an address: in the last two bytes, in the order of the wire, the others 0. A flow's key has it otherwise: ft_flow_lid(). */
static inline void ft_nccl_put_lid(uint8_t address[16], uint16_t lid)
{
	memset(address, 0, 14);
	address[14] = (uint8_t)(lid >> 8);
	address[15] = (uint8_t)lid;
}

static inline uint16_t ft_nccl_lid(const uint8_t address[16])
{
	return (uint16_t)(address[14] << 8 | address[15]);
}

/* Of a packet with these LIDs in its LRH, in this overlay: `vni` as in struct ft_nccl_ends. */
struct ft_nccl_ends ft_nccl_ends_by_lid(uint16_t slid, uint16_t dlid, uint32_t vni);

/* In no overlay, but in a VLAN where addresses and queue pairs are others than those of the same name elsewhere. */
static inline uint32_t ft_nccl_vlan_apart(uint16_t vlan)
{
	return UINT32_C(1) << 24 | vlan;
}

static inline bool ft_nccl_is_vlan_apart(uint32_t vni)
{
	return vni >> 24 == 1;
}

struct ft_nccl_seen {
	uint64_t frame; /* number in the capture, from 1 */
	uint64_t ts_ns; /* FT_TS_UNKNOWN: none */
	struct ft_nccl_ends ends;
	uint16_t slid, dlid; /* by_lid 0: of the LRH in front of a GRH; 0: there are none */
	/* enum ft_has bits: RETH, AETH, IMMDT, ATOMICETH, DETH, UDP, MAD, PAYLOAD_LENGTH */
	uint32_t has;
	uint32_t dest_qp, psn; /* 24-bit */
	uint32_t qkey, src_qp; /* DETH */
	uint8_t opcode;
	uint8_t syndrome;      /* AETH */
	uint8_t traffic_class; /* DSCP and ECN, or the GRH's; 0 without */
	bool ack_request;
	uint16_t udp_sport;
	uint16_t pkey;
	uint16_t vlan; /* of the frame, or the overlay's frame in it; 0: untagged */
	uint32_t msn;  /* AETH */
	uint32_t immdt;
	uint64_t va; /* RETH, AtomicETH */
	uint32_t rkey;
	uint32_t length; /* RETH: of the whole write or read */
	const uint8_t *payload;
	uint32_t captured;       /* bytes of the payload that may be read */
	uint32_t payload_length; /* of this packet, without pad; 0 if it is not known */
};

/*
 * False if the packet is no RDMA packet to be trusted: no whole BTH, malformed, with a wrong ICRC, or without
 * addresses; *seen is written either way. Its payload is the frame's.
 */
bool ft_nccl_seen_of(const struct ft_packet *packet, const struct ft_frame *frame,
		     struct ft_nccl_seen *seen);

struct ft_nccl_segment {
	uint64_t frame, ts_ns;
	uint8_t src[16], dst[16]; /* IPv4 in ::ffff:0:0/96 */
	uint32_t vni;             /* as in struct ft_nccl_ends */
	uint16_t vlan;            /* as in struct ft_nccl_seen */
	uint16_t sport, dport;
	uint32_t sequence;
	uint32_t acknowledgment; /* next byte wanted of the other side; if `ack` */
	bool syn, fin, rst, ack;
	const uint8_t *payload;
	uint32_t captured; /* bytes that may be read */
	uint32_t length;   /* of the payload on the wire */
};

/*
 * False, and *segment as it was, if the packet is no TCP segment in one piece whose header was captured, its options
 * aside; or a sample of sFlow, or in a frame of more than 64 KiB. Its payload is the frame's.
 */
bool ft_nccl_segment_of(const struct ft_packet *packet, const struct ft_frame *frame,
			struct ft_nccl_segment *segment);
