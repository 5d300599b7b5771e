#include "bare_packet.h"

#include <string.h>

enum { LRH = 8, LNH_BTH = 2 };

bool bare_packet_read(const uint8_t *frame, uint32_t size, struct bare_packet *packet)
{
	if (size < LRH + BTH || (frame[1] & 3) != LNH_BTH)
		return false;
	memset(&packet->key, 0, sizeof packet->key);
	memcpy(packet->key.src + 14, frame + 6, 2);
	memcpy(packet->key.dst + 14, frame + 2, 2);
	read_transport(frame + LRH, frame + size, packet);
	packet->covered = frame;
	packet->covered_size = (be16(frame + 4) & 0x07ffu) * 4 - 4;
	if (packet->covered_size > size)
		packet->covered_size = size;
	return true;
}
