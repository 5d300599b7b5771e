#include "show_text.h"

#include <inttypes.h>

#include <partition/moment.h>
#include <partition/show.h>

#include "document.h"

/* A map that was refused may lack either. */
static const char *tenant_name(const struct ft_declared *declared, uint32_t tenant)
{
	return tenant != FT_NONE ? declared->tenants[tenant].name : "-";
}

static void write_span(const struct ft_interval *interval, FILE *out)
{
	char from[FT_MOMENT_ROOM], to[FT_MOMENT_ROOM];

	if (interval->from_ns == FT_TIME_MIN && interval->to_ns == FT_TIME_MAX)
		return;
	fprintf(out, "    from %s %s%s%s%s\n", ft_moment_write(from, interval->from_ns),
		interval->to_ns == FT_TIME_MAX ? "on" : "to ",
		interval->to_ns == FT_TIME_MAX ? "" : ft_moment_write(to, interval->to_ns),
		interval->reason != NULL ? ", " : "",
		interval->reason != NULL ? interval->reason : "");
}

static void write_interval(const struct ft_declared *declared, const struct ft_interval *interval,
			   bool segment, FILE *out)
{
	char text[FT_NOTATION_ROOM];

	write_span(interval, out);
	for (size_t i = 0; i < interval->member_count; i++) {
		const struct ft_member *member = &interval->members[i];
		enum ft_membership membership = member->written_both ? FT_BOTH : member->membership;
		const char *word = ft_member_word(text, member, declared->last_rule_wins);

		if (segment)
			fprintf(out, "      %s\n", word);
		else
			fprintf(out, "      %-24s %s%s\n", word, ft_membership_word(membership),
				member->origin.line != 0 ? "" : " (OpenSM's own rule)");
	}
}

static void write_partition(const struct ft_declared *declared,
			    const struct ft_partition *partition, FILE *out)
{
	char text[FT_NOTATION_ROOM];
	const char *tenant = tenant_name(declared, partition->tenant);

	fprintf(out, "  %s  %-20s line %u\n", ft_pkey_write(text, partition->base), tenant,
		partition->origin.line);
	for (size_t i = 0; i < partition->interval_count; i++)
		write_interval(declared, &partition->intervals[i], false, out);
}

static void write_segment(const struct ft_declared *declared, const struct ft_segment *segment,
			  FILE *out)
{
	fprintf(out, "  %-20s %-20s line %u\n", segment->name != NULL ? segment->name : "-",
		tenant_name(declared, segment->tenant), segment->origin.line);
	for (size_t i = 0; i < segment->interval_count; i++)
		write_interval(declared, &segment->intervals[i], true, out);
}

static void write_identity(const struct ft_declared *declared, FILE *out)
{
	if (declared->map_id == NULL)
		return;
	fprintf(out, "  map %s", declared->map_id);
	if (declared->serial != 0)
		fprintf(out, ", serial %" PRIu64, declared->serial);
	fputc('\n', out);
}

/* "3 tenants", "1 tenant": a noun without its s. */
static void write_count(size_t count, const char *noun, FILE *out)
{
	fprintf(out, "%zu %s%s", count, noun, count == 1 ? "" : "s");
}

static void write_counts(const struct ft_declared *declared, FILE *out)
{
	const struct {
		size_t count;
		const char *noun;
	} parts[] = {
		{ declared->tenant_count, "tenant" },
		{ declared->partition_count, "partition" },
		{ declared->segment_count, "segment" },
		{ declared->port_count, "port" },
		{ declared->exception_count, "exception" },
	};

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		fputs(i == 0 ? "  " : ", ", out);
		write_count(parts[i].count, parts[i].noun, out);
	}
	fputc('\n', out);
}

static void write_head(const struct ft_declared *declared, FILE *out)
{
	fprintf(out, "%s: %s, verdict %s\n", declared->files[0].path, declared->format,
		ft_map_verdict_word(declared->verdict));
	fprintf(out, "  sha256 %s\n", declared->files[0].sha256);
	write_identity(declared, out);
	fprintf(out, "  %s%s\n",
		declared->signed_by[0] != '\0' ? "signed by " : "signature not checked",
		declared->signed_by);
	write_counts(declared, out);
}

int ft_show_text(const struct ft_declared *declared, FILE *out)
{
	write_head(declared, out);
	if (declared->partition_count != 0)
		fputs(declared->verdict == FT_MAP_FAIL_OPEN
			      ? "partitions in force, since OpenSM drops the file:\n"
			      : "partitions:\n",
		      out);
	for (size_t i = 0; i < declared->partition_count; i++)
		write_partition(declared, &declared->partitions[i], out);
	if (declared->intended_count != 0)
		fputs("partitions that were meant:\n", out);
	for (size_t i = 0; i < declared->intended_count; i++)
		write_partition(declared, &declared->intended[i], out);
	if (declared->segment_count != 0)
		fputs("segments:\n", out);
	for (size_t i = 0; i < declared->segment_count; i++)
		write_segment(declared, &declared->segments[i], out);
	for (size_t i = 0; i < declared->diagnostic_count; i++)
		ft_diagnostic_write(declared, &declared->diagnostics[i], out);
	return ft_written(out);
}
