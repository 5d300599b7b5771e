#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <flow/hash.h>

/*
 * Digests of what tells packets apart: multiply-mixes of what the decoder read and of the bytes behind
 * the BTH. They have no seed, since they are compared between engines: tables mix in their own.
 */
enum {
	FT_BTH_LEN = 12,
	FT_MACS_LEN = 12,
	FT_LANE = 16,
	FT_CONTENT_MAX = 4 * FT_LANE,
	FT_CONTENT_TELLING = 8, /* bytes of payload that tell packets apart */
};

#define FT_SALT_SRC     0x9e3779b97f4a7c15u
#define FT_SALT_DST     0xa0761d6478bd642fu
#define FT_SALT_GID     0xe7037ed1a0b428dbu
#define FT_SALT_BTH     0x8ebc6af09c88c6e3u
#define FT_SALT_LANE    0x1d8e4e27c47d124fu
#define FT_SALT_DIGEST  0xeb44accab455d165u
#define FT_SALT_CONTENT 0xc2b2ae3d27d4eb4fu

static inline uint32_t ft_load32(const uint8_t *b)
{
	uint32_t word;

	memcpy(&word, b, sizeof word);
	return word;
}

static inline uint64_t ft_load64(const uint8_t *b)
{
	uint64_t word;

	memcpy(&word, b, sizeof word);
	return word;
}

/* Of a GID, by its two halves: an IPv4 address has no prefix. The sum of two is a pair's, in either order. */
static inline uint64_t ft_gid_digest(uint64_t prefix, uint64_t interface)
{
	return ft_mix(prefix ^ FT_SALT_GID, interface ^ FT_SALT_SRC);
}

/* Which of two GIDs is the lower one, by their halves as they stand in memory: tells the two directions of a pair apart. */
static inline bool ft_gids_are_upward(const uint64_t src[2], const uint64_t dst[2])
{
	return src[0] < dst[0] || (src[0] == dst[0] && src[1] < dst[1]);
}

/* Of an address that is shorter, a LID or a MAC address. */
static inline uint64_t ft_short_digest(uint64_t address)
{
	return ft_mix(address ^ FT_SALT_DST, FT_SALT_GID);
}

/* What the place of a packet of native InfiniBand has besides: both LIDs and the service level. */
static inline uint64_t ft_native_digest(uint16_t slid, uint16_t dlid, uint8_t sl)
{
	uint64_t lids = (uint64_t)slid << 32 | (uint32_t)dlid << 16 | sl;

	return ft_mix(lids ^ FT_SALT_GID, FT_SALT_BTH);
}

/* Where a 64-bit word has what stands first and second in memory. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { FT_FIRST_HALF = 0, FT_SECOND_HALF = 32 };
#else
enum { FT_FIRST_HALF = 32, FT_SECOND_HALF = 0 };
#endif

/* The second half of an IPv4 address in ::ffff:0:0/96, both as they stand in memory. */
static inline uint64_t ft_ipv4_interface(uint32_t address)
{
	static const uint8_t prefix[4] = { 0, 0, 0xff, 0xff };

	return (uint64_t)ft_load32(prefix) << FT_FIRST_HALF | (uint64_t)address << FT_SECOND_HALF;
}

/* Of destination and source MAC address, 24 bits above 8 for the time to live. */
static inline uint32_t ft_macs_digest(uint64_t first, uint32_t last)
{
	uint64_t digest = first * FT_SALT_SRC + last * FT_SALT_BTH;

	return (uint32_t)(digest >> 32) & ~(uint32_t)UINT8_MAX;
}

/* What a transport repeats unchanged: the operation, then what it carries, lane by lane. */
static inline uint64_t ft_content_begin(uint8_t opcode, uint32_t payload)
{
	return payload * FT_SALT_CONTENT + opcode;
}

static inline uint64_t ft_content_lane(uint64_t content, const uint8_t lane[FT_LANE])
{
	return ft_mix(ft_load64(lane + 8) ^ FT_SALT_LANE, ft_load64(lane) + content);
}

/* Of FT_CONTENT_MAX bytes, which most packets have: two by two, so that a processor need not wait for each. */
static inline uint64_t ft_content_digest(uint64_t content, const uint8_t *bytes)
{
	uint64_t front = ft_content_lane(content, bytes);
	uint64_t back = ft_content_lane(content ^ FT_SALT_DIGEST, bytes + 2 * FT_LANE);

	front = ft_content_lane(front, bytes + FT_LANE);
	return front + ft_content_lane(back, bytes + 3 * FT_LANE);
}

/* Of less. */
uint64_t ft_content_digest_short(uint64_t content, const uint8_t *bytes, uint32_t size);

/*
 * What a packet with a BTH is known by, wherever it is seen: its content, then the BTH as it stands in the frame,
 * but for the byte that a switch may mark, and what the ICRC covers beyond the bytes looked at; 0: no ICRC.
 */
static inline uint64_t ft_digest_bth(uint64_t content, const uint8_t *bth, uint32_t icrc)
{
	static const uint8_t kept[8] = { 0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0xff };
	uint64_t head = ft_load64(bth) & ft_load64(kept);
	uint64_t tail = (uint64_t)icrc << 32 | ft_load32(bth + 8);

	return ft_mix(head + content, tail ^ FT_SALT_BTH);
}

/* Then its place in the network, 0 for what it does not have; `ends`: of its addresses, in this order. */
struct ft_place {
	uint64_t ends;
	uint32_t ports, ip_id, aeth;
	uint32_t overlay; /* VNI + 1 */
};

static inline uint64_t ft_digest_place(uint64_t digest, const struct ft_place *place)
{
	uint64_t udp = (uint64_t)place->ip_id << 32 | place->ports;
	uint64_t more = (uint64_t)place->overlay << 32 | place->aeth;

	return ft_mix(digest + udp, more ^ place->ends ^ FT_SALT_DIGEST);
}
