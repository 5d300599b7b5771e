#include "connection_setup.h"

#include <string.h>

enum {
	MAD_HEADER = 24,
	CLASS_CM = 0x07,
	METHOD_SEND = 0x03,
	ATTRIBUTE_REQ = 0x0010,
	ATTRIBUTE_REP = 0x0013,
	QPN = 3, /* bytes */
};

/* Where the fields stand, from the end of the MAD header. */
static const struct layout {
	uint16_t attribute;
	uint8_t kind;
	uint8_t local_id, remote_id, qpn; /* qpn: the last of them */
} layouts[] = {
	{ ATTRIBUTE_REQ, FT_SETUP_REQUEST, .local_id = 0, .remote_id = 0, .qpn = 32 },
	{ ATTRIBUTE_REP, FT_SETUP_REPLY, .local_id = 0, .remote_id = 4, .qpn = 12 },
};

enum {
	REQ_LOCAL_LID = 52,
	REQ_REMOTE_LID = 54,
	REQ_LOCAL_GID = 56,
	REQ_REMOTE_GID = 72,
	REQ_PATH_END = 88
};

static uint32_t be16(const uint8_t *b)
{
	return (uint32_t)b[0] << 8 | b[1];
}

static uint32_t be24(const uint8_t *b)
{
	return (uint32_t)b[0] << 16 | be16(b + 1);
}

static uint32_t be32(const uint8_t *b)
{
	return be16(b) << 16 | be16(b + 2);
}

static const struct layout *layout_of(const struct ft_packet *packet)
{
	const uint32_t needed = FT_HAS_MAD | FT_HAS_PAYLOAD;

	if ((packet->has & needed) != needed || packet->mad.mgmt_class != CLASS_CM ||
	    packet->mad.method != METHOD_SEND)
		return NULL;
	for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
		if (packet->mad.attr_id == layouts[i].attribute)
			return &layouts[i];
	return NULL;
}

static bool is_captured(const struct ft_packet *packet, unsigned end)
{
	return packet->payload_captured >= MAD_HEADER + end;
}

/* The connection's primary path, against the addresses that carried the message. */
static bool leads_elsewhere(const struct ft_packet *packet, const uint8_t *req)
{
	const uint32_t network = FT_HAS_IPV4 | FT_HAS_IPV6 | FT_HAS_GRH;

	if (!is_captured(packet, REQ_PATH_END))
		return false;
	if ((packet->has & network) != 0)
		return memcmp(req + REQ_LOCAL_GID, packet->src, sizeof packet->src) != 0 ||
		       memcmp(req + REQ_REMOTE_GID, packet->dst, sizeof packet->dst) != 0;
	return be16(req + REQ_LOCAL_LID) != packet->lrh.slid ||
	       be16(req + REQ_REMOTE_LID) != packet->lrh.dlid;
}

struct ft_connection_setup ft_connection_setup_read(const struct ft_packet *packet,
						    const uint8_t *frame)
{
	const struct layout *layout = layout_of(packet);
	const uint8_t *message;

	if (layout == NULL || !is_captured(packet, layout->qpn + QPN))
		return (struct ft_connection_setup){ .kind = FT_SETUP_NONE };
	message = frame + packet->payload_offset + MAD_HEADER;
	return (struct ft_connection_setup){
		.kind = layout->kind,
		.elsewhere = layout->kind == FT_SETUP_REQUEST && leads_elsewhere(packet, message),
		.local_id = be32(message + layout->local_id),
		.remote_id = be32(message + layout->remote_id),
		.qpn = be24(message + layout->qpn),
	};
}
