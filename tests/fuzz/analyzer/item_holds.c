/*
 * The usual packet's short way says the same about it as the way of any packet, bit for bit, and so does what NCCL's
 * follower sees of it; for frames as they come, and for RoCEv2, also in tunnels, and InfiniBand frames around the same bytes.
 */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "../decode/frame_input.h"
#include "../decode/wrapping.h"
#include "../holds.h"
#include "glance.h"
#include "item_fill.h"
#include "item_seen.h"

enum {
	ETHERNET = 14,
	TAG = 4,
	IPV4 = 20,
	IPV6 = 40,
	UDP = 8,
	HEADERS_MAX = ETHERNET + TAG + IPV6 + UDP,
	ROCE_PORT = 4791,
	LRH = 8,
	LNH_BTH = 2,
	PKT_LEN_MOST = 0x7ff, /* words, LRH to ICRC */
	BTH = 12,
	ICRC = 4,
	VCRC = 2,
	FILL = 0xa5,
	SEED = 99,
	WRAPPINGS = 4,
};

static void put16(uint8_t *b, uint32_t value)
{
	b[0] = (uint8_t)(value >> 8);
	b[1] = (uint8_t)value;
}

/* What NCCL's follower asks of `has`. */
#define ASKED                                                                                      \
	(FT_HAS_RETH | FT_HAS_AETH | FT_HAS_IMMDT | FT_HAS_ATOMICETH | FT_HAS_DETH | FT_HAS_UDP |  \
	 FT_HAS_MAD | FT_HAS_PAYLOAD_LENGTH)

/* What the item says that its packet writes is the packet's payload. */
static void are_written_the_same(const struct ft_item *shortly, const struct ft_nccl_seen *seen,
				 const struct ft_decode_config *config)
{
	struct ft_nccl_write write;

	assert(ft_item_write(shortly, config, &write));
	assert(write.length == seen->payload_length && write.captured == seen->captured);
	assert(write.captured == 0 || write.bytes == seen->payload);
}

/* What the follower sees is what it would see of the packet. */
static void are_seen_the_same(const struct ft_item *shortly, const struct ft_packet *packet,
			      const struct ft_decode_config *config)
{
	static struct ft_packet again;
	struct ft_nccl_seen one, other;

	if (!ft_nccl_seen_of(packet, shortly->frame, &other)) {
		assert(!ft_item_seen(shortly, config, &again, &one));
		assert(!ft_item_write(shortly, config, &(struct ft_nccl_write){ 0 }));
		return;
	}
	are_written_the_same(shortly, &other, config);
	assert(ft_item_seen(shortly, config, &again, &one));
	assert(one.captured == other.captured);
	assert(one.captured == 0 || one.payload == other.payload);
	assert((one.has & ASKED) == (other.has & ASKED));
	assert(memcmp(&one.ends, &other.ends, sizeof one.ends) == 0);
	assert(one.frame == other.frame && one.ts_ns == other.ts_ns);
	assert(one.dest_qp == other.dest_qp && one.psn == other.psn);
	assert(one.opcode == other.opcode && one.pkey == other.pkey);
	assert(one.ack_request == other.ack_request);
	assert(one.syndrome == other.syndrome && one.msn == other.msn);
	assert(one.traffic_class == other.traffic_class && one.udp_sport == other.udp_sport);
	assert(one.immdt == other.immdt && one.va == other.va);
	assert(one.rkey == other.rkey && one.length == other.length);
	assert(one.qkey == other.qkey && one.src_qp == other.src_qp);
	assert(one.payload_length == other.payload_length);
}

/* The short way leaves the check key and the DestQP to who asks for them, unless the ICRC is wrong, and says where it is. */
static void are_the_same(struct ft_item *shortly, const struct ft_item *fully)
{
	struct ft_check_key key;

	assert(shortly->usual == (fully->kind != FT_FRAME_BAD_ICRC) && !fully->usual);
	assert(ft_item_wire(shortly) == ft_item_wire(fully));
	if (shortly->usual) {
		ft_item_key(shortly, &key);
		shortly->key = key;
		shortly->dest_qp = ft_item_dest_qp(shortly);
		shortly->sampled_of = ft_item_unsampled(shortly);
		shortly->unopened = FT_UNOPENED_NONE;
		assert(shortly->frame->bytes[shortly->bth_at] == shortly->observed.opcode);
		shortly->bth_at = 0;
		shortly->usual = false;
	}
	assert(memcmp(shortly, fully, sizeof *fully) == 0);
}

/* With what a glance says beforehand it is the same item, or none either. */
static void is_the_same_at_a_glance(const struct ft_decode_config *config,
				    const struct ft_frame *frame, const struct ft_item *shortly,
				    unsigned taken)
{
	struct ft_parcel parcels[1 + FT_PARCELS_AHEAD] = { 0 };
	static struct ft_item item;
	struct ft_glance glance;
	bool mirrored = false;

	if (!ft_glance_at(config, frame, &glance))
		return;
	parcels[0].pair = glance.pair;
	parcels[0].ip_at = (uint8_t)glance.ip_at;
	memset(&item, FILL, sizeof item);
	assert(ft_items_fill_parcels(&item, frame, parcels, 1, config, SEED, &mirrored) == taken);
	assert(taken == 0 || memcmp(&item, shortly, sizeof item) == 0);
}

/* What the short way made of a frame: nothing; an item; one whose ICRC is wrong. */
enum way { OTHER, USUAL, DAMAGED };

static enum way both_ways_agree(const struct ft_decode_config *config,
				const struct ft_decode_input *input)
{
	static struct ft_item shortly, fully;
	static struct ft_packet packet;
	struct ft_decode_rest rest;
	struct ft_frame frame = {
		.bytes = input->bytes,
		.captured = input->captured,
		.original = input->wire,
		.wire = input->wire + 4,
		.link_type = input->link_type,
		.fcs_bytes = input->fcs_bytes,
		.ts_ns = input->ts_ns,
		.number = 5,
	};

	bool mirrored = false;
	unsigned taken;

	memset(&shortly, FILL, sizeof shortly);
	memset(&fully, FILL, sizeof fully);
	memset(&packet, FILL, sizeof packet);
	taken = ft_items_fill_usual(&shortly, &frame, 1, config, SEED, &mirrored);
	is_the_same_at_a_glance(config, &frame, &shortly, taken);
	if (taken == 0)
		return OTHER;
	assert(mirrored == ((shortly.observed.has & FT_OBSERVED_MIRROR) != 0));
	assert(!ft_decode(config, input, &packet, &rest));
	ft_item_fill(&fully, &frame, &packet, 0, SEED);
	if (shortly.usual)
		are_seen_the_same(&shortly, &packet, config);
	are_the_same(&shortly, &fully);
	return fully.kind == FT_FRAME_BAD_ICRC ? DAMAGED : USUAL;
}

static uint8_t *put_ipv4(uint8_t *b, uint32_t size, const uint8_t *bytes)
{
	b[0] = 0x45;
	b[1] = bytes[0];
	put16(b + 2, IPV4 + size);
	memcpy(b + 4, bytes + 1, 2);
	b[8] = bytes[3];
	b[9] = 17;
	memcpy(b + 12, bytes + 4, 8);
	return b + IPV4;
}

static uint8_t *put_ipv6(uint8_t *b, uint32_t size, const uint8_t *bytes)
{
	b[0] = 0x60;
	b[1] = bytes[0];
	put16(b + 4, size);
	b[6] = 17;
	b[7] = bytes[1];
	memcpy(b + 8, bytes + 2, 32);
	return b + IPV6;
}

/* A BTH that nothing is wrong with, of an operation whose headers and ICRC IPV6 bytes hold. */
static void make_usual(uint8_t *bth, unsigned pick)
{
	static const uint8_t opcodes[] = { 0x04, 0x06, 0x0a, 0x0b, 0x0d, 0x11,
					   0x12, 0x17, 0x24, 0x2a, 0xad, 0xb1 };

	bth[0] = opcodes[pick % sizeof opcodes];
	bth[1] &= 0xc0;
	bth[7] |= 2;
}

/*
 * A frame in tunnels, which may be anything but right. `usual`: the frame is of the usual form and whole. Where a port of an
 * overlay is said to be RoCE's, that is what it is.
 */
static void in_tunnels(const struct ft_decode_config *config, const struct ft_decode_input *inner,
		       bool usual, struct dice *dice)
{
	const unsigned depth = 1 + dice_roll(dice, dice_roll(dice, WRAPPING_DEEPEST) + 1);
	const bool taken_over = dice_roll(dice, 16) == 0;
	struct wrapping wrapping = wrap(inner, depth, dice);
	struct ft_decode_config ports = *config;
	enum way way;

	if (taken_over)
		ports.roce_ports[ports.roce_port_count++] = 4789;
	way = both_ways_agree(&ports, &wrapping.input);
	assert(way != OTHER || !usual || !wrapping.plain || taken_over || depth > FT_TUNNELS_MAX);
	assert(way == OTHER || depth <= FT_TUNNELS_MAX || taken_over || !wrapping.plain);
	free(wrapping.bytes);
}

/* Ethernet, perhaps a VLAN tag, IPv4 or IPv6, and UDP before the bytes of a frame: its BTH and what follows. */
static void in_roce(const struct frame_input *frame, unsigned choice, unsigned more,
		    struct dice *dice)
{
	const uint8_t *bytes = frame->bytes;
	uint32_t size = frame->input.captured, udp = UDP + size + more % 8;
	uint8_t *wrapped = calloc(1, HEADERS_MAX + size), *at = wrapped + 12;
	struct ft_decode_input input = frame->input;
	struct ft_decode_config config = frame->config;
	enum way way;

	assert(wrapped != NULL);
	memcpy(wrapped, bytes, 12);
	if ((choice & 1) != 0) {
		put16(at, 0x8100);
		memcpy(at + 2, bytes + 2, 2);
		at += TAG;
	}
	put16(at, (choice & 2) != 0 ? 0x86dd : 0x0800);
	at = (choice & 2) != 0 ? put_ipv6(at + 2, udp, bytes) : put_ipv4(at + 2, udp, bytes);
	memcpy(at, bytes + 4, 2);
	put16(at + 2, ROCE_PORT);
	put16(at + 4, udp);
	memcpy(at + UDP, bytes, size);
	if ((choice & 4) == 0) /* a service of connections */
		at[UDP] &= (choice & 8) != 0 ? 0xbf : 0x1f;
	input.bytes = wrapped;
	input.captured = (uint32_t)(at + UDP - wrapped) + size;
	input.wire = input.captured + more % 8;
	input.fcs_bytes = 0;
	input.link_type = FT_LINK_ETHERNET;
	config.check_icrc = (choice & 16) != 0;
	if ((choice & 32) != 0)
		make_usual(at + UDP, more / 8);
	way = both_ways_agree(&config, &input);
	assert(way != OTHER || (choice & 32) == 0);
	assert(way != DAMAGED || config.check_icrc);
	for (int i = 0; i < WRAPPINGS; i++)
		in_tunnels(&config, &input, (choice & 32) != 0 && more % 8 == 0, dice);
	free(wrapped);
}

/* Behind an LRH and what follows it: of all but the fields that change on the way, which are ones (IBA vol. 1, 7.8.1). */
static void put_icrc(uint8_t *lrh, uint32_t size)
{
	uint8_t head[LRH + BTH];
	uint32_t left = LRH + size - ICRC - (uint32_t)sizeof head;
	unsigned long crc;

	memcpy(head, lrh, sizeof head);
	head[0] |= 0xf0;       /* VL */
	head[LRH + 4] |= 0xff; /* FECN, BECN and what is reserved beside them */
	crc = crc32(crc32(0, head, sizeof head), lrh + sizeof head, left);
	for (int i = 0; i < ICRC; i++)
		lrh[LRH + size - ICRC + (uint32_t)i] = (uint8_t)(crc >> 8 * i);
}

/* An LRH, as it is or made right, before whole words of the bytes, with a VCRC or without; cut perhaps. */
static void in_infiniband(const struct frame_input *frame, unsigned choice, unsigned more)
{
	const uint8_t *bytes = frame->bytes;
	const uint32_t most = PKT_LEN_MOST * 4 - LRH;
	uint32_t size = frame->input.captured < most ? frame->input.captured & ~3u : most;
	uint32_t wire = LRH + size, cut = 0;
	uint8_t *wrapped = calloc(1, LRH + size + VCRC);
	struct ft_decode_input input = frame->input;
	struct ft_decode_config config = frame->config;
	bool usual = (choice & 32) != 0 && (choice & (2 | 4 | 8)) == 0;
	bool good = (choice & (64 | 128)) == 64, bad = (choice & (64 | 128)) == (64 | 128);
	enum way way;

	assert(wrapped != NULL);
	memcpy(wrapped, bytes, LRH);
	if ((choice & 2) == 0) {
		wrapped[0] &= 0xf0;
		wrapped[1] = (uint8_t)((bytes[1] & 0xf0) | LNH_BTH);
		put16(wrapped + 4, (LRH + size) / 4);
	}
	memcpy(wrapped + LRH, bytes, size);
	memcpy(wrapped + LRH + size, bytes, VCRC);
	wire += (choice & 1) != 0 ? VCRC : 0;
	if ((choice & 4) != 0)
		cut = more % (size + VCRC);
	input.bytes = wrapped;
	input.captured = wire - cut;
	input.wire = wire + ((choice & 8) != 0 ? more % 3 : 0);
	input.fcs_bytes = 0;
	input.link_type = FT_LINK_INFINIBAND;
	config.check_icrc = (choice & 16) != 0;
	if ((choice & 32) != 0)
		make_usual(wrapped + LRH, more / 8);
	if (good || bad)
		put_icrc(wrapped, size);
	if (bad)
		wrapped[LRH + size - 1 - more % ICRC] ^= (uint8_t)(1u << more / ICRC % 8);
	way = both_ways_agree(&config, &input);
	assert(way != OTHER || !usual);
	assert(way != DAMAGED || config.check_icrc);
	assert(!usual || !config.check_icrc || !good || way == USUAL);
	assert(!usual || !config.check_icrc || !bad || way == DAMAGED);
	free(wrapped);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct dice dice = dice_of(bytes, size);
	struct frame_input frame;

	if (!frame_input_read(bytes, size, &frame))
		return;
	both_ways_agree(&frame.config, &frame.input);
	if (frame.input.captured >= IPV6) {
		in_roce(&frame, bytes[size - 1], bytes[size - 2], &dice);
		in_infiniband(&frame, bytes[size - 1], bytes[size - 2]);
	}
	free(frame.bytes);
}
