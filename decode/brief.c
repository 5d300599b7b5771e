#include <decode/brief.h>

bool ft_brief_find_ipv6(const struct ft_decode_config *config, const struct ft_decode_input *input,
			struct ft_brief *brief)
{
	const uint32_t least = FT_BRIEF_ETHERNET_LEN + FT_BRIEF_TAG_LEN + FT_BRIEF_UDP6 +
			       FT_BRIEF_UDP_LEN + FT_BRIEF_BTH_LEN;
	const uint8_t *ip;

	if (!ft_brief_link(input, least))
		return false;
	brief->form = FT_BRIEF_OVER_IPV6;
	brief->ethernet_at = 0;
	brief->ip_at = ft_brief_network(input->bytes);
	ip = input->bytes + brief->ip_at;
	if (ft_be16(ip - 2) != 0x86dd || ip[0] >> 4 != 6 || ip[6] != 17)
		return false;
	return ft_brief_transport(config, input, brief->ip_at + FT_BRIEF_UDP6, ft_be16(ip + 4),
				  brief);
}

/* --- mirrored --- */

enum {
	GRE_LEN = 4,
	GRE_CHECKSUM = 0x8000,
	GRE_ROUTING = 0x4000,
	GRE_KEY = 0x2000,
	GRE_SEQUENCE = 0x1000,
	GRE_VERSION = 0x0007,
	GRE_PROTOCOL = 47,
	ERSPAN2_LEN = 8,
	ERSPAN3_LEN = 12,
	ERSPAN3_SUBHEADER = 8,
	ERSPAN3_OF_IP = 0x7c00, /* or of another type, but of Ethernet */
	ERSPAN_SESSION = 0x03ff,
};

/* Adds the length of the header; false: it is cut, or another version. */
static bool take_erspan2(const uint8_t *b, uint32_t left, struct ft_brief_mirror *mirror)
{
	if (left < ERSPAN2_LEN || b[0] >> 4 != 1)
		return false;
	mirror->session = ft_be16(b + 2) & ERSPAN_SESSION;
	mirror->length += ERSPAN2_LEN;
	return true;
}

static bool take_erspan3(const uint8_t *b, uint32_t left, struct ft_brief_mirror *mirror)
{
	uint16_t flags;

	if (left < ERSPAN3_LEN || b[0] >> 4 != 2)
		return false;
	flags = ft_be16(b + 10);
	if ((flags & ERSPAN3_OF_IP) != 0)
		return false;
	mirror->session = ft_be16(b + 2) & ERSPAN_SESSION;
	mirror->length += ERSPAN3_LEN + (flags & 1u) * ERSPAN3_SUBHEADER;
	return true;
}

/* Checksum, key and sequence number are words that may be there, in this order. */
static uint32_t take_words(uint16_t flags, const uint8_t *b, struct ft_brief_mirror *mirror)
{
	uint32_t at = (flags & GRE_CHECKSUM) != 0 ? 4 : 0;

	if ((flags & GRE_KEY) != 0) {
		mirror->key = ft_be32(b + at);
		at += 4;
	}
	mirror->has_sequence = (flags & GRE_SEQUENCE) != 0;
	if (!mirror->has_sequence)
		return at;
	mirror->sequence = ft_be32(b + at);
	return at + 4;
}

/* By the protocol; `b`: behind GRE. A key and nothing else is an overlay's. */
static bool take_kind(uint16_t protocol, uint16_t flags, const uint8_t *b, uint32_t left,
		      struct ft_brief_mirror *mirror)
{
	switch (protocol) {
	case 0x88be:
		mirror->kind = mirror->has_sequence ? FT_TUNNEL_ERSPAN2 : FT_TUNNEL_ERSPAN1;
		return !mirror->has_sequence || take_erspan2(b, left, mirror);
	case 0x22eb:
		mirror->kind = FT_TUNNEL_ERSPAN3;
		return take_erspan3(b, left, mirror);
	case 0x6558:
		mirror->kind = FT_TUNNEL_GRE_TEB;
		return (flags & (GRE_CHECKSUM | GRE_KEY | GRE_SEQUENCE)) != GRE_KEY;
	default:
		return false;
	}
}

bool ft_brief_gre(const uint8_t *gre, uint32_t left, struct ft_brief_mirror *mirror)
{
	uint16_t flags;

	*mirror = (struct ft_brief_mirror){ 0 };
	if (left < GRE_LEN + 3 * 4)
		return false;
	flags = ft_be16(gre);
	if ((flags & (GRE_VERSION | GRE_ROUTING)) != 0)
		return false;
	mirror->length = GRE_LEN + take_words(flags, gre + GRE_LEN, mirror);
	return take_kind(ft_be16(gre + 2), flags, gre + mirror->length, left - mirror->length,
			 mirror) &&
	       mirror->length <= left;
}

/* How much of the mirrored frame there was, by itself: a mirror says nothing of what it cut off. */
static uint32_t length_of(const uint8_t *bytes, uint32_t captured)
{
	uint32_t ip_at = ft_brief_network(bytes), end = ip_at + ft_be16(bytes + ip_at + 2);

	return end > captured ? end : captured;
}

/* Behind all headers of the tunnel, from `at` on: offsets are the frame's. */
static bool find_inside(const struct ft_decode_config *config, const struct ft_decode_input *input,
			uint32_t at, struct ft_brief *brief)
{
	struct ft_decode_input inner = *input;

	if (input->captured < at + FT_BRIEF_LEAST)
		return false;
	inner.bytes += at;
	inner.captured -= at;
	inner.wire = length_of(inner.bytes, inner.captured);
	if (!ft_brief_find(config, &inner, brief))
		return false;
	brief->ethernet_at = at;
	brief->ip_at += at;
	brief->payload_at += at;
	brief->end += at;
	return brief->end > input->captured || input->captured == input->wire;
}

bool ft_brief_find_mirrored(const struct ft_decode_config *config,
			    const struct ft_decode_input *input, struct ft_brief *brief,
			    struct ft_brief_mirror *mirror)
{
	uint32_t ip_at, gre_at;
	const uint8_t *ip;

	if (!ft_brief_link(input, FT_BRIEF_LEAST))
		return false;
	ip_at = ft_brief_network(input->bytes);
	gre_at = ip_at + FT_BRIEF_UDP;
	ip = input->bytes + ip_at;
	if (ft_be16(ip - 2) != 0x0800 || !ft_brief_is_plain_ipv4(ip) || ip[9] != GRE_PROTOCOL ||
	    ip_at + ft_be16(ip + 2) != input->wire || input->captured > input->wire ||
	    !ft_brief_gre(input->bytes + gre_at, input->captured - gre_at, mirror))
		return false;
	mirror->ip = ip;
	return find_inside(config, input, gre_at + mirror->length, brief);
}

/* --- native --- */

enum { VCRC_LEN = 2 };

/* Captured as a whole, with its VCRC or without, or cut before its end. */
static bool is_held(const struct ft_decode_input *input, const struct ft_brief *brief)
{
	if (input->captured < brief->end)
		return brief->payload_at <= input->captured && brief->end <= input->wire;
	return input->captured == input->wire &&
	       (input->wire == brief->end || input->wire == brief->end + VCRC_LEN);
}

bool ft_brief_find_native(const struct ft_decode_input *input, struct ft_brief *brief)
{
	const uint8_t *lrh = input->bytes, *bth = lrh + FT_BRIEF_LRH_LEN;
	uint32_t others;

	if (input->link_type != FT_LINKTYPE_INFINIBAND ||
	    input->captured < FT_BRIEF_LRH_LEN + FT_BRIEF_BTH_LEN || (lrh[0] & 0x0f) != 0 ||
	    (lrh[1] & 3) != FT_LNH_BTH || (bth[1] & 0x3f) != 0 || (ft_be32(bth + 4) & 0xffffff) < 2)
		return false;
	brief->form = FT_BRIEF_NATIVE;
	brief->ethernet_at = brief->ip_at = 0;
	brief->shape = ft_opcode_shape(bth[0]);
	brief->end = (ft_be16(lrh + 4) & 0x07ff) * 4u;
	others = FT_BRIEF_LRH_LEN + FT_BRIEF_BTH_LEN + brief->shape->length + FT_BRIEF_ICRC_LEN;
	if (!brief->shape->brief || brief->end < others)
		return false;
	brief->payload_length = brief->end - others;
	brief->payload_at = others - FT_BRIEF_ICRC_LEN;
	return is_held(input, brief);
}
