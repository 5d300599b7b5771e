#include "../holds.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <report/render.h>

/*
 * Whatever names a map, a file or the wire brought into a report, and whatever its numbers: the page has no
 * control character but line ends, and the document is valid JSON with as many rows as the report.
 * The bytes are names (ended by zero bytes) and numbers.
 */
struct taken {
	const uint8_t *at;
	size_t left;
	char names[8][48];
	unsigned count;
};

static const char *name(struct taken *taken)
{
	char *to = taken->names[taken->count++ % 8];
	size_t size = 0;

	while (taken->left > 0 && *taken->at != 0 && size < sizeof(taken->names[0]) - 1) {
		to[size++] = (char)*taken->at++;
		taken->left--;
	}
	if (taken->left > 0) {
		taken->at++;
		taken->left--;
	}
	to[size] = 0;
	return to;
}

static uint64_t number(struct taken *taken)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < 8 && taken->left > 0; i++, taken->left--)
		value = value << 8 | *taken->at++;
	return value >> 1; /* JSON readers stop at 63 bits, and no counter gets there */
}

static struct ft_report_finding finding(struct taken *taken)
{
	const char *host = name(taken), *tenant = name(taken);

	return (struct ft_report_finding){
		.id = "0123456789abcdef",
		.rule = "tenant.crossing",
		.severity = (uint8_t)(number(taken) % 5),
		.violation = true,
		.certainty = 1,
		.summary = host,
		.first_ts_ns = number(taken),
		.last_ts_ns = number(taken),
		.packets = number(taken),
		.bytes = number(taken),
		.has_ends = true,
		.src = { host, host, tenant, false },
		.dst = { tenant, NULL, NULL, true },
		.has_pkey = true,
		.pkey = (uint16_t)number(taken),
		.has_vni = true,
		.vni = (uint32_t)number(taken),
		.map_file = tenant,
		.map_line = 7,
		.map_path = host,
		.frames = { number(taken) },
		.frame_count = 1,
	};
}

static char *page(const struct ft_report *report)
{
	const struct ft_render_options look = { .width = 80, .arguments = report->map.name };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert(out != NULL);
	assert(ft_render_text(out, report, &look) == 0);
	assert(fclose(out) == 0 && strlen(text) == size);
	return text;
}

static json_t *document(const struct ft_report *report)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_t *parsed;

	assert(out != NULL);
	assert(ft_render_json(out, report) == 0);
	assert(fclose(out) == 0 && strlen(text) == size);
	parsed = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	return parsed;
}

void ft_holds(const uint8_t *bytes, size_t size)
{
	struct taken taken = { .at = bytes, .left = size };
	const char *const id = name(&taken);
	struct ft_report_pair pair = { .from = name(&taken),
				       .to = name(&taken),
				       .packets = number(&taken),
				       .bytes = number(&taken),
				       .violating = number(&taken),
				       .verdict = "violated",
				       .exceptions = &id,
				       .exception_count = 1 };
	struct ft_report_finding findings[2] = { finding(&taken), finding(&taken) };
	struct ft_report report = {
		.version = "0",
		.build = "0",
		.verdict = FT_VIOLATED,
		.frames = number(&taken),
		.bytes = number(&taken),
		.first_ts_ns = number(&taken),
		.last_ts_ns = number(&taken),
		.map = { .path = id,
			 .name = pair.from,
			 .format = "tapmap",
			 .sha256 = "00",
			 .signed_by = pair.to,
			 .verdict = "warn",
			 .serial = number(&taken),
			 .tenants = number(&taken) },
		.coverage = { .lost_estimate = number(&taken),
			      .share_seen = -1,
			      .judged = number(&taken),
			      .undecided = number(&taken),
			      .could_hide_per_million = -1 },
		.matrix = &pair,
		.pair_count = 1,
		.findings = findings,
		.finding_count = 2,
		.evidence_path = id,
	};
	json_t *parsed;
	char *text;

	snprintf(report.because, sizeof(report.because), "%s %s", pair.to, id);
	text = page(&report);
	for (const char *at = text; *at != 0; at++)
		assert(*at == '\n' || !iscntrl((unsigned char)*at));
	free(text);
	parsed = document(&report);
	assert(json_array_size(json_object_get(parsed, "findings")) == 2);
	assert(json_array_size(json_object_get(parsed, "matrix")) == 1);
	json_decref(parsed);
}
