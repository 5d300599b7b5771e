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
	brief->ip_at = ft_brief_network(input->bytes);
	ip = input->bytes + brief->ip_at;
	if (ft_be16(ip - 2) != 0x86dd || ip[0] >> 4 != 6 || ip[6] != 17)
		return false;
	return ft_brief_transport(config, input, brief->ip_at + FT_BRIEF_UDP6, ft_be16(ip + 4),
				  brief);
}

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
	brief->ip_at = 0;
	brief->shape = ft_opcode_shape(bth[0]);
	brief->end = (ft_be16(lrh + 4) & 0x07ff) * 4u;
	others = FT_BRIEF_LRH_LEN + FT_BRIEF_BTH_LEN + brief->shape->length + FT_BRIEF_ICRC_LEN;
	if (!brief->shape->brief || brief->end < others)
		return false;
	brief->payload_length = brief->end - others;
	brief->payload_at = others - FT_BRIEF_ICRC_LEN;
	return is_held(input, brief);
}
