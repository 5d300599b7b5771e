#include "account.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <flow/hash.h>

#include "subject.h"

enum { UNKNOWN_CELL = 0, COMMENT_TEXT = 512 };

int ft_account_init(struct ft_account *account, const struct ft_map *map, uint32_t findings,
		    uint64_t seed)
{
	int error;

	*account = (struct ft_account){ .map = map, .seed = seed };
	error = ft_totals_init(&account->totals, (uint32_t)ft_map_declared(map)->tenant_count);
	if (error != 0)
		return error;
	error = ft_findings_init(&account->findings, findings);
	if (error != 0)
		ft_totals_free(&account->totals);
	else
		ft_totals_cell(&account->totals, FT_NONE, FT_NONE); /* UNKNOWN_CELL */
	return error;
}

void ft_account_free(struct ft_account *account)
{
	ft_totals_free(&account->totals);
	ft_findings_free(&account->findings);
}

static uint64_t address_digest(const struct ft_account *account, const struct ft_check_key *key,
			       bool source)
{
	if (key->has_gids)
		return ft_hash(source ? key->src : key->dst, sizeof key->src, account->seed);
	if (key->native)
		return ft_hash(source ? &key->slid : &key->dlid, sizeof key->slid, account->seed);
	return ft_hash(source ? key->smac : key->dmac, sizeof key->smac, account->seed);
}

/* The totals' cell of a verdict, found when its first frame is counted. */
__attribute__((noinline)) static uint32_t cell_of_verdict(struct ft_account *account,
							  struct ft_judged *judged)
{
	const struct ft_verdict *verdict = &judged->verdict;

	if (judged->cell != FT_NONE)
		return judged->cell;
	judged->cell = ft_totals_cell(&account->totals, verdict->src.tenant, verdict->dst.tenant);
	ft_totals_see(&account->totals, verdict->src.tenant,
		      address_digest(account, &judged->key, true));
	if (!verdict->dst.group)
		ft_totals_see(&account->totals, verdict->dst.tenant,
			      address_digest(account, &judged->key, false));
	return judged->cell;
}

static uint32_t cell_of(struct ft_account *account, const struct ft_judgement *judgement)
{
	uint32_t cell;

	if (judgement->cell != FT_NONE)
		return judgement->cell;
	if (judgement->judged == NULL)
		return UNKNOWN_CELL;
	cell = cell_of_verdict(account, judgement->judged);
	if (judgement->flow != NULL)
		judgement->flow->cell = cell;
	return cell;
}

static void count_time(struct ft_totals *totals, uint64_t ts_ns)
{
	if (ts_ns == FT_TS_UNKNOWN)
		return;
	if (totals->first_ts_ns == FT_TS_UNKNOWN || ts_ns < totals->first_ts_ns)
		totals->first_ts_ns = ts_ns;
	if (totals->last_ts_ns == FT_TS_UNKNOWN || ts_ns > totals->last_ts_ns)
		totals->last_ts_ns = ts_ns;
}

/* Of the frames that no verdict was reached on: why. */
static void count_unjudged(struct ft_account *account, const struct ft_account_item *item)
{
	const struct ft_judgement *judgement = item->judgement;

	if (judgement->kind == FT_FRAME_NOT_RDMA)
		account->not_rdma++;
	else if (judgement->kind == FT_FRAME_NEVER_JUDGED)
		account->never_judged++;
	else if (judgement->untimed)
		account->undecided_untimed++;
	else if (judgement->kind == FT_FRAME_BAD_ICRC)
		account->undecided_bad_icrc++;
	else if (judgement->kind == FT_FRAME_BROKEN)
		account->undecided_malformed++;
	else
		account->undecided_cut++;
	account->truncated += judgement->undecided && item->packet->truncated != FT_COMPLETE;
	account->undecodable += judgement->kind == FT_FRAME_BROKEN;
}

static bool has_violation(uint32_t rules)
{
	for (unsigned rule = 0; rule < FT_RULES; rule++)
		if ((rules >> rule & 1) != 0 && ft_rule_text(rule)->violation)
			return true;
	return false;
}

static void count_outcome(struct ft_totals *totals, uint32_t index,
			  const struct ft_judgement *judgement)
{
	struct ft_judged *judged = judgement->judged;

	if (has_violation(judgement->rules)) {
		totals->cells[index].violating++;
	} else if (judgement->permitted && !judgement->grace && !judged->exception_noted) {
		judged->exception_noted = true;
		ft_totals_except(totals, index, judged->verdict.exception);
	}
}

static void count_frame(struct ft_account *account, const struct ft_account_item *item)
{
	const struct ft_judgement *judgement = item->judgement;
	struct ft_totals *totals = &account->totals;
	uint32_t index = cell_of(account, judgement);
	struct ft_cell *cell = &totals->cells[index];
	struct ft_pkey_total *pkey = &totals->pkeys[item->key->pkey];

	count_time(totals, item->frame->ts_ns);
	cell->packets++;
	cell->bytes += item->frame->wire;
	if ((item->key->known & FT_NEED_PKEY) != 0) {
		pkey->packets++;
		pkey->bytes += item->frame->wire;
	}
	if (judgement->kind == FT_FRAME_JUDGED && !judgement->undecided) {
		cell->judged++;
	} else {
		cell->undecided += judgement->undecided;
		count_unjudged(account, item);
	}
	if (judgement->rules != 0 || judgement->permitted)
		count_outcome(totals, index, judgement);
}

static uint32_t find_finding(struct ft_account *account, const struct ft_account_item *item,
			     enum ft_rule rule)
{
	struct ft_judged *judged = item->judgement->judged;
	const struct ft_verdict *verdict = judged == NULL ? NULL : &judged->verdict;
	struct ft_subject subject;
	uint32_t index;

	ft_subject_of(account->map, item->key, verdict, &subject);
	index = ft_findings_of(&account->findings, rule, &subject);
	if (index == FT_NONE || verdict == NULL)
		return index;
	if (account->findings.items[index].origin.file == FT_NONE)
		account->findings.items[index].origin = ft_verdict_origin(verdict, rule);
	if (rule == FT_RULE_TENANT_CROSSING && verdict->crossing_between_customers)
		account->findings.items[index].severity = FT_CRITICAL;
	return index;
}

/* The finding of a rule this frame breaks; remembered with the verdict. */
static uint32_t finding_of(struct ft_account *account, const struct ft_account_item *item,
			   enum ft_rule rule)
{
	struct ft_judged *judged = item->judgement->judged;
	uint32_t index;

	for (unsigned i = 0; judged != NULL && i < judged->finding_count; i++)
		if (judged->finding_rules[i] == rule)
			return judged->findings[i];
	index = find_finding(account, item, rule);
	if (judged != NULL && judged->finding_count < FT_JUDGED_FINDINGS && index != FT_NONE) {
		judged->finding_rules[judged->finding_count] = (uint8_t)rule;
		judged->findings[judged->finding_count++] = index;
	}
	return index;
}

/* Count the frame in every finding it belongs to; `comment` names those that keep it as evidence. */
static void count_findings(struct ft_account *account, const struct ft_account_item *item,
			   char comment[COMMENT_TEXT])
{
	bool known = (item->key->known & FT_NEED_DEST_QP) != 0;
	uint32_t dest_qp = known ? item->packet->dest_qp : FT_NONE;
	size_t length = 0;

	comment[0] = '\0';
	for (unsigned rule = 0; rule < FT_RULES; rule++) {
		uint32_t index;
		const struct ft_finding *finding;

		if ((item->judgement->rules >> rule & 1) == 0)
			continue;
		index = finding_of(account, item, rule);
		if (index == FT_NONE) {
			account->findings.dropped += ft_rule_text(rule)->violation;
			continue;
		}
		if (rule == FT_RULE_DECODE_BAD_ICRC && item->judgement->flow != NULL)
			item->judgement->flow->bad_icrc_finding = index;
		finding = &account->findings.items[index];
		if (ft_finding_add(&account->findings.items[index], item->frame, dest_qp) &&
		    length < COMMENT_TEXT)
			length += (size_t)snprintf(comment + length, COMMENT_TEXT - length,
						   "%s%s %s", length == 0 ? "" : "\n", finding->id,
						   ft_rule_text(rule)->name);
	}
}

/* Out of the way of the frames that break no rule. */
__attribute__((noinline)) static int add_findings(struct ft_account *account,
						  const struct ft_account_item *item)
{
	char comment[COMMENT_TEXT];

	count_findings(account, item, comment);
	if (account->writer == NULL || comment[0] == '\0')
		return 0;
	return ft_pcapng_write(account->writer, item->frame,
			       ft_source_input(item->source, item->frame->input)->name, comment);
}

int ft_account_add(struct ft_account *account, const struct ft_account_item *item)
{
	if (item->first)
		count_frame(account, item);
	return item->judgement->rules == 0 ? 0 : add_findings(account, item);
}
