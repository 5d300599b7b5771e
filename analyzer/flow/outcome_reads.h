#pragma once

#include "tracker_parts.h"

/* READs that may lie in a hole. */
struct ft_reads {
	uint32_t longest; /* PSNs that one takes; 0: none */
	bool vary;        /* they are of several lengths */
	bool others;      /* requests of other kinds are among them, as far as is known */
};

/* The newest of this half that are still open. */
struct ft_reads ft_reads_of(const struct ft_tracker *tracker, const struct ft_half *half);

/* All that it sends, so that a hole is as many of them as its PSNs make. */
bool ft_reads_are_all(const struct ft_reads *reads);

/* Whether it lies in the midst of a message, where no READ is. */
bool ft_is_in_message(const struct ft_span *hole);

/* READs may lie in it: it is as many packets as it has PSNs, or fewer. */
bool ft_is_vague(const struct ft_span *hole);

/*
 * Packets that so many PSNs of a hole are at least: the responses to a READ take its PSNs, but pass elsewhere. Where READs are of one
 * length, what is left of it is others.
 */
uint32_t ft_packets_among(const struct ft_reads *reads, const struct ft_span *hole, uint32_t psns);
