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
	*replay = (struct ft_nccl_replay){ .stranger = stranger, .ahead = UINT32_MAX };
	do {
		replay->from = replay->at;
		replay->has = ft_nccl_log_next(stranger->log, &replay->at, &replay->next);
	} while (replay->has && replay->next.seen.frame < from);
	return replay->has;
}

/* Of the write that begins with it. */
static uint32_t packets_of(const struct ft_nccl_seen *seen)
{
	if (seen->opcode != 0x06 || (seen->has & FT_HAS_RETH) == 0 || seen->payload_length == 0)
		return 1;
	return ((seen->length - 1) / seen->payload_length & FT_PSN_MOST) + 1;
}

bool ft_nccl_replay_overtaking(struct ft_nccl_replay *replay)
{
	struct ft_nccl_logged before;

	replay->psn = replay->next.seen.psn;
	replay->packets = packets_of(&replay->next.seen);
	replay->ahead = replay->between = 0;
	for (uint32_t at = 0; at < replay->from;) {
		ft_nccl_log_next(replay->stranger->log, &at, &before);
		replay->between += before.run;
	}
	return replay->between >= FT_NCCL_OVERTAKE_MOST || replay->stranger->log->restarts == 0;
}

/* The next of what has overtaken the first entry. */
static bool step_ahead(struct ft_nccl_replay *replay)
{
	while (replay->ahead < replay->from) {
		uint32_t between = replay->between;
		int32_t distance;

		ft_nccl_log_next(replay->stranger->log, &replay->ahead, &replay->next);
		replay->between -= replay->next.run;
		distance = ft_psn_distance(replay->next.seen.psn, replay->psn);
		if (between <= FT_NCCL_OVERTAKE_MOST && distance > 0 &&
		    distance < (int32_t)replay->packets)
			return true;
	}
	return false;
}

static void step(struct ft_nccl_replay *replay)
{
	replay->has = step_ahead(replay) ||
		      ft_nccl_log_next(replay->stranger->log, &replay->at, &replay->next);
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
		step(next);
	}
	for (unsigned i = 0; i < count; i++)
		ft_nccl_stranger_forget(&connections->strangers, replays[i].stranger);
}
