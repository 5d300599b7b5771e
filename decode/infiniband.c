#include "pass.h"

enum {
	LRH_LEN = 8,
	RWH_LEN = 4,
	GRH_LEN = 40,
	MIRROR1123_LEN = 4,
	ETHERTYPE_MIRROR = 0x1123,
	NXTHDR_IBA = 0x1b
};

/* By LNH: what follows, and the least packet length in words: LRH to ICRC, raw packets have none. */
static const struct {
	uint8_t step, words_min;
} next_headers[4] = {
	[FT_LNH_RAW] = { FT_STEP_RWH, 3 },
	[FT_LNH_IPV6] = { FT_STEP_IPV6, 12 },
	[FT_LNH_BTH] = { FT_STEP_BTH, 6 },
	[FT_LNH_GRH] = { FT_STEP_GRH, 16 },
};

/* Was the header before this one the prefix of a mirrored packet? */
static bool is_mirrored(const struct ft_packet *packet)
{
	return packet->layer_count > 1 &&
	       packet->layers[packet->layer_count - 2].kind == FT_LAYER_MIRROR1123;
}

static void keep_vcrc_bounds(struct ft_pass *pass, uint32_t lrh_at, uint32_t size)
{
	pass->lrh_captured = pass->cursor.captured;
	pass->lrh_wire = pass->cursor.wire;
	pass->lrh_at = lrh_at;
	pass->lrh_end = lrh_at + size;
}

enum ft_step ft_read_lrh(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;
	struct ft_cursor *cursor = &pass->cursor;
	uint32_t at = cursor->at, size;
	const uint8_t *b = ft_take(cursor, LRH_LEN);

	if (b == NULL)
		return ft_short(pass, LRH_LEN, FT_LRH_SHORT, FT_CUT_LRH);
	packet->lrh.vl = b[0] >> 4;
	packet->lrh.lver = b[0] & 0x0f;
	packet->lrh.sl = b[1] >> 4;
	packet->lrh.lnh = b[1] & 3;
	packet->lrh.dlid = ft_be16(b + 2);
	packet->lrh.pkt_len = ft_be16(b + 4) & 0x07ff;
	packet->lrh.slid = ft_be16(b + 6);
	packet->has |= FT_HAS_LRH;
	packet->transport = FT_TRANSPORT_IB;
	ft_layer_push(pass, FT_LAYER_LRH, at, 0);
	if (packet->lrh.lver != 0)
		return ft_stop(pass, FT_LRH_BAD_LVER);
	size = packet->lrh.pkt_len * 4u;
	if (packet->lrh.pkt_len < next_headers[packet->lrh.lnh].words_min ||
	    size - LRH_LEN > ft_wire_left(cursor))
		return ft_stop(pass, FT_LRH_BAD_PKTLEN);

	if (!is_mirrored(packet))
		keep_vcrc_bounds(pass, at, size);
	pass->network_at = at;
	pass->icrc_kind = FT_ICRC_LRH;
	ft_narrow(cursor, size - LRH_LEN);
	return (enum ft_step)next_headers[packet->lrh.lnh].step;
}

enum ft_step ft_read_rwh(struct ft_pass *pass)
{
	const uint8_t *b = ft_take(&pass->cursor, RWH_LEN);

	if (b == NULL)
		return ft_short(pass, RWH_LEN, FT_LRH_BAD_PKTLEN, FT_CUT_RWH);
	pass->packet->rwh_ethertype = ft_be16(b + 2);
	pass->packet->has |= FT_HAS_RWH;
	ft_layer_push(pass, FT_LAYER_RWH, pass->cursor.at - RWH_LEN, 0);
	return pass->packet->rwh_ethertype == ETHERTYPE_MIRROR ? FT_STEP_MIRROR1123 : FT_STEP_DONE;
}

/*
 * Port mirroring of an InfiniBand switch: the original packet up to its ICRC inside a raw one, which is
 * as long as its LRH says. The one VCRC behind it is the mirror's.
 */
enum ft_step ft_read_mirror1123(struct ft_pass *pass)
{
	uint32_t at = pass->cursor.at;

	if (!ft_tunnel_allowed(pass))
		return FT_STEP_DONE;
	if (ft_take(&pass->cursor, MIRROR1123_LEN) == NULL)
		return ft_short(pass, MIRROR1123_LEN, FT_LRH_BAD_PKTLEN, FT_CUT_MIRROR1123);
	ft_tunnel_open(pass, FT_TUNNEL_MIRROR1123);
	ft_layer_push(pass, FT_LAYER_MIRROR1123, at, 0);
	return FT_STEP_LRH;
}

enum ft_step ft_read_grh(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;
	uint32_t at = pass->cursor.at;
	const uint8_t *b = ft_take(&pass->cursor, GRH_LEN);

	if (b == NULL)
		return ft_short(pass, GRH_LEN, FT_GRH_SHORT, FT_CUT_GRH);
	packet->grh.ip_ver = b[0] >> 4;
	packet->grh.tclass = (uint8_t)(ft_be16(b) >> 4);
	packet->grh.flow_label = ft_be32(b) & 0xfffff;
	packet->grh.pay_len = ft_be16(b + 4);
	packet->grh.next_hdr = b[6];
	packet->grh.hop_limit = b[7];
	memcpy(packet->src, b + 8, 16);
	memcpy(packet->dst, b + 24, 16);
	packet->has |= FT_HAS_GRH;
	if (packet->transport == FT_TRANSPORT_NONE)
		packet->transport = FT_TRANSPORT_ROCE1;
	ft_layer_push(pass, FT_LAYER_GRH, at, 0);

	if (packet->grh.ip_ver != 6)
		return ft_stop(pass, FT_GRH_BAD_IPVER);
	if (packet->grh.next_hdr != NXTHDR_IBA)
		return ft_stop(pass, FT_GRH_BAD_NXTHDR);
	if (!ft_network_fits(pass, packet->grh.pay_len))
		return ft_stop(pass, FT_GRH_BAD_PAYLEN);
	ft_narrow(&pass->cursor, packet->grh.pay_len);
	pass->network_at = at;
	pass->icrc_kind = FT_ICRC_GRH;
	if (packet->tunnel_count == 0)
		pass->network_end = pass->cursor.wire;
	return FT_STEP_BTH;
}
