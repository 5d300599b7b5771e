#include "packet_json.h"

#include <stdio.h>
#include <string.h>

#include <decode/aeth.h>
#include <decode/opcode.h>

static bool has(const struct ft_packet *packet, uint32_t bit)
{
	return (packet->has & bit) != 0;
}

static json_t *text_or_null(const char *text)
{
	return text != NULL ? json_string(text) : json_null();
}

static json_t *check_json(uint8_t check)
{
	return check == FT_CHECK_UNKNOWN ? json_null() : json_boolean(check == FT_CHECK_GOOD);
}

static json_t *hex64(uint64_t value)
{
	return json_sprintf("0x%016llx", (unsigned long long)value);
}

static json_t *mac_json(const uint8_t *b)
{
	return json_sprintf("%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5]);
}

static json_t *address_json(const uint8_t *b)
{
	return json_sprintf(
		"%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x:%02x%02x", b[0],
		b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
		b[14], b[15]);
}

static json_t *ip_address_json(const struct ft_packet *packet, const uint8_t *b)
{
	if (packet->ip_version == 4)
		return json_sprintf("%u.%u.%u.%u", b[12], b[13], b[14], b[15]);
	return address_json(b);
}

static void add_frame(json_t *record, const struct ft_frame *frame, unsigned sub)
{
	static const char *const directions[] = { NULL, "in", "out" };

	json_object_set_new(record, "frame", json_integer((json_int_t)frame->number));
	json_object_set_new(record, "sub", json_integer(sub));
	json_object_set_new(record, "linktype", json_integer(frame->link_type));
	json_object_set_new(record, "caplen", json_integer(frame->captured));
	json_object_set_new(record, "wirelen", json_integer(frame->original));
	json_object_set_new(record, "ts_ns",
			    frame->ts_ns == FT_TS_UNKNOWN ? json_null()
							  : json_integer((json_int_t)frame->ts_ns));
	if (!frame->is_pcapng)
		return;
	json_object_set_new(record, "interface", json_integer(frame->interface));
	json_object_set_new(record, "section", json_integer(frame->section));
	json_object_set_new(record, "epb_dir", text_or_null(directions[frame->direction]));
}

static void add_stack(json_t *record, const struct ft_packet *packet)
{
	json_t *stack = json_array(), *pcps = json_array();
	char text[32];

	for (unsigned i = 0; i < packet->layer_count; i++) {
		const struct ft_layer *layer = &packet->layers[i];

		ft_layer_text(layer, text, sizeof text);
		json_array_append_new(stack, json_string(text));
		if (layer->kind >= FT_LAYER_VLAN && layer->kind <= FT_LAYER_QINQ9200)
			json_array_append_new(pcps, json_integer(layer->pcp));
	}
	json_object_set_new(record, "encap", stack);
	json_object_set_new(record, "vlan_pcp", pcps);
}

static void add_addresses(json_t *record, const struct ft_packet *packet)
{
	if (has(packet, FT_HAS_ETH | FT_HAS_SLL))
		json_object_set_new(record, "smac", mac_json(packet->smac));
	if (has(packet, FT_HAS_ETH))
		json_object_set_new(record, "dmac", mac_json(packet->dmac));
	if (has(packet, FT_HAS_UDP))
		json_object_set_new(record, "udp_sport", json_integer(packet->udp_sport));
	if (has(packet, FT_HAS_IPV4 | FT_HAS_IPV6)) {
		json_t *ip = json_pack("{si so so si si si}", "ver", packet->ip_version, "src",
				       ip_address_json(packet, packet->src), "dst",
				       ip_address_json(packet, packet->dst), "ttl", packet->ttl,
				       "dscp", packet->dscp, "ecn", packet->ecn);

		if (packet->ip_version == 4)
			json_object_set_new(ip, "id", json_integer(packet->ip_id));
		else
			json_object_set_new(ip, "flow_label", json_integer(packet->flow_label));
		json_object_set_new(record, "ip", ip);
	}
	if (has(packet, FT_HAS_GRH))
		json_object_set_new(
			record, "grh",
			json_pack("{so so si si si si si si}", "sgid", address_json(packet->src),
				  "dgid", address_json(packet->dst), "tclass", packet->grh.tclass,
				  "flow_label", (int)packet->grh.flow_label, "hop_limit",
				  packet->grh.hop_limit, "pay_len", packet->grh.pay_len, "next_hdr",
				  packet->grh.next_hdr, "ip_ver", packet->grh.ip_ver));
	if (has(packet, FT_HAS_LRH))
		json_object_set_new(record, "lrh",
				    json_pack("{si si si si si si si}", "vl", packet->lrh.vl,
					      "lver", packet->lrh.lver, "sl", packet->lrh.sl, "lnh",
					      packet->lrh.lnh, "dlid", packet->lrh.dlid, "slid",
					      packet->lrh.slid, "pkt_len", packet->lrh.pkt_len));
}

static void add_bth(json_t *record, const struct ft_packet *packet)
{
	if (!has(packet, FT_HAS_BTH))
		return;
	json_object_set_new(record, "opcode", json_integer(packet->opcode));
	json_object_set_new(record, "opname", text_or_null(ft_opcode_name(packet->opcode)));
	json_object_set_new(record, "se", json_integer(packet->solicited));
	json_object_set_new(record, "m", json_integer(packet->migrated));
	json_object_set_new(record, "pad", json_integer(packet->pad));
	json_object_set_new(record, "tver", json_integer(packet->tver));
	json_object_set_new(record, "pkey", json_integer(packet->pkey));
	json_object_set_new(record, "fecn", json_integer(packet->fecn));
	json_object_set_new(record, "becn", json_integer(packet->becn));
	json_object_set_new(record, "dest_qp", json_integer(packet->dest_qp));
	json_object_set_new(record, "ack_req", json_integer(packet->ack_request));
	json_object_set_new(record, "psn", json_integer(packet->psn));
	if (has(packet, FT_HAS_AMBIGUOUS_RD))
		json_object_set_new(record, "ambiguous", json_string("rd_or_dc"));
}

static json_t *aeth_json(const struct ft_packet *packet)
{
	uint8_t syndrome = packet->aeth.syndrome;
	enum ft_aeth_kind kind = ft_aeth_kind(syndrome);
	json_t *aeth = json_pack("{si si ss}", "syndrome", syndrome, "msn", (int)packet->aeth.msn,
				 "kind", ft_aeth_kind_name(kind));

	if (kind == FT_AETH_ACK)
		json_object_set_new(aeth, "credits",
				    ft_aeth_credits(syndrome) < 0
					    ? json_null()
					    : json_integer(ft_aeth_credits(syndrome)));
	if (kind == FT_AETH_RNR)
		json_object_set_new(aeth, "rnr_us", json_integer(ft_aeth_rnr_us(syndrome)));
	if (kind == FT_AETH_NAK)
		json_object_set_new(aeth, "nak", json_string(ft_aeth_nak_name(syndrome)));
	return aeth;
}

static void add_extensions(json_t *record, const struct ft_packet *packet)
{
	if (has(packet, FT_HAS_RDETH))
		json_object_set_new(record, "rdeth",
				    json_pack("{sI}", "eecn", (json_int_t)packet->rdeth.eecn));
	if (has(packet, FT_HAS_DETH))
		json_object_set_new(record, "deth",
				    json_pack("{sI sI}", "qkey", (json_int_t)packet->deth.qkey,
					      "src_qp", (json_int_t)packet->deth.src_qp));
	if (has(packet, FT_HAS_XRCETH))
		json_object_set_new(record, "xrceth",
				    json_pack("{sI}", "srqn", (json_int_t)packet->xrceth.srqn));
	if (has(packet, FT_HAS_RETH))
		json_object_set_new(record, "reth",
				    json_pack("{so sI sI}", "va", hex64(packet->reth.va), "rkey",
					      (json_int_t)packet->reth.rkey, "len",
					      (json_int_t)packet->reth.length));
	if (has(packet, FT_HAS_ATOMICETH))
		json_object_set_new(record, "atomiceth",
				    json_pack("{so sI so so}", "va", hex64(packet->atomiceth.va),
					      "rkey", (json_int_t)packet->atomiceth.rkey,
					      "swap_add", hex64(packet->atomiceth.swap_add),
					      "compare", hex64(packet->atomiceth.compare)));
	if (has(packet, FT_HAS_AETH))
		json_object_set_new(record, "aeth", aeth_json(packet));
	if (has(packet, FT_HAS_ATOMICACK))
		json_object_set_new(record, "atomicack",
				    json_pack("{so}", "orig", hex64(packet->atomicack.original)));
	if (has(packet, FT_HAS_IMMDT))
		json_object_set_new(record, "immdt", json_integer(packet->immdt));
	if (has(packet, FT_HAS_IETH))
		json_object_set_new(record, "ieth",
				    json_pack("{sI}", "rkey", (json_int_t)packet->ieth_rkey));
	if (has(packet, FT_HAS_FETH))
		json_object_set_new(record, "feth",
				    json_pack("{si si}", "plt", packet->feth.placement, "sel",
					      packet->feth.selectivity));
}

static void add_payload(json_t *record, const struct ft_packet *packet)
{
	const uint8_t *b = packet->icrc;

	if (has(packet, FT_HAS_PAYLOAD_LENGTH))
		json_object_set_new(record, "payload_len", json_integer(packet->payload_length));
	if (has(packet, FT_HAS_BTH))
		json_object_set_new(
			record, "payload_captured",
			json_integer(has(packet, FT_HAS_PAYLOAD) ? packet->payload_captured : 0));
	if (has(packet, FT_HAS_ICRC))
		json_object_set_new(record, "icrc",
				    json_sprintf("0x%02x%02x%02x%02x", b[0], b[1], b[2], b[3]));
	if (has(packet, FT_HAS_VCRC))
		json_object_set_new(record, "vcrc",
				    json_sprintf("0x%02x%02x", packet->vcrc[0], packet->vcrc[1]));
	json_object_set_new(record, "icrc_ok", check_json(packet->icrc_check));
	json_object_set_new(record, "vcrc_ok", check_json(packet->vcrc_check));
	json_object_set_new(record, "fcs_ok", check_json(packet->fcs_check));
}

static void add_verdict(json_t *record, const struct ft_packet *packet)
{
	json_t *alerts = json_array();

	json_object_set_new(record, "malformed",
			    text_or_null(ft_malformed_name(packet->malformed)));
	json_object_set_new(record, "truncated",
			    text_or_null(ft_truncated_name(packet->truncated)));
	for (unsigned bit = 0; bit < FT_ALERT_KINDS; bit++)
		if ((packet->alerts >> bit & 1) != 0)
			json_array_append_new(alerts, json_string(ft_alert_name(bit)));
	json_object_set_new(record, "alerts", alerts);
}

static json_t *tunnel_json(const struct ft_tunnel *t)
{
	json_t *json = json_object();
	bool all_words =
		t->kind == FT_TUNNEL_GRE_TEB && t->has_key && t->has_sequence && t->has_checksum;

	json_object_set_new(
		json, "kind",
		json_string(all_words ? "gre_teb_key_seq_csum" : ft_tunnel_name(t->kind)));
	if (t->has_key)
		json_object_set_new(json, "key", json_integer(t->key));
	if (t->has_sequence)
		json_object_set_new(json, "seq", json_integer(t->sequence));
	if ((t->kind == FT_TUNNEL_ERSPAN2 || t->kind == FT_TUNNEL_ERSPAN3) && !t->has_session)
		return json;
	switch (t->kind) {
	case FT_TUNNEL_ERSPAN3:
		json_object_update_new(
			json, json_pack("{si sI si si si si ss si}", "bso", t->en_or_bso, "ts",
					(json_int_t)t->timestamp, "sgt", t->sgt, "p", (int)t->pdu,
					"ft", t->frame_type, "hw", t->hardware_id, "direction",
					t->egress ? "egress" : "ingress", "gra", t->granularity));
		if (t->has_subheader)
			json_object_update_new(json, json_pack("{si s[II]}", "platform_id",
							       t->platform_id, "sub",
							       (json_int_t)t->subheader[0],
							       (json_int_t)t->subheader[1]));
		break;
	case FT_TUNNEL_ERSPAN2:
		json_object_update_new(json, json_pack("{si sI}", "en", t->en_or_bso, "index",
						       (json_int_t)t->index));
		break;
	case FT_TUNNEL_NVGRE:
		json_object_set_new(json, "vsid", json_integer(t->vni));
		break;
	case FT_TUNNEL_VXLAN:
	case FT_TUNNEL_GENEVE:
		json_object_update_new(json, json_pack("{sI si}", "vni", (json_int_t)t->vni,
						       "optlen", t->option_bytes));
		break;
	case FT_TUNNEL_SFLOW5:
		json_object_update_new(
			json, json_pack("{sI sI sI sI sI}", "rate", (json_int_t)t->sampling_rate,
					"frame_len", (json_int_t)t->frame_length, "stripped",
					(json_int_t)t->stripped, "input", (json_int_t)t->input,
					"output", (json_int_t)t->output));
		break;
	}
	if (t->kind == FT_TUNNEL_ERSPAN2 || t->kind == FT_TUNNEL_ERSPAN3)
		json_object_update_new(json,
				       json_pack("{si si si si}", "vlan", t->vlan, "cos", t->cos,
						 "t", (int)t->cut, "session", t->session));
	return json;
}

static json_t *erf_json(const struct ft_packet *packet)
{
	json_t *ext = json_array();

	for (unsigned i = 0; i < packet->erf.ext_count; i++)
		json_array_append_new(ext, json_integer(packet->erf.ext[i]));
	return json_pack("{si si si so si}", "type", packet->erf.type, "flags", packet->erf.flags,
			 "lctr", packet->erf.lctr, "ext", ext, "wlen", packet->erf.wlen);
}

static json_t *macctrl_json(const struct ft_packet *packet)
{
	json_t *quanta = json_array();

	for (unsigned i = 0; i < packet->macctrl.quanta_count; i++)
		json_array_append_new(quanta, json_integer(packet->macctrl.quanta[i]));
	return json_pack("{si si so}", "opcode", packet->macctrl.opcode, "enable",
			 packet->macctrl.enable, "quanta", quanta);
}

static void add_wrappers(json_t *record, const struct ft_packet *packet)
{
	static const char *const trailers[] = { "metamako", "exablaze" };

	if (packet->tunnel_count > 0)
		json_object_set_new(record, "mirror", tunnel_json(&packet->tunnels[0]));
	if (packet->tunnel_count > 1)
		json_object_set_new(record, "overlay", tunnel_json(&packet->tunnels[1]));
	if (has(packet, FT_HAS_ERF))
		json_object_set_new(record, "erf", erf_json(packet));
	if (has(packet, FT_HAS_MACCTRL))
		json_object_set_new(record, "macctrl", macctrl_json(packet));
	if (has(packet, FT_HAS_RWH))
		json_object_set_new(record, "rwh_ethertype", json_integer(packet->rwh_ethertype));
	if (has(packet, FT_HAS_TRAILER))
		json_object_set_new(record, "trailer",
				    json_pack("{ss sI}", "kind", trailers[packet->trailer.kind],
					      "ts_ns", (json_int_t)packet->trailer.ts_ns));
	if (has(packet, FT_HAS_AVSP))
		json_object_set_new(record, "avsp",
				    json_pack("{si sI sI}", "version", packet->avsp.version, "sec",
					      (json_int_t)packet->avsp.seconds, "ns",
					      (json_int_t)packet->avsp.ns));
	if (has(packet, FT_HAS_LINK))
		json_object_set_new(record, "link",
				    json_pack("{si si si si sb}", "op", packet->link.op, "fctbs",
					      packet->link.fctbs, "vl", packet->link.vl, "fccl",
					      packet->link.fccl, "lpcrc_ok",
					      packet->link.lpcrc_good));
}

static void add_mad(json_t *record, const struct ft_packet *packet)
{
	if (!has(packet, FT_HAS_MAD))
		return;
	json_object_set_new(
		record, "mad",
		json_pack("{si si si si si si so si sI}", "base_version", packet->mad.base_version,
			  "mgmt_class", packet->mad.mgmt_class, "class_version",
			  packet->mad.class_version, "method", packet->mad.method, "status",
			  packet->mad.status, "class_specific", packet->mad.class_specific, "tid",
			  hex64(packet->mad.tid), "attr_id", packet->mad.attr_id, "attr_mod",
			  (json_int_t)packet->mad.attr_mod));
}

json_t *packet_json(const struct ft_frame *frame, unsigned sub, const struct ft_packet *packet)
{
	json_t *record = json_object();

	add_frame(record, frame, sub);
	json_object_set_new(record, "transport",
			    text_or_null(ft_transport_name(packet->transport)));
	add_stack(record, packet);
	add_addresses(record, packet);
	add_bth(record, packet);
	add_extensions(record, packet);
	add_payload(record, packet);
	add_verdict(record, packet);
	add_wrappers(record, packet);
	add_mad(record, packet);
	return record;
}
