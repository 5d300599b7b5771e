#include "replay.h"

#include "lock.h"
#include "passed.h"

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
	replay->packets_before = replay->between;
	return replay->between >= FT_NCCL_OVERTAKE_MOST || replay->stranger->log->restarts == 0;
}

/* An entry from before the first has overtaken that: it is of the write that begins with it. */
static bool has_overtaken(const struct ft_nccl_replay *replay, const struct ft_nccl_logged *logged,
			  uint32_t between)
{
	const int32_t distance = ft_psn_distance(logged->seen.psn, replay->psn);

	return between <= FT_NCCL_OVERTAKE_MOST && distance > 0 &&
	       distance < (int32_t)replay->packets;
}

/* The next of what has overtaken the first entry. */
static bool step_ahead(struct ft_nccl_replay *replay)
{
	while (replay->ahead < replay->from) {
		uint32_t between = replay->between;

		ft_nccl_log_next(replay->stranger->log, &replay->ahead, &replay->next);
		replay->between -= replay->next.run;
		if (has_overtaken(replay, &replay->next, between))
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

/* Of what the log has before the first entry nothing is taken but what has overtaken that. */
static void begin(struct ft_nccl_connections *connections, struct ft_nccl_replay *replay)
{
	const struct ft_nccl_end *end;

	if (!replay->has || connections->config.ends_only)
		return;
	end = ft_nccl_end_of(connections, &replay->next.seen);
	if (end == NULL)
		return;
	replay->end = *end;
	replay->is_counted =
		ft_nccl_passed_begin(connections->all[end->connection], end, replay->stranger->log,
				     replay->from, replay->next.seen.psn);
}

/* The rest of that was seen all the same. */
static void settle(const struct ft_nccl_connections *connections,
		   const struct ft_nccl_replay *replay)
{
	struct ft_nccl_followed *followed;
	uint32_t at = 0, between = replay->packets_before;
	struct ft_nccl_logged logged;

	if (!replay->is_counted)
		return;
	followed = connections->all[replay->end.connection];
	ft_nccl_passed_settle_cleared(followed, &replay->end, replay->stranger->log);
	while (at < replay->from && ft_nccl_log_next(replay->stranger->log, &at, &logged)) {
		if (!has_overtaken(replay, &logged, between))
			ft_nccl_passed_settle(followed, &replay->end, &logged);
		between -= logged.run;
	}
}

void ft_nccl_replay_all(struct ft_nccl_connections *connections, struct ft_nccl_replay *replays,
			unsigned count)
{
	struct ft_nccl_replay *next;

	for (unsigned i = 0; i < count; i++)
		begin(connections, &replays[i]);
	while ((next = first_of(replays, count)) != NULL) {
		date_back(next);
		ft_nccl_replay(connections, &next->next);
		step(next);
	}
	for (unsigned i = 0; i < count; i++) {
		settle(connections, &replays[i]);
		ft_nccl_stranger_forget(&connections->strangers, replays[i].stranger);
	}
}
