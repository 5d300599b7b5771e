#pragma once

#include <nccl/model.h>

/*
 * The network of each connection, from 1: those whose packets were seen in two have a router between them, which makes them
 * one. 0: its packets said nothing. nets[i] is that of connections[i]. 0 or -ENOMEM.
 */
int ft_nccl_nets_find(uint32_t *nets, struct ft_nccl_connection *const *connections, size_t count);
