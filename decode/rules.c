#include "pass.h"

#include <decode/lengths.h>

/*
 * The rules above the BTH, in the order in which they are tried; each group returns the first of its
 * rules that is broken, or FT_OK. What could not be read breaks no rule.
 */

enum {
	BTH_LEN = 12,
	ICRC_LEN = 4,
	CNP_LEN = 32,
	MAD_LEN = 256,
};

#define QP1_QKEY 0x80010000u

static bool has(const struct ft_packet *packet, uint32_t bit)
{
	return (packet->has & bit) != 0;
}

static bool is_rd(const struct ft_packet *packet)
{
	return packet->opcode >> 5 == FT_RD;
}

/* These hold for RD too, whose opcodes may be DC's. */
static enum ft_malformed framing_rules(const struct ft_packet *packet,
				       const struct ft_opcode_shape *shape, uint32_t length,
				       uint32_t skipped)
{
	if (packet->tver != 0)
		return FT_BAD_TVER;
	if (!shape->defined && !is_rd(packet))
		return packet->opcode >= 0xc0 ? FT_MANUFACTURER_OPCODE : FT_RESERVED_OPCODE;
	if ((packet->pkey & 0x7fff) == 0 && packet->dest_qp != 0)
		return FT_INVALID_PKEY;
	if (length < BTH_LEN + skipped + shape->length + ICRC_LEN)
		return FT_EXTHDR_SHORT;
	if (length % 4 != 0)
		return FT_UNALIGNED_LENGTH;
	return FT_OK;
}

static bool pad_allowed(uint8_t rule)
{
	return rule != FT_PAYLOAD_NONE && rule != FT_PAYLOAD_MTU && rule != FT_PAYLOAD_8;
}

static enum ft_malformed payload_rules(const struct ft_packet *packet, uint8_t rule,
				       uint32_t length)
{
	if (rule == FT_PAYLOAD_CNP && length != CNP_LEN)
		return FT_CNP_BAD_LENGTH;
	if (!has(packet, FT_HAS_PAYLOAD_LENGTH) || (packet->pad != 0 && !pad_allowed(rule)))
		return FT_BAD_PADCNT;
	return ft_payload_broken(rule, packet->payload_length);
}

static enum ft_malformed operand_rules(const struct ft_packet *packet)
{
	enum ft_malformed broken = FT_OK;

	if (!has(packet, FT_HAS_RETH | FT_HAS_ATOMICETH))
		return FT_OK;
	if (has(packet, FT_HAS_RETH))
		broken =
			ft_reth_broken(packet->opcode, packet->reth.length, packet->payload_length);
	if (broken == FT_OK && has(packet, FT_HAS_ATOMICETH) && packet->atomiceth.va % 8 != 0)
		return FT_ATOMIC_UNALIGNED;
	return broken;
}

static enum ft_malformed address_rules(const struct ft_packet *packet)
{
	bool ud = packet->opcode >> 5 == FT_UD;

	if (packet->dest_qp > 1 && packet->dest_qp != FT_MULTICAST_QP)
		return FT_OK;
	if (packet->dest_qp == 0 && packet->transport != FT_TRANSPORT_IB)
		return FT_QP0_ON_ROCE;
	if (packet->dest_qp == FT_MULTICAST_QP && !ud)
		return FT_MCAST_QP_NOT_UD;
	if (ud && packet->dest_qp == 1 && has(packet, FT_HAS_DETH) && packet->deth.qkey != QP1_QKEY)
		return FT_QP1_BAD_QKEY;
	if (ud && packet->dest_qp <= 1 && packet->payload_length != MAD_LEN)
		return FT_MAD_BAD_LENGTH;
	return FT_OK;
}

/* The first rule that the headers break, or FT_OK. */
static enum ft_malformed header_rules(const struct ft_packet *packet,
				      const struct ft_opcode_shape *shape, uint32_t length,
				      uint32_t skipped)
{
	enum ft_malformed broken = framing_rules(packet, shape, length, skipped);

	if (broken != FT_OK || is_rd(packet))
		return broken;
	broken = payload_rules(packet, shape->payload, length);
	if (broken == FT_OK)
		broken = operand_rules(packet);
	if (broken == FT_OK)
		broken = address_rules(packet);
	return broken;
}

/* Pad bytes are zero by convention only; they are judged once all of them were captured. */
static bool pad_is_odd(const struct ft_pass *pass)
{
	uint32_t end = pass->bth_at + pass->length - ICRC_LEN;

	if (!has(pass->packet, FT_HAS_PAYLOAD) || pass->cursor.captured < end)
		return false;
	for (uint32_t at = end - pass->packet->pad; at < end; at++)
		if (pass->cursor.bytes[at] != 0)
			return true;
	return false;
}

static void judge_crcs(struct ft_pass *pass, bool ip_options)
{
	struct ft_packet *packet = pass->packet;

	if (!ip_options) /* they are outside what the ICRC was defined over */
		packet->icrc_check = (uint8_t)ft_icrc_check(pass);
	if (packet->icrc_check == FT_CHECK_BAD)
		ft_break(pass, FT_BAD_ICRC);
	else if (packet->icrc_check == FT_CHECK_GOOD && packet->vcrc_check == FT_CHECK_BAD)
		ft_break(pass, FT_BAD_VCRC);
}

void ft_judge(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;
	bool ip_options = packet->malformed != FT_OK;

	ft_break(pass, header_rules(packet, pass->shape, pass->length, pass->skipped));
	if (packet->dest_qp <= 1 && packet->opcode >> 5 == FT_UD)
		ft_read_mad(pass);
	if (packet->opcode == 0x81 && !packet->becn)
		packet->alerts |= FT_ALERT_CNP_WITHOUT_BECN;
	if (has(packet, FT_HAS_ICRC))
		judge_crcs(pass, ip_options);
	if (packet->malformed == FT_OK && packet->pad != 0 && pad_is_odd(pass))
		packet->alerts |= FT_ALERT_PAD_NONZERO;
}
