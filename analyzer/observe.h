#pragma once

#include <capture/frame.h>
#include <decode/packet.h>
#include <flow/observed.h>

/* A session of a mirror that counts its frames in 32 bits: what tells it from others, and the count. */
struct ft_mirror_session {
	uint64_t src[2],
		dst[2]; /* where it sends from and to, as they stand in memory; IPv4 in ::ffff:0:0/96 */
	uint32_t key;
	uint16_t session;
	uint8_t kind; /* enum ft_tunnel_kind */
	uint32_t sequence;
};

/* Of a packet that is in such a tunnel, the outermost one. */
void ft_observe_session(struct ft_observed *observed, const struct ft_mirror_session *session);

/* What the flow stage asks of a packet that was decoded from the frame. Fills every member; pure. */
void ft_observe(const struct ft_packet *packet, const struct ft_frame *frame,
		struct ft_observed *observed);

/*
 * The ICRC of what was observed is wrong: it vouches for nothing, so all there is tells copies apart. `bytes`: extended
 * headers but an AETH, and payload.
 */
void ft_observe_damage(struct ft_observed *observed, const uint8_t *bytes, uint32_t size);
