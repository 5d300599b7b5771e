#include "verbs_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS_LEAST = 64, DRAIN_MAX = 1 << 20 };

static uint32_t at_least_1(int limit)
{
	return limit > 0 ? (uint32_t)limit : 1;
}

uint32_t ft_verbs_queue_buffers_max(const struct ft_verbs_port *port)
{
	uint32_t requests = at_least_1(port->limits.orig_attr.max_qp_wr);
	uint32_t completions = at_least_1(port->limits.orig_attr.max_cqe);

	return requests < completions ? requests : completions;
}

uint32_t ft_verbs_queue_parts_max(const struct ft_verbs_port *port)
{
	return at_least_1(port->limits.orig_attr.max_sge);
}

/* Completions with time stamps, without locks if the provider lets go of them; NULL: it cannot. */
static struct ibv_cq_ex *create_stamped(struct ft_verbs_queue *queue, uint32_t entries)
{
	static const uint32_t flags[] = { IBV_CREATE_CQ_ATTR_SINGLE_THREADED, 0 };
	struct ibv_cq_ex *cq = NULL;

	for (size_t i = 0; i < sizeof flags / sizeof flags[0] && cq == NULL; i++) {
		struct ibv_cq_init_attr_ex attr = {
			.cqe = entries,
			.channel = queue->channel,
			.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
			.comp_mask = flags[i] != 0 ? IBV_CQ_INIT_ATTR_MASK_FLAGS : 0,
			.flags = flags[i],
		};

		cq = ibv_create_cq_ex(queue->port->context, &attr);
	}
	return cq;
}

/* One completion per buffer at most: the queue cannot overrun. */
static int create_cq(struct ft_verbs_queue *queue, uint32_t entries, bool stamped,
		     struct ft_source_complaint *complaint)
{
	queue->channel = ibv_create_comp_channel(queue->port->context);
	if (queue->channel != NULL) {
		fcntl(queue->channel->fd, F_SETFL, fcntl(queue->channel->fd, F_GETFL) | O_NONBLOCK);
		if (stamped)
			queue->stamped = create_stamped(queue, entries);
		if (queue->stamped != NULL)
			queue->cq = ibv_cq_ex_to_cq(queue->stamped);
		else
			queue->cq = ibv_create_cq(queue->port->context, (int)entries, NULL,
						  queue->channel, 0);
	}
	if (queue->cq != NULL)
		return 0;
	return ft_verbs_refuse(queue->port, complaint, -ENOMEM,
			       "no completion queue of %u entries: %s", entries, strerror(errno));
}

static int refuse_qp(const struct ft_verbs_port *port, int error,
		     struct ft_source_complaint *complaint)
{
	char instead[80];

	if (error == EPERM || error == EACCES)
		return ft_verbs_refuse(port, complaint, -EPERM,
				       "no raw-packet queue pair: needs CAP_NET_RAW");
	if (error == ENOMEM)
		return ft_verbs_refuse(port, complaint, -ENOMEM,
				       "no memory for a raw-packet queue pair");
	return ft_verbs_refuse(port, complaint, -EOPNOTSUPP,
			       "the device has no raw-packet queue pair (%s): %s", strerror(error),
			       ft_verbs_instead(port, instead, sizeof instead));
}

static int create_qp(struct ft_verbs_queue *queue, const struct ft_verbs_ring *ring,
		     struct ft_source_complaint *complaint)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = queue->cq,
		.recv_cq = queue->cq,
		.cap = { .max_send_wr = 0,
			 .max_recv_wr = ring->buffers,
			 .max_recv_sge = ring->parts },
		.qp_type = IBV_QPT_RAW_PACKET,
	};

	errno = 0;
	queue->qp = ibv_create_qp(queue->pd, &attr);
	return queue->qp != NULL ? 0 : refuse_qp(queue->port, errno, complaint);
}

static int register_memory(struct ft_verbs_queue *queue, struct ft_verbs_ring *ring,
			   struct ft_source_complaint *complaint)
{
	errno = 0;
	queue->mr = ibv_reg_mr(queue->pd, ring->memory, ring->size, IBV_ACCESS_LOCAL_WRITE);
	if (queue->mr == NULL)
		return ft_verbs_refuse(queue->port, complaint, errno != 0 ? -errno : -ENOMEM,
				       "cannot lock %zu MiB of receive buffers (%s): raise "
				       "`ulimit -l`, or lower --buffer",
				       ring->size >> 20, strerror(errno));
	ft_verbs_ring_register(ring, queue->mr->lkey);
	return 0;
}

static int set_state(struct ft_verbs_queue *queue, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state, .port_num = queue->port->number };
	int mask = state == IBV_QPS_INIT ? IBV_QP_STATE | IBV_QP_PORT : IBV_QP_STATE;

	return -abs(ibv_modify_qp(queue->qp, &attr, mask));
}

static int fill(struct ft_verbs_queue *queue, struct ft_verbs_ring *ring,
		struct ft_source_complaint *complaint)
{
	int error = set_state(queue, IBV_QPS_INIT);

	if (error == 0)
		error = ft_verbs_ring_post_all(ring, queue->qp);
	if (error != 0)
		ft_verbs_refuse(queue->port, complaint, error,
				"the queue pair does not take its buffers: %s", strerror(-error));
	return error;
}

int ft_verbs_queue_open(struct ft_verbs_queue *queue, const struct ft_verbs_port *port,
			struct ft_verbs_ring *ring, bool stamped,
			struct ft_source_complaint *complaint)
{
	int error;

	*queue = (struct ft_verbs_queue){ .port = port };
	queue->pd = ibv_alloc_pd(port->context);
	if (queue->pd == NULL)
		return ft_verbs_refuse(port, complaint, -ENOMEM, "no protection domain: %s",
				       strerror(errno));
	error = create_cq(queue, ring->buffers, stamped, complaint);
	if (error == 0)
		error = create_qp(queue, ring, complaint);
	if (error == 0)
		error = register_memory(queue, ring, complaint);
	if (error == 0)
		error = fill(queue, ring, complaint);
	if (error != 0)
		ft_verbs_queue_close(queue);
	return error;
}

static int refuse_flow(const struct ft_verbs_port *port, int error,
		       struct ft_source_complaint *complaint)
{
	char instead[80];

	if (error == EPERM || error == EACCES)
		return ft_verbs_refuse(port, complaint, -EPERM,
				       "no sniffer flow: needs CAP_NET_RAW");
	if (error == EBUSY || error == EEXIST)
		return ft_verbs_refuse(port, complaint, -EBUSY,
				       "another program has the port's sniffer flow");
	return ft_verbs_refuse(port, complaint, -EOPNOTSUPP, "sniffer flow refused (%s): %s",
			       strerror(error), ft_verbs_instead(port, instead, sizeof instead));
}

int ft_verbs_queue_start(struct ft_verbs_queue *queue, struct ft_source_complaint *complaint)
{
	struct ibv_flow_attr attr = {
		.type = IBV_FLOW_ATTR_SNIFFER,
		.size = sizeof attr,
		.port = queue->port->number,
	};
	int error = set_state(queue, IBV_QPS_RTR);

	if (error != 0)
		return ft_verbs_refuse(queue->port, complaint, error,
				       "the queue pair does not get ready to receive: %s",
				       strerror(-error));
	errno = 0;
	queue->flow = ibv_create_flow(queue->qp, &attr);
	return queue->flow != NULL ? 0 : refuse_flow(queue->port, errno, complaint);
}

int ft_verbs_queue_restart(struct ft_verbs_queue *queue, struct ft_verbs_ring *ring)
{
	int error = set_state(queue, IBV_QPS_RESET);

	if (error == 0)
		error = set_state(queue, IBV_QPS_INIT);
	if (error == 0)
		error = ft_verbs_ring_post_all(ring, queue->qp);
	if (error == 0)
		error = set_state(queue, IBV_QPS_RTR);
	return error;
}

static void take_channel_events(struct ft_verbs_queue *queue)
{
	struct ibv_cq *cq;
	void *context;

	while (ibv_get_cq_event(queue->channel, &cq, &context) == 0)
		queue->unacked++;
	ibv_ack_cq_events(queue->cq, queue->unacked);
	queue->unacked = 0;
	queue->armed = false;
}

/*
 * A completion that came before the channel was armed does not wake anybody: arm, let the caller look once
 * more, and sleep only the next time.
 */
void ft_verbs_queue_wait(struct ft_verbs_queue *queue, int ms)
{
	struct pollfd files[] = {
		{ .fd = queue->channel->fd, .events = POLLIN },
		{ .fd = queue->port->context->async_fd, .events = POLLIN },
	};

	if (!queue->armed) {
		queue->armed = ibv_req_notify_cq(queue->cq, 0) == 0;
		if (queue->armed)
			return;
	}
	if (poll(files, sizeof files / sizeof files[0], ms) > 0 && files[0].revents != 0)
		take_channel_events(queue);
}

/* Buffers are the device's until their completions are here. */
static void drain(struct ft_verbs_queue *queue)
{
	struct ibv_wc completions[64];
	struct ibv_poll_cq_attr attr = { 0 };
	int left = DRAIN_MAX;

	if (queue->stamped == NULL) {
		while (left-- > 0 && ibv_poll_cq(queue->cq, 64, completions) > 0)
			;
		return;
	}
	if (ibv_start_poll(queue->stamped, &attr) != 0)
		return;
	while (left-- > 0 && ibv_next_poll(queue->stamped) == 0)
		;
	ibv_end_poll(queue->stamped);
}

/* No frames first, then no buffers, then what they were given to; a device that is gone refuses, which is fine. */
void ft_verbs_queue_close(struct ft_verbs_queue *queue)
{
	if (queue->flow != NULL)
		ibv_destroy_flow(queue->flow);
	if (queue->qp != NULL) {
		set_state(queue, IBV_QPS_ERR);
		drain(queue);
		ibv_destroy_qp(queue->qp);
	}
	if (queue->cq != NULL)
		ibv_destroy_cq(queue->cq);
	if (queue->channel != NULL)
		ibv_destroy_comp_channel(queue->channel);
	if (queue->mr != NULL)
		ibv_dereg_mr(queue->mr);
	if (queue->pd != NULL)
		ibv_dealloc_pd(queue->pd);
	*queue = (struct ft_verbs_queue){ 0 };
}
