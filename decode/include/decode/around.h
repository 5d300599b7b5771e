#pragma once

#include <decode/decode.h>

/*
 * What is around an Ethernet frame: the tunnels in which a mirror sent it on (GRE as it is, or ERSPAN types I to III) or a
 * fabric carries it (VXLAN, also its generic form, GENEVE, NVGRE), read without decoding the frame. Each one stands behind
 * Ethernet with at most two VLAN tags and IPv4 in one piece and without options, or IPv6 without extension headers. What is
 * told of them is what the decoder has of such a frame.
 */
struct ft_around {
	/*
	 * Of the frame inside: where its Ethernet header begins, up to where it was captured, and where it ends, from the
	 * outermost frame's first byte on.
	 */
	uint32_t at, captured,
		wire;  /* wire: FT_AROUND_UNKNOWN where a mirror may have cut it unmarked */
	uint32_t vni;  /* of the innermost overlay, 24-bit; FT_AROUND_NO_VNI: there is none */
	uint8_t depth; /* tunnels, 0 .. FT_TUNNELS_MAX */
	bool marked;   /* an overlay's outer header says that it met congestion */

	/* Of the outermost tunnel, if there is one: where it goes from and to .. */
	bool has_sequence;
	bool is_ipv6;
	uint8_t kind;           /* enum ft_tunnel_kind */
	uint16_t session;       /* .. of ERSPAN, else 0 .. */
	uint32_t key, sequence; /* .. 0: none .. */
	uint32_t network_at;    /* .. offset of its IP header */
};

#define FT_AROUND_NO_VNI  UINT32_MAX
#define FT_AROUND_UNKNOWN UINT32_MAX

/* Nothing yet: the frame as it was captured, which is Ethernet without an FCS. */
static inline void ft_around_begin(struct ft_around *around, const struct ft_decode_input *input)
{
	*around = (struct ft_around){
		.captured = input->captured,
		.wire = input->wire > input->captured ? input->wire : input->captured,
		.vni = FT_AROUND_NO_VNI,
	};
}

/*
 * One tunnel more: `around` is about what is in it then. False: the frame inside is in no tunnel of these, or in one of which
 * something is odd or cut; `around` is as it was. `bytes`: of the outermost frame.
 */
bool ft_around_peel(const struct ft_decode_config *config, const uint8_t *bytes,
		    struct ft_around *around);
