#include "replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <capture/source.h>
#include <decode/decode.h>
#include <observe.h>

enum { CAPACITY = 1 << 14, BURST = 64, SEED = 4711, PLACES = 4 };

static struct ft_flow *find_flow(struct replay *replay, const struct ft_packet *packet,
				 uint64_t ts_ns)
{
	struct ft_flow_key key = {
		.dest_qp = packet->dest_qp,
		.vni = packet->has & FT_HAS_VNI ? packet->vni : FT_FLOW_NO_VNI,
		.base = FT_FLOW_ANY_BASE,
		.vlan = FT_FLOW_ANY_VLAN,
	};

	if (packet->has & (FT_HAS_IPV4 | FT_HAS_IPV6 | FT_HAS_GRH)) {
		memcpy(key.src, packet->src, sizeof key.src);
		memcpy(key.dst, packet->dst, sizeof key.dst);
	} else {
		key.by_lid = 1;
		memcpy(key.src + 14, &packet->lrh.slid, 2);
		memcpy(key.dst + 14, &packet->lrh.dlid, 2);
	}
	return ft_flow_find_or_create(replay->table, &key, ft_flow_hash(replay->table, &key),
				      ts_ns);
}

static void step(struct replay *replay, const struct ft_packet *packet,
		 const struct ft_observed *observed)
{
	struct ft_flow *flow = find_flow(replay, packet, observed->ts_ns);
	struct ft_step told;

	ft_tracker_step(replay->tracker, flow, observed, &told);
	flow->packets++;
	flow->last_ns = observed->ts_ns;
	replay->mirror_lost += told.mirror_lost;
	replay->answers_lost += told.answers_lost;
	replay->messages += (told.what & FT_STEP_MESSAGE) != 0;
	if (told.what & FT_STEP_RETRANSMITTED && told.what & FT_STEP_ANSWER)
		replay->responses_again++;
	else if (told.what & FT_STEP_RETRANSMITTED)
		replay->requests_again++;
	if (replay->told != NULL)
		replay->told(replay->context, flow, observed, &told);
}

static void take(struct replay *replay, const struct ft_frame *frame)
{
	struct ft_decode_config config = FT_DECODE_DEFAULTS;
	struct ft_decode_input input = { frame->bytes,     frame->captured,  frame->wire,
					 frame->link_type, frame->fcs_bytes, frame->ts_ns };
	struct ft_observed observed;
	struct ft_decode_rest rest;
	static struct ft_packet packet;
	bool lost = replay->lost != NULL && replay->lost(replay->context, frame->number);

	ft_decode(&config, &input, &packet, &rest);
	ft_observe(&packet, frame, &observed);
	observed.frame = frame->number;
	replay->frames++;
	if (lost) {
		replay->lost_rdma += (packet.has & FT_HAS_BTH) != 0;
		return;
	}
	if (ft_copies_check(replay->copies, &observed, 0) == FT_COPY_YES) {
		replay->copied++;
		return;
	}
	if ((observed.has & FT_OBSERVED_BTH) == 0 || observed.has & FT_OBSERVED_BAD_ICRC)
		return;
	replay->rdma++;
	if (observed.dest_qp < 2)
		ft_loss_silent(replay->evidence, frame->number);
	else
		step(replay, &packet, &observed);
}

void replay_open(struct replay *replay)
{
	struct ft_tracker_config config = FT_TRACKER_DEFAULTS;
	struct ft_copies_config copies = FT_COPIES_DEFAULTS;

	replay->evidence = calloc(1, sizeof *replay->evidence);
	assert_non_null(replay->evidence);
	ft_loss_init(replay->evidence);
	assert_int_equal(ft_flow_table_create(&replay->table, CAPACITY, SEED), 0);
	assert_int_equal(ft_copies_create(&replay->copies, &copies), 0);
	assert_int_equal(
		ft_tracker_create(&replay->tracker, &config, replay->table, replay->evidence), 0);
}

/* As adaptive routing and two mirror ports do: other order, time still goes forward. */
static void shuffle(struct replay *replay, struct ft_frame *frames, int count)
{
	for (int i = 0; i + PLACES <= count; i++) {
		struct ft_frame here = frames[i];
		int other = i + (int)(replay->disorder >> 60) % PLACES;

		replay->disorder = replay->disorder * 6364136223846793005u + 1442695040888963407u;
		frames[i] = frames[other];
		frames[i].ts_ns = here.ts_ns;
		here.ts_ns = frames[other].ts_ns;
		frames[other] = here;
	}
}

bool replay_file(struct replay *replay, const char *path)
{
	struct ft_source_complaint complaint;
	struct ft_frame frames[BURST];
	struct ft_source *source;
	int count;

	if (ft_source_open_files(&source, &path, 1, &complaint) != 0)
		return false;
	while ((count = ft_source_next(source, frames, BURST)) > 0) {
		if (replay->disorder != 0)
			shuffle(replay, frames, count);
		for (int i = 0; i < count; i++)
			take(replay, &frames[i]);
	}
	ft_source_close(source);
	return true;
}

void replay_close(struct replay *replay)
{
	ft_tracker_destroy(replay->tracker);
	ft_copies_destroy(replay->copies);
	ft_flow_table_destroy(replay->table);
	free(replay->evidence);
}

const char *replay_shared(const char *name)
{
	static char path[512];
	const char *folder = getenv("FT_SHARED");

	if (folder == NULL)
		folder = FT_TEST_DATA "/../../../shared";
	snprintf(path, sizeof path, "%s/%s", folder, name);
	if (access(path, R_OK) == 0)
		return path;
	print_message("SKIPPED: no %s; FT_SHARED names the folder of the reference captures\n",
		      path);
	return NULL;
}
