#pragma once

#include <nccl/model.h>

#include "document.h"

/* The objects of the document fabtap.nccl/1. `keys`: with R_Keys. */

void ft_nccl_connection_json(struct ft_document *json, const struct ft_nccl_connection *connection,
			     bool keys);
void ft_nccl_message_json(struct ft_document *json, const struct ft_nccl_message *message,
			  bool keys);
void ft_nccl_communicator_json(struct ft_document *json,
			       const struct ft_nccl_communicator *communicator);
void ft_nccl_collective_json(struct ft_document *json, const struct ft_nccl_collective *collective);
void ft_nccl_queue_pair_json(struct ft_document *json, const struct ft_nccl_queue_pair *queue_pair);
void ft_nccl_process_json(struct ft_document *json, const struct ft_nccl_process *process);

/* Members that more than one of them has. */
void ft_nccl_places_json(struct ft_document *json, const struct ft_nccl_place *places,
			 size_t count);
void ft_nccl_rank_json(struct ft_document *json, bool has_rank, int32_t rank);
/* FT_NCCL_NONE: null */
void ft_nccl_id_json(struct ft_document *json, const char *name, uint32_t id);
void ft_nccl_rkeys_json(struct ft_document *json, const uint32_t *rkeys, size_t count);
