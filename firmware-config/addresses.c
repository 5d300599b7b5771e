#include "addresses.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"

struct listing {
	char *list;
	size_t size;
	int count;
};

static void add(struct listing *listing, const char *address)
{
	size_t used = strlen(listing->list);

	snprintf(listing->list + used, listing->size - used, "%s%s",
		 listing->count == 0 ? "" : ", ", address);
	listing->count++;
}

static void add_ours(struct listing *listing, const struct sockaddr *address)
{
	char text[INET6_ADDRSTRLEN];
	const void *bytes =
		address->sa_family == AF_INET
			? (const void *)&((const struct sockaddr_in *)(const void *)address)
				  ->sin_addr
			: (const void *)&((const struct sockaddr_in6 *)(const void *)address)
				  ->sin6_addr;

	if (inet_ntop(address->sa_family, bytes, text, sizeof text) != NULL)
		add(listing, text);
}

/* The kernel names an address' label for an interface, "eth0:1" is one of eth0. */
static bool is_of(const char *label, const char *interface)
{
	size_t size = strlen(interface);

	return strncmp(label, interface, size) == 0 && (label[size] == '\0' || label[size] == ':');
}

static int ask_kernel(const char *interface, int family, struct listing *listing)
{
	struct ifaddrs *all;

	if (getifaddrs(&all) != 0)
		return -errno;
	for (const struct ifaddrs *each = all; each != NULL; each = each->ifa_next)
		if (each->ifa_addr != NULL && each->ifa_addr->sa_family == family &&
		    is_of(each->ifa_name, interface))
			add_ours(listing, each->ifa_addr);
	freeifaddrs(all);
	return listing->count;
}

/* "2: tap0    inet 10.0.0.1/24 scope global tap0\..." */
static int read_saved(const struct ft_machine *machine, const char *interface, int family,
		      struct listing *listing)
{
	size_t size;
	char *text = ft_machine_whole(machine, &size, "ip/%s/addresses", interface), *rest = text,
	     *line;

	if (text == NULL)
		return -errno;
	while ((line = strsep(&rest, "\n")) != NULL) {
		char kind[8], address[64];

		if (sscanf(line, "%*s %*s %7s %63s", kind, address) == 2 &&
		    strcmp(kind, family == AF_INET ? "inet" : "inet6") == 0)
			add(listing, strtok(address, "/"));
	}
	free(text);
	return listing->count;
}

int ft_addresses_read(const struct ft_machine *machine, const char *interface, int family,
		      char *list, size_t size)
{
	struct listing listing = { list, size, 0 };

	return ft_machine_is_here(machine) ? ask_kernel(interface, family, &listing)
					   : read_saved(machine, interface, family, &listing);
}
