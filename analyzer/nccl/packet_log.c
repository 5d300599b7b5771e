#include "packet_log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <decode/packet.h>
#include <decode/psn.h>

/* What is stored: the entry, then its payload, up to the next multiple of 16 bytes. */
static uint32_t stored_bytes(uint32_t payload)
{
	return ((uint32_t)sizeof(struct ft_nccl_logged) + payload + 15) & ~15u;
}

static_assert(sizeof(struct ft_nccl_logged) + FT_NCCL_LOG_CTS <= FT_NCCL_LOG_FIRST,
	      "room for any one, whatever becomes of more");

struct ft_nccl_log *ft_nccl_log_create(void)
{
	struct ft_nccl_log *log = calloc(1, sizeof *log);

	if (log == NULL)
		return NULL;
	log->room = FT_NCCL_LOG_FIRST;
	log->bytes = malloc(log->room);
	if (log->bytes != NULL)
		return log;
	free(log);
	return NULL;
}

void ft_nccl_log_destroy(struct ft_nccl_log *log)
{
	if (log == NULL)
		return;
	free(log->bytes);
	free(log);
}

/* False: it is full. */
static bool make_room(struct ft_nccl_log *log, uint32_t bytes)
{
	uint8_t *all;

	if (log->used + bytes <= log->room)
		return true;
	if (log->used + bytes > FT_NCCL_LOG_BYTES)
		return false;
	all = realloc(log->bytes, FT_NCCL_LOG_BYTES);
	if (all == NULL)
		return false;
	log->bytes = all;
	log->room = FT_NCCL_LOG_BYTES;
	return true;
}

void ft_nccl_log_clear(struct ft_nccl_log *log)
{
	log->used = log->count = log->newest = log->ended = 0;
	log->history = (struct ft_nccl_history){ 0 };
}

/* Where a write begins is all that tells something. */
static uint32_t kept_of(const struct ft_nccl_seen *seen)
{
	uint32_t most =
		seen->payload_length <= FT_NCCL_LOG_CTS ? FT_NCCL_LOG_CTS : FT_NCCL_LOG_DATA;

	if (seen->opcode >= 0x07 && seen->opcode <= 0x09)
		return 0;
	return seen->captured < most ? seen->captured : most;
}

/* Where the sender went back, first copies and second ones are dated apart: this is as the one before it, of the same run. */
static bool is_like_before(const struct ft_nccl_log *log, const struct ft_nccl_seen *seen)
{
	struct ft_nccl_logged copied;

	return ft_psn_distance(seen->psn, log->reached) >= 0 ||
	       ft_nccl_log_find(log, log->newest, seen, seen->psn, &copied) ==
		       ft_nccl_log_find(log, log->newest, seen, ft_psn_back(seen->psn, 1), &copied);
}

/* A packet in the middle of a write joins the one before it, but a second copy no first one. */
static bool join(struct ft_nccl_log *log, const struct ft_nccl_seen *seen)
{
	struct ft_nccl_logged newest;

	if (seen->opcode != 0x07 || log->count == 0 || seen->psn == log->first)
		return false;
	memcpy(&newest, log->bytes + log->newest, sizeof newest);
	if (newest.seen.opcode != 0x07 || ft_psn_add(newest.seen.psn, newest.run) != seen->psn ||
	    !is_like_before(log, seen))
		return false;
	newest.run++;
	newest.last_frame = seen->frame;
	newest.last_ts_ns = seen->ts_ns;
	memcpy(log->bytes + log->newest, &newest, sizeof newest);
	return true;
}

static void reach(struct ft_nccl_log *log, uint32_t psn)
{
	if (ft_psn_distance(psn, log->reached) >= 0)
		log->reached = ft_psn_add(psn, 1);
}

void ft_nccl_log_add(struct ft_nccl_log *log, const struct ft_nccl_seen *seen)
{
	struct ft_nccl_logged logged = { *seen, 1, seen->frame, seen->ts_ns }, copied;
	struct ft_nccl_history history;

	if (join(log, seen)) {
		reach(log, seen->psn);
		return;
	}
	logged.seen.captured = kept_of(seen);
	if (!make_room(log, stored_bytes(logged.seen.captured))) {
		if (ft_nccl_log_find(log, log->used, seen, seen->psn, &copied)) {
			log->history.again++;
			return;
		}
		history = ft_nccl_log_history(log, log->used);
		ft_nccl_log_clear(log);
		log->history = history;
		log->restarts++;
	}
	if (log->count == 0)
		log->first = log->reached = seen->psn;
	reach(log, seen->psn);
	log->newest = log->used;
	memcpy(log->bytes + log->used, &logged, sizeof logged);
	if (logged.seen.captured != 0)
		memcpy(log->bytes + log->used + sizeof logged, seen->payload, logged.seen.captured);
	log->used += stored_bytes(logged.seen.captured);
	log->count++;
	log->ended += seen->opcode == 0x09 || seen->opcode == 0x0b ? 1 : 0;
}

struct ft_nccl_history ft_nccl_log_history(const struct ft_nccl_log *log, uint32_t end)
{
	struct ft_nccl_history history = log->history;
	struct ft_nccl_logged logged;

	for (uint32_t at = 0; at < end && ft_nccl_log_next(log, &at, &logged);)
		ft_nccl_history_take_run(&history, logged.seen.psn, logged.run);
	return history;
}

uint32_t ft_nccl_log_psn_behind(const struct ft_nccl_logged *logged, bool ends_only)
{
	const struct ft_nccl_seen *seen = &logged->seen;
	uint32_t packets = logged->run;

	if (ends_only && seen->opcode == 0x06 && (seen->has & FT_HAS_RETH) != 0 &&
	    seen->payload_length != 0 && seen->length > seen->payload_length)
		packets = (seen->length - 1) / seen->payload_length;
	return ft_psn_add(seen->psn, packets);
}

bool ft_nccl_log_next(const struct ft_nccl_log *log, uint32_t *at, struct ft_nccl_logged *logged)
{
	if (*at >= log->used)
		return false;
	memcpy(logged, log->bytes + *at, sizeof *logged);
	logged->seen.payload = log->bytes + *at + sizeof *logged;
	*at += stored_bytes(logged->seen.captured);
	return true;
}

bool ft_nccl_log_find(const struct ft_nccl_log *log, uint32_t end, const struct ft_nccl_seen *seen,
		      uint32_t psn, struct ft_nccl_logged *found)
{
	for (uint32_t at = 0; at < end && ft_nccl_log_next(log, &at, found);) {
		if (found->seen.opcode == seen->opcode && found->seen.va == seen->va &&
		    found->seen.length == seen->length &&
		    found->seen.payload_length == seen->payload_length &&
		    ((psn - found->seen.psn) & 0xffffff) < found->run)
			return true;
	}
	return false;
}
