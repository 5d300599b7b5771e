#include "replay.h"

#include "lock.h"

static struct ft_nccl_replay *first_of(struct ft_nccl_replay *replays, unsigned count)
{
	struct ft_nccl_replay *first = NULL;

	for (unsigned i = 0; i < count; i++) {
		if (replays[i].has &&
		    (first == NULL || replays[i].next.seen.frame < first->next.seen.frame))
			first = &replays[i];
	}
	return first;
}

bool ft_nccl_replay_begin(struct ft_nccl_replay *replay, struct ft_nccl_stranger *stranger,
			  uint64_t from)
{
	*replay = (struct ft_nccl_replay){ .stranger = stranger };
	do
		replay->has = ft_nccl_log_next(stranger->log, &replay->at, &replay->next);
	while (replay->has && replay->next.seen.frame < from);
	return replay->has;
}

void ft_nccl_replay_all(struct ft_nccl_connections *connections, struct ft_nccl_replay *replays,
			unsigned count)
{
	struct ft_nccl_replay *next;

	while ((next = first_of(replays, count)) != NULL) {
		ft_nccl_replay(connections, &next->next);
		next->has = ft_nccl_log_next(next->stranger->log, &next->at, &next->next);
	}
	for (unsigned i = 0; i < count; i++)
		ft_nccl_stranger_forget(&connections->strangers, replays[i].stranger);
}
