#include "connection_setup.h"

enum {
	MAD_HEADER = 24,
	CLASS_CM = 0x07,
	REQ = 0x0010,
	REP = 0x0013,
	REQ_LOCAL_QPN = 32, /* from the end of the MAD header */
	REP_LOCAL_QPN = 12,
};

uint32_t ft_connection_setup_qpn(const struct ft_packet *packet, const uint8_t *frame)
{
	const uint32_t needed = FT_HAS_MAD | FT_HAS_PAYLOAD;
	uint32_t at;
	const uint8_t *qpn;

	if ((packet->has & needed) != needed || packet->mad.mgmt_class != CLASS_CM)
		return 0;
	if (packet->mad.attr_id == REQ)
		at = MAD_HEADER + REQ_LOCAL_QPN;
	else if (packet->mad.attr_id == REP)
		at = MAD_HEADER + REP_LOCAL_QPN;
	else
		return 0;
	if (packet->payload_captured < at + 3)
		return 0;
	qpn = frame + packet->payload_offset + at;
	return (uint32_t)qpn[0] << 16 | (uint32_t)qpn[1] << 8 | qpn[2];
}
