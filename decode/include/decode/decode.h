#pragma once

#include <decode/packet.h>

/* How opcodes 0x40..0x5f are read, which two transports share: IBA's RD, Mellanox DC, or not at all. */
enum ft_rd_reading { FT_RD_IBA, FT_RD_DC, FT_RD_OPAQUE };

#define FT_ROCE_PORTS_MAX   8
#define FT_MIRROR_VLANS_MAX 8

struct ft_decode_config {
	enum ft_rd_reading rd;
	/* false: payload is not touched; ICRC, VCRC, FCS stay unknown, UDP checksums unjudged */
	bool check_icrc;
	uint16_t roce_ports[FT_ROCE_PORTS_MAX]; /* UDP destination ports of RoCEv2 */
	unsigned roce_port_count;
	/* VIDs of tags that mirrors put around what they copy; the outermost tag of a frame is none of the packet's then */
	uint16_t mirror_vlans[FT_MIRROR_VLANS_MAX];
	unsigned mirror_vlan_count;
};
#define FT_DECODE_DEFAULTS                                                                         \
	{                                                                                          \
		.rd = FT_RD_IBA, .check_icrc = true, .roce_ports = { 4791 }, .roce_port_count = 1  \
	}

/* `port`: UDP destination. */
static inline bool ft_is_roce_port(const struct ft_decode_config *config, uint16_t port)
{
	for (unsigned i = 0; i < config->roce_port_count; i++)
		if (config->roce_ports[i] == port)
			return true;
	return false;
}

/* `vid`: of the outermost tag of a frame as it was captured. */
static inline bool ft_is_mirror_vlan(const struct ft_decode_config *config, uint16_t vid)
{
	for (unsigned i = 0; i < config->mirror_vlan_count; i++)
		if (config->mirror_vlans[i] == vid)
			return true;
	return false;
}

#define FT_LINKTYPE_ETHERNET   1
#define FT_LINKTYPE_INFINIBAND 247

/* A captured record as the decoder needs it; the bytes are borrowed for the call. */
struct ft_decode_input {
	const uint8_t *bytes;
	uint32_t captured;  /* bytes at `bytes` */
	uint32_t wire;      /* bytes that existed; an ERF record's own wlen decides further in */
	uint16_t link_type; /* LINKTYPE_ */
	uint8_t fcs_bytes; /* trailing FCS announced by the container, of Ethernet frames: 0 or 4 */
	uint64_t ts_ns;    /* capture clock, to tell time-stamp trailers; UINT64_MAX: unknown */
};

/* Where decoding of a frame stands when it holds more than one packet (sFlow datagrams). */
struct ft_decode_rest {
	unsigned sub; /* index of the packet just returned, from 0 */
	/* private: where the next record of the datagram stands, and its sample */
	uint32_t at, samples, records, sample_end;
	uint32_t rate, input, output;
};

/*
 * Decode the first (nearly always the only) packet of a frame. Touches only bytes[0..captured).
 * Never fails: what is odd is said in packet->malformed, ->truncated, ->alerts. Returns true if the
 * frame holds more packets: then call ft_decode_more() until it returns false. Of a frame larger than
 * 16 MiB the rest counts as not captured.
 */
bool ft_decode(const struct ft_decode_config *config, const struct ft_decode_input *input,
	       struct ft_packet *packet, struct ft_decode_rest *rest);

/*
 * The next packet of the same frame, same inputs and rest; the packet may be another one than before.
 * Returns true if there are still more after it.
 */
bool ft_decode_more(const struct ft_decode_config *config, const struct ft_decode_input *input,
		    struct ft_packet *packet, struct ft_decode_rest *rest);

/*
 * Has a BTH, or claims to be RDMA and broke or was cut on the way there. Raw InfiniBand and link packets
 * are not RDMA; a frame cut before it could say what it is is not either.
 */
bool ft_packet_is_rdma(const struct ft_packet *packet);
