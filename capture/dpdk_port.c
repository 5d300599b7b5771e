#include "dpdk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_mbuf.h>

#include "dpdk_environment.h"

enum {
	DESCRIPTORS = 4096,
	DESCRIPTORS_MIN = 512,
	DESCRIPTORS_MAX = 32768,
	/* the driver's own number: its rings are as large whatever is asked */
	XDP_DESCRIPTORS = 2048,
	CACHE = 256, /* buffers that a thread holds back for itself, and half as many again */
	RING_MAX = 1 << 17, /* frames that a kernel keeps for a virtual device */
	LINE = 64,          /* of the processor's cache */
};

/*
 * Addresses only: the two directions of a RoCE connection use different UDP source ports. What is not IP
 * comes to the first queue.
 */
#define BY_ADDRESSES                                                                               \
	(RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER |               \
	 RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_OTHER |               \
	 RTE_ETH_RSS_IPV6_EX)

static unsigned descriptors_wanted(const struct ft_dpdk *dpdk)
{
	uint64_t wanted = DESCRIPTORS;

	if (dpdk->address.kind != NULL)
		return XDP_DESCRIPTORS;
	if (dpdk->config.buffer_bytes > 0)
		wanted = dpdk->config.buffer_bytes / dpdk->frame_bytes;
	if (wanted < DESCRIPTORS_MIN)
		wanted = DESCRIPTORS_MIN;
	return (unsigned)(wanted < DESCRIPTORS_MAX ? wanted : DESCRIPTORS_MAX);
}

/* Frames that are replayed again and again each have a buffer for good, which need not be larger than the longest. */
static uint32_t replayed_room(uint32_t longest)
{
	const uint32_t most = RTE_ALIGN_FLOOR(UINT16_MAX - RTE_PKTMBUF_HEADROOM, LINE);

	return longest < most ? RTE_ALIGN_CEIL(longest + 1, LINE) : most;
}

void ft_dpdk_port_plan(struct ft_dpdk *dpdk)
{
	const struct ft_dpdk_address *address = &dpdk->address;
	unsigned queues = address->queues > 0 ? address->queues : 1;
	uint32_t frame_bytes = FT_DPDK_FRAME_MAX, replayed = 0;

	if (address->kind != NULL && address->kind->frame_bytes > 0)
		frame_bytes = address->kind->frame_bytes;
	if (address->endless) {
		frame_bytes = replayed_room(dpdk->file.longest);
		replayed = (uint32_t)dpdk->file.frames;
	}
	dpdk->frame_bytes = frame_bytes;
	dpdk->descriptors = (uint16_t)descriptors_wanted(dpdk);
	dpdk->buffer_count = replayed + dpdk->descriptors * queues +
			     (dpdk->config.keep + 1) * FT_DPDK_CALL +
			     CACHE * 3 / 2 * (FT_DPDK_THREADS + 1);
}

/* Both directions of a pair of addresses give the same sum with a key that repeats every 16 bits. */
static void offer_rss(struct ft_dpdk *dpdk, struct rte_eth_conf *conf)
{
	const struct rte_eth_dev_info *about = &dpdk->about;

	if (dpdk->queues == 1 || (about->flow_type_rss_offloads & BY_ADDRESSES) == 0)
		return;
	for (size_t i = 0; i < sizeof dpdk->hash_key; i++)
		dpdk->hash_key[i] = i % 2 == 0 ? 0x6d : 0x5a;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	conf->rx_adv_conf.rss_conf.rss_hf = about->flow_type_rss_offloads & BY_ADDRESSES;
	if (about->hash_key_size > 0 && about->hash_key_size <= sizeof dpdk->hash_key) {
		conf->rx_adv_conf.rss_conf.rss_key = dpdk->hash_key;
		conf->rx_adv_conf.rss_conf.rss_key_len = about->hash_key_size;
	}
}

/* Long frames whole, time stamps if there are, tags and checksums left alone. */
static struct rte_eth_conf wishes(struct ft_dpdk *dpdk)
{
	const struct rte_eth_dev_info *about = &dpdk->about;
	struct rte_eth_conf conf = { 0 };
	uint32_t mtu = FT_DPDK_FRAME_MAX - RTE_PKTMBUF_HEADROOM;

	if (about->max_mtu > 0 && about->max_mtu < mtu)
		mtu = about->max_mtu;
	conf.rxmode.mtu = mtu;
	conf.rxmode.offloads = about->rx_offload_capa &
			       (RTE_ETH_RX_OFFLOAD_TIMESTAMP | RTE_ETH_RX_OFFLOAD_SCATTER);
	conf.intr_conf.rmv = (*about->dev_flags & RTE_ETH_DEV_INTR_RMV) != 0;
	offer_rss(dpdk, &conf);
	return conf;
}

/* Virtual devices have no MTU of their own, and some refuse one. */
static int configure(struct ft_dpdk *dpdk, uint16_t transmit_queues)
{
	struct rte_eth_conf conf = wishes(dpdk);
	int error = rte_eth_dev_configure(dpdk->port, dpdk->queues, transmit_queues, &conf);

	if (error != -EINVAL || dpdk->address.kind == NULL)
		return error;
	conf.rxmode.mtu = 0;
	return rte_eth_dev_configure(dpdk->port, dpdk->queues, transmit_queues, &conf);
}

/* A driver that refuses to do without transmit queues gets as few as it takes, if the user consents. */
static int configure_with_queues(struct ft_dpdk *dpdk, struct ft_source_complaint *complaint,
				 int error)
{
	const uint16_t tries[] = { 1, dpdk->queues };
	size_t i = 0;

	while (i < sizeof tries / sizeof tries[0] && configure(dpdk, tries[i]) != 0)
		i++;
	if (i == sizeof tries / sizeof tries[0])
		return ft_dpdk_refuse(dpdk, complaint, error, "cannot be configured: %s",
				      strerror(-error));
	if (!dpdk->config.allow_tx_queue)
		return ft_dpdk_refuse(dpdk, complaint, -EPERM,
				      "%s cannot be had without a transmit queue; --allow-tx-queue "
				      "consents to an idle one",
				      dpdk->about.driver_name);
	dpdk->transmit_queues = tries[i];
	return 0;
}

static int configure_passively(struct ft_dpdk *dpdk, struct ft_source_complaint *complaint)
{
	int error = configure(dpdk, 0);

	if (error == 0)
		return 0;
	if (error == -EINVAL || error == -ENOTSUP)
		return configure_with_queues(dpdk, complaint, error);
	return ft_dpdk_refuse(dpdk, complaint, error, "cannot be configured: %s", strerror(-error));
}

static int choose_queues(struct ft_dpdk *dpdk, struct ft_source_complaint *complaint)
{
	unsigned most = dpdk->about.max_rx_queues;
	unsigned wanted = dpdk->address.queues > 0 ? dpdk->address.queues : 1;

	if (wanted > most)
		return ft_dpdk_refuse(dpdk, complaint, -EINVAL, "has %u receive queues, not %u",
				      most, wanted);
	dpdk->queues = (uint16_t)wanted;
	return 0;
}

static int create_pool(struct ft_dpdk *dpdk, struct ft_source_complaint *complaint)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	/* one thread at a time reads, so no lock is needed */
	snprintf(name, sizeof name, "fabtap_%u", dpdk->port);
	dpdk->pool =
		rte_pktmbuf_pool_create_by_ops(name, dpdk->buffer_count, CACHE, 0,
					       (uint16_t)(dpdk->frame_bytes + RTE_PKTMBUF_HEADROOM),
					       rte_eth_dev_socket_id(dpdk->port), "ring_sp_sc");
	if (dpdk->pool != NULL)
		return 0;
	return ft_dpdk_refuse(dpdk, complaint, -ENOMEM, "no memory for %u buffers of %u bytes%s",
			      dpdk->buffer_count, dpdk->frame_bytes,
			      ft_dpdk_environment_huge() ? "; raise vm.nr_hugepages" : "");
}

/* A queue that nobody will ever put a frame into; not even started where the driver can do that. */
static int set_up_idle_queue(const struct ft_dpdk *dpdk, uint16_t queue)
{
	struct rte_eth_txconf deferred = dpdk->about.default_txconf;
	int socket = rte_eth_dev_socket_id(dpdk->port);
	int error;

	deferred.tx_deferred_start = 1;
	error = rte_eth_tx_queue_setup(dpdk->port, queue, 0, (unsigned)socket, &deferred);
	if (error == 0)
		return 0;
	return rte_eth_tx_queue_setup(dpdk->port, queue, 0, (unsigned)socket, NULL);
}

static const char *reason_or(int error)
{
	const char *reason = ft_dpdk_environment_reason();

	return reason[0] != '\0' ? reason : strerror(-error);
}

/* The driver says nothing of the kernel's reason. A frame must fit into a page, with what XDP puts around it. */
static const char *why_no_program(const struct ft_dpdk *dpdk)
{
	enum {
		XDP_MTU_MAX = 3498
	}; /* 4096 - 256 before it, 320 behind it, Ethernet and VLAN header */

	if (dpdk->address.kind == NULL || !dpdk->address.kind->program)
		return "";
	if (dpdk->interface.mtu > XDP_MTU_MAX)
		return " (the interface's MTU is more than the 3506 that XDP has room for)";
	return " (it needs CAP_NET_ADMIN, CAP_BPF, an interface without another program, and of a "
	       "veth a peer with an MTU of at most 3506)";
}

static int set_up_queues(struct ft_dpdk *dpdk, struct ft_source_complaint *complaint)
{
	unsigned socket = (unsigned)rte_eth_dev_socket_id(dpdk->port);
	int error = rte_eth_dev_adjust_nb_rx_tx_desc(dpdk->port, &dpdk->descriptors, NULL);

	ft_dpdk_environment_forget();
	for (uint16_t queue = 0; queue < dpdk->queues && error == 0; queue++)
		error = rte_eth_rx_queue_setup(dpdk->port, queue, dpdk->descriptors, socket, NULL,
					       dpdk->pool);
	for (uint16_t queue = 0; queue < dpdk->transmit_queues && error == 0; queue++)
		error = set_up_idle_queue(dpdk, queue);
	if (error == 0)
		return 0;
	return ft_dpdk_refuse(dpdk, complaint, error, "receive queues cannot be set up: %s%s",
			      reason_or(error), why_no_program(dpdk));
}

static int removed(uint16_t port, enum rte_eth_event_type event, void *opaque, void *result)
{
	struct ft_dpdk *dpdk = opaque;

	(void)port;
	(void)event;
	(void)result;
	atomic_store_explicit(&dpdk->gone, true, memory_order_relaxed);
	return 0;
}

int ft_dpdk_port_open(struct ft_dpdk *dpdk, struct ft_source_complaint *complaint)
{
	int error = rte_eth_dev_info_get(dpdk->port, &dpdk->about);

	if (error != 0)
		return ft_dpdk_refuse(dpdk, complaint, error, "says nothing of itself: %s",
				      strerror(-error));
	error = choose_queues(dpdk, complaint);
	if (error == 0)
		error = configure_passively(dpdk, complaint);
	if (error == 0)
		error = create_pool(dpdk, complaint);
	if (error == 0)
		error = set_up_queues(dpdk, complaint);
	if (error == 0)
		rte_eth_dev_callback_register(dpdk->port, RTE_ETH_EVENT_INTR_RMV, removed, dpdk);
	return error;
}

/* What arrived since the device was opened is not ours: throw away as much as a ring can hold. */
static void drain(const struct ft_dpdk *dpdk)
{
	struct rte_mbuf *buffers[FT_DPDK_BURST];
	unsigned left = RING_MAX;

	for (uint16_t queue = 0; queue < dpdk->queues; queue++) {
		uint16_t count;

		do {
			count = rte_eth_rx_burst(dpdk->port, queue, buffers, FT_DPDK_BURST);
			rte_pktmbuf_free_bulk(buffers, count);
			left = left > count ? left - count : 0;
		} while (count > 0 && left > 0);
	}
}

/*
 * DPDK puts the address and the promiscuous flag of an interface to what it holds for right when it starts, which takes
 * a right that receiving does not. It is told the flag that is there, so that nothing changes.
 */
static int start_over_interface(struct ft_dpdk *dpdk, struct ft_source_complaint *complaint)
{
	int error;

	if (dpdk->interface.promiscuous)
		rte_eth_promiscuous_enable(dpdk->port);
	error = rte_eth_dev_start(dpdk->port);
	if (error != 0)
		return ft_dpdk_refuse(
			dpdk, complaint, error,
			"does not start: %s (DPDK needs CAP_NET_ADMIN for it, pcap:%s does not)",
			reason_or(error), dpdk->address.interface);
	drain(dpdk);
	return 0;
}

static int start_adapter(struct ft_dpdk *dpdk, struct ft_source_complaint *complaint)
{
	int error = rte_eth_dev_start(dpdk->port);

	if (error != 0)
		return ft_dpdk_refuse(dpdk, complaint, error, "does not start: %s",
				      reason_or(error));
	if (dpdk->address.kind != NULL)
		return 0; /* replays frames: there are no others */
	error = rte_eth_promiscuous_enable(dpdk->port);
	if (error != 0 && rte_eth_promiscuous_get(dpdk->port) != 1)
		return ft_dpdk_refuse(
			dpdk, complaint, error,
			"does not become promiscuous, so it would see its own frames only: %s",
			strerror(-error));
	return 0;
}

int ft_dpdk_port_start(struct ft_dpdk *dpdk, struct ft_source_complaint *complaint)
{
	ft_dpdk_environment_forget();
	return dpdk->address.interface[0] != '\0' ? start_over_interface(dpdk, complaint)
						  : start_adapter(dpdk, complaint);
}

void ft_dpdk_port_close(struct ft_dpdk *dpdk)
{
	struct rte_device *device = dpdk->about.device;

	if (dpdk->attached) {
		rte_eth_dev_callback_unregister(dpdk->port, RTE_ETH_EVENT_INTR_RMV, removed, dpdk);
		rte_eth_dev_stop(dpdk->port);
		rte_eth_dev_close(dpdk->port);
		if (device != NULL)
			rte_dev_remove(device);
	}
	rte_mempool_free(dpdk->pool);
	dpdk->pool = NULL;
	dpdk->attached = false;
}
