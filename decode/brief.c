#include <decode/brief.h>

bool ft_brief_find_ipv6(const struct ft_decode_config *config, const struct ft_decode_input *input,
			struct ft_brief *brief)
{
	const uint32_t least = FT_BRIEF_ETHERNET_LEN + FT_BRIEF_TAG_LEN + FT_BRIEF_UDP6 +
			       FT_BRIEF_UDP_LEN + FT_BRIEF_BTH_LEN;
	const uint8_t *ip;

	if (!ft_brief_link(input, least))
		return false;
	brief->ipv6 = true;
	brief->ip_at = ft_brief_network(input->bytes);
	ip = input->bytes + brief->ip_at;
	if (ft_be16(ip - 2) != 0x86dd || ip[0] >> 4 != 6 || ip[6] != 17)
		return false;
	return ft_brief_transport(config, input, brief->ip_at + FT_BRIEF_UDP6, ft_be16(ip + 4),
				  brief);
}
