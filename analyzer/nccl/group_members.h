#pragma once

#include "group_apart.h"
#include "group_rails.h"

/*
 * The processes at the ends of connections. Addresses that one party of a connection has are one site; a rank, told by
 * the tags of clear-to-sends, is one process, whichever sites it sends from; sites that connections tie together are one
 * component. At a site of several ranks nobody knows which of them receives.
 */
struct ft_nccl_members {
	struct ft_nccl_member *at; /* by component, then rank, unknown ranks last */
	uint32_t *component;       /* of each */
	size_t count;
	uint32_t components; /* in order of their first connection */
	/* by place of the connection in the list */
	uint32_t *sender, *receiver; /* FT_NCCL_NONE: one of several */
	uint32_t *of;                /* component; FT_NCCL_NONE: no end has an address */
	bool *named;                 /* the connection's own tags name its sender */
	bool *parted; /* likewise, but others may have this rank in another communicator: he is no process with a rank here */
	struct ft_nccl_rails rails;
};

/*
 * Fills in the ranks of the connections' parties. `joined`, by place: connections of one number are of one component,
 * FT_NCCL_NONE: as they hang together; NULL: all are. `apart`: communicators told apart; `tags` of connections, by place. 0 or -ENOMEM.
 */
int ft_nccl_members_find(struct ft_nccl_members *members, struct ft_nccl_connection **connections,
			 size_t connection_count, const struct ft_nccl_apart *apart,
			 const uint32_t *joined, const struct ft_nccl_tag *tags);
void ft_nccl_members_free(struct ft_nccl_members *members); /* all zero is fine */

/*
 * Of members as they are sorted: their hosts may have other ranks, too, which were not seen. Not if they are all from 0 on,
 * each elsewhere: those of one host would be some that follow each other.
 */
bool ft_nccl_members_may_be_several(const struct ft_nccl_member *member, size_t count);
