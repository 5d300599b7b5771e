#pragma once

#include <nccl/model.h>

#include "page.h"

/* The tables of the page about NCCL. Each writes rows only, indented by two; nothing if there are none. */

void ft_nccl_members_table(struct ft_page *page, const struct ft_nccl_communicator *communicator);
void ft_nccl_connections_table(struct ft_page *page, const struct ft_nccl_report *nccl);
void ft_nccl_collectives_table(struct ft_page *page, const struct ft_nccl_report *nccl,
			       size_t most);
void ft_nccl_messages_table(struct ft_page *page, const struct ft_nccl_report *nccl, size_t most);
void ft_nccl_classes_table(struct ft_page *page, const struct ft_nccl_report *nccl);
void ft_nccl_failovers_table(struct ft_page *page, const struct ft_nccl_report *nccl);
void ft_nccl_processes_table(struct ft_page *page, const struct ft_nccl_report *nccl);
