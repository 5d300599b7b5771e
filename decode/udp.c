#include "checksum.h"
#include "pass.h"
#include "tunnel_headers.h"

enum { UDP_LEN = 8, PORTS_LEN = 4 };

static const struct {
	uint16_t port;
	uint8_t step;
} tunnel_ports[] = {
	{ FT_VXLAN_PORT, FT_STEP_VXLAN },
	{ FT_VXLAN_LINUX_PORT, FT_STEP_VXLAN },
	{ FT_VXLAN_GPE_PORT, FT_STEP_VXLAN_GPE },
	{ FT_GENEVE_PORT, FT_STEP_GENEVE },
	{ 37008, FT_STEP_TZSP },
	{ 6343, FT_STEP_SFLOW },
};

static enum ft_step port_step(struct ft_pass *pass, uint16_t port)
{
	for (size_t i = 0; i < sizeof tunnel_ports / sizeof *tunnel_ports; i++)
		if (tunnel_ports[i].port == port)
			return (enum ft_step)tunnel_ports[i].step;
	return ft_leave_port(pass, port);
}

static enum ft_port_use port_use(struct ft_pass *pass, uint16_t port)
{
	if (ft_is_roce_port(pass->config, port))
		return FT_PORT_ROCE;
	return port_step(pass, port) == FT_STEP_DONE ? FT_PORT_OTHER : FT_PORT_TUNNEL;
}

/* Where the header ends too early the ports may be there all the same. */
static enum ft_step cut_short(struct ft_pass *pass)
{
	enum ft_step step = ft_short(pass, UDP_LEN, FT_UDP_SHORT, FT_CUT_UDP);
	const uint8_t *ports = ft_take(&pass->cursor, PORTS_LEN);

	pass->packet->port_use = FT_PORT_UNKNOWN;
	if (ports != NULL)
		pass->packet->port_use = (uint8_t)port_use(pass, ft_be16(ports + 2));
	return step;
}

/*
 * Pseudo header, UDP header and payload sum up to all ones; IPv4's addresses are the last four bytes of
 * the mapped ones. Zero is the rule, so this stays out of line, where it costs the others nothing.
 */
__attribute__((noinline)) static bool checksum_is_good(const struct ft_packet *packet,
						       const uint8_t *udp, uint32_t size)
{
	size_t skip = packet->ip_version == 4 ? 12 : 0;
	const uint8_t pseudo[4] = { 0, 17, (uint8_t)(size >> 8), (uint8_t)size };
	uint64_t sum = ft_sum_add(0, pseudo, sizeof pseudo);

	sum = ft_sum_add(sum, packet->src + skip, 16 - skip);
	sum = ft_sum_add(sum, packet->dst + skip, 16 - skip);
	return ft_sum_is_good(ft_sum_add(sum, udp, size));
}

static void check_sum(struct ft_pass *pass, const uint8_t *udp, uint32_t size)
{
	struct ft_packet *packet = pass->packet;
	bool complete = pass->cursor.captured == pass->cursor.wire;

	if (packet->udp_checksum == 0) {
		if (packet->ip_version == 6)
			packet->alerts |= FT_ALERT_UDP6_ZERO_CHECKSUM;
	} else if (complete && pass->config->check_icrc && !checksum_is_good(packet, udp, size)) {
		packet->alerts |= FT_ALERT_UDP_BAD_CHECKSUM;
	}
}

static void read_fields(struct ft_packet *packet, const uint8_t *b)
{
	packet->udp_sport = ft_be16(b);
	packet->udp_dport = ft_be16(b + 2);
	packet->udp_checksum = ft_be16(b + 6);
}

enum ft_step ft_read_udp(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;
	uint32_t at = pass->cursor.at, room = ft_wire_left(&pass->cursor), size;
	const uint8_t *b = ft_take(&pass->cursor, UDP_LEN);
	bool roce;

	if (b == NULL)
		return cut_short(pass);
	read_fields(packet, b);
	packet->has |= FT_HAS_UDP;
	ft_layer_push(pass, FT_LAYER_UDP, at, 0);
	roce = packet->transport == FT_TRANSPORT_NONE &&
	       ft_is_roce_port(pass->config, packet->udp_dport);
	if (roce)
		packet->transport = FT_TRANSPORT_ROCE2;
	if (roce && pass->ip_options)
		ft_break(pass, FT_IP_OPTIONS);

	size = ft_be16(b + 4);
	if (size < UDP_LEN || size > room)
		return ft_stop(pass, FT_UDP_BAD_LENGTH);
	if (size < room)
		return ft_stop(pass, FT_UDP_LENGTH_MISMATCH);
	check_sum(pass, b, size);
	pass->udp_at = at;
	return roce ? ft_read_bth(pass) : port_step(pass, packet->udp_dport);
}
