#include "second_findings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <decode/opcode.h>

#include "subject.h"

/* What of its packets the map is asked about. */
static struct ft_check_key key_of(const struct ft_second_sender *sender)
{
	static const uint8_t no_mac[6] = { 0 };
	const struct ft_flow *flow = sender->flow;
	struct ft_check_key key = {
		.pkey = sender->first.pkey,
		.vlan = sender->first.vlan,
		.has_vni = flow->key.vni != FT_FLOW_NO_VNI,
		.qp_kind = 2,
		.has_gids = flow->key.by_lid == 0,
		.native = memcmp(flow->look.smac, no_mac, sizeof no_mac) == 0,
		.known = FT_NEED_ALL,
		.service = FT_RC,
	};

	if (key.has_vni)
		key.vni = flow->key.vni;
	if (!key.has_gids) {
		key.slid = ft_flow_lid(flow->key.src);
		key.dlid = ft_flow_lid(flow->key.dst);
		return key;
	}
	memcpy(key.src, flow->key.src, sizeof key.src);
	memcpy(key.dst, flow->key.dst, sizeof key.dst);
	return key;
}

static void write_note(const struct ft_second_sender *sender, struct ft_second_note *note)
{
	const struct ft_flow_key *key = &sender->owner->key;
	const char *name = ft_opcode_name(sender->first.opcode);
	char owner[48];

	if (key->by_lid)
		snprintf(owner, sizeof owner, "lid:%u", (unsigned)ft_flow_lid(key->src));
	else
		ft_address_text(key->src, owner);
	snprintf(note->text, sizeof note->text,
		 "frame %" PRIu64 ": %s with PSN %" PRIu32 " to queue pair %" PRIu32
		 ", which is connected with %s and expects PSN %" PRIu32 " at the end",
		 sender->first.frame, name == NULL ? "a packet" : name, sender->first.psn,
		 key->dest_qp, owner, sender->owner->half.next_psn);
}

/* A frame, as one of this finding; once, though it is found anew for every report. 0 or -ENOMEM. */
static int write_evidence(struct ft_second_findings *second, const struct ft_finding *finding,
			  const struct ft_frame *frame, const struct ft_second_evidence *evidence)
{
	if (evidence->writer == NULL || frame->bytes == NULL)
		return 0;
	for (size_t i = 0; i < FT_SECOND_SENDERS; i++)
		if (second->written[i] == frame->number)
			return 0;
	second->written[second->written_count++ % FT_SECOND_SENDERS] = frame->number;
	return ft_finding_write(finding, evidence->writer, evidence->source, frame);
}

/* 0 or -ENOMEM. */
static int add(struct ft_second_findings *second, const struct ft_map *map,
	       const struct ft_second_sender *sender, const struct ft_second_evidence *evidence)
{
	const struct ft_flow *flow = sender->flow;
	struct ft_check_key key = key_of(sender);
	struct ft_frame counted = sender->frame;
	struct ft_verdict verdict;
	struct ft_subject subject;
	struct ft_finding *finding;
	uint32_t index;
	bool named;

	ft_check(map, &key, (int64_t)sender->first.ts_ns, &verdict);
	ft_subject_of(map, &key, &verdict, &subject);
	index = ft_findings_of(&second->findings, FT_RULE_SPOOF_SECOND_SENDER, &subject);
	if (index == FT_NONE)
		return 0;
	finding = &second->findings.items[index];
	finding->map = map;
	if (finding->packets == 0)
		write_note(sender, &second->notes[index]);
	second->notes[index].plausible |= sender->plausible;
	counted.wire = 0; /* all its bytes are added below */
	named = ft_finding_add(finding, &counted, flow->key.dest_qp);
	finding->packets += flow->packets - 1;
	finding->bytes += flow->bytes;
	if (flow->last_ns > finding->last_ts_ns)
		finding->last_ts_ns = flow->last_ns;
	return named ? write_evidence(second, finding, &sender->frame, evidence) : 0;
}

int ft_second_findings_fill(struct ft_second_findings *second, const struct ft_map *map,
			    struct ft_worker *const *workers, unsigned count,
			    const struct ft_second_evidence *evidence)
{
	struct ft_second_sender found[FT_SECOND_SENDERS];
	size_t senders = ft_second_senders(workers, count, found);
	int error;

	ft_second_findings_free(second);
	memset(second->notes, 0, sizeof second->notes);
	error = ft_findings_init(&second->findings, FT_SECOND_SENDERS);
	for (size_t i = 0; error == 0 && i < senders; i++)
		error = add(second, map, &found[i], evidence);
	return error;
}

void ft_second_findings_free(struct ft_second_findings *second)
{
	ft_findings_free(&second->findings);
}
