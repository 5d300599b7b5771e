#pragma once

#include "device.h"

#include <infiniband/verbs.h>

#define FT_VERBS_NO_FRAME UINT32_MAX

/* What the device said of a buffer: that it is filled, or that it comes back without a frame. */
struct ft_verbs_completion {
	uint64_t ts_ns;
	uint32_t buffer;
	uint32_t length; /* of the frame, however much of it was kept; or FT_VERBS_NO_FRAME */
};

/*
 * Receive buffers in one region. A buffer goes round: the device has it, until it comes back in a completion
 * (taken); its frame is handed out (lent); and when the calls for which frames stay readable have passed, the
 * device gets it again (posted).
 *
 *      ... posted again ...|... lent, still readable ...|... taken, waiting ...|... the device's ...
 *                      `posted`                      `lent`                 `taken`
 *
 * The three counters only grow; the order of buffers is that of the completions. A frame longer than its
 * buffer goes on in scratch memory that all buffers share and nobody reads.
 */
struct ft_verbs_ring {
	uint8_t *memory;
	size_t size;
	uint32_t buffers;      /* a power of two */
	uint32_t buffer_bytes; /* from one buffer to the next */
	uint32_t kept;         /* bytes of a frame that are handed out */
	uint32_t parts;        /* 2, or 1: the device cannot scatter, there is no scratch */
	uint32_t batch;        /* buffers given back at a time */
	bool given;            /* the device got its buffers */
	uint64_t posted, lent, taken;
	struct ft_verbs_completion *completions; /* one per buffer, used in turn */
	struct ibv_recv_wr *requests;
	struct ibv_sge *sges;  /* `parts` per buffer */
	bool *with_device;     /* per buffer */
	uint64_t *lent_before; /* `lent` at the end of each of the last `keep` calls */
	unsigned keep;
	uint64_t calls;
};

struct ft_verbs_ring_config {
	uint32_t snap;    /* bytes kept of each frame; 0: all */
	uint64_t bytes;   /* for buffers; 0: the default */
	unsigned keep;    /* calls */
	uint32_t longest; /* bytes that a frame of the link layer can have */
	uint32_t buffers_max, parts_max;
};

/* 0, -ENOMEM; -EINVAL: room for too few buffers. The device gets none yet. */
int ft_verbs_ring_create(struct ft_verbs_ring *ring, const struct ft_verbs_ring_config *config);
void ft_verbs_ring_destroy(struct ft_verbs_ring *ring);

/* The region is registered: the requests may use it. */
void ft_verbs_ring_register(struct ft_verbs_ring *ring, uint32_t lkey);

/* Give the device all buffers, or after a reset of the queue pair those that it had. 0 or -errno. */
int ft_verbs_ring_post_all(struct ft_verbs_ring *ring, struct ibv_qp *qp);

/* A call of receive() begins: buffers of frames that need not be readable any more go back. 0 or -errno. */
int ft_verbs_ring_begin_call(struct ft_verbs_ring *ring, struct ibv_qp *qp);
void ft_verbs_ring_end_call(struct ft_verbs_ring *ring);

/* Hand out what waits, at most `room` frames; as many of all calls kept as leave the device half of the buffers. */
int ft_verbs_ring_lend(struct ft_verbs_ring *ring, struct ft_frame *frames, int room,
		       uint16_t link_type);

static inline uint32_t ft_verbs_ring_with_device(const struct ft_verbs_ring *ring)
{
	return ring->buffers - (uint32_t)(ring->taken - ring->posted);
}

/* A buffer came back. False: no such buffer is with the device. */
static inline bool ft_verbs_ring_take(struct ft_verbs_ring *ring, uint64_t buffer, uint32_t length,
				      uint64_t ts_ns)
{
	if (buffer >= ring->buffers || !ring->with_device[buffer])
		return false;
	ring->with_device[buffer] = false;
	ring->completions[ring->taken++ & (ring->buffers - 1)] = (struct ft_verbs_completion){
		.ts_ns = ts_ns,
		.buffer = (uint32_t)buffer,
		.length = length,
	};
	return true;
}
