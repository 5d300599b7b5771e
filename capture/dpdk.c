#include "dpdk.h"

#include "complain.h"
#include "dpdk_environment.h"
#include "dpdk_pci.h"
#include "dpdk_ring.h"
#include "dpdk_xdp.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <net/if.h>

#include <rte_errno.h>
#include <rte_pause.h>

enum {
	NAP_NS = 100000, /* short against the time in which a kernel's ring fills */
	ASK_EVERY = 256, /* naps, before the interface is looked for */
};

int ft_dpdk_refuse(const struct ft_dpdk *dpdk, struct ft_source_complaint *complaint, int error,
		   const char *format, ...)
{
	char why[400];
	va_list values;

	va_start(values, format);
	vsnprintf(why, sizeof why, format, values);
	va_end(values);
	ft_complain(complaint->text, sizeof complaint->text, dpdk->source, "%s", why);
	return error;
}

static int look_at_pci(const struct ft_dpdk *dpdk, struct ft_source_complaint *complaint)
{
	struct ft_dpdk_pci pci;

	ft_dpdk_pci_look(&pci, dpdk->address.name);
	if (!pci.present)
		return ft_dpdk_refuse(dpdk, complaint, -ENODEV, "there is no such PCI device");
	if (!pci.usable)
		return ft_dpdk_refuse(dpdk, complaint, pci.ethernet ? -EBUSY : -EOPNOTSUPP, "%s",
				      pci.about);
	return 0;
}

/* What a driver would answer with a bare -1, asked beforehand. */
static int look_ahead(struct ft_dpdk *dpdk, struct ft_source_complaint *complaint)
{
	const struct ft_dpdk_address *address = &dpdk->address;
	int error;

	if (dpdk->config.filter != NULL)
		return ft_dpdk_refuse(
			dpdk, complaint, -EINVAL,
			"takes no kernel filter (-f); the kernel does not see its frames");
	if (address->kind != NULL && address->kind->pairs_queues && !dpdk->config.allow_tx_queue)
		return ft_dpdk_refuse(dpdk, complaint, -EPERM,
				      "%s cannot be had without a transmit queue; --allow-tx-queue "
				      "consents to an idle one",
				      address->kind->driver);
	if (address->kind == NULL)
		return look_at_pci(dpdk, complaint);
	if (address->file[0] != '\0')
		return ft_dpdk_file_look(&dpdk->file, address->file, complaint);
	if (address->interface[0] == '\0')
		return 0;
	error = ft_dpdk_interface_open(&dpdk->interface, address->interface);
	if (error == -ENODEV)
		return ft_dpdk_refuse(dpdk, complaint, error, "there is no interface %s",
				      address->interface);
	if (error == -ENETDOWN)
		return ft_dpdk_refuse(dpdk, complaint, error,
				      "interface %s is down; bring it up with "
				      "`ip link set dev %s up`",
				      address->interface, address->interface);
	if (error != 0)
		return ft_dpdk_refuse(dpdk, complaint, error,
				      "packets of %s are for root or CAP_NET_RAW: %s",
				      address->interface, strerror(-error));
	return 0;
}

static int attach(struct ft_dpdk *dpdk, struct ft_source_complaint *complaint)
{
	char device[sizeof dpdk->address.name + sizeof dpdk->address.arguments + 2];
	int error;

	snprintf(device, sizeof device, "%s%s%s", dpdk->address.name,
		 dpdk->address.arguments[0] != '\0' ? "," : "", dpdk->address.arguments);
	if (rte_eth_dev_get_port_by_name(dpdk->address.name, &dpdk->port) == 0)
		return ft_dpdk_refuse(dpdk, complaint, -EBUSY, "%s is open already",
				      dpdk->address.name);
	ft_dpdk_environment_forget();
	error = ft_dpdk_environment_probe(device);
	if (error == 0 && rte_eth_dev_get_port_by_name(dpdk->address.name, &dpdk->port) == 0) {
		dpdk->attached = true;
		return 0;
	}
	return ft_dpdk_refuse(dpdk, complaint, error == 0 || error == -EPERM ? -ENODEV : error,
			      "DPDK does not take it: %s",
			      ft_dpdk_environment_reason()[0] != '\0'
				      ? ft_dpdk_environment_reason()
				      : "no driver for it, or none that is bound to it");
}

static uint64_t bytes_needed(const struct ft_dpdk *dpdk)
{
	uint64_t object = dpdk->frame_bytes + RTE_PKTMBUF_HEADROOM + sizeof(struct rte_mbuf) + 64;

	return dpdk->buffer_count * object;
}

static int open_parts(struct ft_dpdk *dpdk, struct ft_source_complaint *complaint)
{
	int error = look_ahead(dpdk, complaint);

	if (error != 0)
		return error;
	ft_dpdk_port_plan(dpdk);
	if (dpdk->address.kind != NULL && dpdk->address.kind->ring &&
	    !ft_dpdk_ring_size(&dpdk->address, dpdk->config.buffer_bytes))
		return ft_dpdk_refuse(dpdk, complaint, -EINVAL, "too many arguments");
	error = ft_dpdk_environment_start(dpdk->source, bytes_needed(dpdk), dpdk->config.verbose,
					  complaint);
	if (error == 0)
		error = attach(dpdk, complaint);
	if (error == 0)
		error = ft_dpdk_port_open(dpdk, complaint);
	if (error != 0)
		return error;
	if (ft_dpdk_receive_open(dpdk) != 0)
		return ft_dpdk_refuse(dpdk, complaint, -ENOMEM, "no memory");
	if (dpdk->address.kind != NULL && dpdk->address.kind->program)
		dpdk->program = ft_dpdk_xdp_hold(dpdk->interface.index);
	ft_dpdk_stamps_open(dpdk);
	return 0;
}

static void close_device(void *device)
{
	struct ft_dpdk *dpdk = device;

	if (dpdk == NULL)
		return;
	ft_dpdk_receive_close(dpdk);
	if (dpdk->program >= 0) /* first: nothing is to be put into buffers that are gone */
		close(dpdk->program);
	ft_dpdk_port_close(dpdk);
	ft_dpdk_interface_close(&dpdk->interface);
	free(dpdk->file.originals);
	free(dpdk);
}

static void name_parts(struct ft_dpdk *dpdk)
{
	snprintf(dpdk->driver, sizeof dpdk->driver, "DPDK %s", dpdk->about.driver_name);
	if (dpdk->address.interface[0] != '\0')
		memcpy(dpdk->interface_name, dpdk->address.interface, sizeof dpdk->interface_name);
	else if (dpdk->about.if_index > 0)
		if_indextoname(dpdk->about.if_index, dpdk->interface_name);
}

static int open_device(void **device, const struct ft_device_config *config,
		       struct ft_source_complaint *complaint)
{
	struct ft_dpdk *dpdk = calloc(1, sizeof *dpdk);
	int error;

	if (dpdk == NULL) {
		ft_complain(complaint->text, sizeof complaint->text, config->address, "no memory");
		return -ENOMEM;
	}
	dpdk->config = *config;
	dpdk->interface.socket = dpdk->program = -1;
	dpdk->snap = config->snap > 0 ? config->snap : UINT32_MAX;
	dpdk->may_join = true;
	snprintf(dpdk->source, sizeof dpdk->source, "dpdk:%s", config->address);
	error = ft_dpdk_address_read(&dpdk->address, config->address, complaint);
	if (error == 0)
		error = open_parts(dpdk, complaint);
	if (error != 0) {
		close_device(dpdk);
		return error;
	}
	dpdk->ends = dpdk->address.file[0] != '\0' && !dpdk->address.endless;
	name_parts(dpdk);
	*device = dpdk;
	return 0;
}

static int start_device(void *device, struct ft_source_complaint *complaint)
{
	struct ft_dpdk *dpdk = device;
	int error = ft_dpdk_port_start(dpdk, complaint);

	if (error == 0)
		ft_dpdk_counts_open(dpdk);
	return error;
}

/* Devices are polled; below a virtual one the kernel fills a ring, which leaves time for a nap. */
static void wait_device(void *device, int ms)
{
	struct ft_dpdk *dpdk = device;

	if (dpdk->interface.socket >= 0 && ms > 0)
		nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
	else
		rte_pause();
	if (++dpdk->waits % ASK_EVERY == 0 && ft_dpdk_interface_is_gone(&dpdk->interface))
		atomic_store_explicit(&dpdk->gone, true, memory_order_relaxed);
}

static enum ft_stamp_source stamp_source(const struct ft_dpdk *dpdk)
{
	if (dpdk->stamps == FT_DPDK_STAMPS_PROGRAM)
		return FT_STAMP_PROGRAM;
	if (dpdk->stamps == FT_DPDK_STAMPS_MICROSECONDS)
		return dpdk->address.interface[0] != '\0' ? FT_STAMP_KERNEL : FT_STAMP_FILE;
	return FT_STAMP_ADAPTER;
}

static void describe(const void *device, struct ft_device_facts *facts)
{
	const struct ft_dpdk *dpdk = device;
	const struct ft_dpdk_kind *kind = dpdk->address.kind;
	enum ft_stamp_source stamps = stamp_source(dpdk);

	*facts = (struct ft_device_facts){
		.driver = dpdk->driver,
		.interface = dpdk->interface_name[0] != '\0' ? dpdk->interface_name : NULL,
		.transmit_queues = dpdk->transmit_queues,
		.counts_losses = ft_dpdk_counts_are_believed(dpdk),
		.must_poll = dpdk->interface.socket < 0,
		.stamps = stamps,
		.clock_error_ns = stamps == FT_STAMP_ADAPTER ? dpdk->clock.error_ns : 0,
		.note = kind != NULL ? kind->note : NULL,
	};
}

const struct ft_driver ft_driver_dpdk = {
	.kind = "dpdk",
	.open = open_device,
	.start = start_device,
	.receive = ft_dpdk_receive,
	.wait = wait_device,
	.count = ft_dpdk_count,
	.describe = describe,
	.close = close_device,
	.list = ft_dpdk_list,
};
