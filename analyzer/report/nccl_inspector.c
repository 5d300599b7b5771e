#include <report/nccl.h>

#include <errno.h>
#include <stdlib.h>

#include <capture/frame.h>

#include "document.h"
#include "nccl_words.h"

/*
 * Records with the names of NCCL's inspector plugin (ext-profiler/inspector, 2.28 and later), so that what hosts and tap
 * saw of an operation can be joined. The plugin times kernels; here it is the time in which data of the operation passed,
 * and coll_timing_source says so.
 */

static const char *const names[] = { "AllReduce", "AllGather", "ReduceScatter",
				     "Broadcast", "Reduce",    "SendRecv" };
enum { NAMES = sizeof names / sizeof *names };

struct inspector {
	struct ft_document json;
	const struct ft_nccl_report *nccl;
	uint64_t (*numbers)
		[NAMES]; /* by communicator: operations of each name so far, as NCCL counts them */
};

static size_t name_of(const struct ft_nccl_collective *row)
{
	size_t name = 0;

	while (name < NAMES &&
	       (row->collective == NULL || strcmp(names[name], row->collective) != 0))
		name++;
	return name;
}

/* The place of its communicator in the report; communicator_count: it is not listed. */
static size_t communicator_of(const struct ft_nccl_report *nccl,
			      const struct ft_nccl_collective *row)
{
	size_t i = 0;

	while (i < nccl->communicator_count &&
	       nccl->communicators[i].communicator != row->communicator)
		i++;
	return i;
}

static void header(struct ft_document *json, const struct ft_nccl_collective *row)
{
	ft_member_begin(json, "header", '{');
	ft_member_number(json, "communicator", row->communicator);
	if (row->ranks > 0)
		ft_member_number(json, "n_ranks", row->ranks);
	ft_member_end(json, '}');
}

static void metadata(struct ft_document *json, const struct ft_nccl_collective *row)
{
	ft_member_begin(json, "metadata", '{');
	ft_member_text(json, "rec_mechanism", "fabtap");
	if (row->last_ts_ns != FT_TS_UNKNOWN)
		ft_member_number(json, "dump_timestamp_us", row->last_ts_ns / 1000);
	ft_member_number(json, "first_frame", row->first_frame);
	ft_member_number(json, "last_frame", row->last_frame);
	ft_member_end(json, '}');
}

/* What a link carries for each byte that all were given: nccl-tests, doc/PERFORMANCE.md. 0: not known. */
static double bus_factor(const struct ft_nccl_collective *row)
{
	const double ranks = row->ranks;

	if (row->collective == NULL || row->ranks == 0)
		return 0;
	if (strcmp(row->collective, "AllReduce") == 0)
		return 2 * (ranks - 1) / ranks;
	if (ft_nccl_is_of_blocks(row))
		return (ranks - 1) / ranks;
	return 1;
}

static void times(struct ft_document *json, const struct ft_nccl_collective *row)
{
	const double factor = bus_factor(row);
	const uint64_t volume = ft_nccl_volume(row);
	double gbs;

	if (row->first_ts_ns == FT_TS_UNKNOWN || row->last_ts_ns == FT_TS_UNKNOWN ||
	    row->last_ts_ns <= row->first_ts_ns)
		return;
	ft_member_number(json, "coll_exec_time_us",
			 (row->last_ts_ns - row->first_ts_ns + 500) / 1000);
	ft_member_text(json, "coll_timing_source", "wire");
	if (volume == 0)
		return;
	gbs = (double)volume / (double)(row->last_ts_ns - row->first_ts_ns);
	ft_member_real(json, "coll_algobw_gbs", gbs);
	if (factor > 0)
		ft_member_real(json, "coll_busbw_gbs", gbs * factor);
}

static void performance(struct inspector *inspector, const struct ft_nccl_collective *row,
			size_t at)
{
	struct ft_document *json = &inspector->json;
	const size_t name = name_of(row);

	ft_member_begin(json, "coll_perf", '{');
	if (row->collective != NULL)
		ft_member_text(json, "coll", row->collective);
	if (name < NAMES)
		ft_member_number(json, "coll_sn", inspector->numbers[at][name]++);
	if (row->message_bytes > 0)
		ft_member_number(json, "coll_msg_size_bytes", row->message_bytes);
	times(json, row);
	if (row->algorithm != NULL)
		ft_member_text(json, "algorithm", row->algorithm);
	if (row->protocol != FT_NCCL_PROTOCOL_UNKNOWN)
		ft_member_text(json, "protocol", ft_nccl_protocol_word(row->protocol));
	if (row->channels > 0)
		ft_member_number(json, "channels", row->channels);
	ft_member_number(json, "wire_bytes", row->wire_bytes);
	ft_member_bool(json, "complete", row->complete);
	ft_member_end(json, '}');
}

static void record(struct inspector *inspector, const struct ft_nccl_collective *row)
{
	const size_t at = communicator_of(inspector->nccl, row);

	ft_record_begin(&inspector->json);
	header(&inspector->json, row);
	metadata(&inspector->json, row);
	performance(inspector, row, at);
	ft_record_end(&inspector->json);
}

int ft_render_nccl_inspector(FILE *out, const struct ft_report_nccl *report)
{
	struct inspector inspector = { .nccl = report->nccl };
	int error;

	/* one more, for operations of no communicator that is listed */
	inspector.numbers = calloc(report->nccl->communicator_count + 1, sizeof *inspector.numbers);
	if (inspector.numbers == NULL)
		return -ENOMEM;
	ft_records_open(&inspector.json, out);
	for (size_t i = 0; i < report->nccl->collective_count; i++)
		record(&inspector, &report->nccl->collectives[i]);
	error = ft_records_close(&inspector.json);
	free(inspector.numbers);
	return error;
}
