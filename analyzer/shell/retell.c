#include "retell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED = 20 }; /* captures; who has more of them names them by a pattern */

static void quote(FILE *out, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+=@%";

	if (*word != 0 && strspn(word, plain) == strlen(word)) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word != 0; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	}
	fputc('\'', out);
}

static void option(FILE *out, const char *name, const char *value)
{
	if (value == NULL)
		return;
	fprintf(out, "%s ", name);
	quote(out, value);
	fputc(' ', out);
}

static void decoding(FILE *out, const struct ft_job *job)
{
	static const char *const readings[] = {
		[FT_RD_IBA] = NULL, [FT_RD_DC] = "dc", [FT_RD_OPAQUE] = "opaque"
	};

	option(out, "--rd", readings[job->config.decode.rd]);
	for (unsigned i = 0; i < job->ports_given; i++)
		fprintf(out, "--roce-port %u ", job->config.decode.roce_ports[i]);
	for (unsigned i = 0; i < job->config.decode.mirror_vlan_count; i++)
		fprintf(out, "--mirror-vlan %u ", job->config.decode.mirror_vlans[i]);
	if (!job->config.decode.check_icrc)
		fputs("--no-icrc ", out);
	if (job->most_frames != UINT64_MAX)
		fprintf(out, "-c %" PRIu64 " ", job->most_frames);
}

/* Where the frames are; those of a live run that were kept. */
static void captures(FILE *out, const struct ft_job *job, const char *evidence)
{
	if (ft_job_is_live(job))
		quote(out, evidence);
	for (size_t i = 0; i < job->capture_count && (i == 0 || job->capture_count <= NAMED); i++) {
		if (i > 0)
			fputc(' ', out);
		quote(out, job->captures[i]);
	}
	if (job->capture_count > NAMED)
		fprintf(out, " ... (all %zu captures)", job->capture_count);
}

char *ft_retell(const struct ft_job *job, const char *evidence)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	if (ft_job_is_live(job) && evidence == NULL)
		return NULL; /* the frames are gone */
	out = open_memstream(&text, &size);
	if (out == NULL)
		return NULL;
	option(out, "-m", job->files.map);
	option(out, "--map-format", job->files.format);
	for (size_t i = 0; i < job->files.topology_count; i++)
		option(out, "--topology", job->topologies[i]);
	if (job->files.allow_both_pkeys)
		fputs("--allow-both-pkeys ", out);
	decoding(out, job);
	captures(out, job, evidence);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
