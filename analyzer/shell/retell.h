#pragma once

#include "job.h"

/*
 * The arguments of a job as one would type them again ("-m MAP CAPTURE"), quoted for a shell; of a live
 * job, with its evidence for a capture. The caller frees it; NULL without memory, or evidence.
 */
char *ft_retell(const struct ft_job *job, const char *evidence);
