#pragma once

#include <assert.h>

#include <decode/decode.h>
#include <decode/opcode.h>

#include "cursor.h"

/*
 * One pass over one frame. decode.c calls one reader after the other; each reads the header at the
 * cursor, writes its fields into the packet and says which header comes next. Only along the usual chain,
 * Ethernet, IPv4, UDP and BTH, does a reader call the next one itself.
 */
enum ft_step {
	FT_STEP_DONE,
	FT_STEP_ERF,
	FT_STEP_LINK,
	FT_STEP_ETHERNET,
	FT_STEP_SLL,
	FT_STEP_SLL2,
	FT_STEP_VLAN,
	FT_STEP_MPLS,
	FT_STEP_AVSP,
	FT_STEP_MACCTRL,
	FT_STEP_IPV4,
	FT_STEP_IPV6,
	FT_STEP_GRE,
	FT_STEP_ERSPAN1,
	FT_STEP_ERSPAN2,
	FT_STEP_ERSPAN3,
	FT_STEP_MLNX8949,
	FT_STEP_VXLAN,
	FT_STEP_VXLAN_GPE,
	FT_STEP_GENEVE,
	FT_STEP_TZSP,
	FT_STEP_SFLOW,
	FT_STEP_LRH,
	FT_STEP_RWH,
	FT_STEP_MIRROR1123,
	FT_STEP_GRH,
	FT_STEP_BTH,
	FT_STEPS,
};

/* What the ICRC covers in front of the BTH, and which of those bytes count as ones. */
enum ft_icrc_kind { FT_ICRC_IPV4, FT_ICRC_IPV6, FT_ICRC_GRH, FT_ICRC_LRH, FT_ICRC_KINDS };

struct ft_pass {
	struct ft_cursor cursor;
	struct ft_packet *packet;
	const struct ft_decode_config *config;
	struct ft_decode_rest *rest;
	bool more;           /* the frame holds another packet, described by *rest */
	bool sampled;        /* inside an sFlow datagram */
	uint8_t stamp_count; /* time stamps of the current Ethernet header that are in the stack */

	uint32_t frame_at, frame_end; /* the outermost frame without its FCS */
	uint32_t frame_captured;      /* end of what was captured of it, FCS included */
	uint8_t fcs_bytes;            /* behind frame_end: 0 or 4 */

	uint16_t ethertype; /* of the header being read: the TPID of a VLAN tag */
	/* end of the outermost IP datagram or GRH packet; UINT32_MAX: none met */
	uint32_t network_end;
	uint32_t lrh_at, lrh_end; /* LRH to ICRC on the wire; lrh_end 0: no LRH with a VCRC */
	uint32_t lrh_captured,
		lrh_wire; /* bounds of the layer around the LRH: the VCRC lies in there */

	enum ft_icrc_kind icrc_kind;
	bool ip_options;     /* legal in IPv4, not under RoCEv2 */
	uint32_t network_at; /* IP header, GRH, or LRH if there is no GRH */
	uint32_t udp_at;

	/* from the BTH on */
	uint32_t bth_at;
	uint32_t length;  /* BTH to ICRC inclusive, from the length fields */
	uint32_t skipped; /* bytes of the DC header, which is not interpreted */
	const struct ft_opcode_shape *shape;
};

typedef enum ft_step ft_reader(struct ft_pass *pass);

ft_reader ft_read_erf, ft_read_link;
ft_reader ft_read_ethernet, ft_read_sll, ft_read_sll2, ft_read_vlan, ft_read_mpls, ft_read_avsp,
	ft_read_macctrl;
ft_reader ft_read_ipv4, ft_read_ipv6, ft_read_udp;
ft_reader ft_read_gre, ft_read_erspan1, ft_read_erspan2, ft_read_erspan3, ft_read_mlnx8949;
ft_reader ft_read_vxlan, ft_read_vxlan_gpe, ft_read_geneve, ft_read_tzsp, ft_read_sflow;
ft_reader ft_read_lrh, ft_read_rwh, ft_read_mirror1123, ft_read_grh;
ft_reader ft_read_bth;

/* Who reads what follows an EtherType; nearly always it is IPv4. */
enum ft_step ft_other_ethertype_step(struct ft_pass *pass, uint16_t ethertype);

static inline enum ft_step ft_ethertype_step(struct ft_pass *pass, uint16_t ethertype)
{
	pass->ethertype = ethertype;
	return ethertype == 0x0800 ? ft_read_ipv4(pass) : ft_other_ethertype_step(pass, ethertype);
}

/* Extended headers and the bounds of the payload, after ft_read_bth(). */
void ft_read_extensions(struct ft_pass *pass);

/* The common header of a MAD, if the payload is one. */
void ft_read_mad(struct ft_pass *pass);

/* The rules above the BTH, in order; sets packet->malformed to the first one broken. */
void ft_judge(struct ft_pass *pass);

/* FT_CHECK_UNKNOWN unless everything covered was captured. */
enum ft_check ft_icrc_check(const struct ft_pass *pass);

/* Read and check the VCRC behind a native packet, raw ones included; the LRH was acceptable. */
void ft_read_vcrc(struct ft_pass *pass);

/* Look for a time-stamp trailer in bytes[from..to), the end of a wholly captured frame. */
void ft_read_trailer(struct ft_packet *packet, const uint8_t *bytes, uint32_t from, uint32_t to,
		     uint64_t ts_ns);

/* Nothing reads on. What is there, if it may hold other packets, is said in packet->unopened (unopened.c). */
enum ft_step ft_leave(struct ft_pass *pass, enum ft_unopened kind);
enum ft_step ft_leave_ethertype(struct ft_pass *pass, uint16_t ethertype);
enum ft_step ft_leave_protocol(struct ft_pass *pass, uint8_t protocol);
enum ft_step ft_leave_port(struct ft_pass *pass, uint16_t port); /* UDP destination */

/* --- tunnels (tunnel.c) --- */

/* Before a tunnel header is read: false, and malformed, at the fifth level. */
bool ft_tunnel_allowed(struct ft_pass *pass);

/*
 * A tunnel header was accepted: what was read so far belongs to the mirror or the overlay, the packet
 * starts anew. The copy of most mirrors may have been cut unmarked, so its length on the wire is unknown.
 */
struct ft_tunnel *ft_tunnel_open(struct ft_pass *pass, enum ft_tunnel_kind kind);
struct ft_tunnel *ft_mirror_open(struct ft_pass *pass, enum ft_tunnel_kind kind);

/* --- bounds, ends and marks --- */

/* Nothing is known of the packet yet: `has` and all that is not guarded by it, up to the BTH, become 0. */
static inline void ft_packet_begin(struct ft_packet *packet)
{
	memset(packet, 0, offsetof(struct ft_packet, tver));
	packet->vlan = 0;
}

/* The outermost frame begins at the cursor and fills its bounds; its FCS, if any, is no part of what is decoded. */
static inline void ft_frame_begin(struct ft_pass *pass, uint8_t fcs_bytes)
{
	struct ft_cursor *cursor = &pass->cursor;

	pass->frame_at = cursor->at;
	pass->frame_captured = cursor->captured;
	pass->fcs_bytes = fcs_bytes <= ft_wire_left(cursor) ? fcs_bytes : 0;
	if (pass->fcs_bytes > 0)
		ft_narrow(cursor, ft_wire_left(cursor) - pass->fcs_bytes);
	pass->frame_end = cursor->wire;
}

/*
 * ERF records of Ethernet have an FCS by rule; writers that have none leave it out all the same. Where the
 * frame's own network packet ends exactly behind what would be the FCS, and that is no right one, it is the
 * packet's. True: the frame has no FCS from now on.
 */
bool ft_frame_takes_fcs(struct ft_pass *pass, uint32_t size);

/* Whether `size` more bytes of a network packet were on the wire. */
static inline bool ft_network_fits(struct ft_pass *pass, uint32_t size)
{
	return size <= ft_wire_left(&pass->cursor) ||
	       (pass->fcs_bytes != 0 && ft_frame_takes_fcs(pass, size));
}

/* The first rule broken is the one that is named. */
static inline void ft_break(struct ft_pass *pass, enum ft_malformed rule)
{
	if (pass->packet->malformed == FT_OK)
		pass->packet->malformed = (uint8_t)rule;
}

static inline enum ft_step ft_stop(struct ft_pass *pass, enum ft_malformed rule)
{
	ft_break(pass, rule);
	return FT_STEP_DONE;
}

/* `size` bytes could not be taken: were they never there, or only not captured? */
static inline enum ft_step ft_short(struct ft_pass *pass, uint32_t size, enum ft_malformed rule,
				    enum ft_truncated cut)
{
	if (size > ft_wire_left(&pass->cursor))
		return ft_stop(pass, rule);
	pass->packet->truncated = (uint8_t)cut;
	return FT_STEP_DONE;
}

/* Add to the encapsulation stack. The bounds on tags, labels and tunnels keep it below FT_LAYERS_MAX. */
static inline void ft_layer_push(struct ft_pass *pass, enum ft_layer_kind kind, uint32_t offset,
				 uint32_t value)
{
	struct ft_packet *packet = pass->packet;

	assert(packet->layer_count < FT_LAYERS_MAX);
	packet->layers[packet->layer_count++] = (struct ft_layer){
		.kind = (uint8_t)kind,
		.offset = (uint16_t)offset,
		.value = value,
	};
}
