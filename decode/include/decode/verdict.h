#pragma once

/*
 * What is wrong with a packet: three judgements that must not be mixed. Malformed is the packet's
 * doing, truncated the capture's, and an alert breaks no rule.
 */

/* Three-valued check of a CRC: not checkable is neither good nor bad. */
enum ft_check { FT_CHECK_UNKNOWN, FT_CHECK_GOOD, FT_CHECK_BAD };

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

/* First header that the capture does not wholly hold. Names, those of the stack: ft_truncated_name(). */
enum ft_truncated {
	FT_COMPLETE,
	FT_CUT_ETH,
	FT_CUT_SLL,
	FT_CUT_SLL2,
	FT_CUT_VLAN,
	FT_CUT_MPLS,
	FT_CUT_AVSP,
	FT_CUT_IPV4,
	FT_CUT_IPV6,
	FT_CUT_UDP,
	FT_CUT_GRE,
	FT_CUT_ERSPAN2,
	FT_CUT_ERSPAN3,
	FT_CUT_MLNX8949,
	FT_CUT_VXLAN,
	FT_CUT_GENEVE,
	FT_CUT_TZSP,
	FT_CUT_SFLOW5,
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

/* "bad_icrc", as records and reports write it; NULL for FT_OK. Static. */
const char *ft_malformed_name(enum ft_malformed kind);

/* "payload", the header's name; NULL for FT_COMPLETE. Static. */
const char *ft_truncated_name(enum ft_truncated kind);

/* "pad_nonzero", by bit number, 0..FT_ALERT_KINDS-1, not by the bit. Static. */
const char *ft_alert_name(unsigned bit);
