#include "verbs.h"

#include <errno.h>

#include <capture/clock.h>

enum {
	POLL = 64,         /* completions asked for at a time */
	LOOK_AROUND = 256, /* calls between two looks at events and clock */
};

/* How far a completion's time may lie from the moment at which it is seen. */
#define STAMP_AHEAD_NS  UINT64_C(1000000)
#define STAMP_BEHIND_NS UINT64_C(10000000000)

/* A buffer comes back without a frame. */
static __attribute__((noinline)) void take_error(struct ft_verbs *verbs, uint64_t buffer,
						 enum ibv_wc_status status)
{
	if (!ft_verbs_ring_take(&verbs->ring, buffer, FT_VERBS_NO_FRAME, 0)) {
		verbs->errors++;
		return;
	}
	/* what follows an error in a queue pair that has stopped */
	if (status == IBV_WC_WR_FLUSH_ERR)
		verbs->stopped = true;
	else
		verbs->errors++;
	if (status != IBV_WC_LOC_LEN_ERR && status != IBV_WC_WR_FLUSH_ERR)
		verbs->stopped = true;
}

static bool is_possible(uint64_t ts_ns, uint64_t now_ns)
{
	return now_ns + STAMP_AHEAD_NS - ts_ns <= STAMP_AHEAD_NS + STAMP_BEHIND_NS;
}

/* *now_ns is of a while ago: a frame that came since is no reason to doubt its time. */
static uint64_t stamp(struct ft_verbs *verbs, uint64_t ticks, uint64_t *now_ns)
{
	uint64_t ts_ns = ft_verbs_clock_convert(&verbs->clock, ticks);

	if (is_possible(ts_ns, *now_ns))
		return ts_ns;
	*now_ns = ft_clock_wall_ns();
	if (is_possible(ts_ns, *now_ns))
		return ts_ns;
	verbs->odd_stamps++;
	return *now_ns;
}

/* A buffer comes back with a frame. */
static inline void take(struct ft_verbs *verbs, uint64_t buffer, uint32_t length, uint64_t ts_ns)
{
	if (!ft_verbs_ring_take(&verbs->ring, buffer, length, ts_ns))
		verbs->errors++;
}

static int poll_stamped(struct ft_verbs *verbs, uint64_t now_ns)
{
	struct ibv_cq_ex *cq = verbs->queue.stamped;
	struct ibv_poll_cq_attr attr = { 0 };
	uint32_t left = ft_verbs_ring_with_device(&verbs->ring);
	int error = ibv_start_poll(cq, &attr);

	if (error != 0)
		return error == ENOENT ? 0 : -EIO;
	do {
		if (cq->status == IBV_WC_SUCCESS)
			take(verbs, cq->wr_id, ibv_wc_read_byte_len(cq),
			     stamp(verbs, ibv_wc_read_completion_ts(cq), &now_ns));
		else
			take_error(verbs, cq->wr_id, cq->status);
	} while (left-- > 1 && (error = ibv_next_poll(cq)) == 0);
	ibv_end_poll(cq);
	return error == 0 || error == ENOENT ? 0 : -EIO;
}

static int poll_plain(struct ft_verbs *verbs, uint64_t now_ns)
{
	struct ibv_wc completions[POLL];
	uint32_t left = ft_verbs_ring_with_device(&verbs->ring);
	int count;

	do {
		count = ibv_poll_cq(verbs->queue.cq, POLL, completions);
		for (int i = 0; i < count; i++) {
			const struct ibv_wc *c = &completions[i];

			if (c->status == IBV_WC_SUCCESS)
				take(verbs, c->wr_id, c->byte_len, now_ns);
			else
				take_error(verbs, c->wr_id, c->status);
		}
		left -= count > 0 && (uint32_t)count < left ? (uint32_t)count : 0;
	} while (count == POLL && left > 0);
	return count < 0 ? -EIO : 0;
}

/* Fetch every completion there is: only then is it known whether the device has buffers left. */
static void poll_all(struct ft_verbs *verbs)
{
	uint64_t now_ns = ft_clock_wall_ns();
	int error = verbs->queue.stamped != NULL ? poll_stamped(verbs, now_ns)
						 : poll_plain(verbs, now_ns);

	if (error != 0)
		verbs->gone = "the completion queue cannot be read";
	if (ft_verbs_ring_with_device(&verbs->ring) == 0 && !verbs->stopped)
		verbs->starved++;
}

static __attribute__((noinline)) void look_around(struct ft_verbs *verbs)
{
	verbs->look_around = LOOK_AROUND;
	ft_verbs_events_take(verbs);
	if (verbs->queue.stamped != NULL)
		ft_verbs_clock_follow(&verbs->clock, ft_clock_wall_ns());
}

/* A frame too odd for the device must not end the watch: what was missed meanwhile nobody has counted. */
static __attribute__((noinline)) void restart(struct ft_verbs *verbs)
{
	verbs->restarts++;
	verbs->stopped = false;
	if (ft_verbs_queue_restart(&verbs->queue, &verbs->ring) != 0)
		verbs->gone = "the queue pair stopped and does not start again";
}

static void give_back(struct ft_verbs *verbs)
{
	if (ft_verbs_ring_begin_call(&verbs->ring, verbs->queue.qp) != 0 &&
	    ft_verbs_ring_with_device(&verbs->ring) == 0)
		verbs->gone = "the queue pair takes no buffers";
}

int ft_verbs_receive(void *device, struct ft_frame *frames, int room)
{
	struct ft_verbs *verbs = device;
	int count;

	if (verbs->look_around-- == 0)
		look_around(verbs);
	if (verbs->stopped && verbs->gone == NULL)
		restart(verbs);
	if (verbs->gone == NULL)
		give_back(verbs);
	if (verbs->gone == NULL)
		poll_all(verbs);
	count = ft_verbs_ring_lend(&verbs->ring, frames, room, verbs->link_type);
	ft_verbs_ring_end_call(&verbs->ring);
	return count != 0 || verbs->gone == NULL ? count : -ENODEV;
}
