#include <engine/flow_choice.h>

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A field of the document and how its rows are ordered: what counts something, most first; what
 * identifies a flow, ascending. Rows without a value come last either way.
 */
struct ft_flow_order {
	const char *name;
	bool most_first;
	bool texts;    /* places hold texts, not numbers */
	size_t member; /* of the row, an uint64_t; unless `place` is there */
	void (*place)(const struct ft_report_flow *row, struct ft_flow_place *place);
};

static uint64_t word_of(const uint8_t octets[8])
{
	uint64_t word = 0;

	for (unsigned i = 0; i < 8; i++)
		word = word << 8 | octets[i];
	return word;
}

static void place_src(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	place->number[0] = word_of(row->src.octets);
	place->number[1] = word_of(row->src.octets + 8);
}

static void place_dst(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	place->number[0] = word_of(row->dst.octets);
	place->number[1] = word_of(row->dst.octets + 8);
}

static void place_tenant(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	place->text[0] = row->src.tenant;
	place->text[1] = row->dst.tenant;
}

static void place_host(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	place->text[0] = row->src.host;
	place->text[1] = row->dst.host;
}

static void place_transport(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	place->text[0] = row->transport;
	place->text[1] = NULL;
}

static void place_rule(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	place->text[0] = row->rule_count > 0 ? row->rules[0] : NULL;
	place->text[1] = row->rule_count > 1 ? row->rules[1] : NULL;
}

/* The worst first. */
static void place_verdict(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	static const char *const worst_first[] = { "violated", "unknown", "allowed" };

	place->number[0] = FT_UNKNOWN;
	for (size_t i = 0; i < 3 && row->verdict != NULL; i++)
		if (strcmp(worst_first[i], row->verdict) == 0)
			place->number[0] = i;
}

static void place_class(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	place->text[0] = row->nccl.class;
	place->text[1] = row->nccl.role;
}

static void place_nccl(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	place->number[0] = row->nccl.connection;
}

static void place_qp(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	place->number[0] = row->dest_qp;
}

/* By partition first: the membership bit comes after. */
static void place_pkey(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	place->number[0] = row->has_pkey ? row->pkey & 0x7fffu : FT_UNKNOWN;
	place->number[1] = row->pkey >> 15;
}

static void place_vlan(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	place->number[0] = row->has_vlan ? row->vlan : FT_UNKNOWN;
}

static void place_vni(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	place->number[0] = row->has_vni ? row->vni : FT_UNKNOWN;
}

static void place_messages(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	place->number[0] = row->sends + row->writes + row->reads + row->atomics;
}

static void place_naks(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	place->number[0] = 0;
	for (size_t i = 0; i < FT_FLOW_NAKS; i++)
		place->number[0] += row->naks[i];
}

#define MEMBER(field) offsetof(struct ft_report_flow, field)
#define COUNTED(field)                                                                             \
	{                                                                                          \
#field, true, false, MEMBER(field), NULL                                           \
	}
#define NAMED(field)                                                                               \
	{                                                                                          \
#field, false, false, MEMBER(field), NULL                                          \
	}

static const struct ft_flow_order orders[] = {
	NAMED(flow),
	{ "src", false, false, 0, place_src },
	{ "dst", false, false, 0, place_dst },
	{ "address", false, false, 0, place_src },
	{ "tenant", false, true, 0, place_tenant },
	{ "host", false, true, 0, place_host },
	{ "dest_qp", false, false, 0, place_qp },
	{ "qp", false, false, 0, place_qp },
	{ "pkey", false, false, 0, place_pkey },
	{ "vlan", false, false, 0, place_vlan },
	{ "vni", false, false, 0, place_vni },
	{ "transport", false, true, 0, place_transport },
	{ "first_ts", false, false, MEMBER(first_ts_ns), NULL },
	{ "last_ts", false, false, MEMBER(last_ts_ns), NULL },
	COUNTED(packets),
	COUNTED(bytes),
	COUNTED(payload_bytes),
	{ "messages", true, false, 0, place_messages },
	COUNTED(retransmitted),
	COUNTED(reordered),
	COUNTED(duplicates),
	COUNTED(fabric_lost),
	COUNTED(mirror_lost),
	COUNTED(gaps_open),
	COUNTED(acks),
	{ "naks", true, false, 0, place_naks },
	COUNTED(rnr_naks),
	COUNTED(ce_marked),
	COUNTED(cnps),
	NAMED(psn_first),
	NAMED(psn_last),
	COUNTED(mtu),
	{ "verdict", false, false, 0, place_verdict },
	{ "rule", false, true, 0, place_rule },
	{ "rules", false, true, 0, place_rule },
	NAMED(connection),
	{ "class", false, true, 0, place_class },
	{ "nccl", false, false, 0, place_nccl },
};

enum { ORDERS = sizeof(orders) / sizeof(orders[0]) };

int ft_flow_choice_sort(struct ft_flow_choice *choice, const char *field,
			struct ft_flow_complaint *complaint)
{
	bool reversed = field[0] == '-';

	for (size_t i = 0; i < ORDERS; i++) {
		if (strcmp(orders[i].name, field + reversed) != 0)
			continue;
		choice->order = &orders[i];
		choice->reversed = reversed;
		choice->nccl |= orders[i].place == place_class || orders[i].place == place_nccl;
		return 0;
	}
	snprintf(complaint->text, sizeof complaint->text,
		 "%.60s: no such field; try packets, bytes, retransmitted, mirror_lost or tenant",
		 field);
	return -EINVAL;
}

/* So that the greatest number stands first, and what is unknown last all the same. */
static uint64_t turned(uint64_t number)
{
	return number == FT_UNKNOWN ? number : FT_UNKNOWN - 1 - number;
}

void ft_flow_choice_place(const struct ft_flow_choice *choice, const struct ft_report_flow *row,
			  struct ft_flow_place *place)
{
	const struct ft_flow_order *order = choice->order;

	*place = (struct ft_flow_place){ .id = (uint32_t)row->flow };
	if (order == NULL)
		return;
	if (order->place != NULL)
		order->place(row, place);
	else
		memcpy(&place->number[0], (const char *)row + order->member,
		       sizeof place->number[0]);
	if (order->texts || order->most_first == choice->reversed)
		return;
	place->number[0] = turned(place->number[0]);
	place->number[1] = turned(place->number[1]);
}

static int by_id(const struct ft_flow_place *a, const struct ft_flow_place *b)
{
	return a->id < b->id ? -1 : a->id > b->id;
}

static int by_numbers(const void *left, const void *right)
{
	const struct ft_flow_place *a = left, *b = right;

	for (unsigned i = 0; i < 2; i++)
		if (a->number[i] != b->number[i])
			return a->number[i] < b->number[i] ? -1 : 1;
	return by_id(a, b);
}

static int by_text(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return (a == NULL) - (b == NULL);
	return strcmp(a, b);
}

static int by_texts(const void *left, const void *right)
{
	const struct ft_flow_place *a = left, *b = right;
	int order = by_text(a->text[0], b->text[0]);

	if (order == 0)
		order = by_text(a->text[1], b->text[1]);
	return order != 0 ? order : by_id(a, b);
}

/* Texts the other way round; without one, last all the same. */
static int by_texts_reversed(const void *left, const void *right)
{
	const struct ft_flow_place *a = left, *b = right;

	for (unsigned i = 0; i < 2; i++) {
		int order = by_text(a->text[i], b->text[i]);

		if (order != 0)
			return a->text[i] == NULL || b->text[i] == NULL ? order : -order;
	}
	return by_id(a, b);
}

void ft_flow_choice_order(const struct ft_flow_choice *choice, struct ft_flow_place *places,
			  size_t count)
{
	if (choice->order == NULL)
		return;
	if (!choice->order->texts)
		qsort(places, count, sizeof *places, by_numbers);
	else
		qsort(places, count, sizeof *places,
		      choice->reversed ? by_texts_reversed : by_texts);
}
