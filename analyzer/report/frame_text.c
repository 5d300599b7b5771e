#include <report/frame.h>

#include <decode/aeth.h>
#include <decode/opcode.h>

#include "frame_nccl.h"
#include "frame_wrapper.h"
#include "line.h"

/* One packet as one line for people: what tcpdump's reader expects, in columns. */

enum { ADDRESSES_COLUMN = 28, OPCODE_COLUMN = 64, HEADERS_COLUMN = 91 };

static void pad_to(struct ft_line *line, size_t column)
{
	do
		ft_line_char(line, ' ');
	while (line->used < column);
}

static void right_aligned(struct ft_line *line, uint64_t value, unsigned width)
{
	char text[24];
	int size = snprintf(text, sizeof(text), "%*llu", (int)width, (unsigned long long)value);

	ft_line_bytes(line, text, (size_t)size);
}

static void address(struct ft_line *line, const uint8_t *at)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (memcmp(at, mapped, sizeof(mapped)) == 0)
		ft_line_ipv4(line, at + 12);
	else
		ft_line_ipv6(line, at);
}

static void ends(struct ft_line *line, const struct ft_packet *packet)
{
	if (packet->has & FT_HAS_LRH) {
		ft_line_number(line, "lid:", packet->lrh.slid);
		ft_line_number(line, " > lid:", packet->lrh.dlid);
	} else if (packet->has & (FT_HAS_IPV4 | FT_HAS_IPV6 | FT_HAS_GRH)) {
		address(line, packet->src);
		ft_line_add(line, " > ");
		address(line, packet->dst);
	} else if (packet->has & FT_HAS_ETH) {
		ft_line_mac(line, packet->smac);
		ft_line_add(line, " > ");
		ft_line_mac(line, packet->dmac);
	} else {
		ft_line_char(line, '-');
	}
}

/* What a packet without BTH is: its transport, or the headers it has. */
static void kind(struct ft_line *line, const struct ft_packet *packet)
{
	if (packet->has & FT_HAS_MACCTRL) {
		ft_line_add(line, packet->macctrl.opcode == 0x0101 ? "PFC" : "PAUSE");
	} else if (packet->has & FT_HAS_LINK) {
		ft_line_number(line, "LINK op ", packet->link.op);
	} else if (packet->layer_count == 0) {
		ft_line_char(line, '-');
	} else {
		for (unsigned i = 0; i < packet->layer_count && i < 8; i++) {
			if (i > 0)
				ft_line_char(line, '/');
			line->used += ft_layer_text(&packet->layers[i], ft_line_room(line, 32), 32);
		}
	}
}

static void opcode(struct ft_line *line, const struct ft_packet *packet)
{
	const char *name = ft_opcode_name(packet->opcode);

	if (name != NULL) {
		ft_line_add(line, name);
	} else {
		ft_line_add(line, "opcode ");
		ft_line_hex(line, packet->opcode, 2);
	}
}

static void base_transport(struct ft_line *line, const struct ft_packet *packet)
{
	opcode(line, packet);
	pad_to(line, HEADERS_COLUMN);
	ft_line_add(line, "qp ");
	ft_line_hex(line, packet->dest_qp, 6);
	ft_line_number(line, " psn ", packet->psn);
	ft_line_add(line, " pkey ");
	ft_line_hex(line, packet->pkey, 4);
}

static void acknowledge(struct ft_line *line, const struct ft_packet *packet)
{
	uint8_t syndrome = packet->aeth.syndrome;

	switch (ft_aeth_kind(syndrome)) {
	case FT_AETH_ACK:
		ft_line_add(line, " ack");
		break;
	case FT_AETH_RNR:
		ft_line_number(line, " rnr-nak ", ft_aeth_rnr_us(syndrome));
		ft_line_add(line, "us");
		break;
	case FT_AETH_NAK:
		ft_line_add(line, " nak ");
		ft_line_add(line, ft_aeth_nak_name(syndrome));
		break;
	case FT_AETH_RESERVED:
		ft_line_add(line, " syndrome ");
		ft_line_hex(line, syndrome, 2);
		break;
	}
	ft_line_number(line, " msn ", packet->aeth.msn);
}

static void remote_memory(struct ft_line *line, uint64_t va, uint32_t rkey)
{
	ft_line_add(line, " va ");
	ft_line_hex(line, va, 16);
	ft_line_add(line, " rkey ");
	ft_line_hex(line, rkey, 8);
}

static void extensions(struct ft_line *line, const struct ft_packet *packet)
{
	if (packet->has & FT_HAS_DETH) {
		ft_line_add(line, " from qp ");
		ft_line_hex(line, packet->deth.src_qp, 6);
		ft_line_add(line, " qkey ");
		ft_line_hex(line, packet->deth.qkey, 8);
	}
	if (packet->has & FT_HAS_RETH) {
		remote_memory(line, packet->reth.va, packet->reth.rkey);
		ft_line_number(line, " dma ", packet->reth.length);
	}
	if (packet->has & FT_HAS_ATOMICETH)
		remote_memory(line, packet->atomiceth.va, packet->atomiceth.rkey);
	if (packet->has & FT_HAS_AETH)
		acknowledge(line, packet);
	if (packet->has & FT_HAS_IMMDT) {
		ft_line_add(line, " imm ");
		ft_line_hex(line, packet->immdt, 8);
	}
}

static void sizes(struct ft_line *line, const struct ft_frame_view *view)
{
	const struct ft_frame *frame = view->frame;

	ft_line_number(line, " len ", frame->original);
	if (frame->captured < frame->original)
		ft_line_number(line, " captured ", frame->captured);
	if (view->packet->has & FT_HAS_PAYLOAD_LENGTH)
		ft_line_number(line, " data ", view->packet->payload_length);
}

static void crc(struct ft_line *line, const char *name, uint8_t check)
{
	static const char *const words[] = {
		[FT_CHECK_UNKNOWN] = " ?",
		[FT_CHECK_GOOD] = " ok",
		[FT_CHECK_BAD] = " BAD",
	};

	ft_line_add(line, name);
	ft_line_add(line, words[check]);
}

static void tags(struct ft_line *line, const struct ft_packet *packet)
{
	if (packet->vlan_count > 0 && packet->vlan != 0)
		ft_line_number(line, " vlan ", packet->vlan);
	if (packet->has & FT_HAS_VNI)
		ft_line_number(line, " vni ", packet->vni);
	for (unsigned i = 0; i < packet->tunnel_count; i++) {
		ft_line_add(line, i == 0 ? " via " : "+");
		ft_line_add(line, ft_wrapper_tunnel_name(&packet->tunnels[i]));
	}
}

static void oddities(struct ft_line *line, const struct ft_packet *packet)
{
	if (packet->malformed != FT_OK) {
		ft_line_add(line, " MALFORMED ");
		ft_line_add(line, ft_malformed_name(packet->malformed));
	}
	if (packet->truncated != FT_COMPLETE) {
		ft_line_add(line, " cut at ");
		ft_line_add(line, ft_truncated_name(packet->truncated));
	}
	for (unsigned bit = 0; bit < FT_ALERT_KINDS; bit++) {
		if (!(packet->alerts >> bit & 1))
			continue;
		ft_line_add(line, " alert ");
		ft_line_add(line, ft_alert_name(bit));
	}
}

static void list(struct ft_line *line, const char *lead, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ft_line_add(line, i == 0 ? lead : ",");
		ft_line_name(line, names[i]);
	}
}

static void judgement(struct ft_line *line, const struct ft_frame_verdict *verdict)
{
	ft_line_add(line, " [");
	ft_line_name(line, verdict->from != NULL ? verdict->from : "unknown");
	ft_line_add(line, " > ");
	ft_line_name(line, verdict->to != NULL ? verdict->to : "unknown");
	if (verdict->exception != NULL) {
		ft_line_add(line, " by ");
		ft_line_name(line, verdict->exception);
	}
	ft_line_char(line, ']');
	list(line, " VIOLATES ", verdict->rules, verdict->rule_count);
	list(line, " note ", verdict->notes, verdict->note_count);
	if (verdict->grace)
		ft_line_add(line, " grace");
	if (verdict->undecided != NULL) {
		ft_line_add(line, " undecided: ");
		ft_line_add(line, verdict->undecided);
	}
}

int ft_frame_text(FILE *out, const struct ft_frame_view *view)
{
	const struct ft_packet *packet = view->packet;
	struct ft_line line;

	ft_line_open(&line, out);
	right_aligned(&line, view->frame->number, 7);
	ft_line_char(&line, view->sub > 0 ? '+' : ' ');
	if (view->frame->ts_ns != FT_TS_UNKNOWN)
		ft_line_clock(&line, view->frame->ts_ns);
	pad_to(&line, ADDRESSES_COLUMN - 1);
	ends(&line, packet);
	pad_to(&line, OPCODE_COLUMN - 1);
	if (packet->has & FT_HAS_BTH)
		base_transport(&line, packet);
	else
		kind(&line, packet);
	extensions(&line, packet);
	sizes(&line, view);
	if (packet->has & FT_HAS_BTH)
		crc(&line, " icrc", packet->icrc_check);
	if (packet->vcrc_check != FT_CHECK_UNKNOWN)
		crc(&line, " vcrc", packet->vcrc_check);
	tags(&line, packet);
	oddities(&line, packet);
	if (view->nccl != NULL)
		ft_frame_nccl_text(&line, view->nccl, view->keys);
	if (view->verdict != NULL)
		judgement(&line, view->verdict);
	ft_line_char(&line, '\n');
	return ft_line_flush(&line);
}
