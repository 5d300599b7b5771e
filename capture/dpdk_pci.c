#include "dpdk_pci.h"

#include <libgen.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ETHERNET_CLASS = 0x0200 };

/* Kernel drivers that let DPDK have a device; every other keeps it for the kernel. */
static const struct {
	const char *driver, *about;
} sharing[] = {
	{ "mlx5_core", "Ethernet, shared with the kernel" },
	{ "mlx4_core", "Ethernet, shared with the kernel" },
	{ "vfio-pci", "Ethernet, given to user space" },
	{ "igb_uio", "Ethernet, given to user space" },
	{ "uio_pci_generic", "Ethernet, given to user space" },
};

static bool read_class(const char *folder, unsigned long *class)
{
	char path[512], text[32];
	bool read;
	FILE *file;

	snprintf(path, sizeof path, "%s/class", folder);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	read = fgets(text, sizeof text, file) != NULL;
	fclose(file);
	if (read)
		*class = strtoul(text, NULL, 16) >> 8;
	return read;
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

static void judge_driver(struct ft_dpdk_pci *pci, const char *driver)
{
	for (size_t i = 0; i < sizeof sharing / sizeof sharing[0]; i++) {
		if (strcmp(sharing[i].driver, driver) == 0) {
			pci->usable = true;
			snprintf(pci->about, sizeof pci->about, "%s", sharing[i].about);
			return;
		}
	}
	if (driver[0] == '\0')
		snprintf(pci->about, sizeof pci->about,
			 "Ethernet, has no driver; bind it to vfio-pci first");
	else
		snprintf(pci->about, sizeof pci->about,
			 "Ethernet, in use by the kernel's %s; bind it to vfio-pci first", driver);
}

void ft_dpdk_pci_look(struct ft_dpdk_pci *pci, const char *name)
{
	unsigned long class = 0;
	char folder[128], driver[64];

	*pci = (struct ft_dpdk_pci){ .present = false };
	snprintf(folder, sizeof folder, "/sys/bus/pci/devices/%s", name);
	if (!read_class(folder, &class))
		return;
	pci->present = true;
	pci->ethernet = class == ETHERNET_CLASS;
	read_driver(folder, driver, sizeof driver);
	if (pci->ethernet)
		judge_driver(pci, driver);
	else
		snprintf(pci->about, sizeof pci->about, "is no Ethernet adapter");
}
