#include "connections.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <flow/hash.h>

enum { REQUESTS = 4096, BUCKETS = 2 * REQUESTS };

#define LIFETIME_NS UINT64_C(120000000000) /* longer than any CM time-out with its retries */

/* Hashed and compared as bytes: no padding. */
struct request_key {
	uint8_t from[16], to[16];
	uint32_t vni, by_lid;
	uint32_t id; /* the sender's number of the connection */
	uint32_t spare;
};
static_assert(sizeof(struct request_key) == 48, "padding would be hashed");

struct request {
	struct request_key key;
	uint64_t ts_ns;
	uint32_t qpn;
	uint32_t next; /* of the bucket's list, plus 1; 0: the last */
	bool used;
};

struct ft_connections {
	uint64_t seed;
	uint32_t oldest;           /* where the next one goes */
	uint32_t buckets[BUCKETS]; /* the first request plus 1 */
	struct request requests[REQUESTS];
};

int ft_connections_create(struct ft_connections **connections, uint64_t seed)
{
	struct ft_connections *made = calloc(1, sizeof *made);

	if (made == NULL)
		return -ENOMEM;
	made->seed = seed;
	*connections = made;
	return 0;
}

void ft_connections_destroy(struct ft_connections *connections)
{
	free(connections);
}

/* What points at the request with this key; *of it is 0 if there is none. */
static uint32_t *link_to(struct ft_connections *connections, const struct request_key *key)
{
	uint64_t hash = ft_hash(key, sizeof *key, connections->seed);
	uint32_t *link = &connections->buckets[hash % BUCKETS];

	while (*link != 0 && memcmp(&connections->requests[*link - 1].key, key, sizeof *key) != 0)
		link = &connections->requests[*link - 1].next;
	return link;
}

static struct request *find(struct ft_connections *connections, const struct request_key *key)
{
	uint32_t at = *link_to(connections, key);

	return at == 0 ? NULL : &connections->requests[at - 1];
}

/* The place of the oldest, emptied. */
static struct request *make_room(struct ft_connections *connections)
{
	struct request *request = &connections->requests[connections->oldest];

	if (request->used)
		*link_to(connections, &request->key) = request->next;
	connections->oldest = (connections->oldest + 1) % REQUESTS;
	return request;
}

static struct request *find_or_add(struct ft_connections *connections,
				   const struct request_key *key)
{
	uint32_t *link = link_to(connections, key);
	struct request *request;

	if (*link != 0)
		return &connections->requests[*link - 1];
	request = make_room(connections);
	link = link_to(connections, key);
	*request = (struct request){ .key = *key, .used = true };
	*link = (uint32_t)(request - connections->requests) + 1;
	return request;
}

static struct request_key key_of(const struct ft_flow_key *key, bool turned, uint32_t id)
{
	struct request_key request = { .vni = key->vni, .by_lid = key->by_lid, .id = id };

	memcpy(request.from, turned ? key->dst : key->src, sizeof request.from);
	memcpy(request.to, turned ? key->src : key->dst, sizeof request.to);
	return request;
}

static void see_request(struct ft_connections *connections, const struct ft_connection_setup *setup,
			const struct ft_flow_key *key, uint64_t ts_ns)
{
	struct request_key sought = key_of(key, false, setup->local_id);
	struct request *request;

	if (setup->elsewhere)
		return;
	request = find_or_add(connections, &sought);
	request->qpn = setup->qpn;
	request->ts_ns = ts_ns;
}

/* What is sent to `qpn`, in the direction of the key or the other one. */
static struct ft_flow_key half_to(const struct ft_flow_key *key, bool turned, uint32_t qpn)
{
	struct ft_flow_key half = {
		.dest_qp = qpn,
		.vni = key->vni,
		.base = FT_FLOW_ANY_BASE,
		.vlan = key->vlan,
		.by_lid = key->by_lid,
	};

	memcpy(half.src, turned ? key->dst : key->src, sizeof half.src);
	memcpy(half.dst, turned ? key->src : key->dst, sizeof half.dst);
	return half;
}

static bool is_expired(const struct request *request, uint64_t ts_ns)
{
	return ts_ns != UINT64_MAX && ts_ns > request->ts_ns &&
	       ts_ns - request->ts_ns > LIFETIME_NS;
}

static void see_reply(struct ft_connections *connections, const struct ft_connection_setup *setup,
		      const struct ft_flow_key *key, uint64_t ts_ns, struct ft_tracker *tracker)
{
	struct request_key sought = key_of(key, true, setup->remote_id);
	const struct request *request = find(connections, &sought);
	struct ft_flow_key there, back;

	if (request == NULL || is_expired(request, ts_ns))
		return;
	there = half_to(key, true, setup->qpn);
	back = half_to(key, false, request->qpn);
	ft_tracker_pair(tracker, &there, &back, FT_PAIRED_CM);
}

void ft_connections_see(struct ft_connections *connections, const struct ft_connection_setup *setup,
			const struct ft_flow_key *key, uint64_t ts_ns, struct ft_tracker *tracker)
{
	switch ((enum ft_setup_kind)setup->kind) {
	case FT_SETUP_REQUEST:
		see_request(connections, setup, key, ts_ns);
		break;
	case FT_SETUP_REPLY:
		see_reply(connections, setup, key, ts_ns, tracker);
		break;
	case FT_SETUP_NONE:
		break;
	}
}
