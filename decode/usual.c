#include <decode/brief.h>

#include "fields.h"
#include "rules.h"

/*
 * The usual frame in one go: Ethernet with at most one VLAN tag, IPv4 without options, UDP without a checksum, BTH of
 * version 0, then a RETH, an AETH or neither; no pad bytes, nothing behind the datagram, no lengths at odds. Nearly all
 * frames of a RoCEv2 fabric are of this form, and the readers would say the same about them, one header after the other.
 */

/* Offsets from the IPv4 header. */
enum { UDP = 20, BTH = 28, EXTENSIONS = 40 };

/* Solicited event and migration; the others of their byte are the pad count and the version. */
enum { BTH_FLAGS = 0xc0 };

enum { ETHERNET_LEN = 14, TAG_LEN = 4, ICRC_LEN = 4 };

static void put_layers(struct ft_packet *packet)
{
	static const struct ft_layer layers[] = {
		{ .kind = FT_LAYER_ETH },
		{ .kind = FT_LAYER_IPV4, .offset = ETHERNET_LEN },
		{ .kind = FT_LAYER_UDP, .offset = ETHERNET_LEN + UDP },
		{ .kind = FT_LAYER_BTH, .offset = ETHERNET_LEN + BTH },
	};

	memcpy(packet->layers, layers, sizeof layers);
	packet->layer_count = sizeof layers / sizeof *layers;
}

static void put_tagged_layers(struct ft_packet *packet, uint16_t tci)
{
	static const struct ft_layer layers[] = {
		{ .kind = FT_LAYER_ETH },
		{ .kind = FT_LAYER_VLAN, .offset = ETHERNET_LEN - 2 },
		{ .kind = FT_LAYER_IPV4, .offset = ETHERNET_LEN + TAG_LEN },
		{ .kind = FT_LAYER_UDP, .offset = ETHERNET_LEN + TAG_LEN + UDP },
		{ .kind = FT_LAYER_BTH, .offset = ETHERNET_LEN + TAG_LEN + BTH },
	};

	memcpy(packet->layers, layers, sizeof layers);
	packet->layer_count = sizeof layers / sizeof *layers;
	packet->layers[1].pcp = (uint8_t)(tci >> 13);
	packet->layers[1].value = packet->vlan = tci & 0x0fff;
	packet->vlan_count = 1;
}

static void read_link(struct ft_packet *packet, const uint8_t *b, uint32_t ip_at)
{
	ft_ethernet_fields(packet, b);
	if (ip_at == ETHERNET_LEN)
		put_layers(packet);
	else
		put_tagged_layers(packet, ft_be16(b + ETHERNET_LEN));
}

/* As ft_sum_is_good(ft_ipv4_sum()); 2^16 - 1 divides 2^64 - 1, so a carry out of 64 bits comes in again. Never 0. */
static bool is_good_sum(const uint8_t *ip)
{
	uint64_t first, second;

	memcpy(&first, ip, sizeof first);
	memcpy(&second, ip + 8, sizeof second);
	first += second;
	first += first < second;
	second = ft_sum_word(ip + 16);
	first += second;
	first += first < second;
	return first % 0xffff == 0;
}

static void read_network(struct ft_packet *packet, const uint8_t *ip)
{
	packet->transport = FT_TRANSPORT_ROCE2;
	ft_ipv4_fields(packet, ip);
	if (!is_good_sum(ip))
		packet->alerts |= FT_ALERT_IP_BAD_CHECKSUM;
	ft_udp_fields(packet, ip + UDP);
}

static void read_transport(struct ft_packet *packet, const uint8_t *bth, uint32_t headers)
{
	const uint8_t *extension = bth + EXTENSIONS - BTH;

	ft_bth_fields(packet, bth, bth[1] & BTH_FLAGS);
	if ((headers & FT_HAS_RETH) != 0)
		ft_reth_fields(packet, extension);
	else if ((headers & FT_HAS_AETH) != 0)
		ft_aeth_fields(packet, extension);
}

static void read_payload(struct ft_packet *packet, const struct ft_brief *form, uint32_t captured)
{
	uint32_t held = captured - form->payload_at;

	packet->payload_offset = form->payload_at;
	packet->payload_length = form->payload_length;
	packet->payload_captured = held < form->payload_length ? held : form->payload_length;
	if (held < form->payload_length)
		packet->truncated = FT_CUT_PAYLOAD;
	else if (captured < form->end)
		packet->truncated = FT_CUT_ICRC;
}

static void check_icrc(const struct ft_decode_config *config, const uint8_t *bytes,
		       const struct ft_brief *form, struct ft_packet *packet)
{
	uint32_t at = form->end - ICRC_LEN;

	memcpy(packet->icrc, bytes + at, ICRC_LEN);
	packet->has |= FT_HAS_ICRC;
	if (!config->check_icrc)
		return;
	packet->icrc_check = (uint8_t)ft_brief_check_icrc(bytes, form);
	if (packet->icrc_check == FT_CHECK_BAD && packet->malformed == FT_OK)
		packet->malformed = FT_BAD_ICRC;
}

static void judge_headers(struct ft_packet *packet, const struct ft_brief *form)
{
	uint32_t length = form->end - form->ip_at - BTH;

	if (!ft_usual_rules_hold(packet, form->shape, length))
		packet->malformed = (uint8_t)ft_header_rules(
			packet, ft_opcode_shape(packet->opcode), length, 0);
}

bool ft_read_usual(const struct ft_decode_config *config, const struct ft_decode_input *input,
		   struct ft_packet *packet, struct ft_decode_rest *rest)
{
	const uint8_t *bytes = input->bytes;
	struct ft_brief form;

	if (!ft_brief_find(config, input, &form) ||
	    (form.shape->headers & ~(uint32_t)(FT_HAS_RETH | FT_HAS_AETH)) != 0)
		return ft_read_headers(config, input, packet, rest);
	ft_packet_begin(packet);
	packet->has = FT_HAS_ETH | FT_HAS_IPV4 | FT_HAS_UDP | FT_HAS_BTH | form.shape->headers |
		      FT_HAS_PAYLOAD_LENGTH | FT_HAS_PAYLOAD;
	read_link(packet, bytes, form.ip_at);
	read_network(packet, bytes + form.ip_at);
	read_transport(packet, bytes + form.ip_at + BTH, form.shape->headers);
	read_payload(packet, &form, input->captured);
	judge_headers(packet, &form);
	if (input->captured >= form.end)
		check_icrc(config, bytes, &form, packet);
	return false;
}
