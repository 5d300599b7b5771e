#include "nccl_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "nccl_cells.h"
#include "nccl_words.h"

/* The table of NCCL's connections: where there are several communicators, one after the other. */

static void party_cells(struct ft_table *table, const struct ft_nccl_party *party)
{
	ft_nccl_rank_cell(table, party->has_rank, party->rank);
	ft_nccl_places_cell(table, party->places, party->place_count);
}

struct qpn_text {
	char text[16];
};

static struct qpn_text qpn_text(uint32_t qpn)
{
	struct qpn_text text = { "?" };

	if (qpn != FT_NCCL_NONE)
		snprintf(text.text, sizeof text.text, "0x%06" PRIx32, qpn);
	return text;
}

static void qps_cell(struct ft_table *table, const struct ft_nccl_connection *row)
{
	char more[16] = "";

	if (row->qp_count == 0) {
		ft_table_format(table, "?");
		return;
	}
	if (row->qp_count > 1)
		snprintf(more, sizeof more, " +%d", row->qp_count - 1);
	ft_table_format(table, "%s > %s%s", qpn_text(row->sender.qpns[0]).text,
			qpn_text(row->receiver.qpns[0]).text, more);
}

static void release_cell(struct ft_table *table, const struct ft_nccl_connection *row)
{
	struct ft_nccl_text first, last;
	char letter[2] = { ft_nccl_family_letter(row->family), 0 };
	const char *from = ft_nccl_release_text(&first, row->version_first);
	const char *to = ft_nccl_release_text(&last, row->version_last);

	ft_table_format(table, "%s", row->has_family ? letter : "?");
	if (from == NULL || to == NULL)
		ft_table_format(table, "?");
	else if (row->version_first == row->version_last)
		ft_table_format(table, "%s", from);
	else
		ft_table_format(table, "%s to %s", from, to);
}

/* Where tags tell it: addresses are unique within a network only. */
static void network_cell(struct ft_table *table, const struct ft_nccl_connection *row)
{
	const uint32_t net = row->nets[0];
	char more[16] = "";

	if (row->net_count == 0) {
		ft_table_format(table, ".");
		return;
	}
	if (row->net_count > 1)
		snprintf(more, sizeof more, " +%d", row->net_count - 1);
	ft_table_format(table, "%s %" PRIu32 "%s", (net & FT_NCCL_NET_VNI) != 0 ? "VNI" : "VLAN",
			net & ~FT_NCCL_NET_VNI, more);
}

static bool has_networks(const struct ft_nccl_report *nccl)
{
	for (size_t i = 0; i < nccl->connection_count; i++)
		if (nccl->connections[i]->net_count != 0)
			return true;
	return false;
}

/* A connection, and the communicator that it is of; FT_NCCL_NONE: of none. */
struct entry {
	const struct ft_nccl_connection *row;
	uint32_t communicator;
	size_t place; /* in the report */
};

static int by_connection(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	return a->row->connection < b->row->connection ? -1
						       : a->row->connection > b->row->connection;
}

static int by_communicator(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->communicator != b->communicator)
		return a->communicator < b->communicator ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/* The entries are in order of their connections. */
static void note(struct entry *entries, size_t count, const struct ft_nccl_communicator *row)
{
	for (size_t i = 0; i < row->connection_count; i++) {
		const struct ft_nccl_connection wanted = { .connection = row->connections[i] };
		const struct entry key = { .row = &wanted };
		struct entry *found = bsearch(&key, entries, count, sizeof key, by_connection);

		if (found != NULL)
			found->communicator = row->communicator;
	}
}

static void arrange(struct entry *entries, const struct ft_nccl_report *nccl)
{
	for (size_t i = 0; i < nccl->connection_count; i++)
		entries[i] = (struct entry){ nccl->connections[i], FT_NCCL_NONE, i };
	qsort(entries, nccl->connection_count, sizeof *entries, by_connection);
	for (size_t i = 0; i < nccl->communicator_count; i++)
		note(entries, nccl->connection_count, &nccl->communicators[i]);
	qsort(entries, nccl->connection_count, sizeof *entries, by_communicator);
}

static void connection_row(struct ft_table *table, const struct entry *entry, bool several,
			   bool networks)
{
	const struct ft_nccl_connection *row = entry->row;

	if (several)
		ft_nccl_id_cell(table, entry->communicator);
	ft_table_format(table, "%" PRIu32, row->connection);
	ft_nccl_id_cell(table, row->channel);
	party_cells(table, &row->sender);
	party_cells(table, &row->receiver);
	qps_cell(table, row);
	release_cell(table, row);
	ft_table_format(table, "%s", ft_nccl_found_by_word(row->found_by));
	ft_count_cell(table, row->cts);
	ft_count_cell(table, row->messages_told);
	ft_bytes_cell(table, row->payload_bytes);
	ft_count_cell(table, row->retransmitted_data + row->retransmitted_cts);
	ft_count_cell(table, row->missing_packets);
	if (networks)
		network_cell(table, row);
}

void ft_nccl_connections_table(struct ft_page *page, const struct ft_nccl_report *nccl)
{
	static const char *const heads[] = { "comm",     "conn",     "ch",       "rank",   "sender",
					     "rank",     "receiver", "QPs",      "family", "NCCL",
					     "found by", "CTS",      "messages", "bytes",  "again",
					     "unseen",   "network" };
	static const char alone[] = ">>>><><<<<<>>>>>", tagged[] = ">>>><><<<<<>>>>><";
	const bool several = nccl->communicator_count > 1, networks = has_networks(nccl);
	struct entry *entries = calloc(nccl->connection_count, sizeof *entries);
	struct ft_table table;

	if (entries == NULL) {
		page->error = nccl->connection_count > 0 ? -ENOMEM : page->error;
		return;
	}
	arrange(entries, nccl);
	ft_nccl_table_open(&table, (networks ? tagged : alone) + !several, heads + !several);
	for (size_t i = 0; i < nccl->connection_count; i++)
		connection_row(&table, &entries[i], several, networks);
	ft_nccl_table_close(&table, page);
	free(entries);
}
