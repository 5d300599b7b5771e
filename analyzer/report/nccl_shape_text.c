#include "nccl_shape_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "human.h"
#include "nccl_words.h"

enum { NAME_ROOM = sizeof(struct ft_nccl_text) + 3 }; /* of a member, with " > " */

/* By its rank, or else its first address. */
static void add_name(char **text, size_t *room, const struct ft_nccl_party *party,
		     const char *separator)
{
	struct ft_nccl_text place;
	int size;

	if (party->has_rank)
		size = snprintf(*text, *room, "%s%" PRId32, separator, party->rank);
	else
		size = snprintf(*text, *room, "%s%s", separator,
				party->place_count > 0 ? ft_nccl_place_text(&place, party->places)
						       : "?");
	*text += size;
	*room -= (size_t)size;
}

static void add_member(char **text, size_t *room, const struct ft_nccl_member *member,
		       const char *separator)
{
	struct ft_nccl_party party = { .has_rank = member->has_rank, .rank = member->rank };

	party.place_count = member->place_count > 0 ? 1 : 0;
	party.places[0] = member->places[0];
	add_name(text, room, &party, separator);
}

/* "ring 0 > 1 > 2 > 0" */
static void say_ring(struct ft_page *page, const struct ft_nccl_communicator *row)
{
	size_t room = (row->member_count + 1) * NAME_ROOM + 1;
	char *text = malloc(room), *at = text;

	if (text == NULL) {
		page->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i <= row->member_count; i++)
		add_member(&at, &room, &row->members[row->ring[i % row->member_count]],
			   i > 0 ? " > " : "");
	ft_page_row(page, "", "ring %s", text);
	free(text);
}

/* "tree 0 root 0: 4 > 0, 2 > 4 .." */
static void say_tree(struct ft_page *page, const struct ft_nccl_communicator *row,
		     const struct ft_nccl_tree *tree)
{
	size_t room = (2 * tree->edge_count + 1) * NAME_ROOM + 1;
	char number[16] = "", *text = malloc(room), *at = text;

	if (text == NULL) {
		page->error = -ENOMEM;
		return;
	}
	add_member(&at, &room, &row->members[tree->root], "");
	for (size_t i = 0; i < tree->edge_count; i++) {
		add_member(&at, &room, &row->members[tree->edges[i].child], i > 0 ? ", " : ": ");
		add_member(&at, &room, &row->members[tree->edges[i].parent], " > ");
	}
	if (tree->number != FT_NCCL_NONE)
		snprintf(number, sizeof number, " %" PRIu32, tree->number);
	ft_page_row(page, "", "tree%s up to %s", number, text);
	free(text);
}

static void say_distances(struct ft_page *page, const struct ft_nccl_communicator *row)
{
	size_t room = row->distance_count * 12 + 1;
	char *text = calloc(room, 1), *at = text;

	if (text == NULL) {
		page->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < row->distance_count; i++) {
		const int written = snprintf(at, room, "%s%" PRIu32, i > 0 ? ", " : "",
					     row->distances[i].ranks);

		at += written;
		room -= (size_t)written;
	}
	ft_page_row(page, "", "PAT's connections, from each to those %s ranks further on", text);
	free(text);
}

/* --- rings of hosts --- */

static int compare_ids(const void *a, const void *b)
{
	const struct ft_nccl_connection *left = *(const struct ft_nccl_connection *const *)a;
	const struct ft_nccl_connection *right = *(const struct ft_nccl_connection *const *)b;

	return (left->connection > right->connection) - (left->connection < right->connection);
}

/* Connections by id. NULL: out of memory. */
static const struct ft_nccl_connection **sort_by_id(const struct ft_nccl_report *nccl)
{
	const struct ft_nccl_connection **rows =
		calloc(nccl->connection_count + 1, sizeof(struct ft_nccl_connection *));

	for (size_t i = 0; rows != NULL && i < nccl->connection_count; i++)
		rows[i] = nccl->connections[i];
	if (rows != NULL && nccl->connection_count > 0)
		qsort(rows, nccl->connection_count, sizeof(struct ft_nccl_connection *),
		      compare_ids);
	return rows;
}

struct paths {
	const struct ft_nccl_report *nccl;
	const struct ft_nccl_connection **rows; /* by id */
	char *text;
	size_t room;
};

static const struct ft_nccl_party *sender_of(const struct paths *paths, uint32_t id)
{
	const struct ft_nccl_connection key = { .connection = id }, *wanted = &key;
	const struct ft_nccl_connection **found =
		bsearch(&wanted, paths->rows, paths->nccl->connection_count,
			sizeof(struct ft_nccl_connection *), compare_ids);

	return &(*found)->sender;
}

/* "1 > 9 > 1": those who send to the next host. */
static void write_path(const struct paths *paths, const struct ft_nccl_channel *channel)
{
	char *at = paths->text;
	size_t room = paths->room;

	for (size_t i = 0; i <= channel->ring_count; i++)
		add_name(&at, &room,
			 sender_of(paths, channel->connections[i % channel->ring_count]),
			 i > 0 ? " > " : "");
}

static void say_path(struct ft_page *page, const char *path, size_t channels)
{
	if (channels > 0)
		ft_page_row(page, "", "ring of hosts %s, on %zu channel%s", path, channels,
			    ft_plural(channels));
}

/* Channels one after the other that lead through the same are told together. */
static void say_all(struct ft_page *page, struct paths *paths,
		    const struct ft_nccl_communicator *row)
{
	char *before = calloc(1, paths->room);
	size_t channels = 0;

	if (before == NULL) {
		page->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < row->channel_count; i++) {
		if (row->channels[i].ring_count == 0)
			continue;
		write_path(paths, &row->channels[i]);
		if (channels > 0 && strcmp(before, paths->text) != 0) {
			say_path(page, before, channels);
			channels = 0;
		}
		memcpy(before, paths->text, paths->room);
		channels++;
	}
	say_path(page, before, channels);
	free(before);
}

static void say_paths(struct ft_page *page, const struct ft_nccl_report *nccl,
		      const struct ft_nccl_communicator *row)
{
	struct paths paths = { .nccl = nccl,
			       .rows = sort_by_id(nccl),
			       .room = (row->connection_count + 1) * NAME_ROOM + 1 };

	paths.text = calloc(1, paths.room);
	if (paths.rows != NULL && paths.text != NULL)
		say_all(page, &paths, row);
	else
		page->error = -ENOMEM;
	free(paths.rows);
	free(paths.text);
}

/* Of one channel at least. */
static bool has_paths(const struct ft_nccl_communicator *row)
{
	for (size_t i = 0; i < row->channel_count; i++) {
		if (row->channels[i].ring_count > 0)
			return true;
	}
	return false;
}

/* All that has a name there is sends and receives. */
static bool are_sends(const struct ft_nccl_report *nccl, const struct ft_nccl_communicator *row)
{
	bool found = false;

	for (size_t i = 0; i < nccl->collective_count; i++) {
		const struct ft_nccl_collective *one = &nccl->collectives[i];

		if (one->communicator != row->communicator || one->collective == NULL)
			continue;
		if (strcmp(one->collective, "SendRecv") != 0)
			return false;
		found = true;
	}
	return found;
}

void ft_nccl_shape_text(struct ft_page *page, const struct ft_nccl_report *nccl,
			const struct ft_nccl_communicator *row)
{
	if (row->ring != NULL && row->member_count > 0)
		say_ring(page, row);
	else if (has_paths(row))
		say_paths(page, nccl, row);
	else if (row->tree_count == 0 && row->distance_count == 0 && are_sends(nccl, row))
		ft_page_row(page, "", "sends and receives");
	for (size_t i = 0; i < row->tree_count; i++)
		say_tree(page, row, &row->trees[i]);
	if (row->distance_count > 0)
		say_distances(page, row);
}
