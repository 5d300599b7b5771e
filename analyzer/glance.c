#include "glance.h"

#include <decode/brief.h>

/* Sizes in bytes, and a bit, of VXLAN (RFC 7348). */
enum {
	UDP_LEN = 8,
	VXLAN_LEN = 8,
	VXLAN_VNI = 0x08,
	NO_TUNNEL = 0,
};

/* Bytes in front of the Ethernet frame in a GRE tunnel of `left` captured bytes. */
static uint32_t gre_length(const uint8_t *b, uint32_t left)
{
	struct ft_brief_mirror mirror;

	return ft_brief_gre(b, left, &mirror) ? mirror.length : NO_TUNNEL;
}

/* The same for VXLAN; `size`: of the UDP datagram by the IP header. */
static uint32_t vxlan_length(const uint8_t *b, uint32_t left, uint32_t size)
{
	uint16_t port;

	if (left < UDP_LEN + VXLAN_LEN || ft_be16(b + 4) != size)
		return NO_TUNNEL;
	port = ft_be16(b + 2);
	if ((port != 4789 && port != 8472) || (b[UDP_LEN] & VXLAN_VNI) == 0)
		return NO_TUNNEL;
	return UDP_LEN + VXLAN_LEN;
}

/* Bytes in front of the Ethernet frame in a datagram of this protocol. */
static uint32_t tunnel_length(uint8_t protocol, const uint8_t *b, uint32_t left, uint32_t size)
{
	switch (protocol) {
	case 17:
		return vxlan_length(b, left, size);
	case 47:
		return gre_length(b, left);
	default:
		return NO_TUNNEL;
	}
}

/* Whole, and as long as the frame has room for: else what it carries is not looked at. */
static bool is_datagram(const uint8_t *ip, uint32_t room)
{
	uint32_t size = ft_be16(ip + 2);

	return ip[0] == 0x45 && (ft_be16(ip + 6) & 0x3fff) == 0 && size >= FT_GLANCE_IPV4_LEN &&
	       size <= room;
}

bool ft_glance_at_tunnel(const struct ft_decode_config *config, const struct ft_frame *frame,
			 struct ft_glance *glance)
{
	uint32_t wire = frame->original > frame->captured ? frame->original : frame->captured;
	uint32_t ip_at, left, size, length;
	const uint8_t *ip, *carried;

	if (frame->captured < FT_GLANCE_TAGGED_IP + FT_GLANCE_IPV4_LEN || frame->fcs_bytes != 0)
		return false;
	ip_at = ft_glance_network(frame->bytes);
	ip = frame->bytes + ip_at;
	if (ft_be16(ip - 2) != 0x0800 || !is_datagram(ip, wire - ip_at))
		return false;
	size = ft_be16(ip + 2);
	left = size < frame->captured - ip_at ? size : frame->captured - ip_at;
	carried = ip + FT_GLANCE_IPV4_LEN;
	left -= FT_GLANCE_IPV4_LEN;
	length = tunnel_length(ip[9], carried, left, size - FT_GLANCE_IPV4_LEN);
	if (length == NO_TUNNEL || length >= left ||
	    !ft_glance_at_plain(config, carried + length, left - length, glance))
		return false;
	glance->ip_at = 0;
	return true;
}
