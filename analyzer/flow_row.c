#include "flow_row.h"

#include <string.h>

#include <decode/opcode.h>
#include <partition/check.h>

#include "subject.h"

static_assert(sizeof(((struct ft_report_flow_end *)NULL)->address) == FT_END_TEXT, "one text");
static_assert((int)FT_FLOW_OPCODES == (int)FT_DETAIL_OPCODES, "a row holds what a record does");
static_assert((int)FT_FLOW_NAKS == (int)FT_DETAIL_NAKS, "likewise");
static_assert((int)FT_RULES + FT_FRAMING_RULES <= (int)FT_FLOW_RULES, "likewise");

const struct ft_flow *ft_flow_row_whole(const struct ft_flow_share *share, uint32_t number)
{
	const struct ft_flow *flow = ft_flow_at(share->flows, number);

	if (flow->key.dest_qp < 2 || flow->key.base == FT_FLOW_ANY_BASE)
		return flow;
	return ft_flow_find_whole(share->flows, &flow->key, flow->key.vlan);
}

static void fill_end(struct ft_report_flow_end *end, const uint8_t address[16], bool by_lid)
{
	const uint16_t lid = ft_flow_lid(address);

	end->by_lid = by_lid;
	ft_end_text(address, by_lid, end->address);
	if (!by_lid) {
		memcpy(end->octets, address, sizeof end->octets);
		return;
	}
	end->octets[14] = (uint8_t)(lid >> 8);
	end->octets[15] = (uint8_t)lid;
}

static void name_end(struct ft_report_flow_end *end, const struct ft_map *map, uint32_t endpoint,
		     uint32_t tenant)
{
	if (endpoint != FT_DETAIL_NOBODY)
		end->host = ft_map_endpoint(map, endpoint).host;
	if (tenant != FT_DETAIL_NOBODY)
		end->tenant = ft_map_declared(map)->tenants[tenant].name;
}

/* A slot that was full went on in another one. */
static void fill_opcodes(struct ft_report_flow *row, const struct ft_detail *detail)
{
	for (unsigned i = 0; i < detail->opcode_count; i++) {
		size_t at = 0;

		while (at < row->opcode_count && row->opcodes[at].opcode != detail->opcodes[i])
			at++;
		row->opcodes[at].opcode = detail->opcodes[i];
		row->opcodes[at].packets += detail->opcode_packets[i];
		if (at == row->opcode_count)
			row->opcode_count++;
	}
}

/* Of the first packet that was no CNP: they belong to whatever their queue pair does. */
static const char *transport_of(const struct ft_report_flow *row, const struct ft_detail *detail,
				const struct ft_flow *whole)
{
	static const char *const names[] = {
		[FT_RC] = "RC", [FT_UC] = "UC",   [FT_RD] = "RD",
		[FT_UD] = "UD", [FT_CNP] = "CNP", [FT_XRC] = "XRC",
	};
	enum ft_service service = FT_MANUFACTURER;

	for (size_t i = 0; i < row->opcode_count; i++) {
		enum ft_service seen = ft_opcode_service(row->opcodes[i].opcode);

		if (service == FT_MANUFACTURER || service == FT_CNP)
			service = seen;
	}
	if ((service == FT_MANUFACTURER || service == FT_CNP) && detail->cut)
		service = (enum ft_service)detail->service;
	if (service == FT_CNP && whole != NULL && whole->half.service < FT_MANUFACTURER)
		service = (enum ft_service)whole->half.service;
	return service >= FT_MANUFACTURER ? NULL : names[service];
}

/* What its other half answered before the two had met; NULL: nothing, or it is not known. */
static const struct ft_unclaimed *claimed_by(const struct ft_flow_share *share,
					     const struct ft_flow *whole)
{
	uint32_t number = ft_flow_number(share->flows, whole);

	if (whole->peer == 0 || ft_flow_at(share->flows, whole->peer)->peer != number)
		return NULL;
	return ft_details_unclaimed(share->details, whole->peer);
}

static void fill_messages(struct ft_report_flow *row, const struct ft_detail *detail,
			  const struct ft_unclaimed *claimed)
{
	struct ft_spread sizes = detail->sizes;

	row->sends = detail->messages[FT_MESSAGE_SEND];
	row->writes = detail->messages[FT_MESSAGE_WRITE];
	row->reads = detail->messages[FT_MESSAGE_READ];
	row->atomics = detail->messages[FT_MESSAGE_ATOMIC];
	if (claimed != NULL) {
		row->reads += claimed->messages[FT_MESSAGE_READ];
		row->atomics += claimed->messages[FT_MESSAGE_ATOMIC];
		ft_spread_merge(&sizes, &claimed->sizes);
	}
	row->size_min = row->size_p50 = row->size_max = FT_UNKNOWN;
	if (sizes.kinds == 0)
		return;
	row->size_min = sizes.least;
	row->size_p50 = ft_spread_quantile(&sizes, 0.5);
	row->size_max = sizes.most;
}

static void fill_account(struct ft_report_flow *row, const struct ft_detail *detail)
{
	row->payload_bytes = detail->payload_bytes;
	row->retransmitted = detail->retransmitted;
	row->reordered = detail->reordered;
	row->duplicates = detail->copies;
	row->fabric_lost = detail->fabric_lost;
	row->mirror_lost = detail->mirror_lost;
	row->gaps_open = detail->gaps_open;
	row->acks = detail->acks;
	for (unsigned code = 0; code < FT_FLOW_NAKS; code++)
		row->naks[code] = detail->naks[code];
	row->rnr_naks = detail->rnr_naks;
	row->ce_marked = detail->ce_marked;
	row->cnps = detail->cnps;
}

static void fill_psns(struct ft_report_flow *row, const struct ft_detail *detail)
{
	bool known = detail->psn_first != FT_PSN_NONE;

	row->has_pkey = detail->has_pkey;
	row->pkey = detail->pkey;
	row->psn_first = known ? detail->psn_first : FT_UNKNOWN;
	row->psn_last = known ? detail->psn_last : FT_UNKNOWN;
}

/* The least that the path MTU may be is none. */
static uint64_t known_mtu(const struct ft_half *half)
{
	return half->mtu == 0 || (half->flags & FT_HALF_MTU_GUESSED) != 0 ? FT_UNKNOWN : half->mtu;
}

/* Of a connection, packets of either direction show it. */
static uint64_t mtu_of(const struct ft_flow_share *share, const struct ft_flow *whole)
{
	uint64_t mtu = known_mtu(&whole->half);

	return mtu != FT_UNKNOWN || whole->peer == 0
		       ? mtu
		       : known_mtu(&ft_flow_at(share->flows, whole->peer)->half);
}

static void fill_verdict(struct ft_report_flow *row, const struct ft_detail *detail)
{
	row->verdict = detail->judged ? "allowed" : "unknown";
	for (unsigned rule = 0; rule < FT_RULES; rule++) {
		const struct ft_rule_text *text = ft_rule_text((enum ft_rule)rule);

		if ((detail->rules >> rule & 1) == 0)
			continue;
		row->rules[row->rule_count++] = text->name;
		if (text->violation)
			row->verdict = "violated";
	}
}

/*
 * What is still undecided counts as if the run ended here: losses among its own packets, and among
 * its answers, which show with the half that asked.
 */
static void fill_unsettled(struct ft_report_flow *row, const struct ft_flow_share *share,
			   const struct ft_flow *whole)
{
	struct ft_unsettled own = ft_tracker_unsettled(share->tracker, whole), asked;

	row->gaps_open += own.open;
	row->mirror_lost += own.mirror_lost;
	if (whole->peer == 0)
		return;
	asked = ft_tracker_unsettled(share->tracker, ft_flow_at(share->flows, whole->peer));
	row->gaps_open += asked.peer_open;
	row->mirror_lost += asked.peer_lost;
}

void ft_flow_row_add(struct ft_report_flow *row, struct ft_framing_told told)
{
	for (unsigned rule = FT_RULES; told.rules >> (rule - FT_RULES) != 0; rule++) {
		uint8_t bit = ft_framing_rule_bit((enum ft_rule)rule);

		if ((told.rules & bit) != 0)
			row->rules[row->rule_count++] = ft_rule_text((enum ft_rule)rule)->name;
	}
	if (row->verdict != NULL && told.violated != 0)
		row->verdict = "violated";
}

void ft_flow_row_fill(const struct ft_flow_share *share, uint32_t number, const struct ft_map *map,
		      struct ft_report_flow *row)
{
	const struct ft_flow *flow = ft_flow_at(share->flows, number);
	const struct ft_flow *whole = ft_flow_row_whole(share, number);
	const struct ft_detail *detail = ft_details_of(share->details, number);
	bool connected = flow == whole && flow->key.dest_qp >= 2;

	*row = (struct ft_report_flow){
		.dest_qp = flow->key.dest_qp,
		.has_vlan = detail->vlan != 0,
		.vlan = detail->vlan,
		.has_vni = flow->key.vni != FT_FLOW_NO_VNI,
		.vni = flow->key.vni,
		.first_ts_ns = detail->first_ns,
		.last_ts_ns = detail->last_ns,
		.packets = flow->packets,
		.bytes = flow->bytes,
		.mtu = whole != NULL ? mtu_of(share, whole) : FT_UNKNOWN,
		.connection = FT_UNKNOWN,
	};
	fill_end(&row->src, flow->key.src, flow->key.by_lid != 0);
	fill_end(&row->dst, flow->key.dst, flow->key.by_lid != 0);
	fill_opcodes(row, detail);
	row->transport = transport_of(row, detail, whole);
	fill_messages(row, detail, connected ? claimed_by(share, whole) : NULL);
	fill_account(row, detail);
	row->retransmitted += ft_details_withheld(share->details, number);
	fill_psns(row, detail);
	if (connected)
		fill_unsettled(row, share, whole);
	if (map == NULL)
		return;
	name_end(&row->src, map, detail->src_endpoint, detail->src_tenant);
	name_end(&row->dst, map, detail->dst_endpoint, detail->dst_tenant);
	fill_verdict(row, detail);
}
