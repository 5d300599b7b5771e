#include "pass.h"

/* RFC 2784, 2890, 7637. */

enum {
	FLAG_CHECKSUM = 0x8000,
	FLAG_ROUTING = 0x4000,
	FLAG_KEY = 0x2000,
	FLAG_SEQUENCE = 0x1000,
	VERSION = 0x0007
};

struct gre {
	bool has_checksum, has_key, has_sequence;
	uint32_t key, sequence;
};

/* The optional words, in the order in which they stand. */
static void read_words(struct gre *gre, uint16_t flags, const uint8_t *b)
{
	gre->has_checksum = (flags & FLAG_CHECKSUM) != 0;
	gre->has_key = (flags & FLAG_KEY) != 0;
	gre->has_sequence = (flags & FLAG_SEQUENCE) != 0;
	if (gre->has_checksum)
		b += 4;
	if (gre->has_key)
		gre->key = ft_be32(b), b += 4;
	if (gre->has_sequence)
		gre->sequence = ft_be32(b);
}

static void open_tunnel(struct ft_pass *pass, const struct gre *gre, enum ft_tunnel_kind kind)
{
	struct ft_tunnel *tunnel = ft_mirror_open(pass, kind);

	tunnel->has_checksum = gre->has_checksum;
	tunnel->has_key = gre->has_key;
	tunnel->has_sequence = gre->has_sequence;
	tunnel->key = gre->key;
	tunnel->sequence = gre->sequence;
}

/* A key and nothing else is what NVGRE sends; a mirror with a key looks the same, so the key is kept beside the VSID. */
static enum ft_step enter_ethernet(struct ft_pass *pass, const struct gre *gre)
{
	struct ft_packet *packet = pass->packet;

	if (!gre->has_key || gre->has_checksum || gre->has_sequence) {
		open_tunnel(pass, gre, FT_TUNNEL_GRE_TEB);
		return FT_STEP_ETHERNET;
	}
	open_tunnel(pass, gre, FT_TUNNEL_NVGRE);
	packet->vni = packet->tunnels[packet->tunnel_count - 1].vni = gre->key >> 8;
	packet->has |= FT_HAS_VNI;
	ft_layer_push(pass, FT_LAYER_NVGRE, pass->cursor.at, packet->vni);
	return FT_STEP_ETHERNET;
}

static enum ft_step enter(struct ft_pass *pass, const struct gre *gre, uint16_t protocol)
{
	switch (protocol) {
	case 0x6558:
		return enter_ethernet(pass, gre);
	case 0x88be:
		open_tunnel(pass, gre, gre->has_sequence ? FT_TUNNEL_ERSPAN2 : FT_TUNNEL_ERSPAN1);
		return gre->has_sequence ? FT_STEP_ERSPAN2 : FT_STEP_ERSPAN1;
	case 0x22eb:
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
	struct gre gre = { 0 };
	const uint8_t *b, *words;
	uint16_t flags;

	if (!ft_tunnel_allowed(pass))
		return FT_STEP_DONE;
	b = ft_take(&pass->cursor, 4);
	if (b == NULL)
		return ft_short(pass, 4, FT_GRE_SHORT, FT_CUT_GRE);
	flags = ft_be16(b);
	if ((flags & VERSION) != 0)
		return ft_stop(pass, FT_GRE_BAD_VERSION);
	if ((flags & FLAG_ROUTING) != 0)
		return ft_stop(pass, FT_GRE_ROUTING);
	words_len = 4u * ((flags >> 15 & 1u) + (flags >> 13 & 1u) + (flags >> 12 & 1u));
	words = ft_take(&pass->cursor, words_len);
	if (words == NULL)
		return ft_short(pass, words_len, FT_GRE_SHORT, FT_CUT_GRE);
	read_words(&gre, flags, words);
	ft_layer_push(pass, FT_LAYER_GRE, at, ft_be16(b + 2));
	return enter(pass, &gre, ft_be16(b + 2));
}
