#pragma once

#include <nccl/model.h>

/*
 * Processes of jobs, as they check in with a bootstrap's root (rank) and as they listen for RAS (release). Which of the
 * ranks of a host a listener is, nobody says: a host's release is that of all its processes if its listeners agree.
 */
struct ft_nccl_processes;

/* 0 or -ENOMEM; beyond `most` nothing is kept. */
int ft_nccl_processes_create(struct ft_nccl_processes **processes, uint32_t most, uint64_t seed);
void ft_nccl_processes_destroy(struct ft_nccl_processes *processes); /* NULL is fine */

void ft_nccl_processes_check_in(struct ft_nccl_processes *processes,
				const struct ft_nccl_place *place, int32_t rank, int32_t ranks,
				uint64_t frame);

/* `release` 0: not told. Returns its number for ft_nccl_processes_see(), or FT_NCCL_NONE. */
uint32_t ft_nccl_processes_listen(struct ft_nccl_processes *processes,
				  const struct ft_nccl_place *place, uint16_t port, int32_t release,
				  uint64_t frame);
void ft_nccl_processes_see(struct ft_nccl_processes *processes, uint32_t number, uint64_t frame);

/* Another process tells that this listener is dead. */
void ft_nccl_processes_bury(struct ft_nccl_processes *processes, const struct ft_nccl_place *place,
			    uint16_t port, uint64_t frame);

/*
 * In order of first frame; listeners of hosts where nobody checked in, and dead ones of hosts where several did, since
 * nobody says which of them it was. Holds until the next call.
 */
const struct ft_nccl_process *ft_nccl_processes_report(struct ft_nccl_processes *processes,
						       size_t *count);
