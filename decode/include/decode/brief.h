#pragma once

#include <string.h>

#include <decode/around.h>
#include <decode/big_endian.h>
#include <decode/decode.h>
#include <decode/opcode.h>

/*
 * The usual frame in brief: Ethernet with at most one 802.1Q tag, IPv4 in one piece and without options or IPv6 without
 * extension headers, UDP to a RoCE port, a BTH of version 0 without pad bytes to an ordinary queue pair of a connection,
 * extended headers of which the first says all that is asked for; nothing behind the datagram, no lengths at odds.
 * Captured to its end, or cut in its payload or ICRC (and not so early that a tagged frame's BTH would not fit). Nearly
 * all frames of a RoCEv2 fabric are of this form, and in them every field stands where the form says.
 *
 * Native InfiniBand likewise (LINKTYPE_INFINIBAND): an LRH, then such a BTH, as within a subnet; with its VCRC or without.
 *
 * Whether fields agree with checksums and with each other is not asked: those of the IPv4 and UDP headers, the ICRC and
 * the rules about payloads and operands may be broken.
 */
enum ft_brief_form { FT_BRIEF_OVER_IPV4, FT_BRIEF_OVER_IPV6, FT_BRIEF_NATIVE };

struct ft_brief {
	uint32_t ethernet_at; /* of frames over IP */
	uint32_t ip_at; /* network header, behind it UDP, then the BTH; or the LRH, then the BTH */
	uint32_t payload_at, payload_length; /* the payload begins within what was captured */
	/* of the datagram, whose last four bytes are the ICRC: of the frame but for a VCRC, unless that was cut */
	uint32_t end;
	const struct ft_opcode_shape *shape;
	enum ft_brief_form form;
};

/* Offsets from an IPv4 and an IPv6 header, and lengths. */
enum {
	FT_BRIEF_TTL = 8,
	FT_BRIEF_SRC = 12,
	FT_BRIEF_DST = 16,
	FT_BRIEF_UDP = 20,
	FT_BRIEF_HOP_LIMIT6 = 7,
	FT_BRIEF_SRC6 = 8,
	FT_BRIEF_DST6 = 24,
	FT_BRIEF_UDP6 = 40,

	FT_BRIEF_ETHERNET_LEN = 14,
	FT_BRIEF_TAG_LEN = 4,
	FT_BRIEF_UDP_LEN = 8,
	FT_BRIEF_BTH_LEN = 12,
	FT_BRIEF_ICRC_LEN = 4,

	/* In an LRH. */
	FT_BRIEF_DLID = 2,
	FT_BRIEF_SLID = 6,
	FT_BRIEF_LRH_LEN = 8,
};

/* The network header of an Ethernet frame with no more than one tag; its EtherType stands in front of it. */
static inline uint32_t ft_brief_network(const uint8_t *bytes)
{
	bool tagged = ft_be16(bytes + FT_BRIEF_ETHERNET_LEN - 2) == 0x8100;

	return FT_BRIEF_ETHERNET_LEN + tagged * (uint32_t)FT_BRIEF_TAG_LEN;
}

/*
 * From the UDP header on, `size` bytes by the network header. At least UDP and BTH were captured. True, and *brief
 * filled but for ip_at and form, if the rest of the frame is of the usual form, whatever its port.
 */
static inline bool ft_brief_datagram(const struct ft_decode_input *input, uint32_t udp_at,
				     uint32_t size, struct ft_brief *brief)
{
	const uint8_t *udp = input->bytes + udp_at, *bth = udp + FT_BRIEF_UDP_LEN;
	uint32_t captured = input->captured, others;

	brief->shape = ft_opcode_shape(bth[0]);
	others = FT_BRIEF_UDP_LEN + FT_BRIEF_BTH_LEN + brief->shape->length + FT_BRIEF_ICRC_LEN;
	if (ft_be16(udp + 4) != size || size < others || (bth[1] & 0x3f) != 0 ||
	    (ft_be32(bth + 4) & 0xffffff) < 2 || !brief->shape->brief)
		return false;
	brief->end = udp_at + size;
	brief->payload_length = size - others;
	brief->payload_at = brief->end - FT_BRIEF_ICRC_LEN - brief->payload_length;
	if (captured >= input->wire)
		return captured == brief->end;
	return brief->payload_at <= captured && captured < brief->end && brief->end <= input->wire;
}

/* And its port. */
static inline bool ft_brief_transport(const struct ft_decode_config *config,
				      const struct ft_decode_input *input, uint32_t udp_at,
				      uint32_t size, struct ft_brief *brief)
{
	return ft_is_roce_port(config, ft_be16(input->bytes + udp_at + 2)) &&
	       ft_brief_datagram(input, udp_at, size, brief);
}

/* Ethernet, by its link type; an FCS that the container announces is no part of the form. */
static inline bool ft_brief_link(const struct ft_decode_input *input, uint32_t least)
{
	return (input->link_type ^ FT_LINKTYPE_ETHERNET) + input->fcs_bytes == 0 &&
	       input->captured >= least;
}

/* Without options, and in one piece. */
static inline bool ft_brief_is_plain_ipv4(const uint8_t *ip)
{
	static const uint8_t asked[8] = { 0xff, 0, 0, 0, 0, 0, 0x3f, 0xff };
	static const uint8_t wanted[8] = { 0x45 };
	uint64_t mask, same, head;

	memcpy(&mask, asked, sizeof mask);
	memcpy(&same, wanted, sizeof same);
	memcpy(&head, ip, sizeof head);
	return (head & mask) == same;
}

/* Captured bytes that hold a BTH over IPv4, whether there is a tag or not. */
enum {
	FT_BRIEF_LEAST = FT_BRIEF_ETHERNET_LEN + FT_BRIEF_TAG_LEN + FT_BRIEF_UDP +
			 FT_BRIEF_UDP_LEN + FT_BRIEF_BTH_LEN
};

/*
 * True, and *brief filled, if the frame at this offset is of the usual form over IPv4. So much of it was captured as holds a
 * BTH over IPv4.
 */
static inline bool ft_brief_find_at(const struct ft_decode_config *config,
				    const struct ft_decode_input *input, uint32_t at,
				    struct ft_brief *brief)
{
	const uint8_t *ip;

	brief->form = FT_BRIEF_OVER_IPV4;
	brief->ethernet_at = at;
	brief->ip_at = at + ft_brief_network(input->bytes + at);
	ip = input->bytes + brief->ip_at;
	if (ft_be16(ip - 2) != 0x0800 || !ft_brief_is_plain_ipv4(ip) || ip[9] != 17)
		return false;
	return ft_brief_transport(config, input, brief->ip_at + FT_BRIEF_UDP,
				  (uint32_t)ft_be16(ip + 2) - FT_BRIEF_UDP, brief);
}

/* The same for the frame as it was captured; nearly free. */
static inline bool ft_brief_find(const struct ft_decode_config *config,
				 const struct ft_decode_input *input, struct ft_brief *brief)
{
	return ft_brief_link(input, FT_BRIEF_LEAST) && ft_brief_find_at(config, input, 0, brief);
}

/*
 * The same for an Ethernet frame of which it is known already that it has an IPv4 header, at this offset and behind no more
 * than one tag, and UDP to a RoCE port behind that.
 */
static inline bool ft_brief_find_behind(const struct ft_decode_input *input, uint32_t ip_at,
					struct ft_brief *brief)
{
	const uint8_t *ip = input->bytes + ip_at;

	if (input->fcs_bytes != 0 || input->captured < FT_BRIEF_LEAST ||
	    !ft_brief_is_plain_ipv4(ip))
		return false;
	brief->form = FT_BRIEF_OVER_IPV4;
	brief->ethernet_at = 0;
	brief->ip_at = ip_at;
	return ft_brief_datagram(input, ip_at + FT_BRIEF_UDP,
				 (uint32_t)ft_be16(ip + 2) - FT_BRIEF_UDP, brief);
}

/*
 * The usual form as less frames are of it, with nothing behind it: over IPv6, or over IPv4 or IPv6 inside tunnels, where a
 * mirror may have cut the frame, too. *around says what of; it is filled in any case.
 */
bool ft_brief_find_other(const struct ft_decode_config *config, const struct ft_decode_input *input,
			 struct ft_brief *brief, struct ft_around *around);

/* And native InfiniBand. */
bool ft_brief_find_native(const struct ft_decode_input *input, struct ft_brief *brief);

/* Of a frame of this form that was captured to its end: what its ICRC covers, without the ones in front. */
struct ft_brief_cover {
	const uint8_t *network; /* its header; over IP, an Ethernet header or more precedes it */
	uint32_t length;        /* up to the ICRC */
	enum ft_brief_form form;
};

/* `bytes` are the whole frame's, and are not copied. */
static inline struct ft_brief_cover ft_brief_cover(const uint8_t *bytes,
						   const struct ft_brief *brief)
{
	return (struct ft_brief_cover){
		.network = bytes + brief->ip_at,
		.length = brief->end - FT_BRIEF_ICRC_LEN - brief->ip_at,
		.form = brief->form,
	};
}

/* ICRCs to check at a time, so that none waits for the one before. */
enum { FT_BRIEF_TOGETHER = 8 };

/* Whose ICRCs are wrong, as bits: 1 << place. So many at most that each has its bit. */
unsigned ft_brief_bad_icrcs(const struct ft_brief_cover *frames, unsigned count);
