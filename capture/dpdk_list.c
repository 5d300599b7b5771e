#include "dpdk.h"

#include <errno.h>
#include <glob.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PCI functions that DPDK could take, from what the kernel says of them: DPDK itself is not started for a list. */

enum { ETHERNET_CLASS = 0x0200 };

static const struct {
	const char *driver, *about;
	bool usable;
} drivers[] = {
	{ "mlx5_core", "Ethernet, shared with the kernel", true },
	{ "mlx4_core", "Ethernet, shared with the kernel", true },
	{ "vfio-pci", "Ethernet, given to user space", true },
	{ "igb_uio", "Ethernet, given to user space", true },
	{ "uio_pci_generic", "Ethernet, given to user space", true },
};

static unsigned long read_class(const char *folder)
{
	char path[512], text[32] = "";
	FILE *file;

	snprintf(path, sizeof path, "%s/class", folder);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	if (fgets(text, sizeof text, file) == NULL)
		text[0] = '\0';
	fclose(file);
	return strtoul(text, NULL, 16) >> 8;
}

/* The kernel's driver of the device, "" none. */
static void read_driver(const char *folder, char *name, size_t size)
{
	char path[512], target[512];
	ssize_t length;

	snprintf(path, sizeof path, "%s/driver", folder);
	length = readlink(path, target, sizeof target - 1);
	target[length > 0 ? length : 0] = '\0';
	snprintf(name, size, "%s", length > 0 ? basename(target) : "");
}

static int tell_one(const char *folder,
		    int (*tell)(void *context, const struct ft_device_listing *listing),
		    void *context)
{
	char driver[64], address[64], about[160];
	struct ft_device_listing listing = { .address = address, .about = about };

	read_driver(folder, driver, sizeof driver);
	snprintf(address, sizeof address, "dpdk:%.32s", strrchr(folder, '/') + 1);
	snprintf(about, sizeof about,
		 driver[0] != '\0' ? "Ethernet, in use by the kernel's %s; to be bound to vfio-pci"
				   : "Ethernet, without a driver%s; to be bound to vfio-pci",
		 driver);
	for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++) {
		if (strcmp(drivers[i].driver, driver) == 0) {
			listing.about = drivers[i].about;
			listing.usable = drivers[i].usable;
		}
	}
	return tell(context, &listing);
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
	for (size_t i = 0; i < devices.gl_pathc && error == 0; i++) {
		if (read_class(devices.gl_pathv[i]) == ETHERNET_CLASS)
			error = tell_one(devices.gl_pathv[i], tell, context);
	}
	globfree(&devices);
	return error == 0 ? tell(context, &virtual) : error;
}
