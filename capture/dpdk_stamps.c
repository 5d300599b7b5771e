#define ALLOW_EXPERIMENTAL_API /* rte_eth_read_clock() */

#include "dpdk.h"

#include <errno.h>
#include <string.h>

#include <capture/clock.h>

#include <rte_mbuf_dyn.h>

enum { TRIES = 8, PLAUSIBLE_S = 10 };

/* The adapter's clock between two looks at the system's: the closest of some tries. */
static int compare(void *adapter, struct ft_dpdk_moment *moment)
{
	const struct ft_dpdk *dpdk = adapter;
	struct ft_dpdk_moment best = { .error_ns = UINT64_MAX };

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = ft_clock_wall_ns(), ticks, after;
		int error = rte_eth_read_clock(dpdk->port, &ticks);

		after = ft_clock_wall_ns();
		if (error != 0)
			return error;
		if (after >= before && (after - before) / 2 < best.error_ns)
			best = (struct ft_dpdk_moment){ .ticks = ticks,
							.ns = before + (after - before) / 2,
							.error_ns = (after - before) / 2 };
	}
	if (best.error_ns == UINT64_MAX)
		return -EAGAIN;
	*moment = best;
	return 0;
}

static bool replays_file(const struct ft_dpdk *dpdk)
{
	return dpdk->address.file[0] != '\0' && !dpdk->address.endless;
}

void ft_dpdk_stamps_open(struct ft_dpdk *dpdk)
{
	const struct ft_dpdk_address *address = &dpdk->address;
	bool pcap = address->kind != NULL && strcmp(address->kind->driver, "net_pcap") == 0;
	bool offered = (dpdk->about.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0;

	dpdk->stamps = FT_DPDK_STAMPS_PROGRAM;
	if (!pcap && !offered)
		return;
	if (rte_mbuf_dyn_rx_timestamp_register(&dpdk->stamp_offset, &dpdk->stamp_flag) != 0)
		return;
	if (pcap && (replays_file(dpdk) || address->interface[0] != '\0'))
		dpdk->stamps = FT_DPDK_STAMPS_MICROSECONDS;
	if (offered && ft_dpdk_clock_set(&dpdk->clock, compare, dpdk) == 0)
		dpdk->stamps = FT_DPDK_STAMPS_UNSURE;
}

static bool is_now(uint64_t ns)
{
	uint64_t now = ft_clock_wall_ns();

	return (now > ns ? now - ns : ns - now) < PLAUSIBLE_S * UINT64_C(1000000000);
}

void ft_dpdk_stamps_decide(struct ft_dpdk *dpdk, uint64_t stamp)
{
	if (is_now(stamp))
		dpdk->stamps = FT_DPDK_STAMPS_NANOSECONDS;
	else if (is_now(ft_dpdk_clock_ns(&dpdk->clock, stamp)))
		dpdk->stamps = FT_DPDK_STAMPS_TICKS;
	else
		dpdk->stamps = FT_DPDK_STAMPS_PROGRAM;
}
