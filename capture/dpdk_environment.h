#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <capture/source.h>

/*
 * DPDK's environment (EAL): one per process, started when the first device is opened and never ended but with
 * the process, because DPDK cannot start it twice. It takes no device by itself.
 */

/*
 * Start it, unless it runs. `bytes` is what the first device needs: huge pages are used when that much is free,
 * else ordinary memory. 0, -errno with *complaint (which names `source`). Costs 0.1 to 0.2 s the first time.
 */
int ft_dpdk_environment_start(const char *source, uint64_t bytes, bool verbose,
			      struct ft_source_complaint *complaint);

/* Take the device in ("name,arguments"): 0, or -errno as DPDK gives it, which is not always telling. */
int ft_dpdk_environment_probe(const char *device);

/* The first error that a part of DPDK told since forget(): the later ones follow from it. "" none. */
const char *ft_dpdk_environment_reason(void);
void ft_dpdk_environment_forget(void);

/*
 * Make the calling thread one that DPDK keeps a cache of buffers for; at most FT_DPDK_THREADS are, beside the one that
 * opened the first device, since such a cache may hold buffers that nobody uses. False: it stays without.
 */
enum { FT_DPDK_THREADS = 4 };
bool ft_dpdk_environment_join(void);

/* Buffers are in huge pages. */
bool ft_dpdk_environment_huge(void);
