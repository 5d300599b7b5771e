#pragma once

#include "job.h"

/* A map that was in force before: findings still name it. */
struct ft_job_map {
	struct ft_job_map *next;
	struct ft_declared *declared;
	struct ft_map *map;
};

/*
 * Between two runs of the engine: read the map and the topologies again and go over to them. What is wrong with them
 * is told in one line, and the map in force stays.
 */
void ft_job_reload(struct ft_job *job);

/* Those before the one in force. */
void ft_job_maps_free(struct ft_job *job);
