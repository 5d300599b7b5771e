#pragma once

#include "lock.h"
#include "replies.h"

/*
 * Connections whose clear-to-sends cannot be read, because payload is cut or encrypted, or a build of NCCL has a layout of
 * its own: writes of one size go round a FIFO, each to the slot that its PSN says, and the other way go writes whose
 * immediates are their lengths, or that go where the first bytes of those writes say. The grid alone would not be enough:
 * other libraries have rings, too.
 */
struct ft_nccl_grid {
	uint16_t entry_bytes, slot_bytes;
	unsigned devices; /* that take turns with clear-to-sends */
	struct ft_nccl_stranger *fifos[FT_NCCL_DEVICES_MAX]; /* by device, with the FIFO's key .. */
	uint32_t rkeys[FT_NCCL_DEVICES_MAX];                 /* .. there */
	bool plain; /* the receiver's addresses can be read .. */
	uint8_t rkey_at;
	uint8_t families; /* whose lengths these are and that nothing captured speaks against, bits */
	struct ft_nccl_replies replies; /* .. or else this data answers */
	uint64_t frame, ts_ns;          /* of the first write */
};

/* A write as clear-to-sends are, by its lengths. */
bool ft_nccl_may_be_on_grid(const struct ft_nccl_seen *seen);

/* The stranger's newest write completes the picture. */
bool ft_nccl_grid_of(struct ft_nccl_connections *connections, struct ft_nccl_stranger *stranger,
		     struct ft_nccl_grid *grid);

/*
 * grid_devices.c: the queue pairs of all devices that take turns with a stranger whose writes lie so, in order. False: some are
 * not in view, or it is not clear which they are.
 */
bool ft_nccl_grid_find_devices(const struct ft_nccl_connections *connections,
			       struct ft_nccl_stranger *stranger, struct ft_nccl_grid *grid);

/* The writes in the log lie on a grid, of one device or several: what is told of that is filled in. */
bool ft_nccl_grid_read(const struct ft_nccl_log *log, struct ft_nccl_grid *grid);

/* Entry `index`, as far as every layout has it at the same place; false: it was not captured. */
bool ft_nccl_plain_entry(const struct ft_nccl_followed *followed, const struct ft_nccl_write *write,
			 uint32_t index, struct ft_nccl_cts *entry);

/* That of each entry. */
void ft_nccl_plain_read(struct ft_nccl_moment *moment, const struct ft_nccl_write *write,
			struct ft_nccl_request *requests);
