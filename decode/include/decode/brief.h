#pragma once

#include <decode/big_endian.h>
#include <decode/decode.h>
#include <decode/opcode.h>

/*
 * The usual frame in brief: Ethernet with at most one 802.1Q tag, IPv4 in one piece and without options, UDP to a RoCE
 * port without a checksum, a BTH of version 0 without pad bytes to an ordinary queue pair of a connection, extended
 * headers of which the first says all that is asked for; nothing behind the datagram, no lengths at odds. Nearly all
 * frames of a RoCEv2 fabric are of this form, and every field stands where the form says.
 *
 * Whether the fields agree with each other and with the checksums is not asked here: the IPv4 header's sum, the ICRC and
 * the rules about payloads and operands may be broken.
 */

/* Offsets from the IPv4 header; the source address stands at 12, the destination's at 16. */
enum { FT_BRIEF_ADDRESSES = 12, FT_BRIEF_UDP = 20, FT_BRIEF_BTH = 28, FT_BRIEF_EXTENSIONS = 40 };

/* Offsets in the frame. */
enum { FT_BRIEF_TAG = 14, FT_BRIEF_IP = 14, FT_BRIEF_TAGGED_IP = 18 };

enum { FT_BRIEF_ICRC_LEN = 4 };

struct ft_brief {
	uint32_t ip_at;                      /* FT_BRIEF_IP or FT_BRIEF_TAGGED_IP */
	uint32_t payload_at, payload_length; /* of the payload at least nothing was captured */
	uint32_t
		end; /* of the datagram, whose last four bytes are the ICRC; may lie beyond what was captured */
	const struct ft_opcode_shape *shape;
};

/* The IPv4 header of an Ethernet frame with no more than one tag, or 0. */
static inline uint32_t ft_brief_ip(const uint8_t *bytes)
{
	uint16_t ethertype = ft_be16(bytes + FT_BRIEF_IP - 2);

	if (ethertype == 0x0800)
		return FT_BRIEF_IP;
	return ethertype == 0x8100 && ft_be16(bytes + FT_BRIEF_TAGGED_IP - 2) == 0x0800
		       ? FT_BRIEF_TAGGED_IP
		       : 0;
}

/* `size`: of the datagram, IPv4 header included. */
static inline bool ft_brief_is_usual(const struct ft_decode_config *config, const uint8_t *ip,
				     uint32_t size)
{
	uint32_t fragment_row = ft_be32(ip + 6); /* flags, fragment offset, TTL, protocol */
	uint32_t length_row = ft_be32(ip + FT_BRIEF_UDP + 4); /* length, checksum */
	const uint8_t *bth = ip + FT_BRIEF_BTH;

	return ip[0] == 0x45 && (fragment_row & 0x3fff00ff) == 17 &&
	       length_row == (size - FT_BRIEF_UDP) << 16 && (bth[1] & 0x3f) == 0 &&
	       ft_be24(bth + 5) >= 2 && ft_opcode_shape(bth[0])->brief &&
	       ft_is_roce_port(config, ft_be16(ip + FT_BRIEF_UDP + 2));
}

/* True, and *brief filled, if the frame is of the usual form and was captured up to its payload at least. */
static inline bool ft_brief_find(const struct ft_decode_config *config,
				 const struct ft_decode_input *input, struct ft_brief *brief)
{
	const uint8_t *ip = input->bytes;
	uint32_t captured = input->captured, size;

	if (input->link_type != FT_LINKTYPE_ETHERNET || input->fcs_bytes != 0 ||
	    captured < FT_BRIEF_TAGGED_IP + FT_BRIEF_EXTENSIONS)
		return false;
	brief->ip_at = ft_brief_ip(ip);
	if (brief->ip_at == 0)
		return false;
	ip += brief->ip_at;
	size = ft_be16(ip + 2);
	if (!ft_brief_is_usual(config, ip, size))
		return false;
	brief->shape = ft_opcode_shape(ip[FT_BRIEF_BTH]);
	brief->end = brief->ip_at + size;
	brief->payload_at = brief->ip_at + FT_BRIEF_EXTENSIONS + brief->shape->length;
	brief->payload_length = brief->end - FT_BRIEF_ICRC_LEN - brief->payload_at;
	return brief->payload_at <= captured &&
	       brief->payload_at + FT_BRIEF_ICRC_LEN <= brief->end &&
	       (captured < input->wire ? brief->end <= input->wire : brief->end == captured);
}

/* Of a wholly captured frame of this form. */
enum ft_check ft_brief_check_icrc(const uint8_t *bytes, const struct ft_brief *brief);
