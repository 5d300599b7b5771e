#include <report/frame.h>

#include <decode/opcode.h>

#include "frame_extension.h"
#include "frame_nccl.h"
#include "frame_wrapper.h"
#include "line.h"

/* One packet as an object on one line: names and value forms of the wire-format vectors. */

static void three_valued(struct ft_line *line, const char *name, uint8_t check)
{
	static const char *const words[] = {
		[FT_CHECK_UNKNOWN] = "null",
		[FT_CHECK_GOOD] = "true",
		[FT_CHECK_BAD] = "false",
	};

	ft_line_add(line, name);
	ft_line_add(line, words[check]);
}

static void quoted(struct ft_line *line, const char *name, const char *value)
{
	ft_line_add(line, name);
	ft_line_quoted(line, value);
}

static void quoted_list(struct ft_line *line, const char *name, const char *const *values,
			size_t count)
{
	ft_line_add(line, name);
	for (size_t i = 0; i < count; i++) {
		ft_line_add(line, i > 0 ? "," : "[");
		ft_line_quoted(line, values[i]);
	}
	ft_line_char(line, ']');
}

static void container(struct ft_line *line, const struct ft_frame_view *view)
{
	static const char *const directions[4] = { NULL, "in", "out", NULL };
	const struct ft_frame *frame = view->frame;

	quoted(line, "{\"input\":", view->input != NULL ? view->input : "-");
	ft_line_number(line, ",\"frame\":", frame->number);
	ft_line_number(line, ",\"sub\":", view->sub);
	ft_line_number(line, ",\"linktype\":", frame->link_type);
	if (frame->ts_ns == FT_TS_UNKNOWN)
		ft_line_add(line, ",\"ts_ns\":null");
	else
		ft_line_number(line, ",\"ts_ns\":", frame->ts_ns);
	ft_line_number(line, ",\"caplen\":", frame->captured);
	ft_line_number(line, ",\"wirelen\":", frame->original);
	if (!frame->is_pcapng)
		return;
	ft_line_number(line, ",\"section\":", frame->section);
	ft_line_number(line, ",\"interface\":", frame->interface);
	ft_line_word(line, ",\"epb_dir\":", directions[frame->direction & 3]);
}

static void addresses_ip(struct ft_line *line, const struct ft_packet *packet)
{
	bool is_v4 = packet->has & FT_HAS_IPV4;

	ft_line_add(line,
		    is_v4 ? ",\"ip\":{\"ver\":4,\"src\":\"" : ",\"ip\":{\"ver\":6,\"src\":\"");
	if (is_v4)
		ft_line_ipv4(line, packet->src + 12);
	else
		ft_line_ipv6_full(line, packet->src);
	ft_line_add(line, "\",\"dst\":\"");
	if (is_v4)
		ft_line_ipv4(line, packet->dst + 12);
	else
		ft_line_ipv6_full(line, packet->dst);
	ft_line_number(line, "\",\"ttl\":", packet->ttl);
	ft_line_number(line, ",\"dscp\":", packet->dscp);
	ft_line_number(line, ",\"ecn\":", packet->ecn);
	if (is_v4)
		ft_line_number(line, ",\"id\":", packet->ip_id);
	else
		ft_line_number(line, ",\"flow_label\":", packet->flow_label);
	ft_line_char(line, '}');
}

static void global_route(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_add(line, ",\"grh\":{\"sgid\":\"");
	ft_line_ipv6_full(line, packet->src);
	ft_line_add(line, "\",\"dgid\":\"");
	ft_line_ipv6_full(line, packet->dst);
	ft_line_number(line, "\",\"tclass\":", packet->grh.tclass);
	ft_line_number(line, ",\"flow_label\":", packet->grh.flow_label);
	ft_line_number(line, ",\"hop_limit\":", packet->grh.hop_limit);
	ft_line_number(line, ",\"pay_len\":", packet->grh.pay_len);
	ft_line_number(line, ",\"next_hdr\":", packet->grh.next_hdr);
	ft_line_number(line, ",\"ip_ver\":", packet->grh.ip_ver);
	ft_line_char(line, '}');
}

static void local_route(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_number(line, ",\"lrh\":{\"vl\":", packet->lrh.vl);
	ft_line_number(line, ",\"lver\":", packet->lrh.lver);
	ft_line_number(line, ",\"sl\":", packet->lrh.sl);
	ft_line_number(line, ",\"lnh\":", packet->lrh.lnh);
	ft_line_number(line, ",\"dlid\":", packet->lrh.dlid);
	ft_line_number(line, ",\"slid\":", packet->lrh.slid);
	ft_line_number(line, ",\"pkt_len\":", packet->lrh.pkt_len);
	ft_line_char(line, '}');
}

static void hardware(struct ft_line *line, const char *lead, const uint8_t mac[6])
{
	ft_line_add(line, lead);
	ft_line_mac(line, mac);
	ft_line_char(line, '"');
}

static void hardware_addresses(struct ft_line *line, const struct ft_packet *packet)
{
	if (packet->has & (FT_HAS_ETH | FT_HAS_SLL))
		hardware(line, ",\"smac\":\"", packet->smac);
	else
		ft_line_add(line, ",\"smac\":null");
	if (packet->has & FT_HAS_ETH)
		hardware(line, ",\"dmac\":\"", packet->dmac);
	else
		ft_line_add(line, ",\"dmac\":null");
}

static void addresses(struct ft_line *line, const struct ft_packet *packet)
{
	hardware_addresses(line, packet);
	if (packet->has & (FT_HAS_IPV4 | FT_HAS_IPV6))
		addresses_ip(line, packet);
	else
		ft_line_add(line, ",\"ip\":null");
	if (packet->has & FT_HAS_UDP)
		ft_line_number(line, ",\"udp_sport\":", packet->udp_sport);
	else
		ft_line_add(line, ",\"udp_sport\":null");
	if (packet->has & FT_HAS_GRH)
		global_route(line, packet);
	if (packet->has & FT_HAS_LRH)
		local_route(line, packet);
}

static void base_transport(struct ft_line *line, const struct ft_packet *packet)
{
	if (!(packet->has & FT_HAS_BTH)) {
		ft_line_add(line, ",\"opcode\":null,\"opname\":null,\"se\":null,\"m\":null,\"pad\":"
				  "null,\"tver\":null"
				  ",\"pkey\":null,\"fecn\":null,\"becn\":null,\"dest_qp\":null,"
				  "\"ack_req\":null"
				  ",\"psn\":null");
		return;
	}
	ft_line_number(line, ",\"opcode\":", packet->opcode);
	ft_line_word(line, ",\"opname\":", ft_opcode_name(packet->opcode));
	ft_line_number(line, ",\"se\":", packet->solicited);
	ft_line_number(line, ",\"m\":", packet->migrated);
	ft_line_number(line, ",\"pad\":", packet->pad);
	ft_line_number(line, ",\"tver\":", packet->tver);
	ft_line_number(line, ",\"pkey\":", packet->pkey);
	ft_line_number(line, ",\"fecn\":", packet->fecn);
	ft_line_number(line, ",\"becn\":", packet->becn);
	ft_line_number(line, ",\"dest_qp\":", packet->dest_qp);
	ft_line_number(line, ",\"ack_req\":", packet->ack_request);
	ft_line_number(line, ",\"psn\":", packet->psn);
}

static void payload(struct ft_line *line, const struct ft_packet *packet)
{
	if (packet->has & FT_HAS_PAYLOAD_LENGTH) {
		ft_line_number(line, ",\"payload_len\":", packet->payload_length);
		ft_line_number(line, ",\"payload_captured\":",
			       packet->has & FT_HAS_PAYLOAD ? packet->payload_captured : 0);
	} else {
		ft_line_add(line, ",\"payload_len\":null,\"payload_captured\":null");
	}
}

static void checksums(struct ft_line *line, const struct ft_frame_view *view)
{
	const struct ft_packet *packet = view->packet;

	if (packet->has & FT_HAS_ICRC) {
		ft_line_add(line, ",\"icrc\":\"");
		ft_line_octets(line, packet->icrc, 4);
		ft_line_char(line, '"');
	} else {
		ft_line_add(line, ",\"icrc\":null");
	}
	three_valued(line, ",\"icrc_ok\":", packet->icrc_check);
	if (packet->has & FT_HAS_VCRC) {
		ft_line_add(line, ",\"vcrc\":\"");
		ft_line_octets(line, packet->vcrc, 2);
		ft_line_char(line, '"');
	} else if (packet->has & FT_HAS_LRH) {
		ft_line_add(line, ",\"vcrc\":null");
	}
	if (packet->has & (FT_HAS_LRH | FT_HAS_VCRC))
		three_valued(line, ",\"vcrc_ok\":", packet->vcrc_check);
	if (view->frame->fcs_bytes != 0 || packet->fcs_check != FT_CHECK_UNKNOWN)
		three_valued(line, ",\"fcs_ok\":", packet->fcs_check);
}

static void alerts(struct ft_line *line, const struct ft_packet *packet)
{
	const char *names[FT_ALERT_KINDS];
	size_t count = 0;

	for (unsigned bit = 0; bit < FT_ALERT_KINDS; bit++)
		if (packet->alerts >> bit & 1)
			names[count++] = ft_alert_name(bit);
	quoted_list(line, ",\"alerts\":", names, count);
}

static void oddities(struct ft_line *line, const struct ft_packet *packet)
{
	ft_line_word(line, ",\"malformed\":", ft_malformed_name(packet->malformed));
	ft_line_word(line, ",\"truncated\":", ft_truncated_name(packet->truncated));
	if (packet->alerts != 0)
		alerts(line, packet);
	if (packet->has & FT_HAS_AMBIGUOUS_RD)
		ft_line_add(line, ",\"ambiguous\":\"rd_or_dc\"");
}

static void judgement(struct ft_line *line, const struct ft_frame_verdict *verdict)
{
	ft_line_add(line, verdict->judged ? ",\"judged\":true" : ",\"judged\":false");
	quoted(line, ",\"from\":", verdict->from != NULL ? verdict->from : "unknown");
	quoted(line, ",\"to\":", verdict->to != NULL ? verdict->to : "unknown");
	if (verdict->rule_count > 0)
		quoted_list(line, ",\"rules\":", verdict->rules, verdict->rule_count);
	if (verdict->note_count > 0)
		quoted_list(line, ",\"notes\":", verdict->notes, verdict->note_count);
	if (verdict->undecided != NULL)
		quoted(line, ",\"undecided\":", verdict->undecided);
	if (verdict->grace)
		ft_line_add(line, ",\"grace\":true");
	if (verdict->exception != NULL)
		quoted(line, ",\"exception\":", verdict->exception);
}

int ft_frame_json(FILE *out, const struct ft_frame_view *view)
{
	const struct ft_packet *packet = view->packet;
	struct ft_line line;

	ft_line_open(&line, out);
	container(&line, view);
	ft_wrapper_stack(&line, packet);
	ft_line_word(&line, ",\"transport\":", ft_transport_name(packet->transport));
	addresses(&line, packet);
	base_transport(&line, packet);
	ft_extension_members(&line, packet);
	payload(&line, packet);
	checksums(&line, view);
	oddities(&line, packet);
	ft_wrapper_members(&line, packet);
	if (view->verdict != NULL)
		judgement(&line, view->verdict);
	if (view->followed) {
		ft_line_add(&line, ",\"nccl\":");
		ft_frame_nccl_json(&line, view->nccl, view->keys);
	}
	ft_line_add(&line, "}\n");
	return ft_line_flush(&line);
}
