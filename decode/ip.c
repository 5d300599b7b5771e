#include "checksum.h"
#include "pass.h"

enum { IPV4_LEN = 20, IPV6_LEN = 40, EXTENSIONS_MAX = 8 };

static enum ft_step protocol_step(struct ft_pass *pass, uint8_t protocol)
{
	switch (protocol) {
	case 17:
		return ft_read_udp(pass);
	case 47:
		return FT_STEP_GRE;
	default:
		return ft_leave_protocol(pass, protocol);
	}
}

/* The datagram goes on for `size` bytes; what follows it is padding, a trailer or an FCS. */
static void enter_datagram(struct ft_pass *pass, uint32_t header_at, enum ft_icrc_kind kind,
			   uint32_t size)
{
	ft_narrow(&pass->cursor, size);
	pass->network_at = header_at;
	pass->icrc_kind = kind;
	if (pass->packet->tunnel_count == 0)
		pass->network_end = pass->cursor.wire;
}

static bool checksum_is_good(const uint8_t *b, uint32_t header_len)
{
	return ft_sum_is_good(ft_sum_words(0, b, header_len));
}

static bool is_fragment(const uint8_t *b)
{
	return (ft_be16(b + 6) & 0x3fff) != 0; /* more fragments, or an offset */
}

static void map_ipv4(uint8_t address[16], const uint8_t *b)
{
	static const uint8_t prefix[12] = { [10] = 0xff, 0xff };

	memcpy(address, prefix, sizeof prefix);
	memcpy(address + sizeof prefix, b, 4);
}

static void read_ipv4_fields(struct ft_packet *packet, const uint8_t *b)
{
	uint8_t traffic_class = b[1];

	packet->ip_version = 4;
	packet->dscp = traffic_class >> 2;
	packet->ecn = traffic_class & 3;
	packet->ip_id = ft_be16(b + 4);
	packet->ttl = b[8];
	map_ipv4(packet->src, b + 12);
	map_ipv4(packet->dst, b + 16);
}

enum ft_step ft_read_ipv4(struct ft_pass *pass)
{
	struct ft_cursor *cursor = &pass->cursor;
	uint32_t at = cursor->at;
	const uint8_t *b = ft_take(cursor, IPV4_LEN);
	uint32_t header_len, options_len, total_len;
	bool bad_length;

	if (b == NULL)
		return ft_short(pass, IPV4_LEN, FT_IP_SHORT, FT_CUT_IPV4);
	if (b[0] >> 4 != 4)
		return ft_stop(pass, FT_IP_BAD_VERSION);
	header_len = (b[0] & 0x0fu) * 4;
	if (header_len < IPV4_LEN)
		return ft_stop(pass, FT_IP_BAD_IHL);
	options_len = header_len - IPV4_LEN;
	total_len = ft_be16(b + 2);
	bad_length = total_len < header_len || !ft_network_fits(pass, total_len - IPV4_LEN);
	if (!bad_length) {
		enter_datagram(pass, at, FT_ICRC_IPV4, total_len - IPV4_LEN);
		if (options_len > 0 && ft_take(cursor, options_len) == NULL)
			return ft_short(pass, options_len, FT_IP_BAD_LENGTH, FT_CUT_IPV4);
	}
	read_ipv4_fields(pass->packet, b);
	pass->packet->has |= FT_HAS_IPV4;
	ft_layer_push(pass, FT_LAYER_IPV4, at, 0);
	if (bad_length)
		return ft_stop(pass, FT_IP_BAD_LENGTH);
	if (!checksum_is_good(b, header_len))
		pass->packet->alerts |= FT_ALERT_IP_BAD_CHECKSUM;
	if (is_fragment(b))
		return ft_stop(pass, FT_IP_FRAGMENT);
	pass->ip_options = options_len > 0;
	return protocol_step(pass, b[9]);
}

/* Hop-by-hop, routing and destination options may be stepped over. */
static enum ft_step skip_extensions(struct ft_pass *pass, uint8_t next)
{
	struct ft_cursor *cursor = &pass->cursor;

	for (int i = 0; next == 0 || next == 43 || next == 60; i++) {
		const uint8_t *b;
		uint32_t rest;

		if (i == EXTENSIONS_MAX)
			return ft_stop(pass, FT_IP_EXT_TOO_DEEP);
		b = ft_take(cursor, 8);
		if (b == NULL)
			return ft_short(pass, 8, FT_IP_BAD_LENGTH, FT_CUT_IPV6);
		rest = b[1] * 8u;
		if (ft_take(cursor, rest) == NULL)
			return ft_short(pass, rest, FT_IP_BAD_LENGTH, FT_CUT_IPV6);
		next = b[0];
	}
	return next == 44 ? ft_stop(pass, FT_IP_FRAGMENT) : protocol_step(pass, next);
}

enum ft_step ft_read_ipv6(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;
	uint32_t at = pass->cursor.at;
	const uint8_t *b = ft_take(&pass->cursor, IPV6_LEN);
	uint32_t payload_len;
	uint8_t traffic_class;

	if (b == NULL)
		return ft_short(pass, IPV6_LEN, FT_IP_SHORT, FT_CUT_IPV6);
	if (b[0] >> 4 != 6)
		return ft_stop(pass, FT_IP_BAD_VERSION);
	traffic_class = (uint8_t)(ft_be16(b) >> 4);
	packet->ip_version = 6;
	packet->dscp = traffic_class >> 2;
	packet->ecn = traffic_class & 3;
	packet->flow_label = ft_be32(b) & 0xfffff;
	packet->ttl = b[7];
	memcpy(packet->src, b + 8, 16);
	memcpy(packet->dst, b + 24, 16);
	packet->has |= FT_HAS_IPV6;
	ft_layer_push(pass, FT_LAYER_IPV6, at, 0);

	payload_len = ft_be16(b + 4);
	if (!ft_network_fits(pass, payload_len))
		return ft_stop(pass, FT_IP_BAD_LENGTH);
	enter_datagram(pass, at, FT_ICRC_IPV6, payload_len);
	pass->ip_options = false;
	return skip_extensions(pass, b[6]);
}
