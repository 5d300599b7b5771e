#pragma once

#include <nccl/model.h>

#include "cells.h"
#include "page.h"

/* Beginning and end of a table about NCCL, and the cells that several of its tables have. */

/* `align`: a `<` or `>` for each column, as ft_table_init() takes it; `heads`: as many. */
void ft_nccl_table_open(struct ft_table *table, const char *align, const char *const *heads);

/* Write the rows, indented by two, and free the table. What goes wrong is in page->error. */
void ft_nccl_table_close(struct ft_table *table, struct ft_page *page);

void ft_nccl_id_cell(struct ft_table *table, uint32_t id);                   /* FT_NCCL_NONE: "." */
void ft_nccl_rank_cell(struct ft_table *table, bool has_rank, int32_t rank); /* not known: "?" */

/* The first address, and how many more there are; none: "?". */
void ft_nccl_places_cell(struct ft_table *table, const struct ft_nccl_place *places,
			 unsigned count);
