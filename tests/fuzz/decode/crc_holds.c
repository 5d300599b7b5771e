/*
 * Packets are built around arbitrary bytes and sealed with an ICRC and a VCRC computed bit by bit from
 * the standard's words. They must be found good; with a covered bit flipped bad, or not known behind IPv6
 * extension headers, of which the standard has no word; with a field that may change on the way flipped,
 * still good.
 */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <decode/decode.h>

#include "../holds.h"

enum kind { IPV4, IPV6, IPV6_EXTENDED, ROCE1, NATIVE, NATIVE_GRH, KINDS };
enum { FRAME_MAX = 2048, BTH_LEN = 12, PAYLOAD_MAX = 1500 };

struct sealed {
	uint8_t bytes[FRAME_MAX];
	uint32_t size;
	uint32_t network, udp, bth, icrc; /* offsets */
	enum kind kind;
};

static uint32_t bitwise(const uint8_t *bytes, size_t size, uint32_t polynomial, uint32_t crc)
{
	for (size_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = (crc & 1) != 0 ? crc >> 1 ^ polynomial : crc >> 1;
	}
	return crc;
}

static void put16(uint8_t *b, uint32_t value)
{
	b[0] = (uint8_t)(value >> 8);
	b[1] = (uint8_t)value;
}

/* The next `count` bytes of the packet, from the input as long as it lasts. */
static uint8_t *append(struct sealed *s, uint32_t count, const uint8_t **input, size_t *left)
{
	uint8_t *b = s->bytes + s->size;

	for (uint32_t i = 0; i < count; i++)
		b[i] = (uint8_t)(i * 7 + 1);
	for (uint32_t i = 0; i<count && * left> 0; i++, (*left)--)
		b[i] = *(*input)++;
	s->size += count;
	return b;
}

static void append_ip(struct sealed *s, uint32_t transport, const uint8_t **input, size_t *left)
{
	uint32_t extension = s->kind == IPV6_EXTENDED ? 16 : 0;
	uint8_t *b, *ip;

	append(s, 12, input, left);
	put16(append(s, 2, input, left), s->kind == IPV4 ? 0x0800 : 0x86dd);
	s->network = s->size;
	ip = append(s, s->kind == IPV4 ? 20 : 40, input, left);
	if (s->kind == IPV4) {
		ip[0] = 0x45;
		put16(ip + 2, 28 + transport);
		put16(ip + 6, 0x4000);
		ip[9] = 17;
	} else {
		ip[0] = (uint8_t)(0x60 | (ip[0] & 0x0f));
		put16(ip + 4, 8 + extension + transport);
		ip[6] = extension != 0 ? 60 : 17;
	}
	if (extension != 0) {
		uint8_t *option = append(s, extension, input, left);

		option[0] = 17;
		option[1] = 1;
	}
	s->udp = s->size;
	b = append(s, 8, input, left);
	put16(b + 2, 4791);
	put16(b + 4, 8 + transport);
}

static void append_grh(struct sealed *s, uint32_t transport, const uint8_t **input, size_t *left)
{
	uint8_t *b;

	s->network = s->size;
	b = append(s, 40, input, left);
	b[0] = (uint8_t)(0x60 | (b[0] & 0x0f));
	put16(b + 4, transport);
	b[6] = 0x1b;
}

static void append_network(struct sealed *s, uint32_t transport, const uint8_t **input,
			   size_t *left)
{
	uint8_t *lrh;

	switch (s->kind) {
	case ROCE1:
		append(s, 12, input, left);
		put16(append(s, 2, input, left), 0x8915);
		append_grh(s, transport, input, left);
		break;
	case NATIVE:
	case NATIVE_GRH:
		lrh = append(s, 8, input, left);
		lrh[0] &= 0xf0;
		lrh[1] = (uint8_t)((lrh[1] & 0xf0) | (s->kind == NATIVE ? 2 : 3));
		put16(lrh + 4, ((s->kind == NATIVE ? 8u : 48u) + transport) / 4);
		s->network = 0;
		if (s->kind == NATIVE_GRH)
			append_grh(s, transport, input, left);
		break;
	default:
		append_ip(s, transport, input, left);
	}
}

static bool is_native(const struct sealed *s)
{
	return s->kind == NATIVE || s->kind == NATIVE_GRH;
}

/* Fields that switches and routers change: all ones to the ICRC. Offsets count from the frame. */
static void mask_changing(const struct sealed *s, uint8_t *b)
{
	b[s->bth + 4] = 0xff;
	switch (s->kind) {
	case IPV4:
		b[s->network + 1] = b[s->network + 8] = b[s->network + 10] = b[s->network + 11] =
			0xff;
		break;
	case NATIVE:
		b[s->network] |= 0xf0;
		return;
	default: /* IPv6, and the GRH that looks like it */
		b[s->network] |= 0x0f;
		memset(b + s->network + 1, 0xff, 3);
		b[s->network + 7] = 0xff;
	}
	if (s->kind <= IPV6_EXTENDED)
		b[s->udp + 6] = b[s->udp + 7] = 0xff;
}

static void seal(struct sealed *s, const uint8_t **input, size_t *left)
{
	static const uint8_t ones[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	uint8_t masked[FRAME_MAX];
	uint32_t crc = 0xffffffff;

	memcpy(masked, s->bytes, s->size);
	mask_changing(s, masked);
	s->icrc = s->size;
	if (s->kind != NATIVE)
		crc = bitwise(ones, sizeof ones, 0xedb88320, crc);
	crc = ~bitwise(masked + s->network, s->icrc - s->network, 0xedb88320, crc);
	for (int i = 0; i < 4; i++)
		append(s, 1, input, left)[0] = (uint8_t)(crc >> 8 * i);
	if (!is_native(s))
		return;
	crc = ~bitwise(s->bytes, s->size, 0xd008, 0xffff);
	append(s, 1, input, left)[0] = (uint8_t)crc;
	append(s, 1, input, left)[0] = (uint8_t)(crc >> 8);
}

static void check(const struct sealed *s, enum ft_check icrc, enum ft_check vcrc)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	const struct ft_decode_input input = {
		.bytes = s->bytes,
		.captured = s->size,
		.wire = s->size,
		.link_type = is_native(s) ? 247 : 1,
		.ts_ns = UINT64_MAX,
	};
	struct ft_decode_rest rest;
	struct ft_packet packet;

	ft_decode(&config, &input, &packet, &rest);
	assert((packet.has & FT_HAS_BTH) != 0);
	assert(packet.icrc_check == icrc);
	assert(packet.vcrc_check == (is_native(s) ? vcrc : FT_CHECK_UNKNOWN));
}

/* Offsets of what may change on the way, and of what may not, that the decoder does not need to get that far. */
static void flip_and_check(struct sealed *s, uint32_t pick)
{
	uint32_t covered = s->bth + 5 + pick % (s->icrc - s->bth - 5);
	uint32_t changing = s->kind == IPV4     ? s->network + 8
			    : s->kind == NATIVE ? s->network
						: s->network + 7;

	s->bytes[covered] ^= (uint8_t)(1u << pick % 8);
	check(s, s->kind == IPV6_EXTENDED ? FT_CHECK_UNKNOWN : FT_CHECK_BAD, FT_CHECK_BAD);
	s->bytes[covered] ^= (uint8_t)(1u << pick % 8);
	s->bytes[s->bth + 4] ^= 0x80;
	s->bytes[changing] ^= 0x10;
	check(s, FT_CHECK_GOOD, FT_CHECK_BAD);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	static struct sealed s;
	uint32_t payload, pick;

	if (size < 4)
		return;
	s = (struct sealed){ .kind = bytes[0] % KINDS };
	payload = (uint32_t)(bytes[1] << 8 | bytes[2]) % PAYLOAD_MAX;
	pick = bytes[3] * 2654435761u >> 8;
	if (is_native(&s))
		payload &= ~3u;
	bytes += 4;
	size -= 4;
	append_network(&s, BTH_LEN + payload + 4, &bytes, &size);
	s.bth = s.size;
	append(&s, BTH_LEN + payload, &bytes, &size);
	seal(&s, &bytes, &size);
	check(&s, FT_CHECK_GOOD, FT_CHECK_GOOD);
	flip_and_check(&s, pick);
}
