#include "dpdk.h"

#include "dpdk_environment.h"
#include "dpdk_joined.h"

#include <errno.h>
#include <stdlib.h>

#include <capture/clock.h>

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_prefetch.h>

enum { AHEAD = 4 }; /* buffers whose heads and bytes are fetched before they are looked at */

/* Frames for which more is to be done than pointing at their bytes. */
#define ODD_FLAGS (RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_QINQ_STRIPPED)

int ft_dpdk_receive_open(struct ft_dpdk *dpdk)
{
	dpdk->call_count = dpdk->config.keep + 1;
	dpdk->calls = calloc(dpdk->call_count, sizeof *dpdk->calls);
	if (dpdk->calls == NULL)
		return -ENOMEM;
	return ft_dpdk_joined_open(&dpdk->joined, dpdk->config.keep);
}

void ft_dpdk_receive_close(struct ft_dpdk *dpdk)
{
	for (unsigned i = 0; dpdk->calls != NULL && i < dpdk->call_count; i++)
		rte_pktmbuf_free_bulk(dpdk->calls[i].buffers, dpdk->calls[i].count);
	free(dpdk->calls);
	dpdk->calls = NULL;
	ft_dpdk_joined_close(&dpdk->joined);
}

/* Take the queues in turn, each until it has no more or there is no more room. */
static unsigned fetch(struct ft_dpdk *dpdk, struct rte_mbuf **buffers, unsigned room)
{
	unsigned count = 0;

	for (unsigned turn = 0; turn < dpdk->queues && count < room; turn++) {
		uint16_t asked, got;

		do {
			unsigned left = room - count;

			asked = (uint16_t)(left < FT_DPDK_BURST ? left : FT_DPDK_BURST);
			got = rte_eth_rx_burst(dpdk->port, dpdk->queue, buffers + count, asked);
			count += got;
		} while (got == FT_DPDK_BURST && count < room);
		dpdk->queue = (uint16_t)(dpdk->queue + 1 == dpdk->queues ? 0 : dpdk->queue + 1);
	}
	return count;
}

static bool is_short_of_buffers(const struct ft_dpdk *dpdk)
{
	return rte_mempool_avail_count(dpdk->pool) <= FT_DPDK_BURST;
}

static void forget_lengths(struct ft_dpdk *dpdk)
{
	free(dpdk->file.originals);
	dpdk->file.originals = NULL;
}

/* No frame was at hand: is that all there will ever be? */
static __attribute__((noinline)) int idle(struct ft_dpdk *dpdk)
{
	if (atomic_load_explicit(&dpdk->gone, memory_order_relaxed))
		return -ENODEV;
	if (!dpdk->ends)
		return 0;
	/* net_pcap says nothing at the end of its file, but gives nothing only there or without buffers */
	if (!is_short_of_buffers(dpdk))
		return -ENODATA;
	forget_lengths(dpdk);
	return 0;
}

/* Frames of `keep` calls ago go back to the pool. */
static inline void advance(struct ft_dpdk *dpdk)
{
	struct ft_dpdk_call *oldest;

	dpdk->calls[dpdk->call].joined_end = dpdk->joined.head;
	dpdk->call = dpdk->call + 1 == dpdk->call_count ? 0 : dpdk->call + 1;
	oldest = &dpdk->calls[dpdk->call];
	if (oldest->count == 0)
		return;
	rte_pktmbuf_free_bulk(oldest->buffers, oldest->count);
	oldest->count = 0;
	dpdk->joined.tail = oldest->joined_end;
}

static inline uint64_t stamp_of(const struct ft_dpdk *dpdk, const struct rte_mbuf *buffer)
{
	return *RTE_MBUF_DYNFIELD(buffer, (unsigned)dpdk->stamp_offset,
				  const rte_mbuf_timestamp_t *);
}

static inline uint64_t time_of(const struct ft_dpdk *dpdk, const struct rte_mbuf *buffer,
			       enum ft_dpdk_stamps stamps, uint64_t now)
{
	if (stamps == FT_DPDK_STAMPS_PROGRAM)
		return now;
	if ((buffer->ol_flags & dpdk->stamp_flag) == 0)
		return FT_TS_UNKNOWN;
	if (stamps == FT_DPDK_STAMPS_MICROSECONDS)
		return stamp_of(dpdk, buffer) * 1000;
	if (stamps == FT_DPDK_STAMPS_NANOSECONDS)
		return stamp_of(dpdk, buffer);
	return ft_dpdk_clock_ns(&dpdk->clock, stamp_of(dpdk, buffer));
}

/* A frame in pieces, or without its tags: false if it had to be dropped. */
static __attribute__((noinline)) bool mend(struct ft_dpdk *dpdk, struct ft_frame *frame,
					   struct rte_mbuf *buffer)
{
	if (ft_dpdk_joined_add(&dpdk->joined, frame, buffer, dpdk->snap))
		return true;
	dpdk->unjoined++;
	return false;
}

/* Inlined once for each kind of time stamp, so that none is asked for per frame. */
static inline __attribute__((always_inline)) int hand_out(struct ft_dpdk *dpdk,
							  struct ft_frame *frames,
							  struct rte_mbuf **buffers, unsigned count,
							  enum ft_dpdk_stamps stamps, uint64_t now)
{
	struct ft_frame *frame = frames;

	for (unsigned i = 0; i < count; i++) {
		struct rte_mbuf *buffer = buffers[i];
		uint32_t length = buffer->pkt_len;

		if (i + AHEAD < count)
			rte_prefetch0(buffers[i + AHEAD]);
		rte_prefetch0(rte_pktmbuf_mtod(buffer, const void *));
		*frame = (struct ft_frame){
			.bytes = rte_pktmbuf_mtod(buffer, const uint8_t *),
			.captured = length < dpdk->snap ? length : dpdk->snap,
			.original = length,
			.wire = length,
			.link_type = FT_LINK_ETHERNET,
			.ts_ns = time_of(dpdk, buffer, stamps, now),
		};
		if (unlikely(buffer->nb_segs > 1 || (buffer->ol_flags & ODD_FLAGS) != 0) &&
		    !mend(dpdk, frame, buffer))
			continue;
		frame++;
	}
	return (int)(frame - frames);
}

/* Frames of a file come in its order, so their lengths do, as long as none was lost for want of a buffer. */
static __attribute__((noinline)) void restore_lengths(struct ft_dpdk *dpdk, struct ft_frame *frames,
						      int handed, unsigned count)
{
	struct ft_dpdk_file *file = &dpdk->file;

	if (handed != (int)count || (dpdk->ends && is_short_of_buffers(dpdk))) {
		forget_lengths(dpdk);
		return;
	}
	for (int i = 0; i < handed; i++) {
		uint32_t original = file->originals[dpdk->file_next];

		if (original > frames[i].captured)
			frames[i].original = frames[i].wire = original;
		dpdk->file_next = dpdk->file_next + 1 == file->frames ? 0 : dpdk->file_next + 1;
	}
}

/* Adapters stamp with ticks, some with nanoseconds: see what the first stamp looks like. */
static __attribute__((noinline)) void decide(struct ft_dpdk *dpdk, const struct rte_mbuf *buffer)
{
	if ((buffer->ol_flags & dpdk->stamp_flag) != 0)
		ft_dpdk_stamps_decide(dpdk, stamp_of(dpdk, buffer));
}

static int hand_out_ticks(struct ft_dpdk *dpdk, struct ft_frame *frames, struct rte_mbuf **buffers,
			  unsigned count)
{
	const struct rte_mbuf *last = buffers[count - 1];

	if ((last->ol_flags & dpdk->stamp_flag) != 0 &&
	    ft_dpdk_clock_is_due(&dpdk->clock, stamp_of(dpdk, last)))
		ft_dpdk_clock_renew(&dpdk->clock);
	return hand_out(dpdk, frames, buffers, count, FT_DPDK_STAMPS_TICKS, 0);
}

/* A thread of ours that DPDK does not know goes without its cache of buffers. */
static __attribute__((noinline)) void join(struct ft_dpdk *dpdk)
{
	dpdk->may_join = ft_dpdk_environment_join();
}

int ft_dpdk_receive(void *device, struct ft_frame *frames, int room)
{
	struct ft_dpdk *dpdk = device;
	struct ft_dpdk_call *call = &dpdk->calls[dpdk->call];
	int handed;

	if (unlikely(rte_lcore_id() == LCORE_ID_ANY) && dpdk->may_join)
		join(dpdk);
	call->count =
		fetch(dpdk, call->buffers, (unsigned)(room < FT_DPDK_CALL ? room : FT_DPDK_CALL));
	if (call->count == 0)
		return idle(dpdk);
	if (unlikely(dpdk->stamps == FT_DPDK_STAMPS_UNSURE))
		decide(dpdk, call->buffers[0]);
	switch (dpdk->stamps) {
	case FT_DPDK_STAMPS_TICKS:
		handed = hand_out_ticks(dpdk, frames, call->buffers, call->count);
		break;
	case FT_DPDK_STAMPS_MICROSECONDS:
		handed = hand_out(dpdk, frames, call->buffers, call->count,
				  FT_DPDK_STAMPS_MICROSECONDS, 0);
		break;
	case FT_DPDK_STAMPS_NANOSECONDS:
		handed = hand_out(dpdk, frames, call->buffers, call->count,
				  FT_DPDK_STAMPS_NANOSECONDS, 0);
		break;
	default:
		handed = hand_out(dpdk, frames, call->buffers, call->count, FT_DPDK_STAMPS_PROGRAM,
				  ft_clock_wall_ns());
		break;
	}
	if (unlikely(dpdk->file.originals != NULL))
		restore_lengths(dpdk, frames, handed, call->count);
	advance(dpdk);
	return handed;
}
