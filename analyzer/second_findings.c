#include "second_findings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <decode/opcode.h>
#include <partition/notation.h>

#include "subject.h"

/* What is told of, whoever found it. */
struct claim {
	enum ft_rule rule;
	const struct ft_flow_key *key; /* of the half-connection that is told of */
	const struct ft_first *first;
	struct ft_frame frame; /* that shows it; its bytes NULL if it was not kept */
	uint64_t packets, bytes, last_ns;
	bool native;
	bool plausible;
	char text[FT_SECOND_TEXT];
};

/* What of its packets the map is asked about. */
static struct ft_check_key check_key_of(const struct ft_flow_key *flow,
					const struct ft_first *first, bool native)
{
	struct ft_check_key key = {
		.pkey = first->pkey,
		.vlan = first->vlan,
		.has_vni = flow->vni != FT_FLOW_NO_VNI,
		.qp_kind = 2,
		.has_gids = flow->by_lid == 0,
		.native = native,
		.known = FT_NEED_ALL,
		.service = FT_RC,
	};

	if (key.has_vni)
		key.vni = flow->vni;
	if (!key.has_gids) {
		key.slid = ft_flow_lid(flow->src);
		key.dlid = ft_flow_lid(flow->dst);
		return key;
	}
	memcpy(key.src, flow->src, sizeof key.src);
	memcpy(key.dst, flow->dst, sizeof key.dst);
	return key;
}

static void find_subject(const struct ft_map *map, const struct ft_flow_key *flow,
			 const struct ft_first *first, bool native, struct ft_subject *subject)
{
	struct ft_check_key key = check_key_of(flow, first, native);
	struct ft_verdict verdict;

	ft_check(map, &key, (int64_t)first->ts_ns, &verdict);
	ft_subject_of(map, &key, &verdict, subject);
}

static void write_requests(const struct ft_second_sender *sender, char text[FT_SECOND_TEXT])
{
	const char *name = ft_opcode_name(sender->first.opcode);
	const struct ft_flow_key *key = &sender->owner->key;
	char owner[FT_END_TEXT];

	ft_end_text(key->src, key->by_lid, owner);
	snprintf(text, FT_SECOND_TEXT,
		 "frame %" PRIu64 ": %s with PSN %" PRIu32 " to queue pair %" PRIu32
		 ", which is connected with %s and expects PSN %" PRIu32 " at the end",
		 sender->first.frame, name == NULL ? "a packet" : name, sender->first.psn,
		 sender->owner->key.dest_qp, owner, sender->owner->half.next_psn);
}

static void write_cnps(const struct ft_second_sender *sender, char text[FT_SECOND_TEXT])
{
	const struct ft_flow_key *key = &sender->owner->key;
	char owner[FT_END_TEXT];

	ft_end_text(key->src, key->by_lid, owner);
	snprintf(text, FT_SECOND_TEXT,
		 "frame %" PRIu64 ": the first of %" PRIu64
		 " CNPs, and nothing else, to queue pair %" PRIu32 ", which is connected with %s",
		 sender->first.frame, sender->flow->packets, sender->owner->key.dest_qp, owner);
}

/*
 * Two ports of one host, by the map. Its card may use the other one: for CNPs, and on InfiniBand for all that it sends once
 * the path of a connection has migrated (IBA vol. 1, 17.2.8).
 */
static bool is_same_host(const struct ft_map *map, const struct ft_second_sender *sender,
			 bool native)
{
	struct ft_subject stranger, owner;

	find_subject(map, &sender->flow->key, &sender->first, native, &stranger);
	find_subject(map, &sender->owner->key, &sender->first, native, &owner);
	return stranger.src.host != NULL && owner.src.host != NULL &&
	       strcmp(stranger.src.host, owner.src.host) == 0;
}

static bool is_native(const uint8_t smac[6])
{
	static const uint8_t no_mac[6] = { 0 };

	return memcmp(smac, no_mac, sizeof no_mac) == 0;
}

static void claim_sender(const struct ft_map *map, const struct ft_second_sender *sender,
			 struct claim *claim)
{
	const struct ft_flow *flow = sender->flow;

	*claim = (struct claim){
		.rule = sender->cnps ? FT_RULE_SPOOF_CNP_UNSOLICITED : FT_RULE_SPOOF_SECOND_SENDER,
		.key = &flow->key,
		.first = &sender->first,
		.frame = sender->frame,
		.packets = flow->packets,
		.bytes = flow->bytes,
		.last_ns = flow->last_ns,
		.native = is_native(sender->cnps ? sender->owner->look.smac : flow->look.smac),
		.plausible = sender->plausible,
	};
	if (sender->cnps || claim->native)
		claim->plausible = (sender->cnps || sender->plausible) &&
				   !is_same_host(map, sender, claim->native);
	if (sender->cnps)
		write_cnps(sender, claim->text);
	else
		write_requests(sender, claim->text);
}

static void claim_flood(const struct ft_flood *flood, struct claim *claim)
{
	char usual[FT_NOTATION_ROOM], seen[FT_NOTATION_ROOM];
	int length;

	*claim = (struct claim){
		.rule = FT_RULE_SPOOF_CNP_UNSOLICITED,
		.key = &flood->key,
		.first = &flood->first,
		.frame = ft_cut_frame_of(&flood->frame),
		.packets = flood->cnps,
		.bytes = flood->bytes,
		.last_ns = flood->last_ns,
		.native = is_native(flood->smac),
		.plausible = flood->foreign,
	};
	length = snprintf(claim->text, FT_SECOND_TEXT,
			  "frame %" PRIu64 ": the last of %" PRIu32
			  " CNPs in %.3f ms to queue pair %" PRIu32 ", which sent %" PRIu32
			  " packets meanwhile",
			  flood->first.frame, flood->then, (double)flood->within_ns / 1e6,
			  flood->key.dest_qp, flood->packets);
	if (flood->foreign)
		snprintf(claim->text + length, FT_SECOND_TEXT - (size_t)length,
			 ", from MAC %s instead of %s", ft_mac_write(seen, flood->smac),
			 ft_mac_write(usual, flood->usual.smac));
}

/* A frame, as one of this finding; once, though it is found anew for every report. 0 or -ENOMEM. */
static int write_evidence(struct ft_second_findings *second, const struct ft_finding *finding,
			  const struct ft_frame *frame, const struct ft_second_evidence *evidence)
{
	if (evidence->writer == NULL || frame->bytes == NULL)
		return 0;
	for (size_t i = 0; i < FT_SECOND_FINDINGS; i++)
		if (second->written[i] == frame->number)
			return 0;
	second->written[second->written_count++ % FT_SECOND_FINDINGS] = frame->number;
	return ft_finding_write(finding, evidence->writer, evidence->source, frame);
}

/* 0 or -ENOMEM. */
static int add(struct ft_second_findings *second, const struct ft_map *map,
	       const struct claim *claim, const struct ft_second_evidence *evidence)
{
	struct ft_frame counted = claim->frame;
	struct ft_subject subject;
	struct ft_finding *finding;
	uint32_t index;
	bool named;

	find_subject(map, claim->key, claim->first, claim->native, &subject);
	index = ft_findings_of(&second->findings, claim->rule, &subject);
	if (index == FT_NONE)
		return 0;
	finding = &second->findings.items[index];
	finding->map = map;
	if (finding->packets == 0)
		memcpy(second->notes[index].text, claim->text, FT_SECOND_TEXT);
	second->notes[index].plausible |= claim->plausible;
	counted.wire = 0; /* all its bytes are added below */
	named = ft_finding_add(finding, &counted, claim->key->dest_qp);
	finding->packets += claim->packets - 1;
	finding->bytes += claim->bytes;
	if (claim->last_ns > finding->last_ts_ns)
		finding->last_ts_ns = claim->last_ns;
	return named ? write_evidence(second, finding, &claim->frame, evidence) : 0;
}

static int add_senders(struct ft_second_findings *second, const struct ft_map *map,
		       struct ft_worker *const *workers, unsigned count,
		       const struct ft_second_evidence *evidence)
{
	struct ft_second_sender found[FT_SECOND_SENDERS];
	size_t senders = ft_second_senders(workers, count, found);
	struct claim claim;
	int error = 0;

	for (size_t i = 0; error == 0 && i < senders; i++) {
		claim_sender(map, &found[i], &claim);
		error = add(second, map, &claim, evidence);
	}
	return error;
}

static int add_floods(struct ft_second_findings *second, const struct ft_map *map,
		      const struct ft_floods *floods, const struct ft_second_evidence *evidence)
{
	struct claim claim;
	int error = 0;

	for (uint32_t i = 0; error == 0 && i < floods->count; i++) {
		claim_flood(&floods->items[i], &claim);
		error = add(second, map, &claim, evidence);
	}
	return error;
}

int ft_second_findings_fill(struct ft_second_findings *second, const struct ft_map *map,
			    struct ft_worker *const *workers, unsigned count,
			    const struct ft_second_evidence *evidence)
{
	int error;

	ft_second_findings_free(second);
	memset(second->notes, 0, sizeof second->notes);
	error = ft_findings_init(&second->findings, FT_SECOND_FINDINGS);
	if (error == 0)
		error = add_senders(second, map, workers, count, evidence);
	for (unsigned i = 0; error == 0 && i < count; i++)
		error = add_floods(second, map, &workers[i]->floods, evidence);
	return error;
}

void ft_second_findings_free(struct ft_second_findings *second)
{
	ft_findings_free(&second->findings);
}
