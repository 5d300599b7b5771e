#include "framing_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <engine/no_memory.h>

enum {
	TENANTS = 64,   /* of one communicator that are told apart */
	HOPS_SHOWN = 8, /* connections from either end that a finding names frames of */
};
static_assert(2 * 2 * HOPS_SHOWN <= FT_FINDING_FRAMES, "a clear-to-send and data of each");

/* A member of each tenant there is, among those that connections tie together. */
struct party {
	uint32_t tenant, member, tied;
	const struct ft_nccl_place *place;
};

/* How a member is reached from another one: over a connection from a member next to it. */
struct hop {
	uint32_t before, connection; /* FT_NCCL_NONE: it is not, or is where the way begins */
};

/* The connections of a communicator, and who is at their ends. */
struct web {
	const struct ft_nccl_communicator *communicator;
	uint32_t (*ends)[2]; /* members, by connection; FT_NCCL_NONE */
	struct hop *hops;    /* by member: the way from `from` */
	uint32_t from;       /* FT_NCCL_NONE: nobody yet */
};

/* Adds it, if nobody is there for its tenant yet. */
static void add_party(struct party parties[TENANTS], size_t *count, const struct party *party)
{
	bool known = party->tenant == FT_NONE;

	for (size_t i = 0; i < *count && !known; i++)
		known = parties[i].tenant == party->tenant && parties[i].tied == party->tied;
	if (!known && *count < TENANTS)
		parties[(*count)++] = *party;
}

static size_t parties_of(const struct ft_map *map, const struct ft_nccl_communicator *communicator,
			 const struct ft_framing_tags *tags, uint64_t ts_ns,
			 struct party parties[TENANTS])
{
	size_t count = 0;

	for (uint32_t i = 0; i < communicator->member_count && count < TENANTS; i++) {
		const struct ft_nccl_member *member = &communicator->members[i];

		for (size_t j = 0; j < member->place_count; j++) {
			const struct party party = {
				.tenant =
					ft_framing_tenant_of(map, &member->places[j], tags, ts_ns),
				.member = i,
				.tied = member->tied[j],
				.place = &member->places[j],
			};

			add_party(parties, &count, &party);
		}
	}
	return count;
}

static uint32_t tenant_at(struct ft_framing *framing, const struct ft_nccl_connection *row,
			  const struct ft_nccl_party *end)
{
	return end->place_count == 0
		       ? FT_NONE
		       : ft_framing_tenant_of(framing->map, &end->places[0],
					      &ft_framing_line_of(framing, row->connection)->tags,
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

/* --- which connections lead from one member to another --- */

static bool is_at(const struct ft_nccl_member *member, const struct ft_nccl_party *party)
{
	if (member->has_rank && party->has_rank)
		return member->rank == party->rank;
	for (uint8_t i = 0; i < member->place_count; i++)
		for (uint8_t j = 0; j < party->place_count; j++)
			if (member->places[i].by_lid == party->places[j].by_lid &&
			    memcmp(member->places[i].address, party->places[j].address,
				   sizeof member->places[i].address) == 0)
				return true;
	return false;
}

static uint32_t member_of(const struct ft_nccl_communicator *communicator,
			  const struct ft_nccl_party *party)
{
	for (size_t i = 0; i < communicator->member_count; i++)
		if (is_at(&communicator->members[i], party))
			return (uint32_t)i;
	return FT_NCCL_NONE;
}

static void weave(struct web *web, const struct ft_framing *framing,
		  const struct ft_nccl_communicator *communicator)
{
	web->communicator = communicator;
	web->from = FT_NCCL_NONE;
	web->ends = calloc(communicator->connection_count, sizeof *web->ends);
	web->hops = calloc(communicator->member_count, sizeof *web->hops);
	if (web->ends == NULL || web->hops == NULL)
		ft_no_memory();
	for (size_t i = 0; i < communicator->connection_count; i++) {
		const struct ft_nccl_connection *row = ft_nccl_follower_connection(
			framing->follower, communicator->connections[i]);

		web->ends[i][0] = member_of(communicator, &row->sender);
		web->ends[i][1] = member_of(communicator, &row->receiver);
	}
}

/* One step further: members next to those reached before. */
static bool reach_on(struct web *web, uint32_t *steps, uint32_t step)
{
	bool reached = false;

	for (size_t i = 0; i < web->communicator->connection_count; i++) {
		for (unsigned side = 0; side < 2; side++) {
			uint32_t at = web->ends[i][side], next = web->ends[i][1 - side];

			if (at == FT_NCCL_NONE || next == FT_NCCL_NONE || steps[at] != step ||
			    steps[next] != 0)
				continue;
			steps[next] = step + 1;
			web->hops[next] = (struct hop){ at, web->communicator->connections[i] };
			reached = true;
		}
	}
	return reached;
}

/* The shortest ways from a member to all others. */
static void find_ways(struct web *web, uint32_t from)
{
	uint32_t *steps = calloc(web->communicator->member_count, sizeof *steps);

	if (steps == NULL)
		ft_no_memory();
	for (size_t i = 0; i < web->communicator->member_count; i++)
		web->hops[i] = (struct hop){ FT_NCCL_NONE, FT_NCCL_NONE };
	steps[from] = 1;
	for (uint32_t step = 1; reach_on(web, steps, step); step++)
		;
	web->from = from;
	free(steps);
}

/* What was kept of a connection: a clear-to-send and data, or how it became known. */
static size_t frames_of(struct ft_framing *framing, uint32_t connection,
			const struct ft_kept_frame *frames[2])
{
	const struct ft_kept_frame *kept = ft_framing_line_of(framing, connection)->kept;
	size_t count = 0;

	for (unsigned which = FT_KEPT_CTS; which <= FT_KEPT_DATA; which++)
		if (kept[which].frame.number != 0)
			frames[count++] = &kept[which];
	if (count == 0 && kept[FT_KEPT_CONTACT].frame.number != 0)
		frames[count++] = &kept[FT_KEPT_CONTACT];
	return count;
}

static int by_number(const void *left, const void *right)
{
	const struct ft_kept_frame *const *a = left, *const *b = right;

	return ((*a)->frame.number > (*b)->frame.number) -
	       ((*a)->frame.number < (*b)->frame.number);
}

/* Frames that show the way to a member, of the connections next to either end if it is long; `length`: connections. */
static size_t frames_to(struct ft_framing *framing, const struct web *web, uint32_t to,
			const struct ft_kept_frame *frames[FT_FINDING_FRAMES], uint32_t *length)
{
	size_t count = 0;
	uint32_t at = 0;

	*length = 0;
	for (uint32_t i = to; web->hops[i].before != FT_NCCL_NONE; i = web->hops[i].before) {
		ft_framing_line_of(framing, web->hops[i].connection)->crosses = true;
		++*length;
	}
	for (uint32_t i = to; web->hops[i].before != FT_NCCL_NONE; i = web->hops[i].before, at++)
		if (at < HOPS_SHOWN || at + HOPS_SHOWN >= *length)
			count += frames_of(framing, web->hops[i].connection, frames + count);
	if (count > 1)
		qsort(frames, count, sizeof *frames, by_number);
	return count;
}

/* --- who may not be in one communicator --- */

static void tell(struct ft_framing *framing, struct ft_framing_occasion *occasion,
		 const struct web *web, uint32_t to)
{
	const struct ft_kept_frame *frames[FT_FINDING_FRAMES];
	uint32_t length;
	size_t count = frames_to(framing, web, to, frames, &length);
	char text[160];

	snprintf(text, sizeof text,
		 "members of one communicator, whose data reaches both: %u connections lead from "
		 "one to the other%s",
		 length,
		 length > 2 * HOPS_SHOWN ? ", of which those next to either end are shown" : "");
	occasion->text = count != 0 ? text : "members of one communicator, whose data reaches both";
	if (count == 0)
		ft_framing_add(framing, occasion, NULL);
	for (size_t i = 0; i < count; i++) {
		occasion->frame = frames[i]->frame.number;
		ft_framing_add(framing, occasion, frames[i]);
	}
	occasion->text = NULL;
}

static void judge_pair(struct ft_framing *framing, struct web *web, const struct party *one,
		       const struct party *other)
{
	const struct ft_nccl_connection *first = what_joins(framing, web->communicator, one, other);
	struct ft_framing_occasion occasion = {
		.rule = FT_RULE_NCCL_CROSSES_TENANTS,
		.certainty = 1,
		.dest_qp = FT_NONE,
		.repeated = true,
	};

	if (first == NULL)
		return;
	occasion.frame = first->first_frame;
	occasion.ts_ns = first->first_ts_ns;
	ft_framing_key(one->place, other->place->address,
		       &ft_framing_line_of(framing, first->connection)->tags, &occasion.key);
	if (!ft_framing_is_crossing(framing->map, &occasion.key, first->first_ts_ns))
		return;
	if (web->from != one->member)
		find_ways(web, one->member);
	tell(framing, &occasion, web, other->member);
}

static void judge_communicator(struct ft_framing *framing,
			       const struct ft_nccl_communicator *communicator)
{
	const struct ft_nccl_connection *first;
	struct party parties[TENANTS];
	struct web web;
	size_t count;

	if (communicator->connection_count == 0)
		return;
	first = ft_nccl_follower_connection(framing->follower, communicator->connections[0]);
	count = parties_of(framing->map, communicator,
			   &ft_framing_line_of(framing, first->connection)->tags,
			   first->first_ts_ns, parties);
	if (count < 2)
		return;
	weave(&web, framing, communicator);
	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count; j++)
			if (parties[i].tied == parties[j].tied)
				judge_pair(framing, &web, &parties[i], &parties[j]);
	free(web.ends);
	free(web.hops);
}

void ft_framing_judge_communicators(struct ft_framing *framing, const struct ft_source *source)
{
	const struct ft_nccl_report *report;

	if (framing->map == NULL)
		return;
	framing->source = source;
	if (!ft_framing_may_mix_tenants(framing)) {
		ft_nccl_follower_settle(framing->follower);
		return;
	}
	report = ft_nccl_follower_report(framing->follower);
	for (size_t i = 0; report != NULL && i < report->communicator_count; i++)
		judge_communicator(framing, &report->communicators[i]);
}
