#include <engine/frame_key.h>

#include <assert.h>
#include <netinet/in.h>
#include <string.h>

#include <decode/decode.h>
#include <decode/opcode.h>

#define VL_SMP          15
#define IPV4_PROTOCOL   9 /* offset in the header */
#define BTH_PKEY_END    4 /* bytes of the BTH that hold opcode and P_Key */
#define BTH_DEST_QP_END 8
#define BTH_LENGTH      12
#define QKEY_LENGTH     4

struct reading {
	const struct ft_packet *packet;
	const uint8_t *bytes;
	uint32_t captured;
};

static bool is_native(const struct ft_packet *packet)
{
	return packet->transport == FT_TRANSPORT_IB;
}

static_assert(FT_CUT_SFLOW5 - FT_CUT_GRE == 7, "all tunnels, and nothing else");

/* Cut within the header of a tunnel, or within that in front of it: the addresses there are those of its ends. */
static bool is_cut_in_tunnel(const struct ft_packet *packet)
{
	if (packet->truncated == FT_CUT_UDP)
		return packet->port_use == FT_PORT_TUNNEL;
	return packet->truncated >= FT_CUT_GRE && packet->truncated <= FT_CUT_SFLOW5;
}

static void read_addresses(const struct ft_packet *packet, struct ft_check_key *key)
{
	bool has_network = (packet->has & (FT_HAS_IPV4 | FT_HAS_IPV6 | FT_HAS_GRH)) != 0;

	if (is_cut_in_tunnel(packet))
		return;
	key->native = is_native(packet);
	key->has_gids = has_network;
	if (has_network) {
		memcpy(key->src, packet->src, sizeof key->src);
		memcpy(key->dst, packet->dst, sizeof key->dst);
	}
	if (key->native) {
		key->slid = packet->lrh.slid;
		key->dlid = packet->lrh.dlid;
		key->known |= FT_NEED_ADDRESSES | FT_NEED_TAGS;
		return;
	}
	if (has_network)
		key->known |= FT_NEED_ADDRESSES | FT_NEED_TAGS;
	key->vlan = packet->vlan;
	key->has_vni = (packet->has & FT_HAS_VNI) != 0;
	if (key->has_vni)
		key->vni = packet->vni;
	key->has_macs = (packet->has & FT_HAS_ETH) != 0;
	if (key->has_macs) {
		memcpy(key->smac, packet->smac, sizeof key->smac);
		memcpy(key->dmac, packet->dmac, sizeof key->dmac);
	}
}

/* The Q_Key of a UD packet whose DETH was cut, or NULL if that was cut too. */
static const uint8_t *cut_qkey(const struct reading *reading)
{
	const struct ft_packet *packet = reading->packet;
	const struct ft_layer *last;
	uint32_t at;

	if (packet->layer_count == 0)
		return NULL;
	last = &packet->layers[packet->layer_count - 1];
	at = (uint32_t)last->offset + BTH_LENGTH;
	if (last->kind != FT_LAYER_BTH || at + QKEY_LENGTH > reading->captured)
		return NULL;
	return reading->bytes + at;
}

/* The Q_Key begins the DETH of UD, so it may be there when the rest was cut off. */
static void read_qkey(const struct reading *reading, struct ft_check_key *key)
{
	const struct ft_packet *packet = reading->packet;
	bool needed = key->service == FT_UD && (key->pkey & 0x7fff) == FT_PKEY_DEFAULT;
	const uint8_t *deth = NULL;

	if ((packet->has & FT_HAS_DETH) == 0 && needed)
		deth = cut_qkey(reading);
	if ((packet->has & FT_HAS_DETH) == 0 && key->service == FT_UD && deth == NULL)
		return;
	key->known |= FT_NEED_QKEY;
	if (!needed)
		return;
	key->qkey = deth == NULL ? packet->deth.qkey
				 : (uint32_t)deth[0] << 24 | (uint32_t)deth[1] << 16 |
					   (uint32_t)deth[2] << 8 | deth[3];
}

/* The class is the second byte of a MAD; a packet that ends before it has none. */
static void read_class(const struct reading *reading, struct ft_check_key *key)
{
	const struct ft_packet *packet = reading->packet;

	if (key->qp_kind != 1) {
		key->known |= FT_NEED_CLASS;
	} else if ((packet->has & FT_HAS_MAD) != 0) {
		key->known |= FT_NEED_CLASS;
		key->mgmt_class = packet->mad.mgmt_class;
	} else if ((packet->has & FT_HAS_PAYLOAD) != 0 && packet->payload_captured >= 2 &&
		   packet->payload_offset + 1 < reading->captured) {
		key->known |= FT_NEED_CLASS;
		key->mgmt_class = reading->bytes[packet->payload_offset + 1];
	} else if (packet->truncated == FT_COMPLETE) {
		key->known |= FT_NEED_CLASS;
	}
}

static void read_bth(const struct reading *reading, struct ft_check_key *key)
{
	const struct ft_packet *packet = reading->packet;
	uint8_t service = packet->opcode >> 5;

	key->known |= FT_NEED_PKEY | FT_NEED_DEST_QP;
	key->pkey = packet->pkey;
	key->service = service;
	key->qp_kind = packet->dest_qp < 2 ? (uint8_t)packet->dest_qp : 2;
	if (service != FT_UD && packet->dest_qp != 1) { /* nearly all: neither is asked about */
		key->known |= FT_NEED_QKEY | FT_NEED_CLASS;
		return;
	}
	read_qkey(reading, key);
	read_class(reading, key);
}

/* A BTH that was cut may still show opcode, P_Key and DestQP. A DestQP that is not there is taken for data. */
static void read_cut_bth(const struct ft_packet *packet, struct ft_check_key *key)
{
	key->service = packet->bth_captured > 0 ? packet->opcode >> 5 : FT_CHECK_NO_SERVICE;
	if (packet->bth_captured < BTH_PKEY_END)
		return;
	key->known |= FT_NEED_PKEY;
	key->pkey = packet->pkey;
	if (packet->bth_captured < BTH_DEST_QP_END)
		return;
	key->known |= FT_NEED_DEST_QP;
	key->qp_kind = packet->dest_qp < 2 ? (uint8_t)packet->dest_qp : 2;
	if (key->service != FT_UD)
		key->known |= FT_NEED_QKEY;
	if (key->qp_kind != 1)
		key->known |= FT_NEED_CLASS;
}

/* Part of an IPv4 datagram that carries neither UDP nor GRE, so nothing of RDMA. */
static bool is_foreign_fragment(const struct reading *reading)
{
	const struct ft_packet *packet = reading->packet;
	const struct ft_layer *last;
	uint32_t at;

	if (packet->malformed != FT_IP_FRAGMENT || packet->layer_count == 0)
		return false;
	last = &packet->layers[packet->layer_count - 1];
	at = (uint32_t)last->offset + IPV4_PROTOCOL;
	if (last->kind != FT_LAYER_IPV4 || at >= reading->captured)
		return false;
	return reading->bytes[at] != IPPROTO_UDP && reading->bytes[at] != IPPROTO_GRE;
}

/* No BTH: what was it going to be? */
static enum ft_frame_kind without_bth(const struct reading *reading, struct ft_check_key *key)
{
	const struct ft_packet *packet = reading->packet;
	bool rdma = ft_packet_is_rdma(packet);
	bool open = packet->transport == FT_TRANSPORT_NONE && (packet->has & FT_HAS_MACCTRL) == 0;

	if (!rdma && !open)
		return FT_FRAME_NOT_RDMA;
	if (packet->malformed == FT_ETH_SHORT || is_foreign_fragment(reading))
		return FT_FRAME_NOT_RDMA;
	if (packet->malformed != FT_OK) /* what a broken header hides is not known */
		return FT_FRAME_BROKEN;
	if (packet->truncated == FT_CUT_BTH && rdma)
		read_cut_bth(packet, key);
	if (is_native(packet) && packet->lrh.vl == VL_SMP && (key->known & FT_NEED_DEST_QP) == 0)
		key->qp_kind = 0;
	if (key->qp_kind == 0)
		return FT_FRAME_NEVER_JUDGED;
	if (packet->truncated == FT_CUT_BTH && rdma)
		return FT_FRAME_JUDGED;
	if (packet->truncated == FT_COMPLETE && packet->layer_count == 0)
		return FT_FRAME_UNREAD;
	if (packet->truncated == FT_CUT_UDP && packet->port_use == FT_PORT_OTHER)
		return FT_FRAME_NOT_RDMA;
	if (packet->truncated == FT_COMPLETE || packet->truncated > FT_CUT_BTH ||
	    packet->truncated == FT_CUT_LINK || packet->truncated == FT_CUT_MACCTRL)
		return FT_FRAME_NOT_RDMA;
	return FT_FRAME_CUT;
}

enum ft_frame_kind ft_frame_key(const struct ft_packet *packet, const uint8_t *bytes,
				uint32_t captured, struct ft_check_key *key)
{
	struct reading reading = { packet, bytes, captured };

	memset(key, 0, sizeof *key);
	key->qp_kind = 2;
	read_addresses(packet, key);
	if ((packet->has & FT_HAS_BTH) == 0)
		return without_bth(&reading, key);
	read_bth(&reading, key);
	if (packet->icrc_check == FT_CHECK_BAD)
		return FT_FRAME_BAD_ICRC;
	return packet->dest_qp == 0 ? FT_FRAME_NEVER_JUDGED : FT_FRAME_JUDGED;
}
