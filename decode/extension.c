#include "extension.h"

#include <decode/aeth.h>

#include "pass.h"

/* Extended transport headers (IBA vol. 1, 9.3), the payload behind them, and the ICRC. */

enum { BTH_LEN = 12, ICRC_LEN = 4 };

static void read_rdeth(struct ft_packet *packet, const uint8_t *b)
{
	packet->rdeth.eecn = ft_be24(b + 1);
}

static void read_deth(struct ft_packet *packet, const uint8_t *b)
{
	packet->deth.qkey = ft_be32(b);
	packet->deth.src_qp = ft_be24(b + 5);
}

static void read_xrceth(struct ft_packet *packet, const uint8_t *b)
{
	packet->xrceth.srqn = ft_be24(b + 1);
}

static void read_feth(struct ft_packet *packet, const uint8_t *b)
{
	packet->feth.placement = b[3] & 0x0f;
	packet->feth.selectivity = b[3] >> 4 & 3;
}

static void read_reth(struct ft_packet *packet, const uint8_t *b)
{
	packet->reth.va = ft_be64(b);
	packet->reth.rkey = ft_be32(b + 8);
	packet->reth.length = ft_be32(b + 12);
}

static void read_atomiceth(struct ft_packet *packet, const uint8_t *b)
{
	packet->atomiceth.va = ft_be64(b);
	packet->atomiceth.rkey = ft_be32(b + 8);
	packet->atomiceth.swap_add = ft_be64(b + 12);
	packet->atomiceth.compare = ft_be64(b + 20);
}

static void read_aeth(struct ft_packet *packet, const uint8_t *b)
{
	packet->aeth.syndrome = b[0];
	packet->aeth.msn = ft_be24(b + 1);
	if (ft_aeth_is_reserved(b[0]))
		packet->alerts |= FT_ALERT_AETH_RESERVED;
}

static void read_atomicack(struct ft_packet *packet, const uint8_t *b)
{
	packet->atomicack.original = ft_be64(b);
}

static void read_immdt(struct ft_packet *packet, const uint8_t *b)
{
	packet->immdt = ft_be32(b);
}

static void read_ieth(struct ft_packet *packet, const uint8_t *b)
{
	packet->ieth_rkey = ft_be32(b);
}

/* By FT_HAS_ bit: in wire order. */
static const struct extension {
	void (*read)(struct ft_packet *packet, const uint8_t *b);
	uint8_t size, cut;
} extensions[] = {
#define ROW(NAME, name, bytes, with) { read_##name, bytes, FT_CUT_##NAME },
	FT_EXTENSIONS(ROW, )
#undef ROW
};
static_assert(FT_HAS_RDETH == 1u << FT_FIRST_EXTENSION_BIT, "the table starts at the first bit");

/* False: the capture ends inside one of them. */
static bool read_headers(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;

	if (pass->skipped > 0 && ft_take(&pass->cursor, pass->skipped) == NULL) {
		packet->truncated = FT_CUT_PAYLOAD;
		return false;
	}
	for (uint32_t left = pass->shape->headers; left != 0; left &= left - 1) {
		int bit = __builtin_ctz(left);
		const struct extension *extension = &extensions[bit - FT_FIRST_EXTENSION_BIT];
		const uint8_t *b = ft_take(&pass->cursor, extension->size);

		if (b == NULL) {
			packet->truncated = extension->cut;
			return false;
		}
		extension->read(packet, b);
		packet->has |= 1u << bit;
	}
	return true;
}

/* `area`: payload and pad. What the capture holds of it, and of the ICRC behind it. */
static void read_payload(struct ft_pass *pass, uint32_t area)
{
	struct ft_packet *packet = pass->packet;
	uint32_t held = ft_captured_left(&pass->cursor), size = area;

	if ((packet->has & FT_HAS_PAYLOAD_LENGTH) != 0) {
		size = packet->payload_length;
		packet->payload_offset = pass->cursor.at;
		packet->payload_captured = held < size ? held : size;
		packet->has |= FT_HAS_PAYLOAD;
	}
	if (held < size)
		packet->truncated = FT_CUT_PAYLOAD;
	else if (held < area + ICRC_LEN)
		packet->truncated = FT_CUT_ICRC;
}

static void read_icrc(struct ft_pass *pass)
{
	if (pass->cursor.captured < pass->cursor.wire)
		return;
	memcpy(pass->packet->icrc, pass->cursor.bytes + pass->cursor.wire - ICRC_LEN, ICRC_LEN);
	pass->packet->has |= FT_HAS_ICRC;
}

void ft_read_extensions(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;
	uint32_t headers = pass->skipped + pass->shape->length;
	uint32_t area = pass->length - BTH_LEN - ICRC_LEN;

	if (pass->shape->defined && headers <= area) {
		area -= headers;
		if (packet->pad <= area) {
			packet->payload_length = area - packet->pad;
			packet->has |= FT_HAS_PAYLOAD_LENGTH;
		}
		if (!read_headers(pass))
			return;
	}
	read_payload(pass, area);
	read_icrc(pass);
}
