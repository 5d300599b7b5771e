#include "observe_other.h"

#include <netinet/in.h>
#include <string.h>

#include <decode/decode.h>
#include <flow/hash.h>

enum {
	REGION_MAX = 64,
	FRAME_MAX = 48, /* behind the MAC addresses: the least frame without its FCS */
	FCS_LEN = 4,
	/* of a longer one: tunnels that are not opened have what tells packets apart deep inside */
	UNREAD_MAX = 192,
	TELLING = 20,  /* bytes of a network packet's body that tell it from others */
	IPV4_WORD = 2, /* length, id, fragment, time to live, protocol */
	IPV4_TTL = 6,  /* in there */
	IPV4_PROTOCOL = 9,
	IPV6_NEXT = 6,
	TCP_FLAGS = 13,
	TCP_RST = 0x04,
	IPV6_WORD = 4, /* length */
	IPV4_LEN = 20,
	IPV6_LEN = 40,
	GRH_LEN = 40,
	LRH_LEN = 8,
	UDP_LEN = 8,
	UDP_CHECKSUM = 6,
	BTH_MARKS = 4, /* FECN, BECN */
};

/* What of the packet is hashed byte by byte, and what its IP header has to add. */
struct region {
	uint32_t at, end; /* offsets in the frame */
	uint64_t header;
	uint8_t protocol; /* 0: no IP header */
	/* so many bytes behind them, as far as there are; of what is no IP packet */
	uint32_t unread;
};

/* By the kind of the last layer: where that begins which neither a mirror nor a hop changes. */
static const uint8_t skipped[FT_LAYER_KINDS] = {
	[FT_LAYER_ETH] = 12,     [FT_LAYER_SLL] = 14,      [FT_LAYER_SLL2] = 20,
	[FT_LAYER_VLAN] = 4,     [FT_LAYER_QINQ] = 4,      [FT_LAYER_QINQ9100] = 4,
	[FT_LAYER_QINQ9200] = 4, [FT_LAYER_GRH] = GRH_LEN, [FT_LAYER_LRH] = LRH_LEN,
};

static const struct ft_layer *last_layer(const struct ft_packet *packet)
{
	return packet->layer_count == 0 ? NULL : &packet->layers[packet->layer_count - 1];
}

/* The IP header of the innermost packet: the last layer, or the one before the last. */
static const struct ft_layer *ip_layer(const struct ft_packet *packet)
{
	const struct ft_layer *layer = last_layer(packet);

	if ((packet->has & (FT_HAS_IPV4 | FT_HAS_IPV6)) == 0)
		return NULL;
	while (layer > packet->layers && layer->kind != FT_LAYER_IPV4 &&
	       layer->kind != FT_LAYER_IPV6)
		layer--;
	return layer->kind == FT_LAYER_IPV4 || layer->kind == FT_LAYER_IPV6 ? layer : NULL;
}

static uint32_t be16_at(const uint8_t *b)
{
	return (uint32_t)b[0] << 8 | b[1];
}

static struct region ipv4_region(const uint8_t *bytes, uint32_t at)
{
	struct region region = {
		.at = at + (bytes[at] & 0x0fu) * 4,
		.end = at + be16_at(bytes + at + IPV4_WORD),
		.protocol = bytes[at + IPV4_PROTOCOL],
	};
	uint8_t masked[sizeof region.header];

	memcpy(masked, bytes + at + IPV4_WORD, sizeof masked);
	masked[IPV4_TTL] = 0;
	memcpy(&region.header, masked, sizeof masked);
	return region;
}

static struct region ipv6_region(const uint8_t *bytes, uint32_t at)
{
	uint32_t length = be16_at(bytes + at + IPV6_WORD);
	uint8_t next = bytes[at + IPV6_NEXT];

	return (struct region){
		.at = at + IPV6_LEN,
		.end = at + IPV6_LEN + length,
		.header = (uint64_t)length << 8 | next,
		.protocol = next,
	};
}

static struct region link_region(const struct ft_packet *packet, const struct ft_frame *frame)
{
	const struct ft_layer *last = last_layer(packet);
	uint32_t at = last == NULL ? 0 : last->offset + (uint32_t)skipped[last->kind];

	if (last != NULL && last->kind == FT_LAYER_LRH)
		return (struct region){ .at = at, .end = last->offset + packet->lrh.pkt_len * 4u };
	if (frame->original > at + FRAME_MAX + FCS_LEN)
		return (struct region){ .at = at, .end = at + FRAME_MAX, .unread = UNREAD_MAX };
	return (struct region){ .at = at, .end = at + FRAME_MAX };
}

static struct region region_of(const struct ft_packet *packet, const struct ft_frame *frame)
{
	const struct ft_layer *ip = ip_layer(packet);
	struct region region;

	if (ip == NULL || ip->offset + (uint32_t)IPV4_LEN > frame->captured)
		region = link_region(packet, frame);
	else if (ip->kind == FT_LAYER_IPV4)
		region = ipv4_region(frame->bytes, ip->offset);
	else
		region = ipv6_region(frame->bytes, ip->offset);
	if (region.end > frame->captured)
		region.end = frame->captured;
	if (region.at > region.end)
		region.at = region.end;
	return region;
}

/* RDMA that broke or was cut: a switch may change the UDP checksum and mark the BTH. */
static void mask_marks(const struct ft_packet *packet, uint8_t region[REGION_MAX])
{
	bool udp = (packet->has & FT_HAS_UDP) != 0;

	if (udp)
		memset(region + UDP_CHECKSUM, 0, 2);
	region[(udp ? UDP_LEN : 0) + BTH_MARKS] = 0;
}

/* A reset answers each segment that comes too late, all of them alike. */
static bool is_reset(const struct region *region, const uint8_t *bytes)
{
	return region->protocol == IPPROTO_TCP && (bytes[TCP_FLAGS] & TCP_RST) != 0;
}

static bool is_telling(const struct ft_packet *packet, const struct ft_frame *frame, uint32_t size)
{
	if (packet->transport == FT_TRANSPORT_IB_LINK || (packet->has & FT_HAS_MACCTRL) != 0 ||
	    packet->truncated != FT_COMPLETE)
		return false;
	return size >= TELLING || frame->captured >= frame->original;
}

/* What is behind the region, where that is not all of what nobody reads. */
static uint64_t unread_digest(const struct ft_frame *frame, const struct region *region)
{
	uint32_t left = frame->captured - region->end;
	uint32_t size = left < region->unread ? left : region->unread;

	return size == 0 ? 0 : ft_hash(frame->bytes + region->end, size, 0);
}

void ft_observe_other(const struct ft_packet *packet, const struct ft_frame *frame,
		      struct ft_observed *observed)
{
	uint8_t padded[REGION_MAX] = { 0 };
	struct region region = region_of(packet, frame);
	uint32_t held = region.end - region.at, size = held < REGION_MAX ? held : REGION_MAX;
	uint64_t vni = (packet->has & FT_HAS_VNI) != 0 ? packet->vni : UINT32_MAX;
	uint64_t digest;
	bool telling = is_telling(packet, frame, size);

	if (size > 0)
		memcpy(padded, frame->bytes + region.at, size);
	if (ft_packet_is_rdma(packet))
		mask_marks(packet, padded);
	digest = ft_hash(padded, sizeof padded, observed->digest ^ region.header) ^
		 unread_digest(frame, &region);
	observed->digest = ft_mix(digest ^ vni, (uint64_t)size + 0x9e3779b97f4a7c15u);
	observed->alike = telling && !is_reset(&region, padded) ? FT_ALIKE_FOREIGN : FT_ALIKE_PLAIN;
}
