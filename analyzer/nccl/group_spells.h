#pragma once

#include "group_rhythm.h"

/*
 * What a connection carried, as far as its messages are alike: some in a row with no pause that was seen, which were offered
 * the same, and of which the longest are about as long. Unlike a beat it needs nothing of where an operation begins and ends:
 * where many packets are missing, hardly two connections have as many messages between two pauses.
 */
struct ft_nccl_spell {
	uint64_t from, to; /* frames */
	uint64_t offered;  /* 0: not known */
	uint64_t longest;  /* bytes */
};

/* Of a track, in their order. */
struct ft_nccl_spell_list {
	const struct ft_nccl_spell *at;
	size_t count;
	bool holey; /* it is not known of some of its messages whether an operation begins there */
};

/* One for each track. */
struct ft_nccl_spells {
	struct ft_nccl_spell_list *at;
	struct ft_nccl_spell *memory;
};

/* 0 or -ENOMEM; free in any case. */
int ft_nccl_spells_find(struct ft_nccl_spells *spells, const struct ft_nccl_track *tracks,
			size_t count);
void ft_nccl_spells_free(struct ft_nccl_spells *spells); /* all zero is fine */

/* Spells of both that were mostly at the same time: such as are alike, and others. Adds to it; nothing, if neither has holes. */
void ft_nccl_spells_weigh(struct ft_nccl_clash *clash, const struct ft_nccl_spell_list *a,
			  const struct ft_nccl_spell_list *b);

/* Whether two connections did the same at the same time, as all of a ring do: most of what the one did that has fewer spells. */
enum ft_nccl_likeness { FT_NCCL_UNDECIDED, FT_NCCL_ALIKE, FT_NCCL_UNLIKE };
enum ft_nccl_likeness ft_nccl_spells_compare(const struct ft_nccl_spell_list *a,
					     const struct ft_nccl_spell_list *b);

/* Of all connections of two rings on the same ways: most was not the same. */
bool ft_nccl_spells_tell_apart(const struct ft_nccl_clash *clash);
