#include "../holds.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <decode/decode.h>

#include "connections.h"

/*
 * Whatever a frame holds, its set-up message is read inside the captured bytes; and whatever set-ups
 * say, the halves they name go opposite ways between the two addresses of the message.
 */

static const struct ft_flow_key between = { .src = { 1 }, .dst = { 2 }, .vni = 7, .by_lid = 1 };

void ft_tracker_pair(struct ft_tracker *tracker, const struct ft_flow_key *there,
		     const struct ft_flow_key *back, enum ft_paired_by by)
{
	assert(tracker == NULL && by == FT_PAIRED_CM);
	assert(memcmp(there->src, back->dst, sizeof there->src) == 0);
	assert(memcmp(there->dst, back->src, sizeof there->dst) == 0);
	assert(there->src[0] + there->dst[0] == 3 && there->vni == 7 && back->by_lid == 1);
	assert(there->dest_qp <= 0xffffff && back->dest_qp <= 0xffffff);
}

static void see(struct ft_connections *connections, struct ft_connection_setup setup, bool turned)
{
	struct ft_flow_key key = between;

	if (turned) {
		memcpy(key.src, between.dst, sizeof key.src);
		memcpy(key.dst, between.src, sizeof key.dst);
	}
	ft_connections_see(connections, &setup, &key, 1, NULL);
}

static struct ft_connection_setup setup_in_frame(const uint8_t *bytes, size_t size)
{
	static const struct ft_decode_config config = FT_DECODE_DEFAULTS;
	struct ft_decode_input input = {
		.bytes = bytes,
		.captured = (uint32_t)size,
		.wire = (uint32_t)size,
		.link_type = 1,
		.ts_ns = UINT64_MAX,
	};
	struct ft_packet packet;
	struct ft_decode_rest rest;

	ft_decode(&config, &input, &packet, &rest);
	return ft_connection_setup_read(&packet, bytes);
}

/* The same bytes taken for one MAD after the other, shorter and shorter. */
static void read_mads(struct ft_connections *connections, const uint8_t *bytes, size_t size)
{
	struct ft_packet packet = { .has = FT_HAS_IPV4 | FT_HAS_MAD | FT_HAS_PAYLOAD };

	packet.mad.mgmt_class = 7;
	packet.mad.method = 3;
	for (size_t at = 0; at < size; at += 5) {
		packet.payload_offset = (uint32_t)at;
		packet.payload_captured = (uint32_t)(size - at);
		packet.mad.attr_id = at % 2 == 0 ? 0x10 : 0x13;
		memcpy(packet.src, bytes, size < sizeof packet.src ? size : sizeof packet.src);
		see(connections, ft_connection_setup_read(&packet, bytes), at % 3 == 0);
	}
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct ft_connections *connections;
	struct ft_connection_setup setup = setup_in_frame(bytes, size);

	if (ft_connections_create(&connections, 5) != 0)
		abort();
	see(connections, setup, false);
	setup.kind = FT_SETUP_REPLY;
	setup.remote_id = setup.local_id;
	see(connections, setup, true);
	read_mads(connections, bytes, size);
	ft_connections_destroy(connections);
}
