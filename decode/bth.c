#include "pass.h"

enum { BTH_LEN = 12, ICRC_LEN = 4, DC_HEADER_LEN = 8, DC_CONNECT_LEN = 16, DC_CONNECT = 0x55 };

/* IBA's RD and Mellanox's DC share opcodes 0x40-0x5f; only IBA's headers are interpreted. */
static const struct ft_opcode_shape opaque = { .defined = true };

static void choose_shape(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;

	pass->shape = ft_opcode_shape(packet->opcode);
	pass->skipped = 0;
	if (packet->opcode >> 5 != FT_RD)
		return;
	packet->has |= FT_HAS_AMBIGUOUS_RD;
	if (pass->config->rd == FT_RD_IBA)
		return;
	pass->shape = &opaque;
	if (pass->config->rd == FT_RD_DC) {
		pass->skipped = DC_HEADER_LEN;
		if (packet->opcode == DC_CONNECT && !packet->solicited)
			pass->skipped += DC_CONNECT_LEN;
	}
}

/* A BTH cut short still tells whose traffic it is. */
static enum ft_step read_beginning(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;
	uint8_t b[BTH_LEN] = { 0 };

	packet->bth_captured = (uint8_t)ft_captured_left(&pass->cursor);
	for (uint32_t i = 0; i < packet->bth_captured; i++)
		b[i] = pass->cursor.bytes[pass->cursor.at + i];
	packet->opcode = b[0];
	packet->pkey = ft_be16(b + 2);
	packet->dest_qp = ft_be24(b + 5);
	packet->truncated = FT_CUT_BTH;
	return FT_STEP_DONE;
}

/* Rows of 32 bits, as the standard draws them. */
static void read_fields(struct ft_packet *packet, const uint8_t *b)
{
	uint8_t flags = b[1];
	uint32_t qp_row = ft_be32(b + 4), psn_row = ft_be32(b + 8);

	packet->opcode = b[0];
	packet->solicited = (flags & 0x80) != 0;
	packet->migrated = (flags & 0x40) != 0;
	packet->pad = flags >> 4 & 3;
	packet->tver = flags & 0x0f;
	packet->pkey = ft_be16(b + 2);
	packet->fecn = (qp_row & 0x80000000) != 0;
	packet->becn = (qp_row & 0x40000000) != 0;
	packet->dest_qp = qp_row & 0xffffff;
	packet->ack_request = (psn_row & 0x80000000) != 0;
	packet->psn = psn_row & 0xffffff;
	if ((qp_row & 0x3f000000) != 0)
		packet->alerts |= FT_ALERT_BTH_RESERVED_BITS;
}

enum ft_step ft_read_bth(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;
	struct ft_cursor *cursor = &pass->cursor;
	const uint8_t *b;

	pass->bth_at = cursor->at;
	pass->length = ft_wire_left(cursor);
	if (pass->length < BTH_LEN + ICRC_LEN)
		return ft_stop(pass, FT_BTH_SHORT);
	if (ft_captured_left(cursor) < BTH_LEN)
		return read_beginning(pass);
	b = ft_take(cursor, BTH_LEN);
	read_fields(packet, b);
	packet->has |= FT_HAS_BTH;
	ft_layer_push(pass, FT_LAYER_BTH, pass->bth_at, 0);
	choose_shape(pass);
	ft_read_extensions(pass);
	return FT_STEP_DONE;
}
