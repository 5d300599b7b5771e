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
	do {
		replay->from = replay->at;
		replay->has = ft_nccl_log_next(stranger->log, &replay->at, &replay->next);
	} while (replay->has && replay->next.seen.frame < from);
	return replay->has;
}

/* Where the sender went back in what the capture begins with, first copies are those that count. */
static void date_back(struct ft_nccl_replay *replay)
{
	const struct ft_nccl_log *log = replay->stranger->log;
	struct ft_nccl_logged *logged = &replay->next, before;
	uint32_t last = (logged->seen.psn + logged->run - 1) & 0xffffff;

	if (ft_nccl_log_find(log, replay->from, &logged->seen, last, &before)) {
		logged->last_frame = before.last_frame;
		logged->last_ts_ns = before.last_ts_ns;
	}
	if (ft_nccl_log_find(log, replay->from, &logged->seen, logged->seen.psn, &before)) {
		logged->seen.frame = before.seen.frame;
		logged->seen.ts_ns = before.seen.ts_ns;
	}
}

void ft_nccl_replay_all(struct ft_nccl_connections *connections, struct ft_nccl_replay *replays,
			unsigned count)
{
	struct ft_nccl_replay *next;

	while ((next = first_of(replays, count)) != NULL) {
		date_back(next);
		ft_nccl_replay(connections, &next->next);
		next->has = ft_nccl_log_next(next->stranger->log, &next->at, &next->next);
	}
	for (unsigned i = 0; i < count; i++)
		ft_nccl_stranger_forget(&connections->strangers, replays[i].stranger);
}
