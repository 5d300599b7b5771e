#include "group_releases.h"

#include <errno.h>
#include <stdlib.h>

/* Releases that one job may have, from the first on. */
struct range {
	int32_t first, last;
};

static bool is_known(const struct ft_nccl_connection *connection)
{
	return connection->has_family && connection->version_first != 0 &&
	       connection->version_last != 0;
}

static int compare(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return (left->first > right->first) - (left->first < right->first);
}

/* Those that have releases in common are one. How many are left. */
static size_t merge(struct range *ranges, size_t count)
{
	size_t merged = 0;

	if (count == 0)
		return 0;
	qsort(ranges, count, sizeof *ranges, compare);
	for (size_t i = 1; i < count; i++) {
		if (ranges[i].first > ranges[merged].last)
			ranges[++merged] = ranges[i];
		else if (ranges[i].last > ranges[merged].last)
			ranges[merged].last = ranges[i].last;
	}
	return merged + 1;
}

/* Which of the ranges its own is in, from 1; 0: its release is not known. */
static uint32_t number_of(const struct range *ranges, const struct ft_nccl_connection *connection)
{
	uint32_t at = 0;

	if (!is_known(connection))
		return 0;
	while (connection->version_first > ranges[at].last)
		at++;
	return at + 1;
}

int ft_nccl_releases_part(uint32_t *nets, struct ft_nccl_connection *const *connections,
			  size_t count)
{
	struct range *ranges = calloc(count + 1, sizeof *ranges);
	size_t known = 0, jobs;

	if (ranges == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (is_known(connections[i]))
			ranges[known++] = (struct range){ connections[i]->version_first,
							  connections[i]->version_last };
	jobs = merge(ranges, known);
	for (size_t i = 0; jobs > 1 && i < count; i++)
		nets[i] = nets[i] * (uint32_t)(jobs + 1) + number_of(ranges, connections[i]);
	free(ranges);
	return 0;
}
