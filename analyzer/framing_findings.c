#include "framing_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <engine/no_memory.h>

#include "subject.h"

static const enum ft_rule rules[FT_NCCL_FAULTS] = {
	[FT_NCCL_WRITE_OUTSIDE] = FT_RULE_NCCL_WRITE_OUTSIDE,
	[FT_NCCL_WRITE_UNASKED] = FT_RULE_NCCL_WRITE_UNASKED,
	[FT_NCCL_SECOND_WRITER] = FT_RULE_NCCL_SECOND_WRITER,
	[FT_NCCL_CONTRADICTION] = FT_RULE_NCCL_CONTRADICTION,
	[FT_NCCL_REPLAY] = FT_RULE_NCCL_REPLAY,
};

static bool is_current(const struct ft_framing *framing, uint64_t frame)
{
	return framing->item != NULL && framing->item->frame->number == frame;
}

/* Of the packet at hand; of TCP there is no P_Key. */
static struct ft_framing_tags tags_of(const struct ft_framing *framing)
{
	const struct ft_packet *packet = &framing->packet;
	const struct ft_observed *observed = &framing->item->observed;
	struct ft_framing_tags tags = { .pkey = UINT16_MAX };

	if (framing->item->usual)
		return (struct ft_framing_tags){ .pkey = observed->pkey, .vlan = observed->vlan };
	tags.vlan = packet->vlan;
	tags.has_vni = (packet->has & FT_HAS_VNI) != 0;
	tags.vni = tags.has_vni ? packet->vni : 0;
	if ((packet->has & FT_HAS_BTH) != 0)
		tags.pkey = packet->pkey;
	return tags;
}

void ft_framing_key(const struct ft_nccl_place *from, const uint8_t to[16],
		    const struct ft_framing_tags *tags, struct ft_check_key *key)
{
	memset(key, 0, sizeof *key);
	key->qp_kind = 2;
	key->known = FT_NEED_ALL;
	key->pkey = tags->pkey;
	key->vlan = tags->vlan;
	key->has_vni = tags->has_vni;
	key->vni = tags->vni;
	if (from->by_lid) {
		key->native = 1;
		key->slid = ft_nccl_lid(from->address);
		key->dlid = ft_nccl_lid(to);
		return;
	}
	key->has_gids = 1;
	memcpy(key->src, from->address, sizeof key->src);
	memcpy(key->dst, to, sizeof key->dst);
}

struct ft_framing_line *ft_framing_line_of(struct ft_framing *framing, uint32_t connection)
{
	struct ft_framing_line *more;
	uint32_t count = 2 * connection + 16;

	if (connection < framing->line_count)
		return &framing->lines[connection];
	more = reallocarray(framing->lines, count, sizeof *more);
	if (more == NULL)
		ft_no_memory();
	framing->lines = more;
	for (; framing->line_count < count; framing->line_count++)
		more[framing->line_count] = (struct ft_framing_line){ .tags.pkey = UINT16_MAX };
	return &framing->lines[connection];
}

static bool make_note(struct ft_framing *framing, uint32_t index,
		      const struct ft_framing_occasion *occasion)
{
	struct ft_framing_note *notes =
		reallocarray(framing->notes, framing->findings.room, sizeof *notes);

	if (notes == NULL)
		return false;
	framing->notes = notes;
	notes[index].certainty = occasion->certainty;
	snprintf(notes[index].text, sizeof notes[index].text, "%s", occasion->text);
	return true;
}

/* The finding, made if it is new; NULL: no room. */
static struct ft_finding *finding_for(struct ft_framing *framing,
				      const struct ft_framing_occasion *occasion)
{
	struct ft_verdict verdict;
	struct ft_subject subject;
	struct ft_finding *finding;
	uint32_t index;

	if (framing->map != NULL)
		ft_check(framing->map, &occasion->key, (int64_t)occasion->ts_ns, &verdict);
	ft_subject_of(framing->map, &occasion->key, framing->map != NULL ? &verdict : NULL,
		      &subject);
	index = ft_findings_of(&framing->findings, occasion->rule, &subject);
	if (index == FT_NONE) {
		framing->findings.dropped++;
		return NULL;
	}
	finding = &framing->findings.items[index];
	if (finding->packets == 0) {
		finding->map = framing->map;
		if (!make_note(framing, index, occasion))
			ft_no_memory();
	}
	return finding;
}

/* Of a frame that has gone by what was kept of it. */
static void write_gone(const struct ft_framing *framing, const struct ft_finding *finding,
		       const struct ft_frame *frame)
{
	if (frame->bytes == NULL)
		frame = ft_latest_frames_find(&framing->latest, frame->number);
	if (frame != NULL && framing->writer != NULL &&
	    ft_finding_write(finding, framing->writer, framing->source, frame) != 0)
		ft_no_memory();
}

/*
 * A finding with its first frames: the frame at hand, or one that has gone by. A frame counts once, whatever it is found
 * to be for the second time: communicators are judged in each report.
 */
void ft_framing_add(struct ft_framing *framing, const struct ft_framing_occasion *occasion,
		    const struct ft_kept_frame *gone)
{
	struct ft_frame frame = { .number = occasion->frame, .ts_ns = occasion->ts_ns };
	struct ft_finding *finding = finding_for(framing, occasion);

	if (finding == NULL || ft_finding_has(finding, occasion->frame) ||
	    (occasion->repeated && finding->frame_count == FT_FINDING_FRAMES))
		return;
	if (is_current(framing, occasion->frame))
		frame.wire = framing->item->frame->wire;
	else if (gone != NULL)
		frame = gone->frame;
	if (!ft_finding_add(finding, &frame, occasion->dest_qp))
		return;
	if (is_current(framing, occasion->frame))
		framing->noted = (uint32_t)(finding - framing->findings.items);
	else
		write_gone(framing, finding, &frame);
}

/* Of a frame that has gone by. */
static void key_of_found(const struct ft_nccl_found *found, struct ft_check_key *key)
{
	const struct ft_framing_tags tags = {
		.pkey = found->pkey,
		.vlan = found->vlan,
		.has_vni = found->ends.vni != UINT32_MAX,
		.vni = found->ends.vni != UINT32_MAX ? found->ends.vni : 0,
	};
	struct ft_nccl_place from = { .by_lid = found->ends.by_lid != 0 };

	memcpy(from.address, found->ends.src, sizeof from.address);
	ft_framing_key(&from, found->ends.dst, &tags, key);
}

static bool is_sure(double certainty)
{
	return 100 * certainty >= FT_FRAMING_SURE_PERCENT;
}

void ft_framing_found(void *context, const struct ft_nccl_found *found)
{
	struct ft_framing *framing = context;
	struct ft_framing_occasion occasion = {
		.rule = rules[found->fault],
		.certainty = found->certainty,
		.text = found->text,
		.frame = found->frame,
		.ts_ns = found->ts_ns,
		.dest_qp = found->dest_qp,
	};

	if (is_current(framing, found->frame))
		ft_item_key(framing->item, &occasion.key);
	else
		key_of_found(found, &occasion.key);
	if (framing->marking)
		ft_framing_marks_add(&framing->marks, found, occasion.rule,
				     is_sure(found->certainty));
	ft_framing_add(framing, &occasion, ft_held_frames_find(&framing->held, found->frame));
}

void ft_framing_hold(void *context, uint64_t frame)
{
	struct ft_framing *framing = context;

	if (is_current(framing, frame) &&
	    ft_held_frames_add(&framing->held, framing->item->frame, framing->writer != NULL) != 0)
		ft_no_memory();
}

/* Of the item at hand, for the findings that a map may make. */
static void keep(struct ft_framing *framing, uint32_t connection, enum ft_kept_of_connection which)
{
	const struct ft_frame *frame = framing->item->frame;
	struct ft_kept_frame *kept = &ft_framing_line_of(framing, connection)->kept[which];
	uint32_t most = UINT32_MAX;

	if (framing->map == NULL)
		return;
	if (which == FT_KEPT_DATA && frame->link_type == FT_LINK_ETHERNET)
		most = FT_FINDING_FRAME_BYTES;
	if (framing->writer == NULL || framing->kept_bytes >= FT_KEPT_BYTES)
		most = 0;
	framing->kept_bytes -= kept->frame.captured;
	ft_kept_frame_set(kept, frame, most);
	framing->kept_bytes += kept->frame.captured;
}

void ft_framing_met(void *context, uint32_t connection, bool is_data)
{
	struct ft_framing *framing = context;

	if (framing->item != NULL)
		keep(framing, connection, is_data ? FT_KEPT_DATA : FT_KEPT_CTS);
}

static bool is_named(const struct ft_framing *framing, uint64_t frame)
{
	for (uint32_t i = 0; i < framing->findings.count; i++)
		if (ft_finding_has(&framing->findings.items[i], frame))
			return true;
	return false;
}

enum ft_forged ft_framing_forged_of(const struct ft_framing *framing, uint64_t earlier,
				    uint64_t later)
{
	bool is_earlier = is_named(framing, earlier);

	if (is_earlier == is_named(framing, later))
		return FT_FORGED_EITHER;
	return is_earlier ? FT_FORGED_EARLIER : FT_FORGED_LATER;
}

struct ft_framing_told ft_framing_told_of(const struct ft_framing *framing,
					  const struct ft_flow *flow, uint64_t connection)
{
	struct ft_framing_told told = ft_framing_marks_of(&framing->marks, flow);
	const uint8_t crosses = ft_framing_rule_bit(FT_RULE_NCCL_CROSSES_TENANTS);

	if (connection < framing->line_count && framing->lines[connection].crosses) {
		told.rules |= crosses;
		told.violated |= crosses;
	}
	return told;
}

/* --- who may talk to whom --- */

static bool names(const struct ft_exception *exception, uint32_t from, uint32_t to)
{
	bool from_one = exception->any_from;

	for (size_t i = 0; i < exception->from_count && !from_one; i++)
		from_one = exception->from_tenants[i] == from;
	return from_one && (exception->to_tenant == FT_NONE || exception->to_tenant == to);
}

/* An exception that may be meant for them: what it asks for besides tenants is not known here. */
static bool may_be_excepted(const struct ft_map *map, uint32_t one, uint32_t other)
{
	const struct ft_declared *declared = ft_map_declared(map);

	for (size_t i = 0; i < declared->exception_count; i++)
		if (names(&declared->exceptions[i], one, other) ||
		    names(&declared->exceptions[i], other, one))
			return true;
	return false;
}

bool ft_framing_is_crossing(const struct ft_map *map, const struct ft_check_key *key,
			    uint64_t ts_ns)
{
	struct ft_verdict verdict;

	if (ts_ns == FT_TS_UNKNOWN && ft_map_epoch_count(map) > 1)
		return false;
	ft_check(map, key, (int64_t)ts_ns, &verdict);
	return !verdict.grace && (verdict.rules >> FT_RULE_TENANT_CROSSING & 1) != 0 &&
	       !may_be_excepted(map, verdict.src.tenant, verdict.dst.tenant);
}

/* One end is some tenant's, and the other is declared nowhere. */
static bool is_from_nowhere(const struct ft_map *map, const struct ft_check_key *key,
			    uint64_t ts_ns)
{
	struct ft_verdict verdict;

	if (ts_ns == FT_TS_UNKNOWN && ft_map_epoch_count(map) > 1)
		return false;
	ft_check(map, key, (int64_t)ts_ns, &verdict);
	return !verdict.grace && (verdict.rules >> FT_RULE_TENANT_UNKNOWN_ENDPOINT & 1) != 0 &&
	       (verdict.src.tenant == FT_NONE) != (verdict.dst.tenant == FT_NONE);
}

/*
 * What is wrong with a contact; NULL: nothing. Set-ups, bootstrap and RAS are TCP, which no rule about RDMA frames judges:
 * strangers count here, too. A connection with one has RDMA frames that are judged.
 */
static const char *what_is_wrong(const struct ft_map *map, const struct ft_nccl_contact *contact,
				 const struct ft_check_key *key)
{
	static const char *const crossings[] = {
		[FT_NCCL_CONTACT_CONNECTION] = "a NCCL connection between two tenants",
		[FT_NCCL_CONTACT_BOOTSTRAP] = "a process checked in with another tenant's job",
		[FT_NCCL_CONTACT_RAS] = "RAS, which watches one job, between two tenants",
		[FT_NCCL_CONTACT_SETUP] = "a NCCL connection was set up between two tenants",
	};
	static const char *const strangers[] = {
		[FT_NCCL_CONTACT_BOOTSTRAP] =
			"a check-in with a job, one end of which the map does not declare",
		[FT_NCCL_CONTACT_RAS] =
			"RAS, which watches one job, with an end that the map does not declare",
		[FT_NCCL_CONTACT_SETUP] =
			"a NCCL connection was set up with an end that the map does not declare",
	};

	if (ft_framing_is_crossing(map, key, contact->ts_ns))
		return crossings[contact->kind];
	if (contact->kind != FT_NCCL_CONTACT_CONNECTION &&
	    is_from_nowhere(map, key, contact->ts_ns))
		return strangers[contact->kind];
	return NULL;
}

/* The frame that made it known is the one at hand, whatever went before. */
void ft_framing_contact(void *context, const struct ft_nccl_contact *contact)
{
	struct ft_framing *framing = context;
	struct ft_framing_tags tags = tags_of(framing);
	struct ft_framing_occasion occasion = {
		.rule = contact->kind == FT_NCCL_CONTACT_CONNECTION ? FT_RULE_NCCL_CROSSES_TENANTS
								    : FT_RULE_NCCL_FOREIGN_SETUP,
		.certainty = 1,
		.frame = framing->item->frame->number,
		.ts_ns = framing->item->frame->ts_ns,
		.dest_qp = FT_NONE,
	};

	if (contact->kind == FT_NCCL_CONTACT_CONNECTION) {
		ft_framing_line_of(framing, contact->connection)->tags = tags;
		keep(framing, contact->connection, FT_KEPT_CONTACT);
	}
	if (framing->map == NULL)
		return;
	ft_framing_key(&contact->from, contact->to.address, &tags, &occasion.key);
	occasion.text = what_is_wrong(framing->map, contact, &occasion.key);
	if (occasion.text == NULL)
		return;
	if (contact->kind == FT_NCCL_CONTACT_CONNECTION)
		ft_framing_line_of(framing, contact->connection)->crosses = true;
	ft_framing_add(framing, &occasion, NULL);
}
