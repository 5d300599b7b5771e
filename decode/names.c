#include <stdio.h>

#include <decode/packet.h>

/* The names that reports and records use. */

static const char *const malformed_names[FT_MALFORMED_KINDS] = {
	[FT_ERF_SHORT] = "erf_short",
	[FT_ERF_BAD_RLEN] = "erf_bad_rlen",
	[FT_ERF_EXT_OVERRUN] = "erf_ext_overrun",
	[FT_ETH_SHORT] = "eth_short",
	[FT_VLAN_TOO_DEEP] = "vlan_too_deep",
	[FT_MPLS_TOO_DEEP] = "mpls_too_deep",
	[FT_TUNNEL_TOO_DEEP] = "tunnel_too_deep",
	[FT_IP_SHORT] = "ip_short",
	[FT_IP_BAD_VERSION] = "ip_bad_version",
	[FT_IP_BAD_IHL] = "ip_bad_ihl",
	[FT_IP_OPTIONS] = "ip_options",
	[FT_IP_BAD_LENGTH] = "ip_bad_length",
	[FT_IP_FRAGMENT] = "ip_fragment",
	[FT_IP_EXT_TOO_DEEP] = "ip_ext_too_deep",
	[FT_UDP_SHORT] = "udp_short",
	[FT_UDP_BAD_LENGTH] = "udp_bad_length",
	[FT_UDP_LENGTH_MISMATCH] = "udp_length_mismatch",
	[FT_GRE_BAD_VERSION] = "gre_bad_version",
	[FT_GRE_ROUTING] = "gre_routing",
	[FT_GRE_SHORT] = "gre_short",
	[FT_ERSPAN_BAD_VERSION] = "erspan_bad_version",
	[FT_ERSPAN_SHORT] = "erspan_short",
	[FT_VXLAN_BAD_FLAGS] = "vxlan_bad_flags",
	[FT_VXLAN_SHORT] = "vxlan_short",
	[FT_GENEVE_BAD_VERSION] = "geneve_bad_version",
	[FT_GENEVE_BAD_OPTLEN] = "geneve_bad_optlen",
	[FT_GENEVE_SHORT] = "geneve_short",
	[FT_TZSP_BAD_TAGS] = "tzsp_bad_tags",
	[FT_TZSP_SHORT] = "tzsp_short",
	[FT_SFLOW_BAD_LENGTH] = "sflow_bad_length",
	[FT_LRH_SHORT] = "lrh_short",
	[FT_LRH_BAD_LVER] = "lrh_bad_lver",
	[FT_LRH_BAD_PKTLEN] = "lrh_bad_pktlen",
	[FT_GRH_SHORT] = "grh_short",
	[FT_GRH_BAD_IPVER] = "grh_bad_ipver",
	[FT_GRH_BAD_NXTHDR] = "grh_bad_nxthdr",
	[FT_GRH_BAD_PAYLEN] = "grh_bad_paylen",
	[FT_BTH_SHORT] = "bth_short",
	[FT_BAD_TVER] = "bad_tver",
	[FT_RESERVED_OPCODE] = "reserved_opcode",
	[FT_MANUFACTURER_OPCODE] = "manufacturer_opcode",
	[FT_INVALID_PKEY] = "invalid_pkey",
	[FT_EXTHDR_SHORT] = "exthdr_short",
	[FT_UNALIGNED_LENGTH] = "unaligned_length",
	[FT_CNP_BAD_LENGTH] = "cnp_bad_length",
	[FT_BAD_PADCNT] = "bad_padcnt",
	[FT_PAYLOAD_NOT_ALLOWED] = "payload_not_allowed",
	[FT_ATOMIC_WRITE_LENGTH] = "atomic_write_length",
	[FT_PAYLOAD_OVER_MTU] = "payload_over_mtu",
	[FT_PAYLOAD_NOT_MTU] = "payload_not_mtu",
	[FT_PAYLOAD_ZERO_LAST] = "payload_zero_last",
	[FT_RETH_LEN_TOO_BIG] = "reth_len_too_big",
	[FT_RETH_LEN_MISMATCH] = "reth_len_mismatch",
	[FT_ATOMIC_UNALIGNED] = "atomic_unaligned",
	[FT_QP0_ON_ROCE] = "qp0_on_roce",
	[FT_MCAST_QP_NOT_UD] = "mcast_qp_not_ud",
	[FT_QP1_BAD_QKEY] = "qp1_bad_qkey",
	[FT_MAD_BAD_LENGTH] = "mad_bad_length",
	[FT_MAD_BAD_VERSION] = "mad_bad_version",
	[FT_BAD_ICRC] = "bad_icrc",
	[FT_BAD_VCRC] = "bad_vcrc",
};

static const char *const truncated_names[FT_TRUNCATED_KINDS] = {
	[FT_CUT_ETH] = "eth",
	[FT_CUT_SLL] = "sll",
	[FT_CUT_SLL2] = "sll2",
	[FT_CUT_VLAN] = "vlan",
	[FT_CUT_MPLS] = "mpls",
	[FT_CUT_AVSP] = "avsp",
	[FT_CUT_IPV4] = "ipv4",
	[FT_CUT_IPV6] = "ipv6",
	[FT_CUT_UDP] = "udp",
	[FT_CUT_GRE] = "gre",
	[FT_CUT_ERSPAN2] = "erspan2",
	[FT_CUT_ERSPAN3] = "erspan3",
	[FT_CUT_MLNX8949] = "mlnx8949",
	[FT_CUT_VXLAN] = "vxlan",
	[FT_CUT_GENEVE] = "geneve",
	[FT_CUT_TZSP] = "tzsp",
	[FT_CUT_SFLOW5] = "sflow5",
	[FT_CUT_ERF] = "erf",
	[FT_CUT_LINK] = "link",
	[FT_CUT_MACCTRL] = "macctrl",
	[FT_CUT_LRH] = "lrh",
	[FT_CUT_RWH] = "rwh",
	[FT_CUT_MIRROR1123] = "mirror1123",
	[FT_CUT_GRH] = "grh",
	[FT_CUT_BTH] = "bth",
	[FT_CUT_RDETH] = "rdeth",
	[FT_CUT_DETH] = "deth",
	[FT_CUT_XRCETH] = "xrceth",
	[FT_CUT_RETH] = "reth",
	[FT_CUT_ATOMICETH] = "atomiceth",
	[FT_CUT_AETH] = "aeth",
	[FT_CUT_ATOMICACK] = "atomicack",
	[FT_CUT_IMMDT] = "immdt",
	[FT_CUT_IETH] = "ieth",
	[FT_CUT_FETH] = "feth",
	[FT_CUT_PAYLOAD] = "payload",
	[FT_CUT_ICRC] = "icrc",
	[FT_CUT_VCRC] = "vcrc",
};

static const char *const alert_names[FT_ALERT_KINDS] = {
	"bth_reserved_bits", "pad_nonzero",     "aeth_reserved",    "cnp_without_becn",
	"link_op_reserved",  "ip_bad_checksum", "udp_bad_checksum", "udp6_zero_checksum",
};

static const char *const transport_names[] = {
	[FT_TRANSPORT_ROCE1] = "roce1",
	[FT_TRANSPORT_ROCE2] = "roce2",
	[FT_TRANSPORT_IB] = "ib",
	[FT_TRANSPORT_IB_LINK] = "ib_link",
};

static const char *const tunnel_names[] = {
	[FT_TUNNEL_GRE_TEB] = "gre_teb",   [FT_TUNNEL_ERSPAN1] = "erspan1",
	[FT_TUNNEL_ERSPAN2] = "erspan2",   [FT_TUNNEL_ERSPAN3] = "erspan3",
	[FT_TUNNEL_MLNX8949] = "mlnx8949", [FT_TUNNEL_NVGRE] = "nvgre",
	[FT_TUNNEL_GRE_IP] = "gre_ip",     [FT_TUNNEL_VXLAN] = "vxlan",
	[FT_TUNNEL_GENEVE] = "geneve",     [FT_TUNNEL_TZSP] = "tzsp",
	[FT_TUNNEL_SFLOW5] = "sflow5",     [FT_TUNNEL_MIRROR1123] = "mirror1123",
};

/* How a layer is written: its name, then its value if it has one. */
static const struct {
	const char *name;
	enum { NO_VALUE, DECIMAL, HEX16 } value;
} layers[FT_LAYER_KINDS] = {
	[FT_LAYER_ERF] = { "erf", DECIMAL },
	[FT_LAYER_ETH] = { "eth", NO_VALUE },
	[FT_LAYER_SLL] = { "sll", NO_VALUE },
	[FT_LAYER_SLL2] = { "sll2", NO_VALUE },
	[FT_LAYER_VLAN] = { "vlan", DECIMAL },
	[FT_LAYER_QINQ] = { "qinq", DECIMAL },
	[FT_LAYER_QINQ9100] = { "qinq9100", DECIMAL },
	[FT_LAYER_QINQ9200] = { "qinq9200", DECIMAL },
	[FT_LAYER_MPLS] = { "mpls", DECIMAL },
	[FT_LAYER_AVSP] = { "avsp", NO_VALUE },
	[FT_LAYER_MACCTRL] = { "macctrl", NO_VALUE },
	[FT_LAYER_IPV4] = { "ipv4", NO_VALUE },
	[FT_LAYER_IPV6] = { "ipv6", NO_VALUE },
	[FT_LAYER_UDP] = { "udp", NO_VALUE },
	[FT_LAYER_GRE] = { "gre", HEX16 },
	[FT_LAYER_ERSPAN1] = { "erspan1", NO_VALUE },
	[FT_LAYER_ERSPAN2] = { "erspan2", NO_VALUE },
	[FT_LAYER_ERSPAN3] = { "erspan3", NO_VALUE },
	[FT_LAYER_MLNX8949] = { "mlnx8949", NO_VALUE },
	[FT_LAYER_NVGRE] = { "nvgre", DECIMAL },
	[FT_LAYER_VXLAN] = { "vxlan", DECIMAL },
	[FT_LAYER_GENEVE] = { "geneve", DECIMAL },
	[FT_LAYER_TZSP] = { "tzsp", NO_VALUE },
	[FT_LAYER_SFLOW5] = { "sflow5", NO_VALUE },
	[FT_LAYER_LRH] = { "lrh", NO_VALUE },
	[FT_LAYER_RWH] = { "rwh", NO_VALUE },
	[FT_LAYER_MIRROR1123] = { "mirror1123", NO_VALUE },
	[FT_LAYER_GRH] = { "grh", NO_VALUE },
	[FT_LAYER_BTH] = { "bth", NO_VALUE },
	[FT_LAYER_MAD] = { "mad", NO_VALUE },
};

const char *ft_malformed_name(enum ft_malformed kind)
{
	return malformed_names[kind];
}

const char *ft_truncated_name(enum ft_truncated kind)
{
	return truncated_names[kind];
}

const char *ft_alert_name(unsigned bit)
{
	return alert_names[bit];
}

const char *ft_transport_name(enum ft_transport transport)
{
	return transport_names[transport];
}

const char *ft_tunnel_name(enum ft_tunnel_kind kind)
{
	return tunnel_names[kind];
}

size_t ft_layer_text(const struct ft_layer *layer, char *text, size_t room)
{
	const char *name = layers[layer->kind].name;
	int length;

	switch (layers[layer->kind].value) {
	case DECIMAL:
		length = snprintf(text, room, "%s:%u", name, layer->value);
		break;
	case HEX16:
		length = snprintf(text, room, "%s:%04x", name, layer->value);
		break;
	default:
		length = snprintf(text, room, "%s", name);
	}
	return (size_t)length < room ? (size_t)length : room - 1;
}
