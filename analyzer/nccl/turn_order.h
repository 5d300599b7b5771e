#pragma once

#include "reply.h"

/*
 * In which order queue pairs take turns, by how many requests their messages have: of n queue pairs the j-th message of the
 * one whose turn is i, from 0 on, is the message number j * n + i of all.
 */
enum ft_nccl_turn_order {
	FT_NCCL_TURNS_WRONG,     /* no order found has the requests that messages were asked for */
	FT_NCCL_TURNS_BY_NUMBER, /* the order of the queue pairs' numbers has, and maybe others */
	FT_NCCL_TURNS_SURE,      /* one order alone has */
};

/*
 * `replies`, of so many queue pairs, are put in that order. `requests`: of FT_NCCL_REPLY_MESSAGES messages, 0 where it is not
 * known. *several: how many of their messages have several, as was asked for.
 */
enum ft_nccl_turn_order ft_nccl_turn_order_find(const uint8_t *requests,
						struct ft_nccl_reply *replies, unsigned count,
						unsigned *several);
