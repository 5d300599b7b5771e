#include <nccl/seen.h>

#include <string.h>

#include <decode/big_endian.h>
#include <decode/extremes.h>
#include <decode/tcp.h>

enum { IPV4_LEN = 20, IPV6_LEN = 40, EXTENSIONS_MAX = 8 };

/* What is in an IP packet: both bounds count from the frame's first byte. */
struct inside {
	uint32_t at, end;
};

/* What follows the decoder has judged: version, lengths, that it is no fragment. */
static bool enter_ipv4(const uint8_t *b, uint32_t at, struct inside *inside)
{
	*inside = (struct inside){ at + (b[0] & 0x0fu) * 4, at + ft_be16(b + 2) };
	return b[9] == FT_TCP_PROTOCOL;
}

static bool enter_ipv6(const uint8_t *b, uint32_t captured, uint32_t at, struct inside *inside)
{
	uint8_t next = b[6];

	*inside = (struct inside){ at + IPV6_LEN, at + IPV6_LEN + ft_be16(b + 4) };
	for (int i = 0; i < EXTENSIONS_MAX && (next == 0 || next == 43 || next == 60); i++) {
		const uint8_t *extension = b + (inside->at - at);

		if (inside->at + 8 > captured)
			return false;
		next = extension[0];
		inside->at += 8 + extension[1] * 8u;
	}
	return next == FT_TCP_PROTOCOL;
}

/* Where the outermost IP packet ends: what a switch cut off a copy is not to be taken from what lies behind. */
static uint32_t outermost_end(const struct ft_packet *packet, const struct ft_frame *frame)
{
	for (unsigned i = 0; i < packet->layer_count; i++) {
		uint32_t at = packet->layers[i].offset;
		const uint8_t *b = frame->bytes + at;

		if (packet->layers[i].kind == FT_LAYER_IPV4)
			return at + ft_be16(b + 2);
		if (packet->layers[i].kind == FT_LAYER_IPV6)
			return at + IPV6_LEN + ft_be16(b + 4);
	}
	return frame->captured;
}

/* Samples of sFlow are of no use: no stream is whole in them. Offsets of layers have 16 bits. */
static bool is_followed(const struct ft_packet *packet, const struct ft_frame *frame)
{
	return packet->layer_count > 0 && packet->malformed == 0 && frame->captured <= UINT16_MAX &&
	       (packet->tunnel_count == 0 ||
		packet->tunnels[packet->tunnel_count - 1].kind != FT_TUNNEL_SFLOW5);
}

static bool enter(const struct ft_packet *packet, const struct ft_frame *frame,
		  struct inside *inside)
{
	const struct ft_layer *last = &packet->layers[packet->layer_count - 1];
	const uint8_t *b = frame->bytes + last->offset;

	if (last->kind == FT_LAYER_IPV4)
		return enter_ipv4(b, last->offset, inside);
	return last->kind == FT_LAYER_IPV6 && enter_ipv6(b, frame->captured, last->offset, inside);
}

bool ft_nccl_segment_of(const struct ft_packet *packet, const struct ft_frame *frame,
			struct ft_nccl_segment *segment)
{
	struct inside inside;
	uint32_t captured, payload;
	struct ft_tcp tcp;

	if ((packet->has & (FT_HAS_IPV4 | FT_HAS_IPV6)) == 0 ||
	    (packet->has & (FT_HAS_UDP | FT_HAS_GRH | FT_HAS_BTH)) != 0 ||
	    !is_followed(packet, frame) || !enter(packet, frame, &inside))
		return false;
	captured =
		ft_smaller(ft_smaller(frame->captured, inside.end), outermost_end(packet, frame));
	if (inside.at > captured ||
	    !ft_tcp_read(frame->bytes + inside.at, captured - inside.at, &tcp) ||
	    inside.at + tcp.header_bytes > inside.end)
		return false;
	payload = ft_smaller(inside.at + tcp.header_bytes, captured); /* options may be cut off */
	*segment = (struct ft_nccl_segment){
		.frame = frame->number,
		.ts_ns = frame->ts_ns,
		.vni = (packet->has & FT_HAS_VNI) != 0 ? packet->vni : UINT32_MAX,
		.vlan = packet->vlan,
		.sport = tcp.sport,
		.dport = tcp.dport,
		.sequence = tcp.sequence,
		.acknowledgment = tcp.acknowledgment,
		.syn = tcp.syn,
		.fin = tcp.fin,
		.rst = tcp.rst,
		.ack = tcp.ack,
		.payload = frame->bytes + payload,
		.captured = captured - payload,
		.length = inside.end - inside.at - tcp.header_bytes,
	};
	memcpy(segment->src, packet->src, sizeof segment->src);
	memcpy(segment->dst, packet->dst, sizeof segment->dst);
	return true;
}
