#pragma once

#include <decode/decode.h>

#include <capture/frame.h>

#include "observe_digest.h"

/*
 * The address pair of a RoCEv2 frame, read without decoding it: Ethernet with at most one tag, then IPv4 without options
 * or IPv6, then UDP to a RoCE port. That begins no tunnel, so whatever else is said of the frame, and however broken it
 * is behind these bytes, its only packet has these two addresses.
 */

enum {
	FT_GLANCE_IP = 14,
	FT_GLANCE_TAGGED_IP = 18,
	FT_GLANCE_UDP = 17,
	FT_GLANCE_FCS = 4, /* at most, at the end of what was captured */
};

static inline uint16_t ft_glance_16(const uint8_t *b)
{
	return (uint16_t)(b[0] << 8 | b[1]);
}

/* `b`: from the UDP header on. */
static inline bool ft_glance_port(const struct ft_decode_config *config, const uint8_t *b)
{
	uint16_t port = ft_glance_16(b + 2);

	for (unsigned i = 0; i < config->roce_port_count; i++)
		if (config->roce_ports[i] == port)
			return true;
	return false;
}

/* Of an IPv4 address, which the decoder maps into IPv6: ::ffff:0:0/96. */
static inline uint64_t ft_glance_ipv4(const uint8_t *address)
{
	const uint8_t mapped[8] = {
		0, 0, 0xff, 0xff, address[0], address[1], address[2], address[3]
	};

	return ft_gid_digest(0, ft_load64(mapped));
}

static inline uint64_t ft_glance_ipv6(const uint8_t *address)
{
	return ft_gid_digest(ft_load64(address), ft_load64(address + 8));
}

/* True, and *pair as in struct ft_observed, if the frame is of that form. */
static inline bool ft_glance_pair(const struct ft_decode_config *config,
				  const struct ft_frame *frame, uint64_t *pair)
{
	const uint8_t *ip = frame->bytes + FT_GLANCE_IP;
	uint32_t left = frame->captured;
	uint16_t type;

	if (frame->link_type != FT_LINK_ETHERNET || left < FT_GLANCE_TAGGED_IP + 20 + 4)
		return false;
	type = ft_glance_16(ip - 2);
	left -= FT_GLANCE_IP;
	if (type == 0x8100) {
		ip += FT_GLANCE_TAGGED_IP - FT_GLANCE_IP;
		left -= FT_GLANCE_TAGGED_IP - FT_GLANCE_IP;
		type = ft_glance_16(ip - 2);
	}
	if (type == 0x0800 && ip[0] == 0x45 && ip[9] == FT_GLANCE_UDP &&
	    ft_glance_port(config, ip + 20)) {
		*pair = ft_glance_ipv4(ip + 12) + ft_glance_ipv4(ip + 16);
		return true;
	}
	if (type == 0x86dd && left >= 40 + 4 && ip[0] >> 4 == 6 && ip[6] == FT_GLANCE_UDP &&
	    ft_glance_port(config, ip + 40)) {
		*pair = ft_glance_ipv6(ip + 8) + ft_glance_ipv6(ip + 24);
		return true;
	}
	return false;
}
