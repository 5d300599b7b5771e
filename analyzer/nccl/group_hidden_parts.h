#pragma once

#include "group_hidden.h"
#include "group_unseen.h"

/* An end of a set-up's TCP connection, and whose it was. */
struct ft_nccl_hider_end {
	struct ft_nccl_place place;
	uint32_t communicator;
};

/* Of a connection of a ring. */
struct ft_nccl_hider_loop {
	uint32_t communicator, ranks; /* that its loops show */
	int32_t sender;
};

struct ft_nccl_hider {
	const struct ft_nccl_hidden_input *input;
	struct ft_nccl_hider_end *ends; /* sorted */
	size_t end_count;
	struct ft_nccl_hider_loop *loops; /* sorted */
	size_t loop_count;
	uint32_t *ranks;     /* by communicator: what its rings show; 0: nothing */
	bool *crowded;       /* by communicator: set-ups name fewer hosts than there are members */
	bool *spread;        /* by communicator: set-ups name as many */
	bool *refuted;       /* by communicator: what looks like a ring is none */
	bool *shares;        /* by communicator: its hosts have set-ups of others, too */
	bool *wider;         /* by communicator: set-ups of others lead from its hosts to more */
	bool *hides_numbers; /* by communicator: channels may have others */
	bool *alone;         /* by communicator: others may be channels of the same one */
	struct ft_nccl_unseen unseen;
	bool lacks_set_ups; /* of some connection, of any communicator: that may be of a part */
};

/* Fills it in from what was seen: needs room, and what may have passed unseen. */
void ft_nccl_hider_look(struct ft_nccl_hider *hider);

/* How many send in rings whose loops show so many ranks. */
uint32_t ft_nccl_hider_senders(const struct ft_nccl_hider *hider, uint32_t communicator,
			       uint32_t ranks);
