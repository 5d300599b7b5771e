#include "field.h"

#include <arpa/inet.h>

#include <decode/aeth.h>
#include <decode/opcode.h>

#include "frame_wrapper.h"

static const uint8_t *member(const struct ft_field *field, const struct ft_frame_view *view)
{
	return (const uint8_t *)view->packet + field->offset;
}

static uint64_t member_number(const struct ft_field *field, const struct ft_frame_view *view)
{
	const uint8_t *at = member(field, view);
	uint64_t wide;
	uint32_t word;
	uint16_t half;

	switch (field->size) {
	case 1:
		return *at;
	case 2:
		memcpy(&half, at, sizeof(half));
		return half;
	case 4:
		memcpy(&word, at, sizeof(word));
		return word;
	default:
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
}

static void word(struct ft_line *line, const char *text)
{
	if (text != NULL)
		ft_line_add(line, text);
}

/* Several values of one field, as tshark joins them. */
static void join(struct ft_line *line, bool *first)
{
	if (!*first)
		ft_line_char(line, ',');
	*first = false;
}

void ft_field_decimal(struct ft_line *line, const struct ft_field *field,
		      const struct ft_frame_view *view)
{
	ft_line_decimal(line, member_number(field, view));
}

void ft_field_hex(struct ft_line *line, const struct ft_field *field,
		  const struct ft_frame_view *view)
{
	ft_line_hex(line, member_number(field, view), field->digits);
}

/* A value that Wireshark holds as bytes has no 0x. */
void ft_field_bare_hex(struct ft_line *line, const struct ft_field *field,
		       const struct ft_frame_view *view)
{
	char text[17];

	snprintf(text, sizeof(text), "%0*llx", field->digits,
		 (unsigned long long)member_number(field, view));
	ft_line_add(line, text);
}

void ft_field_octets(struct ft_line *line, const struct ft_field *field,
		     const struct ft_frame_view *view)
{
	ft_line_octets(line, member(field, view), field->size);
}

void ft_field_mac(struct ft_line *line, const struct ft_field *field,
		  const struct ft_frame_view *view)
{
	ft_line_mac(line, member(field, view));
}

void ft_field_ipv4(struct ft_line *line, const struct ft_field *field,
		   const struct ft_frame_view *view)
{
	ft_line_ipv4(line, member(field, view) + 12);
}

void ft_field_ipv6(struct ft_line *line, const struct ft_field *field,
		   const struct ft_frame_view *view)
{
	ft_line_ipv6(line, member(field, view));
}

void ft_field_address(struct ft_line *line, const struct ft_field *field,
		      const struct ft_frame_view *view)
{
	if (view->packet->has & FT_HAS_IPV4)
		ft_field_ipv4(line, field, view);
	else
		ft_field_ipv6(line, field, view);
}

void ft_field_encap(struct ft_line *line, const struct ft_field *field,
		    const struct ft_frame_view *view)
{
	bool first = true;

	(void)field;
	for (unsigned i = 0; i < view->packet->layer_count; i++) {
		join(line, &first);
		line->used += ft_layer_text(&view->packet->layers[i], ft_line_room(line, 32), 32);
	}
}

void ft_field_transport(struct ft_line *line, const struct ft_field *field,
			const struct ft_frame_view *view)
{
	(void)field;
	word(line, ft_transport_name(view->packet->transport));
}

void ft_field_opname(struct ft_line *line, const struct ft_field *field,
		     const struct ft_frame_view *view)
{
	(void)field;
	word(line, ft_opcode_name(view->packet->opcode));
}

static void three_valued(struct ft_line *line, uint8_t check)
{
	static const char *const words[] = {
		[FT_CHECK_UNKNOWN] = NULL,
		[FT_CHECK_GOOD] = "true",
		[FT_CHECK_BAD] = "false",
	};

	word(line, words[check]);
}

void ft_field_icrc_ok(struct ft_line *line, const struct ft_field *field,
		      const struct ft_frame_view *view)
{
	(void)field;
	three_valued(line, view->packet->icrc_check);
}

void ft_field_vcrc_ok(struct ft_line *line, const struct ft_field *field,
		      const struct ft_frame_view *view)
{
	(void)field;
	three_valued(line, view->packet->vcrc_check);
}

void ft_field_malformed(struct ft_line *line, const struct ft_field *field,
			const struct ft_frame_view *view)
{
	(void)field;
	word(line, ft_malformed_name(view->packet->malformed));
}

void ft_field_truncated(struct ft_line *line, const struct ft_field *field,
			const struct ft_frame_view *view)
{
	(void)field;
	word(line, ft_truncated_name(view->packet->truncated));
}

void ft_field_alerts(struct ft_line *line, const struct ft_field *field,
		     const struct ft_frame_view *view)
{
	bool first = true;

	(void)field;
	for (unsigned bit = 0; bit < FT_ALERT_KINDS; bit++) {
		if (!(view->packet->alerts >> bit & 1))
			continue;
		join(line, &first);
		ft_line_add(line, ft_alert_name(bit));
	}
}

void ft_field_dsfield(struct ft_line *line, const struct ft_field *field,
		      const struct ft_frame_view *view)
{
	ft_line_hex(line, (uint64_t)(view->packet->dscp << 2 | view->packet->ecn), field->digits);
}

static void vlan_members(struct ft_line *line, const struct ft_packet *packet, bool priority)
{
	bool first = true;

	for (unsigned i = 0; i < packet->layer_count; i++) {
		const struct ft_layer *layer = &packet->layers[i];

		if (layer->kind < FT_LAYER_VLAN || layer->kind > FT_LAYER_QINQ9200)
			continue;
		join(line, &first);
		ft_line_decimal(line, priority ? layer->pcp : layer->value);
	}
}

void ft_field_vlan_ids(struct ft_line *line, const struct ft_field *field,
		       const struct ft_frame_view *view)
{
	(void)field;
	vlan_members(line, view->packet, false);
}

void ft_field_vlan_priorities(struct ft_line *line, const struct ft_field *field,
			      const struct ft_frame_view *view)
{
	(void)field;
	vlan_members(line, view->packet, true);
}

void ft_field_tunnel(struct ft_line *line, const struct ft_field *field,
		     const struct ft_frame_view *view)
{
	bool first = true;

	(void)field;
	for (unsigned i = 0; i < view->packet->tunnel_count; i++) {
		join(line, &first);
		ft_line_add(line, ft_wrapper_tunnel_name(&view->packet->tunnels[i]));
	}
}

/* VNIs of the tunnels of one kind, which `size` names; in hexadecimal if it has digits. */
void ft_field_vni(struct ft_line *line, const struct ft_field *field,
		  const struct ft_frame_view *view)
{
	bool first = true;

	for (unsigned i = 0; i < view->packet->tunnel_count; i++) {
		if (view->packet->tunnels[i].kind != field->size)
			continue;
		join(line, &first);
		if (field->digits > 0)
			ft_line_hex(line, view->packet->tunnels[i].vni, field->digits);
		else
			ft_line_decimal(line, view->packet->tunnels[i].vni);
	}
}

/* Wireshark shows an AtomicETH's address and key under the names of the RETH's. */
void ft_field_remote_va(struct ft_line *line, const struct ft_field *field,
			const struct ft_frame_view *view)
{
	const struct ft_packet *packet = view->packet;

	(void)field;
	ft_line_hex(line, packet->has & FT_HAS_RETH ? packet->reth.va : packet->atomiceth.va, 16);
}

void ft_field_remote_key(struct ft_line *line, const struct ft_field *field,
			 const struct ft_frame_view *view)
{
	const struct ft_packet *packet = view->packet;

	(void)field;
	ft_line_hex(line, packet->has & FT_HAS_RETH ? packet->reth.rkey : packet->atomiceth.rkey,
		    8);
}

void ft_field_syndrome_kind(struct ft_line *line, const struct ft_field *field,
			    const struct ft_frame_view *view)
{
	(void)field;
	ft_line_decimal(line, ft_aeth_kind(view->packet->aeth.syndrome));
}

void ft_field_syndrome_name(struct ft_line *line, const struct ft_field *field,
			    const struct ft_frame_view *view)
{
	uint8_t syndrome = view->packet->aeth.syndrome;

	(void)field;
	ft_line_add(line, ft_aeth_kind(syndrome) == FT_AETH_NAK
				  ? ft_aeth_nak_name(syndrome)
				  : ft_aeth_kind_name(ft_aeth_kind(syndrome)));
}

void ft_field_syndrome_value(struct ft_line *line, const struct ft_field *field,
			     const struct ft_frame_view *view)
{
	if (ft_aeth_kind(view->packet->aeth.syndrome) == field->digits)
		ft_line_decimal(line, view->packet->aeth.syndrome & 0x1f);
}
