#pragma once

#include "framing.h"

/* The two halves of what a follower's sink does, for framing.c. */
void ft_framing_found(void *context, const struct ft_nccl_found *found);
void ft_framing_contact(void *context, const struct ft_nccl_contact *contact);
