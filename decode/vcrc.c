#include "vcrc.h"

#include "pass.h"

/*
 * Sixteen bytes per turn. A CRC is linear, so a table of 256 follows from the eight entries with one
 * bit set: B(k, bit) is what that bit leaves behind when k more bytes of zeros have gone by.
 */
enum { STRIDE = 16 };

#define IF(i, bit, entry) ((i) >> bit & 1 ? entry : 0)
#define ENTRY(i, a, b, c, d, e, f, g, h)                                                           \
	(IF(i, 0, a) ^ IF(i, 1, b) ^ IF(i, 2, c) ^ IF(i, 3, d) ^ IF(i, 4, e) ^ IF(i, 5, f) ^       \
	 IF(i, 6, g) ^ IF(i, 7, h))
#define FOUR(i, ...)                                                                               \
	ENTRY(i, __VA_ARGS__), ENTRY(i + 1, __VA_ARGS__), ENTRY(i + 2, __VA_ARGS__),               \
		ENTRY(i + 3, __VA_ARGS__)
#define SIXTEEN(i, ...)                                                                            \
	FOUR(i, __VA_ARGS__), FOUR(i + 4, __VA_ARGS__), FOUR(i + 8, __VA_ARGS__),                  \
		FOUR(i + 12, __VA_ARGS__)
#define SIXTY_FOUR(i, ...)                                                                         \
	SIXTEEN(i, __VA_ARGS__), SIXTEEN(i + 16, __VA_ARGS__), SIXTEEN(i + 32, __VA_ARGS__),       \
		SIXTEEN(i + 48, __VA_ARGS__)
#define TABLE(...)                                                                                 \
	{                                                                                          \
		SIXTY_FOUR(0, __VA_ARGS__), SIXTY_FOUR(64, __VA_ARGS__),                           \
			SIXTY_FOUR(128, __VA_ARGS__), SIXTY_FOUR(192, __VA_ARGS__)                 \
	}

static const uint16_t tables[STRIDE][256] = {
	TABLE(0x1ba1, 0x3742, 0x6e84, 0xdd08, 0x1a01, 0x3402, 0x6804, 0xd008),
	TABLE(0xffb0, 0x5f71, 0xbee2, 0xddd5, 0x1bbb, 0x3776, 0x6eec, 0xddd8),
	TABLE(0xfef4, 0x5df9, 0xbbf2, 0xd7f5, 0x0ffb, 0x1ff6, 0x3fec, 0x7fd8),
	TABLE(0xf875, 0x50fb, 0xa1f6, 0xe3fd, 0x67eb, 0xcfd6, 0x3fbd, 0x7f7a),
	TABLE(0x33da, 0x67b4, 0xcf68, 0x3ec1, 0x7d82, 0xfb04, 0x5619, 0xac32),
	TABLE(0x4874, 0x90e8, 0x81c1, 0xa393, 0xe737, 0x6e7f, 0xdcfe, 0x19ed),
	TABLE(0x28cb, 0x5196, 0xa32c, 0xe649, 0x6c83, 0xd906, 0x121d, 0x243a),
	TABLE(0x49cf, 0x939e, 0x872d, 0xae4b, 0xfc87, 0x591f, 0xb23e, 0xc46d),
	TABLE(0x272a, 0x4e54, 0x9ca8, 0x9941, 0x9293, 0x8537, 0xaa7f, 0xf4ef),
	TABLE(0xde6f, 0x1ccf, 0x399e, 0x733c, 0xe678, 0x6ce1, 0xd9c2, 0x1395),
	TABLE(0xc3b7, 0x277f, 0x4efe, 0x9dfc, 0x9be9, 0x97c3, 0x8f97, 0xbf3f),
	TABLE(0xbcaf, 0xd94f, 0x128f, 0x251e, 0x4a3c, 0x9478, 0x88e1, 0xb1d3),
	TABLE(0x7bd9, 0xf7b2, 0x4f75, 0x9eea, 0x9dc5, 0x9b9b, 0x9727, 0x8e5f),
	TABLE(0x64df, 0xc9be, 0x336d, 0x66da, 0xcdb4, 0x3b79, 0x76f2, 0xede4),
	TABLE(0x3d06, 0x7a0c, 0xf418, 0x4821, 0x9042, 0x8095, 0xa13b, 0xe267),
	TABLE(0x59fb, 0xb3f6, 0xc7fd, 0x2feb, 0x5fd6, 0xbfac, 0xdf49, 0x1e83),
};

/* The last bytes of a stride, which the CRC so far does not touch: independent of the turn before. */
static inline uint32_t stride_rest(const uint8_t *b)
{
	return (uint32_t)(tables[13][b[2]] ^ tables[12][b[3]] ^ tables[11][b[4]] ^
			  tables[10][b[5]] ^ tables[9][b[6]] ^ tables[8][b[7]] ^ tables[7][b[8]] ^
			  tables[6][b[9]] ^ tables[5][b[10]] ^ tables[4][b[11]] ^ tables[3][b[12]] ^
			  tables[2][b[13]] ^ tables[1][b[14]] ^ tables[0][b[15]]);
}

uint16_t ft_vcrc(const uint8_t *b, size_t size)
{
	uint32_t crc = 0xffff;

	for (; size >= STRIDE; size -= STRIDE, b += STRIDE)
		crc = stride_rest(b) ^ (uint32_t)(tables[STRIDE - 1][b[0] ^ (crc & 0xff)] ^
						  tables[STRIDE - 2][b[1] ^ crc >> 8]);
	for (; size > 0; size--, b++)
		crc = crc >> 8 ^ tables[0][(crc ^ *b) & 0xff];
	return (uint16_t)~crc;
}

/* Whether a capturer keeps the VCRC shows only in the bytes behind the ICRC. */
void ft_read_vcrc(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;
	const uint8_t *b = pass->cursor.bytes + pass->lrh_at,
		      *vcrc = pass->cursor.bytes + pass->lrh_end;
	uint16_t check;

	if (pass->lrh_captured < pass->lrh_end ||
	    pass->lrh_captured - pass->lrh_end < sizeof packet->vcrc) {
		bool existed = pass->lrh_wire != FT_WIRE_UNKNOWN &&
			       pass->lrh_wire - pass->lrh_end >= sizeof packet->vcrc;

		if (existed && packet->truncated == FT_COMPLETE)
			packet->truncated = FT_CUT_VCRC;
		return;
	}
	memcpy(packet->vcrc, vcrc, sizeof packet->vcrc);
	packet->has |= FT_HAS_VCRC;
	if (!pass->config->check_icrc)
		return;
	check = ft_vcrc(b, pass->lrh_end - pass->lrh_at);
	packet->vcrc_check =
		vcrc[0] == (check & 0xff) && vcrc[1] == check >> 8 ? FT_CHECK_GOOD : FT_CHECK_BAD;
}
