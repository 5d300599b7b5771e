#include "fake.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

void fake_tell(struct fake_context *context, enum ibv_event_type type)
{
	struct fake_event event = { .type = type, .port = 1 };

	if (write(context->events[1], &event, sizeof event) != sizeof event)
		fake_abort("nobody takes the device's events");
	if (type == IBV_EVENT_DEVICE_FATAL || type == IBV_EVENT_CQ_ERR)
		context->removed = true; /* counters follow with the next look at the wire */
}

/* The kernel lets go of an open device without a word: reading events fails from then on. */
void fake_vanish(struct fake_context *context)
{
	context->removed = true;
	close(context->events[1]);
	context->events[1] = -1;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct fake_event told;
	ssize_t got = read(context->async_fd, &told, sizeof told);

	if (got == 0)
		errno = EIO;
	if (got != sizeof told)
		return -1;
	*event = (struct ibv_async_event){ .event_type = told.type };
	event->element.port_num = told.port;
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct fake_channel *channel = calloc(1, sizeof *channel);

	if (channel == NULL || pipe(channel->pipe) != 0)
		fake_abort("no memory");
	channel->channel.context = context;
	channel->channel.fd = channel->pipe[0];
	fake_context_of(context)->channels++;
	fake_verbs_account.alive++;
	return &channel->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct fake_channel *ours = (struct fake_channel *)channel;
	struct fake_context *context = fake_context_of(channel->context);

	if (context->cqs != 0)
		fake_abort("completion channel destroyed before its queue");
	context->channels--;
	fake_verbs_account.alive--;
	close(ours->pipe[0]);
	close(ours->pipe[1]);
	free(ours);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	if (read(channel->fd, cq, sizeof *cq) != sizeof *cq)
		return -1;
	*cq_context = (*cq)->cq_context;
	(*cq)->comp_events_completed++;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	if (nevents > cq->comp_events_completed)
		fake_abort("more completion events acknowledged than told");
	cq->comp_events_completed -= nevents;
}
