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

/* What a finding is about, and what it is based on. */
struct occasion {
	enum ft_rule rule;
	double certainty;
	const char *text;
	uint64_t frame, ts_ns;
	uint32_t dest_qp;
	struct ft_check_key key;
};

static bool is_current(const struct ft_framing *framing, uint64_t frame)
{
	return framing->item != NULL && framing->item->frame->number == frame;
}

static const struct ft_framing_tags no_tags = { .pkey = UINT16_MAX };

/* Of the packet at hand; of TCP there is no P_Key. */
static struct ft_framing_tags tags_of(const struct ft_framing *framing)
{
	const struct ft_packet *packet = &framing->packet;
	const struct ft_observed *observed = &framing->item->observed;
	struct ft_framing_tags tags = no_tags;

	if (framing->item->usual)
		return (struct ft_framing_tags){ .pkey = observed->pkey, .vlan = observed->vlan };
	tags.vlan = packet->vlan;
	tags.has_vni = (packet->has & FT_HAS_VNI) != 0;
	tags.vni = tags.has_vni ? packet->vni : 0;
	if ((packet->has & FT_HAS_BTH) != 0)
		tags.pkey = packet->pkey;
	return tags;
}

/* As of a packet between ordinary queue pairs. */
static void key_of_places(const uint8_t src[16], const uint8_t dst[16], bool by_lid,
			  const struct ft_framing_tags *tags, struct ft_check_key *key)
{
	memset(key, 0, sizeof *key);
	key->qp_kind = 2;
	key->known = FT_NEED_ALL;
	key->pkey = tags->pkey;
	key->vlan = tags->vlan;
	key->has_vni = tags->has_vni;
	key->vni = tags->vni;
	if (by_lid) {
		key->native = 1;
		key->slid = (uint16_t)(src[14] << 8 | src[15]);
		key->dlid = (uint16_t)(dst[14] << 8 | dst[15]);
		return;
	}
	key->has_gids = 1;
	memcpy(key->src, src, sizeof key->src);
	memcpy(key->dst, dst, sizeof key->dst);
}

/* Where the connection was seen when it became known. */
static struct ft_framing_tags *tags_at(struct ft_framing *framing, uint32_t connection)
{
	struct ft_framing_tags *more;
	uint32_t count = 2 * connection + 16;

	if (connection < framing->tag_count)
		return &framing->tags[connection];
	more = reallocarray(framing->tags, count, sizeof *more);
	if (more == NULL)
		ft_no_memory();
	framing->tags = more;
	for (; framing->tag_count < count; framing->tag_count++)
		more[framing->tag_count] = no_tags;
	return &framing->tags[connection];
}

static bool make_note(struct ft_framing *framing, uint32_t index, const struct occasion *occasion)
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

static bool has_frame(const struct ft_finding *finding, uint64_t number)
{
	return finding->frame_count != 0 && finding->frames[finding->frame_count - 1] == number;
}

/*
 * A finding with its first frames: the frame at hand, or one that has gone by, of which only the number is left. A frame
 * counts once, whatever it is found to be for the second time: communicators are judged in each report.
 */
static void add(struct ft_framing *framing, const struct occasion *occasion)
{
	struct ft_frame frame = { .number = occasion->frame, .ts_ns = occasion->ts_ns };
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
		return;
	}
	finding = &framing->findings.items[index];
	if (finding->packets == 0) {
		finding->map = framing->map;
		if (!make_note(framing, index, occasion))
			ft_no_memory();
	}
	if (has_frame(finding, occasion->frame))
		return;
	if (is_current(framing, occasion->frame))
		frame.wire = framing->item->frame->wire;
	if (ft_finding_add(finding, &frame, occasion->dest_qp) && frame.wire != 0)
		framing->noted = index;
}

void ft_framing_found(void *context, const struct ft_nccl_found *found)
{
	struct ft_framing *framing = context;
	struct occasion occasion = {
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
		key_of_places(found->ends.src, found->ends.dst, found->ends.by_lid != 0,
			      found->connection == FT_NCCL_NONE
				      ? &no_tags
				      : tags_at(framing, found->connection),
			      &occasion.key);
	add(framing, &occasion);
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

/* Both ends are some tenant's, not the same one's, and nothing permits it. */
static bool is_crossing(const struct ft_map *map, const struct ft_check_key *key, uint64_t ts_ns)
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

	if (is_crossing(map, key, contact->ts_ns))
		return crossings[contact->kind];
	if (contact->kind != FT_NCCL_CONTACT_CONNECTION &&
	    is_from_nowhere(map, key, contact->ts_ns))
		return strangers[contact->kind];
	return NULL;
}

void ft_framing_contact(void *context, const struct ft_nccl_contact *contact)
{
	struct ft_framing *framing = context;
	struct ft_framing_tags tags = no_tags;
	struct occasion occasion = {
		.rule = contact->kind == FT_NCCL_CONTACT_CONNECTION ? FT_RULE_NCCL_CROSSES_TENANTS
								    : FT_RULE_NCCL_FOREIGN_SETUP,
		.certainty = 1,
		.frame = contact->frame,
		.ts_ns = contact->ts_ns,
		.dest_qp = FT_NONE,
	};

	if (is_current(framing, contact->frame))
		tags = tags_of(framing);
	if (contact->kind == FT_NCCL_CONTACT_CONNECTION && contact->connection != FT_NCCL_NONE)
		*tags_at(framing, contact->connection) = tags;
	if (framing->map == NULL)
		return;
	key_of_places(contact->from.address, contact->to.address, contact->from.by_lid, &tags,
		      &occasion.key);
	occasion.text = what_is_wrong(framing->map, contact, &occasion.key);
	if (occasion.text != NULL)
		add(framing, &occasion);
}

/* --- communicators --- */

enum { TENANTS = 64 }; /* of one communicator that are told apart */

/* A member of each tenant there is. */
struct party {
	uint32_t tenant;
	const struct ft_nccl_place *place;
};

static uint32_t tenant_of(const struct ft_map *map, const struct ft_nccl_place *place,
			  const struct ft_framing_tags *tags, uint64_t ts_ns)
{
	struct ft_check_key key;
	struct ft_verdict verdict;

	key_of_places(place->address, place->address, place->by_lid, tags, &key);
	ft_check(map, &key, (int64_t)ts_ns, &verdict);
	return verdict.src.tenant;
}

static size_t parties_of(const struct ft_map *map, const struct ft_nccl_communicator *communicator,
			 const struct ft_framing_tags *tags, uint64_t ts_ns,
			 struct party parties[TENANTS])
{
	size_t count = 0;

	for (size_t i = 0; i < communicator->member_count && count < TENANTS; i++) {
		const struct ft_nccl_place *place = &communicator->members[i].places[0];
		uint32_t tenant = tenant_of(map, place, tags, ts_ns);
		bool known = tenant == FT_NONE;

		for (size_t j = 0; j < count && !known; j++)
			known = parties[j].tenant == tenant;
		if (!known)
			parties[count++] = (struct party){ tenant, place };
	}
	return count;
}

static uint32_t tenant_at(struct ft_framing *framing, const struct ft_nccl_connection *row,
			  const struct ft_nccl_party *end)
{
	return end->place_count == 0
		       ? FT_NONE
		       : tenant_of(framing->map, &end->places[0], tags_at(framing, row->connection),
				   row->first_ts_ns);
}

/* The first connection that one of two tenants has; NULL if they have one with each other: it was judged by itself. */
static const struct ft_nccl_connection *what_joins(struct ft_framing *framing,
						   const struct ft_nccl_communicator *communicator,
						   const struct party *one,
						   const struct party *other)
{
	const struct ft_nccl_connection *found = NULL;

	for (size_t i = 0; i < communicator->connection_count; i++) {
		const struct ft_nccl_connection *row = ft_nccl_follower_connection(
			framing->follower, communicator->connections[i]);
		uint32_t from = tenant_at(framing, row, &row->sender);
		uint32_t to = tenant_at(framing, row, &row->receiver);
		bool has_one = from == one->tenant || to == one->tenant;
		bool has_other = from == other->tenant || to == other->tenant;

		if (has_one && has_other)
			return NULL;
		if (found == NULL && (has_one || has_other))
			found = row;
	}
	return found;
}

static void judge_pair(struct ft_framing *framing, const struct party *one,
		       const struct party *other, const struct ft_nccl_connection *first)
{
	struct occasion occasion = {
		.rule = FT_RULE_NCCL_CROSSES_TENANTS,
		.certainty = 1,
		.text = "members of one communicator, whose data reaches both",
		.frame = first->first_frame,
		.ts_ns = first->first_ts_ns,
		.dest_qp = FT_NONE,
	};

	key_of_places(one->place->address, other->place->address, one->place->by_lid,
		      tags_at(framing, first->connection), &occasion.key);
	if (is_crossing(framing->map, &occasion.key, first->first_ts_ns))
		add(framing, &occasion);
}

static void judge_communicator(struct ft_framing *framing,
			       const struct ft_nccl_communicator *communicator)
{
	const struct ft_nccl_connection *first;
	struct party parties[TENANTS];
	size_t count;

	if (communicator->connection_count == 0)
		return;
	first = ft_nccl_follower_connection(framing->follower, communicator->connections[0]);
	count = parties_of(framing->map, communicator, tags_at(framing, first->connection),
			   first->first_ts_ns, parties);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = i + 1; j < count; j++) {
			first = what_joins(framing, communicator, &parties[i], &parties[j]);
			if (first != NULL)
				judge_pair(framing, &parties[i], &parties[j], first);
		}
	}
}

void ft_framing_judge_communicators(struct ft_framing *framing)
{
	const struct ft_nccl_report *report;

	if (framing->map == NULL)
		return;
	report = ft_nccl_follower_report(framing->follower);
	for (size_t i = 0; report != NULL && i < report->communicator_count; i++)
		judge_communicator(framing, &report->communicators[i]);
}
