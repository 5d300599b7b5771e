#include "wording.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <engine/no_memory.h>

static const char *keep(struct ft_arena *words, const char *text, size_t length)
{
	const char *kept = ft_arena_text(words, text, length);

	if (kept == NULL)
		ft_no_memory();
	return kept;
}

const char *ft_words(struct ft_arena *words, const char *format, ...)
{
	va_list values;
	char *text;
	const char *kept;
	int length;

	va_start(values, format);
	length = vasprintf(&text, format, values);
	va_end(values);
	if (length < 0)
		ft_no_memory();
	kept = keep(words, text, (size_t)length);
	free(text);
	return kept;
}

/*
 * {s} and {d}: source and destination with their tenants; {p}: P_Key as sent; {o}: the partition's
 * name or tenant; {w}: where the frame was (VLAN or VNI).
 */
static const char *const templates[FT_ALL_RULES] = {
	[FT_RULE_PKEY_INVALID] = "{s} sent to {d} with P_Key {p}, which no partition can have",
	[FT_RULE_PKEY_UNDECLARED] =
		"{s} sent to {d} with P_Key {p}, which the map does not declare",
	[FT_RULE_PKEY_SENDER_NOT_MEMBER] =
		"{s} sent to {d} with P_Key {p} ({o}) without being a member",
	[FT_RULE_PKEY_RECEIVER_NOT_MEMBER] =
		"{s} sent with P_Key {p} ({o}) to {d}, which is not a member",
	[FT_RULE_PKEY_LIMITED_TO_LIMITED] =
		"{s} and {d} are both limited members of {p} ({o}) and may not talk",
	[FT_RULE_PKEY_MEMBERSHIP_OVERCLAIMED] =
		"{s} is a limited member of {p} ({o}) but sent to {d} as a full one",
	[FT_RULE_PKEY_DEFAULT_USED] =
		"{s} sent to {d} in the default partition (P_Key {p}), past tenant isolation",
	[FT_RULE_PKEY_CHANGED_ON_CONNECTION] =
		"{s} changed to P_Key {p} inside a connection with {d}",
	[FT_RULE_TENANT_CROSSING] = "{s} reached {d}: two tenants without an exception{w}",
	[FT_RULE_TENANT_UNKNOWN_ENDPOINT] =
		"{s} sent to {d}: an end that the map does not declare{w}",
	[FT_RULE_TENANT_WRONG_SEGMENT] = "{s} sent to {d} outside every segment of theirs{w}",
	[FT_RULE_TENANT_OUTSIDE_VALIDITY] = "{s} sent to {d} at a time when the map does not "
					    "permit it, though it does at another",
	[FT_RULE_TENANT_GRACE] = "{s} sent to {d} within the grace time after a change of the map",
	[FT_RULE_SPOOF_ADDRESS_MISMATCH] =
		"{s} to {d}: the addresses of one end belong to two different ports",
	[FT_RULE_DECODE_BAD_ICRC] = "{s} to {d}: frames with a wrong ICRC were not judged",
	[FT_RULE_DECODE_PKEY_UNUSUAL] =
		"{s} sent to {d} with P_Key {p}, unusual where segments isolate the tenants",
	[FT_RULE_SPOOF_PSN_CONFLICT] =
		"{s} to {d}: two different requests under one packet sequence number{w}",
	[FT_RULE_SPOOF_PAYLOAD_CHANGED] =
		"{s} to {d}: a request that was sent again has another payload{w}",
	[FT_RULE_SPOOF_SENDER_CHANGED] =
		"{s} to {d}: packets inside a connection that another sender made{w}",
	[FT_RULE_SPOOF_SENDER_VARIES] =
		"{s} to {d}: the sender of a connection shows another trait than before{w}",
	[FT_RULE_SPOOF_PSN_WINDOW] =
		"{s} to {d}: requests numbered far from what their connection expects{w}",
	[FT_RULE_SPOOF_UNASKED_RESPONSE] = "{s} answered {d} what it was not seen to ask{w}",
	[FT_RULE_SPOOF_ACCESS_ERRORS] =
		"{s} refused {d} access to memory again and again: guessed R_Keys or probing{w}",
	[FT_RULE_SPOOF_QP_SCAN] = "{s} searches {d} for queue pairs{w}",
	[FT_RULE_SPOOF_QKEY_GUESSES] = "{s} guesses the Q_Key of a queue pair of {d}{w}",
	[FT_RULE_SPOOF_NAK_OUTLIVED] = "{s} answers {d} on a connection that a NAK had ended{w}",
	[FT_RULE_TENANT_MANAGEMENT_CROSSING] =
		"{s} sent management datagrams to {d}: two tenants without an exception{w}",
	[FT_RULE_NCCL_WRITE_OUTSIDE] =
		"{s} wrote to {d} beyond what a NCCL clear-to-send offered{w}",
	[FT_RULE_NCCL_WRITE_UNASKED] =
		"{s} wrote to {d} on a NCCL connection without a clear-to-send{w}",
	[FT_RULE_NCCL_SECOND_WRITER] =
		"{s} wrote to memory of {d} that was offered to another sender{w}",
	[FT_RULE_NCCL_CONTRADICTION] =
		"{s} to {d}: NCCL framing that is not of the connection's form{w}",
	[FT_RULE_NCCL_REPLAY] = "{s} to {d}: NCCL framing came again or out of order{w}",
	[FT_RULE_NCCL_CROSSES_TENANTS] = "{s} and {d} are in one NCCL communicator{w}",
	[FT_RULE_SPOOF_SECOND_SENDER] = "{s} sent to a queue pair of {d} that has another peer{w}",
	[FT_RULE_SPOOF_CNP_UNSOLICITED] =
		"{s} told {d} to slow down for packets that it cannot have got{w}",
	[FT_RULE_NCCL_FOREIGN_SETUP] = "{s} spoke NCCL's set-up with {d}{w}",
};

static void write_end(FILE *out, const struct ft_declared *declared,
		      const struct ft_subject_end *end)
{
	fputs(end->host != NULL ? end->host : end->address, out);
	if (end->tenant != FT_NONE)
		fprintf(out, " (%s)", declared->tenants[end->tenant].name);
}

static const char *partition_name(const struct ft_declared *declared, uint16_t pkey)
{
	for (size_t i = 0; i < declared->partition_count; i++) {
		const struct ft_partition *partition = &declared->partitions[i];

		if (partition->base != (pkey & 0x7fff))
			continue;
		if (partition->name != NULL)
			return partition->name;
		return partition->tenant == FT_NONE ? "no tenant"
						    : declared->tenants[partition->tenant].name;
	}
	return "undeclared";
}

static void write_place(FILE *out, const struct ft_subject *subject)
{
	if (subject->has_vni)
		fprintf(out, " (VNI %" PRIu32 ")", subject->vni);
	else if (subject->vlan != 0)
		fprintf(out, " (VLAN %u)", subject->vlan);
}

static void write_field(FILE *out, const struct ft_declared *declared,
			const struct ft_subject *subject, char field)
{
	switch (field) {
	case 's':
		write_end(out, declared, &subject->src);
		break;
	case 'd':
		write_end(out, declared, &subject->dst);
		break;
	case 'p':
		fprintf(out, "0x%04x", subject->pkey);
		break;
	case 'o':
		fputs(partition_name(declared, subject->pkey), out);
		break;
	default:
		write_place(out, subject);
		break;
	}
}

const char *ft_wording_summary(struct ft_arena *words, const struct ft_declared *declared,
			       const struct ft_finding *finding)
{
	const char *at = templates[finding->rule];
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	const char *kept;

	if (out == NULL)
		ft_no_memory();
	while (*at != '\0') {
		size_t plain = strcspn(at, "{");

		fwrite(at, 1, plain, out);
		at += plain;
		if (*at == '\0')
			break;
		write_field(out, declared, &finding->subject, at[1]);
		at += strlen("{x}");
	}
	if (fclose(out) != 0)
		ft_no_memory();
	kept = keep(words, text, length);
	free(text);
	return kept;
}

/* Fewer wrong packets, and no others, may as well be chance. */
enum { PATH_PACKETS = 4 };

static const char *icrc_sentence(struct ft_arena *words, const struct ft_finding *finding)
{
	bool all = finding->packets >= finding->flow_packets;

	if (all && finding->packets < PATH_PACKETS)
		return ft_words(words, "nothing else of these flows passed: too little to tell "
				       "damage from a path that rewrites them");
	if (all)
		return ft_words(words,
				"the ICRC is wrong in all %" PRIu64
				" packets of these flows: the path "
				"rewrites them (NAT, or a mirror that edits headers)",
				finding->packets);
	return ft_words(
		words,
		"the ICRC is wrong in %" PRIu64 " of %" PRIu64 " packets of these flows, not in "
		"the others: damaged on the way, or forged by software that does not compute it",
		finding->packets, finding->flow_packets);
}

static const char *suspicion_sentence(struct ft_arena *words, const struct ft_finding *finding)
{
	char text[FT_SUSPICION_TEXT];

	ft_suspicion_text(&finding->suspicion, text, sizeof text);
	return ft_words(words, "%s", text);
}

static const char *frames_sentence(struct ft_arena *words, const struct ft_finding *finding)
{
	if (finding->packets == 1)
		return ft_words(words, "one frame, number %" PRIu64, finding->frames[0]);
	return ft_words(words, "%" PRIu64 " frames, the first is frame %" PRIu64, finding->packets,
			finding->frames[0]);
}

static const char *base_sentence(struct ft_arena *words, const struct ft_declared *declared,
				 const struct ft_finding *finding)
{
	return ft_words(words,
			"the connection of frame %" PRIu64 " began with P_Key base 0x%04x (%s)",
			finding->frames[0], finding->first_base,
			partition_name(declared, finding->first_base));
}

static bool is_same_place(const struct ft_origin *one, const struct ft_origin *other)
{
	return one->file == other->file && one->line == other->line &&
	       (one->path == other->path ||
		(one->path != NULL && other->path != NULL && strcmp(one->path, other->path) == 0));
}

/* Whose address it is that does not fit: what the map's line declares. NULL: a port without a name. */
static const char *owner_sentence(struct ft_arena *words, const struct ft_declared *declared,
				  const struct ft_finding *finding)
{
	for (size_t i = 0; i < declared->port_count; i++)
		if (declared->ports[i].host != NULL &&
		    is_same_place(&declared->ports[i].origin, &finding->origin))
			return ft_words(words, "one of the addresses is that of %s",
					declared->ports[i].host);
	return NULL;
}

size_t ft_wording_evidence(struct ft_arena *words, const struct ft_declared *declared,
			   const struct ft_finding *finding, const char **sentences, size_t room)
{
	const struct ft_origin *origin = &finding->origin;
	size_t count = 0;

	if (finding->frame_count != 0 && count < room)
		sentences[count++] = frames_sentence(words, finding);
	if (finding->rule == FT_RULE_DECODE_BAD_ICRC && count < room)
		sentences[count++] = icrc_sentence(words, finding);
	if (finding->rule == FT_RULE_PKEY_CHANGED_ON_CONNECTION && count < room)
		sentences[count++] = base_sentence(words, declared, finding);
	if (finding->rule == FT_RULE_SPOOF_ADDRESS_MISMATCH && count < room) {
		sentences[count] = owner_sentence(words, declared, finding);
		count += sentences[count] != NULL;
	}
	if (finding->suspicion.rules != 0 && count < room)
		sentences[count++] = suspicion_sentence(words, finding);
	if (origin->file != FT_NONE && origin->file < declared->file_count && count < room)
		sentences[count++] =
			ft_words(words, "decided by %s:%u%s%s", declared->files[origin->file].path,
				 origin->line, origin->path == NULL ? "" : " ",
				 origin->path == NULL ? "" : origin->path);
	return count;
}
