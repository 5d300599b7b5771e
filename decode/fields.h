#pragma once

#include <decode/aeth.h>

#include "checksum.h"
#include "pass.h"

/*
 * The fields of the usual headers, for their readers and for the way through all of them at once. Each takes the
 * whole header; `has` is the caller's.
 */

static inline void ft_ethernet_fields(struct ft_packet *packet, const uint8_t *b)
{
	static_assert(offsetof(struct ft_packet, smac) ==
			      offsetof(struct ft_packet, dmac) + sizeof packet->dmac,
		      "as on the wire");
	memcpy((uint8_t *)packet + offsetof(struct ft_packet, dmac), b,
	       sizeof packet->dmac + sizeof packet->smac);
}

static inline void ft_map_ipv4(uint8_t address[16], const uint8_t *b)
{
	static const uint8_t prefix[12] = { [10] = 0xff, 0xff };

	memcpy(address, prefix, sizeof prefix);
	memcpy(address + sizeof prefix, b, 4);
}

static inline void ft_ipv4_fields(struct ft_packet *packet, const uint8_t *b)
{
	uint8_t traffic_class = b[1];

	packet->ip_version = 4;
	packet->dscp = traffic_class >> 2;
	packet->ecn = traffic_class & 3;
	packet->ip_id = ft_be16(b + 4);
	packet->ttl = b[8];
	ft_map_ipv4(packet->src, b + 12);
	ft_map_ipv4(packet->dst, b + 16);
}

/* Of the header without options. */
static inline uint64_t ft_ipv4_sum(const uint8_t *b)
{
	return ft_sum_word(b) + ft_sum_word(b + 4) + ft_sum_word(b + 8) + ft_sum_word(b + 12) +
	       ft_sum_word(b + 16);
}

static inline bool ft_ipv4_is_fragment(const uint8_t *b)
{
	return (ft_be16(b + 6) & 0x3fff) != 0; /* more fragments, or an offset */
}

static inline void ft_udp_fields(struct ft_packet *packet, const uint8_t *b)
{
	packet->udp_sport = ft_be16(b);
	packet->udp_dport = ft_be16(b + 2);
	packet->udp_checksum = ft_be16(b + 6);
}

/* Rows of 32 bits, as the standard draws them; `flags` is b[1], or what of it may be other than zero. */
static inline void ft_bth_fields(struct ft_packet *packet, const uint8_t *b, uint8_t flags)
{
	uint32_t qp_row = ft_be32(b + 4), psn_row = ft_be32(b + 8);

	packet->opcode = b[0];
	packet->solicited = (flags & 0x80) != 0;
	packet->migrated = (flags & 0x40) != 0;
	packet->pad = flags >> 4 & 3;
	packet->tver = flags & 0x0f;
	packet->pkey = ft_be16(b + 2);
	packet->fecn = (qp_row & 0x80000000) != 0;
	packet->becn = (qp_row & 0x40000000) != 0;
	packet->dest_qp = qp_row & 0xffffff;
	packet->ack_request = (psn_row & 0x80000000) != 0;
	packet->psn = psn_row & 0xffffff;
	if ((qp_row & 0x3f000000) != 0)
		packet->alerts |= FT_ALERT_BTH_RESERVED_BITS;
}

static inline void ft_reth_fields(struct ft_packet *packet, const uint8_t *b)
{
	packet->reth.va = ft_be64(b);
	packet->reth.rkey = ft_be32(b + 8);
	packet->reth.length = ft_be32(b + 12);
}

static inline void ft_aeth_fields(struct ft_packet *packet, const uint8_t *b)
{
	packet->aeth.syndrome = b[0];
	packet->aeth.msn = ft_be24(b + 1);
	if (ft_aeth_is_reserved(b[0]))
		packet->alerts |= FT_ALERT_AETH_RESERVED;
}
