#pragma once

#include "worker.h"

/* What has come to light about one packet of the worker's batch. */
struct ft_conclusion {
	struct ft_records records;
	struct ft_judged *judged; /* NULL: the map was not asked about it */
	/* of a packet that is not followed: `what` and gap.lost, 0, and no more; likewise `rules` */
	struct ft_step step;
	struct ft_suspicion suspicion;
};

/*
 * What accounts that come after are to know of it, beside its item, in the batch's ft_item_more: verdict and subject if
 * it has something to tell (item->rules, complete by now) or every item is told of, then what its suspicion, its gap
 * and its sequence say. Sets item->anew, and judged->subject of one that had none yet.
 */
void ft_worker_keep_more(const struct ft_worker *worker, struct ft_item *item,
			 const struct ft_conclusion *conclusion);

/*
 * What only the flow table's document shows of it, added to the details of its half-connection. For packets with a
 * record (`part`), copies apart, of a worker with details.
 */
void ft_worker_keep_details(struct ft_worker *worker, const struct ft_item *item,
			    const struct ft_conclusion *conclusion);
