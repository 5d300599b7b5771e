#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Three-valued check of a CRC: not checkable is neither good nor bad. */
enum ft_check { FT_CHECK_UNKNOWN, FT_CHECK_GOOD, FT_CHECK_BAD };

/* Headers present, innermost packet only unless noted. */
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
	FT_HAS_MAD =
		1u
		<< 20, /* the 24-byte common header was captured and a 256-byte MAD starts here */
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
	FT_HAS_SLL = 1u << 31,          /* Linux cooked capture: smac only */
};

/* Rules a packet broke, outside-in; the first one wins. Names: ft_malformed_name(). */
enum ft_malformed {
	FT_OK,
	FT_ERF_SHORT,
	FT_ERF_BAD_RLEN,
	FT_ERF_EXT_OVERRUN,
	FT_ETH_SHORT,
	FT_VLAN_TOO_DEEP,
	FT_MPLS_TOO_DEEP,
	FT_TUNNEL_TOO_DEEP,
	FT_IP_SHORT,
	FT_IP_BAD_VERSION,
	FT_IP_BAD_IHL,
	FT_IP_OPTIONS,
	FT_IP_BAD_LENGTH,
	FT_IP_FRAGMENT,
	FT_IP_EXT_TOO_DEEP,
	FT_UDP_SHORT,
	FT_UDP_BAD_LENGTH,
	FT_UDP_LENGTH_MISMATCH,
	FT_GRE_BAD_VERSION,
	FT_GRE_ROUTING,
	FT_GRE_SHORT,
	FT_ERSPAN_BAD_VERSION,
	FT_ERSPAN_SHORT,
	FT_VXLAN_BAD_FLAGS,
	FT_VXLAN_SHORT,
	FT_GENEVE_BAD_VERSION,
	FT_GENEVE_BAD_OPTLEN,
	FT_GENEVE_SHORT,
	FT_TZSP_BAD_TAGS,
	FT_TZSP_SHORT,
	FT_SFLOW_BAD_LENGTH,
	FT_LRH_SHORT,
	FT_LRH_BAD_LVER,
	FT_LRH_BAD_PKTLEN,
	FT_GRH_SHORT,
	FT_GRH_BAD_IPVER,
	FT_GRH_BAD_NXTHDR,
	FT_GRH_BAD_PAYLEN,
	FT_BTH_SHORT,
	FT_BAD_TVER,
	FT_RESERVED_OPCODE,
	FT_MANUFACTURER_OPCODE,
	FT_INVALID_PKEY,
	FT_EXTHDR_SHORT,
	FT_UNALIGNED_LENGTH,
	FT_CNP_BAD_LENGTH,
	FT_BAD_PADCNT,
	FT_PAYLOAD_NOT_ALLOWED,
	FT_ATOMIC_WRITE_LENGTH,
	FT_PAYLOAD_OVER_MTU,
	FT_PAYLOAD_NOT_MTU,
	FT_PAYLOAD_ZERO_LAST,
	FT_RETH_LEN_TOO_BIG,
	FT_RETH_LEN_MISMATCH,
	FT_ATOMIC_UNALIGNED,
	FT_QP0_ON_ROCE,
	FT_MCAST_QP_NOT_UD,
	FT_QP1_BAD_QKEY,
	FT_MAD_BAD_LENGTH,
	FT_MAD_BAD_VERSION,
	FT_BAD_ICRC,
	FT_BAD_VCRC,
	FT_MALFORMED_KINDS,
};

/* First header that the capture does not wholly hold. Names: ft_truncated_name(). */
enum ft_truncated {
	FT_COMPLETE,
	FT_CUT_ETH,
	FT_CUT_SLL,
	FT_CUT_VLAN,
	FT_CUT_MPLS,
	FT_CUT_AVSP,
	FT_CUT_IPV4,
	FT_CUT_IPV6,
	FT_CUT_UDP,
	FT_CUT_GRE,
	FT_CUT_ERSPAN,
	FT_CUT_MLNX8949,
	FT_CUT_VXLAN,
	FT_CUT_GENEVE,
	FT_CUT_TZSP,
	FT_CUT_SFLOW,
	FT_CUT_ERF,
	FT_CUT_LINK,
	FT_CUT_MACCTRL,
	FT_CUT_LRH,
	FT_CUT_RWH,
	FT_CUT_MIRROR1123,
	FT_CUT_GRH,
	FT_CUT_BTH,
	FT_CUT_RDETH,
	FT_CUT_DETH,
	FT_CUT_XRCETH,
	FT_CUT_RETH,
	FT_CUT_ATOMICETH,
	FT_CUT_AETH,
	FT_CUT_ATOMICACK,
	FT_CUT_IMMDT,
	FT_CUT_IETH,
	FT_CUT_FETH,
	FT_CUT_PAYLOAD,
	FT_CUT_ICRC,
	FT_CUT_VCRC,
	FT_TRUNCATED_KINDS,
};

/* Legal to decode, worth a flag; a bit set. Names by bit number: ft_alert_name(). */
enum ft_alert {
	FT_ALERT_BTH_RESERVED_BITS = 1u << 0,
	FT_ALERT_PAD_NONZERO = 1u << 1,
	FT_ALERT_AETH_RESERVED = 1u << 2,
	FT_ALERT_CNP_WITHOUT_BECN = 1u << 3,
	FT_ALERT_LINK_OP_RESERVED = 1u << 4,
	FT_ALERT_IP_BAD_CHECKSUM = 1u << 5,
	FT_ALERT_UDP_BAD_CHECKSUM = 1u << 6,
	FT_ALERT_UDP6_ZERO_CHECKSUM = 1u << 7,
};
#define FT_ALERT_KINDS 8

/* One accepted element of the encapsulation stack. */
enum ft_layer_kind {
	FT_LAYER_ERF,
	FT_LAYER_ETH,
	FT_LAYER_SLL,
	FT_LAYER_SLL2,
	FT_LAYER_VLAN,
	FT_LAYER_QINQ,
	FT_LAYER_QINQ9100,
	FT_LAYER_QINQ9200,
	FT_LAYER_MPLS,
	FT_LAYER_AVSP,
	FT_LAYER_MACCTRL,
	FT_LAYER_IPV4,
	FT_LAYER_IPV6,
	FT_LAYER_UDP,
	FT_LAYER_GRE,
	FT_LAYER_ERSPAN1,
	FT_LAYER_ERSPAN2,
	FT_LAYER_ERSPAN3,
	FT_LAYER_MLNX8949,
	FT_LAYER_NVGRE,
	FT_LAYER_VXLAN,
	FT_LAYER_GENEVE,
	FT_LAYER_TZSP,
	FT_LAYER_SFLOW5,
	FT_LAYER_LRH,
	FT_LAYER_RWH,
	FT_LAYER_MIRROR1123,
	FT_LAYER_GRH,
	FT_LAYER_BTH,
	FT_LAYER_MAD,
	FT_LAYER_KINDS,
};

struct ft_layer {
	uint8_t kind;    /* enum ft_layer_kind */
	uint8_t pcp;     /* VLAN kinds: priority */
	uint16_t offset; /* of its first byte in the frame, low 16 bits */
	uint32_t value;  /* VID, MPLS label, GRE protocol, VNI, VSID, ERF type; else 0 */
};

/* Bound by 4 tunnel levels, each with Ethernet, 8 tags, 8 labels, AVSP, IP, UDP or GRE, and the tunnel itself. */
#define FT_LAYERS_MAX  112
#define FT_TUNNELS_MAX 4
#define FT_VLANS_MAX   8

enum ft_tunnel_kind {
	FT_TUNNEL_GRE_TEB,
	FT_TUNNEL_ERSPAN1,
	FT_TUNNEL_ERSPAN2,
	FT_TUNNEL_ERSPAN3,
	FT_TUNNEL_MLNX8949,
	FT_TUNNEL_NVGRE,
	FT_TUNNEL_GRE_IP,
	FT_TUNNEL_VXLAN,
	FT_TUNNEL_GENEVE,
	FT_TUNNEL_TZSP,
	FT_TUNNEL_SFLOW5,
	FT_TUNNEL_MIRROR1123,
};

/* A tunnel that was peeled. Fields not named for a kind are undefined for it. */
struct ft_tunnel {
	uint8_t kind;                             /* enum ft_tunnel_kind */
	bool has_key, has_sequence, has_checksum; /* GRE forms */
	uint32_t key;                             /* GRE */
	uint32_t sequence;                        /* GRE */
	uint32_t vni;                             /* VXLAN, GENEVE: VNI; NVGRE: VSID. 24-bit */
	uint8_t option_bytes;                     /* GENEVE */
	/* ERSPAN II and III */
	uint16_t vlan, session; /* 12-bit, 10-bit */
	uint8_t cos, en_or_bso; /* 3-bit, 2-bit */
	bool cut;               /* T: the switch cut the copy */
	uint32_t index;         /* II: 20-bit */
	/* ERSPAN III */
	uint32_t timestamp;
	uint16_t sgt;
	bool pdu, egress, has_subheader;
	uint8_t frame_type, hardware_id, granularity;
	uint8_t platform_id;   /* top 6 bits of the sub-header */
	uint32_t subheader[2]; /* wire words */
	/* sFlow */
	uint32_t sampling_rate, frame_length, stripped, input, output;
	/* where the mirror packet itself went (outer addresses), IPv4 as ::ffff:a.b.c.d; for mirror-loss accounting */
	uint8_t outer_src[16], outer_dst[16];
};

enum ft_aeth_kind { FT_AETH_ACK, FT_AETH_RNR, FT_AETH_RESERVED, FT_AETH_NAK };

/*
 * About 1.5 KiB; the caller holds it and reuses it. The first part is what every RDMA frame writes.
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
	uint8_t tver; /* 4-bit; from here on: BTH */
	uint8_t opcode;
	uint8_t pad; /* 0..3 */
	bool solicited, migrated, ack_request, fecn, becn;
	uint16_t pkey; /* all 16 bits */
	uint16_t udp_sport, udp_dport;
	uint16_t vlan; /* outermost VID != 0 of the innermost Ethernet header; 0: untagged */
	uint32_t dest_qp, psn; /* 24-bit */
	uint32_t vni;          /* FT_HAS_VNI: innermost overlay */
	/*
	 * Without FT_HAS_BTH, and truncated == FT_CUT_BTH: bytes of the BTH that were captured, 0..11.
	 * opcode is known from 1, pkey from 4, dest_qp from 8; the others are not.
	 */
	uint8_t bth_captured;

	/*
	 * Network addresses of the RDMA packet: IPv4 as ::ffff:a.b.c.d, IPv6, or the GRH's GIDs. Valid with
	 * FT_HAS_IPV4, FT_HAS_IPV6 or FT_HAS_GRH; wire order. Natural flow-key material.
	 */
	uint8_t src[16], dst[16];
	uint8_t smac[6], dmac[6]; /* FT_HAS_ETH; FT_HAS_SLL: smac */
	uint8_t ttl, dscp, ecn;   /* IPv4/IPv6 (hop limit, traffic class) */
	uint16_t ip_id;           /* IPv4 */
	uint32_t flow_label;      /* IPv6: 20-bit */
	uint16_t udp_checksum;

	/* LRH, GRH (src and dst above are its GIDs; for IPv6-based RoCEv2 there is no GRH) */
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

const char *ft_malformed_name(enum ft_malformed kind);      /* "bad_icrc"; NULL for FT_OK */
const char *ft_truncated_name(enum ft_truncated kind);      /* "payload"; NULL for FT_COMPLETE */
const char *ft_alert_name(unsigned bit);                    /* bit number 0..FT_ALERT_KINDS-1 */
const char *ft_transport_name(enum ft_transport transport); /* "roce2"; NULL for none */

/* "vlan:100", "gre:88be", "eth" ... into text; returns its length, cut at `room` - 1. */
size_t ft_layer_text(const struct ft_layer *layer, char *text, size_t room);

const char *ft_tunnel_name(enum ft_tunnel_kind kind); /* "erspan2", "gre_teb", "vxlan" ... */
