#include <decode/brief.h>

static bool is_ipv6_at(const struct ft_decode_input *input, uint32_t at)
{
	const uint8_t *bytes = input->bytes + at;

	return ft_be16(bytes + ft_brief_network(bytes) - 2) == 0x86dd;
}

/* The usual form over IPv6, as ft_brief_find_at() has it over IPv4; it is known to be that. */
static bool find_ipv6_at(const struct ft_decode_config *config, struct ft_decode_input input,
			 uint32_t at, struct ft_brief *brief)
{
	const uint32_t least = FT_BRIEF_ETHERNET_LEN + FT_BRIEF_TAG_LEN + FT_BRIEF_UDP6 +
			       FT_BRIEF_UDP_LEN + FT_BRIEF_BTH_LEN;
	const uint8_t *ip;

	if (input.captured < at + least)
		return false;
	brief->form = FT_BRIEF_OVER_IPV6;
	brief->ethernet_at = at;
	brief->ip_at = at + ft_brief_network(input.bytes + at);
	ip = input.bytes + brief->ip_at;
	return ip[0] >> 4 == 6 && ip[6] == 17 &&
	       ft_brief_transport(config, &input, brief->ip_at + FT_BRIEF_UDP6, ft_be16(ip + 4),
				  brief);
}

/* Where the frame at `at` ends by itself: a mirror says nothing of what it cut off. */
static uint32_t end_of(const struct ft_decode_input *input, uint32_t at, bool ipv6)
{
	uint32_t ip_at = at + ft_brief_network(input->bytes + at), end = ip_at;
	const uint8_t *ip = input->bytes + ip_at;

	end += ipv6 ? FT_BRIEF_UDP6 + (uint32_t)ft_be16(ip + 4) : ft_be16(ip + 2);
	return end > input->captured ? end : input->captured;
}

/* Behind the headers of tunnels. */
static bool find_behind(const struct ft_decode_config *config, const struct ft_decode_input *input,
			const struct ft_around *around, struct ft_brief *brief)
{
	struct ft_decode_input inner = { .bytes = input->bytes, .captured = input->captured };
	const uint32_t at = around->at;
	bool ipv6;

	if (inner.captured < at + FT_BRIEF_LEAST)
		return false;
	ipv6 = is_ipv6_at(&inner, at);
	inner.wire = around->wire != FT_AROUND_UNKNOWN ? around->wire : end_of(&inner, at, ipv6);
	return (ipv6 ? find_ipv6_at(config, inner, at, brief)
		     : ft_brief_find_at(config, &inner, at, brief)) &&
	       (brief->end > input->captured || input->captured >= input->wire);
}

bool ft_brief_find_other(const struct ft_decode_config *config, const struct ft_decode_input *input,
			 struct ft_brief *brief, struct ft_around *around)
{
	ft_around_begin(around, input);
	if (!ft_brief_link(input, FT_BRIEF_LEAST))
		return false;
	if (is_ipv6_at(input, 0) && find_ipv6_at(config, *input, 0, brief))
		return true;
	do {
		/* what stands behind one of the tunnels is not the frame's */
		if (!ft_around_peel(config, input->bytes, around) ||
		    around->captured != input->captured)
			return false;
	} while (!find_behind(config, input, around, brief));
	return true;
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
