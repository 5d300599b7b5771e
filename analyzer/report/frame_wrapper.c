#include "frame_wrapper.h"

void ft_wrapper_stack(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_add(line, ",\"encap\":[");
	for (unsigned i = 0; i < packet->layer_count; i++) {
		ft_line_add(line, i > 0 ? ",\"" : "\"");
		line->used += ft_layer_text(&packet->layers[i], ft_line_room(line, 32), 32);
		ft_line_char(line, '"');
	}
	ft_line_char(line, ']');
}

/* GRE with an Ethernet frame inside: which of the optional words the header had. */
static const char *gre_teb_name(const struct ft_tunnel *tunnel)
{
	static const char *const names[8] = {
		"gre_teb",      "gre_teb_key",      "gre_teb_seq",      "gre_teb_key_seq",
		"gre_teb_csum", "gre_teb_key_csum", "gre_teb_seq_csum", "gre_teb_key_seq_csum",
	};

	return names[tunnel->has_key | tunnel->has_sequence << 1 | tunnel->has_checksum << 2];
}

const char *ft_wrapper_tunnel_name(const struct ft_tunnel *tunnel)
{
	return tunnel->kind == FT_TUNNEL_GRE_TEB ? gre_teb_name(tunnel)
						 : ft_tunnel_name(tunnel->kind);
}

static void sequence(struct ft_line *line, const struct ft_tunnel *tunnel)
{
	if (tunnel->has_sequence)
		ft_line_number(line, ",\"seq\":", tunnel->sequence);
	else
		ft_line_add(line, ",\"seq\":null");
}

static void gre(struct ft_line *line, const struct ft_tunnel *tunnel)
{
	if (tunnel->has_key)
		ft_line_number(line, ",\"key\":", tunnel->key);
	if (tunnel->has_sequence)
		ft_line_number(line, ",\"seq\":", tunnel->sequence);
}

static void erspan2(struct ft_line *line, const struct ft_tunnel *tunnel)
{
	sequence(line, tunnel);
	if (!tunnel->has_session)
		return;
	ft_line_number(line, ",\"vlan\":", tunnel->vlan);
	ft_line_number(line, ",\"cos\":", tunnel->cos);
	ft_line_number(line, ",\"en\":", tunnel->en_or_bso);
	ft_line_number(line, ",\"t\":", tunnel->cut);
	ft_line_number(line, ",\"session\":", tunnel->session);
	ft_line_number(line, ",\"index\":", tunnel->index);
}

static void erspan3(struct ft_line *line, const struct ft_tunnel *tunnel)
{
	sequence(line, tunnel);
	if (!tunnel->has_session)
		return;
	ft_line_number(line, ",\"vlan\":", tunnel->vlan);
	ft_line_number(line, ",\"cos\":", tunnel->cos);
	ft_line_number(line, ",\"bso\":", tunnel->en_or_bso);
	ft_line_number(line, ",\"t\":", tunnel->cut);
	ft_line_number(line, ",\"session\":", tunnel->session);
	ft_line_number(line, ",\"ts\":", tunnel->timestamp);
	ft_line_number(line, ",\"sgt\":", tunnel->sgt);
	ft_line_number(line, ",\"p\":", tunnel->pdu);
	ft_line_number(line, ",\"ft\":", tunnel->frame_type);
	ft_line_number(line, ",\"hw\":", tunnel->hardware_id);
	ft_line_add(line,
		    tunnel->egress ? ",\"direction\":\"egress\"" : ",\"direction\":\"ingress\"");
	ft_line_number(line, ",\"gra\":", tunnel->granularity);
	if (!tunnel->has_subheader)
		return;
	ft_line_number(line, ",\"platform_id\":", tunnel->platform_id);
	ft_line_number(line, ",\"sub\":[", tunnel->subheader[0]);
	ft_line_number(line, ",", tunnel->subheader[1]);
	ft_line_char(line, ']');
}

static void nvgre(struct ft_line *line, const struct ft_tunnel *tunnel)
{
	ft_line_number(line, ",\"vsid\":", tunnel->vni);
}

static void vxlan(struct ft_line *line, const struct ft_tunnel *tunnel)
{
	ft_line_number(line, ",\"vni\":", tunnel->vni);
}

static void geneve(struct ft_line *line, const struct ft_tunnel *tunnel)
{
	ft_line_number(line, ",\"vni\":", tunnel->vni);
	ft_line_number(line, ",\"optlen\":", tunnel->option_bytes);
}

static void sflow(struct ft_line *line, const struct ft_tunnel *tunnel)
{
	ft_line_number(line, ",\"rate\":", tunnel->sampling_rate);
	ft_line_number(line, ",\"frame_len\":", tunnel->frame_length);
	ft_line_number(line, ",\"stripped\":", tunnel->stripped);
	ft_line_number(line, ",\"input\":", tunnel->input);
	ft_line_number(line, ",\"output\":", tunnel->output);
}

static void (*const tunnel_members[])(struct ft_line *line, const struct ft_tunnel *tunnel) = {
	[FT_TUNNEL_GRE_TEB] = gre,     [FT_TUNNEL_ERSPAN1] = gre,     [FT_TUNNEL_ERSPAN2] = erspan2,
	[FT_TUNNEL_ERSPAN3] = erspan3, [FT_TUNNEL_MLNX8949] = gre,    [FT_TUNNEL_NVGRE] = nvgre,
	[FT_TUNNEL_GRE_IP] = gre,      [FT_TUNNEL_VXLAN] = vxlan,     [FT_TUNNEL_GENEVE] = geneve,
	[FT_TUNNEL_SFLOW5] = sflow,    [FT_TUNNEL_MIRROR1123] = NULL,
};

static void tunnel_object(struct ft_line *line, const char *name, const struct ft_tunnel *tunnel)
{
	ft_line_add(line, name);
	ft_line_add(line, "{\"kind\":\"");
	ft_line_add(line, ft_wrapper_tunnel_name(tunnel));
	ft_line_char(line, '"');
	if (tunnel_members[tunnel->kind] != NULL)
		tunnel_members[tunnel->kind](line, tunnel);
	ft_line_char(line, '}');
}

static void tunnels(struct ft_line *line, const struct ft_packet *packet)
{
	if (packet->tunnel_count > 0)
		tunnel_object(line, ",\"mirror\":", &packet->tunnels[0]);
	if (packet->tunnel_count > 1)
		tunnel_object(line, ",\"overlay\":", &packet->tunnels[1]);
}

static bool is_vlan(const struct ft_layer *layer)
{
	return layer->kind >= FT_LAYER_VLAN && layer->kind <= FT_LAYER_QINQ9200;
}

/*
 * The tags of the innermost Ethernet header are the last ones in the stack; a time stamp may stand between them.
 * `vlan` is the one that the frame is judged by.
 */
static void vlans(struct ft_line *line, const struct ft_packet *packet)
{
	const char *lead = ",\"vlan_pcp\":[";
	unsigned start = packet->layer_count;

	for (unsigned found = 0; start > 0 && found < packet->vlan_count;)
		found += is_vlan(&packet->layers[--start]);
	for (unsigned i = start; i < packet->layer_count; i++) {
		if (!is_vlan(&packet->layers[i]))
			continue;
		ft_line_number(line, lead, packet->layers[i].pcp);
		lead = ",";
	}
	ft_line_char(line, ']');
	ft_line_number(line, ",\"vlan\":", packet->vlan);
}

static void virtual_network(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_number(line, ",\"vni\":", packet->vni);
}

static void trailer(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_add(line, ",\"trailer\":{\"kind\":\"");
	ft_line_add(line, packet->trailer.kind == 0 ? "metamako" : "exablaze");
	ft_line_number(line, "\",\"ts_ns\":", packet->trailer.ts_ns);
	ft_line_char(line, '}');
}

static void avsp(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_number(line, ",\"avsp\":{\"version\":", packet->avsp.version);
	ft_line_number(line, ",\"sec\":", packet->avsp.seconds);
	ft_line_number(line, ",\"ns\":", packet->avsp.ns);
	ft_line_char(line, '}');
}

static void erf_record(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_number(line, ",\"erf\":{\"type\":", packet->erf.type);
	ft_line_number(line, ",\"flags\":", packet->erf.flags);
	ft_line_number(line, ",\"lctr\":", packet->erf.lctr);
	ft_line_add(line, ",\"ext\":[");
	for (unsigned i = 0; i < packet->erf.ext_count; i++)
		ft_line_number(line, i > 0 ? "," : "", packet->erf.ext[i]);
	ft_line_number(line, "],\"wlen\":", packet->erf.wlen);
	ft_line_char(line, '}');
}

static void link_packet(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_number(line, ",\"link\":{\"op\":", packet->link.op);
	ft_line_number(line, ",\"fctbs\":", packet->link.fctbs);
	ft_line_number(line, ",\"vl\":", packet->link.vl);
	ft_line_number(line, ",\"fccl\":", packet->link.fccl);
	ft_line_add(line, ",\"lpcrc_ok\":");
	if (!packet->link.lpcrc_known)
		ft_line_add(line, "null}");
	else
		ft_line_add(line, packet->link.lpcrc_good ? "true}" : "false}");
}

#define PFC 0x0101 /* MAC control opcode whose frame has a class enable vector */

static void mac_control(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_number(line, ",\"macctrl\":{\"opcode\":", packet->macctrl.opcode);
	if (packet->macctrl.opcode == PFC)
		ft_line_number(line, ",\"enable\":", packet->macctrl.enable);
	ft_line_add(line, ",\"quanta\":[");
	for (unsigned i = 0; i < packet->macctrl.quanta_count; i++)
		ft_line_number(line, i > 0 ? "," : "", packet->macctrl.quanta[i]);
	ft_line_add(line, "]}");
}

static void raw_ethertype(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_number(line, ",\"rwh_ethertype\":", packet->rwh_ethertype);
}

static void mad(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_number(line, ",\"mad\":{\"base_version\":", packet->mad.base_version);
	ft_line_number(line, ",\"mgmt_class\":", packet->mad.mgmt_class);
	ft_line_number(line, ",\"class_version\":", packet->mad.class_version);
	ft_line_number(line, ",\"method\":", packet->mad.method);
	ft_line_number(line, ",\"status\":", packet->mad.status);
	ft_line_number(line, ",\"class_specific\":", packet->mad.class_specific);
	ft_line_add(line, ",\"tid\":\"");
	ft_line_hex(line, packet->mad.tid, 16);
	ft_line_number(line, "\",\"attr_id\":", packet->mad.attr_id);
	ft_line_number(line, ",\"attr_mod\":", packet->mad.attr_mod);
	ft_line_char(line, '}');
}

static const struct wrapper {
	uint32_t has;
	void (*write)(struct ft_line *line, const struct ft_packet *packet);
} wrappers[] = {
	{ FT_HAS_VNI, virtual_network }, { FT_HAS_AVSP, avsp },
	{ FT_HAS_TRAILER, trailer },     { FT_HAS_ERF, erf_record },
	{ FT_HAS_LINK, link_packet },    { FT_HAS_MACCTRL, mac_control },
	{ FT_HAS_RWH, raw_ethertype },   { FT_HAS_MAD, mad },
};

void ft_wrapper_members(struct ft_line *line, const struct ft_packet *packet)
{
	if (packet->vlan_count > 0)
		vlans(line, packet);
	if (packet->tunnel_count > 0)
		tunnels(line, packet);
	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++)
		if (packet->has & wrappers[i].has)
			wrappers[i].write(line, packet);
}
