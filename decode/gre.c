#include "pass.h"
#include "tunnel_headers.h"

static void open_tunnel(struct ft_pass *pass, const struct ft_gre *gre, enum ft_tunnel_kind kind)
{
	struct ft_tunnel *tunnel = ft_mirror_open(pass, kind);

	tunnel->has_checksum = gre->has_checksum;
	tunnel->has_key = gre->has_key;
	tunnel->has_sequence = gre->has_sequence;
	tunnel->key = gre->key;
	tunnel->sequence = gre->sequence;
}

/* A key and nothing else is what NVGRE sends; a mirror with a key looks the same, so the key is kept beside the VSID. */
static enum ft_step enter_ethernet(struct ft_pass *pass, const struct ft_gre *gre)
{
	struct ft_packet *packet = pass->packet;

	if (!ft_gre_is_nvgre(gre)) {
		open_tunnel(pass, gre, FT_TUNNEL_GRE_TEB);
		return FT_STEP_ETHERNET;
	}
	open_tunnel(pass, gre, FT_TUNNEL_NVGRE);
	packet->vni = packet->tunnels[packet->tunnel_count - 1].vni = ft_nvgre_vni(gre->key);
	packet->has |= FT_HAS_VNI;
	ft_layer_push(pass, FT_LAYER_NVGRE, pass->cursor.at, packet->vni);
	return FT_STEP_ETHERNET;
}

static enum ft_step enter(struct ft_pass *pass, const struct ft_gre *gre, uint16_t protocol)
{
	switch (protocol) {
	case FT_GRE_ETHERNET:
		return enter_ethernet(pass, gre);
	case FT_GRE_ERSPAN12:
		open_tunnel(pass, gre, gre->has_sequence ? FT_TUNNEL_ERSPAN2 : FT_TUNNEL_ERSPAN1);
		return gre->has_sequence ? FT_STEP_ERSPAN2 : FT_STEP_ERSPAN1;
	case FT_GRE_ERSPAN3:
		open_tunnel(pass, gre, FT_TUNNEL_ERSPAN3);
		return FT_STEP_ERSPAN3;
	case 0x8949:
		open_tunnel(pass, gre, FT_TUNNEL_MLNX8949);
		return FT_STEP_MLNX8949;
	case 0x0800:
	case 0x86dd:
		open_tunnel(pass, gre, FT_TUNNEL_GRE_IP);
		return protocol == 0x0800 ? FT_STEP_IPV4 : FT_STEP_IPV6;
	default:
		return ft_leave(pass, FT_UNOPENED_GRE);
	}
}

enum ft_step ft_read_gre(struct ft_pass *pass)
{
	uint32_t at = pass->cursor.at, words_len;
	struct ft_gre gre;
	const uint8_t *b, *words;
	uint16_t flags;

	if (!ft_tunnel_allowed(pass))
		return FT_STEP_DONE;
	b = ft_take(&pass->cursor, FT_GRE_LEN);
	if (b == NULL)
		return ft_short(pass, FT_GRE_LEN, FT_GRE_SHORT, FT_CUT_GRE);
	flags = ft_be16(b);
	if ((flags & FT_GRE_VERSION) != 0)
		return ft_stop(pass, FT_GRE_BAD_VERSION);
	if ((flags & FT_GRE_HAS_ROUTING) != 0)
		return ft_stop(pass, FT_GRE_ROUTING);
	words_len = ft_gre_words_length(flags);
	words = ft_take(&pass->cursor, words_len);
	if (words == NULL)
		return ft_short(pass, words_len, FT_GRE_SHORT, FT_CUT_GRE);
	ft_gre_read_words(flags, words, &gre);
	ft_layer_push(pass, FT_LAYER_GRE, at, ft_be16(b + 2));
	return enter(pass, &gre, ft_be16(b + 2));
}
