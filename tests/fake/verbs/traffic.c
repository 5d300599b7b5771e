#include "fake.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	GRH_LESS_SHORT = 6
}; /* bytes of a frame whose completion is short: not even its addresses */

uint64_t fake_wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#define JUMP (UINT64_C(1) << 46)

/* A clock that started near the end of its 48 bits' turn, runs at its own speed and is off by some parts per million. */
uint64_t fake_ticks(const struct script *script, uint64_t wall_ns)
{
	static uint64_t origin_ns;
	uint64_t ns;

	if (origin_ns == 0)
		origin_ns = wall_ns;
	ns = wall_ns - origin_ns;
	ns += (uint64_t)((int64_t)ns / 1000000 * script->ppm);
	return ((UINT64_C(1) << 48) - 1000000 +
		(uint64_t)((unsigned __int128)ns * script->clock_khz / 1000000)) &
	       ((UINT64_C(1) << 48) - 1);
}

static void wake(struct fake_cq *cq)
{
	struct fake_channel *channel = (struct fake_channel *)cq->cq.channel;
	struct ibv_cq *told = (struct ibv_cq *)&cq->cq;

	if (!cq->armed || channel == NULL)
		return;
	cq->armed = false;
	if (write(channel->pipe[1], &told, sizeof told) != sizeof told)
		fake_abort("nobody takes completion events");
}

void fake_complete(struct fake_cq *cq, const struct fake_completion *completion)
{
	if (cq->in - cq->out == cq->room)
		fake_abort("completion queue overrun");
	cq->completions[cq->in++ % cq->room] = *completion;
	wake(cq);
}

/* The queue pair has stopped: what it has comes back. */
void fake_flush(struct fake_qp *qp)
{
	qp->qp.state = IBV_QPS_ERR;
	for (; qp->out != qp->in; qp->out++) {
		struct fake_completion completion = {
			.wr_id = qp->requests[qp->out % qp->room].wr_id,
			.status = IBV_WC_WR_FLUSH_ERR,
		};

		fake_complete(qp->cq, &completion);
		fake_verbs_account.flushed++;
	}
}

/* Bytes of a frame into a buffer's parts. False: they do not fit. */
static bool scatter(const struct fake_request *request, const uint8_t *bytes, uint32_t size)
{
	uint64_t room = 0;

	for (int i = 0; i < request->part_count; i++)
		room += request->parts[i].length;
	if (size > room)
		return false;
	for (int i = 0; i < request->part_count && size > 0; i++) {
		uint32_t length = request->parts[i].length < size ? request->parts[i].length : size;

		memcpy((void *)(uintptr_t)request->parts[i].addr, bytes, length);
		bytes += length;
		size -= length;
	}
	return true;
}

static const struct {
	enum ibv_wc_status status;
	uint32_t length_max;
	bool odd, stops;
} faulty[] = {
	[FAULT_PROT] = { .status = IBV_WC_LOC_PROT_ERR, .odd = true, .stops = true },
	[FAULT_GENERAL] = { .status = IBV_WC_GENERAL_ERR, .odd = true, .stops = true },
	[FAULT_SHORT] = { .status = IBV_WC_SUCCESS, .length_max = GRH_LESS_SHORT, .odd = true },
	[FAULT_EMPTY] = { .status = IBV_WC_SUCCESS, .odd = true },
	[FAULT_GID_CHANGE] = { .odd = false },
};

/* A frame into the next buffer. */
static void deliver(struct fake_context *context, struct fake_qp *qp, size_t frame,
		    enum fault fault)
{
	const struct script *script = &context->script;
	const struct fake_request *request = &qp->requests[qp->out++ % qp->room];
	uint32_t size = context->frames.frames[frame].size;
	struct fake_completion completion = {
		.wr_id = request->wr_id,
		.length = size,
		.ticks = context->now_ticks,
	};
	bool stops = faulty[fault].stops;

	if (!scatter(request, context->frames.bytes + context->frames.frames[frame].at, size)) {
		completion.status = IBV_WC_LOC_LEN_ERR;
		stops = script->strict;
		fake_verbs_account.too_long++;
	} else if (faulty[fault].odd) {
		completion.status = faulty[fault].status;
		completion.length = faulty[fault].length_max;
	} else {
		fake_verbs_account.frames++;
	}
	fake_complete(qp->cq, &completion);
	if (stops)
		fake_flush(qp);
}

static void cause(struct fake_context *context, enum fault fault)
{
	static const enum ibv_event_type events[] = {
		[FAULT_FATAL] = IBV_EVENT_DEVICE_FATAL,  [FAULT_PORT_DOWN] = IBV_EVENT_PORT_ERR,
		[FAULT_PORT_UP] = IBV_EVENT_PORT_ACTIVE, [FAULT_QP_FATAL] = IBV_EVENT_QP_FATAL,
		[FAULT_CQ_OVERRUN] = IBV_EVENT_CQ_ERR,   [FAULT_GID_CHANGE] = IBV_EVENT_GID_CHANGE,
	};

	if (fault == FAULT_VANISH)
		fake_vanish(context);
	else if (fault >= FAULT_FATAL)
		fake_tell(context, events[fault]);
	if (fault == FAULT_QP_FATAL)
		fake_flush(context->listener);
}

bool fake_more_to_come(const struct fake_context *context)
{
	return context->listener != NULL && context->listener->qp.state == IBV_QPS_RTR &&
	       !context->removed &&
	       context->next_frame < context->frames.count * context->script.repeat;
}

/* How many frames the wire brings until now. */
static uint64_t due(struct fake_context *context)
{
	uint64_t now, arrived;

	if (context->script.rate == 0)
		return context->script.burst;
	now = fake_wall_ns();
	arrived = (uint64_t)((unsigned __int128)(now - context->started_ns) * context->script.rate /
			     1000000000);
	return arrived > context->next_frame ? arrived - context->next_frame : 0;
}

/* A frame lost in the port, before anybody asked for a buffer. */
static bool discard(struct fake_context *context)
{
	uint64_t every = context->script.discard;

	if (every == 0 || (context->next_frame + 1) % every != 0)
		return false;
	context->next_frame++;
	context->discards++;
	fake_verbs_account.dropped++;
	return true;
}

/* A frame without a buffer is lost, or waits for one. */
static bool lose(struct fake_context *context)
{
	if (!context->script.drop)
		return false;
	context->next_frame++;
	context->out_of_buffer++;
	fake_verbs_account.dropped++;
	return true;
}

void fake_arrive(struct fake_context *context)
{
	const struct script *script = &context->script;

	if (fake_more_to_come(context)) {
		if (script->late != 0)
			usleep((useconds_t)script->late);
		context->now_ticks =
			fake_ticks(script, fake_wall_ns()) ^ (script->clock_jump ? JUMP : 0);
	}
	for (uint64_t left = due(context); left > 0 && fake_more_to_come(context); left--) {
		struct fake_qp *qp = context->listener;
		enum fault fault = script_fault_at(&context->script, context->next_frame + 1);

		if (discard(context))
			continue;
		if (qp->in == qp->out) {
			if (lose(context))
				continue;
			break;
		}
		deliver(context, qp, context->next_frame++ % context->frames.count, fault);
		if (fault != FAULT_NONE)
			cause(context, fault);
	}
	fake_sysfs_update(context);
}
