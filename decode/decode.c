#include "crc32.h"
#include "pass.h"

/*
 * Decoding is a walk over headers: the link type says which comes first, each reader says which comes
 * next. Every step consumes bytes or opens one of at most FT_TUNNELS_MAX tunnels, so it ends. What a
 * tunnel carries is read by the same loop; the packet's fields are those of the innermost packet.
 */

enum { CAPTURED_MAX = 1 << 24 };

/* LINKTYPE_ numbers */
enum {
	LINK_ETHERNET = FT_LINKTYPE_ETHERNET,
	LINK_SLL = 113,
	LINK_ERF = 197,
	LINK_INFINIBAND = FT_LINKTYPE_INFINIBAND,
	LINK_SLL2 = 276
};

static ft_reader *const readers[FT_STEPS] = {
	[FT_STEP_ERF] = ft_read_erf,           [FT_STEP_LINK] = ft_read_link,
	[FT_STEP_ETHERNET] = ft_read_ethernet, [FT_STEP_SLL] = ft_read_sll,
	[FT_STEP_SLL2] = ft_read_sll2,         [FT_STEP_VLAN] = ft_read_vlan,
	[FT_STEP_MPLS] = ft_read_mpls,         [FT_STEP_AVSP] = ft_read_avsp,
	[FT_STEP_MACCTRL] = ft_read_macctrl,   [FT_STEP_IPV4] = ft_read_ipv4,
	[FT_STEP_IPV6] = ft_read_ipv6,         [FT_STEP_GRE] = ft_read_gre,
	[FT_STEP_ERSPAN1] = ft_read_erspan1,   [FT_STEP_ERSPAN2] = ft_read_erspan2,
	[FT_STEP_ERSPAN3] = ft_read_erspan3,   [FT_STEP_MLNX8949] = ft_read_mlnx8949,
	[FT_STEP_VXLAN] = ft_read_vxlan,       [FT_STEP_VXLAN_GPE] = ft_read_vxlan_gpe,
	[FT_STEP_GENEVE] = ft_read_geneve,     [FT_STEP_TZSP] = ft_read_tzsp,
	[FT_STEP_SFLOW] = ft_read_sflow,       [FT_STEP_LRH] = ft_read_lrh,
	[FT_STEP_RWH] = ft_read_rwh,           [FT_STEP_MIRROR1123] = ft_read_mirror1123,
	[FT_STEP_GRH] = ft_read_grh,           [FT_STEP_BTH] = ft_read_bth,
};

static enum ft_step first_step(struct ft_pass *pass, uint16_t link_type)
{
	if (link_type == LINK_ETHERNET)
		return ft_read_ethernet(pass);
	switch (link_type) {
	case LINK_SLL:
		return FT_STEP_SLL;
	case LINK_ERF:
		return FT_STEP_ERF;
	case LINK_INFINIBAND:
		return FT_STEP_LRH;
	case LINK_SLL2:
		return FT_STEP_SLL2;
	default:
		return FT_STEP_DONE;
	}
}

static void begin_frame(struct ft_pass *pass, const struct ft_decode_input *input)
{
	struct ft_cursor *cursor = &pass->cursor;

	cursor->bytes = input->bytes;
	cursor->at = 0;
	cursor->captured = input->captured;
	cursor->wire = input->wire;
	if (cursor->wire < cursor->captured)
		cursor->wire = cursor->captured;
	if (cursor->captured > CAPTURED_MAX)
		cursor->captured = CAPTURED_MAX;
	ft_frame_begin(pass, input->link_type == LINK_ETHERNET ? input->fcs_bytes : 0);
}

/* Same polynomial as the ICRC, low byte first. */
static enum ft_check fcs_check(const struct ft_pass *pass)
{
	const uint8_t *fcs = pass->cursor.bytes + pass->frame_end;
	uint32_t crc;

	if (pass->frame_captured < pass->frame_end + pass->fcs_bytes)
		return FT_CHECK_UNKNOWN;
	crc = ft_crc32(0, pass->cursor.bytes + pass->frame_at, pass->frame_end - pass->frame_at);
	return ft_crc32_is(fcs, crc) ? FT_CHECK_GOOD : FT_CHECK_BAD;
}

bool ft_frame_takes_fcs(struct ft_pass *pass, uint32_t size)
{
	struct ft_cursor *cursor = &pass->cursor;

	if ((pass->packet->has & FT_HAS_ERF) == 0 || pass->network_end != UINT32_MAX ||
	    cursor->wire != pass->frame_end || size != ft_wire_left(cursor) + pass->fcs_bytes ||
	    fcs_check(pass) == FT_CHECK_GOOD)
		return false;
	pass->frame_end += pass->fcs_bytes;
	pass->fcs_bytes = 0;
	cursor->wire = pass->frame_end;
	cursor->captured =
		pass->frame_captured < cursor->wire ? pass->frame_captured : cursor->wire;
	return true;
}

static bool starts_with_ethernet(const struct ft_packet *packet)
{
	unsigned first = (packet->has & FT_HAS_ERF) != 0;

	return packet->layer_count > first && packet->layers[first].kind == FT_LAYER_ETH;
}

/* What stands behind the network packet: a trailer starts with the FCS that its switch found there, so only Ethernet has one. */
static void read_frame_end(struct ft_pass *pass, const struct ft_decode_input *input)
{
	if (pass->fcs_bytes > 0 && pass->config->check_icrc)
		pass->packet->fcs_check = (uint8_t)fcs_check(pass);
	if (pass->network_end < pass->frame_end && pass->frame_captured >= pass->frame_end &&
	    input->ts_ns != UINT64_MAX && starts_with_ethernet(pass->packet))
		ft_read_trailer(pass->packet, input->bytes, pass->network_end, pass->frame_end,
				input->ts_ns);
}

static void walk(struct ft_pass *pass, uint16_t link_type)
{
	enum ft_step step = first_step(pass, link_type);

	while (step != FT_STEP_DONE)
		step = readers[step](pass);
}

/* Read and judge any frame, header by header; outcome as of ft_decode(). */
static bool read_headers(const struct ft_decode_config *config, const struct ft_decode_input *input,
			 struct ft_packet *packet, struct ft_decode_rest *rest)
{
	struct ft_pass pass;

	pass.packet = packet;
	pass.config = config;
	pass.rest = rest;
	pass.more = pass.sampled = false;
	pass.stamp_count = 0;
	pass.network_end = UINT32_MAX;
	pass.lrh_end = 0;
	ft_packet_begin(packet);
	begin_frame(&pass, input);

	walk(&pass, input->link_type);
	if (pass.lrh_end != 0 && packet->malformed == FT_OK)
		ft_read_vcrc(&pass);
	if ((packet->has & FT_HAS_BTH) != 0)
		ft_judge(&pass);
	read_frame_end(&pass, input);
	return pass.more;
}

bool ft_decode(const struct ft_decode_config *config, const struct ft_decode_input *input,
	       struct ft_packet *packet, struct ft_decode_rest *rest)
{
	rest->sub = 0;
	return read_headers(config, input, packet, rest);
}

bool ft_decode_more(const struct ft_decode_config *config, const struct ft_decode_input *input,
		    struct ft_packet *packet, struct ft_decode_rest *rest)
{
	rest->sub++;
	return read_headers(config, input, packet, rest);
}

bool ft_packet_is_rdma(const struct ft_packet *packet)
{
	switch (packet->transport) {
	case FT_TRANSPORT_ROCE1:
	case FT_TRANSPORT_ROCE2:
		return true;
	case FT_TRANSPORT_IB:
		return packet->lrh.lnh >= FT_LNH_BTH; /* the others are raw */
	case FT_TRANSPORT_IB_LINK:
		return false;
	default: /* broken or cut in the header that would have said so */
		return packet->malformed == FT_GRH_SHORT || packet->malformed == FT_LRH_SHORT ||
		       packet->truncated == FT_CUT_GRH || packet->truncated == FT_CUT_LRH;
	}
}
