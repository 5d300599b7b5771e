#pragma once

#include <capture/frame.h>
#include <decode/brief.h>
#include <decode/packet.h>
#include <flow/observed.h>

#include "observe_digest.h"

/* A session of a mirror that counts its frames in 32 bits: what tells it from others, and the count. */
struct ft_mirror_session {
	uint64_t src[2],
		dst[2]; /* where it sends from and to, as they stand in memory; IPv4 in ::ffff:0:0/96 */
	uint32_t key;
	uint16_t session;
	uint8_t kind; /* enum ft_tunnel_kind */
	uint32_t sequence;
};

enum { FT_MIRROR_BITS = 32 };

/* A digest of all but the count. */
static inline uint32_t ft_mirror_digest(const struct ft_mirror_session *session)
{
	uint64_t id =
		(uint64_t)session->key << 32 | (uint32_t)session->session << 8 | session->kind;
	uint64_t digest = ft_mix(ft_gid_digest(session->src[0], session->src[1]) ^ FT_SALT_SRC,
				 ft_gid_digest(session->dst[0], session->dst[1]) ^ FT_SALT_DST);

	return (uint32_t)(ft_mix(digest ^ id, FT_SALT_DIGEST) >> 32);
}

/* Of a frame whose outermost tunnel counts its frames; `bytes`: of that frame. */
static inline struct ft_mirror_session ft_mirror_session_of(const uint8_t *bytes,
							    const struct ft_around *around)
{
	const uint8_t *ip = bytes + around->network_at;
	struct ft_mirror_session session = {
		.key = around->key,
		.session = around->session,
		.kind = around->kind,
		.sequence = around->sequence,
	};

	if (around->is_ipv6) {
		memcpy(session.src, ip + FT_BRIEF_SRC6, sizeof session.src);
		memcpy(session.dst, ip + FT_BRIEF_DST6, sizeof session.dst);
	} else {
		session.src[1] = ft_ipv4_interface(ft_load32(ip + FT_BRIEF_SRC));
		session.dst[1] = ft_ipv4_interface(ft_load32(ip + FT_BRIEF_DST));
	}
	return session;
}

static inline void ft_observe_number(struct ft_observed *observed, uint32_t mirror,
				     uint32_t sequence)
{
	observed->has |= FT_OBSERVED_MIRROR;
	observed->mirror = mirror;
	observed->mirror_sequence = sequence;
	observed->mirror_sequence_bits = FT_MIRROR_BITS;
}

/* What the flow stage asks of a packet that was decoded from the frame. Fills every member; pure. */
void ft_observe(const struct ft_packet *packet, const struct ft_frame *frame,
		struct ft_observed *observed);

/*
 * The ICRC of what was observed is wrong: it vouches for nothing, so all there is tells copies apart. `bytes`: extended
 * headers but an AETH, and payload.
 */
void ft_observe_damage(struct ft_observed *observed, const uint8_t *bytes, uint32_t size);
