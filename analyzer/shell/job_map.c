#include "job_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "log.h"

/* An empty or half-written file reads as one that OpenSM drops: then everyone may talk to everyone. */
static bool opens_up(const struct ft_declared *next, const struct ft_declared *before)
{
	return next->verdict == FT_MAP_FAIL_OPEN && before->verdict != FT_MAP_FAIL_OPEN;
}

/* An earlier issue of the map in force, which somebody may have put back. Of another map the serial tells nothing. */
static bool is_older(const struct ft_declared *next, const struct ft_declared *before)
{
	return next->serial != 0 && next->serial < before->serial && next->map_id != NULL &&
	       before->map_id != NULL && strcmp(next->map_id, before->map_id) == 0;
}

/* A pipe has been read, and would keep the run waiting for whoever fills it again. */
static bool can_be_read_again(const char *path)
{
	const char *what = ft_is_standard_input(path) ? "standard input" : "not a regular file";
	struct stat status;

	if (!ft_is_standard_input(path) &&
	    (path == NULL || stat(path, &status) != 0 || S_ISREG(status.st_mode)))
		return true; /* what is not there, reading says */
	ft_log("%s: %s, cannot be read again; the map before stays in force", path, what);
	return false;
}

static bool all_can_be_read_again(const struct ft_map_files *files)
{
	for (size_t i = 0; i < files->topology_count; i++)
		if (!can_be_read_again(files->topologies[i]))
			return false;
	return can_be_read_again(files->map) && can_be_read_again(files->key);
}

static int load(const struct ft_job *job, struct ft_declared **declared)
{
	struct ft_map_complaint complaint;
	int error;

	if (!all_can_be_read_again(&job->files))
		return -EINVAL;
	error = ft_map_load(declared, &job->files, NULL, &complaint);
	if (error != 0) {
		ft_log("%s; the map before stays in force", complaint.text);
	} else if (opens_up(*declared, job->declared)) {
		ft_log("%s: OpenSM drops such a file whole; the map before stays in force",
		       job->files.map);
		error = -EINVAL;
	} else if (is_older(*declared, job->declared)) {
		ft_log("%s: serial %llu is older than %llu, which is in force; the map before "
		       "stays in "
		       "force",
		       job->files.map, (unsigned long long)(*declared)->serial,
		       (unsigned long long)job->declared->serial);
		error = -EINVAL;
	}
	return error;
}

/* The engine judges by the new map from here on. */
static int enter(struct ft_job *job, struct ft_job_map *next)
{
	struct ft_succession succession;
	int error = ft_declared_succeed(next->declared, job->declared, &succession);

	if (error == 0)
		error = ft_map_compile(&next->map, next->declared);
	if (error == 0)
		error = ft_engine_change_map(job->engine, next->map, &succession);
	if (error != 0)
		ft_log("%s: %s; the map before stays in force", job->files.map, strerror(-error));
	return error;
}

/* What was in force is kept in its place. */
static void exchange(struct ft_job *job, struct ft_job_map *next)
{
	struct ft_job_map now = *next;

	next->declared = job->declared;
	next->map = job->map;
	next->next = job->before;
	job->before = next;
	job->declared = now.declared;
	job->map = now.map;
}

static void discard(struct ft_job_map *map)
{
	ft_map_destroy(map->map);
	ft_declared_destroy(map->declared);
	free(map);
}

void ft_job_reload(struct ft_job *job)
{
	struct ft_job_map *next;

	if (job->map == NULL)
		return;
	next = calloc(1, sizeof *next);
	if (next == NULL) {
		ft_log("out of memory; the map before stays in force");
		return;
	}
	if (load(job, &next->declared) != 0 || enter(job, next) != 0) {
		discard(next);
		return;
	}
	exchange(job, next);
	ft_log("%s: read again, in force from here on", job->files.map);
	if (job->reloaded != NULL)
		job->reloaded(job->asked_context);
}

void ft_job_maps_free(struct ft_job *job)
{
	while (job->before != NULL) {
		struct ft_job_map *next = job->before->next;

		discard(job->before);
		job->before = next;
	}
}
