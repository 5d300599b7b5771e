#include "live_pcap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Interfaces, "any" and RDMA devices; the library also lists buses and logs. */
static bool is_of_use(const pcap_if_t *found)
{
	return if_nametoindex(found->name) != 0 || strcmp(found->name, "any") == 0 ||
	       ft_pcap_is_rdma_device(found->name);
}

static bool may_capture(void)
{
	/* of protocol 0: it hears nothing */
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return errno != EPERM && errno != EACCES;
	close(fd);
	return true;
}

static const char *state(const pcap_if_t *found)
{
	if ((found->flags & PCAP_IF_UP) == 0)
		return "down";
	if ((found->flags & PCAP_IF_CONNECTION_STATUS) == PCAP_IF_CONNECTION_STATUS_DISCONNECTED)
		return "up, no carrier";
	return "up";
}

static int tell_one(const pcap_if_t *found, bool allowed,
		    int (*tell)(void *context, const struct ft_device_listing *listing),
		    void *context)
{
	const char *described = found->description;
	char address[128], about[256];
	const struct ft_device_listing listing = {
		.address = address,
		.about = about,
		.usable = allowed && (found->flags & PCAP_IF_UP) != 0,
	};

	snprintf(address, sizeof address, "pcap:%s", found->name);
	snprintf(about, sizeof about, "%s%s%s%s", described != NULL ? described : "",
		 described != NULL ? ", " : "", state(found), allowed ? "" : ", needs CAP_NET_RAW");
	return tell(context, &listing);
}

int ft_pcap_list(int (*tell)(void *context, const struct ft_device_listing *listing), void *context)
{
	char why[PCAP_ERRBUF_SIZE];
	bool allowed = may_capture();
	pcap_if_t *all;
	int error = 0;

	if (pcap_findalldevs(&all, why) != 0)
		return -EIO;
	for (const pcap_if_t *found = all; found != NULL && error == 0; found = found->next)
		if (is_of_use(found))
			error = tell_one(found, allowed, tell, context);
	pcap_freealldevs(all);
	return error;
}
