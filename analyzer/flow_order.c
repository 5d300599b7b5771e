#include <engine/flow_choice.h>

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <partition/check.h>

#include "framing_rules.h"

/*
 * A field of the document and how its rows are ordered: what counts something, most first; what
 * identifies a flow, ascending. Rows without a value come last either way.
 */
struct ft_flow_order {
	const char *name;
	bool most_first;
	size_t member; /* of the row, an uint64_t; unless `place` is there */
	void (*place)(const struct ft_report_flow *row, struct ft_flow_place *place);
	int (*compare)(const struct ft_flow_place *a, const struct ft_flow_place *b,
		       bool descending);
};

static void place_src(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	memcpy(place->address[0], row->src.octets, sizeof place->address[0]);
}

static void place_dst(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	memcpy(place->address[0], row->dst.octets, sizeof place->address[0]);
}

static void place_addresses(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	memcpy(place->address[0], row->src.octets, sizeof place->address[0]);
	memcpy(place->address[1], row->dst.octets, sizeof place->address[1]);
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

static_assert((int)FT_FLOW_RULES <= 64, "a bit for each");

/* A row has them in order of their numbers. */
static void place_rules(const struct ft_report_flow *row, struct ft_flow_place *place)
{
	size_t found = 0;

	for (unsigned rule = 0; rule < FT_RULES + FT_FRAMING_RULES; rule++) {
		if (found == row->rule_count)
			return;
		if (strcmp(ft_rule_text((enum ft_rule)rule)->name, row->rules[found]) != 0)
			continue;
		place->rules |= (uint64_t)1 << rule;
		found++;
	}
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

static int by_numbers(const struct ft_flow_place *a, const struct ft_flow_place *b, bool descending)
{
	for (unsigned i = 0; i < 2; i++) {
		uint64_t left = a->number[i], right = b->number[i];

		if (left == right)
			continue;
		if (left == FT_UNKNOWN || right == FT_UNKNOWN)
			return left == FT_UNKNOWN ? 1 : -1;
		return (left < right) != descending ? -1 : 1;
	}
	return 0;
}

/* None (NULL) is last. */
static int by_text(const char *a, const char *b, bool descending)
{
	if (a == NULL || b == NULL)
		return (a == NULL) - (b == NULL);
	return descending ? strcmp(b, a) : strcmp(a, b);
}

static int by_texts(const struct ft_flow_place *a, const struct ft_flow_place *b, bool descending)
{
	int order = by_text(a->text[0], b->text[0], descending);

	return order != 0 ? order : by_text(a->text[1], b->text[1], descending);
}

static int by_addresses(const struct ft_flow_place *a, const struct ft_flow_place *b,
			bool descending)
{
	int order = memcmp(a->address, b->address, sizeof a->address);

	return descending ? -order : order;
}

static const char *first_rule(uint64_t rules)
{
	return rules == 0 ? NULL : ft_rule_text((enum ft_rule)__builtin_ctzll(rules))->name;
}

/* By the first names in which the two lists differ. */
static int by_rules(const struct ft_flow_place *a, const struct ft_flow_place *b, bool descending)
{
	uint64_t differing = a->rules ^ b->rules;
	uint64_t rest = ~((differing & -differing) - 1);

	return by_text(first_rule(a->rules & rest), first_rule(b->rules & rest), descending);
}

#define MEMBER(field) offsetof(struct ft_report_flow, field)
#define COUNTED(field)                                                                             \
	{                                                                                          \
#field, true, MEMBER(field), NULL, by_numbers                                      \
	}
#define NAMED(field)                                                                               \
	{                                                                                          \
#field, false, MEMBER(field), NULL, by_numbers                                     \
	}

static const struct ft_flow_order orders[] = {
	NAMED(flow),
	{ "src", false, 0, place_src, by_addresses },
	{ "dst", false, 0, place_dst, by_addresses },
	{ "address", false, 0, place_addresses, by_addresses },
	{ "tenant", false, 0, place_tenant, by_texts },
	{ "host", false, 0, place_host, by_texts },
	{ "dest_qp", false, 0, place_qp, by_numbers },
	{ "qp", false, 0, place_qp, by_numbers },
	{ "pkey", false, 0, place_pkey, by_numbers },
	{ "vlan", false, 0, place_vlan, by_numbers },
	{ "vni", false, 0, place_vni, by_numbers },
	{ "transport", false, 0, place_transport, by_texts },
	{ "first_ts", false, MEMBER(first_ts_ns), NULL, by_numbers },
	{ "last_ts", false, MEMBER(last_ts_ns), NULL, by_numbers },
	COUNTED(packets),
	COUNTED(bytes),
	COUNTED(payload_bytes),
	{ "messages", true, 0, place_messages, by_numbers },
	COUNTED(retransmitted),
	COUNTED(reordered),
	COUNTED(duplicates),
	COUNTED(fabric_lost),
	COUNTED(mirror_lost),
	COUNTED(gaps_open),
	COUNTED(acks),
	{ "naks", true, 0, place_naks, by_numbers },
	COUNTED(rnr_naks),
	COUNTED(ce_marked),
	COUNTED(cnps),
	NAMED(psn_first),
	NAMED(psn_last),
	NAMED(mtu),
	{ "verdict", false, 0, place_verdict, by_numbers },
	{ "rule", false, 0, place_rules, by_rules },
	{ "rules", false, 0, place_rules, by_rules },
	NAMED(connection),
	{ "class", false, 0, place_class, by_texts },
	{ "nccl", false, 0, place_nccl, by_numbers },
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
}

static int in_order(const void *left, const void *right, void *context)
{
	const struct ft_flow_choice *choice = context;
	const struct ft_flow_place *a = left, *b = right;
	bool descending = choice->order->most_first != choice->reversed;
	int order = choice->order->compare(a, b, descending);

	if (order != 0)
		return order;
	return a->id < b->id ? -1 : a->id > b->id;
}

void ft_flow_choice_order(const struct ft_flow_choice *choice, struct ft_flow_place *places,
			  size_t count)
{
	if (choice->order != NULL)
		qsort_r(places, count, sizeof *places, in_order, (void *)choice);
}
