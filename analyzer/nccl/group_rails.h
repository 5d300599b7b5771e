#pragma once

#include "group_sites.h"

/*
 * Hosts of several ranks have a network device for each rank, or for some, and the ring of a channel uses one device of
 * each host: the connections of a job hang together by rails. Where set-ups name the hosts of devices, all of them if rails
 * were joined, a component counts as one rail, whichever devices connections go between.
 */
struct ft_nccl_rails {
	uint32_t count;
	uint32_t *ends; /* of each rail: how many sites or hosts */
	bool *by_host;  /* of each rail: ends are hosts */
	/* by place of the connection in the list */
	uint32_t *of;   /* FT_NCCL_NONE: no end has an address */
	uint32_t *part; /* likewise; the same number for what connections alone tie together */
	/* ends, from 0 in each rail; FT_NCCL_NONE: without an address */
	uint32_t *sender, *receiver;
};

/* `before`: of each site the component that it was of before rails were joined. 0 or -ENOMEM; free in any case. */
int ft_nccl_rails_find(struct ft_nccl_rails *rails, struct ft_nccl_sites *sites,
		       const uint32_t *before, struct ft_nccl_connection **connections,
		       size_t count);
void ft_nccl_rails_free(struct ft_nccl_rails *rails); /* all zero is fine */
