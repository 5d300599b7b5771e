/*
 * For Frama-C's Eva: the BTH and extended-header readers over every byte string. Number of captured bytes
 * and kind of opcode are gone through one by one; all other bytes, the lengths on the wire and the number of layers
 * are every value at once. Eva raises an alarm for each access that it cannot show to be inside its
 * object, each read of memory never written, and each signed overflow. The captured bytes are the last
 * ones of their array, so one byte too many is outside of it.
 */
#include "__fc_builtin.h"

#include "pass.h"

/* BTH, DC's 24 bytes, the longest headers, and a payload and ICRC behind them. */
enum { CAPTURED_MAX = 12 + 24 + 40 + 8, OPCODES = 256, WIRE_MAX = 9000 };
enum { DC_SEND = 0x44, DC_CONNECT = 0x55 };

static uint8_t frame[CAPTURED_MAX];

/* What decode.c sets up before the first reader; the rest of both structs was never written. */
static void read_one(uint32_t captured, unsigned opcode, enum ft_rd_reading rd)
{
	const struct ft_decode_config config = { .rd = rd };
	struct ft_packet packet;
	struct ft_pass pass;

	packet.has = 0;
	packet.transport = FT_TRANSPORT_ROCE1;
	packet.malformed = FT_OK;
	packet.truncated = FT_COMPLETE;
	packet.alerts = 0;
	packet.layer_count = (uint8_t)Frama_C_interval(0, FT_LAYERS_MAX - 2);
	pass.packet = &packet;
	pass.config = &config;
	pass.cursor.bytes = frame + (CAPTURED_MAX - captured);
	pass.cursor.at = 0;
	pass.cursor.captured = captured;
	pass.cursor.wire = captured + (uint32_t)Frama_C_interval(0, WIRE_MAX);
	if (captured > 0)
		frame[CAPTURED_MAX - captured] = (uint8_t)opcode;
	ft_read_bth(&pass);
	/*@ assert pass.cursor.at <= pass.cursor.captured; */
}

/* The readers see of an opcode its shape and whether it is RD's: one opcode stands for all that share both. */
static bool has_stand_in(unsigned opcode)
{
	const struct ft_opcode_shape *shape = ft_opcode_shape((uint8_t)opcode);

	/*@ loop unroll 256; */
	for (unsigned other = 0; other < opcode; other++) {
		const struct ft_opcode_shape *twin = ft_opcode_shape((uint8_t)other);

		if (twin->headers == shape->headers && twin->defined == shape->defined &&
		    (other >> 5 == FT_RD) == (opcode >> 5 == FT_RD))
			return true;
	}
	return false;
}

static void read_all(unsigned opcode, enum ft_rd_reading rd)
{
	/*@ loop unroll 85; */
	for (uint32_t captured = 0; captured <= CAPTURED_MAX; captured++) {
		Frama_C_make_unknown((char *)frame, CAPTURED_MAX);
		read_one(captured, opcode, rd);
		/*@ slevel merge; */
		;
	}
}

int main(void)
{
	/*@ loop unroll 256; */
	for (unsigned opcode = 0; opcode < OPCODES; opcode++)
		if (!has_stand_in(opcode))
			read_all(opcode, FT_RD_IBA);
	read_all(DC_SEND, FT_RD_DC);
	read_all(DC_CONNECT, FT_RD_DC);
	read_all(DC_SEND, FT_RD_OPAQUE);
	return 0;
}
