#pragma once

#include <stdbool.h>

#include <flow/copies.h>
#include <flow/loss.h>
#include <flow/tracker.h>

/* A capture file run through decoder, flow table, copies and tracker, as the engine does it. */
struct replay {
	/* in */
	/* frames to leave out as if the mirror had; NULL: none */
	bool (*lost)(void *context, uint64_t frame);
	/* every step; NULL: nobody */
	void (*told)(void *context, const struct ft_flow *flow, const struct ft_observed *observed,
		     const struct ft_step *step);
	void *context;
	uint64_t disorder; /* frames up to 4 places apart change places; seed, 0: none does */
	/* out; owned by the replay until replay_close() */
	struct ft_flow_table *table;
	struct ft_tracker *tracker;
	struct ft_copies *copies;
	struct ft_loss_evidence *evidence;
	uint64_t frames, rdma, copied, lost_rdma; /* lost_rdma: of the frames left out */
	/* counted from steps */
	uint64_t mirror_lost, answers_lost, requests_again, responses_again, messages;
};

void replay_open(struct replay *replay);
bool replay_file(struct replay *replay, const char *path); /* false: it cannot be opened */
void replay_close(struct replay *replay);

/* The file under the shared reference data, or NULL (said aloud) if that is not there. */
const char *replay_shared(const char *name);
