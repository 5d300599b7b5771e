#pragma once

#include "job.h"

/*
 * The arguments of a job as one would type them again ("-m MAP CAPTURE"), quoted for a shell. The
 * caller frees it; NULL without memory.
 */
char *ft_retell(const struct ft_job *job);
