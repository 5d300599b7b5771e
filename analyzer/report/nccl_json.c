#include <report/nccl.h>

#include "capture_json.h"
#include "coverage_json.h"
#include "finding_json.h"
#include "nccl_rows.h"

/* The document fabtap.nccl/1: its members in the order in which the format describes them. */

static void connections(struct ft_document *json, const struct ft_nccl_report *nccl, bool keys)
{
	ft_member_begin(json, "connections", '[');
	for (size_t i = 0; i < nccl->connection_count; i++)
		ft_nccl_connection_json(json, nccl->connections[i], keys);
	ft_member_end(json, ']');
}

static void messages(struct ft_document *json, const struct ft_nccl_report *nccl, bool keys)
{
	ft_member_begin(json, "messages", '[');
	for (size_t i = 0; i < nccl->message_count; i++)
		ft_nccl_message_json(json, &nccl->messages[i], keys);
	ft_member_end(json, ']');
}

static void communicators(struct ft_document *json, const struct ft_nccl_report *nccl)
{
	ft_member_begin(json, "communicators", '[');
	for (size_t i = 0; i < nccl->communicator_count; i++)
		ft_nccl_communicator_json(json, &nccl->communicators[i]);
	ft_member_end(json, ']');
}

static void queue_pairs(struct ft_document *json, const struct ft_nccl_report *nccl)
{
	ft_member_begin(json, "queue_pairs", '[');
	for (size_t i = 0; i < nccl->queue_pair_count; i++)
		ft_nccl_queue_pair_json(json, &nccl->queue_pairs[i]);
	ft_member_end(json, ']');
}

static void findings(struct ft_document *json, const struct ft_report *about)
{
	ft_member_begin(json, "findings", '[');
	for (size_t i = 0; i < about->finding_count; i++)
		if (strncmp(about->findings[i].rule, "nccl.", 5) == 0)
			ft_finding_json(json, NULL, &about->findings[i]);
	ft_member_end(json, ']');
}

static void more(struct ft_document *json, const struct ft_nccl_report *nccl)
{
	ft_member_begin(json, "collectives", '[');
	for (size_t i = 0; i < nccl->collective_count; i++)
		ft_nccl_collective_json(json, &nccl->collectives[i]);
	ft_member_end(json, ']');
	ft_member_begin(json, "processes", '[');
	for (size_t i = 0; i < nccl->process_count; i++)
		ft_nccl_process_json(json, &nccl->processes[i]);
	ft_member_end(json, ']');
	ft_member_begin(json, "dropped", '{');
	ft_member_number(json, "connections", nccl->connections_dropped);
	ft_member_number(json, "messages", nccl->messages_dropped);
	ft_member_number(json, "queue_pairs", nccl->queue_pairs_dropped);
	ft_member_end(json, '}');
}

int ft_render_nccl_json(FILE *out, const struct ft_report_nccl *report, bool keys)
{
	const struct ft_nccl_report *nccl = report->nccl;
	struct ft_document json;

	ft_document_open(&json, out);
	ft_member_text(&json, "schema", "fabtap.nccl/1");
	ft_tool_json(&json, report->about->version, report->about->build);
	ft_capture_json(&json, report->about);
	connections(&json, nccl, keys);
	messages(&json, nccl, keys);
	communicators(&json, nccl);
	queue_pairs(&json, nccl);
	findings(&json, report->about);
	more(&json, nccl);
	ft_coverage_json(&json, &report->about->coverage);
	return ft_document_close(&json);
}
