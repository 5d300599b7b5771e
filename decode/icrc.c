#include <endian.h>

#include <decode/brief.h>
#include <decode/icrc.h>

#include "crc32.h"
#include "pass.h"

/*
 * The ICRC starts with eight bytes of ones (a lone LRH: with the LRH) and takes the fields that change
 * on the way as ones. Eight bytes precede every network header, so the ones are ORed into those.
 */
enum { ONES = 8, UDP_CHUNK = FT_ICRC_KINDS };

#define EIGHT_ONES 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff

static const struct cover {
	uint32_t before; /* bytes of ones in front */
	struct ft_crc32_mask mask;
} covers[FT_ICRC_KINDS + 1] = {
	/* TOS, TTL, header checksum; UDP checksum; BTH byte 4 */
	[FT_ICRC_IPV4] = { ONES,
			   { 3,
			     { EIGHT_ONES, [9] = 0xff, [16] = 0xff, [18] = 0xff, 0xff, [34] = 0xff,
			       0xff, [40] = 0xff } } },
	/* traffic class, flow label, hop limit; UDP checksum; BTH byte 4 */
	[FT_ICRC_IPV6] = { ONES,
			   { 4,
			     { EIGHT_ONES, 0x0f, 0xff, 0xff, 0xff, [15] = 0xff, [54] = 0xff,
			       0xff, [60] = 0xff } } },
	/* the same fields of the GRH; BTH byte 4 */
	[FT_ICRC_GRH] = { ONES,
			  { 4, { EIGHT_ONES, 0x0f, 0xff, 0xff, 0xff, [15] = 0xff, [52] = 0xff } } },
	/* VL; BTH byte 4 */
	[FT_ICRC_LRH] = { 0, { 1, { 0xf0, [12] = 0xff } } },
	/* behind IPv6 extension headers: UDP checksum; BTH byte 4 */
	[UDP_CHUNK] = { 0, { 1, { [6] = 0xff, 0xff, [12] = 0xff } } },
};

/*
 * Extension headers move the UDP header away from the IPv6 header: three pieces. RoCEv2 is defined without them (IBA vol. 1,
 * annex A17), and receivers differ: Linux's rxe takes the eight bytes behind the IPv6 header for the UDP header. So one that
 * is not this may be good to its receiver.
 */
static enum ft_check check_extended(const struct ft_pass *pass, const uint8_t *bytes, uint32_t end)
{
	struct ft_crc32_mask ip = covers[FT_ICRC_IPV6].mask;
	uint32_t from = pass->network_at - ONES, udp_at = pass->udp_at, crc;

	ip.chunks = 3;
	crc = ft_crc32_masked(0, &ip, bytes + from, udp_at - from);
	crc = ft_crc32_masked(crc, &covers[UDP_CHUNK].mask, bytes + udp_at, end - udp_at);
	return ft_crc32_is(bytes + end, crc) ? FT_CHECK_GOOD : FT_CHECK_UNKNOWN;
}

static bool is_good(const struct ft_brief_cover *of)
{
	static const uint8_t kinds[] = {
		[FT_BRIEF_OVER_IPV4] = FT_ICRC_IPV4,
		[FT_BRIEF_OVER_IPV6] = FT_ICRC_IPV6,
		[FT_BRIEF_NATIVE] = FT_ICRC_LRH,
	};
	const struct cover *cover = &covers[kinds[of->form]];
	uint32_t crc = ft_crc32_masked(0, &cover->mask, of->network - cover->before,
				       of->length + cover->before);

	return ft_crc32_is(of->network + of->length, crc);
}

unsigned ft_brief_bad_icrcs(const struct ft_brief_cover *frames, unsigned count)
{
	unsigned bad = 0;

	for (unsigned i = count; i-- > 0;)
		bad = bad << 1 | !is_good(&frames[i]);
	return bad;
}

enum ft_check ft_icrc_check(const struct ft_pass *pass)
{
	const uint8_t *bytes = pass->cursor.bytes,
		      *stored = bytes + pass->bth_at + pass->length - 4;
	const struct cover *cover = &covers[pass->icrc_kind];
	uint32_t from = pass->network_at - cover->before, end = pass->bth_at + pass->length - 4;
	uint32_t crc;

	if (!pass->config->check_icrc || pass->cursor.captured < pass->cursor.wire)
		return FT_CHECK_UNKNOWN;
	if (pass->icrc_kind == FT_ICRC_IPV6 && pass->udp_at != pass->network_at + 40)
		return check_extended(pass, bytes, end);
	crc = ft_crc32_masked(0, &cover->mask, bytes + from, end - from);
	return ft_crc32_is(stored, crc) ? FT_CHECK_GOOD : FT_CHECK_BAD;
}

/* The CRC of two bytes and as many zeros as are `behind` them. */
static uint32_t with_zeros(uint16_t number, uint32_t behind)
{
	static const uint8_t zeros[256];
	const uint8_t bytes[2] = { (uint8_t)(number >> 8), (uint8_t)number };
	uint32_t crc = ft_crc32(0, bytes, sizeof bytes);

	for (uint32_t some; behind != 0; behind -= some) {
		some = behind < sizeof zeros ? behind : (uint32_t)sizeof zeros;
		crc = ft_crc32(crc, zeros, some);
	}
	return crc;
}

uint32_t ft_icrc_change(uint16_t change, uint32_t behind)
{
	if (change == 0)
		return 0;
	return htole32(with_zeros(change, behind) ^ with_zeros(0, behind));
}
