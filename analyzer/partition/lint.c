#include <partition/lint.h>

#include "lint.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <partition/check.h>
#include <partition/moment.h>
#include <partition/show.h>

#include "document.h"

enum { MOST_COTENANCIES = 256 };

void ft_lint_say(struct ft_lint *lint, enum ft_diagnostic_severity severity, const char *code,
		 struct ft_origin origin, const char *format, ...)
{
	struct ft_diagnostic *added = ft_list_add(&lint->found);
	va_list arguments;

	lint->failed |= added == NULL;
	if (added == NULL)
		return;
	added->severity = severity;
	added->code = code;
	added->origin = origin;
	va_start(arguments, format);
	vsnprintf(added->text, sizeof added->text, format, arguments);
	va_end(arguments);
}

const char *ft_lint_tenant(const struct ft_lint *lint, uint32_t tenant)
{
	return tenant != FT_NONE ? lint->declared->tenants[tenant].name : "no tenant";
}

static void lint_cotenancy(struct ft_lint *lint)
{
	struct ft_cotenancy *found = calloc(MOST_COTENANCIES, sizeof *found);
	size_t count = found != NULL ? ft_check_cotenancy(lint->map, FT_TIME_MIN, FT_TIME_MAX,
							  found, MOST_COTENANCIES)
				     : 0;
	char at[FT_MOMENT_ROOM];

	lint->failed |= found == NULL;
	for (size_t i = 0; i < count && i < MOST_COTENANCIES; i++) {
		const struct ft_cotenancy *one = &found[i];
		const struct ft_port *a = &lint->declared->ports[one->port_a],
				     *b = &lint->declared->ports[one->port_b];

		ft_lint_say(lint, FT_WARNING, "tenant.cotenancy", a->origin,
			    "%.40s and %.40s share %.40s (%.30s, %.30s) against "
			    "no_leaf_sharing_with, first %s",
			    ft_lint_tenant(lint, one->tenant_a),
			    ft_lint_tenant(lint, one->tenant_b), one->leaf,
			    a->host != NULL ? a->host : "?", b->host != NULL ? b->host : "?",
			    one->at_ns > 0 ? ft_moment_write(at, one->at_ns) : "always");
	}
	free(found);
}

static void lint_map(struct ft_lint *lint)
{
	const struct ft_declared *declared = lint->declared;
	struct ft_origin top = { .file = 0 };

	if (declared->verdict == FT_MAP_FAIL_OPEN)
		ft_lint_say(lint, FT_ERROR, "map.fail-open", top,
			    "OpenSM drops this file: every port becomes a full member of 0x7fff "
			    "and of nothing else");
	if (!declared->last_rule_wins && declared->serial == 0)
		ft_lint_say(lint, FT_NOTE, "no-serial", top,
			    "without a serial a replayed older map cannot be told apart");
}

static void (*const checks[])(struct ft_lint *) = {
	lint_map,         ft_lint_partitions, ft_lint_ports,
	ft_lint_segments, ft_lint_exceptions, lint_cotenancy,
};

static int run(struct ft_lint *lint)
{
	for (size_t i = 0; i < lint->declared->diagnostic_count; i++) {
		struct ft_diagnostic *added = ft_list_add(&lint->found);

		lint->failed |= added == NULL;
		if (added != NULL)
			*added = lint->declared->diagnostics[i];
	}
	for (size_t i = 0; i < sizeof checks / sizeof *checks && !lint->failed; i++)
		checks[i](lint);
	return lint->failed ? -ENOMEM : 0;
}

static json_t *lint_document(const struct ft_lint *lint)
{
	const struct ft_diagnostic *found = lint->found.items;
	json_t *diagnostics = json_array();

	for (size_t i = 0; i < lint->found.count; i++)
		json_array_append_new(diagnostics, ft_json_diagnostic(lint->declared, &found[i]));
	return json_pack("{s:s, s:o, s:s, s:s, s:o}", "schema", "fabtap.lint/1", "file",
			 ft_json_text(ft_base_name(lint->declared->files[0].path)), "format",
			 lint->declared->format, "verdict",
			 ft_map_verdict_word(lint->declared->verdict), "diagnostics", diagnostics);
}

static int write_text(const struct ft_lint *lint, FILE *out)
{
	const struct ft_diagnostic *found = lint->found.items;

	for (size_t i = 0; i < lint->found.count; i++)
		ft_diagnostic_write(lint->declared, &found[i], out);
	if (lint->found.count == 0)
		fprintf(out, "%s: nothing to say\n", lint->declared->files[0].path);
	return ft_written(out);
}

static size_t count_serious(const struct ft_lint *lint)
{
	const struct ft_diagnostic *found = lint->found.items;
	size_t serious = 0;

	for (size_t i = 0; i < lint->found.count; i++)
		serious += found[i].severity != FT_NOTE;
	return serious;
}

int ft_map_lint(const struct ft_map *map, bool json, FILE *out, size_t *worth_a_look)
{
	struct ft_lint lint = { .map = map,
				.declared = ft_map_declared(map),
				.found.item_size = sizeof(struct ft_diagnostic) };
	int failed = ft_ports_open(&lint.ports, lint.declared);

	if (failed == 0)
		failed = run(&lint);
	if (failed == 0) {
		*worth_a_look = count_serious(&lint);
		failed = json ? ft_json_write(lint_document(&lint), out) : write_text(&lint, out);
	}
	ft_ports_close(&lint.ports);
	ft_list_release(&lint.found);
	return failed;
}
