#pragma once

#include <stdint.h>

#include <firmware-config/machine.h>

/* What a port says that it sent, by its counters; and what they say of an interval when read before and after it. */

enum {
	FT_TX_COUNTERS_MAX = 96,
	FT_TX_NAME = 48,
};

#define FT_TX_UNREADABLE UINT64_MAX

enum ft_tx_kind {
	FT_TX_NETDEV, /* the kernel's, of what it gave the device: not what its firmware sends */
	FT_TX_VPORT,  /* the device's, of what this function of it sent */
	FT_TX_PHY_PACKETS, /* what left through the port, its firmware's frames included */
	FT_TX_PHY_BYTES,
	FT_TX_PAUSE,
	FT_TX_INFINIBAND, /* of an RDMA port */
	FT_TX_KINDS,
};

struct ft_tx_counter {
	/* "netdev.tx_packets", "ethtool.tx_bytes_phy", "infiniband.port_xmit_data" */
	char name[FT_TX_NAME];
	enum ft_tx_kind kind;
	uint64_t value;
};

struct ft_transmitted {
	/* the interface's number, which a new one of the same name does not have; 0: not known */
	uint64_t index;
	size_t count;
	struct ft_tx_counter counters[FT_TX_COUNTERS_MAX];
};

/*
 * Counters of an interface, and of the RDMA port "mlx5_0/1"; either may be NULL. One that should be there and cannot
 * be read is there with FT_TX_UNREADABLE: the two of the kernel always, "ethtool" for all that the device's driver
 * would tell, the two of the RDMA port. What the driver does not have is not listed. If it has more than there is room
 * for, the last one is unreadable and stands for the rest.
 */
void ft_transmitted_read(const struct ft_machine *machine, const char *interface,
			 const char *rdma_port, struct ft_transmitted *transmitted);

enum ft_tx_change { FT_TX_UNCHANGED, FT_TX_MOVED, FT_TX_DECREASED, FT_TX_UNKNOWN };

struct ft_tx_row {
	const char *name; /* of one of the readings compared */
	enum ft_tx_kind kind;
	uint64_t before, after; /* FT_TX_UNREADABLE */
	enum ft_tx_change change;
};

/* One row for each counter that either reading has; unreadable in the other is FT_TX_UNKNOWN. As many as returned. */
size_t ft_transmitted_compare(const struct ft_transmitted *before,
			      const struct ft_transmitted *after,
			      struct ft_tx_row rows[2 * FT_TX_COUNTERS_MAX]);

/* "unchanged", "moved", "decreased", and "unreadable" for FT_TX_UNKNOWN. Static. */
const char *ft_tx_change_name(enum ft_tx_change change);
