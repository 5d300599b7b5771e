#pragma once

#include <capture/frame.h>

/*
 * Which interface of a written section a frame belongs to: one per (input, section, interface, link type)
 * met, numbered from 0 in order of appearance.
 */
struct ft_pcapng_numbers;

int ft_pcapng_numbers_create(struct ft_pcapng_numbers **numbers);  /* 0 or -ENOMEM */
void ft_pcapng_numbers_destroy(struct ft_pcapng_numbers *numbers); /* NULL is fine */

/* 0: met before; 1: new, it has the next number; -ENOMEM. */
int ft_pcapng_numbers_find(struct ft_pcapng_numbers *numbers, const struct ft_frame *frame,
			   uint32_t *number);
