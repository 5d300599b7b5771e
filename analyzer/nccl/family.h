#pragma once

#include "followed.h"

/* Which families and releases fit what was seen of a connection, and what the document says of it. */

/* The first release whose immediates may be numbers of messages: nccl-wire, section 3.4. */
enum { FT_NCCL_VERSION_BY_ID = 22907 };

/* The family its clear-to-sends are read as; -1: none is possible. Of several, the likeliest. */
int32_t ft_nccl_family_taken(const struct ft_nccl_followed *followed);

/* Its messages have one request each, whichever of the families that fit it is of. */
bool ft_nccl_family_asks_once(const struct ft_nccl_followed *followed);

/* From slot to slot of its FIFO in bytes, and entries that a slot has room for, if it is of this family. */
uint16_t ft_nccl_slot_bytes(const struct ft_nccl_followed *followed, enum ft_nccl_family family);
uint16_t ft_nccl_slot_entries(const struct ft_nccl_followed *followed, enum ft_nccl_family family);

/* Leave only these families, bits 1 << family, if any of them is possible at all; false: none is. */
bool ft_nccl_family_narrow(struct ft_nccl_followed *followed, uint8_t families);

/* Leave only these releases, as 22403 for 2.24.3, if any of them is possible at all. */
void ft_nccl_versions_narrow(struct ft_nccl_followed *followed, int32_t first, int32_t last);

/* The releases 2.`minor_first`.x to 2.`minor_last`.x. */
void ft_nccl_minors_narrow(struct ft_nccl_followed *followed, unsigned minor_first,
			   unsigned minor_last);

/* Fill in family, certainty and versions, and the FIFO's layout, as far as they are known. */
void ft_nccl_family_tell(struct ft_nccl_followed *followed);
