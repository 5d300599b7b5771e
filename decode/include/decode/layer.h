#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The encapsulation stack, outermost first, and the tunnels in it. */

/* One accepted element of the encapsulation stack. */
enum ft_layer_kind {
	FT_LAYER_ERF,
	FT_LAYER_ETH,
	FT_LAYER_SLL,
	FT_LAYER_SLL2,
	FT_LAYER_VLAN,
	FT_LAYER_QINQ,
	FT_LAYER_QINQ9100,
	FT_LAYER_QINQ9200,
	FT_LAYER_MPLS,
	FT_LAYER_AVSP,
	FT_LAYER_MACCTRL,
	FT_LAYER_IPV4,
	FT_LAYER_IPV6,
	FT_LAYER_UDP,
	FT_LAYER_GRE,
	FT_LAYER_ERSPAN1,
	FT_LAYER_ERSPAN2,
	FT_LAYER_ERSPAN3,
	FT_LAYER_MLNX8949,
	FT_LAYER_NVGRE,
	FT_LAYER_VXLAN,
	FT_LAYER_GENEVE,
	FT_LAYER_TZSP,
	FT_LAYER_SFLOW5,
	FT_LAYER_LRH,
	FT_LAYER_RWH,
	FT_LAYER_MIRROR1123,
	FT_LAYER_GRH,
	FT_LAYER_BTH,
	FT_LAYER_MAD,
	FT_LAYER_KINDS,
};

struct ft_layer {
	uint8_t kind;    /* enum ft_layer_kind */
	uint8_t pcp;     /* VLAN kinds: priority */
	uint16_t offset; /* of its first byte in the frame, low 16 bits */
	uint32_t value;  /* VID, MPLS label, GRE protocol, VNI, VSID, ERF type; else 0 */
};

/*
 * Four tunnel levels, each with Ethernet, 8 tags, 8 labels, 8 time stamps (more are read and not listed), IP,
 * UDP or GRE, and the tunnel itself, then the packet: 142 at most.
 */
#define FT_LAYERS_MAX  144
#define FT_TUNNELS_MAX 4
#define FT_VLANS_MAX   8

enum ft_tunnel_kind {
	FT_TUNNEL_GRE_TEB,
	FT_TUNNEL_ERSPAN1,
	FT_TUNNEL_ERSPAN2,
	FT_TUNNEL_ERSPAN3,
	FT_TUNNEL_MLNX8949,
	FT_TUNNEL_NVGRE,
	FT_TUNNEL_GRE_IP,
	FT_TUNNEL_VXLAN,
	FT_TUNNEL_GENEVE,
	FT_TUNNEL_TZSP,
	FT_TUNNEL_SFLOW5,
	FT_TUNNEL_MIRROR1123,
};

/* ECN of an IP header (RFC 3168). */
enum ft_ecn { FT_ECN_NOT_ECT = 0, FT_ECN_CE = 3 };

/* A tunnel that was peeled. Fields not named for a kind are 0. */
struct ft_tunnel {
	uint8_t kind;                             /* enum ft_tunnel_kind */
	bool has_key, has_sequence, has_checksum; /* GRE forms */
	uint32_t key;                             /* GRE */
	uint32_t sequence;                        /* GRE */
	uint32_t vni;                             /* VXLAN, GENEVE: VNI; NVGRE: VSID. 24-bit */
	uint8_t option_bytes;                     /* GENEVE */
	/* ERSPAN II and III, if the header was whole and of its version */
	bool has_session;
	uint16_t vlan, session; /* 12-bit, 10-bit */
	uint8_t cos, en_or_bso; /* 3-bit, 2-bit */
	bool cut;               /* T: the switch cut the copy */
	uint32_t index;         /* II: 20-bit */
	/* ERSPAN III */
	uint32_t timestamp;
	uint16_t sgt;
	bool pdu, egress, has_subheader;
	uint8_t frame_type, hardware_id, granularity;
	uint8_t platform_id;   /* top 6 bits of the sub-header */
	uint32_t subheader[2]; /* wire words */
	/* sFlow */
	uint32_t sampling_rate, frame_length, stripped, input, output;
	/* where the mirror packet itself went (outer addresses), IPv4 as ::ffff:a.b.c.d; for mirror-loss accounting */
	uint8_t outer_src[16], outer_dst[16];
	uint8_t outer_ecn; /* enum ft_ecn bits; 0 without an outer IP header */
};

/* "vlan:100", "gre:88be", "eth" ... into text; returns its length, cut at `room` - 1. `room` is at least 1. */
size_t ft_layer_text(const struct ft_layer *layer, char *text, size_t room);

/* "erspan2", "gre_teb", "vxlan" ..., as reports write it: one for each kind, static. */
const char *ft_tunnel_name(enum ft_tunnel_kind kind);
