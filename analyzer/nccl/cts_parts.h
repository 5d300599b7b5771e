#pragma once

#include "followed.h"

/*
 * cts.c takes clear-to-sends in, cts_again.c what comes again; cts_read.c reads them, each as the family that is left, or
 * those that are.
 */

/* A clear-to-send as it was read: what it is for, and where it was put. */
struct ft_nccl_ask {
	struct ft_nccl_write write;
	enum ft_nccl_family family;
	bool is_read;
	bool has_k;
	struct ft_nccl_cts first; /* entry, if it is read */
	bool has_first;           /* it is, as `family` has it */
	uint64_t k;
	uint32_t requests;
	bool is_further; /* than the clear-to-sends of its queue pair so far */
};

/*
 * Read a write to the sender as the family that fits; where nothing can be read, by its address. False: it is none; then
 * `family` and `k` tell something if `has_k` is set, and nothing else does.
 */
bool ft_nccl_cts_understand(struct ft_nccl_followed *followed, const struct ft_nccl_seen *seen,
			    uint8_t lane, struct ft_nccl_ask *ask);

/* What an entry asks for. */
void ft_nccl_cts_fill(struct ft_nccl_request *request, const struct ft_nccl_cts *entry);

/* A write begins. False: it is none of the connection's. */
bool ft_nccl_cts_take(struct ft_nccl_moment *moment);

/* A PSN that had passed: sent again, as it was; or it is forged, or a new connection's, whose PSNs began anew. */
void ft_nccl_cts_again(struct ft_nccl_moment *moment);

/* If it asks for another place, length or key than the clear-to-send of the same message did, that is told, and true. */
bool ft_nccl_cts_dispute(struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask);

/* The entry asks for what the request does, as far as both tell. */
bool ft_nccl_cts_asks_for_same(const struct ft_nccl_request *request,
			       const struct ft_nccl_cts *entry);

/*
 * cts_grid.c: by_grid: a write that has not the place which its PSN says; such a one that was just refused; and one that has its
 * place.
 */
void ft_nccl_cts_fault_on_grid(struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask);
void ft_nccl_cts_refuse_on_grid(struct ft_nccl_moment *moment, const struct ft_nccl_ask *ask);
void ft_nccl_cts_accept_on_grid(struct ft_nccl_moment *moment);
