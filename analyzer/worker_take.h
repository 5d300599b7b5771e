#pragma once

#include "worker.h"

/* Judge, follow and count one packet of the worker's batch, after those before it. */
void ft_worker_take(struct ft_worker *worker, struct ft_item *item);
