#pragma once

#include <report/frame.h>

#include "line.h"

/*
 * A field that `decode -T fields` can print. Most are a member of ft_packet and a way to write it;
 * `write` finds the member by `offset` and `size`.
 */
struct ft_field;
typedef void ft_field_writer(struct ft_line *line, const struct ft_field *field,
			     const struct ft_frame_view *view);

struct ft_field {
	const char *name, *about;
	uint32_t has; /* printed if the packet has any of these; 0: always */
	ft_field_writer *write;
	uint16_t offset, size; /* of the member */
	uint8_t digits;        /* of a hexadecimal value */
};

ft_field_writer ft_field_decimal, ft_field_hex, ft_field_bare_hex, ft_field_octets, ft_field_mac;
/* of the frame and its input */
ft_field_writer ft_field_input, ft_field_number, ft_field_sub, ft_field_ts_ns, ft_field_epoch,
	ft_field_original, ft_field_captured, ft_field_link_type, ft_field_wire,
	ft_field_wire_captured;
/* of addresses: whatever they are, as IPv4, as IPv6, as a GID */
ft_field_writer ft_field_address, ft_field_ipv4, ft_field_ipv6;
/* of the packet as a whole */
ft_field_writer ft_field_encap, ft_field_transport, ft_field_opname, ft_field_icrc_ok,
	ft_field_vcrc_ok, ft_field_malformed, ft_field_truncated, ft_field_alerts, ft_field_dsfield,
	ft_field_vlan_ids, ft_field_vlan_priorities, ft_field_tunnel, ft_field_vni,
	ft_field_remote_va, ft_field_remote_key;
/* of an AETH's syndrome: its kind, and its low five bits if it is of kind `digits` */
ft_field_writer ft_field_syndrome_kind, ft_field_syndrome_name, ft_field_syndrome_value;
/* of the verdict */
ft_field_writer ft_field_from, ft_field_to, ft_field_rules, ft_field_notes, ft_field_undecided,
	ft_field_exception;
/* of NCCL's framing; of requests the value of enum ft_frame_request_value that `size` names */
ft_field_writer ft_field_nccl_role, ft_field_nccl_connection, ft_field_nccl_k, ft_field_nccl_again,
	ft_field_nccl_family, ft_field_nccl_protocol, ft_field_nccl_n, ft_field_nccl_requests;
