#include "verbs.h"

#include <errno.h>

enum { EVENTS_MAX = 64 }; /* at a time */

enum reaction { IGNORE, PORT_UP, PORT_DOWN, TABLES_CHANGED, RESTART, GONE };

/* What an event means for a queue pair that only listens; those not named here mean nothing to it. */
static const struct {
	enum reaction reaction;
	const char *reason;
} events[] = {
	[IBV_EVENT_CQ_ERR] = { GONE, "the completion queue overran" },
	[IBV_EVENT_QP_FATAL] = { RESTART, NULL },
	[IBV_EVENT_QP_REQ_ERR] = { RESTART, NULL },
	[IBV_EVENT_QP_ACCESS_ERR] = { RESTART, NULL },
	[IBV_EVENT_DEVICE_FATAL] = { GONE, "the device failed or was removed" },
	[IBV_EVENT_PORT_ACTIVE] = { PORT_UP, NULL },
	[IBV_EVENT_PORT_ERR] = { PORT_DOWN, NULL },
	[IBV_EVENT_PKEY_CHANGE] = { TABLES_CHANGED, NULL },
	[IBV_EVENT_GID_CHANGE] = { TABLES_CHANGED, NULL },
	[IBV_EVENT_LID_CHANGE] = { TABLES_CHANGED, NULL },
	[IBV_EVENT_WQ_FATAL] = { RESTART, NULL },
};

static bool is_of_port(enum reaction reaction)
{
	return reaction == PORT_UP || reaction == PORT_DOWN || reaction == TABLES_CHANGED;
}

static void react(struct ft_verbs *verbs, const struct ibv_async_event *event)
{
	size_t type = (size_t)event->event_type;
	enum reaction reaction =
		type < sizeof events / sizeof events[0] ? events[type].reaction : IGNORE;

	if (is_of_port(reaction) && event->element.port_num != verbs->port.number)
		return;
	switch (reaction) {
	case PORT_UP:
	case PORT_DOWN:
		verbs->port_down = reaction == PORT_DOWN;
		break;
	case TABLES_CHANGED:
		verbs->tables_changed = true;
		break;
	case RESTART:
		verbs->stopped = true;
		break;
	case GONE:
		verbs->gone = events[type].reason;
		break;
	case IGNORE:
		break;
	}
}

void ft_verbs_events_take(struct ft_verbs *verbs)
{
	struct ibv_async_event event;

	for (int i = 0; i < EVENTS_MAX && verbs->gone == NULL; i++) {
		if (ibv_get_async_event(verbs->port.context, &event) != 0) {
			if (errno != EAGAIN && errno != EINTR)
				verbs->gone = "the device was removed";
			return;
		}
		react(verbs, &event);
		ibv_ack_async_event(&event);
	}
}
