#include "pass.h"

enum { BTH_LEN = 12, ICRC_LEN = 4, DC_HEADER_LEN = 8, DC_CONNECT_LEN = 16, DC_CONNECT = 0x55 };

static void read_fields(struct ft_packet *packet, const uint8_t *b)
{
	packet->opcode = b[0];
	packet->solicited = (b[1] & 0x80) != 0;
	packet->migrated = (b[1] & 0x40) != 0;
	packet->pad = b[1] >> 4 & 3;
	packet->tver = b[1] & 0x0f;
	packet->pkey = ft_be16(b + 2);
	packet->fecn = (b[4] & 0x80) != 0;
	packet->becn = (b[4] & 0x40) != 0;
	packet->dest_qp = ft_be24(b + 5);
	packet->ack_request = (b[8] & 0x80) != 0;
	packet->psn = ft_be24(b + 9);
	if ((b[4] & 0x3f) != 0)
		packet->alerts |= FT_ALERT_BTH_RESERVED_BITS;
}

/* IBA's RD and Mellanox's DC share opcodes 0x40-0x5f; only IBA's headers are interpreted. */
static void choose_shape(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;

	pass->shape = ft_opcode_shape(packet->opcode);
	pass->skipped = 0;
	if (ft_opcode_service(packet->opcode) != FT_RD)
		return;
	packet->has |= FT_HAS_AMBIGUOUS_RD;
	if (pass->config->rd == FT_RD_IBA)
		return;
	pass->shape = (struct ft_opcode_shape){ .defined = true };
	if (pass->config->rd == FT_RD_DC) {
		pass->skipped = DC_HEADER_LEN;
		if (packet->opcode == DC_CONNECT && !packet->solicited)
			pass->skipped += DC_CONNECT_LEN;
	}
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
	b = ft_take(cursor, BTH_LEN);
	if (b == NULL)
		return ft_short(pass, BTH_LEN, FT_BTH_SHORT, FT_CUT_BTH);
	read_fields(packet, b);
	packet->has |= FT_HAS_BTH;
	ft_layer_push(pass, FT_LAYER_BTH, pass->bth_at, 0);
	choose_shape(pass);
	ft_read_extensions(pass);
	return FT_STEP_DONE;
}
