#include "map_run.h"

#include <errno.h>

#include <partition/convert.h>

#include "log.h"
#include "output.h"

/* By ALL nobody becomes an owner, and tapmap has that, too; it has no word for these. */
static bool has_kind_of_port(const struct ft_partition *partition)
{
	const struct ft_interval *interval = partition->intervals;

	for (size_t i = 0; i < interval->member_count; i++)
		if (interval->members[i].kind == FT_MEMBER_ALL_CAS ||
		    interval->members[i].kind == FT_MEMBER_ALL_SWITCHES ||
		    interval->members[i].kind == FT_MEMBER_ALL_ROUTERS)
			return true;
	return false;
}

static void tell_owners(const struct ft_declared *declared)
{
	for (size_t i = 0; declared->last_rule_wins && i < declared->partition_count; i++)
		if (has_kind_of_port(&declared->partitions[i]))
			ft_log("%s:%u: ports that ALL_CAS, ALL_SWITCHES or ALL_ROUTERS stand for "
			       "are listed one by one, which makes them %s's own as they are not "
			       "here",
			       declared->files[0].path, declared->partitions[i].origin.line,
			       declared->tenants[declared->partitions[i].tenant].name);
}

enum ft_exit ft_map_run_convert(const struct ft_map_line *line)
{
	struct ft_map_complaint complaint;
	struct ft_declared *declared;
	enum ft_exit status = FT_EXIT_FAILED;
	int error;

	if (ft_map_line_load(line, line->paths[0], &declared) != 0)
		return FT_EXIT_FAILED;
	error = ft_map_convert(declared, stdout, &complaint);
	if (error == -EINVAL)
		ft_log("%s", complaint.text);
	else
		status = ft_output_status(error, FT_EXIT_CLEAN);
	if (error == 0)
		tell_owners(declared);
	ft_declared_destroy(declared);
	return status;
}
