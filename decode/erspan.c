#include "pass.h"
#include "tunnel_headers.h"

/* Mirror headers behind GRE. */

enum { MLNX8949_LEN = 22 };

/* Types II and III share the first four bytes. */
static void read_session(struct ft_tunnel *tunnel, const uint8_t *b)
{
	uint16_t word = ft_be16(b + 2);

	tunnel->has_session = true;
	tunnel->vlan = ft_be16(b) & 0x0fff;
	tunnel->cos = (uint8_t)(word >> 13);
	tunnel->en_or_bso = word >> 11 & 3;
	tunnel->cut = (word & 0x0400) != 0;
	tunnel->session = ft_erspan_session(b);
}

static struct ft_tunnel *innermost(struct ft_pass *pass)
{
	return &pass->packet->tunnels[pass->packet->tunnel_count - 1];
}

enum ft_step ft_read_erspan1(struct ft_pass *pass)
{
	ft_layer_push(pass, FT_LAYER_ERSPAN1, pass->cursor.at, 0);
	return FT_STEP_ETHERNET;
}

enum ft_step ft_read_erspan2(struct ft_pass *pass)
{
	struct ft_tunnel *tunnel = innermost(pass);
	const uint8_t *b = ft_take(&pass->cursor, FT_ERSPAN2_LEN);

	if (b == NULL)
		return ft_short(pass, FT_ERSPAN2_LEN, FT_ERSPAN_SHORT, FT_CUT_ERSPAN2);
	if (!ft_erspan_is_version(b, FT_ERSPAN2_VERSION))
		return ft_stop(pass, FT_ERSPAN_BAD_VERSION);
	read_session(tunnel, b);
	tunnel->index = ft_be32(b + 4) & 0xfffff;
	ft_layer_push(pass, FT_LAYER_ERSPAN2, pass->cursor.at - FT_ERSPAN2_LEN, 0);
	return FT_STEP_ETHERNET;
}

static enum ft_step erspan_frame(struct ft_pass *pass, uint8_t frame_type)
{
	if (frame_type == FT_ERSPAN_OF_ETHERNET)
		return FT_STEP_ETHERNET;
	if (frame_type != FT_ERSPAN_OF_IP)
		return FT_STEP_DONE;
	return ft_captured_left(&pass->cursor) > 0 && pass->cursor.bytes[pass->cursor.at] >> 4 == 6
		       ? FT_STEP_IPV6
		       : FT_STEP_IPV4;
}

enum ft_step ft_read_erspan3(struct ft_pass *pass)
{
	struct ft_tunnel *tunnel = innermost(pass);
	uint32_t at = pass->cursor.at;
	const uint8_t *b = ft_take(&pass->cursor, FT_ERSPAN3_LEN), *subheader;
	uint16_t flags;

	if (b == NULL)
		return ft_short(pass, FT_ERSPAN3_LEN, FT_ERSPAN_SHORT, FT_CUT_ERSPAN3);
	if (!ft_erspan_is_version(b, FT_ERSPAN3_VERSION))
		return ft_stop(pass, FT_ERSPAN_BAD_VERSION);
	read_session(tunnel, b);
	flags = ft_be16(b + FT_ERSPAN3_FLAGS);
	tunnel->timestamp = ft_be32(b + 4);
	tunnel->sgt = ft_be16(b + 8);
	tunnel->pdu = (flags & 0x8000) != 0;
	tunnel->frame_type = ft_erspan3_frame_type(flags);
	tunnel->hardware_id = flags >> 4 & 0x3f;
	tunnel->egress = (flags & 0x0008) != 0;
	tunnel->granularity = flags >> 1 & 3;
	if ((flags & FT_ERSPAN3_SUBHEADER) != 0) {
		subheader = ft_take(&pass->cursor, FT_ERSPAN3_SUBHEADER_LEN);
		if (subheader == NULL)
			return ft_short(pass, FT_ERSPAN3_SUBHEADER_LEN, FT_ERSPAN_SHORT,
					FT_CUT_ERSPAN3);
		tunnel->has_subheader = true;
		tunnel->platform_id = subheader[0] >> 2;
		tunnel->subheader[0] = ft_be32(subheader);
		tunnel->subheader[1] = ft_be32(subheader + 4);
	}
	ft_layer_push(pass, FT_LAYER_ERSPAN3, at, 0);
	return erspan_frame(pass, tunnel->frame_type);
}

/*
 * NVIDIA's mirror header. Behind GRE it is 22 bytes that are not public; as an EtherType there is
 * only the outer Ethernet header, possibly tagged behind that EtherType. SwitchX cuts such copies to
 * 64 bytes and does not mark them.
 */
enum ft_step ft_read_mlnx8949(struct ft_pass *pass)
{
	bool behind_gre = pass->packet->layers[pass->packet->layer_count - 1].kind == FT_LAYER_GRE;
	uint32_t at = pass->cursor.at, size = behind_gre ? MLNX8949_LEN : 0;
	const uint8_t *b = pass->cursor.bytes + at;

	if (!behind_gre) {
		if (!ft_tunnel_allowed(pass))
			return FT_STEP_DONE;
		ft_mirror_open(pass, FT_TUNNEL_MLNX8949);
		if (ft_captured_left(&pass->cursor) >= 2 && ft_be16(b) == 0x8100)
			size = 4;
	}
	if (ft_take(&pass->cursor, size) == NULL)
		return ft_short(pass, size, FT_GRE_SHORT, FT_CUT_MLNX8949);
	ft_layer_push(pass, FT_LAYER_MLNX8949, at, 0);
	return FT_STEP_ETHERNET;
}
