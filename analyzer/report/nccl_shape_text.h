#pragma once

#include <nccl/model.h>

#include "page.h"

/*
 * Lines of the page about NCCL that say how connections of a communicator lie: its ring, or the rings of its hosts, its
 * trees; or that they are for sends and receives. Nothing if they have no shape.
 */
void ft_nccl_shape_text(struct ft_page *page, const struct ft_nccl_report *nccl,
			const struct ft_nccl_communicator *row);
