#pragma once

#include "followed.h"

/*
 * Queue pair numbers that a later connection has by now, whose set-up was not seen, perhaps with the ends the other way round or
 * with other peers. A reliable queue pair has one peer, and what it carries goes where this one asked for it: what does neither
 * is looked at as what strangers send, which may come to be a connection, and then retires the earlier one.
 */

/* To where data goes: a write under a PSN that passed, or that nobody asked for; with what comes behind it. */
void ft_nccl_successor_see(const struct ft_nccl_moment *moment);

/* The write that it begins follows one of those, and goes elsewhere, too, though the connection's sequence has got to it. */
bool ft_nccl_successor_goes_on(const struct ft_nccl_moment *moment);

/*
 * A packet to an end of a connection that does not come from its peer. What goes to the connection's memory is forged; so may be all
 * else while messages pass.
 */
void ft_nccl_successor_see_other(struct ft_nccl_connections *connections,
				 struct ft_nccl_followed *followed,
				 const struct ft_nccl_seen *seen);
