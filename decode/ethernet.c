#include "pass.h"

enum { ETHERNET_LEN = 14, SLL_LEN = 16, SLL2_LEN = 20, MAC_LEN = 6 };

enum ft_step ft_other_ethertype_step(struct ft_pass *pass, uint16_t ethertype)
{
	switch (ethertype) {
	case 0x86dd:
		return FT_STEP_IPV6;
	case 0x8915:
		return FT_STEP_GRH;
	case 0x8100:
	case 0x88a8:
	case 0x9100:
	case 0x9200:
		return FT_STEP_VLAN;
	case 0x8847:
	case 0x8848:
		return FT_STEP_MPLS;
	case 0x8808:
		return FT_STEP_MACCTRL;
	case 0x8949:
		return FT_STEP_MLNX8949;
	case 0xd28b:
		return FT_STEP_AVSP;
	default:
		return ft_leave_ethertype(pass, ethertype);
	}
}

static void read_addresses(struct ft_packet *packet, const uint8_t *b)
{
	static_assert(offsetof(struct ft_packet, smac) ==
			      offsetof(struct ft_packet, dmac) + sizeof packet->dmac,
		      "as on the wire");
	memcpy((uint8_t *)packet + offsetof(struct ft_packet, dmac), b,
	       sizeof packet->dmac + sizeof packet->smac);
}

enum ft_step ft_read_ethernet(struct ft_pass *pass)
{
	const uint8_t *b = ft_take(&pass->cursor, ETHERNET_LEN);

	if (b == NULL)
		return ft_short(pass, ETHERNET_LEN, FT_ETH_SHORT, FT_CUT_ETH);
	read_addresses(pass->packet, b);
	pass->packet->has |= FT_HAS_ETH;
	pass->stamp_count = 0;
	ft_layer_push(pass, FT_LAYER_ETH, pass->cursor.at - ETHERNET_LEN, 0);
	return ft_ethertype_step(pass, ft_be16(b + 12));
}

/* Linux says with these ARPHRD values that `protocol` is no EtherType. */
static bool protocol_is_ethertype(uint16_t arphrd)
{
	switch (arphrd) {
	case 770: /* Frame Relay */
	case 778: /* GRE */
	case 803: /* radiotap */
	case 823: /* GRE over IPv6 */
	case 824: /* netlink */
		return false;
	default:
		return true;
	}
}

/* The cooked headers keep the sender's address only; there is none, or it is no MAC address, unless of six bytes. */
static void read_sender(struct ft_packet *packet, const uint8_t *address, uint32_t length)
{
	if (length != MAC_LEN)
		return;
	memcpy(packet->smac, address, sizeof packet->smac);
	packet->has |= FT_HAS_SLL;
}

static enum ft_step cooked_step(struct ft_pass *pass, uint16_t arphrd, uint16_t protocol)
{
	return protocol_is_ethertype(arphrd) ? ft_ethertype_step(pass, protocol) : FT_STEP_DONE;
}

enum ft_step ft_read_sll(struct ft_pass *pass)
{
	const uint8_t *b = ft_take(&pass->cursor, SLL_LEN);

	if (b == NULL)
		return ft_short(pass, SLL_LEN, FT_ETH_SHORT, FT_CUT_SLL);
	read_sender(pass->packet, b + 6, ft_be16(b + 4));
	ft_layer_push(pass, FT_LAYER_SLL, pass->cursor.at - SLL_LEN, 0);
	return cooked_step(pass, ft_be16(b + 2), ft_be16(b + 14));
}

enum ft_step ft_read_sll2(struct ft_pass *pass)
{
	const uint8_t *b = ft_take(&pass->cursor, SLL2_LEN);

	if (b == NULL)
		return ft_short(pass, SLL2_LEN, FT_ETH_SHORT, FT_CUT_SLL2);
	read_sender(pass->packet, b + 12, b[11]);
	ft_layer_push(pass, FT_LAYER_SLL2, pass->cursor.at - SLL2_LEN, 0);
	return cooked_step(pass, ft_be16(b + 8), ft_be16(b));
}
