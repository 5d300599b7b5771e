#pragma once

/*
 * Headers behind which other packets travel, RDMA perhaps, that nothing here reads: encrypted, or tunnels of kinds that
 * no mirror and no overlay of RDMA is known to use. Such a packet is no RDMA as far as can be seen. Numbers: IANA, IEEE.
 */
enum ft_unopened {
	FT_UNOPENED_NONE,
	FT_UNOPENED_MACSEC,    /* EtherType 0x88e5, IEEE 802.1AE */
	FT_UNOPENED_ESP,       /* IP protocol 50, UDP port 4500: IPsec, RFC 4303, RFC 3948 */
	FT_UNOPENED_PSP,       /* UDP port 1000: PSP Security Protocol */
	FT_UNOPENED_WIREGUARD, /* UDP port 51820 */
	FT_UNOPENED_AH,        /* IP protocol 51: IPsec, RFC 4302; in the clear */
	FT_UNOPENED_IP_IN_IP,  /* IP protocols 4 and 41, RFC 2003, RFC 4213 */
	FT_UNOPENED_ETHERIP,   /* IP protocol 97, RFC 3378 */
	FT_UNOPENED_L2TP,      /* IP protocol 115, UDP port 1701: RFC 3931, RFC 2661 */
	FT_UNOPENED_MPLS, /* labels over something that is no IP packet; IP protocol 137, UDP port 6635: RFC 4023, RFC 7510 */
	FT_UNOPENED_GTP_U,       /* UDP port 2152, 3GPP TS 29.281 */
	FT_UNOPENED_LISP,        /* UDP port 4341, RFC 9300 */
	FT_UNOPENED_GRE_IN_UDP,  /* UDP port 4754, RFC 8086 */
	FT_UNOPENED_GUE,         /* UDP port 6080 */
	FT_UNOPENED_PPPOE,       /* EtherType 0x8864, RFC 2516 */
	FT_UNOPENED_PBB,         /* EtherType 0x88e7, IEEE 802.1ah */
	FT_UNOPENED_TRILL,       /* EtherType 0x22f3, RFC 6325 */
	FT_UNOPENED_FABRIC_PATH, /* EtherType 0x8903 */
	FT_UNOPENED_VN_TAG,      /* EtherType 0x8926 */
	FT_UNOPENED_E_TAG,       /* EtherType 0x893f, IEEE 802.1BR */
	FT_UNOPENED_HSR,         /* EtherType 0x892f, IEC 62439-3 */
	FT_UNOPENED_R_TAG,       /* EtherType 0xf1c1, IEEE 802.1CB */
	FT_UNOPENED_NSH,         /* EtherType 0x894f, RFC 8300 */
	FT_UNOPENED_GRE,         /* GRE with a protocol that is not read */
	FT_UNOPENED_VXLAN_GPE,   /* likewise */
	FT_UNOPENED_GENEVE,      /* likewise */
	FT_UNOPENED_KINDS
};

/* "macsec", "ip-in-ip" ..., static; NULL for FT_UNOPENED_NONE. */
const char *ft_unopened_name(enum ft_unopened kind);
