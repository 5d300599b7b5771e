#include "pass.h"

/* What may stand between the MAC addresses and the network header: VLAN tags, MPLS labels, a time stamp. */

enum { TAG_LEN = 4, LABEL_LEN = 4, LABELS_MAX = 8, STAMPS_LISTED = 8 };

static enum ft_layer_kind tag_kind(uint16_t tpid)
{
	switch (tpid) {
	case 0x88a8:
		return FT_LAYER_QINQ;
	case 0x9100:
		return FT_LAYER_QINQ9100;
	case 0x9200:
		return FT_LAYER_QINQ9200;
	default:
		return FT_LAYER_VLAN;
	}
}

/* The first tag of the frame, which the mirror has put there. */
static bool is_of_mirror(const struct ft_pass *pass, uint16_t vid)
{
	return pass->packet->vlan_count == 1 && pass->packet->tunnel_count == 0 &&
	       ft_is_mirror_vlan(pass->config, vid);
}

/* The TPID was the EtherType of the header before; TCI and the next EtherType follow. */
enum ft_step ft_read_vlan(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;
	const uint8_t *b;
	uint16_t tci;

	if (packet->vlan_count == FT_VLANS_MAX)
		return ft_stop(pass, FT_VLAN_TOO_DEEP);
	b = ft_take(&pass->cursor, TAG_LEN);
	if (b == NULL)
		return ft_short(pass, TAG_LEN, FT_ETH_SHORT, FT_CUT_VLAN);
	tci = ft_be16(b);
	ft_layer_push(pass, tag_kind(pass->ethertype), pass->cursor.at - TAG_LEN - 2, tci & 0x0fff);
	packet->layers[packet->layer_count - 1].pcp = (uint8_t)(tci >> 13);
	packet->vlan_count++;
	if (packet->vlan == 0 && !is_of_mirror(pass, tci & 0x0fff))
		packet->vlan = tci & 0x0fff;
	return ft_ethertype_step(pass, ft_be16(b + 2));
}

/* No field says what a label stack carries: the first nibble after it does. */
static enum ft_step below_labels(struct ft_pass *pass)
{
	if (ft_captured_left(&pass->cursor) == 0)
		return ft_short(pass, 1, FT_IP_SHORT, FT_CUT_MPLS);
	switch (pass->cursor.bytes[pass->cursor.at] >> 4) {
	case 4:
		return FT_STEP_IPV4;
	case 6:
		return FT_STEP_IPV6;
	default:
		return ft_leave(pass, FT_UNOPENED_MPLS);
	}
}

enum ft_step ft_read_mpls(struct ft_pass *pass)
{
	for (int i = 0; i < LABELS_MAX; i++) {
		const uint8_t *b = ft_take(&pass->cursor, LABEL_LEN);

		if (b == NULL)
			return ft_short(pass, LABEL_LEN, FT_ETH_SHORT, FT_CUT_MPLS);
		ft_layer_push(pass, FT_LAYER_MPLS, pass->cursor.at - LABEL_LEN, ft_be24(b) >> 4);
		if ((b[2] & 1) != 0)
			return below_labels(pass);
	}
	return ft_stop(pass, FT_MPLS_TOO_DEEP);
}

/* Arista's header: the 64-bit forms have 32 bits of seconds, the 48-bit forms the low 16. */
enum ft_step ft_read_avsp(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;
	uint32_t at = pass->cursor.at - 2;
	const uint8_t *b = ft_take(&pass->cursor, 4);
	uint32_t seconds_len;

	if (b == NULL)
		return ft_short(pass, 4, FT_ETH_SHORT, FT_CUT_AVSP);
	if (ft_be16(b) != 1 || (ft_be16(b + 2) & ~0x0130) != 0)
		return FT_STEP_DONE;
	seconds_len = (b[3] & 0x30) == 0x10 ? 4 : 2;
	if ((b[3] & 0x30) == 0 || (b[3] & 0x30) == 0x30)
		return FT_STEP_DONE;
	packet->avsp.version = ft_be16(b + 2);
	b = ft_take(&pass->cursor, seconds_len + 6);
	if (b == NULL)
		return ft_short(pass, seconds_len + 6, FT_ETH_SHORT, FT_CUT_AVSP);
	packet->avsp.seconds = seconds_len == 4 ? ft_be32(b) : ft_be16(b);
	packet->avsp.ns = ft_be32(b + seconds_len);
	packet->has |= FT_HAS_AVSP;
	if (pass->stamp_count < STAMPS_LISTED) {
		pass->stamp_count++;
		ft_layer_push(pass, FT_LAYER_AVSP, at, 0);
	}
	return ft_ethertype_step(pass, ft_be16(b + seconds_len + 4));
}
