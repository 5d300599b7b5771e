#include "flow_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <flow/paired.h>

/* A half-connection: where its record is. Index + 1 is its id. */
struct row {
	uint64_t first_frame;
	uint32_t number;     /* of the record */
	uint32_t share;      /* of the engine */
	uint32_t connection; /* from 1; 0: none */
};

struct connection {
	uint32_t a, b; /* indices of rows, a < b */
};

struct ft_flow_report {
	struct ft_flow_share *shares;
	size_t share_count;
	const struct ft_map *map;
	struct ft_framed *framed; /* NULL: not followed */
	const struct ft_framing *framing;
	uint64_t capacity;
	struct row *rows;
	uint32_t row_count;
	uint32_t **indices; /* per share, by record number: of the row */
	struct connection *connections;
	uint32_t connection_count;

	uint32_t *listed; /* rows, in order */
	uint32_t *listed_connections;
	uint32_t listed_count, listed_connection_count;
};

#define NO_ROW UINT32_MAX

/* Frames that hold several packets are told apart by their keys: the order depends on no engine. */
static int by_first_frame(const void *left, const void *right, void *context)
{
	const struct ft_flow_report *report = context;
	const struct row *a = left, *b = right;

	if (a->first_frame != b->first_frame)
		return a->first_frame < b->first_frame ? -1 : 1;
	return memcmp(&ft_flow_at(report->shares[a->share].flows, a->number)->key,
		      &ft_flow_at(report->shares[b->share].flows, b->number)->key,
		      sizeof(struct ft_flow_key));
}

static void collect_share(struct ft_flow_report *report, uint32_t share)
{
	const struct ft_flow_share *from = &report->shares[share];
	uint32_t used = ft_flow_table_stats(from->flows).used;

	for (uint32_t number = 1; number <= used; number++)
		if (ft_flow_row_exists(from, number))
			report->rows[report->row_count++] = (struct row){
				.first_frame = ft_details_of(from->details, number)->first_frame,
				.number = number,
				.share = share,
			};
}

static int collect(struct ft_flow_report *report)
{
	size_t used = 0;

	for (size_t i = 0; i < report->share_count; i++)
		used += ft_flow_table_stats(report->shares[i].flows).used;
	report->rows = calloc(used + 1, sizeof *report->rows);
	if (report->rows == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < report->share_count; i++)
		collect_share(report, (uint32_t)i);
	qsort_r(report->rows, report->row_count, sizeof *report->rows, by_first_frame, report);
	return 0;
}

static int index_rows(struct ft_flow_report *report)
{
	report->indices = calloc(report->share_count + 1, sizeof *report->indices);
	if (report->indices == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < report->share_count; i++) {
		uint32_t used = ft_flow_table_stats(report->shares[i].flows).used;

		report->indices[i] = malloc(((size_t)used + 1) * sizeof **report->indices);
		if (report->indices[i] == NULL)
			return -ENOMEM;
		memset(report->indices[i], 0xff, ((size_t)used + 1) * sizeof **report->indices);
	}
	for (uint32_t i = 0; i < report->row_count; i++)
		report->indices[report->rows[i].share][report->rows[i].number] = i;
	return 0;
}

/* The row of the half-connection's other half; NO_ROW if it is not known, or not both agree. */
static uint32_t peer_of(const struct ft_flow_report *report, const struct row *row)
{
	const struct ft_flow_share *share = &report->shares[row->share];
	const struct ft_flow *whole = ft_flow_row_whole(share, row->number);
	uint32_t peer = whole == NULL ? 0 : whole->peer;

	if (peer == 0 || peer > ft_flow_table_stats(share->flows).used ||
	    ft_flow_at(share->flows, peer)->peer != ft_flow_number(share->flows, whole))
		return NO_ROW;
	return report->indices[row->share][peer];
}

static uint32_t whole_of(const struct ft_flow_report *report, const struct row *row)
{
	const struct ft_flow_share *share = &report->shares[row->share];
	const struct ft_flow *whole = ft_flow_row_whole(share, row->number);

	return whole == NULL ? NO_ROW
			     : report->indices[row->share][ft_flow_number(share->flows, whole)];
}

static int connect(struct ft_flow_report *report)
{
	report->connections =
		calloc((size_t)report->row_count / 2 + 1, sizeof *report->connections);
	if (report->connections == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < report->row_count; i++) {
		uint32_t peer = peer_of(report, &report->rows[i]);

		if (peer == NO_ROW || peer <= i || whole_of(report, &report->rows[i]) != i)
			continue;
		report->connections[report->connection_count++] = (struct connection){ i, peer };
		report->rows[i].connection = report->connection_count;
		report->rows[peer].connection = report->connection_count;
	}
	/* what a half sent with another P_Key or VLAN belongs to the same connection */
	for (uint32_t i = 0; i < report->row_count; i++) {
		uint32_t whole = whole_of(report, &report->rows[i]);

		if (whole != NO_ROW)
			report->rows[i].connection = report->rows[whole].connection;
	}
	return 0;
}

static int list_all(struct ft_flow_report *report)
{
	report->listed = calloc((size_t)report->row_count + 1, sizeof *report->listed);
	report->listed_connections =
		calloc((size_t)report->connection_count + 1, sizeof *report->listed_connections);
	if (report->listed == NULL || report->listed_connections == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < report->row_count; i++)
		report->listed[i] = i;
	for (uint32_t i = 0; i < report->connection_count; i++)
		report->listed_connections[i] = i;
	report->listed_count = report->row_count;
	report->listed_connection_count = report->connection_count;
	return 0;
}

int ft_flow_report_create(struct ft_flow_report **report, const struct ft_flow_share *shares,
			  size_t share_count, const struct ft_map *map, uint64_t capacity)
{
	struct ft_flow_report *made = malloc(sizeof *made);

	if (made == NULL)
		return -ENOMEM;
	*made = (struct ft_flow_report){
		.shares = calloc(share_count + 1, sizeof *shares),
		.share_count = share_count,
		.map = map,
		.capacity = capacity,
	};
	if (made->shares != NULL)
		memcpy(made->shares, shares, share_count * sizeof *shares);
	if (made->shares == NULL || collect(made) != 0 || index_rows(made) != 0 ||
	    connect(made) != 0 || list_all(made) != 0) {
		ft_flow_report_destroy(made);
		return -ENOMEM;
	}
	*report = made;
	return 0;
}

void ft_flow_report_destroy(struct ft_flow_report *report)
{
	if (report == NULL)
		return;
	for (size_t i = 0; report->indices != NULL && i < report->share_count; i++)
		free(report->indices[i]);
	free(report->indices);
	free(report->shares);
	free(report->rows);
	free(report->connections);
	free(report->listed);
	free(report->listed_connections);
	ft_framed_destroy(report->framed);
	free(report);
}

void ft_flow_report_take_framed(struct ft_flow_report *report, struct ft_framed *framed,
				const struct ft_framing *framing)
{
	report->framed = framed;
	report->framing = framing;
}

static void fill_framed(const struct ft_flow_report *report, const struct ft_flow *flow,
			struct ft_report_flow *row)
{
	uint64_t connection = FT_UNKNOWN;

	if (ft_framed_tell(report->framed, &flow->key, flow->vlan, &row->nccl))
		connection = row->nccl.connection;
	ft_flow_row_add(row, ft_framing_told_of(report->framing, flow, connection));
}

static void fill_row(const struct ft_flow_report *report, uint32_t index,
		     struct ft_report_flow *row)
{
	const struct row *at = &report->rows[index];

	ft_flow_row_fill(&report->shares[at->share], at->number, report->map, row);
	row->flow = (uint64_t)index + 1;
	if (at->connection != 0)
		row->connection = at->connection;
	if (report->framed != NULL)
		fill_framed(report, ft_flow_at(report->shares[at->share].flows, at->number), row);
}

static void list_connections(struct ft_flow_report *report, const bool *shown)
{
	report->listed_connection_count = 0;
	for (uint32_t i = 0; i < report->connection_count; i++)
		if (shown[i + 1])
			report->listed_connections[report->listed_connection_count++] = i;
}

static uint32_t take_rows(const struct ft_flow_report *report, const struct ft_flow_choice *choice,
			  struct ft_flow_place *places)
{
	struct ft_report_flow row;
	uint32_t count = 0;

	for (uint32_t i = 0; i < report->row_count; i++) {
		fill_row(report, i, &row);
		if (ft_flow_choice_takes(choice, &row))
			ft_flow_choice_place(choice, &row, &places[count++]);
	}
	ft_flow_choice_order(choice, places, count);
	return count < choice->top ? count : (uint32_t)choice->top;
}

int ft_flow_report_choose(struct ft_flow_report *report, const struct ft_flow_choice *choice)
{
	struct ft_flow_place *places = calloc((size_t)report->row_count + 1, sizeof *places);
	bool *shown = calloc((size_t)report->connection_count + 1, sizeof *shown);
	int error = places == NULL || shown == NULL ? -ENOMEM : 0;

	if (error == 0) {
		report->listed_count = take_rows(report, choice, places);
		for (uint32_t i = 0; i < report->listed_count; i++) {
			report->listed[i] = places[i].id - 1;
			shown[report->rows[places[i].id - 1].connection] = true;
		}
		list_connections(report, shown);
	}
	free(places);
	free(shown);
	return error;
}

static void listed_flow(const void *rows, size_t index, struct ft_report_flow *row)
{
	const struct ft_flow_report *report = rows;

	fill_row(report, report->listed[index], row);
}

/* From requests to their answers, whichever half sent them. */
static void fill_rtt(struct ft_report_connection *row, const struct ft_detail *a,
		     const struct ft_detail *b)
{
	struct ft_spread both = a->rtts;

	ft_spread_merge(&both, &b->rtts);
	row->rtt_min_ns = row->rtt_p50_ns = row->rtt_p99_ns = FT_UNKNOWN;
	if (both.kinds == 0)
		return;
	row->rtt_min_ns = both.least;
	row->rtt_p50_ns = ft_spread_quantile(&both, 0.5);
	row->rtt_p99_ns = ft_spread_quantile(&both, 0.99);
}

static void listed_connection(const void *rows, size_t index, struct ft_report_connection *row)
{
	const struct ft_flow_report *report = rows;
	uint32_t connection = report->listed_connections[index];
	const struct row *a = &report->rows[report->connections[connection].a];
	const struct row *b = &report->rows[report->connections[connection].b];
	const struct ft_flow_share *share = &report->shares[a->share];
	const struct ft_half *half = &ft_flow_at(share->flows, a->number)->half;

	*row = (struct ft_report_connection){
		.connection = (uint64_t)connection + 1,
		.flows = { (uint64_t)report->connections[connection].a + 1,
			   (uint64_t)report->connections[connection].b + 1 },
		.paired_by = ft_paired_by_name((enum ft_paired_by)half->paired_by),
		.certainty = ft_paired_certainty(half),
	};
	fill_rtt(row, ft_details_of(share->details, a->number),
		 ft_details_of(share->details, b->number));
}

struct ft_report_flows ft_flow_report_model(const struct ft_flow_report *report,
					    const struct ft_report *about)
{
	struct ft_report_flows model = {
		.about = about,
		.judged = report->map != NULL,
		.followed = report->framed != NULL,
		.capacity = report->capacity,
		.record_bytes = sizeof(struct ft_flow),
		.detail_bytes = sizeof(struct ft_detail),
		.all_flows = report->row_count,
		.all_connections = report->connection_count,
		.flow_count = report->listed_count,
		.connection_count = report->listed_connection_count,
		.rows = report,
		.flow = listed_flow,
		.connection = listed_connection,
	};

	for (size_t i = 0; i < report->share_count; i++) {
		const struct ft_flow_table_stats stats =
			ft_flow_table_stats(report->shares[i].flows);

		model.used += stats.used;
		model.evicted += stats.evicted;
		model.expired += report->shares[i].expired;
	}
	return model;
}
