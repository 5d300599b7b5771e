#include "pass.h"

/* MAC control, IEEE 802.3 annex 31: pause, and priority-based flow control with one quanta per priority. */

enum { PAUSE = 0x0001, PFC = 0x0101, PRIORITIES = 8 };

static void read_quanta(struct ft_packet *packet, const uint8_t *b, uint8_t count)
{
	for (uint8_t i = 0; i < count; i++)
		packet->macctrl.quanta[i] = ft_be16(b + 2 * i);
	packet->macctrl.quanta_count = count;
}

enum ft_step ft_read_macctrl(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;
	uint32_t at = pass->cursor.at;
	const uint8_t *b = ft_take(&pass->cursor, 2);
	uint16_t opcode;
	uint32_t size;

	if (b == NULL)
		return ft_short(pass, 2, FT_ETH_SHORT, FT_CUT_MACCTRL);
	opcode = ft_be16(b);
	size = opcode == PAUSE ? 2 : opcode == PFC ? 2 + 2 * PRIORITIES : 0;
	b = ft_take(&pass->cursor, size);
	if (b == NULL)
		return ft_short(pass, size, FT_ETH_SHORT, FT_CUT_MACCTRL);
	packet->macctrl.opcode = opcode;
	packet->macctrl.enable = opcode == PFC ? ft_be16(b) : 0;
	if (opcode == PFC)
		read_quanta(packet, b + 2, PRIORITIES);
	else
		read_quanta(packet, b, (uint8_t)(size / 2));
	packet->has |= FT_HAS_MACCTRL;
	ft_layer_push(pass, FT_LAYER_MACCTRL, at, 0);
	return FT_STEP_DONE;
}
