#include <decode/around.h>

#include <assert.h>

#include <decode/brief.h>

#include "tunnel_headers.h"

enum { TAGS_MAX = 2, UDP_LEN = FT_BRIEF_UDP_LEN, PROTOCOL_UDP = 17, PROTOCOL_GRE = 47 };

/* What an IP header carries, in front of which no more than tags stand. */
struct datagram {
	uint32_t network_at;
	uint32_t at, captured, end; /* of what is behind that header */
	uint8_t protocol, ecn;
	bool is_ipv6;
};

static bool is_tag(uint16_t ethertype)
{
	return ethertype == 0x8100 || ethertype == 0x88a8 || ethertype == 0x9100 ||
	       ethertype == 0x9200;
}

static bool read_ipv4(const uint8_t *ip, uint32_t at, struct datagram *datagram)
{
	datagram->at = at + FT_BRIEF_UDP;
	datagram->end = at + ft_be16(ip + 2);
	datagram->protocol = ip[9];
	datagram->ecn = ip[1] & 3;
	datagram->is_ipv6 = false;
	return ft_brief_is_plain_ipv4(ip);
}

static bool read_ipv6(const uint8_t *ip, uint32_t at, struct datagram *datagram)
{
	datagram->at = at + FT_BRIEF_UDP6;
	datagram->end = datagram->at + ft_be16(ip + 4);
	datagram->protocol = ip[6];
	datagram->ecn = ip[1] >> 4 & 3;
	datagram->is_ipv6 = true;
	return ip[0] >> 4 == 6;
}

/* The network header of the frame inside: enough was captured for tags and an IPv4 header, and it is an IP header. */
static bool read_network(const uint8_t *bytes, uint32_t at, struct datagram *datagram)
{
	uint16_t ethertype;

	at += FT_BRIEF_ETHERNET_LEN;
	for (int tags = 0;; tags++, at += FT_BRIEF_TAG_LEN) {
		datagram->network_at = at;
		ethertype = ft_be16(bytes + at - 2);
		if (ethertype == 0x0800)
			return read_ipv4(bytes + at, at, datagram);
		if (tags == TAGS_MAX || !is_tag(ethertype))
			return ethertype == 0x86dd && read_ipv6(bytes + at, at, datagram);
	}
}

/* All that it takes to read on is there; false: something is cut, or lengths are at odds. */
static bool enter(const uint8_t *bytes, const struct ft_around *around, struct datagram *datagram)
{
	const uint32_t least = FT_BRIEF_ETHERNET_LEN + TAGS_MAX * FT_BRIEF_TAG_LEN + FT_BRIEF_UDP;

	if (around->captured - around->at < least || !read_network(bytes, around->at, datagram) ||
	    datagram->end > around->wire)
		return false;
	datagram->captured = datagram->end < around->captured ? datagram->end : around->captured;
	/* the shortest tunnel and an Ethernet header; what is shorter holds no frame */
	return datagram->at + UDP_LEN + FT_OVERLAY_LEN <= datagram->captured;
}

/* --- overlays over UDP --- */

/* Bytes of the header behind UDP; 0: it is of no such overlay, or holds no Ethernet frame. */
static uint32_t overlay_length(uint16_t port, const uint8_t *b)
{
	switch (port) {
	case FT_VXLAN_PORT:
	case FT_VXLAN_LINUX_PORT:
		return ft_vxlan_has_vni(b) ? FT_OVERLAY_LEN : 0;
	case FT_VXLAN_GPE_PORT:
		return ft_vxlan_has_vni(b) && ft_vxlan_next(b) == FT_VXLAN_NEXT_ETHERNET
			       ? FT_OVERLAY_LEN
			       : 0;
	case FT_GENEVE_PORT:
		return ft_geneve_is_version(b) && ft_be16(b + 2) == FT_GENEVE_ETHERNET
			       ? FT_OVERLAY_LEN + ft_geneve_options_length(b)
			       : 0;
	default:
		return 0;
	}
}

static void note_overlay(struct ft_around *around, const struct datagram *datagram, uint32_t vni)
{
	around->vni = vni;
	around->marked |= datagram->ecn == FT_ECN_CE;
}

static bool peel_udp(const struct ft_decode_config *config, const uint8_t *bytes,
		     const struct datagram *datagram, struct ft_around *around)
{
	const uint8_t *udp = bytes + datagram->at, *header = udp + UDP_LEN;
	uint16_t port = ft_be16(udp + 2);
	uint32_t length = overlay_length(port, header), at = datagram->at + UDP_LEN + length;

	if (length == 0 || at > datagram->captured ||
	    ft_be16(udp + 4) != datagram->end - datagram->at || ft_is_roce_port(config, port))
		return false;
	note_overlay(around, datagram, ft_overlay_vni(header));
	around->at = at;
	around->wire = datagram->end;
	return true;
}

/* --- GRE --- */

/* What the outermost tunnel tells. */
struct mirror {
	struct ft_gre gre;
	uint32_t length; /* of all headers */
	uint16_t session;
	uint8_t kind;
};

/* The header of ERSPAN; false: it is cut, of another version, or what follows is not Ethernet. */
static bool take_erspan2(const uint8_t *b, uint32_t left, struct mirror *mirror)
{
	if (left < FT_ERSPAN2_LEN || !ft_erspan_is_version(b, FT_ERSPAN2_VERSION))
		return false;
	mirror->session = ft_erspan_session(b);
	mirror->length += FT_ERSPAN2_LEN;
	return true;
}

static bool take_erspan3(const uint8_t *b, uint32_t left, struct mirror *mirror)
{
	uint16_t flags;

	if (left < FT_ERSPAN3_LEN || !ft_erspan_is_version(b, FT_ERSPAN3_VERSION))
		return false;
	flags = ft_be16(b + FT_ERSPAN3_FLAGS);
	if (ft_erspan3_frame_type(flags) != FT_ERSPAN_OF_ETHERNET)
		return false;
	mirror->session = ft_erspan_session(b);
	mirror->length += FT_ERSPAN3_LEN;
	if ((flags & FT_ERSPAN3_SUBHEADER) != 0)
		mirror->length += FT_ERSPAN3_SUBHEADER_LEN;
	return true;
}

/* By the protocol; `b`: behind GRE. */
static bool take_kind(uint16_t protocol, const uint8_t *b, uint32_t left, struct mirror *mirror)
{
	switch (protocol) {
	case FT_GRE_ERSPAN12:
		mirror->kind = mirror->gre.has_sequence ? FT_TUNNEL_ERSPAN2 : FT_TUNNEL_ERSPAN1;
		return !mirror->gre.has_sequence || take_erspan2(b, left, mirror);
	case FT_GRE_ERSPAN3:
		mirror->kind = FT_TUNNEL_ERSPAN3;
		return take_erspan3(b, left, mirror);
	case FT_GRE_ETHERNET:
		mirror->kind = ft_gre_is_nvgre(&mirror->gre) ? FT_TUNNEL_NVGRE : FT_TUNNEL_GRE_TEB;
		return true;
	default:
		return false;
	}
}

/* From a GRE header on, of which all words were captured. */
static bool read_mirror(const uint8_t *gre, uint32_t left, struct mirror *mirror)
{
	uint16_t flags = ft_be16(gre);
	const uint8_t *behind;

	if ((flags & (FT_GRE_VERSION | FT_GRE_HAS_ROUTING)) != 0)
		return false;
	behind = ft_gre_read_words(flags, gre + FT_GRE_LEN, &mirror->gre);
	mirror->length = (uint32_t)(behind - gre);
	mirror->session = 0;
	return take_kind(ft_be16(gre + 2), behind, left - mirror->length, mirror) &&
	       mirror->length <= left;
}

static void note_session(struct ft_around *around, const struct datagram *datagram,
			 const struct mirror *mirror)
{
	around->is_ipv6 = datagram->is_ipv6;
	around->network_at = datagram->network_at;
	around->has_sequence = mirror->gre.has_sequence;
	around->kind = mirror->kind;
	around->session = mirror->session;
	around->key = mirror->gre.key;
	around->sequence = mirror->gre.sequence;
}

static_assert(FT_GRE_LEN + FT_GRE_WORDS_MAX <= UDP_LEN + FT_OVERLAY_LEN, "captured, see enter()");

static bool peel_gre(const uint8_t *bytes, const struct datagram *datagram,
		     struct ft_around *around)
{
	struct mirror mirror;

	if (!read_mirror(bytes + datagram->at, datagram->captured - datagram->at, &mirror))
		return false;
	if (mirror.kind == FT_TUNNEL_NVGRE)
		note_overlay(around, datagram, ft_nvgre_vni(mirror.gre.key));
	if (around->depth == 0)
		note_session(around, datagram, &mirror);
	around->at = datagram->at + mirror.length;
	around->wire = FT_AROUND_UNKNOWN;
	return true;
}

bool ft_around_peel(const struct ft_decode_config *config, const uint8_t *bytes,
		    struct ft_around *around)
{
	struct datagram datagram = { 0 };
	bool peeled = false;

	if (around->depth == FT_TUNNELS_MAX || !enter(bytes, around, &datagram))
		return false;
	if (datagram.protocol == PROTOCOL_UDP)
		peeled = peel_udp(config, bytes, &datagram, around);
	else if (datagram.protocol == PROTOCOL_GRE)
		peeled = peel_gre(bytes, &datagram, around);
	if (!peeled)
		return false;
	around->captured = datagram.captured;
	around->depth++;
	return true;
}
