#include "dpdk_interface.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <net/if.h>
#include <netpacket/packet.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static bool has_flag(int opened, const char *name, short flag)
{
	struct ifreq request = { 0 };

	memcpy(request.ifr_name, name, strnlen(name, IFNAMSIZ - 1));
	return ioctl(opened, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & flag) != 0;
}

static int mtu_of(int opened, const char *name)
{
	struct ifreq request = { 0 };

	memcpy(request.ifr_name, name, strnlen(name, IFNAMSIZ - 1));
	return ioctl(opened, SIOCGIFMTU, &request) == 0 ? request.ifr_mtu : 0;
}

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
		       sizeof promiscuous) != 0 ||
	    setsockopt(opened, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name)) != 0) {
		error = -errno;
		close(opened);
		return error;
	}
	if (!has_flag(opened, name, IFF_UP)) {
		close(opened);
		return -ENETDOWN;
	}
	*interface = (struct ft_dpdk_interface){
		.socket = opened,
		.index = (int)index,
		.mtu = mtu_of(opened, name),
		.promiscuous = has_flag(opened, name, IFF_PROMISC),
	};
	return 0;
}

/* The kernel keeps the number of the interface and looks its name up. */
bool ft_dpdk_interface_is_gone(const struct ft_dpdk_interface *interface)
{
	char name[IFNAMSIZ];
	socklen_t size = sizeof name;

	return interface->socket >= 0 &&
	       getsockopt(interface->socket, SOL_SOCKET, SO_BINDTODEVICE, name, &size) != 0 &&
	       errno == ENODEV;
}

void ft_dpdk_interface_close(struct ft_dpdk_interface *interface)
{
	if (interface->socket >= 0)
		close(interface->socket);
	interface->socket = -1;
}
