#include "pass.h"
#include "vcrc.h"

/* Endace ERF records. rlen is bounded by the container's record, wlen is the packet's length on the wire. */

enum { ERF_LEN = 16, EXTENSION_LEN = 8, EXTENSIONS_MAX = 64, ETHERNET_PAD = 2, LINK_LEN = 6 };

static const struct content {
	uint8_t step, sub_header, fcs;
} contents[128] = {
	[2] = { FT_STEP_ETHERNET, ETHERNET_PAD, 4 },
	[11] = { FT_STEP_ETHERNET, ETHERNET_PAD, 4 },
	[16] = { FT_STEP_ETHERNET, ETHERNET_PAD, 4 },
	[20] = { FT_STEP_ETHERNET, ETHERNET_PAD, 4 },
	[21] = { FT_STEP_LRH, 0, 0 },
	[22] = { FT_STEP_IPV4, 0, 0 },
	[23] = { FT_STEP_IPV6, 0, 0 },
	[25] = { FT_STEP_LINK, 0, 0 },
};

/* Step over the extension headers inside the record's first `end` bytes. False: the packet says why not. */
static bool skip_extensions(struct ft_pass *pass, bool follows, uint32_t end)
{
	struct ft_packet *packet = pass->packet;
	struct ft_cursor *cursor = &pass->cursor;

	packet->erf.ext_count = 0;
	while (follows) {
		const uint8_t *b;

		if (packet->erf.ext_count == EXTENSIONS_MAX || EXTENSION_LEN > end - cursor->at) {
			ft_break(pass, FT_ERF_EXT_OVERRUN);
			return false;
		}
		b = ft_take(cursor, EXTENSION_LEN);
		if (b == NULL) {
			packet->truncated = FT_CUT_ERF;
			return false;
		}
		packet->erf.ext[packet->erf.ext_count++] = b[0] & 0x7f;
		follows = (b[0] & 0x80) != 0;
	}
	return true;
}

/* From here the wire is the packet's, not the record's. */
static void enter_record(struct ft_pass *pass, const struct content *content, uint32_t record_end)
{
	struct ft_cursor *cursor = &pass->cursor;

	if (cursor->captured > record_end)
		cursor->captured = record_end;
	cursor->wire = cursor->at + pass->packet->erf.wlen;
	if (cursor->captured > cursor->wire)
		cursor->captured = cursor->wire;
	ft_frame_begin(pass, content->fcs);
}

enum ft_step ft_read_erf(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;
	struct ft_cursor *cursor = &pass->cursor;
	const uint8_t *b = ft_take(cursor, ERF_LEN);
	const struct content *content;
	uint32_t record_end;

	if (b == NULL)
		return ft_short(pass, ERF_LEN, FT_ERF_SHORT, FT_CUT_ERF);
	packet->erf.type = b[8] & 0x7f;
	packet->erf.flags = b[9];
	packet->erf.lctr = ft_be16(b + 12);
	packet->erf.wlen = ft_be16(b + 14);
	content = &contents[packet->erf.type];
	record_end = ft_be16(b + 10);
	if (record_end < ERF_LEN)
		return ft_stop(pass, FT_ERF_BAD_RLEN);
	if (record_end > cursor->wire)
		record_end = cursor->wire;
	if (!skip_extensions(pass, (b[8] & 0x80) != 0, record_end))
		return FT_STEP_DONE;
	if (content->sub_header > record_end - cursor->at)
		return ft_stop(pass, FT_ERF_BAD_RLEN);
	if (ft_take(cursor, content->sub_header) == NULL)
		return ft_short(pass, content->sub_header, FT_ERF_BAD_RLEN, FT_CUT_ERF);
	packet->has |= FT_HAS_ERF;
	ft_layer_push(pass, FT_LAYER_ERF, 0, packet->erf.type);
	enter_record(pass, content, record_end);
	return (enum ft_step)content->step;
}

/* An InfiniBand link packet: flow control, no LRH. */
enum ft_step ft_read_link(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;
	const uint8_t *b = ft_take(&pass->cursor, LINK_LEN);
	uint16_t check;

	packet->transport = FT_TRANSPORT_IB_LINK;
	if (b == NULL)
		return ft_short(pass, LINK_LEN, FT_ERF_BAD_RLEN, FT_CUT_LINK);
	packet->link.op = b[0] >> 4;
	packet->link.fctbs = ft_be16(b) & 0x0fff;
	packet->link.vl = b[2] >> 4;
	packet->link.fccl = ft_be16(b + 2) & 0x0fff;
	check = ft_vcrc(b, 4);
	packet->link.lpcrc_known = true;
	packet->link.lpcrc_good = b[4] == (check & 0xff) && b[5] == check >> 8;
	if (packet->link.op > 1)
		packet->alerts |= FT_ALERT_LINK_OP_RESERVED;
	packet->has |= FT_HAS_LINK;
	return FT_STEP_DONE;
}
