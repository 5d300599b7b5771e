#include "dpdk.h"

/* mlx5: full buffers of the port itself, before any queue; imissed has those of the queues. */
static const char *const discards = "rx_phy_discard_packets";

struct counters {
	uint64_t lost, errors;
};

bool ft_dpdk_counts_are_believed(const struct ft_dpdk *dpdk)
{
	return dpdk->address.kind == NULL || dpdk->address.kind->counts_losses ||
	       (dpdk->address.file[0] != '\0' && dpdk->address.interface[0] == '\0');
}

/* False where they cannot be read. */
static bool read_counters(const struct ft_dpdk *dpdk, struct counters *counters)
{
	struct rte_eth_stats stats;
	uint64_t discarded = 0;

	if (rte_eth_stats_get(dpdk->port, &stats) != 0)
		return false;
	if (dpdk->has_discards &&
	    rte_eth_xstats_get_by_id(dpdk->port, &dpdk->discards_id, &discarded, 1) != 1)
		return false;
	*counters = (struct counters){
		.lost = stats.imissed + stats.rx_nombuf + discarded,
		.errors = stats.ierrors,
	};
	return true;
}

void ft_dpdk_counts_open(struct ft_dpdk *dpdk)
{
	struct counters counters;

	dpdk->has_discards =
		rte_eth_xstats_get_id_by_name(dpdk->port, discards, &dpdk->discards_id) == 0;
	if (!read_counters(dpdk, &counters))
		return;
	dpdk->lost_before = counters.lost;
	dpdk->errors_before = counters.errors;
}

/* A counter that was set back says nothing of what went before. */
void ft_dpdk_count(void *device, struct ft_device_counts *counts)
{
	const struct ft_dpdk *dpdk = device;
	struct counters now;
	bool read = read_counters(dpdk, &now);
	bool known = read && now.lost >= dpdk->lost_before && ft_dpdk_counts_are_believed(dpdk);
	bool errors_known = read && now.errors >= dpdk->errors_before;

	*counts = (struct ft_device_counts){
		.lost = known ? now.lost - dpdk->lost_before + dpdk->unjoined : FT_LOST_UNKNOWN,
		.errors = errors_known ? now.errors - dpdk->errors_before : 0,
	};
}
