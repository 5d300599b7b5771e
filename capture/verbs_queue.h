#pragma once

#include "verbs_clock.h"
#include "verbs_port.h"
#include "verbs_ring.h"

/*
 * The raw-packet queue pair with its sniffer flow. It has no room for a send request and is never taken to
 * RTS, the state in which a queue pair sends.
 */
struct ft_verbs_queue {
	const struct ft_verbs_port *port;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_cq_ex *stamped; /* the same, where completions have time stamps; else NULL */
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_flow *flow;
	bool armed;       /* the channel will tell of the next completion */
	unsigned unacked; /* events of the channel */
};

/* What of the device's limits a ring must keep to. */
uint32_t ft_verbs_queue_buffers_max(const struct ft_verbs_port *port);
uint32_t ft_verbs_queue_parts_max(const struct ft_verbs_port *port);

/*
 * Everything but the flow, in state INIT with all buffers posted. `stamped`: completions are to have time
 * stamps if the device can. 0, or as ft_driver.open() with nothing open.
 */
int ft_verbs_queue_open(struct ft_verbs_queue *queue, const struct ft_verbs_port *port,
			struct ft_verbs_ring *ring, bool stamped,
			struct ft_source_complaint *complaint);

/* Receive: RTR, and the flow. 0, or as ft_driver.start(). */
int ft_verbs_queue_start(struct ft_verbs_queue *queue, struct ft_source_complaint *complaint);

/* The queue pair has stopped on an error: through RESET back to RTR, with the buffers that it had. 0 or -errno. */
int ft_verbs_queue_restart(struct ft_verbs_queue *queue, struct ft_verbs_ring *ring);

/* Sleep until a completion or an event of the device may be at hand. */
void ft_verbs_queue_wait(struct ft_verbs_queue *queue, int ms);

void ft_verbs_queue_close(struct ft_verbs_queue *queue);
