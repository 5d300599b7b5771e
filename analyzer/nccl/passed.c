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

static void settle(struct ft_nccl_followed *followed, const struct way *way, uint32_t psn)
{
	const enum ft_nccl_turn turn = ft_nccl_psns_judge(way->psns, psn);

	if (turn == FT_NCCL_LATE)
		followed->lacking_before -=
			(uint64_t)(int64_t)ft_nccl_psns_take(way->psns, psn, turn);
	else if (turn == FT_NCCL_AGAIN && ft_psn_distance(psn, way->psns->origin) >= 0)
		(*way->again)++;
}

void ft_nccl_passed_settle(struct ft_nccl_followed *followed, const struct ft_nccl_end *end,
			   const struct ft_nccl_logged *logged)
{
	const struct way way = way_of(followed, end);

	for (uint32_t i = 0; i < logged->run; i++)
		settle(followed, &way, ft_psn_add(logged->seen.psn, i));
}

void ft_nccl_passed_settle_cleared(struct ft_nccl_followed *followed, const struct ft_nccl_end *end,
				   const struct ft_nccl_log *log)
{
	const struct way way = way_of(followed, end);
	const struct ft_nccl_psns *cleared = &log->history.psns;
	uint32_t psn = way.psns->origin;

	if (!cleared->known || ft_psn_distance(cleared->origin, psn) > 0)
		psn = cleared->origin;
	for (; cleared->known && ft_psn_distance(cleared->next, psn) > 0;
	     psn = ft_psn_add(psn, 1)) {
		if (ft_nccl_psns_judge(cleared, psn) == FT_NCCL_AGAIN)
			settle(followed, &way, psn);
	}
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
