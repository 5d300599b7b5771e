#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <decode/big_endian.h>

/* Headers of tunnels: for who decodes a frame, and for who only asks what is around it (around.c). */

/* GRE (RFC 2784, 2890): four bytes, then words that the flags announce. */
enum {
	FT_GRE_LEN = 4,
	FT_GRE_HAS_CHECKSUM = 0x8000,
	FT_GRE_HAS_ROUTING = 0x4000,
	FT_GRE_HAS_KEY = 0x2000,
	FT_GRE_HAS_SEQUENCE = 0x1000,
	FT_GRE_VERSION = 0x0007,
	FT_GRE_WORDS_MAX = 3 * 4,

	FT_GRE_ETHERNET = 0x6558, /* protocols */
	FT_GRE_ERSPAN12 = 0x88be,
	FT_GRE_ERSPAN3 = 0x22eb,
};

struct ft_gre {
	bool has_checksum, has_key, has_sequence;
	uint32_t key, sequence; /* 0: none */
};

static inline uint32_t ft_gre_words_length(uint16_t flags)
{
	return 4u * ((flags >> 15 & 1u) + (flags >> 13 & 1u) + (flags >> 12 & 1u));
}

/* The words, in the order in which they stand; returns what is behind them. */
static inline const uint8_t *ft_gre_read_words(uint16_t flags, const uint8_t *b, struct ft_gre *gre)
{
	gre->has_checksum = (flags & FT_GRE_HAS_CHECKSUM) != 0;
	gre->has_key = (flags & FT_GRE_HAS_KEY) != 0;
	gre->has_sequence = (flags & FT_GRE_HAS_SEQUENCE) != 0;
	gre->key = gre->sequence = 0;
	if (gre->has_checksum)
		b += 4;
	if (gre->has_key)
		gre->key = ft_be32(b), b += 4;
	if (gre->has_sequence)
		gre->sequence = ft_be32(b), b += 4;
	return b;
}

/* Of Ethernet in GRE: a key and nothing else is what NVGRE sends (RFC 7637). */
static inline bool ft_gre_is_nvgre(const struct ft_gre *gre)
{
	return gre->has_key && !gre->has_checksum && !gre->has_sequence;
}

static inline uint32_t ft_nvgre_vni(uint32_t key)
{
	return key >> 8;
}

/* ERSPAN (draft-foschiano-erspan): the version stands in the first four bits, in the same place the session. */
enum {
	FT_ERSPAN2_LEN = 8,
	FT_ERSPAN2_VERSION = 1,
	FT_ERSPAN3_LEN = 12,
	FT_ERSPAN3_VERSION = 2,
	FT_ERSPAN3_SUBHEADER_LEN = 8,
	FT_ERSPAN3_SUBHEADER = 1, /* in the flags: there is one */
	FT_ERSPAN3_FLAGS = 10,    /* where they are */
	FT_ERSPAN_OF_ETHERNET = 0,
	FT_ERSPAN_OF_IP = 2,
};

static inline bool ft_erspan_is_version(const uint8_t *b, uint8_t version)
{
	return b[0] >> 4 == version;
}

static inline uint16_t ft_erspan_session(const uint8_t *b)
{
	return ft_be16(b + 2) & 0x03ff;
}

/* What the copy begins with, by the flags of type III. */
static inline uint8_t ft_erspan3_frame_type(uint16_t flags)
{
	return flags >> 10 & 0x1f;
}

/* VXLAN (RFC 7348), its generic form, and GENEVE (RFC 8926): ports of UDP, and what is the same of all of them. */
enum {
	FT_VXLAN_PORT = 4789,
	FT_VXLAN_LINUX_PORT = 8472,
	FT_VXLAN_GPE_PORT = 4790,
	FT_GENEVE_PORT = 6081,

	FT_OVERLAY_LEN = 8, /* without options */
	FT_VXLAN_HAS_VNI = 0x08,
	FT_VXLAN_HAS_NEXT = 0x04, /* of the generic form: a next protocol, in byte 3 */
	FT_VXLAN_NEXT = 3,
	FT_VXLAN_NEXT_IPV4 = 1,
	FT_VXLAN_NEXT_IPV6 = 2,
	FT_VXLAN_NEXT_ETHERNET = 3,
	FT_GENEVE_ETHERNET = 0x6558,
};

static inline bool ft_vxlan_has_vni(const uint8_t *b)
{
	return (b[0] & FT_VXLAN_HAS_VNI) != 0;
}

/* What the generic form holds; without a next protocol it is Ethernet. */
static inline uint8_t ft_vxlan_next(const uint8_t *b)
{
	return (b[0] & FT_VXLAN_HAS_NEXT) == 0 ? FT_VXLAN_NEXT_ETHERNET : b[FT_VXLAN_NEXT];
}

static inline uint32_t ft_overlay_vni(const uint8_t *b)
{
	return ft_be24(b + 4);
}

/* Bytes of GENEVE's options. */
static inline uint32_t ft_geneve_options_length(const uint8_t *b)
{
	return (b[0] & 0x3fu) * 4;
}

static inline bool ft_geneve_is_version(const uint8_t *b)
{
	return b[0] >> 6 == 0;
}
