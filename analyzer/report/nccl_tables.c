#include "nccl_tables.h"

#include <inttypes.h>

#include <capture/frame.h>

#include "human.h"
#include "nccl_cells.h"
#include "nccl_words.h"

static void duration_cell(struct ft_table *table, uint64_t from_ns, uint64_t to_ns)
{
	struct ft_human human;

	if (from_ns == FT_TS_UNKNOWN || to_ns == FT_TS_UNKNOWN)
		ft_table_format(table, ".");
	else if (to_ns == from_ns)
		ft_table_format(table, "0");
	else if (to_ns < from_ns)
		ft_table_format(table, "-%s", ft_human_duration(&human, from_ns - to_ns));
	else
		ft_table_format(table, "%s", ft_human_duration(&human, to_ns - from_ns));
}

/* --- communicators --- */

void ft_nccl_members_table(struct ft_page *page, const struct ft_nccl_communicator *communicator)
{
	static const char *const heads[] = { "rank", "addresses" };
	struct ft_table table;

	ft_nccl_table_open(&table, "><", heads);
	for (size_t i = 0; i < communicator->member_count; i++) {
		const struct ft_nccl_member *member = &communicator->members[i];
		char all[256] = "";
		size_t used = 0;

		for (size_t j = 0; j < member->place_count && used < sizeof all; j++) {
			struct ft_nccl_text text;

			used += (size_t)snprintf(all + used, sizeof all - used, "%s%s",
						 j > 0 ? ", " : "",
						 ft_nccl_place_text(&text, &member->places[j]));
		}
		ft_nccl_rank_cell(&table, member->has_rank, member->rank);
		ft_table_name(&table, all);
	}
	ft_nccl_table_close(&table, page);
}

/* --- operations --- */

static void clock_cell(struct ft_table *table, uint64_t ts_ns)
{
	const uint64_t second = 1000000000u, of_day = ts_ns / second % 86400;

	if (ts_ns == FT_TS_UNKNOWN)
		ft_table_format(table, ".");
	else
		ft_table_format(table, "%02u:%02u:%02u.%06u", (unsigned)(of_day / 3600),
				(unsigned)(of_day / 60 % 60), (unsigned)(of_day % 60),
				(unsigned)(ts_ns % second / 1000));
}

static void rate_cell(struct ft_table *table, const struct ft_nccl_collective *row)
{
	const uint64_t volume = ft_nccl_volume(row);

	if (volume == 0 || row->first_ts_ns == FT_TS_UNKNOWN || row->last_ts_ns == FT_TS_UNKNOWN ||
	    row->last_ts_ns <= row->first_ts_ns)
		ft_table_format(table, ".");
	else
		ft_table_format(table, "%.3g GB/s",
				(double)volume / (double)(row->last_ts_ns - row->first_ts_ns));
}

/* Lines do not show where their data ends: then it is the most that it can be. */
static void size_cell(struct ft_table *table, const struct ft_nccl_collective *row)
{
	struct ft_human human;

	if (row->message_bytes > 0)
		ft_bytes_cell(table, row->message_bytes);
	else if (row->message_bytes_most > 0)
		ft_table_format(table, "<= %s", ft_human_bytes(&human, row->message_bytes_most));
	else
		ft_table_format(table, "?");
}

static void collective_row(struct ft_table *table, const struct ft_nccl_collective *row)
{
	ft_table_format(table, "%" PRIu32, row->communicator);
	ft_table_format(table, "%" PRIu64, row->sequence);
	clock_cell(table, row->first_ts_ns);
	ft_table_format(table, "%s", row->collective != NULL ? row->collective : "?");
	ft_table_format(table, "%s", row->algorithm != NULL ? row->algorithm : "?");
	ft_table_format(table, "%s",
			row->protocol == FT_NCCL_PROTOCOL_UNKNOWN
				? "?"
				: ft_nccl_protocol_word(row->protocol));
	size_cell(table, row);
	ft_count_cell(table, row->channels);
	ft_count_cell(table, row->ranks);
	ft_count_cell(table, row->messages);
	ft_bytes_cell(table, row->wire_bytes);
	duration_cell(table, row->first_ts_ns, row->last_ts_ns);
	rate_cell(table, row);
	ft_table_format(table, "%s", row->complete ? "" : "incomplete");
}

void ft_nccl_collectives_table(struct ft_page *page, const struct ft_nccl_report *nccl, size_t most)
{
	static const char *const heads[] = { "comm",      "seq",      "began",   "operation",
					     "algorithm", "protocol", "size",    "channels",
					     "ranks",     "messages", "written", "took",
					     "algbw",     "" };
	struct ft_table table;

	ft_nccl_table_open(&table, ">><<<<>>>>>>><", heads);
	for (size_t i = 0; i < nccl->collective_count && i < most; i++)
		collective_row(&table, &nccl->collectives[i]);
	ft_nccl_table_close(&table, page);
}

/* --- messages --- */

struct sums {
	uint64_t offered, written;
	bool has_offered, has_written;
};

static struct sums sums_of(const struct ft_nccl_message *row)
{
	struct sums sums = { .has_offered = true };

	for (size_t i = 0; i < row->request_count; i++) {
		const struct ft_nccl_request *request = &row->requests[i];

		sums.offered += request->offered;
		sums.written += request->written;
		sums.has_offered &= request->has_offered;
		sums.has_written |= request->has_written;
	}
	return sums;
}

static const char *state_of(const struct ft_nccl_message *row)
{
	if (row->first_frame == 0)
		return "unanswered";
	if (row->cts_frame == 0)
		return row->completed ? "CTS unseen" : "CTS unseen, incomplete";
	return row->completed ? "whole" : "incomplete";
}

static void known_bytes_cell(struct ft_table *table, bool known, uint64_t bytes)
{
	if (known)
		ft_table_format(table, "%" PRIu64, bytes);
	else
		ft_table_format(table, "?");
}

static void frame_cell(struct ft_table *table, uint64_t number)
{
	if (number == 0)
		ft_table_format(table, ".");
	else
		ft_table_format(table, "%" PRIu64, number);
}

static void message_row(struct ft_table *table, const struct ft_nccl_message *row)
{
	const struct sums sums = sums_of(row);

	ft_table_format(table, "%" PRIu32, row->connection);
	if (row->has_k)
		ft_table_format(table, "%" PRIu64, row->k);
	else
		ft_table_format(table, "?");
	frame_cell(table, row->cts_frame);
	frame_cell(table, row->first_frame);
	frame_cell(table, row->last_frame);
	ft_table_format(table, "%u", row->request_count);
	known_bytes_cell(table, sums.has_offered, sums.offered);
	known_bytes_cell(table, sums.has_written, sums.written);
	ft_table_format(table, "%u", row->part_count);
	ft_table_format(table, "%s",
			row->protocol == FT_NCCL_PROTOCOL_UNKNOWN
				? "?"
				: ft_nccl_protocol_word(row->protocol));
	duration_cell(table, row->cts_frame == 0 ? FT_TS_UNKNOWN : row->cts_ts_ns,
		      row->first_frame == 0 ? FT_TS_UNKNOWN : row->first_ts_ns);
	ft_table_format(table, "%s", state_of(row));
}

void ft_nccl_messages_table(struct ft_page *page, const struct ft_nccl_report *nccl, size_t most)
{
	static const char *const heads[] = { "conn", "k",        "CTS",     "first",
					     "last", "n",        "offered", "written",
					     "QPs",  "protocol", "latency", "state" };
	struct ft_table table;

	ft_nccl_table_open(&table, ">>>>>>>>><><", heads);
	for (size_t i = 0; i < nccl->message_count && i < most; i++)
		message_row(&table, &nccl->messages[i]);
	ft_nccl_table_close(&table, page);
}

/* --- queue pairs --- */

enum { EVIDENCE_ROOM = 64 }; /* what more there is stands in the document */

struct class_sum {
	uint64_t queue_pairs, packets;
	double confidence; /* the least */
	const char *evidence[FT_NCCL_EVIDENCE_MAX];
	size_t evidence_count;
};

static void add_evidence(struct class_sum *sum, const char *evidence)
{
	for (size_t i = 0; i < sum->evidence_count; i++)
		if (strcmp(sum->evidence[i], evidence) == 0)
			return;
	if (sum->evidence_count < FT_NCCL_EVIDENCE_MAX)
		sum->evidence[sum->evidence_count++] = evidence;
}

static void add_queue_pair(struct class_sum *sum, const struct ft_nccl_queue_pair *row)
{
	if (sum->queue_pairs == 0 || row->confidence < sum->confidence)
		sum->confidence = row->confidence;
	sum->queue_pairs++;
	sum->packets += row->packets;
	for (size_t i = 0; i < row->evidence_count; i++)
		add_evidence(sum, row->evidence[i]);
}

static void class_row(struct ft_table *table, enum ft_nccl_class class, const struct class_sum *sum)
{
	char all[EVIDENCE_ROOM + 8] = "";
	size_t used = 0;

	for (size_t i = 0; i < sum->evidence_count; i++) {
		const char *next = sum->evidence[i];
		const bool fits = used + strlen(next) + 2 <= EVIDENCE_ROOM;

		used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "",
					 fits ? next : "...");
		if (!fits)
			break;
	}
	ft_table_format(table, "%s", ft_nccl_class_name(class));
	ft_count_cell(table, sum->queue_pairs);
	ft_count_cell(table, sum->packets);
	ft_table_format(table, "%.2f", sum->confidence);
	ft_table_name(table, all);
}

void ft_nccl_classes_table(struct ft_page *page, const struct ft_nccl_report *nccl)
{
	static const char *const heads[] = { "class", "queue pairs", "packets", "confidence",
					     "evidence" };
	struct class_sum sums[FT_NCCL_CLASSES] = { 0 };
	struct ft_table table;

	for (size_t i = 0; i < nccl->queue_pair_count; i++)
		add_queue_pair(&sums[nccl->queue_pairs[i].class], &nccl->queue_pairs[i]);
	ft_nccl_table_open(&table, "<>>><", heads);
	for (unsigned class = 1; class <= FT_NCCL_CLASSES; class ++) {
		/* the unknown ones last */
		const enum ft_nccl_class at = class % FT_NCCL_CLASSES;

		if (sums[at].queue_pairs > 0)
			class_row(&table, at, &sums[at]);
	}
	ft_nccl_table_close(&table, page);
}

/* --- processes --- */

void ft_nccl_processes_table(struct ft_page *page, const struct ft_nccl_report *nccl)
{
	static const char *const heads[] = { "address", "rank", "of", "release", "dead in" };
	struct ft_table table;

	ft_nccl_table_open(&table, "<>><>", heads);
	for (size_t i = 0; i < nccl->process_count; i++) {
		const struct ft_nccl_process *row = &nccl->processes[i];
		struct ft_nccl_text text;
		const char *release;

		ft_table_format(&table, "%s", ft_nccl_place_text(&text, &row->place));
		ft_nccl_rank_cell(&table, row->has_rank, row->rank);
		ft_nccl_rank_cell(&table, row->has_rank, row->ranks);
		release = ft_nccl_release_text(&text, row->release);
		ft_table_format(&table, "%s", release != NULL ? release : "?");
		if (row->dead_frame != 0)
			ft_table_format(&table, "%" PRIu64, row->dead_frame);
		else
			ft_table_format(&table, ".");
	}
	ft_nccl_table_close(&table, page);
}

void ft_nccl_failovers_table(struct ft_page *page, const struct ft_nccl_report *nccl)
{
	static const char *const heads[] = { "conn",      "probes", "asked", "answered",
					     "confirmed", "first",  "last" };
	struct ft_table table;

	ft_nccl_table_open(&table, ">>>>>>>", heads);
	for (size_t i = 0; i < nccl->connection_count; i++) {
		const struct ft_nccl_failover *row = &nccl->connections[i]->failover;

		if (row->first_frame == 0)
			continue;
		ft_table_format(&table, "%" PRIu32, nccl->connections[i]->connection);
		ft_count_cell(&table, row->probes);
		ft_count_cell(&table, row->asked);
		ft_count_cell(&table, row->answered);
		ft_count_cell(&table, row->confirmed);
		ft_table_format(&table, "%" PRIu64, row->first_frame);
		ft_table_format(&table, "%" PRIu64, row->last_frame);
	}
	ft_nccl_table_close(&table, page);
}
