#include "frame_choice.h"

#include <stdio.h>
#include <string.h>

static void set_lid(struct ft_report_flow_end *end, uint16_t lid)
{
	end->by_lid = true;
	memset(end->octets, 0, sizeof end->octets);
	end->octets[14] = (uint8_t)(lid >> 8);
	end->octets[15] = (uint8_t)lid;
}

static void set_lids(const struct ft_packet *packet, struct ft_report_flow *row)
{
	set_lid(&row->src, packet->lrh.slid);
	set_lid(&row->dst, packet->lrh.dlid);
}

static void set_addresses(const struct ft_packet *packet, struct ft_report_flow *row)
{
	memcpy(row->src.octets, packet->src, sizeof row->src.octets);
	memcpy(row->dst.octets, packet->dst, sizeof row->dst.octets);
}

/* A BTH that was cut may still show them. */
static void set_transport(const struct ft_packet *packet, struct ft_report_flow *row)
{
	enum { PKEY_END = 4, DEST_QP_END = 8 };
	bool whole = (packet->has & FT_HAS_BTH) != 0;
	unsigned captured = packet->truncated == FT_CUT_BTH ? packet->bth_captured : 0;

	row->has_pkey = whole || captured >= PKEY_END;
	if (row->has_pkey)
		row->pkey = packet->pkey;
	row->dest_qp = whole || captured >= DEST_QP_END ? packet->dest_qp : UINT32_MAX;
}

static void set_verdict(const struct ft_frame_verdict *verdict, struct ft_report_flow *row)
{
	row->src.tenant = verdict->from;
	row->dst.tenant = verdict->to;
	for (size_t i = 0; i < verdict->rule_count; i++)
		row->rules[row->rule_count++] = verdict->rules[i];
	for (size_t i = 0; i < verdict->note_count; i++)
		row->rules[row->rule_count++] = verdict->notes[i];
}

/* A packet of InfiniBand with a global header goes by its GIDs and by its LIDs. */
static bool takes(const struct ft_flow_choice *choice, const struct ft_packet *packet,
		  struct ft_report_flow *row)
{
	bool by_address = (packet->has & (FT_HAS_IPV4 | FT_HAS_IPV6 | FT_HAS_GRH)) != 0;
	bool by_lid = (packet->has & FT_HAS_LRH) != 0;

	if (by_address)
		set_addresses(packet, row);
	else if (by_lid)
		set_lids(packet, row);
	if (ft_flow_choice_takes(choice, row))
		return true;
	if (!by_address || !by_lid)
		return false;
	set_lids(packet, row);
	return ft_flow_choice_takes(choice, row);
}

bool ft_frame_is_chosen(const struct ft_flow_choice *choice, const struct ft_frame_view *view)
{
	const struct ft_packet *packet = view->packet;
	struct ft_report_flow row = { 0 };

	set_transport(packet, &row);
	if (view->verdict != NULL)
		set_verdict(view->verdict, &row);
	return takes(choice, packet, &row);
}

const char *ft_frame_comment(const struct ft_frame_view *view, char text[FT_CHOICE_COMMENT])
{
	const struct ft_frame_verdict *verdict = view->verdict;
	size_t length = 0;

	if (verdict == NULL || verdict->rule_count == 0)
		return NULL;
	for (size_t i = 0; i < verdict->rule_count && length < FT_CHOICE_COMMENT; i++)
		length += (size_t)snprintf(text + length, FT_CHOICE_COMMENT - length, "%s%s",
					   i == 0 ? "" : ", ", verdict->rules[i]);
	if (length < FT_CHOICE_COMMENT)
		snprintf(text + length, FT_CHOICE_COMMENT - length, " (%s to %s)", verdict->from,
			 verdict->to);
	return text;
}
