#include "dpdk.h"

#include "dpdk_pci.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

/* DPDK is not started for a list. */

static int tell_one(const char *name,
		    int (*tell)(void *context, const struct ft_device_listing *listing),
		    void *context)
{
	struct ft_dpdk_pci pci;
	char address[64];

	ft_dpdk_pci_look(&pci, name);
	if (!pci.ethernet)
		return 0;
	snprintf(address, sizeof address, "dpdk:%.32s", name);
	return tell(context, &(struct ft_device_listing){ .address = address,
							  .about = pci.about,
							  .usable = pci.usable });
}

int ft_dpdk_list(int (*tell)(void *context, const struct ft_device_listing *listing), void *context)
{
	static const struct ft_device_listing virtual = {
		.address = "dpdk:net_af_packet0,iface=NAME",
		.about = "virtual: name an interface; also net_af_xdp0,iface=NAME and "
			 "net_pcap0,rx_pcap=FILE",
	};
	glob_t devices;
	int error = 0;

	switch (glob("/sys/bus/pci/devices/*", 0, NULL, &devices)) {
	case 0:
		break;
	case GLOB_NOMATCH:
		return tell(context, &virtual);
	default:
		return -ENOMEM;
	}
	for (size_t i = 0; i < devices.gl_pathc && error == 0; i++)
		error = tell_one(strrchr(devices.gl_pathv[i], '/') + 1, tell, context);
	globfree(&devices);
	return error == 0 ? tell(context, &virtual) : error;
}
