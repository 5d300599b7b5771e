#include "dpdk_interface.h"

#include <errno.h>
#include <unistd.h>

#include <net/if.h>
#include <netpacket/packet.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int ft_dpdk_interface_open(struct ft_dpdk_interface *interface, const char *name)
{
	struct packet_mreq promiscuous = { .mr_type = PACKET_MR_PROMISC };
	unsigned index = if_nametoindex(name);
	int opened, error;

	if (index == 0)
		return -ENODEV;
	opened = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (opened < 0)
		return -errno;
	promiscuous.mr_ifindex = (int)index;
	if (setsockopt(opened, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous,
		       sizeof promiscuous) != 0) {
		error = -errno;
		close(opened);
		return error;
	}
	*interface = (struct ft_dpdk_interface){ .socket = opened, .index = (int)index };
	return 0;
}

bool ft_dpdk_interface_is_gone(const struct ft_dpdk_interface *interface)
{
	struct ifreq request = { .ifr_ifindex = interface->index };

	return interface->socket >= 0 && ioctl(interface->socket, SIOCGIFNAME, &request) != 0 &&
	       errno == ENODEV;
}

void ft_dpdk_interface_close(struct ft_dpdk_interface *interface)
{
	if (interface->socket >= 0)
		close(interface->socket);
	interface->socket = -1;
}
