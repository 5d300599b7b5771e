#include "maps.h"

#include <stdio.h>
#include <string.h>

#include <partition/map.h>

struct ft_map *compiled(const struct ft_declared *declared)
{
	struct ft_map *map = NULL;

	assert_int_equal(ft_map_compile(&map, declared), 0);
	return map;
}

void assert_owners(const struct ft_map *map, uint32_t endpoint, int64_t ts_ns, const char *expected)
{
	char names[100] = "";
	uint32_t owners[8];
	size_t count = ft_map_owners(map, endpoint, ts_ns, owners, 8);

	assert_true(count <= 8);
	for (size_t i = 0; i < count; i++) {
		strcat(names, i == 0 ? "" : " ");
		strcat(names, ft_map_declared(map)->tenants[owners[i]].name);
	}
	assert_string_equal(names, expected);
	assert_int_equal(ft_map_owners(map, endpoint, ts_ns, NULL, 0), count);
}

static void print_rules(const char *what, uint32_t rules)
{
	fprintf(stderr, "%s:", what);
	for (unsigned rule = 0; rule < FT_RULES; rule++)
		if ((rules >> rule & 1) != 0)
			fprintf(stderr, " %s", ft_rule_text(rule)->name);
	fprintf(stderr, "\n");
}

static uint32_t numbered(uint32_t index)
{
	return index == FT_NONE ? 0 : index + 1;
}

static uint32_t deciding_line(const struct ft_verdict *verdict)
{
	uint32_t crossing = R(TENANT_CROSSING);
	struct ft_origin origin = ft_verdict_origin(
		verdict, (verdict->rules & crossing) == verdict->rules && verdict->rules != 0
				 ? FT_RULE_TENANT_CROSSING
				 : FT_RULE_PKEY_INVALID);

	return origin.file == FT_NONE ? 0 : origin.line;
}

static bool matches(const struct ft_verdict *verdict, const struct verdict_case *expected)
{
	return ft_verdict_rules(verdict, false) == expected->rules &&
	       verdict->undecided == expected->undecided &&
	       numbered(verdict->src.tenant) == expected->from &&
	       numbered(verdict->dst.tenant) == expected->to &&
	       numbered(verdict->exception) == expected->exception &&
	       verdict->crossing_between_customers == expected->critical &&
	       (expected->line == 0 || expected->line == deciding_line(verdict));
}

void assert_verdicts(const struct ft_declared *declared, const struct verdict_case *cases,
		     size_t count)
{
	struct ft_map *map = compiled(declared);
	unsigned wrong = 0;

	for (size_t i = 0; i < count; i++) {
		struct ft_verdict verdict;

		ft_check(map, &cases[i].key, cases[i].ts_ns, &verdict);
		if (matches(&verdict, &cases[i]))
			continue;
		wrong++;
		fprintf(stderr, "not so: %s\n", cases[i].says);
		print_rules("  expected", cases[i].rules);
		print_rules("  but got ", ft_verdict_rules(&verdict, false));
		fprintf(stderr,
			"  undecided %d, from %u, to %u, exception %u, critical %d, line %u\n",
			verdict.undecided, numbered(verdict.src.tenant),
			numbered(verdict.dst.tenant), numbered(verdict.exception),
			verdict.crossing_between_customers, deciding_line(&verdict));
	}
	ft_map_destroy(map);
	assert_int_equal(wrong, 0);
}
