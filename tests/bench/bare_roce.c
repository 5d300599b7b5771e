#include "bare_packet.h"

#include <stddef.h>
#include <string.h>

enum { ETHERNET = 14, UDP = 8, ROCE_PORT = 4791 };

/* The UDP header behind IPv4 or IPv6, or NULL. */
static const uint8_t *read_ip(const uint8_t *ip, uint32_t left, uint16_t ethertype,
			      struct bare_key *key)
{
	static const uint8_t mapped[12] = { [10] = 0xff, 0xff };

	if (ethertype == 0x0800 && left >= 20 && ip[0] == 0x45 && ip[9] == 17) {
		memcpy(key->src, mapped, sizeof mapped);
		memcpy(key->src + 12, ip + 12, 4);
		memcpy(key->dst, mapped, sizeof mapped);
		memcpy(key->dst + 12, ip + 16, 4);
		return ip + 20;
	}
	if (ethertype == 0x86dd && left >= 40 && ip[6] == 17) {
		memcpy(key->src, ip + 8, 16);
		memcpy(key->dst, ip + 24, 16);
		return ip + 40;
	}
	return NULL;
}

bool bare_packet_read(const uint8_t *frame, uint32_t size, struct bare_packet *packet)
{
	const uint8_t *ip = frame + ETHERNET, *end = frame + size, *udp;

	if (size < ETHERNET)
		return false;
	udp = read_ip(ip, size - ETHERNET, be16(frame + 12), &packet->key);
	if (udp == NULL || end - udp < UDP + BTH || be16(udp + 2) != ROCE_PORT)
		return false;
	read_transport(udp + UDP, end, packet);
	packet->covered = ip;
	packet->covered_size = (uint32_t)(udp - ip) + be16(udp + 4) - 4;
	if (packet->covered_size > size - ETHERNET)
		packet->covered_size = size - ETHERNET;
	return true;
}
