#include "account.h"

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

static int init_by_map(struct ft_account *account, const struct ft_engine_config *config)
{
	uint32_t tenants = (uint32_t)ft_map_declared(account->map)->tenant_count;
	int error = ft_findings_init(&account->findings, config->findings);

	account->known = calloc((size_t)KNOWN * KNOWN_WAYS, sizeof *account->known);
	account->by_flow = calloc(BY_FLOW, sizeof *account->by_flow);
	if (account->known == NULL || account->by_flow == NULL)
		error = -ENOMEM;
	if (error == 0)
		error = ft_strays_init(&account->strays);
	if (error == 0)
		error = ft_peaks_init(&account->peaks, tenants);
	if (error == 0)
		error = ft_congestion_init(&account->congestion, tenants, account->seed);
	account->congestion.by_segment = ft_map_declared(account->map)->segment_count != 0;
	if (error == 0)
		error = ft_pauses_init(&account->pauses, account->map, config->link_gbps);
	return error;
}

int ft_account_init(struct ft_account *account, const struct ft_engine_config *config,
		    const struct ft_map *map)
{
	*account =
		(struct ft_account){ .map = map, .decode = &config->decode, .seed = config->seed };
	return map != NULL ? init_by_map(account, config) : 0;
}

void ft_account_free(struct ft_account *account)
{
	ft_mirror_sequence_destroy(account->mirror);
	ft_silences_free(&account->silences);
	ft_pauses_free(&account->pauses);
	ft_congestion_free(&account->congestion);
	ft_peaks_free(&account->peaks);
	ft_strays_free(&account->strays);
	free(account->by_flow);
	free(account->known);
	ft_findings_free(&account->findings);
}

int ft_account_change_map(struct ft_account *account, const struct ft_map *map)
{
	uint32_t tenants = (uint32_t)ft_map_declared(map)->tenant_count;
	int error = ft_peaks_grow(&account->peaks, tenants);

	if (error == 0)
		error = ft_congestion_grow(&account->congestion, tenants);
	if (error == 0)
		error = ft_pauses_change_map(&account->pauses, map);
	if (error != 0)
		return error;
	memset(account->known, 0, (size_t)KNOWN * KNOWN_WAYS * sizeof *account->known);
	account->congestion.by_segment = ft_map_declared(map)->segment_count != 0;
	account->map = map;
	return 0;
}

int ft_account_open(struct ft_account *account, const struct ft_source *source)
{
	size_t inputs = ft_source_input_count(source);
	int error;

	if (account->mirror != NULL)
		return 0;
	error = ft_mirror_sequence_create(&account->mirror, inputs);

	return error != 0 ? error : ft_silences_init(&account->silences, (uint32_t)inputs);
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

void ft_account_settle(struct ft_account *account)
{
	ft_strays_settle(&account->strays, &account->findings);
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

	for (unsigned i = 0; i < finding->frame_count; i++)
		if (finding->frames[i] == number)
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
__attribute__((noinline)) static int add_findings(struct ft_account *account,
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

/* Seldom on a mirror port: the packet is decoded anew for it. */
__attribute__((noinline)) static void see_pause(struct ft_account *account,
						const struct ft_item *item)
{
	struct ft_packet packet;

	ft_item_decode(item, account->decode, &packet);
	ft_pauses_see(&account->pauses, &packet, item->frame->ts_ns);
}

void ft_account_number(struct ft_account *account, const struct ft_item *item)
{
	if ((item->observed.has & FT_OBSERVED_MIRROR) != 0 && item->sub == 0)
		ft_mirror_sequence_see(account->mirror, item->frame->input, &item->observed);
}

void ft_account_count(struct ft_account *account, const struct ft_frame *frame,
		      const struct ft_mirror_number *number)
{
	ft_mirror_sequence_count(account->mirror, frame->input, frame->ts_ns, number);
}

int ft_account_tell(struct ft_account *account, const struct ft_source *source,
		    const struct ft_item *item, const struct ft_item_more *more)
{
	if (item->copy) {
		if (item->marks && account->map != NULL)
			ft_congestion_see(&account->congestion, item);
		return 0;
	}
	if (item->gap)
		ft_silences_lost(&account->silences, item->frame->input, more->gap.from_ns,
				 more->gap.to_ns, more->gap.lost);
	if (account->map == NULL)
		return 0;
	if (item->pause)
		see_pause(account, item);
	if (ft_tells_of_congestion(item))
		ft_congestion_see(&account->congestion, item);
	if (item->anew)
		ft_strays_answered(&account->strays, more->half, more->next_psn);
	return item->rules == 0 ? 0 : add_findings(account, source, item, more);
}

int ft_account_add(struct ft_account *account, const struct ft_source *source,
		   const struct ft_item *item, const struct ft_item_more *more)
{
	if (item->sub == 0 && !item->copy)
		ft_account_frame(account, item->frame, item->from);
	return ft_account_tell(account, source, item, more);
}

bool ft_account_at_once(struct ft_account *account, const struct ft_batch *batch)
{
	const bool far = ft_peaks_are_far(&account->peaks);
	const struct ft_item *item = batch->items, *end = item + batch->count;

	if (batch->copies || batch->stretch.frames == 0 ||
	    !ft_account_stretch(account, &batch->stretch))
		return false;
	for (; item < end; item++) {
		if (far && item + FT_PEAKS_AHEAD < end)
			ft_peaks_prefetch(&account->peaks, item[FT_PEAKS_AHEAD].from);
		ft_peaks_add(&account->peaks, item->from, batch->stretch.first_ns,
			     item->frame->wire);
	}
	return true;
}

unsigned ft_account_quiet(struct ft_account *account, const struct ft_item *items, unsigned count)
{
	const uint32_t input = account->silences.current;
	const bool far = ft_peaks_are_far(&account->peaks);
	struct ft_silence_run run = ft_silence_run_begin(&account->silences);
	unsigned i = 0;

	for (; i < count && items[i].quiet; i++) {
		const struct ft_item *item = &items[i];
		uint64_t ts_ns = item->observed.ts_ns;

		if (item->frame->input != input || !ft_silence_run_goes_on(&run, ts_ns))
			break;
		if (far && i + FT_PEAKS_AHEAD < count)
			ft_peaks_prefetch(&account->peaks, item[FT_PEAKS_AHEAD].from);
		ft_peaks_add(&account->peaks, item->from, ts_ns, item->frame->wire);
	}
	ft_silence_run_end(&run);
	return i;
}

enum ft_account_wants ft_account_wants_more(const struct ft_item *item)
{
	if (item->copy)
		return item->marks ? FT_ACCOUNT_ITEM : FT_ACCOUNT_NOTHING;
	if (item->quiet && item->usual && item->framing == FT_FRAMING_STRANGE)
		return FT_ACCOUNT_STRANGE;
	if (item->gap || item->anew || item->pause || item->framing || item->rules != 0 ||
	    ft_tells_of_congestion(item))
		return FT_ACCOUNT_ITEM;
	return item->sub == 0 ? FT_ACCOUNT_FRAME : FT_ACCOUNT_NOTHING;
}
