#include "history.h"

void ft_nccl_history_take(struct ft_nccl_history *history, uint32_t psn)
{
	enum ft_nccl_turn turn = ft_nccl_psns_judge(&history->psns, psn);

	if (turn == FT_NCCL_APART)
		*history = (struct ft_nccl_history){ 0 };
	if (turn != FT_NCCL_AGAIN)
		history->missing -= (uint64_t)(int64_t)ft_nccl_psns_take(&history->psns, psn, turn);
	else if (ft_psn_distance(history->psns.origin, psn) > 0)
		history->missing += ft_nccl_psns_precede(&history->psns, psn);
	else
		history->again++;
}

void ft_nccl_history_take_run(struct ft_nccl_history *history, uint32_t psn, uint32_t count)
{
	struct ft_nccl_psns *psns = &history->psns;

	for (uint32_t i = 0; i < count; i++) {
		ft_nccl_history_take(history, ft_psn_add(psn, i));
		if (psns->next == ft_psn_add(psn, i + 1)) { /* so are the others */
			psns->next = ft_psn_add(psn, count);
			return;
		}
	}
}

void ft_nccl_history_end(struct ft_nccl_history *history, uint32_t psn)
{
	const struct ft_nccl_psns *psns = &history->psns;

	if (!psns->known || ft_nccl_psns_judge(psns, psn) == FT_NCCL_APART ||
	    ft_psn_distance(psn, psns->origin) <= 0)
		*history = (struct ft_nccl_history){
			.psns = { .known = true, .origin = psn, .next = psn },
			.again = history->again,
		};
	else
		history->missing += (uint64_t)(int64_t)ft_nccl_psns_end(&history->psns, psn);
}
