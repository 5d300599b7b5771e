#include "findings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

enum {
	FIRST_ROOM = 64,
	ID_BYTES = 8,
	LONG_NAME =
		255, /* bytes of a host's name in a tapmap; in a topology file it may be longer */
	SUBJECT_TEXT = 1024, /* has room for two of them, and all else */
};

int ft_findings_init(struct ft_findings *findings, uint32_t limit)
{
	uint32_t slots = 1;

	while (slots < 2 * limit)
		slots *= 2;
	*findings = (struct ft_findings){ .limit = limit, .slot_mask = slots - 1 };
	findings->slots = calloc(slots, sizeof *findings->slots);
	return findings->slots == NULL ? -ENOMEM : 0;
}

void ft_findings_free(struct ft_findings *findings)
{
	free(findings->items);
	free(findings->slots);
	*findings = (struct ft_findings){ 0 };
}

void ft_finding_hash(const char *text, char id[24])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t digest[EVP_MAX_MD_SIZE];
	unsigned size = 0;

	if (EVP_Digest(text, strlen(text), digest, &size, EVP_sha256(), NULL) != 1)
		abort(); /* SHA-256 of bytes in memory cannot fail */
	for (unsigned i = 0; i < ID_BYTES; i++) {
		id[2 * i] = digits[digest[i] >> 4];
		id[2 * i + 1] = digits[digest[i] & 0xf];
	}
	id[2 * ID_BYTES] = '\0';
}

/* What an end is known by; a digest of it where it is too long to be hashed with the rest. */
static const char *name_of(const struct ft_subject_end *end, char digest[24])
{
	const char *name = end->host != NULL ? end->host : end->address;

	if (strlen(name) <= LONG_NAME)
		return name;
	ft_finding_hash(name, digest);
	return digest;
}

void ft_finding_id(enum ft_rule rule, const struct ft_subject *subject, char id[24])
{
	char text[SUBJECT_TEXT], src[24], dst[24];
	char vni[16] = "";

	if (subject->has_vni)
		snprintf(vni, sizeof vni, "%u", subject->vni);
	snprintf(text, sizeof text, "%s\n%s\n%s\n0x%04x\n%u\n%s", ft_rule_text(rule)->name,
		 name_of(&subject->src, src), name_of(&subject->dst, dst), subject->pkey & 0x7fffu,
		 subject->vlan, vni);
	ft_finding_hash(text, id);
}

/* The slot that holds the id, or the empty one where it belongs. */
static uint32_t *slot_of(const struct ft_findings *findings, const char *id)
{
	uint32_t at = (uint32_t)strtoul(
		(char[]){ id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7], '\0' }, NULL, 16);

	for (at &= findings->slot_mask; findings->slots[at] != 0;
	     at = (at + 1) & findings->slot_mask)
		if (strcmp(findings->items[findings->slots[at] - 1].id, id) == 0)
			break;
	return &findings->slots[at];
}

static bool make_room(struct ft_findings *findings)
{
	uint32_t room = findings->room == 0 ? FIRST_ROOM : 2 * findings->room;
	struct ft_finding *items;

	if (ft_findings_are_full(findings))
		return false;
	if (findings->count < findings->room)
		return true;
	items = realloc(findings->items, room * sizeof *items);
	if (items == NULL)
		return false;
	findings->items = items;
	findings->room = room;
	return true;
}

uint32_t ft_findings_of(struct ft_findings *findings, enum ft_rule rule,
			const struct ft_subject *subject)
{
	char id[24];
	uint32_t *slot;
	struct ft_finding *made;

	ft_finding_id(rule, subject, id);
	slot = slot_of(findings, id);
	if (*slot != 0)
		return *slot - 1;
	if (!make_room(findings))
		return FT_NONE;
	made = &findings->items[findings->count++];
	*made = (struct ft_finding){
		.rule = rule,
		.severity = ft_rule_text(rule)->severity,
		.subject = *subject,
		.origin = { .file = FT_NONE },
		.first_ts_ns = FT_TS_UNKNOWN,
		.last_ts_ns = FT_TS_UNKNOWN,
	};
	memcpy(made->id, id, sizeof id);
	*slot = findings->count;
	return findings->count - 1;
}

static void note_dest_qp(struct ft_finding *finding, uint32_t dest_qp)
{
	for (uint8_t i = 0; i < finding->dest_qp_count; i++)
		if (finding->dest_qps[i] == dest_qp)
			return;
	if (finding->dest_qp_count < FT_FINDING_QPS)
		finding->dest_qps[finding->dest_qp_count++] = dest_qp;
}

bool ft_finding_has(const struct ft_finding *finding, uint64_t number)
{
	for (uint8_t i = 0; i < finding->frame_count; i++)
		if (finding->frames[i] == number)
			return true;
	return false;
}

bool ft_finding_add(struct ft_finding *finding, const struct ft_frame *frame, uint32_t dest_qp)
{
	finding->packets++;
	finding->bytes += frame->wire;
	if (frame->ts_ns != FT_TS_UNKNOWN) {
		if (finding->first_ts_ns == FT_TS_UNKNOWN || frame->ts_ns < finding->first_ts_ns)
			finding->first_ts_ns = frame->ts_ns;
		if (finding->last_ts_ns == FT_TS_UNKNOWN || frame->ts_ns > finding->last_ts_ns)
			finding->last_ts_ns = frame->ts_ns;
	}
	if (dest_qp != FT_NONE)
		note_dest_qp(finding, dest_qp);
	if (finding->frame_count == FT_FINDING_FRAMES)
		return false;
	finding->frames[finding->frame_count++] = frame->number;
	return true;
}

int ft_finding_write(const struct ft_finding *finding, struct ft_pcapng_writer *writer,
		     const struct ft_source *source, const struct ft_frame *frame)
{
	char comment[64];

	snprintf(comment, sizeof comment, "%s %s", finding->id, ft_rule_text(finding->rule)->name);
	return ft_pcapng_write(writer, frame, ft_source_input(source, frame->input)->name, comment);
}
