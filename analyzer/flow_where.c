#include <engine/flow_choice.h>

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <nccl/model.h>
#include <partition/check.h>
#include <partition/notation.h>

#include "framing_rules.h"

/* What a row is compared with. */
struct value {
	const char *text;
	const char *written; /* with its backslashes, for a complaint */
	uint64_t number;
	struct ft_prefix prefix;
};

struct field {
	const char *name;
	const char *wanted; /* what its values are, for a complaint */
	uint64_t most;      /* of a number */
	bool (*read)(struct value *value);
	bool (*holds)(const struct value *value, const struct ft_report_flow *row);
	/* NULL: needs no map */
	bool (*exists)(const struct value *value, const struct ft_map *map);
	bool nccl; /* it is of what NCCL's framing says */
};

struct test {
	const struct field *field;
	unsigned expression;
	struct value value;
};

/* Decimal, or hex after 0x. */
static bool read_number(struct value *value)
{
	char *end;

	if (ft_hex_read(value->text, &value->number))
		return true;
	if (!isdigit((unsigned char)value->text[0]))
		return false;
	errno = 0;
	value->number = strtoull(value->text, &end, 10);
	return errno == 0 && *end == 0;
}

static bool read_text(struct value *value)
{
	return value->text[0] != 0;
}

static bool read_transport(struct value *value)
{
	static const char *const names[] = { "RC", "UC", "UD", "RD", "XRC", "CNP" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcasecmp(names[i], value->text) == 0)
			return true;
	return false;
}

static bool read_class(struct value *value)
{
	for (unsigned class = 0; class < FT_NCCL_CLASSES; class ++)
		if (strcmp(ft_nccl_class_name((enum ft_nccl_class) class), value->text) == 0)
			return true;
	return false;
}

static bool is_lid(const char *text)
{
	return strncmp(text, "lid:", 4) == 0;
}

/* An address, a prefix, or lid:17. */
static bool read_address(struct value *value)
{
	struct value lid = { .text = value->text + 4 };

	if (!is_lid(value->text))
		return ft_prefix_read(value->text, true, &value->prefix);
	if (!read_number(&lid))
		return false;
	value->number = lid.number;
	return true;
}

static bool is_name(const char *wanted, const char *name)
{
	return strcmp(wanted, name != NULL ? name : "unknown") == 0;
}

static bool holds_tenant(const struct value *value, const struct ft_report_flow *row)
{
	return is_name(value->text, row->src.tenant) || is_name(value->text, row->dst.tenant);
}

static bool holds_host(const struct value *value, const struct ft_report_flow *row)
{
	return is_name(value->text, row->src.host) || is_name(value->text, row->dst.host);
}

/* An IPv4 address stands in ::ffff:0:0/96, but is in no shorter prefix: that is of IPv6 addresses. */
static bool lies_within(const uint8_t octets[16], const struct ft_prefix *prefix)
{
	static const uint8_t ipv4[12] = { [10] = 0xff, [11] = 0xff };
	unsigned whole = prefix->bits / 8, rest = prefix->bits % 8;

	if (prefix->bits < 8 * sizeof ipv4 && memcmp(octets, ipv4, sizeof ipv4) == 0)
		return false;
	return memcmp(octets, prefix->address, whole) == 0 &&
	       (rest == 0 || (octets[whole] ^ prefix->address[whole]) >> (8 - rest) == 0);
}

static bool holds_end(const struct value *value, const struct ft_report_flow_end *end)
{
	if (end->by_lid != is_lid(value->text))
		return false;
	if (end->by_lid)
		return (end->octets[14] << 8 | end->octets[15]) == (int)value->number;
	return lies_within(end->octets, &value->prefix);
}

static bool holds_address(const struct value *value, const struct ft_report_flow *row)
{
	return holds_end(value, &row->src) || holds_end(value, &row->dst);
}

static bool holds_qp(const struct value *value, const struct ft_report_flow *row)
{
	return row->dest_qp == value->number;
}

/* The membership bit is the sender's and may change: the base counts. */
static bool holds_pkey(const struct value *value, const struct ft_report_flow *row)
{
	return row->has_pkey && (row->pkey & 0x7fff) == (value->number & 0x7fff);
}

static bool holds_vlan(const struct value *value, const struct ft_report_flow *row)
{
	return (row->has_vlan ? row->vlan : 0) == value->number;
}

static bool holds_vni(const struct value *value, const struct ft_report_flow *row)
{
	return row->has_vni && row->vni == value->number;
}

static bool holds_transport(const struct value *value, const struct ft_report_flow *row)
{
	return row->transport != NULL && strcasecmp(value->text, row->transport) == 0;
}

static bool holds_verdict(const struct value *value, const struct ft_report_flow *row)
{
	return row->verdict != NULL && strcmp(value->text, row->verdict) == 0;
}

static bool holds_class(const struct value *value, const struct ft_report_flow *row)
{
	return is_name(value->text, row->nccl.class);
}

static bool holds_nccl(const struct value *value, const struct ft_report_flow *row)
{
	return row->nccl.class != NULL && row->nccl.connection == value->number;
}

/* A name, or a family of them: spoof.* */
static bool is_rule(const char *wanted, const char *name)
{
	size_t size = strlen(wanted);

	if (size > 2 && strcmp(wanted + size - 2, ".*") == 0)
		return strncmp(wanted, name, size - 1) == 0;
	return strcmp(wanted, name) == 0;
}

static bool holds_rule(const struct value *value, const struct ft_report_flow *row)
{
	for (size_t i = 0; i < row->rule_count; i++)
		if (is_rule(value->text, row->rules[i]))
			return true;
	return false;
}

static bool tenant_exists(const struct value *value, const struct ft_map *map)
{
	const struct ft_declared *declared = ft_map_declared(map);

	for (size_t i = 0; i < declared->tenant_count; i++)
		if (!declared->tenants[i].retired &&
		    strcmp(declared->tenants[i].name, value->text) == 0)
			return true;
	return strcmp(value->text, "unknown") == 0;
}

static bool host_exists(const struct value *value, const struct ft_map *map)
{
	size_t count = ft_map_endpoint_count(map);

	for (size_t i = 0; i < count; i++) {
		const char *host = ft_map_endpoint(map, (uint32_t)i).host;

		if (host != NULL && strcmp(host, value->text) == 0)
			return true;
	}
	return strcmp(value->text, "unknown") == 0;
}

static bool rule_exists(const struct value *value, const struct ft_map *map)
{
	(void)map;
	for (unsigned rule = 0; rule < FT_RULES + FT_FRAMING_RULES; rule++)
		if (is_rule(value->text, ft_rule_text((enum ft_rule)rule)->name))
			return true;
	return false;
}

static bool verdict_exists(const struct value *value, const struct ft_map *map)
{
	(void)map;
	return strcmp(value->text, "allowed") == 0 || strcmp(value->text, "violated") == 0 ||
	       strcmp(value->text, "unknown") == 0;
}

static const struct field fields[] = {
	{ "tenant", "a tenant of the map", 0, read_text, holds_tenant, tenant_exists, false },
	{ "host", "a host of the map", 0, read_text, holds_host, host_exists, false },
	{ "address", "an address, a prefix or lid:N", UINT16_MAX, read_address, holds_address, NULL,
	  false },
	{ "qp", "a queue pair, 24 bits", 0xffffff, read_number, holds_qp, NULL, false },
	{ "pkey", "a P_Key, 16 bits", UINT16_MAX, read_number, holds_pkey, NULL, false },
	{ "rule", "a rule of flows, or a family of them like spoof.*", 0, read_text, holds_rule,
	  rule_exists, false },
	{ "verdict", "allowed, violated or unknown", 0, read_text, holds_verdict, verdict_exists,
	  false },
	{ "vlan", "a VLAN, or 0 for untagged", 4095, read_number, holds_vlan, NULL, false },
	{ "vni", "a VNI, 24 bits", 0xffffff, read_number, holds_vni, NULL, false },
	{ "transport", "RC, UC, UD, RD, XRC or CNP", 0, read_transport, holds_transport, NULL,
	  false },
	{ "class", "a class of queue pairs, as nccl or ucx", 0, read_class, holds_class, NULL,
	  true },
	{ "nccl", "the number of a connection of NCCL", UINT32_MAX - 1, read_number, holds_nccl,
	  NULL, true },
};

enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

int ft_flow_choice_init(struct ft_flow_choice *choice)
{
	*choice = (struct ft_flow_choice){
		.words = ft_arena_create(),
		.tests = { .item_size = sizeof(struct test) },
		.top = SIZE_MAX,
	};
	return choice->words == NULL ? -ENOMEM : 0;
}

void ft_flow_choice_free(struct ft_flow_choice *choice)
{
	ft_list_release(&choice->tests);
	ft_arena_destroy(choice->words);
}

/* The field whose name is the first `size` characters. */
static const struct field *find_field(const char *name, size_t size)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (strlen(fields[i].name) == size && memcmp(fields[i].name, name, size) == 0)
			return &fields[i];
	return NULL;
}

__attribute__((format(printf, 2, 3))) static int complain(struct ft_flow_complaint *complaint,
							  const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(complaint->text, sizeof complaint->text, format, values);
	va_end(values);
	return -EINVAL;
}

static int complain_of_field(struct ft_flow_complaint *complaint, const char *expression)
{
	char names[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < FIELDS; i++)
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
					 i > 0 ? ", " : "", fields[i].name);
	return complain(complaint, "%.40s: not FIELD=VALUE; fields are %s", expression, names);
}

/* What NCCL's framing says, for which there need not be a map. */
static bool is_of_nccl(const struct test *test)
{
	return test->field->nccl ||
	       (test->field->exists == rule_exists && strncmp(test->value.text, "nccl.", 5) == 0);
}

static int add_test(struct ft_flow_choice *choice, const struct field *field, struct value value,
		    struct ft_flow_complaint *complaint)
{
	struct test *test;

	if (!field->read(&value) || value.number > field->most)
		return complain(complaint, "%s=%.80s: not %s", field->name, value.written,
				field->wanted);
	test = ft_list_add(&choice->tests);
	if (test == NULL)
		return -ENOMEM;
	*test = (struct test){ field, choice->expressions, value };
	choice->nccl |= is_of_nccl(test);
	return 0;
}

/* A comma or backslash of the value. */
static bool is_escaped(const char *text)
{
	return text[0] == '\\' && (text[1] == ',' || text[1] == '\\');
}

/* Characters up to the comma that ends the value. */
static size_t written_size(const char *text)
{
	size_t size = 0;

	while (text[size] != 0 && text[size] != ',')
		size += is_escaped(text + size) ? 2 : 1;
	return size;
}

static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from != 0; from++) {
		from += is_escaped(from) ? 1 : 0;
		*to++ = *from;
	}
	*to = 0;
}

/* Its text is NULL without memory. */
static struct value value_of(struct ft_arena *words, const char *written, size_t size)
{
	char *text = ft_arena_text(words, written, size);
	struct value value = { .text = text, .written = ft_arena_text(words, written, size) };

	if (text != NULL)
		unescape(text);
	if (value.written == NULL)
		value.text = NULL;
	return value;
}

static bool is_condition(const char *text)
{
	const char *equals = strchr(text, '=');

	return equals != NULL && find_field(text, (size_t)(equals - text)) != NULL;
}

static int add_tests(struct ft_flow_choice *choice, const struct field *field, const char *values,
		     struct ft_flow_complaint *complaint)
{
	for (;;) {
		size_t size = written_size(values);
		struct value value = value_of(choice->words, values, size);
		int error;

		if (value.text == NULL)
			return -ENOMEM;
		if (is_condition(value.text))
			return complain(complaint, "%.80s: another condition takes another --where",
					value.written);
		error = add_test(choice, field, value, complaint);
		if (error != 0)
			return error;
		if (values[size] == 0)
			break;
		values += size + 1;
	}
	choice->expressions++;
	return 0;
}

int ft_flow_choice_where(struct ft_flow_choice *choice, const char *expression,
			 struct ft_flow_complaint *complaint)
{
	size_t size = strcspn(expression, "=");
	const struct field *field = find_field(expression, size);

	if (field == NULL || expression[size] == 0)
		return complain_of_field(complaint, expression);
	return add_tests(choice, field, expression + size + 1, complaint);
}

int ft_flow_choice_tenant(struct ft_flow_choice *choice, const char *name,
			  struct ft_flow_complaint *complaint)
{
	const char *text = ft_arena_text(choice->words, name, strlen(name));
	const struct value value = { .text = text, .written = text };
	int error = text == NULL ? -ENOMEM
				 : add_test(choice, find_field("tenant", 6), value, complaint);

	choice->expressions++;
	return error;
}

int ft_flow_choice_check(const struct ft_flow_choice *choice, const struct ft_map *map,
			 struct ft_flow_complaint *complaint)
{
	const struct test *tests = choice->tests.items;

	for (size_t i = 0; i < choice->tests.count; i++) {
		const struct field *field = tests[i].field;

		if (field->exists == NULL)
			continue;
		if (map == NULL && !is_of_nccl(&tests[i]))
			return complain(complaint, "%s=%.80s: needs a map: -m FILE", field->name,
					tests[i].value.written);
		if (!field->exists(&tests[i].value, map))
			return complain(complaint, "%s=%.80s: not %s", field->name,
					tests[i].value.written, field->wanted);
	}
	return 0;
}

/* Tests of one expression stand together: one of them must hold. */
bool ft_flow_choice_takes(const struct ft_flow_choice *choice, const struct ft_report_flow *row)
{
	const struct test *tests = choice->tests.items;
	unsigned met = 0;

	for (size_t i = 0; i < choice->tests.count; i++)
		if (tests[i].expression == met && tests[i].field->holds(&tests[i].value, row))
			met++;
	return met == choice->expressions;
}
