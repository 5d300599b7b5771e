#pragma once

#include <stdbool.h>

#include <capture/source.h>

/*
 * The kernel interface below a virtual device. Promiscuous mode is held by a socket without protocol and address:
 * it receives nothing, write() on it fails, and promiscuous mode ends with it, whatever ends the process. (DPDK's
 * own drivers set a flag of the interface instead, which would outlive the process.)
 */
struct ft_dpdk_interface {
	int socket; /* -1: none */
	int index;
	int mtu;          /* when it was opened; 0: not known */
	bool promiscuous; /* by a flag of its own, which is left as it is */
};

/* 0, -ENODEV, -ENETDOWN (nothing would arrive), -EPERM: the caller words it. */
int ft_dpdk_interface_open(struct ft_dpdk_interface *interface, const char *name);

/* By a question that the filter of system calls lets pass, and without any privilege. */
bool ft_dpdk_interface_is_gone(const struct ft_dpdk_interface *interface);

void ft_dpdk_interface_close(struct ft_dpdk_interface *interface);
