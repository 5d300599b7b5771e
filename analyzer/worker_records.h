#pragma once

#include "judge.h"
#include "worker.h"

/*
 * The records of the flow table that a packet belongs to. All that a side sends to an ordinary queue pair has one key,
 * whatever its P_Key and VLAN; where another VLAN has another half-connection with the same addresses and queue pair,
 * that has a record of its own.
 */

static inline uint16_t ft_item_base(const struct ft_item *item)
{
	return ft_item_pkey(item) & 0x7fff;
}

/* 0: it has none. */
static inline uint64_t ft_item_time(const struct ft_item *item)
{
	return item->observed.ts_ns == FT_TS_UNKNOWN ? 0 : item->observed.ts_ns;
}

/* Under the packet's own key, or NULL. */
static inline struct ft_flow *ft_records_known(const struct ft_worker *worker, struct ft_item *item)
{
	if (item->record == 0)
		item->record = ft_flow_likely(worker->flows, item->hash);
	return ft_flow_confirm(worker->flows, item->record, &item->flow_key);
}

/* The frame goes on in the half-connection's first P_Key and VLAN. */
static inline bool ft_records_are_alike(const struct ft_flow *flow, uint16_t base, uint16_t vlan)
{
	return flow->base == base && flow->vlan == vlan && flow->first_base == base;
}

/* A frame whose fields, or whose place in time, cannot be trusted teaches nothing. */
static inline bool ft_records_are_trusted(const struct ft_worker *worker,
					  const struct ft_item *item)
{
	return item->kind == FT_FRAME_JUDGED &&
	       (item->frame->ts_ns != FT_TS_UNKNOWN || !worker->map_changes);
}

/* At first, or after silence: what comes now is what the half-connection uses. */
void ft_records_begin(struct ft_worker *worker, struct ft_flow *flow, const struct ft_item *item);

/* Its sequence begins anew: behind a silence it may be a later connection's, and counts as one that begins here. */
void ft_records_begin_anew(struct ft_worker *worker, const struct ft_flow *flow,
			   const struct ft_item *item);

/* Before it is known whether the item is a copy. records->part is NULL if it would have to be made. */
void ft_records_find(struct ft_worker *worker, struct ft_item *item, struct ft_records *records);

/*
 * It is none: what is missing is made, and it is decided whose a packet in another VLAN is. False: that is not known yet,
 * and it is only to be counted.
 */
bool ft_records_settle(struct ft_worker *worker, struct ft_item *item, struct ft_records *records);

/*
 * It is the copy that ft_copies_check() found last: the half-connection is seen in the VLANs of both. Returns whose copy it
 * is: `flow`, or, where each VLAN has a half-connection of its own, that of the original; NULL: that is forgotten.
 */
const struct ft_flow *ft_records_see_copy(struct ft_worker *worker, struct ft_item *item,
					  const struct ft_flow *flow);
