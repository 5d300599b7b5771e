#include <control/connection_setup.h>

#include <string.h>

#include <decode/big_endian.h>

enum {
	MAD_HEADER = 24,
	MAD_CLASS = 1, /* where they stand in it */
	MAD_METHOD = 3,
	MAD_ATTRIBUTE = 16,
	CLASS_CM = 0x07,
	METHOD_SEND = 0x03,
	ATTRIBUTE_REQ = 0x0010,
	ATTRIBUTE_REP = 0x0013,
	QPN = 3, /* bytes */
	GID = 16,
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
	REQ_SERVICE_ID = 8,
	REQ_LOCAL_LID = 52,
	REQ_REMOTE_LID = 54,
	REQ_LOCAL_GID = 56,
	REQ_REMOTE_GID = 72,
	REQ_PATH_END = 88
};

static void put_lid(uint8_t address[GID], uint16_t lid)
{
	address[GID - 2] = (uint8_t)(lid >> 8);
	address[GID - 1] = (uint8_t)lid;
}

/* The message of a MAD, or NULL. */
static const struct layout *layout_of(uint8_t class, uint8_t method, uint16_t attribute)
{
	if (class != CLASS_CM || method != METHOD_SEND)
		return NULL;
	for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
		if (attribute == layouts[i].attribute)
			return &layouts[i];
	return NULL;
}

/* The connection's primary path, against the addresses that carried the message. */
static bool leads_elsewhere(const uint8_t *req, uint32_t captured,
			    const struct ft_setup_carrier *carrier)
{
	if (captured < REQ_PATH_END)
		return false;
	if (carrier->by_lid)
		return memcmp(req + REQ_LOCAL_LID, carrier->src + GID - 2, 2) != 0 ||
		       memcmp(req + REQ_REMOTE_LID, carrier->dst + GID - 2, 2) != 0;
	return memcmp(req + REQ_LOCAL_GID, carrier->src, GID) != 0 ||
	       memcmp(req + REQ_REMOTE_GID, carrier->dst, GID) != 0;
}

static struct ft_connection_setup read_message(const struct layout *layout, const uint8_t *mad,
					       uint32_t captured,
					       const struct ft_setup_carrier *carrier)
{
	const uint8_t *message;
	bool request;

	if (layout == NULL || captured < MAD_HEADER + (uint32_t)layout->qpn + QPN)
		return (struct ft_connection_setup){ .kind = FT_SETUP_NONE };
	message = mad + MAD_HEADER;
	request = layout->kind == FT_SETUP_REQUEST;
	return (struct ft_connection_setup){
		.kind = layout->kind,
		.elsewhere = request && leads_elsewhere(message, captured - MAD_HEADER, carrier),
		.local_id = ft_be32(message + layout->local_id),
		.remote_id = ft_be32(message + layout->remote_id),
		.qpn = ft_be24(message + layout->qpn),
		.service_id = request ? ft_be64(message + REQ_SERVICE_ID) : 0,
	};
}

struct ft_connection_setup ft_connection_setup_of(const uint8_t *mad, uint32_t captured,
						  const struct ft_setup_carrier *carrier)
{
	const struct layout *layout = NULL;

	if (captured >= MAD_HEADER)
		layout = layout_of(mad[MAD_CLASS], mad[MAD_METHOD], ft_be16(mad + MAD_ATTRIBUTE));
	return read_message(layout, mad, captured, carrier);
}

struct ft_connection_setup ft_connection_setup_read(const struct ft_packet *packet,
						    const uint8_t *frame)
{
	const uint32_t needed = FT_HAS_MAD | FT_HAS_PAYLOAD;
	const uint32_t network = FT_HAS_IPV4 | FT_HAS_IPV6 | FT_HAS_GRH;
	struct ft_setup_carrier carrier = { packet->src, packet->dst, false };
	uint8_t lids[2][GID] = { { 0 } };

	if ((packet->has & needed) != needed)
		return (struct ft_connection_setup){ .kind = FT_SETUP_NONE };
	if ((packet->has & network) == 0) {
		put_lid(lids[0], packet->lrh.slid);
		put_lid(lids[1], packet->lrh.dlid);
		carrier = (struct ft_setup_carrier){ lids[0], lids[1], true };
	}
	return read_message(
		layout_of(packet->mad.mgmt_class, packet->mad.method, packet->mad.attr_id),
		frame + packet->payload_offset, packet->payload_captured, &carrier);
}
