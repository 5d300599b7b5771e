#include "field.h"

#include <stddef.h>

#include "frame_nccl.h"

#define MEMBER(name)                                                                               \
	.offset = offsetof(struct ft_packet, name), .size = sizeof(((struct ft_packet *)0)->name)
#define DECIMAL .write = ft_field_decimal
#define HEX(n)  .write = ft_field_hex, .digits = (n)
#define IP      (FT_HAS_IPV4 | FT_HAS_IPV6)

/* clang-format off */
static const struct ft_field fields[] = {
	/* our names: value forms of the JSON objects */
	{ "input", "file the frame came from", .write = ft_field_input },
	{ "frame", "frame number over all inputs, from 1", .write = ft_field_number },
	{ "sub", "index of the packet in its frame", .write = ft_field_sub },
	{ "ts_ns", "nanoseconds since 1970", .write = ft_field_ts_ns },
	{ "caplen", "bytes captured", .write = ft_field_captured },
	{ "wirelen", "bytes before cutting", .write = ft_field_original },
	{ "linktype", "LINKTYPE_ number", .write = ft_field_link_type },
	{ "encap", "headers from the outside in", .write = ft_field_encap },
	{ "tunnels", "tunnels that were peeled", .write = ft_field_tunnel },
	{ "transport", "roce1, roce2, ib, ib_link", .write = ft_field_transport },
	{ "smac", "source MAC", FT_HAS_ETH | FT_HAS_SLL, .write = ft_field_mac, MEMBER(smac) },
	{ "dmac", "destination MAC", FT_HAS_ETH, .write = ft_field_mac, MEMBER(dmac) },
	{ "vlan", "VLAN the frame is judged by; 0: untagged", DECIMAL, MEMBER(vlan) },
	{ "vni", "VNI the frame is judged by", FT_HAS_VNI, DECIMAL, MEMBER(vni) },
	{ "src", "source IP address or GID", IP | FT_HAS_GRH, .write = ft_field_address, MEMBER(src) },
	{ "dst", "destination IP address or GID", IP | FT_HAS_GRH, .write = ft_field_address, MEMBER(dst) },
	{ "ttl", "time to live or hop limit", IP, DECIMAL, MEMBER(ttl) },
	{ "dscp", "DSCP", IP, DECIMAL, MEMBER(dscp) },
	{ "ecn", "ECN bits", IP, DECIMAL, MEMBER(ecn) },
	{ "udp_sport", "UDP source port", FT_HAS_UDP, DECIMAL, MEMBER(udp_sport) },
	{ "udp_dport", "UDP destination port", FT_HAS_UDP, DECIMAL, MEMBER(udp_dport) },
	{ "slid", "source LID", FT_HAS_LRH, DECIMAL, MEMBER(lrh.slid) },
	{ "dlid", "destination LID", FT_HAS_LRH, DECIMAL, MEMBER(lrh.dlid) },
	{ "sl", "service level", FT_HAS_LRH, DECIMAL, MEMBER(lrh.sl) },
	{ "vl", "virtual lane", FT_HAS_LRH, DECIMAL, MEMBER(lrh.vl) },
	{ "opcode", "BTH opcode", FT_HAS_BTH, DECIMAL, MEMBER(opcode) },
	{ "opname", "its name", FT_HAS_BTH, .write = ft_field_opname },
	{ "pkey", "P_Key, all 16 bits", FT_HAS_BTH, DECIMAL, MEMBER(pkey) },
	{ "dest_qp", "destination queue pair", FT_HAS_BTH, DECIMAL, MEMBER(dest_qp) },
	{ "psn", "packet sequence number", FT_HAS_BTH, DECIMAL, MEMBER(psn) },
	{ "se", "solicited event", FT_HAS_BTH, DECIMAL, MEMBER(solicited) },
	{ "m", "migration state", FT_HAS_BTH, DECIMAL, MEMBER(migrated) },
	{ "pad", "pad bytes", FT_HAS_BTH, DECIMAL, MEMBER(pad) },
	{ "tver", "transport version", FT_HAS_BTH, DECIMAL, MEMBER(tver) },
	{ "fecn", "FECN", FT_HAS_BTH, DECIMAL, MEMBER(fecn) },
	{ "becn", "BECN", FT_HAS_BTH, DECIMAL, MEMBER(becn) },
	{ "ack_req", "acknowledge request", FT_HAS_BTH, DECIMAL, MEMBER(ack_request) },
	{ "deth.qkey", "Q_Key", FT_HAS_DETH, DECIMAL, MEMBER(deth.qkey) },
	{ "deth.src_qp", "source queue pair", FT_HAS_DETH, DECIMAL, MEMBER(deth.src_qp) },
	{ "xrceth.srqn", "XRC receive queue", FT_HAS_XRCETH, DECIMAL, MEMBER(xrceth.srqn) },
	{ "rdeth.eecn", "end-to-end context", FT_HAS_RDETH, DECIMAL, MEMBER(rdeth.eecn) },
	{ "reth.va", "remote address", FT_HAS_RETH, HEX(16), MEMBER(reth.va) },
	{ "reth.rkey", "R_Key", FT_HAS_RETH, DECIMAL, MEMBER(reth.rkey) },
	{ "reth.len", "DMA length", FT_HAS_RETH, DECIMAL, MEMBER(reth.length) },
	{ "atomiceth.va", "remote address", FT_HAS_ATOMICETH, HEX(16), MEMBER(atomiceth.va) },
	{ "atomiceth.rkey", "R_Key", FT_HAS_ATOMICETH, DECIMAL, MEMBER(atomiceth.rkey) },
	{ "atomiceth.swap_add", "swap or add data", FT_HAS_ATOMICETH, HEX(16), MEMBER(atomiceth.swap_add) },
	{ "atomiceth.compare", "compare data", FT_HAS_ATOMICETH, HEX(16), MEMBER(atomiceth.compare) },
	{ "atomicack.orig", "value before the operation", FT_HAS_ATOMICACK, HEX(16), MEMBER(atomicack.original) },
	{ "aeth.syndrome", "syndrome", FT_HAS_AETH, DECIMAL, MEMBER(aeth.syndrome) },
	{ "aeth.kind", "ack, rnr_nak, or which NAK", FT_HAS_AETH, .write = ft_field_syndrome_name },
	{ "aeth.msn", "message sequence number", FT_HAS_AETH, DECIMAL, MEMBER(aeth.msn) },
	{ "immdt", "immediate data", FT_HAS_IMMDT, DECIMAL, MEMBER(immdt) },
	{ "ieth.rkey", "R_Key to invalidate", FT_HAS_IETH, DECIMAL, MEMBER(ieth_rkey) },
	{ "feth.plt", "flush placement", FT_HAS_FETH, DECIMAL, MEMBER(feth.placement) },
	{ "feth.sel", "flush selectivity", FT_HAS_FETH, DECIMAL, MEMBER(feth.selectivity) },
	{ "payload_len", "payload without pad", FT_HAS_PAYLOAD_LENGTH, DECIMAL, MEMBER(payload_length) },
	{ "payload_captured", "bytes of it captured", FT_HAS_PAYLOAD, DECIMAL, MEMBER(payload_captured) },
	{ "icrc", "ICRC as on the wire", FT_HAS_ICRC, .write = ft_field_octets, MEMBER(icrc) },
	{ "icrc_ok", "true, false; empty: not checkable", .write = ft_field_icrc_ok },
	{ "vcrc", "VCRC as on the wire", FT_HAS_VCRC, .write = ft_field_octets, MEMBER(vcrc) },
	{ "vcrc_ok", "true, false; empty: not checkable", .write = ft_field_vcrc_ok },
	{ "malformed", "first rule broken", .write = ft_field_malformed },
	{ "truncated", "first header cut", .write = ft_field_truncated },
	{ "alerts", "remarks", .write = ft_field_alerts },
	{ "mad.mgmt_class", "management class", FT_HAS_MAD, DECIMAL, MEMBER(mad.mgmt_class) },
	{ "mad.method", "method", FT_HAS_MAD, DECIMAL, MEMBER(mad.method) },
	{ "mad.attr_id", "attribute", FT_HAS_MAD, DECIMAL, MEMBER(mad.attr_id) },
	{ "mad.tid", "transaction", FT_HAS_MAD, HEX(16), MEMBER(mad.tid) },
	{ "from", "tenant of the source, with a map", .write = ft_field_from },
	{ "to", "tenant of the destination, with a map", .write = ft_field_to },
	{ "rules", "rules violated, with a map", .write = ft_field_rules },
	{ "notes", "remarks on the verdict, with a map", .write = ft_field_notes },
	{ "undecided", "why it could not be judged", .write = ft_field_undecided },
	{ "exception", "exception that permits the crossing", .write = ft_field_exception },
	{ "nccl.role", "cts, data, sizes, completion, probe, recovery-*, with --nccl", .write = ft_field_nccl_role },
	{ "nccl.connection", "number of the connection", .write = ft_field_nccl_connection },
	{ "nccl.k", "number of the message, from 0", .write = ft_field_nccl_k },
	{ "nccl.again", "true: its PSN had passed before", .write = ft_field_nccl_again },
	{ "nccl.family", "layout of clear-to-sends, A to F", .write = ft_field_nccl_family },
	{ "nccl.protocol", "SIMPLE, LL, LL128 or unknown", .write = ft_field_nccl_protocol },
	{ "nccl.n", "requests of a clear-to-send or of sizes", .write = ft_field_nccl_n },
	{ "nccl.tag", "their tags", .write = ft_field_nccl_requests, .size = FT_FRAME_TAG },
	{ "nccl.offered_size", "bytes asked for", .write = ft_field_nccl_requests, .size = FT_FRAME_OFFERED },
	{ "nccl.va", "where to", .write = ft_field_nccl_requests, .size = FT_FRAME_VA },
	{ "nccl.rkeys", "R_Keys, with --keys", .write = ft_field_nccl_requests, .size = FT_FRAME_RKEYS },
	{ "nccl.written_bytes", "lengths that sizes say", .write = ft_field_nccl_requests, .size = FT_FRAME_WRITTEN },

	/* Wireshark's names: value forms of tshark 4.0, of the innermost packet */
	{ "frame.number", "frame number", .write = ft_field_number },
	{ "frame.time_epoch", "seconds since 1970", .write = ft_field_epoch },
	{ "frame.len", "bytes on the wire", .write = ft_field_wire },
	{ "frame.cap_len", "bytes captured of them", .write = ft_field_wire_captured },
	{ "eth.src", "source MAC", FT_HAS_ETH, .write = ft_field_mac, MEMBER(smac) },
	{ "eth.dst", "destination MAC", FT_HAS_ETH, .write = ft_field_mac, MEMBER(dmac) },
	{ "vlan.id", "VLAN ids of all tags", .write = ft_field_vlan_ids },
	{ "vlan.priority", "their priorities", .write = ft_field_vlan_priorities },
	{ "vxlan.vni", "VNI", .write = ft_field_vni, .size = FT_TUNNEL_VXLAN },
	{ "geneve.vni", "VNI", .write = ft_field_vni, .size = FT_TUNNEL_GENEVE, .digits = 6 },
	{ "ip.src", "source address", FT_HAS_IPV4, .write = ft_field_ipv4, MEMBER(src) },
	{ "ip.dst", "destination address", FT_HAS_IPV4, .write = ft_field_ipv4, MEMBER(dst) },
	{ "ip.ttl", "time to live", FT_HAS_IPV4, DECIMAL, MEMBER(ttl) },
	{ "ip.id", "identification", FT_HAS_IPV4, HEX(4), MEMBER(ip_id) },
	{ "ip.version", "4 or 6", IP, DECIMAL, MEMBER(ip_version) },
	{ "ip.dsfield", "differentiated services", FT_HAS_IPV4, .write = ft_field_dsfield, .digits = 2 },
	{ "ip.dsfield.dscp", "DSCP", FT_HAS_IPV4, DECIMAL, MEMBER(dscp) },
	{ "ip.dsfield.ecn", "ECN bits", FT_HAS_IPV4, DECIMAL, MEMBER(ecn) },
	{ "ipv6.src", "source address", FT_HAS_IPV6, .write = ft_field_ipv6, MEMBER(src) },
	{ "ipv6.dst", "destination address", FT_HAS_IPV6, .write = ft_field_ipv6, MEMBER(dst) },
	{ "ipv6.hlim", "hop limit", FT_HAS_IPV6, DECIMAL, MEMBER(ttl) },
	{ "ipv6.flow", "flow label", FT_HAS_IPV6, HEX(6), MEMBER(flow_label) },
	{ "ipv6.tclass", "traffic class", FT_HAS_IPV6, .write = ft_field_dsfield, .digits = 8 },
	{ "ipv6.tclass.dscp", "DSCP", FT_HAS_IPV6, DECIMAL, MEMBER(dscp) },
	{ "ipv6.tclass.ecn", "ECN bits", FT_HAS_IPV6, DECIMAL, MEMBER(ecn) },
	{ "udp.srcport", "source port", FT_HAS_UDP, DECIMAL, MEMBER(udp_sport) },
	{ "udp.dstport", "destination port", FT_HAS_UDP, DECIMAL, MEMBER(udp_dport) },
	{ "udp.checksum", "checksum", FT_HAS_UDP, HEX(4), MEMBER(udp_checksum) },
	{ "infiniband.lrh.vl", "virtual lane", FT_HAS_LRH, HEX(2), MEMBER(lrh.vl) },
	{ "infiniband.lrh.lver", "link version", FT_HAS_LRH, DECIMAL, MEMBER(lrh.lver) },
	{ "infiniband.lrh.sl", "service level", FT_HAS_LRH, DECIMAL, MEMBER(lrh.sl) },
	{ "infiniband.lrh.lnh", "link next header", FT_HAS_LRH, HEX(2), MEMBER(lrh.lnh) },
	{ "infiniband.lrh.dlid", "destination LID", FT_HAS_LRH, DECIMAL, MEMBER(lrh.dlid) },
	{ "infiniband.lrh.slid", "source LID", FT_HAS_LRH, DECIMAL, MEMBER(lrh.slid) },
	{ "infiniband.lrh.pktlen", "length in words", FT_HAS_LRH, DECIMAL, MEMBER(lrh.pkt_len) },
	{ "infiniband.grh.ipver", "IP version", FT_HAS_GRH, DECIMAL, MEMBER(grh.ip_ver) },
	{ "infiniband.grh.tclass", "traffic class", FT_HAS_GRH, DECIMAL, MEMBER(grh.tclass) },
	{ "infiniband.grh.flowlabel", "flow label", FT_HAS_GRH, DECIMAL, MEMBER(grh.flow_label) },
	{ "infiniband.grh.paylen", "payload length", FT_HAS_GRH, DECIMAL, MEMBER(grh.pay_len) },
	{ "infiniband.grh.nxthdr", "next header", FT_HAS_GRH, DECIMAL, MEMBER(grh.next_hdr) },
	{ "infiniband.grh.hoplmt", "hop limit", FT_HAS_GRH, DECIMAL, MEMBER(grh.hop_limit) },
	{ "infiniband.grh.sgid", "source GID", FT_HAS_GRH, .write = ft_field_ipv6, MEMBER(src) },
	{ "infiniband.grh.dgid", "destination GID", FT_HAS_GRH, .write = ft_field_ipv6, MEMBER(dst) },
	{ "infiniband.bth.opcode", "opcode", FT_HAS_BTH, DECIMAL, MEMBER(opcode) },
	{ "infiniband.bth.se", "solicited event", FT_HAS_BTH, DECIMAL, MEMBER(solicited) },
	{ "infiniband.bth.m", "migration state", FT_HAS_BTH, DECIMAL, MEMBER(migrated) },
	{ "infiniband.bth.padcnt", "pad bytes", FT_HAS_BTH, DECIMAL, MEMBER(pad) },
	{ "infiniband.bth.tver", "transport version", FT_HAS_BTH, DECIMAL, MEMBER(tver) },
	{ "infiniband.bth.p_key", "P_Key", FT_HAS_BTH, DECIMAL, MEMBER(pkey) },
	{ "infiniband.bth.destqp", "destination queue pair", FT_HAS_BTH, HEX(6), MEMBER(dest_qp) },
	{ "infiniband.bth.a", "acknowledge request", FT_HAS_BTH, DECIMAL, MEMBER(ack_request) },
	{ "infiniband.bth.psn", "packet sequence number", FT_HAS_BTH, DECIMAL, MEMBER(psn) },
	{ "infiniband.rdeth.eecnxt", "end-to-end context", FT_HAS_RDETH, DECIMAL, MEMBER(rdeth.eecn) },
	{ "infiniband.deth.q_key", "Q_Key", FT_HAS_DETH, HEX(16), MEMBER(deth.qkey) },
	{ "infiniband.deth.srcqp", "source queue pair", FT_HAS_DETH, HEX(8), MEMBER(deth.src_qp) },
	{ "infiniband.reth.va", "remote address, of atomics too", FT_HAS_RETH | FT_HAS_ATOMICETH, .write = ft_field_remote_va },
	{ "infiniband.reth.r_key", "R_Key, of atomics too", FT_HAS_RETH | FT_HAS_ATOMICETH, .write = ft_field_remote_key },
	{ "infiniband.reth.dmalen", "DMA length", FT_HAS_RETH, DECIMAL, MEMBER(reth.length) },
	{ "infiniband.atomiceth.swapdt", "swap or add data", FT_HAS_ATOMICETH, DECIMAL, MEMBER(atomiceth.swap_add) },
	{ "infiniband.atomiceth.cmpdt", "compare data", FT_HAS_ATOMICETH, DECIMAL, MEMBER(atomiceth.compare) },
	{ "infiniband.aeth.syndrome", "syndrome", FT_HAS_AETH, DECIMAL, MEMBER(aeth.syndrome) },
	{ "infiniband.aeth.syndrome.opcode", "its kind", FT_HAS_AETH, .write = ft_field_syndrome_kind },
	{ "infiniband.aeth.syndrome.credit_count", "credit code of an ACK", FT_HAS_AETH, .write = ft_field_syndrome_value, .digits = FT_AETH_ACK },
	{ "infiniband.aeth.syndrome.timer", "timer code of an RNR NAK", FT_HAS_AETH, .write = ft_field_syndrome_value, .digits = FT_AETH_RNR },
	{ "infiniband.aeth.syndrome.error_code", "code of a NAK", FT_HAS_AETH, .write = ft_field_syndrome_value, .digits = FT_AETH_NAK },
	{ "infiniband.aeth.msn", "message sequence number", FT_HAS_AETH, DECIMAL, MEMBER(aeth.msn) },
	{ "infiniband.atomicacketh.origremdt", "value before the operation", FT_HAS_ATOMICACK, DECIMAL, MEMBER(atomicack.original) },
	{ "infiniband.immdt", "immediate data", FT_HAS_IMMDT, .write = ft_field_bare_hex, .digits = 8, MEMBER(immdt) },
	{ "infiniband.ieth", "R_Key to invalidate", FT_HAS_IETH, .write = ft_field_bare_hex, .digits = 8, MEMBER(ieth_rkey) },
	{ "infiniband.invariant.crc", "ICRC", FT_HAS_ICRC, .write = ft_field_octets, MEMBER(icrc) },
	{ "infiniband.variant.crc", "VCRC", FT_HAS_VCRC, .write = ft_field_octets, MEMBER(vcrc) },
	{ "infiniband.mad.baseversion", "base version", FT_HAS_MAD, HEX(2), MEMBER(mad.base_version) },
	{ "infiniband.mad.mgmtclass", "management class", FT_HAS_MAD, HEX(2), MEMBER(mad.mgmt_class) },
	{ "infiniband.mad.classversion", "class version", FT_HAS_MAD, HEX(2), MEMBER(mad.class_version) },
	{ "infiniband.mad.method", "method", FT_HAS_MAD, HEX(2), MEMBER(mad.method) },
	{ "infiniband.mad.status", "status", FT_HAS_MAD, HEX(4), MEMBER(mad.status) },
	{ "infiniband.mad.classspecific", "class specific", FT_HAS_MAD, HEX(4), MEMBER(mad.class_specific) },
	{ "infiniband.mad.transactionid", "transaction", FT_HAS_MAD, HEX(16), MEMBER(mad.tid) },
	{ "infiniband.mad.attributeid", "attribute", FT_HAS_MAD, HEX(4), MEMBER(mad.attr_id) },
	{ "infiniband.mad.attributemodifier", "attribute modifier", FT_HAS_MAD, HEX(8), MEMBER(mad.attr_mod) },
};
/* clang-format on */

const struct ft_field *ft_field_find(const char *name)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strcmp(fields[i].name, name) == 0)
			return &fields[i];
	return NULL;
}

int ft_fields_write(FILE *out, const struct ft_field *const *chosen, size_t count,
		    const struct ft_frame_view *view)
{
	struct ft_line line;

	ft_line_open(&line, out);
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			ft_line_char(&line, '\t');
		if (chosen[i]->has == 0 || (view->packet->has & chosen[i]->has))
			chosen[i]->write(&line, chosen[i], view);
	}
	ft_line_char(&line, '\n');
	return ft_line_flush(&line);
}

int ft_field_list(FILE *out)
{
	struct ft_line line;

	ft_line_open(&line, out);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		ft_line_add(&line, fields[i].name);
		for (size_t column = strlen(fields[i].name); column < 40; column++)
			ft_line_char(&line, ' ');
		ft_line_add(&line, fields[i].about);
		ft_line_char(&line, '\n');
	}
	return ft_line_flush(&line);
}
