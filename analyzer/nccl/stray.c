#include "stray.h"

#include <string.h>

#include "split.h"
#include "under_way.h"
#include "written.h"

static void forget(struct ft_nccl_lane *lane, uint8_t at)
{
	lane->stray_count--;
	memmove(&lane->strays[at], &lane->strays[at + 1],
		(size_t)(lane->stray_count - at) * sizeof lane->strays[0]);
}

/* The run that it goes on behind, or in front of; a new one. */
static struct ft_nccl_stray_run *run_of(struct ft_nccl_lane *lane, const struct ft_nccl_seen *seen)
{
	struct ft_nccl_stray_run *run;

	for (uint8_t i = 0; i < lane->stray_count; i++) {
		run = &lane->strays[i];
		if (run->psn == ft_psn_add(seen->psn, 1)) {
			run->psn = seen->psn;
			return run;
		}
		if (ft_psn_add(run->psn, run->count) == seen->psn && run->imm_frame == 0)
			return run;
	}
	if (lane->stray_count == FT_NCCL_STRAY_RUNS) {
		lane->tallied += lane->strays[0].tallied ? 1 : 0;
		forget(lane, 0);
	}
	run = &lane->strays[lane->stray_count++];
	*run = (struct ft_nccl_stray_run){
		.psn = seen->psn,
		.frame = seen->frame,
		.ts_ns = seen->ts_ns,
	};
	return run;
}

static void remember(struct ft_nccl_lane *lane, const struct ft_nccl_seen *seen, bool is_end)
{
	struct ft_nccl_stray_run *run = run_of(lane, seen);

	run->count++;
	if (!is_end)
		return;
	run->immdt = seen->immdt;
	run->imm_frame = seen->frame;
}

void ft_nccl_stray_see_late(const struct ft_nccl_moment *moment)
{
	remember(moment->lane, moment->seen, ft_nccl_has_immediate(moment->seen->opcode));
}

/* A message has one request, and ends with the write that begins it but for its immediate. */
static bool is_of_one(const struct ft_nccl_followed *followed,
		      const struct ft_nccl_transfer *transfer)
{
	const unsigned of_one = 1u << FT_NCCL_A | 1u << FT_NCCL_B;

	if (followed->families != 0 && (followed->families & ~of_one) == 0)
		return true;
	return transfer->has_cts && transfer->message.request_count == 1;
}

/* They are of no message that is listed: the one before on the lane is over. */
static bool is_apart(const struct ft_nccl_followed *followed, uint8_t index)
{
	const struct ft_nccl_lane *lane = &followed->lanes[index];
	const struct ft_nccl_transfer *before = ft_nccl_ring_find(&followed->ring, lane->at);
	const struct ft_nccl_share *share;

	if (followed->failing)
		return false;
	if (!lane->open || before == NULL)
		return !lane->open;
	share = ft_nccl_ring_shares(&followed->ring, before) + index;
	return followed->pmtu != 0 && share->begun && is_of_one(followed, before) &&
	       ft_psn_distance(lane->orphan_from, share->to) > 0;
}

/* The newest of them is of one more message than are listed. */
static void tally(const struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;
	const uint32_t newest = ft_psn_add(lane->orphan_from, lane->orphans - 1);

	if (!is_apart(moment->followed, moment->lane_index))
		return;
	for (uint8_t i = lane->stray_count; i-- > 0;) {
		struct ft_nccl_stray_run *run = &lane->strays[i];

		if (ft_psn_since(newest, run->psn) >= run->count || run->tallied)
			continue;
		run->tallied = true;
		lane->tally.unlisted++;
	}
}

void ft_nccl_stray_leave(const struct ft_nccl_moment *moment,
			 const struct ft_nccl_transfer *transfer)
{
	if (moment->seen->length != 0 && is_of_one(moment->followed, transfer))
		tally(moment);
}

void ft_nccl_stray_is_listed(struct ft_nccl_lane *lane)
{
	if (lane->tallied == 0)
		return;
	lane->tallied--;
	lane->tally.unlisted--;
}

uint64_t ft_nccl_stray_unlisted(const struct ft_nccl_followed *followed, uint8_t lane)
{
	const struct ft_nccl_lane *at = &followed->lanes[lane];

	return at->tally.unlisted + (at->orphans != 0 && is_apart(followed, lane) ? 1 : 0);
}

/* As if it had just come. */
static void end(const struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		const struct ft_nccl_stray_run *run)
{
	struct ft_nccl_moment past = *moment;
	struct ft_nccl_seen last = *moment->seen;

	past.turn = FT_NCCL_LATE;
	past.seen = &last;
	last.opcode = 0x09;
	last.psn = ft_psn_add(run->psn, run->count - 1);
	last.immdt = run->immdt;
	last.frame = run->imm_frame;
	ft_nccl_data_end(&past, transfer);
}

static void take(const struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		 const struct ft_nccl_stray_run *run)
{
	ft_nccl_ring_shares(&moment->followed->ring, transfer)[moment->lane_index].packets +=
		run->count;
	transfer->message.packets += run->count;
	ft_nccl_message_reach(&transfer->message, run->frame, run->ts_ns);
	moment->lane->tally.unlisted -= run->tallied ? 1 : 0;
}

/* Packets do not come so much later: its PSN may be of another message by now. */
static bool is_past(const struct ft_nccl_lane *lane, const struct ft_nccl_stray_run *run)
{
	return ft_psn_since(lane->data.next, run->psn) > FT_NCCL_PSN_WINDOW;
}

void ft_nccl_stray_gather(const struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_lane *lane = moment->lane;
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;
	struct ft_nccl_stray_run last = { .imm_frame = 0 };

	for (uint8_t i = lane->stray_count; i-- > 0;) {
		const struct ft_nccl_stray_run run = lane->strays[i];
		const bool is_within = ft_psn_distance(run.psn, share->from) >= 0 &&
				       ft_psn_distance(share->to, run.psn) >= 0;

		if (is_within || is_past(lane, &run))
			forget(lane, i);
		if (!is_within)
			continue;
		take(moment, transfer, &run);
		last = run.imm_frame != 0 ? run : last;
	}
	if (last.imm_frame != 0 && !share->ended)
		end(moment, transfer, &last);
}

void ft_nccl_stray_see(struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;

	if (lane->orphans == 0 || moment->turn != FT_NCCL_NEXT) {
		lane->orphans = 0;
		lane->orphan_from = moment->seen->psn;
		lane->orphan_hole = lane->data.known ? lane->data.next : moment->seen->psn;
		lane->orphan_exact = lane->exact;
	}
	lane->orphans++;
	lane->exact = lane->counted = false;
	remember(lane, moment->seen, false);
}

/* The PSN that the next message must begin with; the message before may lack its end. */
static uint32_t beginning(const struct ft_nccl_moment *moment)
{
	const struct ft_nccl_lane *lane = moment->lane;
	const struct ft_nccl_transfer *before;

	before = lane->open ? ft_nccl_ring_find(&moment->followed->ring, lane->at) : NULL;
	if (before == NULL)
		return lane->orphan_hole;
	return ft_psn_add(
		ft_nccl_ring_shares(&moment->followed->ring, before)[moment->lane_index].to, 1);
}

static bool is_as_long(const struct ft_nccl_moment *moment, enum ft_nccl_order order,
		       uint32_t packets)
{
	uint32_t length = ft_nccl_immediate(moment->seen->immdt, order);
	uint16_t pmtu = moment->followed->pmtu;

	return (moment->followed->orders & 1u << order) != 0 &&
	       length / pmtu + (length % pmtu != 0 ? 1 : 0) == packets;
}

bool ft_nccl_stray_is_next(const struct ft_nccl_moment *moment, bool bare)
{
	const struct ft_nccl_lane *lane = moment->lane;
	uint32_t end = ft_psn_add(moment->seen->psn, bare ? 0 : 1);
	uint32_t packets = ft_psn_since(end, beginning(moment));

	if (lane->orphans == 0 || !lane->orphan_exact)
		return false;
	if (lane->orphan_hole == lane->orphan_from)
		return true; /* the capture begins within the message */
	return moment->followed->pmtu != 0 && moment->followed->lane_count == 1 &&
	       (is_as_long(moment, FT_NCCL_LITTLE, packets) ||
		is_as_long(moment, FT_NCCL_BIG, packets));
}

void ft_nccl_stray_adopt(struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
			 bool is_whole)
{
	struct ft_nccl_lane *lane = moment->lane;
	struct ft_nccl_message *message = &transfer->message;
	struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;

	share->apart = is_apart(moment->followed, moment->lane_index);
	share->begun = is_whole && lane->orphan_hole != lane->orphan_from;
	share->from = share->begun ? beginning(moment) : lane->orphan_from;
	share->to = moment->seen->psn;
	if (message->first_frame == 0)
		moment->followed->model.messages++;
	ft_nccl_message_reach(message, moment->seen->frame, moment->seen->ts_ns);
	ft_nccl_stray_gather(moment, transfer);
	lane->orphans = 0;
}

/* .. but with which immediate, if their first comes yet. */
static void note_end(struct ft_nccl_lane *lane, const struct ft_nccl_seen *seen)
{
	for (uint8_t i = 0; i < lane->stray_count; i++) {
		struct ft_nccl_stray_run *run = &lane->strays[i];

		if (ft_psn_add(run->psn, run->count - 1) != seen->psn)
			continue;
		run->immdt = seen->immdt;
		run->imm_frame = seen->frame;
	}
}

/* Of which message they are is not known: of the one before, or that one's end was missed. */
static void let_go(const struct ft_nccl_moment *moment)
{
	struct ft_nccl_lane *lane = moment->lane;

	tally(moment);
	lane->orphans = 0;
	lane->open = lane->writing = false;
}

void ft_nccl_stray_end(struct ft_nccl_moment *moment)
{
	struct ft_nccl_answer answer = { .kind = FT_NCCL_ANSWER_END };
	struct ft_nccl_transfer *transfer;

	answer.k = ft_nccl_split_first(moment->followed, moment->lane_index, moment->lane->next);
	answer.sure = ft_nccl_stray_is_next(moment, false);
	transfer = ft_nccl_ring_find(&moment->followed->ring, answer.k);
	if (!answer.sure && transfer != NULL &&
	    (transfer->has_cts || ft_nccl_is_under_way(moment, transfer))) {
		note_end(moment->lane, moment->seen);
		let_go(moment);
		return;
	}
	transfer = ft_nccl_transfer_for(moment, &answer);
	if (transfer == NULL)
		return;
	ft_nccl_stray_adopt(moment, transfer, answer.sure);
	ft_nccl_enter(moment, transfer, &answer);
	ft_nccl_ring_shares(&moment->followed->ring, transfer)[moment->lane_index].to =
		moment->seen->psn;
	ft_nccl_data_end(moment, transfer);
}

bool ft_nccl_stray_pass_end(struct ft_nccl_moment *moment, const struct ft_nccl_answer *answer)
{
	const struct ft_nccl_lane *lane = moment->lane;

	if (answer->kind != FT_NCCL_ANSWER_END || lane->orphans == 0 ||
	    (lane->open && lane->at == answer->k))
		return false;
	let_go(moment);
	return true;
}
