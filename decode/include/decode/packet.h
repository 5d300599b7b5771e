#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <decode/layer.h>
#include <decode/unopened.h>
#include <decode/verdict.h>

/*
 * What one pass over a captured frame says about it. Host byte order unless "wire order" is said.
 * A member is meaningful only if its bit in `has` is set: nothing is cleared per frame.
 */

enum ft_transport {
	FT_TRANSPORT_NONE,
	FT_TRANSPORT_ROCE1,
	FT_TRANSPORT_ROCE2,
	FT_TRANSPORT_IB,
	FT_TRANSPORT_IB_LINK
};

/* The DestQP of datagrams to a multicast group. */
enum { FT_MULTICAST_QP = 0xffffff };

/* Headers present in the innermost packet. MIRROR, VNI, AVSP, TRAILER and ERF outlast the tunnel they were met outside of. */
enum ft_has {
	FT_HAS_ETH = 1u << 0, /* dmac, smac */
	FT_HAS_IPV4 = 1u << 1,
	FT_HAS_IPV6 = 1u << 2,
	FT_HAS_UDP = 1u << 3,
	FT_HAS_GRH = 1u << 4,
	FT_HAS_LRH = 1u << 5,
	FT_HAS_BTH = 1u << 6,
	FT_HAS_RDETH = 1u << 7, /* extended headers: in wire order from here .. */
	FT_HAS_DETH = 1u << 8,
	FT_HAS_XRCETH = 1u << 9,
	FT_HAS_FETH = 1u << 10,
	FT_HAS_RETH = 1u << 11,
	FT_HAS_ATOMICETH = 1u << 12,
	FT_HAS_AETH = 1u << 13,
	FT_HAS_ATOMICACK = 1u << 14,
	FT_HAS_IMMDT = 1u << 15,
	FT_HAS_IETH = 1u << 16,           /* .. to here */
	FT_HAS_PAYLOAD_LENGTH = 1u << 17, /* payload_length is computable from the length fields */
	FT_HAS_ICRC = 1u << 18,           /* icrc[4] was captured */
	FT_HAS_VCRC = 1u << 19,           /* vcrc[2] was captured */
	FT_HAS_MAD = 1u << 20,    /* a 256-byte MAD starts here, its common header was captured */
	FT_HAS_MIRROR = 1u << 21, /* outermost tunnel of any kind: tunnels[0] */
	FT_HAS_RWH = 1u << 22,
	FT_HAS_AVSP = 1u << 23,
	FT_HAS_TRAILER = 1u << 24,
	FT_HAS_ERF = 1u << 25,
	FT_HAS_LINK = 1u << 26,         /* InfiniBand link packet */
	FT_HAS_MACCTRL = 1u << 27,      /* pause or PFC */
	FT_HAS_PAYLOAD = 1u << 28,      /* payload_offset is inside the capture */
	FT_HAS_AMBIGUOUS_RD = 1u << 29, /* opcode 0x40-0x5f read as RD, could be DC */
	FT_HAS_VNI = 1u << 30,          /* vni: the innermost overlay (VXLAN, GENEVE, NVGRE) */
	FT_HAS_SLL = 1u << 31,          /* Linux cooked capture with a MAC address: smac only */
};

/* What begins behind a UDP header, by its destination port. */
enum ft_port_use { FT_PORT_UNKNOWN, FT_PORT_ROCE, FT_PORT_TUNNEL, FT_PORT_OTHER };

/* What follows an LRH: a raw packet of another kind or of IPv6, or a BTH, alone or behind a GRH. */
enum ft_lnh { FT_LNH_RAW, FT_LNH_IPV6, FT_LNH_BTH, FT_LNH_GRH };

enum ft_aeth_kind { FT_AETH_ACK, FT_AETH_RNR, FT_AETH_RESERVED, FT_AETH_NAK };

/*
 * About 2 KiB; the caller holds it and reuses it. The first part is what every RDMA frame writes.
 */
struct ft_packet {
	uint32_t has;                              /* enum ft_has bits */
	uint8_t transport;                         /* enum ft_transport */
	uint8_t malformed;                         /* enum ft_malformed */
	uint8_t truncated;                         /* enum ft_truncated */
	uint8_t alerts;                            /* enum ft_alert bits */
	uint8_t icrc_check, vcrc_check, fcs_check; /* enum ft_check */
	uint8_t ip_version;                        /* 4 or 6 with FT_HAS_IPV4/6 */
	uint8_t layer_count, vlan_count, tunnel_count;
	uint8_t unopened; /* enum ft_unopened: what follows the headers and is not read */
	uint8_t tver;     /* 4-bit; from here on: BTH */
	uint8_t opcode;
	uint8_t pad; /* 0..3 */
	bool solicited, migrated, ack_request, fecn, becn;
	uint16_t udp_sport, udp_dport;
	uint16_t pkey; /* all 16 bits */
	/* outermost VID != 0 of the innermost Ethernet header that no mirror put there; 0: untagged */
	uint16_t vlan;
	uint32_t dest_qp, psn; /* 24-bit */
	uint32_t vni;          /* FT_HAS_VNI: innermost overlay */
	/*
	 * Without FT_HAS_BTH, and truncated == FT_CUT_BTH: bytes of the BTH that were captured, 0..11.
	 * opcode is known from 1, pkey from 4, dest_qp from 8; the others are not.
	 */
	uint8_t bth_captured;
	uint8_t port_use; /* enum ft_port_use; with truncated == FT_CUT_UDP alone: how far that goes */

	/*
	 * Network addresses of the RDMA packet: IPv4 as ::ffff:a.b.c.d, IPv6, or the GRH's GIDs. Valid with
	 * FT_HAS_IPV4, FT_HAS_IPV6 or FT_HAS_GRH; wire order. Natural flow-key material.
	 */
	uint8_t src[16], dst[16];
	uint8_t dmac[6], smac[6]; /* FT_HAS_ETH; FT_HAS_SLL: smac */
	uint16_t ip_id;           /* IPv4 */
	uint8_t ttl, dscp, ecn;   /* IPv4/IPv6 (hop limit, traffic class) */
	uint32_t flow_label;      /* IPv6: 20-bit */
	uint16_t udp_checksum;

	/* LRH (lnh: enum ft_lnh), GRH (src and dst above are its GIDs; for IPv6-based RoCEv2 there is no GRH) */
	struct {
		uint8_t vl, lver, sl, lnh;
		uint16_t dlid, slid, pkt_len;
	} lrh;
	struct {
		uint8_t ip_ver, tclass, next_hdr, hop_limit;
		uint32_t flow_label;
		uint16_t pay_len;
	} grh;

	/* extended headers */
	struct {
		uint32_t eecn;
	} rdeth;
	struct {
		uint32_t qkey, src_qp;
	} deth;
	struct {
		uint32_t srqn;
	} xrceth;
	struct {
		uint64_t va;
		uint32_t rkey, length;
	} reth;
	struct {
		uint64_t va, swap_add, compare;
		uint32_t rkey;
	} atomiceth;
	struct {
		uint32_t msn;
		uint8_t syndrome;
	} aeth;
	struct {
		uint64_t original;
	} atomicack;
	uint32_t immdt;
	uint32_t ieth_rkey;
	struct {
		uint8_t placement, selectivity;
	} feth;

	/* payload and CRCs; offsets from the frame's first byte */
	uint32_t payload_offset, payload_captured; /* FT_HAS_PAYLOAD */
	uint32_t payload_length;  /* FT_HAS_PAYLOAD_LENGTH: without pad, from the length fields */
	uint8_t icrc[4], vcrc[2]; /* wire order */

	/* MAD common header */
	struct {
		uint8_t base_version, mgmt_class, class_version, method;
		uint16_t status, class_specific, attr_id;
		uint32_t attr_mod;
		uint64_t tid;
	} mad;

	/* seldom present */
	uint16_t rwh_ethertype;
	struct {
		uint16_t version;
		uint32_t seconds, ns;
	} avsp;
	struct {
		uint8_t kind; /* 0 metamako, 1 exablaze */
		uint64_t ts_ns;
	} trailer;
	struct {
		uint8_t type, flags;
		uint16_t lctr, wlen;
		uint8_t ext_count;
		uint8_t ext[64];
	} erf;
	struct {
		uint8_t op, vl;
		uint16_t fctbs, fccl;
		bool lpcrc_known, lpcrc_good;
	} link;
	struct {
		uint16_t opcode, enable;
		uint16_t quanta[8];
		uint8_t quanta_count;
	} macctrl;

	struct ft_tunnel tunnels[FT_TUNNELS_MAX];
	struct ft_layer layers[FT_LAYERS_MAX];
};

/* "roce1", "roce2", "ib", "ib_link"; NULL for FT_TRANSPORT_NONE. Static. */
const char *ft_transport_name(enum ft_transport transport);
