/*
 * Whatever the bytes: only captured ones are touched (the sanitizer sees to that), every member that
 * `has` announces is in its range, the walk ends, and nothing depends on what the packet held before.
 */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <decode/opcode.h>

#include "../holds.h"
#include "frame_input.h"

enum { PACKETS_MAX = 64 * 64 + 1 };

static bool has(const struct ft_packet *packet, uint32_t bit)
{
	return (packet->has & bit) != 0;
}

static void stack_holds(const struct ft_packet *packet, uint32_t captured)
{
	char text[32];

	assert(packet->layer_count <= FT_LAYERS_MAX);
	assert(packet->tunnel_count <= FT_TUNNELS_MAX);
	assert(packet->vlan_count <= FT_VLANS_MAX);
	assert(has(packet, FT_HAS_MIRROR) == (packet->tunnel_count > 0));
	for (unsigned i = 0; i < packet->tunnel_count; i++)
		assert(ft_tunnel_name(packet->tunnels[i].kind) != NULL);
	for (unsigned i = 0; i < packet->layer_count; i++) {
		const struct ft_layer *layer = &packet->layers[i];

		assert(layer->kind < FT_LAYER_KINDS && layer->pcp <= 7);
		assert(layer->offset <= captured);
		assert(i == 0 || captured > UINT16_MAX || layer->offset >= layer[-1].offset);
		assert(ft_layer_text(layer, text, sizeof text) == strlen(text) && text[0] != '\0');
	}
}

static void verdict_holds(const struct ft_packet *packet, const struct frame_input *frame)
{
	bool cut = packet->truncated != FT_COMPLETE;

	assert(packet->malformed < FT_MALFORMED_KINDS && packet->truncated < FT_TRUNCATED_KINDS);
	assert((ft_malformed_name(packet->malformed) == NULL) == (packet->malformed == FT_OK));
	assert((ft_truncated_name(packet->truncated) == NULL) ==
	       (packet->truncated == FT_COMPLETE));
	assert(packet->icrc_check <= FT_CHECK_BAD && packet->vcrc_check <= FT_CHECK_BAD);
	assert(packet->fcs_check <= FT_CHECK_BAD);
	assert(packet->icrc_check != FT_CHECK_BAD || packet->malformed != FT_OK);
	assert(packet->icrc_check == FT_CHECK_UNKNOWN || has(packet, FT_HAS_ICRC));
	assert(packet->vcrc_check == FT_CHECK_UNKNOWN || has(packet, FT_HAS_VCRC));
	assert(!has(packet, FT_HAS_ICRC) || !cut || packet->truncated == FT_CUT_VCRC);
	if (!frame->config.check_icrc)
		assert((packet->icrc_check | packet->vcrc_check | packet->fcs_check) ==
		       FT_CHECK_UNKNOWN);
	/* only what is wrapped may say that it was longer than the capture does */
	if (frame->input.wire == frame->input.captured && !has(packet, FT_HAS_MIRROR | FT_HAS_ERF))
		assert(!cut);
}

static void transport_holds(const struct ft_packet *packet, uint32_t captured)
{
	assert(packet->transport <= FT_TRANSPORT_IB_LINK);
	if (!has(packet, FT_HAS_BTH))
		return;
	assert(packet->transport >= FT_TRANSPORT_ROCE1 && packet->transport <= FT_TRANSPORT_IB);
	assert(packet->psn <= 0xffffff && packet->dest_qp <= 0xffffff && packet->pad <= 3 &&
	       packet->tver <= 15);
	assert(ft_packet_is_rdma(packet));
	if (has(packet, FT_HAS_PAYLOAD)) {
		assert(has(packet, FT_HAS_PAYLOAD_LENGTH));
		assert(packet->payload_captured <= packet->payload_length);
		assert(packet->payload_offset <= captured &&
		       packet->payload_captured <= captured - packet->payload_offset);
	}
	/* a whole packet that breaks no rule had its ICRC checked, or nobody asked */
	if (packet->malformed == FT_OK && packet->truncated == FT_COMPLETE)
		assert(has(packet, FT_HAS_ICRC | FT_HAS_PAYLOAD));
}

static void packet_holds(const struct ft_packet *packet, const struct frame_input *frame)
{
	stack_holds(packet, frame->input.captured);
	verdict_holds(packet, frame);
	transport_holds(packet, frame->input.captured);
}

static void same_packet(const struct ft_packet *a, const struct ft_packet *b)
{
	assert(a->has == b->has && a->transport == b->transport && a->malformed == b->malformed);
	assert(a->truncated == b->truncated && a->alerts == b->alerts &&
	       a->icrc_check == b->icrc_check);
	assert(a->vcrc_check == b->vcrc_check && a->fcs_check == b->fcs_check &&
	       a->vlan == b->vlan);
	assert(a->layer_count == b->layer_count && a->vlan_count == b->vlan_count);
	assert(memcmp(a->layers, b->layers, a->layer_count * sizeof a->layers[0]) == 0);
	for (unsigned i = 0; i < a->tunnel_count; i++)
		assert(memcmp(&a->tunnels[i], &b->tunnels[i], sizeof a->tunnels[i]) == 0);
}

static bool next(const struct frame_input *frame, struct ft_packet *packet,
		 struct ft_decode_rest *rest, int fill)
{
	bool first = rest->sub == UINT32_MAX;

	memset(packet, fill, sizeof *packet);
	return first ? ft_decode(&frame->config, &frame->input, packet, rest)
		     : ft_decode_more(&frame->config, &frame->input, packet, rest);
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	static struct ft_packet packet, again;
	struct ft_decode_rest rest, rest_again;
	struct frame_input frame;
	unsigned packets = 0;
	bool more = true;

	if (!frame_input_read(bytes, size, &frame))
		return;
	memset(&rest, 0xff, sizeof rest);
	memset(&rest_again, 0xff, sizeof rest_again);
	for (; more; packets++) {
		more = next(&frame, &packet, &rest, 0xa5);
		assert(next(&frame, &again, &rest_again, 0x5a) == more);
		same_packet(&packet, &again);
		packet_holds(&packet, &frame);
		assert(packets < PACKETS_MAX);
	}
	free(frame.bytes);
}
