#include <nccl/follower.h>

#include <errno.h>
#include <stdlib.h>

#include "connections.h"
#include "groups.h"
#include "queue_pairs.h"
#include "side_channel.h"

struct ft_nccl_follower {
	struct ft_nccl_qps *qps;
	struct ft_nccl_side_channel *side;
	struct ft_nccl_connections *connections;
	struct ft_nccl_sink sink;
	struct ft_nccl_groups groups;
	struct ft_nccl_queue_pair *queue_pairs; /* of the last report */
	struct ft_nccl_report report;
};

static void learn(void *context, const struct ft_nccl_exchange *exchange)
{
	struct ft_nccl_follower *follower = context;

	ft_nccl_connections_learn(follower->connections, exchange);
}

static void learn_cut(void *context, const struct ft_nccl_cut_exchange *exchange)
{
	struct ft_nccl_follower *follower = context;

	ft_nccl_connections_learn_cut(follower->connections, exchange);
}

static void pass_on(void *context, const struct ft_nccl_contact *contact)
{
	struct ft_nccl_follower *follower = context;

	if (follower->sink.contact != NULL)
		follower->sink.contact(follower->sink.context, contact);
}

int ft_nccl_follower_create(struct ft_nccl_follower **follower, const struct ft_nccl_config *config,
			    const struct ft_nccl_sink *sink)
{
	struct ft_nccl_follower *made = calloc(1, sizeof *made);
	const struct ft_nccl_side_sink side = { learn, learn_cut, pass_on, made };
	int error;

	if (made == NULL)
		return -ENOMEM;
	made->sink = *sink;
	error = ft_nccl_qps_create(&made->qps, config->queue_pairs, config->seed);
	if (error == 0)
		error = ft_nccl_side_create(&made->side, config, &side);
	if (error == 0)
		error = ft_nccl_connections_create(&made->connections, config, made->qps, sink);
	if (error != 0) {
		ft_nccl_follower_destroy(made);
		return error;
	}
	*follower = made;
	return 0;
}

static void drop_report(struct ft_nccl_follower *follower)
{
	free(follower->queue_pairs);
	follower->queue_pairs = NULL;
	ft_nccl_groups_free(&follower->groups);
	follower->groups = (struct ft_nccl_groups){ 0 };
}

void ft_nccl_follower_destroy(struct ft_nccl_follower *follower)
{
	if (follower == NULL)
		return;
	drop_report(follower);
	ft_nccl_connections_destroy(follower->connections);
	ft_nccl_side_destroy(follower->side);
	ft_nccl_qps_destroy(follower->qps);
	free(follower);
}

void ft_nccl_follower_name(struct ft_nccl_follower *follower, const struct ft_nccl_seen *seen)
{
	ft_nccl_connections_name(follower->connections, seen);
}

void ft_nccl_follower_see(struct ft_nccl_follower *follower, const struct ft_nccl_seen *seen)
{
	struct ft_nccl_qp *qp = ft_nccl_qps_see(follower->qps, seen);

	ft_nccl_connections_see(follower->connections, seen, qp);
}

struct ft_nccl_way ft_nccl_follower_way(const struct ft_nccl_follower *follower)
{
	return ft_nccl_connections_way(follower->connections);
}

void ft_nccl_follower_see_tcp(struct ft_nccl_follower *follower,
			      const struct ft_nccl_segment *segment)
{
	ft_nccl_qps_see_tcp(follower->qps, segment);
	ft_nccl_side_see(follower->side, segment);
}

bool ft_nccl_follower_shown(const struct ft_nccl_follower *follower,
			    const struct ft_nccl_seen *seen, struct ft_nccl_shown *shown)
{
	return ft_nccl_connections_shown(follower->connections, seen, shown);
}

bool ft_nccl_follower_crosses(const struct ft_nccl_follower *follower, uint16_t vlan)
{
	return ft_nccl_connections_cross(follower->connections, vlan);
}

bool ft_nccl_follower_met(const struct ft_nccl_follower *follower)
{
	return ft_nccl_connections_are_met(follower->connections);
}

const struct ft_nccl_connection *ft_nccl_follower_connection(
	const struct ft_nccl_follower *follower, uint32_t id)
{
	return ft_nccl_connections_get(follower->connections, id);
}

void ft_nccl_follower_set_lossy(struct ft_nccl_follower *follower, bool is_lossy)
{
	ft_nccl_connections_set_lossy(follower->connections, is_lossy);
}

enum { FIRST_WITH_GIN = 22800 };

static void rule_out_gin(struct ft_nccl_follower *follower, const struct ft_nccl_party *party,
			 uint8_t count)
{
	for (uint8_t i = 0; i < count; i++) {
		if (party->qpns[i] != FT_NCCL_NONE)
			ft_nccl_qp_rule_out_gin(ft_nccl_qps_of(follower->qps,
							       &party->places[party->qp_device[i]],
							       party->qpns[i]));
	}
}

/* Where all that NCCL has between two hosts is older. */
static void date(struct ft_nccl_follower *follower, const struct ft_nccl_kept *kept)
{
	for (size_t i = 0; i < kept->connection_count; i++) {
		const struct ft_nccl_connection *connection = kept->connections[i];

		if (connection->version_last == 0 || connection->version_last >= FIRST_WITH_GIN)
			continue;
		rule_out_gin(follower, &connection->sender, connection->qp_count);
		rule_out_gin(follower, &connection->receiver, connection->qp_count);
	}
}

static int make_report(struct ft_nccl_follower *follower, struct ft_nccl_report *report)
{
	struct ft_nccl_kept kept;
	int error = ft_nccl_connections_keep(follower->connections, &kept);

	if (error == 0)
		error = ft_nccl_groups_make(&follower->groups, kept.connections,
					    kept.connection_count, kept.messages,
					    kept.message_count);
	if (error != 0)
		return error;
	date(follower, &kept);
	follower->queue_pairs = ft_nccl_qps_report(follower->qps, &report->queue_pair_count);
	if (follower->queue_pairs == NULL)
		return -ENOMEM;
	report->queue_pairs = follower->queue_pairs;
	report->queue_pairs_dropped = ft_nccl_qps_dropped(follower->qps);
	report->connections = (const struct ft_nccl_connection *const *)kept.connections;
	report->connection_count = kept.connection_count;
	report->connections_dropped = kept.connections_dropped;
	report->messages = kept.messages;
	report->message_count = kept.message_count;
	report->messages_dropped = kept.messages_dropped;
	report->communicators = follower->groups.communicators;
	report->communicator_count = follower->groups.communicator_count;
	report->collectives = follower->groups.collectives;
	report->collective_count = follower->groups.collective_count;
	report->processes = ft_nccl_side_processes(follower->side, &report->process_count);
	return 0;
}

void ft_nccl_follower_settle(struct ft_nccl_follower *follower)
{
	ft_nccl_connections_settle(follower->connections);
}

const struct ft_nccl_report *ft_nccl_follower_report(struct ft_nccl_follower *follower)
{
	drop_report(follower);
	follower->report = (struct ft_nccl_report){ 0 };
	if (make_report(follower, &follower->report) != 0) {
		drop_report(follower);
		return NULL;
	}
	return &follower->report;
}
