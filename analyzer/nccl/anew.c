#include "anew.h"

#include "dispute.h"
#include "faults_parts.h"
#include "misnamed.h"
#include "order.h"
#include "turns.h"
#include "written.h"

/* Of what nothing came behind: as sure as a write that waits for a clear-to-send in vain. */
static const double CERTAINTY_AT_END = 0.7;

enum { UNANSWERED_MOST = 8 /* that wait for a connection's first data */ };

static bool is_of(const struct ft_nccl_doubt *doubt, const struct ft_nccl_moment *moment,
		  bool is_cts)
{
	return doubt->found.connection == moment->followed->model.connection &&
	       (doubt->lane == moment->lane_index || doubt->is_anothers) && doubt->is_cts == is_cts;
}

/* Of data that is wrong whichever message it is of, nothing else of the connection is odd either. */
static bool may_tell(const struct ft_nccl_followed *followed, const struct ft_nccl_doubt *doubt)
{
	return !doubt->is_whichever || (doubt->is_alone && followed->trouble <= doubt->step);
}

static void tell(struct ft_nccl_connections *connections, const struct ft_nccl_doubt *doubt)
{
	if (doubt->is_anothers)
		ft_nccl_tell_of_sender(connections, &doubt->found);
	else if (doubt->is_disputed)
		ft_nccl_dispute_confirm(connections, &doubt->found);
	else if (doubt->is_cts)
		ft_nccl_tell(connections, &doubt->found);
	else if (doubt->is_whichever)
		ft_nccl_tell_surely(connections, &doubt->found);
	else if (doubt->is_known)
		ft_nccl_tell_of_known(connections, &doubt->found);
	else
		ft_nccl_tell_of_data(connections, &doubt->found);
}

/* Behind the write that the packet begins. */
static uint32_t next_of(const struct ft_nccl_moment *moment)
{
	return ft_psn_add(ft_nccl_write_end(moment->followed, moment->seen), 1);
}

static void let_wait(const struct ft_nccl_moment *moment, struct ft_nccl_doubt *doubt)
{
	struct ft_nccl_connections *connections = moment->connections;

	for (unsigned i = 0; i < connections->doubt_count; i++) {
		struct ft_nccl_doubt *other = &connections->doubts[i];

		if (is_of(other, moment, doubt->is_cts))
			doubt->is_alone = other->is_alone = false;
		else if (other->found.connection == doubt->found.connection)
			other->is_alone = other->is_alone && !other->is_whichever;
	}
	connections->doubts[connections->doubt_count++] = *doubt;
	moment->followed->doubts++;
	ft_nccl_hold(connections, doubt->found.frame);
}

/* A packet of another's waits already. */
static bool is_waiting(const struct ft_nccl_connections *connections,
		       const struct ft_nccl_found *found)
{
	for (unsigned i = 0; i < connections->doubt_count; i++) {
		const struct ft_nccl_doubt *doubt = &connections->doubts[i];

		if (doubt->is_anothers && doubt->found.connection == found->connection &&
		    doubt->found.frame == found->frame)
			return true;
	}
	return false;
}

/* Of another connection, in which what sent data here asks for it: its first clear-to-send, perhaps. */
static bool may_ask(const struct ft_nccl_seen *seen)
{
	const struct ft_nccl_write write = { seen->payload, seen->captured, seen->length };

	return seen->opcode == 0x0a && ft_nccl_cts_may_be(&write);
}

/*
 * Another connection may begin with it, of which no more need come: the packets of this one by then, itself included where it is
 * among them. 0: none may.
 */
static uint64_t step_of(const struct ft_nccl_moment *moment, bool is_cts)
{
	if (moment->turn == FT_NCCL_APART)
		return moment->followed->steps;
	return !is_cts && may_ask(moment->seen) ? moment->followed->steps + 1 : 0;
}

static struct ft_nccl_doubt doubt_of(const struct ft_nccl_moment *moment,
				     const struct ft_nccl_found *found, bool is_cts)
{
	return (struct ft_nccl_doubt){
		.found = *found,
		.lane = moment->lane_index,
		.is_cts = is_cts,
		.is_alone = moment->turn != FT_NCCL_AHEAD,
		.is_known = moment->turn == FT_NCCL_NEXT &&
			    ft_nccl_turns_agree(moment->followed, moment->lane_index),
		.next = next_of(moment),
		.step = step_of(moment, is_cts),
	};
}

void ft_nccl_tell_in_turn(const struct ft_nccl_moment *moment, const struct ft_nccl_found *found,
			  bool is_cts)
{
	struct ft_nccl_doubt doubt = doubt_of(moment, found, is_cts);

	if (!is_cts && (moment->turn == FT_NCCL_NEXT || moment->turn == FT_NCCL_LATE))
		tell(moment->connections, &doubt);
	else if (moment->connections->doubt_count < FT_NCCL_DOUBTS)
		let_wait(moment, &doubt);
}

bool ft_nccl_let_dispute_wait(const struct ft_nccl_moment *moment,
			      const struct ft_nccl_found *found)
{
	struct ft_nccl_doubt doubt = doubt_of(moment, found, true);

	if (moment->connections->doubt_count == FT_NCCL_DOUBTS)
		return false;
	doubt.is_disputed = true;
	let_wait(moment, &doubt);
	return true;
}

void ft_nccl_tell_whichever(const struct ft_nccl_moment *moment, const struct ft_nccl_found *found)
{
	struct ft_nccl_doubt doubt = doubt_of(moment, found, false);

	if (moment->connections->doubt_count == FT_NCCL_DOUBTS || moment->followed->doubts != 0)
		return;
	doubt.is_whichever = true;
	doubt.has_its_key = ft_nccl_is_announced(moment->followed, moment->seen->rkey);
	doubt.step = moment->followed->steps + 1;
	let_wait(moment, &doubt);
}

void ft_nccl_tell_if_it_goes_on(struct ft_nccl_connections *connections,
				struct ft_nccl_followed *followed,
				const struct ft_nccl_found *found, bool may_be_new)
{
	struct ft_nccl_doubt doubt = {
		.found = *found,
		.is_cts = true,
		.is_anothers = true,
		.is_alone = true,
		.step = may_be_new ? followed->steps : 0,
	};

	if (connections->doubt_count == FT_NCCL_DOUBTS || is_waiting(connections, found))
		return;
	for (unsigned i = 0; i < connections->doubt_count; i++) {
		struct ft_nccl_doubt *other = &connections->doubts[i];

		if (!other->is_anothers)
			continue;
		if (other->found.connection == found->connection)
			doubt.is_alone = other->is_alone = false;
		else if (ft_nccl_is_soon(other->found.ts_ns, found->ts_ns))
			doubt.has_company = other->has_company = true;
	}
	connections->doubts[connections->doubt_count++] = doubt;
	followed->doubts++;
	ft_nccl_hold(connections, found->frame);
}

void ft_nccl_tell_once_answered(struct ft_nccl_connections *connections,
				struct ft_nccl_followed *followed,
				const struct ft_nccl_found *found)
{
	if (connections->doubt_count == FT_NCCL_DOUBTS || followed->doubts >= UNANSWERED_MOST)
		return;
	connections->doubts[connections->doubt_count++] = (struct ft_nccl_doubt){
		.found = *found,
		.is_anothers = true,
	};
	followed->doubts++;
	ft_nccl_hold(connections, found->frame);
}

void ft_nccl_anew_see(const struct ft_nccl_moment *moment, bool is_cts)
{
	struct ft_nccl_connections *connections = moment->connections;

	for (unsigned i = 0; moment->followed->doubts != 0 && i < connections->doubt_count; i++) {
		struct ft_nccl_doubt *doubt = &connections->doubts[i];

		if (!is_of(doubt, moment, is_cts) || doubt->is_anothers ||
		    moment->seen->psn != doubt->next)
			continue;
		doubt->goes_on = true;
		doubt->next = next_of(moment);
	}
}

void ft_nccl_anew_doubt(const struct ft_nccl_moment *moment, bool is_cts)
{
	struct ft_nccl_connections *connections = moment->connections;

	for (unsigned i = 0; moment->followed->doubts != 0 && i < connections->doubt_count; i++) {
		struct ft_nccl_doubt *doubt = &connections->doubts[i];

		if (is_of(doubt, moment, is_cts) && !doubt->is_anothers)
			doubt->goes_on = true;
	}
}

void ft_nccl_anew_go_on(const struct ft_nccl_moment *moment)
{
	struct ft_nccl_connections *connections = moment->connections;

	for (unsigned i = 0; moment->followed->doubts != 0 && i < connections->doubt_count; i++) {
		struct ft_nccl_doubt *doubt = &connections->doubts[i];

		if (is_of(doubt, moment, false) && doubt->goes_on &&
		    moment->seen->psn == doubt->next)
			doubt->next = next_of(moment);
	}
}

/* What goes on decides about it: where a set-up may be wrong about a queue pair, once all that it names had data. */
static bool is_decided(const struct ft_nccl_doubt *doubt, const struct ft_nccl_moment *moment,
		       bool is_cts)
{
	return is_of(doubt, moment, is_cts) &&
	       (is_cts || !doubt->is_anothers || !ft_nccl_lacks_data(moment->followed));
}

/* The sequence that began anew has grown up to where the old one seems to go on. */
static bool has_grown(const struct ft_nccl_doubt *doubt, uint32_t psn)
{
	int32_t ahead = ft_psn_distance(doubt->next, psn);

	return doubt->is_cts ? doubt->goes_on : ahead > 0 || (ahead == 0 && doubt->goes_on);
}

void ft_nccl_anew_refute(const struct ft_nccl_moment *moment, bool is_cts)
{
	struct ft_nccl_connections *connections = moment->connections;
	unsigned count = connections->doubt_count, kept = 0;

	if (moment->followed->doubts == 0)
		return;
	for (unsigned i = 0; i < count; i++) {
		if (is_decided(&connections->doubts[i], moment, is_cts)) {
			moment->followed->doubts--;
			if (!has_grown(&connections->doubts[i], moment->seen->psn) &&
			    may_tell(moment->followed, &connections->doubts[i]))
				tell(connections, &connections->doubts[i]);
		} else {
			connections->doubts[kept++] = connections->doubts[i];
		}
	}
	connections->doubt_count = kept;
}

/* Nothing else of its kind came, its own sequence has not grown, and clear-to-sends show what it should have been. */
static bool stands_alone(const struct ft_nccl_followed *followed, const struct ft_nccl_doubt *doubt)
{
	const bool is_shown = !doubt->is_cts || doubt->is_anothers || followed->readable != 0;

	return doubt->is_alone && !doubt->goes_on && may_tell(followed, doubt) && is_shown;
}

/*
 * Where another connection may have begun with it, the known one went on, on whichever queue pair: in sequence, if somebody else's
 * write tells that, for on other queue pairs that one may have the known one's peers.
 */
static bool went_on(const struct ft_nccl_followed *followed, const struct ft_nccl_doubt *doubt)
{
	return doubt->step == 0 || (followed->steps > doubt->step &&
				    (!doubt->is_anothers || followed->trouble <= doubt->step));
}

/*
 * Or nothing came behind it: somebody else's, or data under a PSN that passed with the connection's key, so soon that it is likely
 * no other job's, which would take over several connections.
 */
static bool came_last(const struct ft_nccl_followed *followed, const struct ft_nccl_doubt *doubt)
{
	return followed->steps == doubt->step && (doubt->is_anothers || doubt->has_its_key) &&
	       !doubt->has_company && ft_nccl_order_is_recent(followed, doubt->found.ts_ns);
}

static void tell_at_end(struct ft_nccl_connections *connections,
			const struct ft_nccl_followed *followed, const struct ft_nccl_doubt *doubt)
{
	struct ft_nccl_doubt last = *doubt;

	if (!stands_alone(followed, doubt))
		return;
	if (!went_on(followed, doubt)) {
		if (!came_last(followed, doubt))
			return;
		last.found.certainty = CERTAINTY_AT_END;
	}
	tell(connections, &last);
}

void ft_nccl_anew_settle(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
			 bool has_ended)
{
	unsigned count = connections->doubt_count, kept = 0;

	if (followed->doubts == 0)
		return;
	for (unsigned i = 0; i < count; i++) {
		const struct ft_nccl_doubt *doubt = &connections->doubts[i];

		if (doubt->found.connection != followed->model.connection)
			connections->doubts[kept++] = *doubt;
		else if (!has_ended)
			tell_at_end(connections, followed, doubt);
	}
	connections->doubt_count = kept;
	followed->doubts = 0;
}
