#include "orphan_rows.h"

#include <string.h>

#include "unlisted.h"
#include "written.h"

static void forget(struct ft_nccl_lane *lane, uint8_t at)
{
	lane->orphan_row_count--;
	memmove(&lane->orphan_rows[at], &lane->orphan_rows[at + 1],
		(size_t)(lane->orphan_row_count - at) * sizeof lane->orphan_rows[0]);
}

/* The row that it goes on behind, or in front of; a new one. */
static struct ft_nccl_orphan_row *row_of(struct ft_nccl_lane *lane, const struct ft_nccl_seen *seen)
{
	struct ft_nccl_orphan_row *row;

	for (uint8_t i = 0; i < lane->orphan_row_count; i++) {
		row = &lane->orphan_rows[i];
		if (row->psn == ft_psn_add(seen->psn, 1)) {
			row->psn = seen->psn;
			return row;
		}
		if (ft_psn_add(row->psn, row->count) == seen->psn && row->imm_frame == 0)
			return row;
	}
	if (lane->orphan_row_count == FT_NCCL_ORPHAN_ROWS) {
		ft_nccl_unlisted_forget(lane, &lane->orphan_rows[0]);
		forget(lane, 0);
	}
	row = &lane->orphan_rows[lane->orphan_row_count++];
	*row = (struct ft_nccl_orphan_row){
		.psn = seen->psn,
		.frame = seen->frame,
		.ts_ns = seen->ts_ns,
	};
	return row;
}

void ft_nccl_orphan_rows_add(struct ft_nccl_lane *lane, const struct ft_nccl_seen *seen,
			     bool is_end)
{
	struct ft_nccl_orphan_row *row = row_of(lane, seen);

	row->count++;
	if (!is_end)
		return;
	row->immdt = seen->immdt;
	row->imm_frame = seen->frame;
}

void ft_nccl_orphan_rows_end(struct ft_nccl_lane *lane, const struct ft_nccl_seen *seen)
{
	for (uint8_t i = 0; i < lane->orphan_row_count; i++) {
		struct ft_nccl_orphan_row *row = &lane->orphan_rows[i];

		if (ft_psn_add(row->psn, row->count - 1) != seen->psn)
			continue;
		row->immdt = seen->immdt;
		row->imm_frame = seen->frame;
	}
}

/* As if it had just come. */
static void end(const struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		const struct ft_nccl_orphan_row *row)
{
	struct ft_nccl_moment past = *moment;
	struct ft_nccl_seen last = *moment->seen;

	past.turn = FT_NCCL_LATE;
	past.seen = &last;
	last.opcode = 0x09;
	last.psn = ft_psn_add(row->psn, row->count - 1);
	last.immdt = row->immdt;
	last.frame = row->imm_frame;
	ft_nccl_data_end(&past, transfer);
}

static void take(const struct ft_nccl_moment *moment, struct ft_nccl_transfer *transfer,
		 const struct ft_nccl_orphan_row *row)
{
	ft_nccl_ring_shares(&moment->followed->ring, transfer)[moment->lane_index].packets +=
		row->count;
	transfer->message.packets += row->count;
	ft_nccl_message_reach(&transfer->message, row->frame, row->ts_ns);
	ft_nccl_unlisted_withdraw(moment->lane, row);
}

/* Packets do not come so much later: its PSN may be of another message by now. */
static bool is_past(const struct ft_nccl_lane *lane, const struct ft_nccl_orphan_row *row)
{
	return ft_psn_since(lane->data.next, row->psn) > FT_NCCL_PSN_WINDOW;
}

void ft_nccl_orphan_rows_gather(const struct ft_nccl_moment *moment,
				struct ft_nccl_transfer *transfer)
{
	struct ft_nccl_lane *lane = moment->lane;
	const struct ft_nccl_share *share =
		ft_nccl_ring_shares(&moment->followed->ring, transfer) + moment->lane_index;
	struct ft_nccl_orphan_row last = { .imm_frame = 0 };

	for (uint8_t i = lane->orphan_row_count; i-- > 0;) {
		const struct ft_nccl_orphan_row row = lane->orphan_rows[i];
		const bool is_within = ft_psn_distance(row.psn, share->from) >= 0 &&
				       ft_psn_distance(share->to, row.psn) >= 0;

		if (is_within || is_past(lane, &row))
			forget(lane, i);
		if (!is_within)
			continue;
		take(moment, transfer, &row);
		last = row.imm_frame != 0 ? row : last;
	}
	if (last.imm_frame != 0 && !share->ended)
		end(moment, transfer, &last);
}
