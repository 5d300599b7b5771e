#include "pass.h"

/* Common MAD header, IBA vol. 1, 13.4.2. */

enum { MAD_LEN = 256, MAD_HEADER_LEN = 24 };

void ft_read_mad(struct ft_pass *pass)
{
	struct ft_packet *packet = pass->packet;
	const uint8_t *b = pass->cursor.bytes + packet->payload_offset;

	if ((packet->has & FT_HAS_PAYLOAD) == 0 || packet->payload_length != MAD_LEN ||
	    packet->payload_captured == 0)
		return;
	ft_layer_push(pass, FT_LAYER_MAD, packet->payload_offset, 0);
	if (b[0] != 1)
		ft_break(pass, FT_MAD_BAD_VERSION);
	if (packet->payload_captured < MAD_HEADER_LEN)
		return;
	packet->mad.base_version = b[0];
	packet->mad.mgmt_class = b[1];
	packet->mad.class_version = b[2];
	packet->mad.method = b[3];
	packet->mad.status = ft_be16(b + 4);
	packet->mad.class_specific = ft_be16(b + 6);
	packet->mad.tid = ft_be64(b + 8);
	packet->mad.attr_id = ft_be16(b + 16);
	packet->mad.attr_mod = ft_be32(b + 20);
	packet->has |= FT_HAS_MAD;
}
