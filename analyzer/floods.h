#pragma once

#include <flow/table.h>

#include "cut_frame.h"
#include "firsts.h"

/*
 * spoof.cnp-unsolicited, where the CNPs have the address of the connection's peer: it sends one for a packet that came with a
 * mark, so never more than packets came. Marks need not be in view, which may be made behind the mirror; nor the packets: the
 * PSNs say how many there were. Loss takes CNPs away and no PSNs, so it makes none of these.
 */
enum {
	/* half-connections of which it is told, the first ones; and that are watched, by their numbers */
	FT_FLOODS = 64,
	FT_FLOOD_WATCHED = 1024, /* of two with the same place, the later one */
	FT_FLOOD_CNPS = 128,     /* fewer are no flood */
	/* for each packet more than so many: one that is not answered is sent eight times at most */
	FT_FLOOD_PER_PACKET = 8,
};

/* In which so many must have come: PSNs do not wrap in it. */
#define FT_FLOOD_NS UINT64_C(100000000)

/* How far the two halves are: PSN of the first request that was not answered, or FT_PSN_NONE. */
struct ft_flood_place {
	uint32_t theirs; /* of the half that the CNPs are about */
	uint32_t own;    /* of the half that they come on */
};

/* A half-connection that CNPs come on. */
struct ft_flood_watch {
	uint64_t since_ns;
	uint64_t sent;                    /* packets of the other half until then */
	uint32_t flow, peer;              /* numbers of the records of the two halves; 0: none */
	struct ft_flood_place from, full; /* then, and when there were FT_FLOOD_CNPS */
	uint32_t cnps;                    /* since then */
};

struct ft_flood {
	struct ft_flow_key key;
	struct ft_first first;     /* the CNP that showed it */
	struct ft_cut_frame frame; /* likewise */
	uint64_t cnps, bytes;      /* of all its stretches of time */
	uint64_t last_ns;
	uint64_t within_ns;          /* of the first one: how long it was .. */
	uint32_t then, packets;      /* .. its CNPs, and the packets that they may be about */
	struct ft_sender_look usual; /* of the half-connection's other packets */
	uint8_t smac[6];
	bool foreign; /* the CNPs are another card's: neither they nor the others went through a router */
};

struct ft_floods {
	struct ft_flood_watch *watched;
	struct ft_flood *items;
	uint32_t count;
};

int ft_floods_init(struct ft_floods *floods); /* 0 or -ENOMEM */
void ft_floods_free(struct ft_floods *floods);

/* A CNP on `flow`, a record of `table`, that is no copy; before it is counted there. */
void ft_floods_see(struct ft_floods *floods, const struct ft_flow_table *table,
		   const struct ft_flow *flow, const struct ft_observed *observed,
		   const struct ft_frame *frame);
