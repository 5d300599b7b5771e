#include <report/nccl.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "capture_text.h"
#include "coverage_text.h"
#include "finding_text.h"
#include "human.h"
#include "nccl_shape_text.h"
#include "nccl_tables.h"
#include "nccl_words.h"

/* The page about NCCL for people: who talks to whom first, single messages last, and what was not seen. */

static void say_total(struct ft_page *page, const struct ft_nccl_report *nccl)
{
	struct ft_human messages_text, bytes_text;
	uint64_t messages = 0, bytes = 0;

	for (size_t i = 0; i < nccl->connection_count; i++) {
		messages += nccl->connections[i]->messages_told;
		bytes += nccl->connections[i]->payload_bytes;
	}
	ft_line_char(&page->line, '\n');
	if (nccl->connection_count == 0)
		ft_page_row(page, "NCCL", "no connections");
	else
		ft_page_row(page, "NCCL",
			    "%zu connection%s of %zu communicator%s: %s message%s, %s written",
			    nccl->connection_count, ft_plural(nccl->connection_count),
			    nccl->communicator_count, ft_plural(nccl->communicator_count),
			    ft_human_count(&messages_text, messages), ft_plural(messages),
			    ft_human_bytes(&bytes_text, bytes));
}

static void say_communicator(struct ft_page *page, const struct ft_nccl_report *nccl,
			     const struct ft_nccl_communicator *row)
{
	char label[32], channels[48] = "channels not known";
	size_t known = 0;

	for (size_t i = 0; i < row->channel_count; i++)
		known +=
			row->channels[i].channel != FT_NCCL_NONE || row->channels[i].ring_count > 0;
	if (known > 0)
		snprintf(channels, sizeof channels, "%zu channel%s", known, ft_plural(known));
	snprintf(label, sizeof label, "COMM %" PRIu32, row->communicator);
	ft_line_char(&page->line, '\n');
	ft_page_row(page, label,
		    "%zu process%s that connections tie together, %s, %zu connection%s",
		    row->member_count, row->member_count == 1 ? "" : "es", channels,
		    row->connection_count, ft_plural(row->connection_count));
	ft_nccl_shape_text(page, nccl, row);
	ft_nccl_members_table(page, row);
}

static void say_connections(struct ft_page *page, const struct ft_nccl_report *nccl)
{
	if (nccl->connection_count == 0)
		return;
	ft_line_char(&page->line, '\n');
	ft_page_row(page, "CONN", "data goes from sender to receiver");
	ft_nccl_connections_table(page, nccl);
	ft_line_char(&page->line, '\n');
	ft_page_row(
		page, "",
		"%sconn: id; ch: channel; CTS: clear-to-sends; again: packets sent again by the "
		"transport; unseen: packets lost on the way here; ?: not known; .: none",
		nccl->communicator_count > 1 ? "comm: communicator; " : "");
}

static void say_shown(struct ft_page *page, const char *label, size_t shown, size_t all)
{
	ft_line_char(&page->line, '\n');
	if (shown < all)
		ft_page_row(page, label, "the first %zu of %zu; --messages N shows more", shown,
			    all);
	else
		ft_page_row(page, label, "%zu", all);
}

static void say_collectives(struct ft_page *page, const struct ft_nccl_report *nccl, size_t most)
{
	if (nccl->collective_count == 0 || most == 0)
		return;
	say_shown(page, "OPS", most < nccl->collective_count ? most : nccl->collective_count,
		  nccl->collective_count);
	ft_nccl_collectives_table(page, nccl, most);
}

static void say_messages(struct ft_page *page, const struct ft_nccl_report *nccl, size_t most)
{
	if (nccl->message_count == 0 || most == 0)
		return;
	say_shown(page, "MESSAGES", most < nccl->message_count ? most : nccl->message_count,
		  nccl->message_count);
	ft_nccl_messages_table(page, nccl, most);
}

static void say_failovers(struct ft_page *page, const struct ft_nccl_report *nccl)
{
	size_t failed = 0;

	for (size_t i = 0; i < nccl->connection_count; i++)
		failed += nccl->connections[i]->failover.first_frame != 0;
	if (failed == 0)
		return;
	ft_line_char(&page->line, '\n');
	ft_page_row(
		page, "FAILOVER",
		"%zu connection%s met an error of a port: probes ask what arrived of a message; "
		"then it is asked, answered and confirmed that the port is back",
		failed, ft_plural(failed));
	ft_nccl_failovers_table(page, nccl);
}

static void say_queue_pairs(struct ft_page *page, const struct ft_nccl_report *nccl)
{
	if (nccl->queue_pair_count == 0)
		return;
	ft_line_char(&page->line, '\n');
	ft_page_row(page, "QPS", "%zu queue pair%s that packets were sent to, by what they carry",
		    nccl->queue_pair_count, ft_plural(nccl->queue_pair_count));
	ft_nccl_classes_table(page, nccl);
}

static void say_processes(struct ft_page *page, const struct ft_nccl_report *nccl)
{
	if (nccl->process_count == 0)
		return;
	ft_line_char(&page->line, '\n');
	ft_page_row(page, "PROCESSES", "as bootstrap and RAS name them");
	ft_nccl_processes_table(page, nccl);
}

/* --- what was not seen --- */

struct unseen {
	uint64_t without_setup, by_lengths, without_family, without_rank;
	uint64_t unanswered, unasked, incomplete, packets;
};

static void look(struct unseen *unseen, const struct ft_nccl_connection *row)
{
	unseen->without_setup += row->found_by != FT_NCCL_BY_METADATA;
	unseen->by_lengths += row->found_by == FT_NCCL_BY_LENGTHS;
	unseen->without_family += !row->has_family;
	unseen->without_rank += !row->sender.has_rank;
	unseen->packets += row->missing_packets;
}

static void look_closer(struct unseen *unseen, const struct ft_nccl_message *row)
{
	unseen->unanswered += row->first_frame == 0;
	unseen->unasked += row->cts_frame == 0;
	unseen->incomplete += row->first_frame != 0 && !row->completed;
}

static void say_if(struct ft_page *page, const char **label, uint64_t count, const char *one,
		   const char *many)
{
	if (count == 0)
		return;
	ft_page_row(page, *label, "%" PRIu64 " %s", count, count == 1 ? one : many);
	*label = "";
}

static void say_unseen_frames(struct ft_page *page, const char **label, const struct unseen *unseen)
{
	say_if(page, label, unseen->without_setup, "connection without its set-up over TCP",
	       "connections without their set-up over TCP");
	say_if(page, label, unseen->by_lengths,
	       "of them is known by lengths and addresses alone: no clear-to-send could be read",
	       "of them are known by lengths and addresses alone: no clear-to-send could be read");
	say_if(page, label, unseen->without_family, "connection whose NCCL release is not known",
	       "connections whose NCCL release is not known");
	say_if(page, label, unseen->without_rank,
	       "connection whose sender's rank in its communicator is not known",
	       "connections whose sender's rank in its communicator is not known");
	say_if(page, label, unseen->unasked, "message whose clear-to-send is not in the capture",
	       "messages whose clear-to-send is not in the capture");
	say_if(page, label, unseen->unanswered, "clear-to-send that no data answered",
	       "clear-to-sends that no data answered");
	say_if(page, label, unseen->incomplete, "message incomplete", "messages incomplete");
	say_if(page, label, unseen->packets, "packet lost on the way here",
	       "packets lost on the way here");
}

static void say_dropped(struct ft_page *page, const char **label, const struct ft_nccl_report *nccl)
{
	say_if(page, label, nccl->connections_dropped, "connection more than there is room for",
	       "connections more than there is room for");
	say_if(page, label, nccl->messages_dropped,
	       "message counted, but not kept: there is no room for it",
	       "messages counted, but not kept: there is no room for them");
	say_if(page, label, nccl->queue_pairs_dropped, "queue pair more than there is room for",
	       "queue pairs more than there is room for");
}

static void say_unseen(struct ft_page *page, const struct ft_nccl_report *nccl)
{
	struct unseen unseen = { 0 };
	const char *label = "UNSEEN";

	for (size_t i = 0; i < nccl->connection_count; i++)
		look(&unseen, nccl->connections[i]);
	for (size_t i = 0; i < nccl->message_count; i++)
		look_closer(&unseen, &nccl->messages[i]);
	ft_line_char(&page->line, '\n');
	say_unseen_frames(page, &label, &unseen);
	say_dropped(page, &label, nccl);
	ft_page_row(page, label,
		    "not on the wire: what stays within a host (NVLink, PCIe, shared memory), data "
		    "types, reduction operators, names of tensors");
}

/* --- findings --- */

static void say_findings(struct ft_page *page, const struct ft_report *about)
{
	struct ft_report of_nccl = *about;
	struct ft_report_finding *findings = malloc((about->finding_count + 1) * sizeof *findings);

	if (findings == NULL) {
		page->error = -ENOMEM;
		return;
	}
	of_nccl.finding_count = 0;
	for (size_t i = 0; i < about->finding_count; i++)
		if (strncmp(about->findings[i].rule, "nccl.", 5) == 0)
			findings[of_nccl.finding_count++] = about->findings[i];
	of_nccl.findings = findings;
	ft_line_char(&page->line, '\n');
	if (of_nccl.finding_count == 0) {
		ft_page_row(page, "FINDINGS", "none");
	} else {
		ft_page_row(page, "FINDINGS", "%zu", of_nccl.finding_count);
		ft_line_char(&page->line, '\n');
		ft_findings_at_length(page, &of_nccl, of_nccl.finding_count);
	}
	free(findings);
}

int ft_render_nccl_text(FILE *out, const struct ft_report_nccl *report, size_t messages,
			const struct ft_render_options *options)
{
	const struct ft_nccl_report *nccl = report->nccl;
	struct ft_page page;

	ft_page_open(&page, out, options);
	ft_capture_text(&page, report->about);
	ft_seen_text(&page, &report->about->coverage);
	say_total(&page, nccl);
	for (size_t i = 0; i < nccl->communicator_count; i++)
		say_communicator(&page, nccl, &nccl->communicators[i]);
	say_connections(&page, nccl);
	say_collectives(&page, nccl, messages);
	say_messages(&page, nccl, messages);
	say_failovers(&page, nccl);
	say_queue_pairs(&page, nccl);
	say_processes(&page, nccl);
	say_unseen(&page, nccl);
	say_findings(&page, report->about);
	return ft_page_close(&page);
}
