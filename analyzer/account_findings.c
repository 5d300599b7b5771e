#include "account_findings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>

#include "cut_frame.h"
#include "subject.h"

enum {
	COMMENT_TEXT = 512,
	KNOWN = 1 << 14,   /* sets of them .. */
	KNOWN_WAYS = 4,    /* .. which are a cache line each */
	BY_FLOW = 1 << 16, /* at most half of them are used */
};

struct ft_known_finding {
	uint64_t digest; /* of rule and subject; 0: empty */
	uint32_t index;  /* FT_NONE: there is no room for it, nor will be */
};

struct ft_flow_finding {
	uint64_t flow; /* 0: empty */
	uint32_t index;
};

int ft_account_findings_init(struct ft_account *account, uint32_t most)
{
	int error = ft_findings_init(&account->findings, most);

	account->known = calloc((size_t)KNOWN * KNOWN_WAYS, sizeof *account->known);
	account->by_flow = calloc(BY_FLOW, sizeof *account->by_flow);
	return account->known == NULL || account->by_flow == NULL ? -ENOMEM : error;
}

void ft_account_findings_free(struct ft_account *account)
{
	free(account->by_flow);
	free(account->known);
	ft_findings_free(&account->findings);
}

void ft_account_findings_change_map(struct ft_account *account)
{
	memset(account->known, 0, (size_t)KNOWN * KNOWN_WAYS * sizeof *account->known);
}

static uint32_t make_finding(struct ft_account *account, const struct ft_item *item,
			     const struct ft_item_more *more, enum ft_rule rule)
{
	const struct ft_verdict *verdict = more->has_verdict ? &more->verdict : NULL;
	struct ft_check_key key;
	struct ft_subject subject;
	struct ft_finding *finding;
	uint32_t index;

	ft_item_key(item, &key);
	ft_subject_of(account->map, &key, verdict, &subject);
	index = ft_findings_of(&account->findings, rule, &subject);
	if (index == FT_NONE)
		return index;
	finding = &account->findings.items[index];
	if (finding->packets == 0)
		finding->map = account->map;
	if (verdict == NULL)
		return index;
	if (finding->origin.file == FT_NONE && finding->map == account->map)
		finding->origin = ft_verdict_origin(verdict, rule);
	if (rule == FT_RULE_TENANT_CROSSING && verdict->crossing_between_customers)
		finding->severity = FT_CRITICAL;
	return index;
}

/* The newest of its set first: the oldest makes room. */
static void remember(struct ft_known_finding *set, uint64_t digest, uint32_t index)
{
	memmove(set + 1, set, (KNOWN_WAYS - 1) * sizeof *set);
	*set = (struct ft_known_finding){ digest, index };
}

/* The finding of a rule this frame breaks. Most frames that break one break it again and again. */
static uint32_t finding_of(struct ft_account *account, const struct ft_item *item,
			   const struct ft_item_more *more, enum ft_rule rule)
{
	uint64_t digest = ft_mix(more->subject + rule, account->seed | 1) | 1;
	struct ft_known_finding *set = &account->known[(digest >> 32) % KNOWN * KNOWN_WAYS];
	uint32_t index;

	for (unsigned way = 0; way < KNOWN_WAYS; way++)
		if (set[way].digest == digest)
			return set[way].index;
	index = make_finding(account, item, more, rule);
	if (index != FT_NONE || ft_findings_are_full(&account->findings))
		remember(set, digest, index);
	return index;
}

static struct ft_flow_finding *place_of(const struct ft_account *account, uint64_t flow)
{
	uint32_t at = (uint32_t)(flow >> 32) % BY_FLOW;

	while (account->by_flow[at].flow != 0 && account->by_flow[at].flow != flow)
		at = (at + 1) % BY_FLOW;
	return &account->by_flow[at];
}

static void note_flow(struct ft_account *account, uint64_t flow, uint32_t index)
{
	struct ft_flow_finding *place;

	if (flow == 0)
		return;
	place = place_of(account, flow);
	if (place->flow == 0 && account->by_flow_count == BY_FLOW / 2)
		return;
	account->by_flow_count += place->flow == 0;
	*place = (struct ft_flow_finding){ flow, index };
}

uint32_t ft_account_bad_icrc(const struct ft_account *account, uint64_t flow)
{
	const struct ft_flow_finding *place = place_of(account, flow);

	return place->flow == flow ? place->index : FT_NONE;
}

/* It may yet turn out to be none. True if the finding would note its number. */
static bool hold_back(struct ft_account *account, const struct ft_item *item,
		      const struct ft_item_more *more, uint32_t index, uint32_t dest_qp)
{
	const struct ft_stray stray = {
		.half = more->half,
		.finding = index,
		.dest_qp = dest_qp,
		.number = item->frame->number,
		.ts_ns = item->frame->ts_ns,
		.wire = item->frame->wire,
		.suspicion = more->suspicion,
	};

	ft_strays_add(&account->strays, &stray, &account->findings);
	return account->findings.items[index].frame_count < FT_FINDING_FRAMES;
}

/* What comes of it, the report tells. */
static void note_search(struct ft_finding *finding, const struct ft_item *item, bool unseen)
{
	bool alone = !ft_rules_violate(item->rules & ~(1u << FT_RULE_SPOOF_QP_SCAN));

	finding->ends = ft_flow_ends(&item->flow_key);
	if (finding->from == 0)
		finding->from = item->frame->number;
	finding->to = item->frame->number;
	finding->unseen += unseen;
	finding->uncounted += unseen && alone;
	finding->counted += !unseen && alone;
}

/* It is about the NAK, which is as long as the ACK of its half-connection that shows it. */
static bool count_outlived(struct ft_finding *finding, const struct ft_item *item,
			   const struct ft_suspicion *suspicion, uint32_t dest_qp)
{
	struct ft_frame nak = *item->frame;

	nak.number = suspicion->passed;
	nak.ts_ns = suspicion->passed_ns;
	return ft_finding_add(finding, &nak, dest_qp);
}

/* The other one of two requests under one PSN may turn out to be the forged one. */
static bool count_conflict(struct ft_finding *finding, const struct ft_item *item,
			   const struct ft_suspicion *suspicion, uint32_t dest_qp)
{
	if (!ft_finding_add(finding, item->frame, dest_qp))
		return false;
	finding->passed[finding->frame_count - 1] = suspicion->passed;
	finding->forged[finding->frame_count - 1] = (uint8_t)suspicion->forged;
	return true;
}

/* True if its number was noted. */
static bool count_finding(struct ft_account *account, const struct ft_item *item,
			  const struct ft_item_more *more, enum ft_rule rule, uint32_t index)
{
	struct ft_finding *finding = &account->findings.items[index];
	bool suspected = (more->suspicion.rules >> rule & 1) != 0;
	uint32_t dest_qp = (item->known & FT_NEED_DEST_QP) != 0 ? ft_item_dest_qp(item) : FT_NONE;

	if (rule == FT_RULE_SPOOF_PSN_WINDOW)
		return hold_back(account, item, more, index, dest_qp);
	if (rule == FT_RULE_DECODE_BAD_ICRC)
		note_flow(account, more->flow, index);
	if (rule == FT_RULE_PKEY_CHANGED_ON_CONNECTION && finding->packets == 0)
		finding->first_base = more->first_base;
	if (suspected && finding->packets == 0)
		finding->suspicion = more->suspicion;
	finding->suspicion.grave |= suspected && more->suspicion.grave;
	if (rule == FT_RULE_SPOOF_QP_SCAN)
		note_search(finding, item, more->suspicion.unseen);
	if (rule == FT_RULE_SPOOF_NAK_OUTLIVED)
		return count_outlived(finding, item, &more->suspicion, dest_qp);
	if (rule == FT_RULE_SPOOF_PSN_CONFLICT && suspected)
		return count_conflict(finding, item, &more->suspicion, dest_qp);
	return ft_finding_add(finding, item->frame, dest_qp);
}

/* Count the frame in every finding it belongs to; `comment` names those that keep it as evidence. */
static void count_findings(struct ft_account *account, const struct ft_item *item,
			   const struct ft_item_more *more, char comment[COMMENT_TEXT])
{
	size_t length = 0;

	comment[0] = '\0';
	for (uint32_t rules = item->rules; rules != 0; rules &= rules - 1) {
		unsigned rule = (unsigned)__builtin_ctz(rules);
		uint32_t index = finding_of(account, item, more, rule);

		if (index == FT_NONE) {
			account->findings.dropped += ft_rule_text(rule)->violation;
			continue;
		}
		if (count_finding(account, item, more, (enum ft_rule)rule, index) &&
		    length < COMMENT_TEXT)
			length += (size_t)snprintf(comment + length, COMMENT_TEXT - length,
						   "%s%s %s", length == 0 ? "" : "\n",
						   account->findings.items[index].id,
						   ft_rule_text(rule)->name);
	}
}

/* As one of this finding, or just now. */
static bool was_written(const struct ft_account *account, uint32_t index, uint64_t number)
{
	const struct ft_finding *finding = &account->findings.items[index];

	if (ft_finding_has(finding, number))
		return true;
	for (unsigned i = 0; i < FT_FINDING_FRAMES; i++)
		if (account->passed[i].number == number && account->passed[i].finding == index)
			return true;
	return false;
}

/* What a frame before this one is evidence of, too. */
static enum ft_rule rule_of_passed(const struct ft_suspicion *suspicion)
{
	static const enum ft_rule rules[] = { FT_RULE_SPOOF_PSN_CONFLICT,
					      FT_RULE_SPOOF_NAK_OUTLIVED };

	for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++)
		if ((suspicion->rules >> rules[i] & 1) != 0)
			return rules[i];
	return FT_RULE_SPOOF_PAYLOAD_CHANGED;
}

/* The finding has just noted the frame that shows it; a NAK is noted itself, and once. */
static bool is_wanted(const struct ft_account *account, uint32_t index, uint64_t passed,
		      uint64_t shown_by)
{
	const struct ft_finding *finding = &account->findings.items[index];
	uint64_t newest = finding->frames[finding->frame_count - 1];

	if (finding->rule == FT_RULE_SPOOF_NAK_OUTLIVED)
		return newest == passed;
	return newest == shown_by && !was_written(account, index, passed);
}

/* The other one of two requests that differ, or the NAK that was outlived. */
static int write_passed(struct ft_account *account, const struct ft_source *source,
			const struct ft_item *item, const struct ft_item_more *more)
{
	const struct ft_frame frame = ft_cut_frame_of(more->passed);
	uint32_t index = finding_of(account, item, more, rule_of_passed(&more->suspicion));

	if (index == FT_NONE || !is_wanted(account, index, frame.number, item->frame->number))
		return 0;
	account->passed[account->passed_count++ % FT_FINDING_FRAMES] =
		(struct ft_passed_frame){ frame.number, index };
	return ft_finding_write(&account->findings.items[index], account->writer, source, &frame);
}

/* Out of the way of the frames that break no rule. */
__attribute__((noinline)) int ft_account_findings_add(struct ft_account *account,
						      const struct ft_source *source,
						      const struct ft_item *item,
						      const struct ft_item_more *more)
{
	char comment[COMMENT_TEXT];

	count_findings(account, item, more, comment);
	if (account->writer == NULL || comment[0] == '\0')
		return 0;
	if (more->passed != NULL && write_passed(account, source, item, more) != 0)
		return -ENOMEM;
	return ft_pcapng_write(account->writer, item->frame,
			       ft_source_input(source, item->frame->input)->name, comment);
}
