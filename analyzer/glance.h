#pragma once

#include <string.h>

#include <capture/frame.h>
#include <decode/big_endian.h>
#include <decode/decode.h>

#include "observe_digest.h"

/*
 * The address pair of a RoCEv2 frame, read without decoding it: Ethernet with at most one tag, then IPv4 without options
 * or IPv6, then UDP to a RoCE port. That begins no tunnel, so whatever else is said of the frame, and however broken it
 * is behind these bytes, its only packet has these two addresses. The same for such a frame in the tunnels of
 * decode/around.h: its own pair. Of native InfiniBand with an LRH and a BTH behind it, the LIDs.
 */

struct ft_glance {
	uint64_t pair;  /* as in struct ft_observed */
	uint32_t ip_at; /* IPv4 in no tunnel: offset of its header; else 0, .. */
	bool numbered; /* .. then this is set: a mirror counted the frame, as in struct ft_observed */
	uint32_t mirror, sequence;
};

/* Offsets in the frame, then in the network headers. */
enum {
	FT_GLANCE_IP = 14,
	FT_GLANCE_TAGGED_IP = 18,
	FT_GLANCE_IPV4_LEN = 20,
	FT_GLANCE_IPV6_LEN = 40,
	FT_GLANCE_LRH_LEN = 8
};

/* Captured bytes that suffice: the FCS that the decoder may leave out is as long as the ports. */
enum { FT_GLANCE_PORTS = 4 };

/* As it stands in memory. */
static inline uint16_t ft_glance_word(const uint8_t *b)
{
	uint16_t word;

	memcpy(&word, b, sizeof word);
	return word;
}

static inline bool ft_glance_is_roce(const struct ft_decode_config *config, const uint8_t *udp)
{
	return ft_is_roce_port(config, ft_be16(udp + 2));
}

/* Of an IPv4 address, which the decoder maps into IPv6, ::ffff:0:0/96. */
static inline uint64_t ft_glance_ipv4(const uint8_t *address)
{
	return ft_gid_digest(0, ft_ipv4_interface(ft_load32(address)));
}

static inline uint64_t ft_glance_ipv6(const uint8_t *address)
{
	return ft_gid_digest(ft_load64(address), ft_load64(address + 8));
}

/* `left`: captured of the IPv6 header and what follows. */
static inline bool ft_glance_pair_ipv6(const struct ft_decode_config *config, const uint8_t *ip,
				       uint32_t left, uint64_t *pair)
{
	if (left < FT_GLANCE_IPV6_LEN + FT_GLANCE_PORTS || ip[0] >> 4 != 6 || ip[6] != 17 ||
	    !ft_glance_is_roce(config, ip + FT_GLANCE_IPV6_LEN))
		return false;
	*pair = ft_glance_ipv6(ip + 8) + ft_glance_ipv6(ip + 24);
	return true;
}

/* Where the network header of an Ethernet frame with no more than one tag is; its EtherType stands in front of it. */
static inline uint32_t ft_glance_network(const uint8_t *bytes)
{
	static const uint8_t tag[2] = { 0x81, 0x00 };

	return ft_glance_word(bytes + FT_GLANCE_IP - 2) == ft_glance_word(tag) ? FT_GLANCE_TAGGED_IP
									       : FT_GLANCE_IP;
}

/* The EtherType in front of an IPv4 header, and that it has no options. */
static inline bool ft_glance_is_ipv4(const uint8_t *ip)
{
	static const uint8_t asked[4] = { 0xff, 0xff, 0xff, 0 }, wanted[4] = { 0x08, 0x00, 0x45 };

	return (ft_load32(ip - 2) & ft_load32(asked)) == ft_load32(wanted);
}

/* Of `captured` bytes from an Ethernet header on, without a tunnel. */
static inline bool ft_glance_at_plain(const struct ft_decode_config *config, const uint8_t *bytes,
				      uint32_t captured, struct ft_glance *glance)
{
	static const uint8_t ipv6[2] = { 0x86, 0xdd };
	uint32_t ip_at;
	const uint8_t *ip;

	if (captured < FT_GLANCE_TAGGED_IP + FT_GLANCE_IPV4_LEN + FT_GLANCE_PORTS)
		return false;
	ip_at = ft_glance_network(bytes);
	ip = bytes + ip_at;
	if (__builtin_expect(!ft_glance_is_ipv4(ip), 0)) {
		glance->ip_at = 0;
		glance->numbered = false;
		return ft_glance_word(ip - 2) == ft_glance_word(ipv6) &&
		       ft_glance_pair_ipv6(config, ip, captured - ip_at, &glance->pair);
	}
	if (ip[9] != 17 || !ft_glance_is_roce(config, ip + FT_GLANCE_IPV4_LEN))
		return false;
	glance->ip_at = ip_at;
	glance->pair = ft_glance_ipv4(ip + 12) + ft_glance_ipv4(ip + 16);
	return true;
}

/* The same for a frame that is not plain. */
bool ft_glance_at_tunnel(const struct ft_decode_config *config, const struct ft_frame *frame,
			 struct ft_glance *glance);

/* An LRH that says that a BTH follows. */
static inline bool ft_glance_at_native(const struct ft_frame *frame, struct ft_glance *glance)
{
	const uint8_t *lrh = frame->bytes;

	if (frame->captured < FT_GLANCE_LRH_LEN || (lrh[1] & 3) != FT_LNH_BTH)
		return false;
	glance->ip_at = 0;
	glance->numbered = false;
	glance->pair = ft_short_digest(ft_be16(lrh + 2)) + ft_short_digest(ft_be16(lrh + 6));
	return true;
}

/* True, and *glance filled, if the frame is of that form. */
static inline bool ft_glance_at(const struct ft_decode_config *config, const struct ft_frame *frame,
				struct ft_glance *glance)
{
	if (frame->link_type != FT_LINK_ETHERNET)
		return frame->link_type == FT_LINK_INFINIBAND && ft_glance_at_native(frame, glance);
	return ft_glance_at_plain(config, frame->bytes, frame->captured, glance) ||
	       ft_glance_at_tunnel(config, frame, glance);
}
