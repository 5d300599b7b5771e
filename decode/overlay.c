#include "pass.h"
#include "tunnel_headers.h"

/* VXLAN, its generic form, and GENEVE. The payload's end is the end of the inner packet. */

static struct ft_tunnel *open_overlay(struct ft_pass *pass, enum ft_tunnel_kind kind, uint32_t vni)
{
	struct ft_tunnel *tunnel = ft_tunnel_open(pass, kind);

	tunnel->vni = vni;
	pass->packet->vni = vni;
	pass->packet->has |= FT_HAS_VNI;
	return tunnel;
}

static enum ft_step read_vxlan(struct ft_pass *pass, const uint8_t **header)
{
	const uint8_t *b;

	if (!ft_tunnel_allowed(pass))
		return FT_STEP_DONE;
	b = ft_take(&pass->cursor, FT_OVERLAY_LEN);
	if (b == NULL)
		return ft_short(pass, FT_OVERLAY_LEN, FT_VXLAN_SHORT, FT_CUT_VXLAN);
	if (!ft_vxlan_has_vni(b))
		return ft_stop(pass, FT_VXLAN_BAD_FLAGS);
	*header = b;
	open_overlay(pass, FT_TUNNEL_VXLAN, ft_overlay_vni(b));
	ft_layer_push(pass, FT_LAYER_VXLAN, pass->cursor.at - FT_OVERLAY_LEN, ft_overlay_vni(b));
	return FT_STEP_ETHERNET;
}

enum ft_step ft_read_vxlan(struct ft_pass *pass)
{
	const uint8_t *header;

	return read_vxlan(pass, &header);
}

enum ft_step ft_read_vxlan_gpe(struct ft_pass *pass)
{
	const uint8_t *header = NULL;
	enum ft_step step = read_vxlan(pass, &header);

	if (step == FT_STEP_DONE)
		return step;
	switch (ft_vxlan_next(header)) {
	case FT_VXLAN_NEXT_IPV4:
		return FT_STEP_IPV4;
	case FT_VXLAN_NEXT_IPV6:
		return FT_STEP_IPV6;
	case FT_VXLAN_NEXT_ETHERNET:
		return FT_STEP_ETHERNET;
	default:
		return ft_leave(pass, FT_UNOPENED_VXLAN_GPE);
	}
}

static enum ft_step geneve_step(struct ft_pass *pass, uint16_t protocol)
{
	switch (protocol) {
	case FT_GENEVE_ETHERNET:
		return FT_STEP_ETHERNET;
	case 0x0800:
		return FT_STEP_IPV4;
	case 0x86dd:
		return FT_STEP_IPV6;
	default:
		return ft_leave(pass, FT_UNOPENED_GENEVE);
	}
}

enum ft_step ft_read_geneve(struct ft_pass *pass)
{
	uint32_t at = pass->cursor.at, options_len;
	const uint8_t *b;

	if (!ft_tunnel_allowed(pass))
		return FT_STEP_DONE;
	b = ft_take(&pass->cursor, FT_OVERLAY_LEN);
	if (b == NULL)
		return ft_short(pass, FT_OVERLAY_LEN, FT_GENEVE_SHORT, FT_CUT_GENEVE);
	if (!ft_geneve_is_version(b))
		return ft_stop(pass, FT_GENEVE_BAD_VERSION);
	options_len = ft_geneve_options_length(b);
	if (ft_take(&pass->cursor, options_len) == NULL)
		return ft_short(pass, options_len, FT_GENEVE_BAD_OPTLEN, FT_CUT_GENEVE);
	open_overlay(pass, FT_TUNNEL_GENEVE, ft_overlay_vni(b))->option_bytes =
		(uint8_t)options_len;
	ft_layer_push(pass, FT_LAYER_GENEVE, at, ft_overlay_vni(b));
	return geneve_step(pass, ft_be16(b + 2));
}
