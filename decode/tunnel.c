#include "pass.h"

/* What stays known of the outer headers once a tunnel is peeled. */
#define OUTER (FT_HAS_MIRROR | FT_HAS_VNI | FT_HAS_AVSP | FT_HAS_TRAILER | FT_HAS_ERF)

bool ft_tunnel_allowed(struct ft_pass *pass)
{
	if (pass->packet->tunnel_count < FT_TUNNELS_MAX)
		return true;
	ft_break(pass, FT_TUNNEL_TOO_DEEP);
	return false;
}

struct ft_tunnel *ft_tunnel_open(struct ft_pass *pass, enum ft_tunnel_kind kind)
{
	struct ft_packet *packet = pass->packet;
	struct ft_tunnel *tunnel = &packet->tunnels[packet->tunnel_count++];

	memset(tunnel, 0, sizeof *tunnel);
	tunnel->kind = (uint8_t)kind;
	if ((packet->has & (FT_HAS_IPV4 | FT_HAS_IPV6)) != 0) {
		memcpy(tunnel->outer_src, packet->src, sizeof packet->src);
		memcpy(tunnel->outer_dst, packet->dst, sizeof packet->dst);
		tunnel->outer_ecn = packet->ecn;
	}
	packet->has = (packet->has & OUTER) | FT_HAS_MIRROR;
	packet->transport = FT_TRANSPORT_NONE;
	packet->alerts = 0;
	packet->vlan = 0;
	packet->vlan_count = 0;
	pass->lrh_end = 0;
	return tunnel;
}

struct ft_tunnel *ft_mirror_open(struct ft_pass *pass, enum ft_tunnel_kind kind)
{
	pass->cursor.wire = FT_WIRE_UNKNOWN;
	return ft_tunnel_open(pass, kind);
}
