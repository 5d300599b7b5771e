#include "passed.h"

static bool is_known(const struct ft_nccl_psns *before, const struct ft_nccl_psns *psns)
{
	return before->known && before->next == psns->origin;
}

static struct ft_nccl_psns none_before(uint32_t psn)
{
	return (struct ft_nccl_psns){ .known = true, .origin = psn, .next = psn };
}

/* One way of a lane. */
struct way {
	struct ft_nccl_psns *psns, *before;
	uint64_t *again; /* packets */
};

static struct way way_of(struct ft_nccl_followed *followed, const struct ft_nccl_end *end)
{
	struct ft_nccl_lane *lane = &followed->lanes[end->lane];
	struct ft_nccl_connection *model = &followed->model;

	if (end->role == FT_NCCL_AT_SENDER)
		return (struct way){ &lane->cts, &lane->cts_before, &model->retransmitted_cts };
	return (struct way){ &lane->data, &lane->data_before, &model->retransmitted_data };
}

bool ft_nccl_passed_begin(struct ft_nccl_followed *followed, const struct ft_nccl_end *end,
			  const struct ft_nccl_log *log, uint32_t from, uint32_t psn)
{
	const struct way way = way_of(followed, end);
	struct ft_nccl_history history;

	if (way.psns->known)
		return false;
	history = ft_nccl_log_history(log, from);
	ft_nccl_history_end(&history, psn);
	*way.before = history.psns;
	*way.again += history.again;
	followed->lacking_before += history.missing;
	return true;
}

static void settle(struct ft_nccl_followed *followed, const struct way *way, uint32_t psn,
		   uint32_t count)
{
	const struct ft_nccl_psn_range all = { psn, count },
				       range = ft_nccl_psns_remembered(way->psns, &all);
	const uint32_t late = ft_nccl_psns_fill(way->psns, &range);

	followed->lacking_before -= late;
	*way->again += range.count - late;
}

void ft_nccl_passed_settle(struct ft_nccl_followed *followed, const struct ft_nccl_end *end,
			   const struct ft_nccl_logged *logged)
{
	const struct way way = way_of(followed, end);

	settle(followed, &way, logged->seen.psn, logged->run);
}

void ft_nccl_passed_settle_cleared(struct ft_nccl_followed *followed, const struct ft_nccl_end *end,
				   const struct ft_nccl_log *log)
{
	const struct way way = way_of(followed, end);
	const struct ft_nccl_psns *cleared = &log->history.psns;
	const struct ft_nccl_psn_range most = { ft_psn_back(cleared->next, FT_NCCL_PSN_WINDOW),
						FT_NCCL_PSN_WINDOW },
				       all = ft_nccl_psns_remembered(cleared, &most);
	uint32_t from = all.psn;

	for (uint8_t i = 0; i < cleared->hole_count; i++) {
		const struct ft_nccl_psn_range *hole = &cleared->holes[i];
		const int32_t seen = ft_psn_distance(hole->psn, from);

		if (seen > 0)
			settle(followed, &way, from, (uint32_t)seen);
		if (seen + (int32_t)hole->count > 0)
			from = ft_psn_add(hole->psn, hole->count);
	}
	settle(followed, &way, from, ft_psn_since(cleared->next, from));
}

bool ft_nccl_passed_repeats(struct ft_nccl_followed *followed, const struct ft_nccl_psns *psns,
			    struct ft_nccl_psns *before, uint32_t psn)
{
	struct ft_nccl_history history = { 0 };

	if (ft_psn_distance(psns->origin, psn) <= 0)
		return true;
	history.psns = is_known(before, psns) ? *before : none_before(psns->origin);
	ft_nccl_history_take(&history, psn);
	*before = history.psns;
	followed->lacking_before += history.missing;
	return history.again != 0;
}

/* Whoever saw the set-up could have seen all since. */
static uint64_t before_first(const struct ft_nccl_psns *psns, const struct ft_nccl_psns *before)
{
	uint32_t first = is_known(before, psns) ? before->origin : psns->origin;

	return psns->known && first < FT_NCCL_PSN_WINDOW ? first : 0;
}

uint64_t ft_nccl_passed_missing(const struct ft_nccl_followed *followed)
{
	uint64_t missing = followed->lacking + followed->lacking_before;

	for (uint8_t i = 0; followed->model.has_tcp && i < followed->lane_count; i++) {
		const struct ft_nccl_lane *lane = &followed->lanes[i];

		missing += before_first(&lane->data, &lane->data_before) +
			   before_first(&lane->cts, &lane->cts_before);
	}
	return missing > followed->left_out ? missing - followed->left_out : 0;
}
