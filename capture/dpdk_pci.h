#pragma once

#include <stdbool.h>

/* A PCI function as the kernel describes it: DPDK is not asked, so it need not run. */
struct ft_dpdk_pci {
	bool present, ethernet;
	bool usable;     /* DPDK can take it as it is bound now */
	char about[160]; /* what it is, and what to do if it is not usable */
};

/* `name` is "0000:81:00.0". */
void ft_dpdk_pci_look(struct ft_dpdk_pci *pci, const char *name);
